"""The text twins: the same facts as the pictures, and the same words every time."""

from __future__ import annotations

import re

from rebalance_kit.analysis.metrics import metrics
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.words.descriptions import (
    describe_board,
    describe_comparison,
    describe_flow,
    describe_gantt,
)
from rebalance_kit.view.words.moment import sentence
from rebalance_kit.view.words.phrases import fill


def test_the_flow_of_the_run_by_hand_is_told_in_full(by_hand):
    assert describe_flow(by_hand.trace).splitlines() == [
        "by-hand, eager, simulated: 2 members, 4 partitions, 60.0 s.",
        "  10.0 s consumer-1 owns orders-0 and 1; consumer-2 owns orders-2 and 3; 4 of 4 flow.",
        "  10.0 s consumer-1 crashes.",
        "  54.0 s session of consumer-1 ends.",
        "  54.0 s rebalance begins.",
        "  55.0 s generation 2.",
        "  55.2 s 900 records are skipped.",
        "  60.0 s consumer-2 owns orders-0, 1, 2 and 3; 4 of 4 flow.",
        "Unread: 4 of 4 partitions, in all 90.8 unread partition-seconds.",
        "  orders-0 and 1: 45.2 s from 10.0 s",
        "  orders-2 and 3: 200 ms from 55.0 s",
    ]


def test_the_gantt_tells_every_bar_of_a_partition(by_hand):
    line = describe_gantt(by_hand.trace).splitlines()[1]
    assert line.startswith(
        "orders-0 and 1: no owner from 0.0 s for 3.5 s; consumer-1 new from 3.5 s for 88 ms; consumer-1 from 3.6 s for 6.4 s; "
    )
    assert "consumer-1 stopped from 10.0 s for 44.0 s; no owner from 54.0 s for 1.1 s; consumer-2 new" in line


def test_a_moment_is_told_with_its_cause_its_victims_and_who_holds_what(by_hand):
    assert describe_board(by_hand.at(20_000)).splitlines() == [
        "20.0 s of 60.0 s, eager. consumer-1 crashed. The group does not know yet. At most 34.0 s more, then its session ends (session.timeout.ms). orders-0 and 1 are unread. orders-2 and 3 flow on.",
        "Group Stable, generation 1. 2 of 4 partitions flow.",
        "consumer-1: crashed 10.0 s ago, session ends in 34.0 s, holds orders-0 and 1 (stopped).",
        "consumer-2: polls, generation 1, owns orders-2 and 3 (flowing).",
    ]


def test_a_sentence_counts_with_the_clock_without_being_asked_again(by_hand):
    early, late = sentence(by_hand.at(20_000)), sentence(by_hand.at(30_000))
    assert early == late
    assert fill(early.effect, 20_000).startswith("At most 34.0 s more")
    assert fill(early.effect, 30_000).startswith("At most 24.0 s more")


def test_the_join_phase_names_whom_it_waits_for(by_hand):
    assert sentence(by_hand.at(54_500)).cause == "The join phase waits for consumer-2."
    assert (
        sentence(by_hand.at(55_005)).cause
        == "The join phase waits for consumer-2, which is in onPartitionsRevoked."
    )


def test_the_pauses_told_are_the_pauses_measured(crash_run):
    told = re.search(
        r"Unread: (\d+) of 4 partitions, in all ([\d.]+) unread partition-seconds", describe_flow(crash_run)
    )
    measured = metrics(crash_run)
    assert int(told[1]) == measured.partitions_unread
    assert float(told[2]) == round(measured.unread_partition_s, 1)


def test_eager_leaves_all_four_partitions_unread_and_the_other_two_protocols_only_the_orphans(crash_runs):
    unread = [re.search(r"Unread: (\d) of 4", describe_flow(run))[1] for run in crash_runs]
    assert unread == ["4", "2", "2"]


def test_the_comparison_has_a_column_a_run_and_the_numbers_of_the_analysis(crash_runs):
    lines = describe_comparison(crash_runs).splitlines()
    assert lines[0].split() == ["eager", "cooperative", "consumer"]
    row = next(line for line in lines if line.startswith("unread partition-seconds"))
    assert row.split()[-3:] == [f"{metrics(run).unread_partition_s:,.1f}" for run in crash_runs]


def test_words_of_a_big_group_stay_short(make_group):
    run = simulate(make_group(30, 300), protocol="eager")
    assert len(describe_flow(run)) < 4_000
    assert len(describe_gantt(run)) < 6_000
    assert all(len(describe_board(Boards(run).at(at_ms))) < 3_000 for at_ms in (0, 4_000, 7_000, 40_000))


def test_the_join_phase_says_of_members_that_commit_that_they_do():
    from rebalance_kit.scenarios import load

    boards = Boards(simulate(load("join"), protocol="eager"))
    causes = {sentence(board).cause for board in boards.walk(boards.change_times)}
    committing = {
        cause for cause in causes if cause.endswith(("commits before it joins.", "commit before they join."))
    }
    assert any(cause.startswith("The join phase waits for consumer-") for cause in committing), causes
