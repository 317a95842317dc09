"""The broker's and the group's config keys: ``GroupCoordinatorConfig`` and ``GroupConfig``."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rebalance_kit.model.configs.types import INT_MAX, Acts, ConfigKey, History, Kind

SERVER_CLASSES: Mapping[str, str] = MappingProxyType(
    {
        "uniform": "org.apache.kafka.coordinator.group.assignor.UniformAssignor",
        "range": "org.apache.kafka.coordinator.group.assignor.RangeAssignor",
    }
)
"""Server assignors: name -> class."""
POLICIES = ("DISABLED", "DOWNGRADE", "UPGRADE", "BIDIRECTIONAL")
PROTOCOL_NAMES = ("consumer", "classic", "share", "streams")


def _broker(
    name: str,
    default: object,
    text: str,
    *,
    kind: Kind = "INT",
    since: str = "3.7",
    until: str | None = None,
    least: int | None = 1,
    changed: History = (),
    choices: tuple[str, ...] = (),
    any_case: bool = False,
    source: str = "",
    acts: Acts = "engine",
) -> ConfigKey:
    history = ((since, default), *changed)
    return ConfigKey(
        name,
        kind,
        history,
        text,
        since=since,
        until=until,
        least=least,
        choices=choices,
        any_case=any_case,
        scope="broker",
        source=source,
        acts=acts,
    )


_KEYS = (
    # classic groups
    _broker(
        "group.initial.rebalance.delay.ms",
        3_000,
        "How long the first rebalance of an empty classic group waits for more members.",
        since="0.11",
        least=None,
        source="KIP-134",
    ),
    _broker(
        "group.min.session.timeout.ms",
        6_000,
        "Least session.timeout.ms a classic member may ask for.",
        since="0.9",
        least=None,
    ),
    _broker(
        "group.max.session.timeout.ms",
        30_000,
        "Greatest session.timeout.ms a classic member may ask for.",
        since="0.9",
        least=None,
        changed=(("0.10.1", 300_000), ("2.3", 1_800_000)),
    ),
    _broker("group.max.size", INT_MAX, "Most members of a classic group.", since="2.2", source="KIP-389"),
    # consumer groups
    _broker(
        "group.consumer.session.timeout.ms",
        45_000,
        "Without a heartbeat for this long a member of a consumer group is removed.",
        source="KIP-848",
    ),
    _broker(
        "group.consumer.min.session.timeout.ms",
        45_000,
        "Least session timeout a broker or a group may set for consumer groups.",
        source="KIP-848",
        acts="bounds",
    ),
    _broker(
        "group.consumer.max.session.timeout.ms",
        60_000,
        "Greatest session timeout a broker or a group may set for consumer groups.",
        source="KIP-848",
        acts="bounds",
    ),
    _broker(
        "group.consumer.heartbeat.interval.ms",
        5_000,
        "Heartbeat interval that the broker tells members of consumer groups.",
        source="KIP-848",
    ),
    _broker(
        "group.consumer.min.heartbeat.interval.ms",
        5_000,
        "Least heartbeat interval for consumer groups.",
        source="KIP-848",
        acts="bounds",
    ),
    _broker(
        "group.consumer.max.heartbeat.interval.ms",
        15_000,
        "Greatest heartbeat interval for consumer groups.",
        source="KIP-848",
        acts="bounds",
    ),
    _broker("group.consumer.max.size", INT_MAX, "Most members of a consumer group.", source="KIP-848"),
    _broker(
        "group.consumer.assignors",
        ("uniform", "range"),
        "Server-side assignors, the default one first: uniform, range, or class names.",
        kind="LIST",
        least=None,
        source="KIP-848",
    ),
    _broker(
        "group.consumer.migration.policy",
        "disabled",
        "Which conversions of a non-empty group are allowed: upgrade (classic to consumer), downgrade (back), both or neither.",
        kind="STRING",
        since="3.8",
        least=None,
        changed=(("4.0", "bidirectional"),),
        choices=POLICIES,
        any_case=True,
        source="KIP-848",
    ),
    _broker(
        "group.consumer.assignment.interval.ms",
        1_000,
        "Least time between two target assignments of a consumer group.",
        since="4.3",
        least=0,
        source="KIP-1263",
    ),
    _broker(
        "group.consumer.min.assignment.interval.ms",
        0,
        "Least assignment interval for consumer groups.",
        since="4.3",
        least=0,
        source="KIP-1263",
        acts="bounds",
    ),
    _broker(
        "group.consumer.max.assignment.interval.ms",
        15_000,
        "Greatest assignment interval for consumer groups.",
        since="4.3",
        least=0,
        source="KIP-1263",
        acts="bounds",
    ),
    _broker(
        "group.consumer.assignor.offload.enable",
        True,
        "Meant to compute targets off the coordinator's thread; nothing reads it yet.",
        kind="BOOLEAN",
        since="4.3",
        least=None,
        source="KIP-1263",
        acts="nothing",
    ),
    _broker(
        "group.consumer.regex.refresh.interval.ms",
        600_000,
        "How often patterns are resolved again although no topic was created (internal).",
        since="4.1",
        least=10_000,
        source="KIP-848",
    ),
    # coordinator
    _broker(
        "group.coordinator.rebalance.protocols",
        ("classic",),
        "Rebalance protocols that the broker offers.",
        kind="LIST",
        least=None,
        changed=(("4.0", ("classic", "consumer")), ("4.1", ("classic", "consumer", "streams"))),
        choices=PROTOCOL_NAMES,
        source="KIP-848; deprecated in 4.3",
        acts="bounds",
    ),
    _broker(
        "group.coordinator.new.enable",
        False,
        "Use the Java coordinator (the only one since 4.0).",
        kind="BOOLEAN",
        until="4.0",
        least=None,
        acts="nothing",
    ),
    _broker(
        "group.coordinator.threads",
        1,
        "Threads that run coordinators; each group belongs to one.",
        changed=(("4.0", 4),),
        acts="nothing",
    ),
    _broker(
        "group.coordinator.background.threads",
        2,
        "Threads for work such as resolving patterns.",
        since="4.3",
        acts="nothing",
    ),
    _broker(
        "group.coordinator.append.linger.ms",
        10,
        "How long writes of the coordinator are gathered; -1 adapts to the load.",
        since="3.8",
        least=-1,
        changed=(("4.0", 5), ("4.2", -1)),
        acts="nothing",
    ),
    # offsets
    _broker(
        "offsets.retention.minutes",
        1_440,
        "How long offsets of a group without members are kept.",
        since="0.9",
        changed=(("2.0", 10_080),),
        source="KIP-186",
        acts="nothing",
    ),
    _broker(
        "offsets.retention.check.interval.ms",
        600_000,
        "How often expired offsets are looked for.",
        kind="LONG",
        since="0.9",
        acts="nothing",
    ),
    _broker(
        "offsets.topic.num.partitions",
        50,
        "Partitions of __consumer_offsets; the leader of abs(hash(group.id)) modulo this many is the group's coordinator.",
        since="0.9",
        acts="nothing",
    ),
    _broker(
        "offsets.topic.replication.factor",
        3,
        "Copies of __consumer_offsets.",
        kind="SHORT",
        since="0.9",
        acts="nothing",
    ),
    _broker(
        "offsets.topic.segment.bytes",
        104_857_600,
        "Segment size of __consumer_offsets.",
        since="0.9",
        acts="nothing",
    ),
    _broker(
        "offsets.load.buffer.size",
        5_242_880,
        "Batch size when a coordinator loads its groups.",
        since="0.9",
        acts="nothing",
    ),
    _broker(
        "offsets.commit.timeout.ms",
        5_000,
        "How long a commit may wait for its replicas.",
        since="0.9",
        acts="nothing",
    ),
    _broker(
        "offset.metadata.max.bytes",
        4_096,
        "Longest metadata of a commit.",
        since="0.9",
        least=None,
        acts="nothing",
    ),
)


def _group(
    name: str, text: str, least: int | None, since: str, kind: Kind = "INT", acts: Acts = "engine"
) -> ConfigKey:
    return ConfigKey(
        name,
        kind,
        ((since, None),),
        text,
        since=since,
        least=least,
        scope="group",
        source="KIP-848, KIP-1263",
        acts=acts,
    )


_GROUP_KEYS = (
    _group(
        "consumer.session.timeout.ms", "A group's own session timeout (AlterConfigs on the group).", 1, "4.0"
    ),
    _group("consumer.heartbeat.interval.ms", "A group's own heartbeat interval.", 1, "4.0"),
    _group("consumer.assignment.interval.ms", "A group's own least time between two targets.", 0, "4.3"),
    _group(
        "consumer.assignor.offload.enable",
        "A group's own switch for computing targets elsewhere; nothing reads it yet.",
        None,
        "4.3",
        "BOOLEAN",
        "nothing",
    ),
)

BROKER_KEYS: Mapping[str, ConfigKey] = MappingProxyType({key.name: key for key in (*_KEYS, *_GROUP_KEYS)})
"""Broker keys, and the group-level ones that override them."""
