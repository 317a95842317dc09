"""Every edge that a machine's table declares is reached by somebody, and nobody reaches another one."""

from __future__ import annotations

import random
from typing import Any

import pytest

from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.classic_group import table as classic_group
from rebalance_kit.protocol.classic_group.group import ClassicGroupState
from rebalance_kit.protocol.consumer_group import table as consumer_group
from rebalance_kit.protocol.effects import kind_of, name_of
from rebalance_kit.protocol.messages import Heartbeat, JoinGroup, LeaveGroup, Subscription, SyncGroup
from tests.support.protocol.driver import ClassicGroupDriver, ConsumerGroupDriver, tps

Reached = set[tuple[str, str, str]]
SEEDS = range(300)


class WatchedClassic(ClassicGroupDriver):
    """A classic group that remembers which event led it from where to where."""

    def __init__(self, reached: Reached, **given: Any) -> None:
        super().__init__(**given)
        self.reached = reached
        self.timeouts: dict[str, int] = {}
        self.most_members = 3

    def _step(self, event: Any) -> list[fx.Effect]:
        before = self.group.state
        effects = super()._step(event)
        moved = any(isinstance(effect, fx.Note) and effect.kind == "group_state" for effect in effects)
        if moved or self.group.state is not before:
            self.reached.add((before.value, name_of(kind_of(event)), self.group.state.value))
        return effects


def wander_classic(reached: Reached, seed: int) -> None:
    """Clients join, sync, leave, fall silent and come back at random; the broker restarts now and then."""
    chance = random.Random(seed)
    driver = WatchedClassic(reached, delay=chance.choice([0, 500, 3_000]))
    driver.append_at_once, driver.most_members = chance.random() < 0.5, chance.choice([1, 2, 3])
    driver.timeouts = chance.choice(
        [{"rebalance": 60_000, "session": 10_000}, {"rebalance": 5_000, "session": 30_000}]
    )
    moves = (_join, _rejoin, _lead, _sync, _leave, _store, _pass, _restart)
    weights = [chance.random() ** 2 for _ in moves]
    for move in chance.choices(moves, weights, k=80):
        move(driver, chance)


def _join(driver: WatchedClassic, chance: random.Random) -> None:
    if len(driver.group.members) >= driver.most_members:
        return
    instance = chance.choice([None, None, "s1", "s2"])
    asked = driver.join("a", instance=instance, topics=chance.choice([("t",), ("u",)]), **driver.timeouts)
    if not asked.waits and asked.error == "MEMBER_ID_REQUIRED" and chance.random() < 0.8:
        driver.join("a", asked.answer.member_id, **driver.timeouts)


def _rejoin(driver: WatchedClassic, chance: random.Random) -> None:
    known = [*driver.group.members, *driver.group.pending]
    for member_id in known if chance.random() < 0.5 else known[:1]:
        _rejoin_one(driver, member_id, chance.choice([("t",), ("t", "u")]))


def _rejoin_one(driver: WatchedClassic, member_id: str, topics: tuple[str, ...]) -> None:
    member = driver.group.members.get(member_id)
    driver.join("a", member_id, instance=member and member.instance_id, topics=topics, **driver.timeouts)


def _sync(driver: WatchedClassic, chance: random.Random) -> None:
    for member in list(driver.group.members.values()):
        if chance.random() < 0.7:
            plan = {member.member_id: tps("t-0")} if member.member_id == driver.group.leader else None
            driver.sync(member.member_id, plan, instance=member.instance_id)
            driver.beat(member.member_id, instance=member.instance_id)
            driver.commit(member.member_id, instance=member.instance_id)


def _lead(driver: WatchedClassic, chance: random.Random) -> None:
    """All members join again; the leader alone syncs."""
    for member_id in list(driver.group.members):
        _rejoin_one(driver, member_id, ("t",))
    leader = driver.group.members.get(driver.group.leader or "")
    if leader is not None:
        driver.sync(leader.member_id, {}, instance=leader.instance_id)
        driver.stored()


def _leave(driver: WatchedClassic, chance: random.Random) -> None:
    known = [*driver.group.members, *driver.group.pending, "nobody"]
    driver.leave(chance.choice(known))


def _store(driver: WatchedClassic, chance: random.Random) -> None:
    driver.stored()


def _pass(driver: WatchedClassic | WatchedConsumerGroup, chance: random.Random) -> None:
    driver.pass_ms(chance.choice([10, 1_000, 4_000, 11_000, 61_000, 301_000]))


def _restart(driver: WatchedClassic, chance: random.Random) -> None:
    if chance.random() < 0.2:
        driver.event(fx.Unload())
        driver.join("a")
        driver.event(fx.Load())


