"""What differs between Kafka versions, in one table: defaults live with the config keys, behaviour lives here.

A version is written as Kafka writes it, ``4.3`` or ``4.3.1``; only major and minor decide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

from rebalance_kit.model.errors import ConfigError

OLDEST = (2, 4)
"""Cooperative rebalancing (KIP-429) came with 2.4; nothing older is modelled."""
NEWEST = (4, 5)
PREFERRED = "4.3.1"
_MOST_DIGITS = 4


@lru_cache(maxsize=256)
def parse_version(version: str) -> tuple[int, int]:
    """Major and minor of a Kafka version; raises ``ConfigError`` for what is no version or not modelled.

    >>> parse_version("3.9.1")
    (3, 9)
    """
    parts = str(version).removesuffix("-SNAPSHOT").split(".")
    if not 2 <= len(parts) <= 3 or not all(
        part.isascii() and part.isdigit() and len(part) <= _MOST_DIGITS for part in parts
    ):
        raise ConfigError(
            f"{version[:40]!r} is no Kafka version; expected MAJOR.MINOR or MAJOR.MINOR.PATCH, as in {PREFERRED}"
        )
    numbers = int(parts[0]), int(parts[1])
    if not OLDEST <= numbers <= NEWEST:
        raise ConfigError(
            f"Kafka {version} is not modelled; expected {version_text(OLDEST)} to {version_text(NEWEST)}"
        )
    return numbers


def at_least(least: str, version: str) -> bool:
    """Whether ``version`` is ``least`` or newer (bounds themselves may be outside of what is modelled).

    >>> at_least("4.3", "4.3.1"), at_least("4.3", "4.2.0"), at_least("0.11", "2.4")
    (True, False, True)
    """
    return parse_version(version) >= bound(least)


@lru_cache(maxsize=256)
def bound(version: str) -> tuple[int, int]:
    """Major and minor of a version that need not be modelled."""
    major, minor = version.split(".")[:2]
    return int(major), int(minor)


def version_text(version: tuple[int, int]) -> str:
    """The way Kafka writes major and minor."""
    return f"{version[0]}.{version[1]}"


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that Kafka does from ``since`` on (and no more from ``until`` on).

    ``source`` names the KIP, JIRA issue or class that it can be read in. ``acts`` says that the kit branches here
    (``has`` or ``mended`` is asked); else the row is documentation, and the engine behaves alike on both sides.
    """

    since: str
    text: str
    source: str
    until: str | None = None
    acts: bool = False


