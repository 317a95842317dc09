"""The broker's log of a trace, in Kafka's own words: 4.x coordinator, and the Scala one up to 3.9.

``BrokerState`` is what lines need beyond their own row: clients' settings, generations, load epochs.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from rebalance_kit.logs.lines import LogLine, Said, bracketed, say
from rebalance_kit.model.config import ClientConfig
from rebalance_kit.model.trace import Trace, TraceRow
from rebalance_kit.model.versions import has


class BrokerState:
    """Follows the rows of a trace; renderers read it and print through ``say``."""

    def __init__(self, version: str, meta: Mapping[str, Any]) -> None:
        self.version = version
        self.scala = has("scala-log-lines", version)
        self.meta = meta
        self.load_epoch = 0
        self.configs: dict[str, ClientConfig] = {}
        self.instances: dict[str, str | None] = {}
        self.topics_of: dict[str, tuple[str, ...]] = {}
        self.protocols: dict[str, tuple[str, ...]] = {}
        self.generations: dict[str, tuple[str, int]] = {}
        self.committed: dict[str, set[str]] = {}
        self.loading_ms: int | None = None
        self.failed_over = False
        self.last_leaver = ("", "")
        self.classic_members: set[str] = set()
        self.groups: dict[str, str] = {}
        self.had = 0
        """Partitions that the topic changed last had before."""
        self.partitions: dict[str, int] = {
            str(name): int(count) for name, count in meta.get("topics", {}).items()
        }

    def see(self, row: TraceRow) -> None:
        """Take a row into account before anything is said about it."""
        detail = row.detail
        if row.kind == "process_started":
            self._started(row)
        elif row.kind == "topic_changed":
            self.had = self.partitions.get(row.topic or "", 0)
            self.partitions[row.topic or ""] = int(detail["partitions"])
        elif row.kind == "action" and detail["do"] == "subscribe":
            self.topics_of[row.actor] = tuple(detail["topics"])
        elif row.kind == "request" and detail["api"] == "JoinGroup":
            self.protocols[row.actor] = tuple(detail["protocols"])
        elif row.kind == "action" and detail["do"] in {"broker_down", "coordinator_failover"}:
            self.failed_over = detail["do"] == "coordinator_failover"
        elif row.kind == "coordinator_up":
            self.loading_ms = row.at_ms
        elif row.kind == "commit" and detail["error"] == "NONE":
            for partition in detail["offsets"]:
                self.committed.setdefault(str(partition).rpartition("-")[0], set()).add(str(partition))
        elif (
            row.kind in {"group_state", "generation", "epoch_bump", "group_converted"}
            and row.generation is not None
        ):
            self.generations[str(detail["group"])] = (row.speaks(), row.generation)
        elif row.kind in {"member_added", "member_replaced"}:
            self._joined(row)
        if row.kind == "group_converted":
            self.generations[str(detail["group"])] = (
                str(detail["to"]),
                row.generation or self.generations.get(str(detail["group"]), ("", 0))[1],
            )

    def _started(self, row: TraceRow) -> None:
        detail = row.detail
        self.configs[row.actor] = ClientConfig.of(
            {"client.id": row.actor, "group.id": detail["group"], **detail["configs"]},
            str(self.meta.get("kafka_version", self.version)),
            row.actor,
            str(detail["client"]),
        )
        self.topics_of[row.actor] = tuple(detail["topics"])
        self.groups[row.actor] = str(detail["group"])

    def _joined(self, row: TraceRow) -> None:
        detail, member_id = row.detail, row.member_id or ""
        self.instances[member_id] = detail["instance_id"]
        replaces_classic = detail.get("old_member_id") in self.classic_members
        if row.protocol == "classic" or detail.get("classic") or replaces_classic:
            self.classic_members.add(member_id)

    def topics_of_group(self, group: str) -> Mapping[str, int]:
        """Partition counts of the topics that there are and that members of the group have asked for."""
        asked = {
            topic
            for name, topics in self.topics_of.items()
            if self.groups.get(name) == group
            for topic in topics
        }
        return {topic: self.partitions[topic] for topic in sorted(asked) if self.partitions.get(topic)}

    def say(self, name: str, **values: object) -> tuple[Said, ...]:
        """A line of this broker."""
        return say(name, self.version, broker=1, **values)

    def metadata(self, member_id: str | None, name: str) -> str:
        """How the Scala coordinator prints a member (``MemberMetadata.toString``)."""
        config = self.configs.get(name)
        instance = self.instances.get(member_id or "")
        client = name if config is None or not config.get("client.id") else config.get("client.id")
        session, rebalance = (
            (45_000, 300_000) if config is None else (config.session_timeout_ms, config.max_poll_interval_ms)
        )
        return (
            f"MemberMetadata(memberId={member_id}, groupInstanceId={some(instance)}, clientId={client}, clientHost=/127.0.0.1, "
            f"sessionTimeoutMs={session}, rebalanceTimeoutMs={rebalance}, supportedProtocols=List({', '.join(self.protocols.get(name, ()))}))"
        )


def some(value: str | None) -> str:
    """A Scala Option as it prints."""
    return "None" if value is None else f"Some({value})"


Render = Callable[[TraceRow, BrokerState], tuple[Said, ...]]
_ADDED = re.compile(r"with group instance id (\S+);")
_LEFT = re.compile(r"explicit `LeaveGroup` request for \((.*)\) members\.")


def _pending(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    held = row.detail
    return state.say("id_required", group=held["group"], state=held["state"], member=row.member_id)


def _added(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    held = row.detail
    if held["instance_id"] is None:
        return state.say("pending_joins", group=held["group"], state=held["state"], member=row.member_id)
    return state.say(
        "static_joins",
        group=held["group"],
        state=held["state"],
        member=row.member_id,
        instance=held["instance_id"],
    )


def _state(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    held = row.detail
    if held["to"] == "PreparingRebalance":
        reason = _scala_reason(str(held["reason"]), state) if state.scala else held["reason"]
        return state.say("preparing", group=held["group"], generation=row.generation, reason=reason)
    if held["to"] == "Empty" and held["trigger"] != "load":  # a group that is read back says only "Loaded"
        return state.say("empty", group=held["group"], generation=row.generation)
    return ()


def _scala_reason(reason: str, state: BrokerState) -> str:
    """The reason in the words of the coordinator up to 3.9: Scala options, no final period, one leaver named."""
    left = _LEFT.match(reason)
    if not has("reason-in-requests", state.version):
        reason = reason.partition("; client reason:")[0] + ";"
    if left and not has("reason-in-requests", state.version):
        return f"removing member {state.last_leaver[0]} on LeaveGroup"
    if left:
        return f"Removing member {state.last_leaver[0]} on LeaveGroup; client reason: {state.last_leaver[1]}"
    plain = reason.removesuffix(".").removesuffix("client reason: not provided")
    plain = plain + "client reason: " if plain != reason.removesuffix(".") else plain
    found = _ADDED.search(plain)
    if found and plain.startswith("Adding new member"):
        instance = None if found[1] == "null" else found[1]
        plain = plain.replace(found[0], f"with group instance id {some(instance)};")
    return plain.removesuffix(";")


def _generation(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    return state.say(
        "stabilized", group=row.detail["group"], generation=row.generation, members=len(row.detail["members"])
    )


def _assignment(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    held = row.detail
    static = sum(1 for member in held["ids"] if state.instances.get(member) is not None)
    return state.say(
        "assignment",
        leader=row.member_id,
        group=held["group"],
        generation=row.generation,
        members=len(held["ids"]),
        static=static,
    )


def _removed(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    held = row.detail
    group, pending = held["group"], held.get("pending")
    if held["how"] == "session":
        return state.say("pending_failed" if pending else "failed", member=row.member_id, group=group)
    if held["how"] == "late":
        return state.say("not_joined", group=group, member=row.member_id)
    if held["how"] not in {"leave", "admin"}:
        return ()
    reason = str(held["reason"])
    state.last_leaver = (row.member_id or "", reason)
    return state.say(
        "pending_left" if pending else "left",
        group=group,
        member=row.member_id,
        reason=reason,
        metadata=state.metadata(row.member_id, held["name"]),
    )


def _replaced(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    held = row.detail
    return state.say(
        "static_replaces",
        instance=held["instance_id"],
        group=held["group"],
        state=held["state"],
        old=held["old_member_id"],
    )


def _kept(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    return state.say("static_no_rebalance")


def _refused(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    held = row.detail
    if held["error"] != "FENCED_INSTANCE_ID" or not held.get("holder"):
        return ()
    return state.say(
        "fenced",
        member=row.member_id,
        instance=held["instance_id"],
        holder=held["holder"],
        operation=OPERATIONS[str(held["api"])],
    )


OPERATIONS: Mapping[str, str] = MappingProxyType(
    {
        "Heartbeat": "heartbeat",
        "JoinGroup": "join-group",
        "SyncGroup": "sync-group",
        "LeaveGroup": "leave-group",
        "OffsetCommit": "offset-commit",
    }
)


def _elected(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    old = row.detail.get("instead_of")
    if not old:
        return ()
    instance = state.instances.get(old)
    return state.say(
        "leader_replaced",
        old=old,
        instance=instance or "null",
        some_instance=some(instance),
        member=row.member_id,
        metadata=state.metadata(row.member_id, row.detail["name"]),
    )


def converted(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    """A group changed its protocol, with members or without."""
    held = row.detail
    before, after = ("classic", "consumer") if held["to"] == "consumer" else ("consumer", "classic")
    return state.say(
        "converted", group=held["group"], kind=before if held["members"] else f"empty {before}", to=after
    )


CLASSIC: Mapping[str, Render] = MappingProxyType(
    {
        "member_pending": _pending,
        "member_added": _added,
        "group_state": _state,
        "generation": _generation,
        "assignment": _assignment,
        "member_removed": _removed,
        "member_replaced": _replaced,
        "static_kept": _kept,
        "member_refused": _refused,
        "leader_elected": _elected,
        "group_converted": converted,
    }
)
"""The lines for each kind of row of a classic group."""


# Broker log lines about consumer groups (KIP-848), and about unloading and loading groups.


def _consumer_added(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    held = row.detail
    name = "consumer_joins" if held["instance_id"] is None else "consumer_static_joins"
    return state.say(
        name,
        group=held["group"],
        member=row.member_id,
        instance=held["instance_id"],
        protocol="classic" if held.get("classic") else "consumer",
    )


def _rejoined(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    return state.say("consumer_joins", group=row.detail["group"], member=row.member_id, protocol="classic")


def _consumer_pending(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    return state.say("consumer_id_required", group=row.detail["group"], member=row.member_id)


def _bumped(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    held = row.detail
    return state.say(
        "bumped",
        group=held["group"],
        epoch=row.generation,
        hash=_metadata_hash(state.topics_of_group(str(held["group"]))) if held.get("subscribed", True) else 0,
    )


def _metadata_hash(topics: Mapping[str, int]) -> int:
    """A stand-in for Kafka's 64-bit hash of the subscribed topics: the same for the same topics, another when they change."""
    text = ",".join(f"{topic}={count}" for topic, count in sorted(topics.items()))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)


