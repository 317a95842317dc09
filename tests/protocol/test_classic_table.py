"""The table of the classic group: every pair of state and event follows its rule or refuses."""

from __future__ import annotations

from itertools import product

import pytest

from rebalance_kit.model.errors import ProtocolViolation
from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.classic_group.group import PREDECESSORS, ClassicGroupState
from rebalance_kit.protocol.classic_group.table import TRANSITIONS, step
from rebalance_kit.protocol.effects import kind_of, name_of
from rebalance_kit.protocol.messages import (
    ConsumerGroupHeartbeat,
    Heartbeat,
    JoinGroup,
    LeaveGroup,
    OffsetCommit,
    Subscription,
    SyncGroup,
)
from tests.support.protocol.driver import ClassicGroupDriver, tps

LIVING = (
    ClassicGroupState.EMPTY,
    ClassicGroupState.PREPARING_REBALANCE,
    ClassicGroupState.COMPLETING_REBALANCE,
    ClassicGroupState.STABLE,
)
PROTOCOLS = (("range", Subscription(("t",))),)
OTHER = (("range", Subscription(("t", "u"))),)


def group_in(state: ClassicGroupState) -> tuple[ClassicGroupDriver, list[str]]:
    """A real group that was led into that state by requests alone; ids of its two members."""
    driver = ClassicGroupDriver()
    if state is ClassicGroupState.EMPTY:
        return driver, ["a-1", "b-2"]
    ids = driver.stable("a", "b")
    if state is ClassicGroupState.STABLE:
        return driver, ids
    for one in ids:
        driver.join(one[0], one, topics=("t", "u"))
        if state is ClassicGroupState.PREPARING_REBALANCE:
            break
    assert driver.group.state is state
    return driver, ids


def events(ids: list[str], generation: int) -> list[object]:
    """Several events of every type that a coordinator is sent: known and unknown senders, good and bad fields."""
    requests: list[object] = []
    for member_id, instance in (
        (ids[0], None),
        (ids[1], None),
        ("", None),
        ("", "i"),
        ("nobody-9", None),
        ("nobody-9", "i"),
    ):
        requests += [
            JoinGroup("a", member_id, instance, 10_000, 60_000, held) for held in (PROTOCOLS, OTHER, ())
        ]
        for at in (generation, generation + 7, -1):
            plan = {ids[0]: tps("t-0")}
            requests += [
                SyncGroup("a", member_id, instance, at, None, plan),
                Heartbeat("a", member_id, instance, at),
            ]
            requests.append(OffsetCommit("a", member_id, instance, at, {}))
        requests.append(LeaveGroup("a", member_id, instance))
    keys = [
        ("initial",),
        ("join",),
        ("sync",),
        ("session", ids[0]),
        ("session", ids[1]),
        ("session", "nobody-9"),
        ("pending", "nobody-9"),
    ]
    return [
        *(fx.Arrived(one, number) for number, one in enumerate(requests)),  # type: ignore[arg-type]
        *(fx.TimerFired(key) for key in keys),
        fx.Appended(("assignment", str(generation))),
        fx.Appended(("assignment", "99")),
        fx.Unload(),
        fx.Load(),
    ]


@pytest.mark.parametrize("state", LIVING, ids=lambda state: state.value)
def test_every_event_ends_in_a_state_that_its_cell_declares(state):
    _, ids = group_in(state)
    for number in range(len(events(ids, 1))):
        driver, ids = group_in(state)
        event = events(ids, driver.group.generation)[number]
        rule = TRANSITIONS.get((state, kind_of(event)))
        if rule is None:
            with pytest.raises(ProtocolViolation, match=f"{name_of(kind_of(event))} in state {state.value}"):
                step(driver.group, event)
            continue
        step(driver.group, event)
        assert driver.group.state is state or driver.group.state in rule.targets, event


@pytest.mark.parametrize("state", LIVING, ids=lambda state: state.value)
def test_a_request_is_answered_or_parked_and_never_answered_twice(state):
    _, ids = group_in(state)
    for number in range(len(events(ids, 1))):
        driver, ids = group_in(state)
        event = events(ids, driver.group.generation)[number]
        if not isinstance(event, fx.Arrived):
            continue
        token = 10_000
        replies = [
            one
            for one in step(driver.group, event._replace(token=token))
            if isinstance(one, fx.Reply) and one.token == token
        ]
        parked = [one for one in driver.group.members.values() if token in {one.parked_join, one.parked_sync}]
        assert len(replies) + len(parked) == 1, event


