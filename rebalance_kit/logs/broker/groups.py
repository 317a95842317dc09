"""Broker log lines about classic groups, row by row."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from rebalance_kit.logs.broker.state import BrokerState, some
from rebalance_kit.logs.lines import bracketed
from rebalance_kit.logs.templates.template import Said
from rebalance_kit.model.trace import TraceRow
from rebalance_kit.model.versions import has

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
