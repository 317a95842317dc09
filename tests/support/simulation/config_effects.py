"""For each configuration key that acts, a small scenario in which another value of it changes what happens."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any

from rebalance_kit.model.key_types import ConfigKey
from rebalance_kit.model.trace import Trace, TraceRow
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario, TopicSpec
from rebalance_kit.simulation.simulate import simulate

QUICK = {"session.timeout.ms": 10_000, "heartbeat.interval.ms": 3_000}
CONSUMER = {"group.protocol": "consumer"}
CRASH = Action(20_000, "crash", "c2")
GROWN = Action(15_000, "add_partitions", None, {"topic": "orders", "partitions": 6})
JOIN = Action(15_000, "start", "c3")
STALL = Action(15_000, "stall", "c2", {"for_ms": 30_000})


@dataclass(frozen=True)
class Case:
    """A run, and what is changed in it: ``value`` instead of ``before`` for the key (None: not set).

    ``configs`` go to every member; a client's key is changed for the members of ``who``.
    """

    value: Any
    before: Any = None
    actions: tuple[Action, ...] = ()
    configs: Mapping[str, Any] = field(default_factory=lambda: QUICK)
    broker: Mapping[str, Any] = field(default_factory=dict)
    who: tuple[str, ...] = ("c1", "c2", "c3")
    member: Mapping[str, Any] = field(default_factory=dict)
    topics: tuple[TopicSpec, ...] = (TopicSpec("orders", 4), TopicSpec("bills", 3))
    nodes: Mapping[int, str | None] = field(default_factory=dict)
    kafka_version: str = "4.3.1"
    end_ms: int = 60_000


FIELDS = {field.name for field in fields(MemberSpec)}
CASES: Mapping[str, Case] = {
    # consumers
    "group.id": Case("other", who=("c2",)),
    "group.instance.id": Case(
        "i2", actions=(Action(20_000, "restart", "c2", {"after_ms": 2_000}),), who=("c2",)
    ),
    "client.rack": Case(
        "a",
        actions=(Action(20_000, "node_down", None, {"node": 2}),),
        configs={**QUICK, "metadata.max.age.ms": 5_000},
        nodes={1: "a", 2: "b"},
    ),
    "group.protocol": Case("consumer", configs={}),
    "group.remote.assignor": Case("range", configs=CONSUMER),
    "partition.assignment.strategy": Case("cooperative-sticky"),
    "session.timeout.ms": Case(20_000, 10_000, (CRASH,), configs={}),
    "heartbeat.interval.ms": Case(1_000, 3_000, (JOIN,), configs={"session.timeout.ms": 10_000}),
    "max.poll.interval.ms": Case(20_000, actions=(STALL,)),
    "max.poll.records": Case(
        5, configs={**QUICK, "max.poll.interval.ms": 12_000}, member={"processing_ms": 300.0}
    ),
    "metadata.max.age.ms": Case(10_000, actions=(GROWN,)),
    "enable.auto.commit": Case(False),
    "auto.commit.interval.ms": Case(1_000),
    "auto.offset.reset": Case("earliest", "latest"),
    # classic groups
    "group.initial.rebalance.delay.ms": Case(0),
    "group.min.session.timeout.ms": Case(11_000),
    "group.max.session.timeout.ms": Case(9_000),
    "group.max.size": Case(1),
    # consumer groups
    "group.consumer.session.timeout.ms": Case(60_000, actions=(CRASH,), configs=CONSUMER, end_ms=120_000),
    "group.consumer.heartbeat.interval.ms": Case(10_000, configs=CONSUMER),
    "group.consumer.max.size": Case(1, configs=CONSUMER),
    "group.consumer.assignors": Case("range", configs=CONSUMER),
    "group.consumer.migration.policy": Case("disabled", configs={}, member={"c2": CONSUMER}),
    "group.consumer.assignment.interval.ms": Case(15_000, actions=(JOIN,), configs=CONSUMER),
    "group.consumer.regex.refresh.interval.ms": Case(
        10_000, configs=CONSUMER, member={"server_pattern": "orders.*", "topics": ()}
    ),
    "consumer.session.timeout.ms": Case(60_000, actions=(CRASH,), configs=CONSUMER, end_ms=120_000),
    "consumer.heartbeat.interval.ms": Case(10_000, configs=CONSUMER),
    "consumer.assignment.interval.ms": Case(15_000, actions=(JOIN,), configs=CONSUMER),
}
BOUNDS: Mapping[str, tuple[int, Mapping[str, int]]] = {
    "group.consumer.min.session.timeout.ms": (46_000, {"group.consumer.session.timeout.ms": 45_000}),
    "group.consumer.max.session.timeout.ms": (46_000, {"group.consumer.session.timeout.ms": 50_000}),
    "group.consumer.min.heartbeat.interval.ms": (6_000, {"group.consumer.heartbeat.interval.ms": 5_500}),
    "group.consumer.max.heartbeat.interval.ms": (6_000, {"group.consumer.heartbeat.interval.ms": 7_000}),
    "group.consumer.min.assignment.interval.ms": (3_000, {"group.consumer.assignment.interval.ms": 2_000}),
    "group.consumer.max.assignment.interval.ms": (3_000, {"group.consumer.assignment.interval.ms": 4_000}),
}
"""A bound, and a value of another key that it refuses and that would be accepted without it."""
OTHER: Mapping[str, Any] = {"isolation.level": "read_committed", "security.protocol": "SSL"}


def other_value(key: ConfigKey) -> Any:
    """A value that the key takes and that is not its default."""
    default = key.default("4.3.1")
    if key.name in OTHER:
        return OTHER[key.name]
    if key.kind == "BOOLEAN":
        return not default
    return "something" if key.kind in {"STRING", "LIST"} else (default or 0) + 7


def scenario(key: ConfigKey, case: Case, value: Any, client: str = "java") -> Scenario:
    """The case's run with that value of the key."""
    given = {} if value is None else {key.name: value}
    members = []
    for name in ("c1", "c2", "c3"):
        configs = {**case.configs, **case.member.get(name, {})}
        if key.scope == "client" and name in case.who:
            configs = {**configs, **given}
        spec = MemberSpec(
            name, ("orders", "bills"), configs, client=client, start_ms=0 if name != "c3" else None
        )
        members.append(replace(spec, **{name: one for name, one in case.member.items() if name in FIELDS}))
    broker = {**case.broker, **(given if key.scope != "client" else {})}
    return Scenario(
        key.name,
        case.topics,
        tuple(members),
        actions=case.actions,
        end_ms=case.end_ms,
        broker=broker,
        nodes=case.nodes,
        kafka_version=case.kafka_version,
    )


def happened(trace: Trace) -> tuple[TraceRow, ...]:
    """The rows of a run without the configuration that ``process_started`` repeats."""
    return tuple(
        row._replace(detail={name: value for name, value in row.detail.items() if name != "configs"})
        if row.kind == "process_started"
        else row
        for row in trace.rows
    )


def run(key: ConfigKey, case: Case, value: Any, client: str = "java") -> tuple[TraceRow, ...]:
    """What happens with that value of the key."""
    return happened(simulate(scenario(key, case, value, client), 1))