def leave_while_an_id_is_pending(reached: Reached) -> None:
    """Both members leave in Preparing, and then the id that a third client was given is awaited in vain."""
    driver = WatchedClassic(reached)
    members = driver.stable("a", "b")
    driver.join("c")
    for member_id in members:
        driver.leave(member_id)
    driver.pass_ms(10_000)


# --- consumer groups --------------------------------------------------------------------------
class WatchedConsumerGroup(ConsumerGroupDriver):
    """A consumer group that remembers which event led it from where to where."""

    def __init__(self, reached: Reached, **given: Any) -> None:
        super().__init__(**given)
        self.reached = reached

    def _step(self, event: Any) -> list[fx.Effect]:
        before = self.group.state
        effects = super()._step(event)
        if self.group.state is not before:
            kind = name_of(consumer_group.consumer_kind_of(event))
            self.reached.add((before.value, kind, self.group.state.value))
        return effects


def wander_consumer(reached: Reached, seed: int) -> None:
    """Members of both protocols come and go at random, topics grow, and plans change with them."""
    chance = random.Random(seed)
    driver = WatchedConsumerGroup(
        reached,
        interval=chance.choice([0, 0, 1_000, 60_000]),
        version=chance.choice(["4.0.0", "4.3.1", "4.4.0"]),
    )
    moves = (
        _enter,
        _beat,
        _beat_late,
        _quit,
        _classic_join,
        _classic_beat,
        _commit,
        _grow,
        _pass,
        _restart_group,
    )
    weights = [chance.random() ** 2 for _ in moves]
    for move in chance.choices(moves, weights, k=80):
        move(driver, chance)
        if driver.downgrades:
            return


def _plan(driver: WatchedConsumerGroup, chance: random.Random, *others: str) -> None:
    """Let the assignor give each partition to anybody."""
    members = [*driver.group.members, *others]
    plan: dict[str, list[str]] = {member_id: [] for member_id in members}
    for number in range(driver.topics["t"]):
        plan[chance.choice(members)].append(f"t-{number}")
    driver.plan = {member_id: tps(*names) for member_id, names in plan.items()}


def _enter(driver: WatchedConsumerGroup, chance: random.Random) -> None:
    member_id = chance.choice("abc")
    _plan(driver, chance, member_id)
    if chance.random() < 0.2:
        driver.join(member_id, topics=None, regex="t.*")
    else:
        instance = f"s-{member_id}" if chance.random() < 0.3 else None
        driver.join(member_id, instance_id=instance, rebalance=chance.choice([2_000, 60_000]))


def _beat(driver: WatchedConsumerGroup, chance: random.Random) -> None:
    for member_id, member in list(driver.group.members.items()):
        if member.classic is None and member_id in driver.group.members:
            topics = chance.choice([None, None, None, ("t",), ("t", "u")])
            driver.beat(
                member_id, owned=tuple(member.assigned), topics=topics, instance_id=member.instance_id
            )


def _beat_late(driver: WatchedConsumerGroup, chance: random.Random) -> None:
    """One member alone heartbeats, without acknowledging anything."""
    modern = [member for member in driver.group.members.values() if member.classic is None]
    if modern:
        member = chance.choice(modern)
        member_id = member.member_id
        driver.beat(member_id, instance_id=member.instance_id, server_assignor=chance.choice([None, "range"]))


def _quit(driver: WatchedConsumerGroup, chance: random.Random) -> None:
    if driver.group.members:
        member_id, member = chance.choice(list(driver.group.members.items()))
        epoch = chance.choice([-1, -2]) if member.instance_id else -1
        if chance.random() < 0.3:
            driver.ask(LeaveGroup(member_id, member_id, member.instance_id, None, "g", admin=True))
        else:
            driver.beat(member_id, epoch, instance_id=member.instance_id)


def _classic_join(driver: WatchedConsumerGroup, chance: random.Random) -> None:
    member_id = chance.choice("xy")
    _plan(driver, chance, member_id)
    _rejoin_classic(driver, member_id, chance.choice([2_000, 60_000]))


def _rejoin_classic(driver: ConsumerGroupDriver, member_id: str, rebalance_ms: int) -> None:
    member = driver.group.members.get(member_id)
    subscription = Subscription(("t",), tuple(member.assigned) if member else ())
    protocols = (("range", subscription),)
    driver.ask(JoinGroup(member_id, member_id, None, 10_000, rebalance_ms, protocols, None, "g"))


