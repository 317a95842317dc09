"""Every metric against a trace whose figures are known beforehand."""

from __future__ import annotations

import pytest

from rebalance_kit.analysis.deliveries import lag_at, lag_of, samples
from rebalance_kit.analysis.metrics import metrics, study_from
from rebalance_kit.model.topology import TopicPartition
from tests.support.analysis.made_traces import flows, state, trace

# c1 (t-0, t-1) crashes at 20 s and is removed at 28 s; c2 (t-2, t-3) gives everything up at 30.0 and reads
# all of it from 30.1 on, but t-1 from 30.5.
CRASH = trace(
    *sorted(
        [
            *[
                (0, name, "process_started", None, {"configs": {}, "topics": ["t"], "life": 1})
                for name in ("c1", "c2")
            ],
            *flows(
                ("t-0", "c1", 5_000, 20_000),
                ("t-1", "c1", 5_000, 20_000),
                ("t-2", "c2", 5_000, 30_000),
                ("t-3", "c2", 5_000, 30_000),
            ),
            *flows(
                ("t-0", "c2", 30_100, None),
                ("t-1", "c2", 30_500, None),
                ("t-2", "c2", 30_100, None),
                ("t-3", "c2", 30_100, None),
            ),
            (20_000, "c1", "action", None, {"do": "crash", "member": "c1"}),
            (28_000, "coordinator", "member_removed", None, {"name": "c1", "how": "session", "reason": ""}),
            (4_000, "coordinator", "generation", None, {"generation": 1}),
            state(4_100, "Stable"),
            state(28_000, "PreparingRebalance"),
            (30_050, "coordinator", "generation", None, {"generation": 2}),
            state(30_060, "Stable"),
            (10_000, "c1", "request", None, {"api": "Heartbeat"}),
            (30_010, "c2", "request", None, {"api": "JoinGroup"}),
            (30_055, "c2", "request", None, {"api": "SyncGroup"}),
            (33_000, "c2", "request", None, {"api": "Heartbeat"}),
            (30_200, "c2", "redelivered", "t-0", {"count": 40, "first_offset": 0}),
            (30_600, "c2", "redelivered", "t-1", {"count": 2, "first_offset": 0}),
            (60_000, "run", "account", "t-0", {"lost": 3}),
            (60_000, "run", "account", "t-1", {"lost": 0}),
        ],
        key=lambda row: row[0],
    )
)


def test_every_metric_of_a_crash_has_the_figure_worked_out_by_hand():
    found = metrics(CRASH)
    assert (found.label, found.since_ms, found.partitions, found.partitions_unread) == ("eager", 20_000, 4, 4)
    assert found.unread_partition_s == 20.8, "10.1 + 10.5 + 0.1 + 0.1"
    assert (found.unavailable_most_s, found.longest_gap_s, found.group_gap_s) == (10.5, 10.5, 0.1)
    assert (found.partitions_moved, found.moves_beyond_minimum) == (2, 0)
    assert (found.rebalances, found.generations, found.epochs, found.targets) == (1, 1, 0, 0)
    assert found.requests == {"Heartbeat": 1, "JoinGroup": 1, "SyncGroup": 1} and found.requests_total == 3
    assert (found.records_redelivered, found.records_lost) == (42, 3)
    assert (found.detect_s, found.converge_s) == (8.0, 10.5)


def test_from_a_later_moment_on_only_what_is_left_counts():
    found = metrics(CRASH, 30_400)
    assert (found.partitions_unread, found.longest_gap_s, found.group_gap_s, found.rebalances) == (
        1,
        0.1,
        0.0,
        0,
    )
    assert found.detect_s is None and found.records_redelivered == 2


def test_a_gap_that_never_ends_leaves_the_group_unconverged():
    assert metrics(trace(*flows(("t-0", "a", 0, 300)), state(10, "Stable"), end=1_000), 0).converge_s is None


def test_a_group_that_ends_in_a_rebalance_has_not_converged():
    assert (
        metrics(
            trace(*flows(("t-0", "a", 0, None)), state(10, "PreparingRebalance"), end=1_000), 0
        ).converge_s
        is None
    )


