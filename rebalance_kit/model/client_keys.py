"""The consumer's config keys that bear on a group, as ``ConsumerConfig`` defines them.

Keys that Kafka has but that change nothing here (``acts="nothing"``) are accepted, so that a real consumer's
properties can be pasted in.

What librdkafka clients make of their configuration where it differs from Java (read and tried at 2.16).

Its own list of keys is longer; the ones here are those that bear on a group.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.key_types import NUMBER, ConfigKey, RefusedConfig

CLASSES: Mapping[str, str] = MappingProxyType(
    {
        "range": "org.apache.kafka.clients.consumer.RangeAssignor",
        "roundrobin": "org.apache.kafka.clients.consumer.RoundRobinAssignor",
        "sticky": "org.apache.kafka.clients.consumer.StickyAssignor",
        "cooperative-sticky": "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
    }
)
"""Client assignors: the name that travels in JoinGroup -> the class that stands in the configuration."""
SUPPORTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "range": ("EAGER",),
        "roundrobin": ("EAGER",),
        "sticky": ("EAGER",),
        "cooperative-sticky": ("COOPERATIVE", "EAGER"),
    }
)
"""Rebalance protocols of each (``ConsumerPartitionAssignor.supportedProtocols``)."""

_K = ConfigKey
_KEYS = (
    # membership
    _K(
        "group.id",
        "STRING",
        (("0.9", None),),
        "Name of the consumer group; members with the same name share its partitions.",
    ),
    _K(
        "client.id",
        "STRING",
        (("0.9", ""),),
        "Name of this client in logs and metrics; a classic member id starts with it.",
        acts="logs",
    ),
    _K(
        "group.instance.id",
        "STRING",
        (("2.3", None),),
        "Makes the member static: a restart under the same name within the session timeout causes no rebalance.",
        since="2.3",
        source="KIP-345",
    ),
    _K(
        "client.rack",
        "STRING",
        (("2.4", ""),),
        "Rack of this client; followers in it may be read from, and rack-aware client assignors prefer it.",
        since="2.4",
        source="KIP-392, KIP-881",
    ),
    _K(
        "group.protocol",
        "STRING",
        (("3.7", "classic"),),
        "classic: JoinGroup and SyncGroup, the client assigns. consumer: ConsumerGroupHeartbeat, the broker assigns.",
        since="3.7",
        choices=("CONSUMER", "CLASSIC"),
        any_case=True,
        source="KIP-848",
    ),
    _K(
        "group.remote.assignor",
        "STRING",
        (("3.7", None),),
        "Server-side assignor that this member prefers (consumer protocol only); unset leaves it to the broker.",
        since="3.7",
        source="KIP-848",
    ),
    _K(
        "partition.assignment.strategy",
        "LIST",
        (("0.9", ("range",)), ("3.0", ("range", "cooperative-sticky"))),
        "Client assignors in order of preference (classic only); together they determine whether the client is EAGER or COOPERATIVE.",
        source="KIP-429, KIP-726",
    ),
    # clocks
    _K(
        "session.timeout.ms",
        "INT",
        (("0.9", 30_000), ("0.10.1", 10_000), ("3.0", 45_000)),
        "Without a heartbeat for this long the coordinator removes the member (classic; the consumer protocol takes it from the broker).",
        source="KIP-62, KIP-735",
    ),
    _K(
        "heartbeat.interval.ms",
        "INT",
        (("0.9", 3_000),),
        "Time between heartbeats (classic), usually a third of the session timeout; members hear of a rebalance this late.",
    ),
    _K(
        "max.poll.interval.ms",
        "INT",
        (("0.10.1", 300_000),),
        "Longest time between two calls of poll() before the client leaves; also the broker's rebalance timeout.",
        since="0.10.1",
        least=1,
        source="KIP-62",
    ),
    _K(
        "max.poll.records",
        "INT",
        (("0.10", 500),),
        "Most records that one poll() returns; with the time per record it decides whether max.poll.interval.ms is kept.",
        since="0.10",
        least=1,
    ),
    _K(
        "metadata.max.age.ms",
        "LONG",
        (("0.9", 300_000),),
        "Topics and partition counts are looked at again this often; so late may new partitions be noticed (classic).",
        least=0,
    ),
    _K(
        "request.timeout.ms",
        "INT",
        (("0.9", 40_000), ("0.10.1", 305_000), ("2.0", 30_000)),
        "How long a request may stay unanswered; JoinGroup waits for max.poll.interval.ms + 5 s instead.",
        least=0,
        acts="nothing",
    ),
    _K(
        "default.api.timeout.ms",
        "INT",
        (("2.0", 60_000),),
        "Time limit of calls such as commitSync() that take none themselves.",
        since="2.0",
        least=0,
        acts="nothing",
    ),
    _K(
        "retry.backoff.ms",
        "LONG",
        (("0.9", 100),),
        "First pause before a failed request is tried again.",
        least=0,
        acts="nothing",
    ),
    _K(
        "retry.backoff.max.ms",
        "LONG",
        (("3.7", 1_000),),
        "Longest pause between tries; pauses double up to it.",
        since="3.7",
        least=0,
        source="KIP-580",
        acts="nothing",
    ),
    _K(
        "reconnect.backoff.ms",
        "LONG",
        (("0.9", 50),),
        "First pause before a broken connection is opened again.",
        least=0,
        acts="nothing",
    ),
    _K(
        "reconnect.backoff.max.ms",
        "LONG",
        (("0.11", 1_000),),
        "Longest pause before a broken connection is opened again.",
        since="0.11",
        least=0,
        acts="nothing",
    ),
    _K(
        "connections.max.idle.ms",
        "LONG",
        (("0.9", 540_000),),
        "Idle connections are closed after this.",
        acts="nothing",
    ),
    # offsets
    _K(
        "enable.auto.commit",
        "BOOLEAN",
        (("0.9", True),),
        "Commit what poll() has returned in the background; also before partitions are given up.",
    ),
    _K(
        "auto.commit.interval.ms",
        "INT",
        (("0.9", 5_000),),
        "Time between automatic commits; what came since the last one is read twice after a crash.",
        least=0,
    ),
    _K(
        "auto.offset.reset",
        "STRING",
        (("0.9", "latest"),),
        "Where to start without a committed offset: earliest, latest, none, or (4.0+) by_duration:PnDTnHnMn.nS.",
        source="KIP-1106",
    ),
    _K(
        "isolation.level",
        "STRING",
        (("0.11", "read_uncommitted"),),
        "Whether records of open and aborted transactions are returned.",
        since="0.11",
        choices=("read_committed", "read_uncommitted"),
        acts="nothing",
    ),
    # fetching
    _K(
        "fetch.min.bytes",
        "INT",
        (("0.9", 1),),
        "The broker answers a fetch when this much has come, or after fetch.max.wait.ms.",
        least=0,
        acts="nothing",
    ),
    _K(
        "fetch.max.bytes",
        "INT",
        (("0.10.1", 52_428_800),),
        "Most bytes of one fetch answer.",
        since="0.10.1",
        least=0,
        acts="nothing",
    ),
    _K(
        "fetch.max.wait.ms",
        "INT",
        (("0.9", 500),),
        "Longest wait of a fetch for fetch.min.bytes.",
        least=0,
        acts="nothing",
    ),
    _K(
        "max.partition.fetch.bytes",
        "INT",
        (("0.9", 1_048_576),),
        "Most bytes of one partition in a fetch answer.",
        least=0,
        acts="nothing",
    ),
    # accepted, without effect on a group
    _K("bootstrap.servers", "LIST", (("0.9", ()),), "Brokers to ask first.", acts="nothing"),
    _K("key.deserializer", "STRING", (("0.9", None),), "Class that reads keys.", acts="nothing"),
    _K("value.deserializer", "STRING", (("0.9", None),), "Class that reads values.", acts="nothing"),
    _K(
        "interceptor.classes",
        "LIST",
        (("0.10", ()),),
        "Classes that see records and commits.",
        since="0.10",
        acts="nothing",
    ),
    _K(
        "allow.auto.create.topics",
        "BOOLEAN",
        (("2.3", True),),
        "Whether a subscription may create a topic.",
        since="2.3",
        acts="nothing",
    ),
    _K(
        "exclude.internal.topics",
        "BOOLEAN",
        (("0.10", True),),
        "Whether a pattern leaves out internal topics.",
        since="0.10",
        acts="nothing",
    ),
    _K(
        "check.crcs", "BOOLEAN", (("0.9", True),), "Whether checksums of records are checked.", acts="nothing"
    ),
    _K(
        "enable.metrics.push",
        "BOOLEAN",
        (("3.7", True),),
        "Whether the broker may ask for client metrics.",
        since="3.7",
        acts="nothing",
    ),
    _K(
        "security.protocol",
        "STRING",
        (("0.9", "PLAINTEXT"),),
        "How to talk to brokers.",
        choices=("SASL_SSL", "PLAINTEXT", "SSL", "SASL_PLAINTEXT"),
        any_case=True,
        acts="nothing",
    ),
)

CLIENT_KEYS: Mapping[str, ConfigKey] = MappingProxyType({key.name: key for key in _KEYS})
REFUSED_BY_CONSUMER = ("partition.assignment.strategy", "heartbeat.interval.ms", "session.timeout.ms")
"""``ConsumerConfig.CLASSIC_PROTOCOL_UNSUPPORTED_CONFIGS`` in the order of Kafka's message."""


