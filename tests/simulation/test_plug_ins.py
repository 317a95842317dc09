"""Listeners and assignors of the learner's own run inside the engine, and their errors become what Kafka makes of them."""

import threading
import time

import pytest

from rebalance_kit.analysis.invariants import check
from rebalance_kit.model.errors import ConfigError, ScenarioError
from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.simulation.client.effect_handlers import CommitFailed, IllegalState
from rebalance_kit.simulation.learner_code import plug_ins as call_with_timeout
from rebalance_kit.simulation.scenario.scenario import (
    THREE_PROTOCOLS,
    Action,
    MemberSpec,
    Scenario,
    TopicSpec,
    with_protocol,
)
from rebalance_kit.simulation.simulate import simulate

EARLIEST = {"auto.offset.reset": "earliest", "max.poll.interval.ms": 20_000}
three = pytest.mark.parametrize("protocol", THREE_PROTOCOLS)


def group(protocol="eager", *actions, end=60_000, starts=(0, 12_000), commit="none", **configs):
    members = tuple(
        MemberSpec(f"consumer-{number}", ("orders",), {**EARLIEST, **configs}, start_ms=start, commit=commit)
        for number, start in enumerate(starts, 1)
    )
    made = Scenario("own", (TopicSpec("orders", 4),), members, actions, end)
    return with_protocol(made, protocol) if protocol else made


def faults(trace):
    return [(row.detail["part"], row.detail["fault"]) for row in trace.of("own_code_fault")]


def calls(trace, actor="consumer-1"):
    return [
        (row.detail["callback"], row.detail["partitions"], row.detail["error"])
        for row in trace.of("callback_end")
        if row.actor == actor
    ]


class Notes:
    """Remembers what it was called with."""

    def __init__(self):
        self.heard = []

    def on_assigned(self, partitions, consumer):
        self.heard.append(("assigned", partitions, consumer.assignment, consumer.generation))

    def on_revoked(self, partitions, consumer):
        self.heard.append(("revoked", partitions, consumer.assignment, consumer.generation))


# --- listeners -----------------------------------------------------------------------------------------
@three
def test_a_listener_hears_what_the_trace_says_with_the_generation_that_group_metadata_shows(protocol):
    notes = Notes()
    trace = simulate(group(protocol), listeners={"consumer-1": notes})
    rows = [row for row in trace.of("callback_begin") if row.actor == "consumer-1"]
    assert [(kind, [str(tp) for tp in given], shown) for kind, given, _, shown in notes.heard] == [
        (
            row.detail["callback"],
            row.detail["partitions"],
            row.generation if row.generation is not None else -1,
        )
        for row in rows
    ]
    assert faults(trace) == []


@three
def test_revoked_partitions_are_still_assigned_while_on_revoked_runs(protocol):
    notes = Notes()
    simulate(group(protocol), listeners={"consumer-1": notes})
    assert all(set(given) <= set(held) for kind, given, held, _ in notes.heard if kind == "revoked")


def test_lost_partitions_are_told_to_on_revoked_where_there_is_no_on_lost():
    """ConsumerRebalanceListener.onPartitionsLost delegates by default."""
    notes = Notes()
    trace = simulate(
        group(
            "eager", Action(25_000, "freeze", "consumer-1"), Action(85_000, "thaw", "consumer-1"), end=120_000
        ),
        listeners={"consumer-1": notes},
    )
    lost = [row.at_ms for row in trace.of("callback_begin") if row.detail["callback"] == "lost"]
    assert lost and len(notes.heard) == len(calls(trace))


@three
def test_a_commit_in_on_revoked_leaves_nothing_to_be_read_twice_after_a_planned_rebalance(protocol):
    class Commits:
        def on_revoked(self, partitions, consumer):
            consumer.commit()

    with_it = simulate(group(protocol), listeners={name: Commits() for name in ("consumer-1", "consumer-2")})
    without = simulate(group(protocol))
    again = [sum(row.detail["redelivered"] for row in one.of("account")) for one in (with_it, without)]
    assert again[0] == 0 < again[1]
    assert any(
        row.detail["how"] == "revoked" and row.detail["error"] == "NONE" for row in with_it.of("commit")
    )


