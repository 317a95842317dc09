"""KIP-848 groups in a state that a script begins with."""

from __future__ import annotations

from rebalance_kit.protocol.consumer_group.group import ConsumerGroupMember
from rebalance_kit.protocol.messages import ConsumerGroupHeartbeat
from tests.support.protocol.driver import ConsumerGroupDriver, run, tps


def leave(driver: ConsumerGroupDriver, member_id: str, instance: str | None = None, epoch: int = -1) -> str:
    return driver.ask(ConsumerGroupHeartbeat(member_id, member_id, epoch, instance, group="g")).error


def settled(**plan: str) -> ConsumerGroupDriver:
    """A group whose members have reached their target; epochs 10 for the group and everybody."""
    driver = ConsumerGroupDriver(t=10, u=10)
    driver.plan = {name: tps(*held.split()) for name, held in plan.items()}
    group = driver.group
    for name, held in driver.plan.items():
        member = ConsumerGroupMember(
            name, None, name, 10, 10, topics=("t", "u"), names=("t", "u"), rebalance_timeout_ms=60_000
        )
        group.members[name] = member
        group.hold(member, dict.fromkeys(held, 10), {})
        driver.clock.set(("session", name), 45_000)
    group.target = dict(driver.plan)
    group.epoch = group.assignment_epoch = 10
    group.metadata, group.seen_topics = group.metadata_now(), dict(driver.topics)
    run(group.settle_state())
    assert driver.state == "Stable"
    return driver


def names(partitions: object) -> list[str]:
    return [str(tp) for tp in sorted(partitions)]  # type: ignore[call-overload]


def heartbeat(**fields: object) -> ConsumerGroupHeartbeat:
    given = {
        "client": "m",
        "member_id": "m",
        "member_epoch": 0,
        "rebalance_timeout_ms": 60_000,
        "topics": ("t",),
        "owned": (),
    }
    return ConsumerGroupHeartbeat(**(given | fields))  # type: ignore[arg-type]


def two(**given: object) -> ConsumerGroupDriver:
    """Members a and b, settled with t-0..t-2 and t-3..t-5; group and members at one epoch."""
    driver = ConsumerGroupDriver(**given)  # type: ignore[arg-type]
    driver.plan = {"a": tps("t-0", "t-1", "t-2", "t-3", "t-4", "t-5")}
    driver.join("a")
    driver.plan = {"a": tps("t-0", "t-1", "t-2"), "b": tps("t-3", "t-4", "t-5")}
    driver.join("b")
    driver.beat("a")
    driver.beat("a", owned=tps("t-0", "t-1", "t-2"))
    driver.beat("b")
    assert driver.state == "Stable"
    return driver