RANGES: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "session.timeout.ms": (1, 3_600_000),
        "heartbeat.interval.ms": (1, 3_600_000),
        "max.poll.interval.ms": (1, 86_400_000),
        "auto.commit.interval.ms": (0, 86_400_000),
        "metadata.max.age.ms": (1, 86_400_000),
        "retry.backoff.ms": (1, 300_000),
    }
)
DEFAULTS: Mapping[str, Any] = MappingProxyType(
    {
        "partition.assignment.strategy": ("range", "roundrobin"),
        "client.id": "rdkafka",
        "auto.offset.reset": "latest",
        "metadata.max.age.ms": 900_000,
    }
)
REFRESH_MS = 300_000
"""librdkafka's topic.metadata.refresh.interval.ms, by which it sees new partitions; its metadata.max.age.ms is the cache's alone."""
RESETS: Mapping[str, str] = MappingProxyType(
    {"smallest": "earliest", "beginning": "earliest", "largest": "latest", "end": "latest", "error": "none"}
)
"""librdkafka's own words for ``auto.offset.reset`` -> Java's."""
NAMES = ("range", "roundrobin", "cooperative-sticky")
MISSING = frozenset(
    {
        "default.api.timeout.ms",
        "fetch.max.wait.ms",
        "key.deserializer",
        "value.deserializer",
        "interceptor.classes",
        "exclude.internal.topics",
    }
)
CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "auto.offset.reset": ("smallest", "earliest", "beginning", "largest", "latest", "end", "error"),
        "group.protocol": ("classic", "consumer"),
    }
)
KEYS: Mapping[str, ConfigKey] = MappingProxyType(
    {name: key for name, key in CLIENT_KEYS.items() if name not in MISSING}
)


