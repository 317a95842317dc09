"""Records that come twice or are lost: on the board, in the sentence, on the strip, in cost and Metrics, in the search."""

from __future__ import annotations

import json
import zlib

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.analysis.metrics import metrics
from rebalance_kit.scenarios import load
from rebalance_kit.simulation.scenario.scenario import THREE_PROTOCOLS
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.lab.costs import cost
from rebalance_kit.view.lab.lessons import lesson_of, lessons
from rebalance_kit.view.lab.tabs.metrics import metric_rows
from rebalance_kit.view.lab.widget import Lab
from rebalance_kit.view.words.descriptions import describe_board
from rebalance_kit.view.words.moment import sentence

LARGE = "fifty-by-five-hundred"
DOZENS = 24


def run(name, protocol=None):
    return simulate(load(name), protocol=protocol)


@pytest.fixture
def crashed():
    lab = Lab()
    lab.at(20_000)
    lab.crash("consumer-1")
    return lab


def twice_at(lab):
    return next(each.at_ms for each in lab.boards.deliveries)


def test_the_first_lesson_opens_after_the_first_commits_under_each_protocol():
    opened = {Lab(protocol=protocol).cursor_ms for protocol in THREE_PROTOCOLS}
    assert len(opened) == 1
    for protocol in THREE_PROTOCOLS:
        lab = Lab(protocol=protocol)
        assert all(partition.at.committed is not None for partition in lab.board.partitions)
        assert lab.board.flowing == 4
        lab.crash("consumer-1")
        assert metrics(lab.trace).records_lost == 0


def test_the_sentence_says_that_records_come_twice_when_it_happens_and_why(crashed):
    at_ms = twice_at(crashed)
    words = sentence(crashed.boards.at(at_ms))
    count = metrics(crashed.trace).records_redelivered
    assert f"{count} records come twice, because consumer-2 begins where the last commit was." in " ".join(
        words
    )
    assert "twice" not in " ".join(sentence(crashed.boards.at(at_ms - 1)))
    assert "twice" not in " ".join(sentence(crashed.boards.at(at_ms + 3_000)))
    spans = ", ".join(
        f"{each.partition} offsets {each.first_offset} to {each.first_offset + each.records - 1}"
        for each in crashed.boards.deliveries
    )
    assert spans.startswith("orders-0 offsets ")
    assert f"Records so far: {count} came twice ({spans})." in describe_board(
        crashed.boards.at(at_ms + 9_000)
    )


def test_what_comes_twice_is_marked_on_the_strip_and_summed_in_cost_and_metrics(crashed):
    count = metrics(crashed.trace).records_redelivered
    at_ms = twice_at(crashed)
    assert (at_ms, "twice", f"{count} records come twice") in [
        (mark.at_ms, mark.kind, mark.words) for mark in crashed.boards.marks
    ]
    state = crashed.history.state
    assert cost(state.undo(), state, 20_000)["twice"] == count
    row = next(row for row in metric_rows(crashed.boards, None) if row.name == "records that came twice")
    assert row.steps[-1] == count
    content = json.loads(zlib.decompress(crashed.film))
    assert sum(count for *_, count, _ in content["deliveries"]) == count
    assert [row[-1] for row in content["deliveries"]] == [
        each.first_offset for each in crashed.boards.deliveries
    ]


def test_the_preview_of_a_crash_before_any_commit_says_how_many_records_are_lost():
    lab = Lab("lost-records")
    lost = metrics(lab.trace).records_lost
    skipped = [each for each in lab.boards.deliveries if each.kind == "skipped"]
    assert sum(each.records for each in skipped) == lost > 500
    words = sentence(lab.boards.at(skipped[0].at_ms))
    assert "finds no committed offset and begins at the end" in words.cause
    assert "auto.offset.reset=latest" in words.effect
    lab.set(auto_offset_reset="earliest")
    assert metrics(lab.trace).records_lost == 0


@pytest.mark.parametrize("name", [preset.name for preset in lessons() if preset.name != LARGE])
def test_the_search_finds_the_lessons_in_which_records_come_twice_or_are_lost(name):
    figures = metrics(run(name, None if load(name).chooses_protocol() else "eager"))
    assert (figures.records_redelivered >= DOZENS) == ("twice" in lesson_of(name).finds)
    assert (figures.records_lost > 0) == ("skipped" in lesson_of(name).finds)


def test_a_queue_that_grows_is_said_and_nothing_waits_is_not():
    boards = Boards(run("skewed-range", "eager"))
    words = " ".join(sentence(boards.at(60_000)))
    assert "consumer-1 reads" in words
    assert "more slowly than records come: the queue grows." in words
    assert "Nothing waits" not in words


def test_a_member_that_keeps_up_has_no_queue():
    assert not Lab().boards.queues