def test_a_seek_in_on_assigned_decides_where_reading_begins():
    class Skips:
        def on_assigned(self, partitions, consumer):
            for tp in partitions:
                consumer.seek(tp, 20)

    trace = simulate(group("eager", starts=(0,)), listeners={"consumer-1": Skips})
    first = list(trace.of("fetch_resumed"))[:4]
    assert [row.detail["position"] for row in first] == [20] * 4
    assert all(
        row.detail["produced"] - 30 < row.detail["delivered"] <= row.detail["produced"] - 20
        for row in trace.of("account")
    )


def test_a_paused_partition_is_not_read_until_it_is_resumed_or_given_again():
    class Pauses:
        def on_assigned(self, partitions, consumer):
            consumer.pause([tp for tp in partitions if tp.partition == 0])

    trace = simulate(group("eager", starts=(0,)), listeners={"consumer-1": Pauses()})
    delivered = {row.partition: row.detail["delivered"] for row in trace.of("account")}
    assert delivered[0] == 0 < min(delivered[1], delivered[2], delivered[3])


def test_a_consumer_is_asked_only_for_what_it_owns_and_only_inside_its_callback():
    seen = []

    class Wrong:
        def on_assigned(self, partitions, consumer):
            seen.append(consumer)
            with pytest.raises(IllegalState, match="No current assignment for partition bills-0"):
                consumer.seek("bills-0", 3)
            with pytest.raises(ValueError, match="negative"):
                consumer.seek(partitions[0], -1)

    trace = simulate(group("eager", starts=(0,)), listeners={"consumer-1": Wrong()})
    with pytest.raises(IllegalState, match="over"):
        seen[0].commit()
    assert faults(trace) == []


def test_a_commit_after_the_generation_is_lost_is_refused():
    said = []

    class Commits:
        def on_lost(self, partitions, consumer):
            try:
                consumer.commit()
            except CommitFailed as error:
                said.append(error.error)

    simulate(
        group(
            "eager", Action(25_000, "freeze", "consumer-1"), Action(85_000, "thaw", "consumer-1"), end=120_000
        ),
        listeners={"consumer-1": Commits()},
    )
    assert said and said[0] != "NONE"


class Throws:
    """Raises once in each of the named callbacks."""

    def __init__(self, *names):
        self.left = list(names)

    def _maybe(self, name):
        if name in self.left:
            self.left.remove(name)
            raise ValueError("disk full")

    def on_assigned(self, partitions, consumer):
        self._maybe("assigned")

    def on_revoked(self, partitions, consumer):
        self._maybe("revoked")


def raised(trace):
    return [(row.actor, row.detail["error"], row.detail["message"]) for row in trace.of("poll_raised")]


@three
def test_an_exception_leaves_poll_as_a_kafka_exception_and_the_group_goes_on(protocol):
    trace = simulate(group(protocol), listeners={"consumer-1": Throws("revoked")})
    assert raised(trace) == [
        ("consumer-1", "KafkaException", "User rebalance callback throws an error (ValueError: disk full)")
    ]
    assert faults(trace) == [("listener", "raises")]
    owned = {row.actor: row.detail["partitions"] for row in trace.of("owned")}
    assert sorted(len(given) for given in owned.values()) == [2, 2]
    assert [one.invariant for one in check(trace)] == ["own_code_is_sound"]


def test_in_a_cooperative_member_the_assigned_callback_still_runs_and_the_assignment_stands():
    """ConsumerCoordinator.onJoinComplete: the first error is thrown once all callbacks have run."""
    trace = simulate(group("cooperative"), listeners={"consumer-1": Throws("revoked")})
    first = next(index for index, call in enumerate(calls(trace)) if call[2])
    assert [call[0] for call in calls(trace)][first : first + 2] == ["revoked", "assigned"]


@pytest.mark.parametrize("protocol", ["eager", "cooperative"])
def test_a_join_whose_on_assigned_raised_is_completed_again_at_the_next_poll_with_nothing_new(protocol):
    """AbstractCoordinator.joinGroupIfNeeded: the join's future is only taken once onJoinComplete has returned."""
    trace = simulate(group(protocol, starts=(0,)), listeners={"consumer-1": Throws("assigned")})
    assert [(kind, len(given), bool(error)) for kind, given, error in calls(trace)] == [
        ("assigned", 4, True),
        ("assigned", 0, False),
    ]
    assert len(list(trace.of("generation"))) == 1
    assert all(row.detail["delivered"] > 0 for row in trace.of("account"))


def test_an_eager_member_does_not_run_on_revoked_again_after_it_raised():
    """AbstractCoordinator.joinGroupIfNeeded: needsJoinPrepare is cleared before the callback."""
    trace = simulate(group("eager"), listeners={"consumer-1": Throws("revoked")})
    assert [call[0] for call in calls(trace)] == ["assigned", "revoked", "assigned"]


