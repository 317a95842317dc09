"""Broker log lines about classic groups, row by row."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from rebalance_kit.logs.broker.state import BrokerState, some
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
