"""What the notebooks print: tables that follow from the trace."""

from __future__ import annotations

import json
import re
from itertools import pairwise

import pytest

from rebalance_kit.analysis.metrics import metrics
from rebalance_kit.model.errors import DataError
from rebalance_kit.notebook import (
    WIDTH,
    Table,
    callbacks,
    costs,
    course_map,
    describe,
    draws,
    epochs,
    explain,
    fired,
    gaps,
    longest_without_records,
    median,
    next_notebook,
    one_clock,
    passed_to,
    predict,
    quiet,
    reasons,
    reveal,
    spread,
    stall,
    states,
    target_beside_current,
    three,
    with_configs,
)
from rebalance_kit.scenarios import load


@pytest.fixture(scope="module")
def join():
    return three("join")


@pytest.fixture(scope="module")
def drawn():
    return draws("join", 5)


def judged(guess, truth):
    """The last column of a guess beside the truth, one entry per question."""
    return [line.split("  ")[-1].strip() for line in str(guess.beside(truth)).splitlines()[1:]]


def test_a_guess_is_judged_only_where_there_is_one():
    guess = predict({"a": None, "b": 3, "c": 1})
    assert judged(guess, {"a": 1, "b": 3, "c": 2}) == ["1", "right", "no: read on"]


@pytest.mark.parametrize(
    ("guessed", "verdict"), [(42, "right (within 3)"), (45, "right"), (41.9, "no: read on")]
)
def test_a_number_is_right_within_the_tolerance_that_the_cell_states(guessed, verdict):
    guess = predict({"seconds": guessed}, within=3)
    assert repr(guess) == "seconds  a number, right within 3"
    assert judged(guess, {"seconds": 45}) == [verdict]


@pytest.mark.parametrize(
    ("guessed", "verdict"),
    [("Eager", "right"), ("cooperative", "no: read on"), ("egaer", "choose from: eager, cooperative")],
)
def test_a_word_is_chosen_from_options(guessed, verdict):
    guess = predict({"shortest": guessed}, options=["eager", "cooperative"])
    assert repr(guess) == "shortest  choose from: eager, cooperative"
    assert judged(guess, {"shortest": "eager"}) == [verdict]


def test_yes_and_true_are_one_answer():
    assert judged(predict({"a": True, "b": "no"}, options=["yes", "no"]), {"a": True, "b": True}) == [
        "right",
        "no: read on",
    ]


def test_an_answer_is_folded_until_something_is_guessed():
    assert "<details><" in predict({"a": None}).beside({"a": 1})._repr_html_()
    assert "<details open><" in predict({"a": 2}).beside({"a": 1})._repr_html_()
    assert reveal("a < b")._repr_html_() == (
        "<details><summary>Show the answer</summary><pre>a &lt; b</pre></details>"
    )


def test_a_picture_and_a_table_are_folded_as_they_are(join):
    picture = one_clock(join, event="consumer-4 joins")
    html = reveal(picture)._repr_html_()
    assert html.startswith("<details><summary>Show the answer</summary><img ")
    assert "<svg" not in html
    assert str(reveal(picture)) == picture.text
    assert "<details><summary>Show the answer</summary><table>" in reveal(Table([["a"], ["b"]]))._repr_html_()


def test_answers_to_other_questions_are_refused():
    with pytest.raises(DataError, match=r"answers to \['b'\]; expected answers to \['a'\]"):
        predict({"a": 1}).beside({"b": 1})


def test_a_table_shows_four_rows_and_folds_the_others():
    table = Table([["", "n"], *([f"row {n}", str(n)] for n in range(6))])
    assert str(table).splitlines()[-2:] == ["row 3  3", "(2 more rows are folded)"]
    assert len(table.all.splitlines()) == 7
    html = table._repr_html_()
    assert html.index("row 3") < html.index("<details>") < html.index("row 4")


def test_a_cost_table_begins_with_the_rows_asked_for(join, drawn):
    assert str(costs(join, "requests")).splitlines()[1].startswith("requests")
    assert str(costs(drawn)).splitlines()[0].split()[-3:] == ["KIP-848", "which", "differ"]
    with pytest.raises(DataError, match="'pauses' is no measure"):
        costs(join, "pauses")


def test_a_spread_goes_from_the_least_to_the_greatest(drawn):
    row = spread(drawn, "longest_gap_s").rows[1]
    assert row[0] == "eager"
    assert [float(cell) for cell in row[1:]] == sorted(float(cell) for cell in row[1:])
    assert median(drawn, "partitions_unread") == {"eager": 12, "cooperative": 3, "KIP-848": 3}


