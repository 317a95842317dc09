"""Every edge that a machine's table declares is reached by somebody, and nobody reaches another one."""

from __future__ import annotations

import random
from typing import Any

import pytest

from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.classic_group import table as classic_group
from rebalance_kit.protocol.classic_group.states import ClassicGroupState
from rebalance_kit.protocol.table import kind_of, name_of
from tests.support.protocol.driver import Classic, tps

Reached = set[tuple[str, str, str]]
SEEDS = range(300)


class WatchedClassic(Classic):
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


def _pass(driver: WatchedClassic, chance: random.Random) -> None:
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