class AlwaysThrows:
    def on_revoked(self, partitions, consumer):
        raise ValueError("never")


def test_a_kip_848_member_whose_on_revoked_always_raises_never_acknowledges_and_is_fenced_by_the_rebalance_timeout():
    """AbstractMembershipManager.revokeAndAssign: RECONCILING without an ack, tried again at each poll()."""
    trace = simulate(group("consumer", end=70_000), listeners={"consumer-1": AlwaysThrows()})
    gone = [(row.detail["name"], row.detail["how"]) for row in trace.of("member_removed")]
    assert gone[0] == ("consumer-1", "rebalance_timeout")
    asked = next(row.at_ms for row in trace.of("member_reconciled") if row.detail["pending_revocation"])
    removed = next(row.at_ms for row in trace.of("member_removed"))
    assert removed - asked == 20_000
    assert len([call for call in calls(trace) if call[2]]) > 10


def test_a_close_in_which_on_revoked_raises_sends_no_leave_group():
    """ConsumerCoordinator.onLeavePrepare throws ahead of maybeLeaveGroup, so the group waits for the session."""
    trace = simulate(
        group("eager", Action(30_000, "close", "consumer-1"), end=100_000),
        listeners={"consumer-1": ClosesBadly()},
    )
    assert [
        row.detail["how"] for row in trace.of("member_removed") if row.detail["name"] == "consumer-1"
    ] == ["session"]


class ClosesBadly:
    def on_revoked(self, partitions, consumer):
        if consumer.now_ms >= 30_000:
            raise ValueError("no")


@pytest.fixture
def impatient(monkeypatch):
    monkeypatch.setattr(call_with_timeout, "CALL_TIMEOUT_S", 0.2)


@three
@pytest.mark.usefixtures("impatient")
def test_a_listener_that_never_returns_is_reported_and_its_member_leaves_by_the_poll_timeout(protocol):
    class Blocks:
        def on_assigned(self, partitions, consumer):
            while True:
                time.monotonic()

    trace = simulate(group(protocol), listeners={"consumer-1": Blocks()})
    assert faults(trace)[0] == ("listener", "blocks")
    assert any(row.actor == "consumer-1" for row in trace.of("poll_timeout"))
    assert trace.rows[-1].kind == "run_end"


@pytest.mark.usefixtures("impatient")
def test_calls_share_a_thread_and_one_that_hangs_costs_that_thread():
    threads = []

    def call():
        threads.append(threading.current_thread())
        if len(threads) == 3:
            while True:
                time.monotonic()

    for _ in "ab":
        call_with_timeout.call_with_timeout(call)
    with pytest.raises(call_with_timeout.CallTimedOut):
        call_with_timeout.call_with_timeout(call)
    call_with_timeout.call_with_timeout(call)
    first, second, hung, after = threads
    assert first is second is hung is not after
    hung.join(2)
    assert not hung.is_alive()
    assert after.is_alive()


def test_what_a_callback_returns_is_reported_and_changes_nothing():
    class Talks:
        def on_assigned(self, partitions, consumer):
            return "thanks"

    trace = simulate(group("eager"), listeners={"consumer-1": Talks()})
    plain = simulate(group("eager"))
    assert set(faults(trace)) == {("listener", "returns nonsense")}
    assert [row[3:] for row in plain.of("callback_begin")] == [row[3:] for row in trace.of("callback_begin")]


def test_a_listener_class_is_built_for_every_life_and_two_runs_are_the_same():
    class Fails:
        def __init__(self):
            self.first = True

        def on_assigned(self, partitions, consumer):
            if self.first:
                self.first = False
                raise ValueError("first time")

    scenario = group("eager", Action(20_000, "restart", "consumer-1", {"after_ms": 2_000}))
    runs = [list(simulate(scenario, listeners={"consumer-1": Fails}).jsonl()) for _ in range(2)]
    assert runs[0] == runs[1]
    assert sum('"poll_raised"' in line for line in runs[0]) == 2


@pytest.mark.parametrize(
    ("listeners", "words"),
    [
        ({"nobody": Notes()}, "no member is named 'nobody'"),
        ({"consumer-1": object()}, "on_assigned"),
        ({"consumer-1": type("L", (), {"on_lost": 3})()}, "on_assigned"),
    ],
)
def test_a_listener_of_nobody_or_of_nothing_is_refused_before_anything_runs(listeners, words):
    with pytest.raises(ScenarioError, match=words):
        simulate(group(), listeners=listeners)


