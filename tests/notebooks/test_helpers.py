"""What the notebooks print: tables that follow from the trace."""

from __future__ import annotations

import pytest

from rebalance_kit.analysis.metrics import metrics
from rebalance_kit.notebook import (
    WIDTH,
    beside,
    callbacks,
    epochs,
    explain,
    fired,
    gaps,
    longest_silence,
    passed_to,
    reasons,
    spread,
    states,
    story,
    target_beside_current,
    three,
    with_configs,
)
from rebalance_kit.scenarios import load


@pytest.fixture(scope="module")
def join():
    return three("join")


def test_a_guess_is_judged_only_where_there_is_one():
    lines = beside({"a": None, "b": 3, "c": 1}, {"a": 1, "b": 3, "c": 2}).splitlines()
    assert [line.endswith("right") for line in lines[1:]] == [False, True, False]
    assert lines[3].endswith("not so: why?")
    assert lines[1].split() == ["a", "-", "1"]


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
    silent = {way: longest_silence(run, "consumer-3", 30) for way, run in storm.items()}
    assert silent["eager"] > 5
    assert silent["cooperative"] == silent["consumer"] == 0


def test_configs_given_to_all_members_reach_each_of_them():
    changed = with_configs(load("join"), {"heartbeat.interval.ms": 1000})
    assert {spec.configs["heartbeat.interval.ms"] for spec in changed.members} == {1000}


def test_no_line_of_a_story_or_a_term_is_longer_than_a_notebook_shows(join):
    texts = [
        story(join["eager"]),
        explain("partition.assignment.strategy"),
        states(join["eager"]),
        callbacks(join["eager"]),
    ]
    assert max(len(line) for text in texts for line in text.splitlines()) <= WIDTH


def test_whole_numbers_are_printed_whole():
    lines = spread("join", lambda run: metrics(run).partitions_unread, seeds=(1, 2), protocols=("eager",))
    assert lines.splitlines()[1].split() == ["eager", "12", "12", "12"]


def test_what_fires_nothing_counts_as_nothing():
    assert fired(["coordinator-failover"]).splitlines()[1].split() == ["coordinator-failover", "0", "0", "0"]