def _target(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    return state.say(
        "computed",
        group=row.detail["group"],
        epoch=row.generation,
        assignor=row.detail["assignor"],
        took_ms=0,
    )


def _consumer_removed(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    held = row.detail
    group, instance, how = held["group"], held.get("instance_id"), held["how"]
    if how in {"session", "rebalance_timeout", "join_timeout", "sync_timeout"}:
        return state.say(
            "consumer_fenced", group=group, member=row.member_id, reason=str(held["reason"]).removesuffix(".")
        )
    if how == "admin" or row.member_id in state.classic_members:
        name = "consumer_static_left_classic" if instance else "consumer_left_classic"
        shown = "" if how == "admin" and instance else row.member_id  # the request names the instance alone
        return state.say(name, group=group, member=shown, instance=instance, reason=held["reason"])
    name = "consumer_static_left" if instance else "consumer_left"
    return state.say(name, group=group, member=row.member_id, instance=instance)


def _away(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    held = row.detail
    return state.say(
        "consumer_static_away", group=held["group"], member=row.member_id, instance=held["instance_id"]
    )


def _consumer_replaced(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    held = row.detail
    protocol = "classic" if row.member_id in state.classic_members else "consumer"
    return state.say(
        "consumer_static_returns",
        group=held["group"],
        instance=held["instance_id"],
        protocol=protocol,
        member=row.member_id,
        old=held["old_member_id"],
    )


def _consumer_refused(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    held = row.detail
    group, instance = held["group"], held.get("instance_id")
    if held["error"] == "UNRELEASED_INSTANCE_ID":
        return state.say(
            "consumer_unreleased", group=group, member=row.member_id, instance=instance, holder=held["holder"]
        )
    if held["error"] == "FENCED_INSTANCE_ID" and held.get("holder"):
        return state.say(
            "consumer_instance_fenced",
            group=group,
            member=row.member_id,
            instance=instance,
            holder=held["holder"],
        )
    if held["error"] != "UNKNOWN_SERVER_ERROR":
        return ()
    config = state.configs.get(held["name"])
    said = state.say(
        "unexpected",
        group=group,
        member=row.member_id,
        instance=instance or "null",
        topics=bracketed(state.topics_of.get(held["name"], ())),
        rebalance_ms=300_000 if config is None else config.max_poll_interval_ms,
        message=held["message"],
    )
    return tuple(one._replace(thrown=f"java.util.NoSuchElementException: {held['message']}") for one in said)


def _scanned(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    held = row.detail
    topics = held["topics"] + 1  # __consumer_offsets is scanned as well
    return state.say(
        "scanned", group=held["group"], topics=topics, regexes=bracketed(held["regexes"]), took_ms=0
    )


CONSUMER: Mapping[str, Render] = MappingProxyType(
    {
        "member_added": _consumer_added,
        "member_rejoined": _rejoined,
        "member_pending": _consumer_pending,
        "epoch_bump": _bumped,
        "target": _target,
        "member_removed": _consumer_removed,
        "member_away": _away,
        "member_replaced": _consumer_replaced,
        "member_refused": _consumer_refused,
        "group_converted": converted,
        "regex_scanned": _scanned,
    }
)
"""The lines for each kind of row of a consumer group."""


# --- giving groups up and loading them ------------------------------------------------------------------
def _down(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    epoch = state.load_epoch + 1
    state.load_epoch += 2
    groups = tuple(
        said
        for group, (protocol, generation) in sorted(state.generations.items())
        for said in state.say(
            "unloading_classic" if protocol == "classic" else "unloaded_consumer",
            group=group,
            generation=generation,
        )
    )
    offsets = sum(len(partitions) for partitions in state.committed.values())
    return (
        *state.say("schedule_unload", epoch=epoch),
        *state.say("start_unload", epoch=epoch),
        *groups,
        *state.say("finish_unload", epoch=epoch, offsets=offsets, groups=len(state.generations)),
    )


def _up(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    """A restarted broker is first told to give up what it has not loaded yet."""
    unload = state.load_epoch - 1
    said = (
        ()
        if state.failed_over
        else (*state.say("schedule_unload_early", epoch=unload), *state.say("ignored_unload", epoch=unload))
    )
    return (*said, *state.say("schedule_load", epoch=state.load_epoch))


def _loaded(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    kind = "classic" if row.protocol == "classic" else "consumer"
    return state.say("loaded", kind=kind, group=row.detail["group"], members=row.detail["members"])


def _topic(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    name = row.topic or ""
    if row.detail["partitions"] or not row.detail.get("topic_id"):  # a record need not tell the id
        return ()
    gone = state.committed.pop(name, set())
    return state.say(
        "tombstones",
        count=len(gone),
        took_ms=0,
        id=_topic_id(row.detail["topic_id"]),
        topic=name,
        partitions=", ".join(f"{name}-{number}" for number in range(state.had)),
    )


def _topic_id(halves: Sequence[int]) -> str:
    """A topic's id as Kafka prints it: URL-safe base64 of its sixteen bytes."""
    raw = b"".join(int(half).to_bytes(8, "big", signed=True) for half in halves)
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")


LOADING: Mapping[str, Render] = MappingProxyType(
    {"coordinator_down": _down, "coordinator_up": _up, "group_loaded": _loaded, "topic_changed": _topic}
)
"""The lines for a coordinator that goes and comes back, and for deleted topics."""


def broker_lines(trace: Trace, version: str | None = None) -> Iterator[LogLine]:
    """Lines about groups that a broker of that version writes (default: the trace's), in order of time."""
    release = version or str(trace.meta.get("kafka_version", "4.3.1"))
    state = BrokerState(release, trace.meta)
    held: list[LogLine] = []
    for row in trace.rows:
        if state.loading_ms is not None and row.kind != "group_loaded":
            yield from [
                LogLine(state.loading_ms, *said)
                for said in state.say(
                    "finish_load", epoch=state.load_epoch, took_ms=0, waited_ms=0, records=0, bytes=0
                )
            ]
            state.loading_ms = None
        state.see(row)
        if held and not _goes_first(row, held[0].at_ms):
            yield from held
            held = []
        lines = [LogLine(row.at_ms, *said) for said in _said(row, state)]
        if (
            lines
            and row.kind == "member_removed"
            and row.detail["how"] in {"leave", "admin"}
            and state.scala
            and row.protocol == "classic"
        ):
            held += lines
        else:
            yield from lines
    yield from held


def _said(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    if row.actor not in {"coordinator", "broker"}:
        return ()
    render = LOADING.get(row.kind) or (CLASSIC if row.protocol == "classic" else CONSUMER).get(row.kind)
    return () if render is None else render(row, state)


def _goes_first(row: TraceRow, left_ms: int) -> bool:
    """Whether 3.9 prints this row's line before "has left group": what the leave caused (4.x prints it after)."""
    if row.at_ms != left_ms or row.kind == "member_removed":
        return False
    return not (row.kind == "response" and row.detail["api"] == "LeaveGroup")


def supports(version: str, protocol: str) -> bool:
    """Whether brokers of that version know a group protocol at all (KIP-848 came with 3.7)."""
    return protocol == "classic" or has("consumer-protocol", version)