# --- assignors -----------------------------------------------------------------------------------------
def deal(partition_counts, members):
    shares = {one.member_id: [] for one in members}
    for topic, count in sorted(partition_counts.items()):
        for number in range(count):
            shares[sorted(shares)[number % len(shares)]].append((topic, number))
    return shares


def with_own(run, **more):
    scenario = group(None, **{"partition.assignment.strategy": "mine", **more})
    return simulate(scenario, assignors={"mine": run})


def test_an_assignor_of_ones_own_gives_the_shares_and_its_name_is_the_groups():
    trace = with_own(deal)
    last = list(trace.of("assignment"))[-1].detail
    assert sorted(len(given) for given in last["assignment"].values()) == [2, 2]
    assert {row.detail["assignor"] for row in trace.of("generation")} == {"mine"}
    assert faults(trace) == []


def test_an_assignor_says_itself_whether_it_is_cooperative():
    """ConsumerPartitionAssignor.supportedProtocols, EAGER by default."""

    def hands_over(partition_counts, members):
        return deal(partition_counts, members)

    hands_over.supported_protocols = ("EAGER", "COOPERATIVE")
    trace = with_own(hands_over)
    assert any(row.detail["cooperative"] for row in trace.of("synced"))
    (died,) = trace.of("died")
    assert (
        died.detail["error"] == "IllegalStateException"
        and "still owned by some members" in died.detail["message"]
    )


def one_more(shares, who, tp):
    return {**shares, who: [*shares.get(who, []), tp]}


NONSENSE = {
    "unknown member": lambda counts, members: one_more(deal(counts, members), "stranger", ("orders", 0)),
    "unknown partition": lambda counts, members: one_more(
        deal(counts, members), members[0].member_id, ("orders", 99)
    ),
    "given twice": lambda counts, members: {
        one.member_id: [TopicPartition("orders", n) for n in range(4)] for one in members
    },
    "forgotten partition": lambda counts, members: {
        who: given[1:] for who, given in deal(counts, members).items()
    },
}


@pytest.mark.parametrize("fault", NONSENSE)
def test_nonsense_is_reported_as_such_and_the_run_ends(fault):
    trace = with_own(NONSENSE[fault])
    assert fault in {seen for _, seen in faults(trace)}
    assert trace.rows[-1].kind == "run_end" and not list(trace.of("died"))


def test_a_partition_given_twice_is_read_twice_as_kafka_lets_it():
    trace = with_own(NONSENSE["given twice"])
    last = list(trace.of("assignment"))[-1].detail["assignment"]
    assert all(len(given) == 4 for given in last.values())
    assert any(one.invariant == "one_owner" for one in check(trace))


@pytest.mark.parametrize(
    ("answer", "error"),
    [(None, "ClassCastException"), ([1, 2], "ClassCastException"), ({"x": 3}, "ClassCastException")],
)
def test_what_is_no_assignment_kills_the_leader(answer, error):
    trace = with_own(lambda counts, members: answer)
    assert {row.detail["error"] for row in trace.of("died")} == {error}
    assert trace.rows[-1].kind == "run_end"


def test_an_assignor_that_raises_leaves_the_leaders_poll():
    def fails(counts, members):
        raise KeyError("rack")

    trace = with_own(fails)
    assert {row.detail["error"] for row in trace.of("died")} == {"KeyError"}
    assert set(faults(trace)) == {("assignor", "raises")}


@pytest.mark.usefixtures("impatient")
def test_an_assignor_that_never_returns_is_reported_and_the_run_ends():
    def blocks(counts, members):
        while True:
            time.monotonic()

    assert set(faults(with_own(blocks))) == {("assignor", "blocks")}


@pytest.mark.parametrize("assignors", [{"range": deal}, {"": deal}, {"mine": 3}, {"RangeAssignor": deal}])
def test_an_assignor_with_kafkas_name_or_that_cannot_be_called_is_refused(assignors):
    with pytest.raises(ScenarioError, match="expected"):
        simulate(group(), assignors=assignors)


def test_a_name_that_nobody_plugged_in_is_refused_as_kafka_refuses_a_class_it_cannot_find():
    with pytest.raises(ConfigError, match="ClassNotFoundException"):
        simulate(group(None, **{"partition.assignment.strategy": "mine"}))