CHANGES: Mapping[str, Change] = MappingProxyType(
    {
        # coordinator
        "new-coordinator": Change(
            "4.0",
            "The Java coordinator is the only one; before, KRaft clusters used the Scala one unless told otherwise.",
            "KIP-848, GroupMetadataManager",
            acts=True,
        ),
        "consumer-protocol": Change(
            "3.7",
            "Brokers know group.protocol=consumer: early access in 3.7, preview in 3.8, generally available in 4.0.",
            "KIP-848",
            acts=True,
        ),
        "consumer-protocol-by-default": Change(
            "4.0",
            "Brokers offer the consumer protocol without being asked (group.version=1 on new clusters).",
            "KIP-848",
        ),
        "heartbeat-v1": Change(
            "4.0",
            "The client makes its member id itself and may send a regular expression (ConsumerGroupHeartbeat v1).",
            "KIP-1082",
        ),
        "metadata-hash": Change(
            "4.1", "Topic changes are noticed through one hash over the subscribed topics.", "KIP-1101"
        ),
        "first-epoch-two": Change(
            "4.3",
            "A new consumer group starts at epoch 1, so its first member gets epoch 2; before, 1.",
            "KIP-1263, ConsumerGroup",
            acts=True,
        ),
        "assignment-interval": Change(
            "4.3",
            "A target is computed at most once in group.consumer.assignment.interval.ms; before, at every bump.",
            "KIP-1263",
            acts=True,
        ),
        "remote-assignor-bumps": Change(
            "4.4",
            "A change of the preferred server assignor bumps the group epoch by itself.",
            "GroupMetadataManager",
            acts=True,
        ),
        "unsubscribed-at-once": Change(
            "4.2",
            "A member that drops a topic is asked to give its partitions up at once; before, with the next target.",
            "CurrentAssignmentBuilder",
            acts=True,
        ),
        "mixed-heartbeat-target": Change(
            "4.3",
            "A classic member of a consumer group hears of a bump once its target exists; before, at the bump.",
            "GroupMetadataManager",
            acts=True,
        ),
        "server-range-not-sticky": Change(
            "3.9",
            "The server's range assignor forgets the previous target.",
            "assignor/RangeAssignor",
            acts=True,
        ),
        "uniform-passes-extra-on": Change(
            "4.1",
            "Where all read the same, the server's uniform assignor leaves a spare partition with a member that has it; before, the first members in map order get the spare ones.",
            "assignor/UniformHomogeneousAssignmentBuilder of 4.0.0 and 4.1.1, recorded with 4.0.0",
            acts=True,
        ),
        "offline-rack-no-rebalance": Change(
            "4.4",
            "A replica going offline no longer counts as changed racks for a classic leader.",
            "KAFKA-20778",
            acts=True,
        ),
        "initial-delay-unset": Change(
            "4.0",
            "No shipped server.properties sets group.initial.rebalance.delay.ms to 0 any more.",
            "config/server.properties",
        ),
        # classic members
        "static-skip-assignment": Change(
            "3.2",
            "A returning static leader is told to skip the assignment (JoinGroup v9).",
            "KIP-814",
            acts=True,
        ),
        "reason-in-requests": Change(
            "3.2", "JoinGroup and LeaveGroup carry the client's reason.", "KIP-800", acts=True
        ),
        "rack-aware-client-assignors": Change(
            "3.5", "Client assignors look at client.rack.", "KIP-881", acts=True
        ),
        "commit-by-topic-id": Change(
            "4.2",
            "A KIP-848 client commits by topic id where its metadata has it; of a deleted topic it is then told UNKNOWN_TOPIC_ID, and tries again.",
            "CommitRequestManager, OffsetCommit v10; recorded with 4.3.1",
            acts=True,
        ),
        "metadata-backoff": Change(
            "3.7",
            "A client that subscribes to an unknown topic asks for it with a pause that doubles up to 1 s; before, every retry.backoff.ms.",
            "KIP-580",
            acts=True,
        ),
        "close-options": Change(
            "4.1",
            "close() may be told to leave or to stay, whatever kind of member it is; the kit closes with the default.",
            "KIP-1092",
        ),
        # configuration
        "consumer-refuses-classic-configs": Change(
            "4.0",
            "group.protocol=consumer together with session.timeout.ms, heartbeat.interval.ms or partition.assignment.strategy is refused; before, they were ignored.",
            "ConsumerConfig",
            acts=True,
        ),
        "empty-group-id-refused": Change(
            "4.0",
            "An empty group.id is refused when the consumer is built.",
            "KIP-289, InvalidGroupIdException",
            acts=True,
        ),
        "duplicate-assignors-ignored": Change(
            "4.2",
            "An assignor named twice in the list is taken once; from 3.1 to 4.1 the consumer could not be built.",
            "KIP-1161",
            acts=True,
        ),
        "reset-by-duration": Change(
            "4.0", "auto.offset.reset accepts by_duration:<ISO 8601>.", "KIP-1106", acts=True
        ),
        # log lines
        "bracketed-callback-lines": Change(
            "4.1",
            "Revoke, lost and adding lines show a sorted list in brackets, [] when empty; before, bare names.",
            "ConsumerRebalanceListenerInvoker",
            acts=True,
        ),
        "pending-member-line": Change(
            "4.0",
            "The broker logs 'Pending dynamic member with id … joins group … Adding to the group now.'",
            "GroupMetadataManager",
        ),
        "scala-log-lines": Change(
            "2.4",
            "Broker lines name the __consumer_offsets partition and have no final period.",
            "kafka.coordinator.group.GroupCoordinator",
            until="4.0",
            acts=True,
        ),
        "bump-line-with-hash": Change(
            "4.1", "'Bumped group epoch to {} with metadata hash {}.'; before, without the hash.", "KIP-1101"
        ),
        "leave-line-first": Change(
            "4.0",
            "On a leave the broker logs 'has left' before 'Preparing to rebalance'; before, after it.",
            "GroupMetadataManager",
        ),
        "member-state-line-debug": Change(
            "4.0", "'new assignment state' is a DEBUG line; in 3.9 it is INFO.", "GroupMetadataManager"
        ),
        "node-is-fenced": Change(
            "4.0", "Nodes print with 'isFenced: false'.", "org.apache.kafka.common.Node", acts=True
        ),
        "classic-banner": Change(
            "4.3",
            "A classic consumer prints a banner about the consumer protocol when it starts.",
            "ClassicKafkaConsumer",
        ),
    }
)