def check_value(name: str, value: Any, where: str) -> None:
    """Raise ``RefusedConfig`` in librdkafka's words when one value alone is out of range."""
    low_high = RANGES.get(name)
    if low_high is not None:
        if isinstance(value, bool) or not NUMBER.fullmatch(str(value).strip()):
            raise _refused(f'Invalid value for configuration property "{name}"', (name,), where)
        if not low_high[0] <= int(value) <= low_high[1]:
            raise _refused(
                f'Configuration property "{name}" value {value} is outside allowed range {low_high[0]}..{low_high[1]}',
                (name,),
                where,
            )
    elif name in CHOICES and str(value).lower() not in CHOICES[name]:
        raise _refused(f'Invalid value "{value}" for configuration property "{name}"', (name,), where)
    elif name == "enable.auto.commit" and str(value).lower() not in {"true", "false"}:
        raise _refused(f'Expected bool value for "{name}": true or false', (name,), where)


def check_together(given: Mapping[str, Any], values: Mapping[str, Any], where: str) -> None:
    """Raise ``RefusedConfig`` in librdkafka's words when values do not go together."""
    if str(values["group.protocol"]).lower() == "consumer":
        for name in ("session.timeout.ms", "partition.assignment.strategy", "heartbeat.interval.ms"):
            if name in given:
                raise _refused(_not_under_consumer(name), (name,), where)
        return
    if values["max.poll.interval.ms"] < values["session.timeout.ms"]:
        keys = ("max.poll.interval.ms", "session.timeout.ms")
        raise _refused("`max.poll.interval.ms`must be >= `session.timeout.ms`", keys, where)
    key = "partition.assignment.strategy"
    names = values[key]
    for name in names:
        if name not in NAMES:
            raise _refused(f"Unsupported partition.assignment.strategy: {name}", (key,), where)
    if len({name == "cooperative-sticky" for name in names}) > 1:
        raise _refused(
            f"All partition.assignment.strategy ({','.join(names)}) assignors must have the same protocol type, "
            "online migration between assignors with different protocol types is not supported",
            (key,),
            where,
        )


def _not_under_consumer(name: str) -> str:
    if name == "partition.assignment.strategy":
        return f"`{name}` is not supported for `group.protocol=consumer`. Use `group.remote.assignor` instead"
    return f"`{name}` is not supported for `group.protocol=consumer` or share consumer. It is defined broker side"


def _refused(message: str, keys: tuple[str, ...], where: str) -> RefusedConfig:
    return RefusedConfig(message, keys, "_INVALID_ARG", where)