@pytest.mark.parametrize("state", LIVING, ids=lambda state: state.value)
def test_an_event_that_no_driver_may_send_is_refused_and_changes_nothing(state):
    driver, _ = group_in(state)
    before = repr(driver.group)
    with pytest.raises(ProtocolViolation, match="ConsumerGroupHeartbeat in state " + state.value):
        step(driver.group, fx.Arrived(ConsumerGroupHeartbeat("a", "a", 0), 1))
    assert repr(driver.group) == before


def test_a_dead_group_sends_every_request_to_another_coordinator():
    driver = ClassicGroupDriver()
    driver.event(fx.Unload())
    for event in events(["a-1", "b-2"], 1):
        if isinstance(event, fx.Arrived):
            (reply,) = step(driver.group, event)
            assert reply.response.error == "COORDINATOR_NOT_AVAILABLE"


REQUESTS = {JoinGroup, SyncGroup, Heartbeat, LeaveGroup, OffsetCommit}
LIMITS = {
    # the initial delay and the join phase are Preparing's; a pending id may outlive any rebalance
    ClassicGroupState.EMPTY: {fx.Timer.PENDING},
    ClassicGroupState.PREPARING_REBALANCE: {
        fx.Timer.INITIAL,
        fx.Timer.JOIN,
        fx.Timer.SESSION,
        fx.Timer.PENDING,
    },
    ClassicGroupState.COMPLETING_REBALANCE: {fx.Timer.SYNC, fx.Timer.SESSION, fx.Timer.PENDING},
    ClassicGroupState.STABLE: {fx.Timer.SYNC, fx.Timer.SESSION, fx.Timer.PENDING},
}


def test_the_table_is_total_for_requests_and_names_the_timers_that_may_fire():
    living = {(state, kind) for state in LIVING for kind in REQUESTS | {fx.Appended, fx.Unload}}
    timers = {(state, timer) for state, limits in LIMITS.items() for timer in limits}
    dead = set(product([ClassicGroupState.DEAD], REQUESTS | {fx.Load}))
    assert set(TRANSITIONS) == living | timers | dead


def test_each_state_says_what_it_answers_and_what_leads_out_of_it():
    for state in LIVING:
        told = {other.value for other in ClassicGroupState if f"=> {other.value}" in state.transition}
        assert told == {other.value for other, befores in PREDECESSORS.items() if state in befores}
        assert state.action


ALLOWED = {
    ("PreparingRebalance", "Empty"),
    ("Stable", "PreparingRebalance"),
    ("CompletingRebalance", "PreparingRebalance"),
    ("Empty", "PreparingRebalance"),
    ("PreparingRebalance", "CompletingRebalance"),
    ("CompletingRebalance", "Stable"),
}


@pytest.mark.parametrize("before", ClassicGroupState, ids=lambda state: state.value)
@pytest.mark.parametrize("after", ClassicGroupState, ids=lambda state: state.value)
def test_a_group_moves_along_kafkas_edges_only(before, after):
    driver = ClassicGroupDriver()
    driver.group.state = before
    leaves = after is ClassicGroupState.DEAD is not before
    if leaves or (before.value, after.value) in ALLOWED:
        driver.group.move(after)
        assert driver.group.state is after and driver.group.previous is before
    else:
        with pytest.raises(ProtocolViolation, match=f"{before.value} may not become {after.value}"):
            driver.group.move(after)
        assert driver.group.state is before


def test_declared_targets_are_reachable_by_kafkas_edges():
    # Preparing is passed through within one event: Stable -> Preparing -> Completing when all have joined.
    for (state, kind), rule in TRANSITIONS.items():
        for target in rule.targets:
            if kind is fx.Load or target is state:  # loading makes the group anew
                continue
            through = (
                {ClassicGroupState.PREPARING_REBALANCE}
                if state in PREDECESSORS[ClassicGroupState.PREPARING_REBALANCE]
                else set()
            )
            assert state in PREDECESSORS[target] or through & PREDECESSORS[target], (state, kind, target)