def test_epochs_count_as_rebalances_and_targets_do_not():
    rows = [
        (at, "coordinator", kind, None, {"generation": at})
        for at, kind in ((1, "epoch_bump"), (2, "epoch_bump"), (3, "target"))
    ]
    found = metrics(trace(*rows), 0)
    assert (found.rebalances, found.epochs, found.targets) == (2, 2, 1)


def test_hand_overs_are_counted_there_and_back_and_what_is_given_back_apart():
    made = trace(
        *flows(
            ("t-0", "c1", 1_000, 20_000),
            ("t-0", "c2", 20_100, 30_000),
            ("t-0", "c1", 30_100, None),
            ("t-1", "c2", 1_000, 20_000),
            ("t-1", "c2", 20_100, None),
        )
    )
    found = metrics(made, 10_000)
    assert (found.handovers, found.given_back, found.partitions_moved) == (2, 1, 0)
    assert metrics(made, 25_000).handovers == 1, "only what comes after"


def test_moves_beyond_the_least_that_the_sizes_ask_for_are_counted():
    # a: 0 1, b: 2 3 -> a: 2 3, b: 0 1: the sizes are as before, so none of the four had to move.
    before = [(f"t-{number}", "a" if number < 2 else "b", 0, 500) for number in range(4)]
    after = [(f"t-{number}", "b" if number < 2 else "a", 500, None) for number in range(4)]
    found = metrics(trace(*flows(*before, *after), end=1_000), 400)
    assert (found.partitions_moved, found.moves_beyond_minimum) == (4, 4)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([], 0),
        ([(0, "a", "process_started", None, {})], 5_300),
        ([(0, "a", "process_started", None, {}), (9_000, "b", "process_started", None, {})], 9_000),
        ([(0, "a", "process_started", None, {}), (4_999, "b", "process_started", None, {})], 5_300),
        (
            [
                (9_000, "b", "process_started", None, {}),
                (9_500, "admin", "action", None, {"do": "crash", "member": "a"}),
            ],
            9_500,
        ),
        ([(1_000, "admin", "action", None, {"do": "see_metadata", "member": "a"})], 5_300),
    ],
)
def test_a_run_is_studied_from_its_first_action_else_its_first_late_start_else_when_all_flows(rows, expected):
    stretches = flows(("t-0", "a", 5_000, None), ("t-1", "a", 5_300, None)) if rows else []
    assert study_from(trace(*sorted([*rows, *stretches], key=lambda row: row[0]))) == expected


# --- lag ------------------------------------------------------------------------------------------------
def sampled(*points, partition="t-0"):
    return [
        (at, "a", "progress", partition, {"position": position, "log_end": end, "committed": 0})
        for at, position, end in points
    ]


def test_samples_are_what_the_rows_say():
    made = trace(*sampled((0, 0, 5), (100, 5, 6)))
    assert samples(made) == {TopicPartition("t", 0): ((0, 0, 5), (100, 5, 6))}


@pytest.mark.parametrize(("at", "lag"), [(-1, 0), (0, 5), (50, 5), (100, 1), (150, 6), (200, 11), (999, 11)])
def test_between_samples_lag_stays_where_somebody_reads_and_grows_where_nobody_does(at, lag):
    assert lag_at(((0, 0, 5), (100, 5, 6), (200, 5, 16)), at) == lag


def test_peak_and_return_of_lag_are_found():
    made = trace(
        *sampled((0, 0, 0), (1_000, 10, 10), (11_000, 10, 110), (12_000, 100, 120), (13_000, 130, 130))
    )
    peak, drained = lag_of(made, 1_000)
    assert (peak, drained) == (100, 12_000)


def test_lag_within_the_noise_of_two_records_a_partition_is_drained_at_once():
    assert lag_of(trace(*sampled((0, 0, 0), (1_000, 8, 10))), 500) == (0, 0)


def test_lag_that_never_returns_has_no_end():
    peak, drained = lag_of(trace(*sampled((0, 0, 0), (1_000, 0, 100), (2_000, 0, 200))), 0)
    assert (peak, drained) == (200, None)


def test_a_run_without_samples_has_no_lag():
    assert lag_of(trace(), 0) == (None, None)