def test_whole_numbers_are_printed_whole(drawn):
    assert spread(drawn, "partitions_unread").rows[1] == ["eager", *["12"] * 5]


def test_runs_on_one_clock_have_a_strip_and_a_line_each(join):
    picture = one_clock(join, event="consumer-4 joins")
    assert [line.partition(":")[0] for line in picture.text.splitlines()[1:]] == [
        "eager",
        "cooperative",
        "KIP-848",
    ]
    assert picture.svg.count("KIP-848") >= 1


@pytest.mark.parametrize("after_s", [3, 31, 48, 240])
def test_seconds_below_a_strip_have_room_for_their_words(join, after_s):
    xs = [
        float(x)
        for x in re.findall(r'<text x="([\d.]+)"[^>]*>\d+ s</text>', one_clock(join, after_s=after_s).svg)
    ]
    assert len(xs) >= 3
    assert all(later - earlier >= 45 for earlier, later in pairwise(xs))


def test_a_busy_member_is_added_to_a_scenario_in_one_word():
    busy = stall(quiet("crash"), "consumer-2", at_s=30, for_s=60, end_s=200)
    (action,) = busy.actions
    assert (action.do, action.member, action.args) == ("stall", "consumer-2", {"for_ms": 60_000})
    assert busy.end_ms == 200_000


def test_the_course_is_read_from_its_folder(tmp_path):
    for name, title in (("00-a", "# 00 · A"), ("04b-c", "# 04b · C"), ("04-b", "# 04 · B"), ("I-w", "# W")):
        first = f"{title}\n\n**25 minutes**, and 30 for its exercises."
        cells = [{"cell_type": "markdown", "source": [first]}]
        (tmp_path / f"{name}.ipynb").write_text(json.dumps({"cells": cells}), "utf-8")
    assert next_notebook("04", tmp_path).markdown == "**Next:** [04b · C](04b-c.ipynb)"
    assert next_notebook("04b", tmp_path) == "This is the last notebook of the course."
    assert "| [04 · B](04-b.ipynb) | 25 | 30 |" in course_map(tmp_path).markdown


def test_an_eager_callback_is_given_every_partition_and_a_cooperative_one_what_moves(join):
    assert passed_to(join["eager"], "revoked", 30) == 12
    assert passed_to(join["cooperative"], "revoked", 30) == metrics(join["cooperative"]).partitions_moved


def test_each_pause_of_the_metrics_is_a_line(join):
    assert len(gaps(join["cooperative"]).splitlines()) - 1 == metrics(join["cooperative"]).partitions_unread
    assert gaps(three("coordinator-failover", ("eager",))["eager"]) == "every partition was read all the time"


def test_member_ids_do_not_show_in_reasons(join):
    said = reasons(join["eager"], 30)
    assert "client reason: need to re-join with the given member-id: consumer-4" in said
    assert said.endswith("consumer-4")


def test_a_broker_restart_is_no_reason():
    assert reasons(three("broker-restart", ("eager",))["eager"], 20) == "no rebalance"


def test_the_last_line_of_epochs_has_everybody_at_the_target(join):
    last = epochs(join["consumer"]).splitlines()[-1].split()
    assert len(set(last[-6:])) == 1


def test_target_and_current_are_the_same_when_the_run_is_over(join):
    body = target_beside_current(join["consumer"], 60).splitlines()[1:]
    assert len(body) == 4
    assert all(line.split("  ")[-1].strip() == "STABLE" for line in body)


def test_only_eager_makes_a_healthy_member_wait_for_a_busy_one():
    storm = three("storm")
    silent = {way: longest_without_records(run, "consumer-3", 30) for way, run in storm.items()}
    assert silent["eager"] > 5
    assert silent["cooperative"] == silent["consumer"] == 0


def test_configs_given_to_all_members_reach_each_of_them():
    changed = with_configs(load("join"), {"heartbeat.interval.ms": 1000})
    assert {spec.configs["heartbeat.interval.ms"] for spec in changed.members} == {1000}


def test_no_line_of_a_story_or_a_term_is_longer_than_a_notebook_shows(join):
    texts = [
        describe(join["eager"]),
        explain("partition.assignment.strategy"),
        states(join["eager"]),
        callbacks(join["eager"]),
    ]
    assert max(len(line) for text in texts for line in text.splitlines()) <= WIDTH


def test_what_fires_nothing_counts_as_nothing():
    assert fired(["coordinator-failover"]).splitlines()[1].split() == ["coordinator-failover", "0", "0", "0"]