def _classic_beat(driver: WatchedConsumerGroup, chance: random.Random) -> None:
    for member_id, member in list(driver.group.members.items()):
        if member.classic is not None:
            driver.ask(Heartbeat(member_id, member_id, None, member.epoch, "g"))
            if chance.random() < 0.5:
                driver.ask(SyncGroup(member_id, member_id, None, member.epoch, None, None, "g"))


def _converge(driver: WatchedConsumerGroup, chance: random.Random) -> None:
    """Enough heartbeats for everybody to reach the target."""
    driver.pass_ms(1_000)
    for _ in range(3):
        for member_id, member in list(driver.group.members.items()):
            if member.classic is None:
                driver.beat(member_id, owned=tuple(member.assigned), instance_id=member.instance_id)
            else:
                _rejoin_classic(driver, member_id, member.rebalance_timeout_ms)
                driver.ask(SyncGroup(member_id, member_id, None, member.epoch, None, None, "g"))


def _commit(driver: WatchedConsumerGroup, chance: random.Random) -> None:
    driver.commit(chance.choice("abc"), chance.choice([0, 2, 3]))


def _grow(driver: WatchedConsumerGroup, chance: random.Random) -> None:
    driver.topics = {**driver.topics, "t": driver.topics["t"] + 1}


def _restart_group(driver: WatchedConsumerGroup, chance: random.Random) -> None:
    driver.event(fx.Unload())
    driver.event(fx.Load())


@pytest.fixture(scope="module")
def classic_reached() -> Reached:
    reached: Reached = set()
    leave_while_an_id_is_pending(reached)
    for seed in SEEDS:
        wander_classic(reached, seed)
    return reached


def test_a_classic_group_reaches_every_edge_of_its_table_and_no_other(classic_reached):
    declared = {
        (state.value, name_of(kind), target.value)
        for (state, kind), rule in classic_group.TRANSITIONS.items()
        for target in rule.targets
    }
    assert classic_reached == declared


def test_every_state_of_a_classic_group_is_reached(classic_reached):
    assert {after for _, _, after in classic_reached} == {state.value for state in ClassicGroupState}


def lose_the_last_classic_member(reached: Reached, *, syncs: bool) -> None:
    """A classic member that must revoke falls silent: before it syncs, or before it joins again."""
    driver = WatchedConsumerGroup(reached)
    driver.plan = {"x": tps("t-0", "t-1")}
    _rejoin_classic(driver, "x", 2_000)
    driver.ask(SyncGroup("x", "x", None, driver.group.epoch, None, None, "g"))
    driver.plan = {"x": tps("t-0")}
    driver.topics = {"t": 7}
    _rejoin_classic(driver, "x", 2_000)
    if syncs:
        epoch = driver.group.members["x"].epoch
        driver.ask(Heartbeat("x", "x", None, epoch, "g"))
        driver.ask(SyncGroup("x", "x", None, epoch, None, None, "g"))
    driver.pass_ms(2_000)
    assert driver.state == "Empty"


def lose_the_last_member(reached: Reached) -> None:
    """A member alone does not revoke in time."""
    driver = WatchedConsumerGroup(reached)
    driver.plan = {"a": tps("t-0", "t-1")}
    driver.join("a", rebalance=2_000)
    driver.plan, driver.topics = {"a": tps("t-0")}, {"t": 7}
    driver.beat("a", owned=tps("t-0", "t-1"))
    driver.pass_ms(2_000)
    assert driver.state == "Empty"


def lose_a_member_that_waits_for_a_target(reached: Reached) -> None:
    """A classic member is told to join again and does not, while the next target is not due yet."""
    driver = WatchedConsumerGroup(reached, version="4.0.0", interval=60_000)
    _rejoin_classic(driver, "x", 2_000)
    driver.ask(SyncGroup("x", "x", None, driver.group.epoch, None, None, "g"))
    _rejoin_classic(driver, "y", 60_000)
    driver.ask(Heartbeat("x", "x", None, driver.group.members["x"].epoch, "g"))
    driver.ask(LeaveGroup("y", "y", None, None, "g"))
    driver.pass_ms(2_000)
    assert driver.state == "Empty"


@pytest.fixture(scope="module")
def consumer_reached() -> Reached:
    reached: Reached = set()
    lose_the_last_member(reached)
    lose_a_member_that_waits_for_a_target(reached)
    lose_the_last_classic_member(reached, syncs=False)
    lose_the_last_classic_member(reached, syncs=True)
    for seed in SEEDS:
        wander_consumer(reached, seed)
    return reached


def test_a_consumer_group_reaches_every_step_of_its_table_and_no_other(consumer_reached):
    declared = {
        (before.value, name_of(kind), after.value)
        for kind, rule in consumer_group.RULES.items()
        for before, after in rule.targets
    }
    assert consumer_reached == declared
