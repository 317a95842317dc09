"""Findings of a review of the lab, each as a case: where the picture or the words were wrong."""

from __future__ import annotations

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.analysis.deliveries import gaps
from rebalance_kit.scenarios import load
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.board.boards import Boards, segments_of
from rebalance_kit.view.lab.requests import answer
from rebalance_kit.view.lab.tabs.metrics import metric_rows
from rebalance_kit.view.lab.tabs.why import why_entries
from rebalance_kit.view.lab.widget import Lab

CLASSIC = ("eager", "cooperative")


def crashed(protocol="eager"):
    lab = Lab(protocol=protocol)
    lab.at(20_000)
    lab.crash("consumer-1")
    return lab


def test_a_partition_that_is_given_up_is_one_bar_while_it_is_read_and_another_while_it_is_not():
    lab = Lab(protocol="consumer")
    lab.at(20_000)
    lab.do("slow_callback", "consumer-1", callback_ms=5_000)
    lab.at(22_000)
    lab.add()
    lab.add()
    unread = {
        name: [(bar.begin_ms, bar.end_ms) for bar in segments_of(lab.boards, name) if not bar.flows]
        for name in lab.boards.partitions
    }
    given_up = [
        bar
        for name in unread
        for bar in segments_of(lab.boards, name)
        if bar.word == "give up" and not bar.flows
    ]
    assert given_up
    for gap in gaps(lab.trace, 20_000):
        bars = unread[str(gap.partition)]
        assert min(begin for begin, _ in bars if begin >= gap.from_ms) == gap.from_ms
        assert sum(end - begin for begin, end in bars if begin >= gap.from_ms) >= gap.length_ms


@pytest.mark.parametrize(
    ("protocol", "setting"),
    [("eager", " session.timeout.ms (45.0 s)"), ("consumer", "group.consumer.session.timeout.ms (45.0 s)")],
)
def test_why_says_which_setting_decides_how_long_a_crash_lasts(protocol, setting):
    entry = next(entry for entry in why_entries(crashed(protocol).boards) if "crashes" in entry[1])
    assert setting in entry[2]


def test_why_says_that_a_deleted_topic_keeps_a_member_committing():
    told = [entry[1] for entry in why_entries(Lab("defect-deleted-topic-hangs").boards)]
    assert any("for 60.0 s the commit fails and is tried again" in words for words in told)


def test_why_tells_of_records_once_at_the_moment_when_they_come_twice():
    lab = crashed()
    at_ms = lab.boards.deliveries[0].at_ms
    told = [entry for entry in why_entries(lab.boards) if "twice" in entry[1]]
    assert [entry[0] for entry in told] == [at_ms]
    spans = [
        f"{each.partition} offsets {each.first_offset} to {each.first_offset + each.records - 1}"
        for each in lab.boards.deliveries
    ]
    assert [each.split()[0] for each in spans] == ["orders-0", "orders-1"]
    assert told[0][1] == f"62 records come twice: {', '.join(spans)}, read by consumer-2."


def test_why_says_of_skipped_records_that_the_next_reader_passed_them_over():
    told = [entry[1] for entry in why_entries(Lab("lost-records").boards) if "are skipped" in entry[1]]
    assert told == [
        "852 records are skipped: orders-0 offsets 96 to 521, orders-1 offsets 96 to 521, passed over by consumer-2."
    ]


def test_the_cost_of_an_act_in_the_past_is_not_compared_with_what_was_done_later():
    lab = Lab()
    lab.at(22_000)
    lab.crash("consumer-1")
    lab.at(15_000)
    reply, _ = answer(lab, {"type": "act", "do": "leave", "member": "consumer-2", "at_ms": 15_000})
    assert reply["without"] == 0.0
    assert reply["cost"] > 0


@pytest.mark.parametrize("protocol", CLASSIC)
def test_the_lesson_on_a_member_that_comes_back_promises_what_happens(protocol):
    boards = Boards(simulate(load("recovered-member"), protocol=protocol))
    assert "waits until the session of the old one ends" in Lab("recovered-member").controls["watch"]
    waited = [at for at, state in zip(boards.group.times, boards.group.states, strict=True) if state.former]
    assert waited


@pytest.mark.parametrize("protocol", CLASSIC)
def test_the_zombie_of_the_lesson_on_the_network_lives_for_ten_seconds_and_more(protocol):
    boards = Boards(simulate(load("network-cut"), protocol=protocol))
    zombie = [
        at
        for at in boards.change_times
        if boards.members["consumer-2"].at(at).doing == "removed, still works"
    ]
    assert zombie[-1] - zombie[0] >= 10_000


@pytest.mark.parametrize("name", ["duplicate-instance", "static-restart-too-late", "rolling-restart-static"])
@pytest.mark.parametrize("protocol", CLASSIC)
def test_a_group_never_has_two_leaders(name, protocol):
    boards = Boards(simulate(load(name), protocol=protocol))
    for at_ms in boards.change_times:
        assert sum(track.at(at_ms).leader for track in boards.members.values()) <= 1, at_ms


def test_metrics_of_a_process_end_with_it_and_begin_anew_with_the_next():
    lab = crashed()
    lab.at(30_000)
    lab.restart("consumer-1")
    steps = next(row.steps for row in metric_rows(lab.boards, "consumer-1") if row.name == "heartbeat-total")
    values = dict(zip(steps[::2], steps[1::2], strict=True))
    assert values[20_000] is None
    assert values[30_000] == 0
    assert all(value is not None for at_ms, value in values.items() if at_ms > 30_000)
