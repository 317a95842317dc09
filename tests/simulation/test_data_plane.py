"""Records counted exactly: small runs worked out by hand, and many settlements against one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.simulation.client.fetching import Consumption
from rebalance_kit.simulation.cluster.topics import DataPlane, Ledger, Log
from tests.support.simulation.runs import THREE, accounts, act, member, owners, rows, run

P0, P1 = TopicPartition("t", 0), TopicPartition("t", 1)


def consumption(
    rate: float = 10.0,
    *,
    since: int = 0,
    poll_records: int = 500,
    processing: float = 0.0,
    partitions=(P0,),
    **given,
):
    plane = DataPlane({tp: Log(since, rate) for tp in partitions})
    again = []
    made = Consumption(
        plane,
        "g",
        poll_records,
        processing,
        100,
        lambda tp, count, first: again.append((tp, count, first)),
        **given,
    )
    return made, plane, again


# --- logs and ledgers ------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("at", "end"), [(0, 0), (1_000, 0), (1_099, 0), (1_100, 1), (1_199, 1), (2_050, 10), (61_000, 600)]
)
def test_a_log_grows_at_its_rate_from_its_beginning(at, end):
    assert Log(1_000, 10.0).end(at) == end


def test_a_partition_that_does_not_exist_holds_nothing():
    assert DataPlane().end(P0, 99_999) == 0


def test_what_was_delivered_before_counts_as_delivered_again():
    ledger = Ledger()
    assert [ledger.deliver(0, 10), ledger.deliver(5, 12), ledger.deliver(12, 15), ledger.deliver(0, 3)] == [
        0,
        5,
        0,
        3,
    ]
    assert (ledger.delivered, ledger.redelivered, ledger.high) == (10 + 7 + 3 + 3, 8, 15)


def test_lost_is_what_lies_below_the_commit_and_was_never_processed():
    ledger = Ledger(committed=10)
    ledger.process(0, 5)
    ledger.process(8, 12)
    assert ledger.lost() == 3, "offsets 5, 6 and 7"
    ledger.process(4, 6)
    assert ledger.lost() == 2
    ledger.committed = 5
    assert ledger.lost() == 0


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 8)), max_size=12), st.integers(0, 40))
def test_lost_equals_a_count_record_by_record(spans, committed):
    ledger, seen = Ledger(committed=committed), set()
    for first, length in spans:
        ledger.process(first, first + length)
        seen |= set(range(first, first + length))
    assert ledger.lost() == len(set(range(committed)) - seen)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 8)), max_size=12))
def test_redelivered_equals_a_count_record_by_record(steps):
    # Deliveries go on from the last one or begin again somewhere below it, as after a rebalance.
    ledger, seen, position, again = Ledger(), set(), 0, 0
    for back, length in steps:
        first = max(position - back, 0)
        again += len(set(range(first, first + length)) & seen)
        seen |= set(range(first, first + length))
        ledger.deliver(first, first + length)
        position = first + length
    assert ledger.redelivered == again and ledger.high == max([*seen, -1]) + 1


# --- one application --------------------------------------------------------------------------------------
def test_an_application_that_does_nothing_with_its_records_is_one_poll_behind_at_most():
    app, plane, _ = consumption()
    app.start(P0, 0, 0)
    app.settle(1_050)
    assert app.positions == {P0: 10}, "polled at 1000 ms: records 0 to 9"
    app.settle(1_100)
    assert app.positions == {P0: 11} and plane.ledger("g", P0).delivered == 11


def test_a_batch_holds_no_more_than_max_poll_records_and_takes_its_time():
    app, plane, _ = consumption(since=-1_000, poll_records=2, processing=100)
    app.start(P0, 0, 0)
    app.settle(0)
    assert (app.positions[P0], app.busy_until_ms) == (2, 200)
    app.settle(199)
    assert app.positions[P0] == 2 and plane.ledger("g", P0).processed == []
    app.settle(250)
    assert app.positions[P0] == 4 and plane.ledger("g", P0).processed == [[0, 2]]


@pytest.mark.parametrize(("dies_at", "processed"), [(250, 2), (299, 2), (300, 3), (350, 3), (400, 4)])
def test_who_dies_has_processed_only_what_its_time_allowed(dies_at, processed):
    app, plane, _ = consumption(since=-1_000, poll_records=2, processing=100)
    app.start(P0, 0, 0)
    app.settle(dies_at)
    app.abandon(dies_at)
    assert sum(end - first for first, end in plane.ledger("g", P0).processed) == processed


def test_a_poll_that_is_full_leaves_the_other_partition_for_the_next_one():
    app, _, _ = consumption(since=-10_000, poll_records=30, processing=1, partitions=(P0, P1))
    app.start(P0, 0, 0)
    app.start(P1, 0, 0)
    app.settle(0)
    assert app.positions == {P0: 30, P1: 0}
    app.settle(30)
    assert app.positions == {P0: 30, P1: 30}


def test_records_read_again_are_reported_with_their_first_offset():
    app, _, again = consumption()
    app.start(P0, 0, 0)
    app.settle(1_000)
    app.stop(P0)
    app.start(P0, 4, 1_000)
    app.settle(1_100)
    assert sum(count for _, count, _ in again) == 6 and again[0][2] == 4


def test_a_stopped_partition_does_not_move():
    app, _, _ = consumption(partitions=(P0, P1))
    app.start(P0, 0, 0)
    app.start(P1, 0, 0)
    app.settle(500)
    app.stop(P1)
    app.settle(2_000)
    assert (app.positions[P0], app.positions[P1]) == (20, 5)


@settings(max_examples=settings.default.max_examples // 3)
@given(
    st.lists(st.integers(0, 12_000), max_size=12),
    st.sampled_from([1.0, 7.5, 10.0, 333.0]),
    st.sampled_from([(500, 0.0), (3, 0.0), (5, 40.0), (500, 3.0), (2, 900.0)]),
)
def test_it_makes_no_difference_how_often_somebody_looks(moments, rate, application):
    records, processing = application
    often, seen_often, _ = consumption(rate, poll_records=records, processing=processing)
    once, seen_once, _ = consumption(rate, poll_records=records, processing=processing)
    for app in (often, once):
        app.start(P0, 0, 0)
    for moment in sorted(moments):
        often.settle(moment)
    for app in (often, once):
        app.settle(12_000)
    assert often.positions == once.positions and often.next_poll_ms == once.next_poll_ms
    left, right = seen_often.ledger("g", P0), seen_once.ledger("g", P0)
    assert (left.delivered, left.redelivered, sum(b - a for a, b in left.processed)) == (
        right.delivered,
        right.redelivered,
        sum(b - a for a, b in right.processed),
    )


# --- whole runs ------------------------------------------------------------------------------------------------
EARLIEST = {"auto.offset.reset": "earliest"}


def two(**given):
    return [member(name, configs=EARLIEST, **given) for name in ("c1", "c2")]


@pytest.mark.parametrize("protocol", THREE)
def test_without_any_trouble_every_record_is_delivered_once(protocol):
    trace = run(protocol, members=two())
    for account in accounts(trace).values():
        assert account["produced"] == 450 and account["redelivered"] == account["lost"] == 0
        assert 448 <= account["delivered"] <= 450


@pytest.mark.parametrize("protocol", THREE)
def test_commits_only_move_forward_and_never_past_what_was_delivered(protocol):
    trace = run(protocol, act(20_000, "crash", "c1"), members=two())
    committed: dict[str, int] = {}
    for row in rows(trace, "commit", error="NONE"):
        for tp, offset in row.detail["offsets"].items():
            assert committed.get(tp, 0) <= offset, (row.at_ms, tp)
            committed[tp] = offset
    for tp, account in accounts(trace).items():
        assert account["committed"] == committed[tp] <= account["read"]


@pytest.mark.parametrize("protocol", THREE)
def test_periodic_commits_come_every_interval_after_the_assignment(protocol):
    trace = run(protocol, members=[member("c1", configs=EARLIEST)], end=40_000)
    first = rows(trace, "callback_begin")[0].at_ms
    commits = [row.at_ms for row in rows(trace, "request") if row.detail["api"] == "OffsetCommit"]
    assert len(commits) >= 5 and all(
        abs(at - first - 5_000 * number) <= 150 for number, at in enumerate(commits, start=1)
    )


@pytest.mark.parametrize("protocol", THREE)
def test_a_commit_after_each_batch_leaves_at_most_a_batch_to_deliver_again(protocol):
    trace = run(protocol, act(20_000, "crash", "c1"), members=two(commit="per_batch", processing_ms=20.0))
    assert all(account["redelivered"] <= 20 and account["lost"] == 0 for account in accounts(trace).values())
    lazy = run(protocol, act(20_000, "crash", "c1"), members=two(processing_ms=20.0))
    assert sum(one["redelivered"] for one in accounts(lazy).values()) > sum(
        one["redelivered"] for one in accounts(trace).values()
    )


@pytest.mark.parametrize("protocol", THREE)
def test_a_commit_before_processing_loses_records_and_repeats_none(protocol):
    trace = run(
        protocol, act(20_000, "crash", "c1"), members=two(commit="before_processing", processing_ms=45.0)
    )
    mine = owners(trace, 19_000)["c1"]
    assert sum(accounts(trace)[tp]["lost"] for tp in mine) > 0
    assert all(accounts(trace)[tp]["redelivered"] == 0 for tp in mine)


@pytest.mark.parametrize("protocol", ["eager", "cooperative"])
def test_without_commits_a_crash_delivers_everything_again(protocol):
    trace = run(protocol, act(20_000, "crash", "c1"), members=two(commit="none"))
    mine = owners(trace, 19_000)["c1"]
    stopped = {
        f"{row.topic}-{row.partition}": row.detail["position"]
        for row in rows(trace, "fetch_stopped", reason="crash")
    }
    for tp in mine:
        assert accounts(trace)[tp]["redelivered"] == stopped[tp] and accounts(trace)[tp]["committed"] is None


def test_a_planned_handover_repeats_nothing_in_eager_and_kip_848():
    for protocol in ("eager", "consumer"):
        trace = run(
            protocol,
            act(20_000, "start", "c3"),
            members=[*two(), member("c3", start=None, configs=EARLIEST)],
            partitions=6,
        )
        assert all(account["redelivered"] == account["lost"] == 0 for account in accounts(trace).values()), (
            protocol
        )


def test_a_planned_handover_repeats_at_most_what_was_read_between_commit_and_revoke_in_cooperative():
    trace = run(
        "cooperative",
        act(20_000, "start", "c3"),
        members=[*two(), member("c3", start=None, configs=EARLIEST)],
        partitions=6,
    )
    moved = owners(trace)["c3"]
    for tp, account in accounts(trace).items():
        assert account["lost"] == 0 and account["redelivered"] <= (1 if tp in moved else 0), tp


def test_positions_never_pass_the_end_of_the_log():
    for protocol in THREE:
        trace = run(protocol, act(20_000, "crash", "c1"), members=two())
        for row in rows(trace, "fetch_stopped") + rows(trace, "progress"):
            assert row.detail["position"] <= row.detail["log_end"], row


@pytest.mark.parametrize("end", [20_000, 20_020, 20_050, 20_080])
def test_a_batch_in_work_when_the_run_ends_is_not_lost(end):
    # every record is committed before it is processed, and the consumers are busy nearly all the time
    trace = run("eager", end=end, members=two(commit="before_processing", processing_ms=45.0))
    assert [row.detail["lost"] for row in rows(trace, "account")] == [0, 0, 0, 0]
