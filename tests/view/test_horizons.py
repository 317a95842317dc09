"""A run goes on until the effect of what was done is seen; where none comes, the lab says why and what to change."""

from __future__ import annotations

import pytest

pytest.importorskip("anywidget", reason="anywidget is not installed: the lab is left out")

from rebalance_kit.view.lab.playing.horizons import nothing_follows
from rebalance_kit.view.lab.widget import Lab
from rebalance_kit.view.words.moment import sentence

PROTOCOLS = ("eager", "cooperative", "consumer")


def done(lab):
    return nothing_follows(lab.scenario, lab.boards, lab.history.state.done[-1].actions[0])


def removals(lab):
    return [row.at_ms for row in lab.trace.of("member_removed")]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("do", ["crash", "freeze", "cut_network"])
def test_a_silent_member_is_seen_to_be_removed(do, protocol):
    lab = Lab(protocol=protocol)
    lab.do(do, "consumer-1")
    assert removals(lab)
    assert lab.boards.end_ms >= removals(lab)[0] + 20_000
    assert done(lab) == ""


def test_the_session_timeout_that_was_set_is_the_one_that_is_waited_for():
    lab = Lab()
    lab.crash("consumer-1")
    lab.set(session_timeout_ms="120000", heartbeat_interval_ms="30000")
    assert removals(lab)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_new_partitions_are_seen_to_be_read_and_until_then_the_sentence_says_why_not(protocol):
    lab = Lab(protocol=protocol)
    at_ms = lab.cursor_ms
    lab.do("add_partitions", topic="orders", partitions=6)
    assert [each.name for each in lab.board.partitions if not each.state.flows] == ["orders-4", "orders-5"]
    if protocol != "consumer":
        assert "metadata.max.age.ms" in sentence(lab.boards.at(at_ms + 1_000)).cause
    assert lab.boards.at(lab.boards.end_ms).flowing == 6
    assert done(lab) == ""


def test_a_static_member_that_leaves_is_seen_to_be_removed():
    lab = Lab("rolling-restart-static")
    lab.at(12_000)
    lab.leave("consumer-1")
    assert lab.boards.end_ms >= 12_000 + 45_000


@pytest.mark.parametrize(
    ("do", "args", "words"),
    [
        ("stall", {"for_ms": 20_000}, "max.poll.interval.ms is 300.0 s"),
        ("slow_callback", {"callback_ms": 5_000}, "run only in a rebalance"),
        ("slow_down", {"processing_ms": 100}, "a full batch takes 50.0 s"),
        ("drop_next", {"api": "Heartbeat"}, "before the session of 45.0 s ends"),
        ("create_topic", {"topic": "more", "partitions": 2}, "No member subscribes to more"),
    ],
)
def test_where_nothing_follows_the_reason_is_said(do, args, words):
    lab = Lab()
    lab.do(do, None if do == "create_topic" else "consumer-1", **args)
    assert words in done(lab)


def test_where_something_follows_no_reason_is_said():
    lab = Lab()
    lab.set(max_poll_interval_ms="10000")
    lab.do("stall", "consumer-1", for_ms=20_000)
    assert done(lab) == ""


def test_partitions_of_a_topic_that_nobody_reads_are_not_on_the_board():
    lab = Lab()
    lab.do("create_topic", topic="more", partitions=2)
    assert len(lab.boards.at(lab.boards.end_ms).partitions) == 4
    lab.do("subscribe", "consumer-1", topics=["orders", "more"])
    assert len(lab.boards.at(lab.boards.end_ms).partitions) == 6


def test_partitions_of_a_deleted_topic_are_gone_although_a_member_still_holds_them():
    lab = Lab("defect-deleted-topic-hangs")
    board = lab.boards.at(60_000)
    assert [each.name for each in board.partitions] == ["orders-0", "orders-1", "orders-2", "orders-3"]
    assert sentence(board).cause == "orders-0, 1, 2 and 3: consumer-1 and consumer-2 commit before they join."
    assert board.member("consumer-1").state.doing == "commits before it joins"


def test_a_member_that_is_cut_off_is_said_to_be_so_until_its_session_ends():
    lab = Lab("network-cut", protocol="eager")
    cut = next(row.at_ms for row in lab.trace.of("action"))
    assert sentence(lab.boards.at(cut)).cause.startswith("consumer-2 is cut off from the coordinator.")
    assert lab.boards.at(cut).member("consumer-2").state.doing == "is cut off"
    assert lab.boards.at(removals(lab)[0]).member("consumer-2").state.doing == "removed, still works"
