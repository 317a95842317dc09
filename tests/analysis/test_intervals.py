"""Flows and gaps of small traces written by hand."""

from __future__ import annotations

from rebalance_kit.analysis import deliveries
from rebalance_kit.analysis.deliveries import Flow, Gap
from rebalance_kit.model.topology import TopicPartition
from tests.support.analysis.made_traces import flows, trace

T0, T1 = TopicPartition("t", 0), TopicPartition("t", 1)


def test_a_flow_ends_for_its_reason_or_with_the_run():
    made = trace(*flows(("t-0", "a", 100, 300), ("t-0", "b", 400, None)), end=1_000)
    assert deliveries.flows(made) == {T0: (Flow("a", 100, 300, "revoke"), Flow("b", 400, 1_000, None))}


def test_a_second_resumption_does_not_shorten_a_flow():
    made = trace(*flows(("t-0", "a", 100, None), ("t-0", "a", 200, 300)), end=1_000)
    assert deliveries.flows(made)[T0] == (Flow("a", 100, 300, "revoke"),)


def test_a_gap_lies_between_two_readers_and_knows_both():
    made = trace(*flows(("t-0", "a", 100, 300), ("t-0", "b", 450, None)), end=1_000)
    (gap,) = deliveries.gaps(made)
    assert gap == Gap(T0, 300, 450, "a", "b", "revoke") and gap.length_ms == 150


def test_nothing_is_a_gap_while_anybody_reads():
    made = trace(
        *flows(("t-0", "zombie", 100, 900), ("t-0", "b", 300, 600), ("t-0", "b", 800, None)), end=1_000
    )
    assert deliveries.gaps(made) == ()


def test_what_comes_before_the_first_record_is_no_gap():
    assert deliveries.gaps(trace(*flows(("t-0", "a", 700, None)), end=1_000)) == ()


def test_a_partition_that_nobody_takes_again_has_an_open_gap():
    (gap,) = deliveries.gaps(trace(*flows(("t-0", "a", 100, 300)), end=1_000))
    assert (gap.after, gap.to_ms) == (None, 1_000)


def test_a_deleted_topic_has_no_gap_after_its_end():
    rows = sorted(
        [*flows(("t-0", "a", 100, 300)), (350, "broker", "topic_changed", "t-0", {"partitions": 0})],
        key=lambda row: row[0],
    )
    (gap,) = deliveries.gaps(trace(*rows, end=1_000))
    assert gap.to_ms == 350


def test_gaps_that_ended_before_the_moment_asked_for_are_left_out():
    made = trace(*flows(("t-0", "a", 0, 100), ("t-0", "a", 200, 500), ("t-0", "a", 600, None)), end=1_000)
    assert [(gap.from_ms, gap.to_ms) for gap in deliveries.gaps(made, 200)] == [(500, 600)]
    assert [(gap.from_ms, gap.to_ms) for gap in deliveries.gaps(made, 199)] == [(100, 200), (500, 600)]


def test_only_the_part_of_a_gap_that_lies_in_a_window_counts():
    made = trace(*flows(("t-0", "a", 100, 300), ("t-0", "b", 450, 600)), end=1_000)
    assert deliveries.gap_lengths(made) == {T0: (150, 400)}
    assert deliveries.gap_lengths(made, 350, 700) == {T0: (100, 100)}
    assert deliveries.gap_lengths(made, 450, 600) == {}


def test_the_group_pauses_only_while_nothing_at_all_is_read():
    made = trace(
        *flows(("t-0", "a", 0, 300), ("t-1", "b", 0, 400), ("t-0", "a", 450, 700), ("t-1", "b", 500, 700)),
        end=1_000,
    )
    assert deliveries.group_gaps(made) == ((400, 450), (700, 1_000))
    assert deliveries.group_gaps(made, 420) == ((420, 450), (700, 1_000))
    assert deliveries.group_gaps(made, 450) == ((700, 1_000),)


def test_handing_over_in_one_moment_is_no_pause():
    made = trace(*flows(("t-0", "a", 0, 300), ("t-0", "b", 300, None)), end=1_000)
    assert deliveries.group_gaps(made) == () and deliveries.gaps(made) == ()


def test_a_run_without_records_has_neither_gaps_nor_pauses():
    assert deliveries.gaps(trace()) == () and deliveries.group_gaps(trace()) == ()