DEFECTS: Mapping[str, Change] = MappingProxyType(
    {
        "join-before-first-generation": Change(
            "4.0",
            "A KIP-848 member that joins a classic group before its first join phase is over dies of UNKNOWN_SERVER_ERROR.",
            "ConsumerGroup.fromClassicGroup (NoSuchElementException: No value present), recorded with 4.3.1",
            acts=True,
        ),
        "deleted-topic-hangs": Change(
            "2.4",
            "A member with auto-commit retries the commit of a deleted topic's offsets for up to max.poll.interval.ms; an eager one reads nothing meanwhile.",
            "ConsumerCoordinator.onJoinPrepare, recorded with 4.3.1",
        ),
        "second-revocation-raises-epoch": Change(
            "3.7",
            "A member that must revoke twice in a row is raised by 1 before it has reached a new target; since 4.2 it stays at its epoch.",
            "KAFKA-19974",
            until="4.2",
            acts=True,
        ),
        "commit-races-with-epoch": Change(
            "3.7",
            "A commit that is on its way while the epoch rises is refused with STALE_MEMBER_EPOCH; since 4.3 it is taken for partitions held since then.",
            "KIP-1251",
            until="4.3",
            acts=True,
        ),
        "sticky-stale-leader": Change(
            "4.0",
            "A sticky or cooperative-sticky leader whose metadata lacks a partition that a member owns gives other partitions to two members, where subscriptions differ.",
            "AbstractStickyAssignor.GeneralAssignmentBuilder.getUnassignedPartitions of 4.x",
        ),
        "empty-group-makes-wait": Change(
            "4.3",
            "Who joins right after the last member left is given nothing before a later heartbeat; since 4.4 the assignment epoch follows when the last member goes, so the next join is computed at once.",
            "KAFKA-20442",
            until="4.4",
            acts=True,
        ),
    }
)
"""What Kafka does and does not mean to, by version; each has a scenario of the kit named ``defect-…``."""


@lru_cache(maxsize=1024)
def has(name: str, version: str) -> bool:
    """Whether Kafka ``version`` does what ``CHANGES[name]`` or ``DEFECTS[name]`` says; raises ``KeyError`` for an unknown name.

    >>> has("first-epoch-two", "4.3.1"), has("first-epoch-two", "4.0.0")
    (True, False)
    """
    change = CHANGES.get(name) or DEFECTS[name]
    return at_least(change.since, version) and not (
        change.until is not None and at_least(change.until, version)
    )


def mended(name: str, version: str) -> bool:
    """Whether Kafka ``version`` no longer has ``DEFECTS[name]``, nor anything in its place; raises ``KeyError`` for an unknown name.

    >>> mended("empty-group-makes-wait", "4.4.0"), mended("empty-group-makes-wait", "4.2.0")
    (True, False)
    """
    until = DEFECTS[name].until
    return until is not None and at_least(until, version)
