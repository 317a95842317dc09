"""The broker's log of a trace, in Kafka's own words: 4.x coordinator, and the Scala one up to 3.9."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from rebalance_kit.logs.lines import CLASSIC_GROUP, COORDINATOR, RUNTIME, SCALA, LogLine, at_least
from rebalance_kit.model.trace import Trace, TraceRow

Render = Callable[[TraceRow, str], Iterator[tuple[str, str]]]
"""A row and the Kafka version to (logger, message) pairs."""


def broker_lines(trace: Trace, version: str | None = None) -> Iterator[LogLine]:
    """Lines about groups that a broker of that version writes (default: the trace's), in order of time."""
    release = version or str(trace.meta.get("kafka_version", "4.3.1"))
    scala = not at_least(release, "4.0")
    for row in trace.rows:
        if row.actor not in {"coordinator", "broker"}:
            continue
        render = (
            _SCALA
            if scala and row.protocol == "classic"
            else _CLASSIC
            if row.protocol == "classic"
            else _CONSUMER
        ).get(row.kind)
        if render is None:
            continue
        for logger, message in render(row, release):
            prefix = (
                "[GroupCoordinator 1]: "
                if scala
                else "[GroupCoordinator id=1 topic=__consumer_offsets partition=0] "
            )
            yield LogLine(row.at_ms, "INFO", logger, prefix + message)


# --- classic, 4.x -----------------------------------------------------------------------------
def _pending(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
    held = row.detail
    yield (
        COORDINATOR,
        (
            f"Dynamic member with unknown member id joins group {held['group']} in {held['state']} state. "
            f"Created a new member id {row.member_id} and requesting the member to rejoin with this id."
        ),
    )


def _added(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
    held = row.detail
    if held["instance_id"] is None:
        yield (
            COORDINATOR,
            f"Pending dynamic member with id {row.member_id} joins group {held['group']} in {held['state']} state. Adding to the group now.",
        )
    else:
        yield (
            COORDINATOR,
            (
                f"Static member with groupInstanceId={held['instance_id']} and unknown member id joins group {held['group']} in {held['state']} "
                f"state. Created a new member id {row.member_id} for this member and added to the group."
            ),
        )


def _state(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
    held = row.detail
    if held["to"] == "PreparingRebalance":
        yield (
            COORDINATOR,
            f"Preparing to rebalance group {held['group']} in state PreparingRebalance with old generation {row.generation} (reason: {held['reason']}).",
        )
    elif held["to"] == "Empty" and held["trigger"] != "load":  # a group that is read back says only "Loaded"
        yield COORDINATOR, f"Group {held['group']} with generation {row.generation} is now empty."


def _generation(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
    yield (
        COORDINATOR,
        f"Stabilized group {row.detail['group']} generation {row.generation} with {len(row.detail['members'])} members.",
    )


def _assignment(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
    held = row.detail
    static = sum(1 for one in held.get("instances", {}).values() if one is not None)
    yield (
        COORDINATOR,
        (
            f"Assignment received from leader {row.member_id} for group {held['group']} for generation {row.generation}. "
            f"The group has {len(held['ids'])} members, {static} of which are static."
        ),
    )


def _removed(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
    held = row.detail
    if held["how"] == "session":
        if held.get("pending"):
            yield (
                COORDINATOR,
                f"Pending member {row.member_id} in group {held['group']} has been removed after session timeout expiration.",
            )
        else:
            yield (
                COORDINATOR,
                f"Member {row.member_id} in group {held['group']} has failed, removing it from the group.",
            )
    elif held["how"] == "late":
        yield (
            COORDINATOR,
            f"Group {held['group']} removed dynamic members who haven't joined: [{row.member_id}]",
        )
    elif held["how"] in {"leave", "admin"}:
        who = "Pending member" if held.get("pending") else "Member"
        yield (
            COORDINATOR,
            f"[Group {held['group']}] {who} {row.member_id} has left group through explicit `LeaveGroup` request; client reason: {held['reason']}",
        )


def _replaced(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
    held = row.detail
    yield (
        COORDINATOR,
        (
            f"Static member with groupInstanceId={held['instance_id']} and unknown member id joins group {held['group']} in {held['state']} "
            f"state. Replacing previously mapped member {held['old_member_id']} with this groupInstanceId."
        ),
    )


def _kept(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
    yield (
        COORDINATOR,
        "Static member which joins during Stable stage and doesn't affect the selected protocol will not trigger a rebalance.",
    )


def _refused(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
    held = row.detail
    if held["error"] == "FENCED_INSTANCE_ID" and held.get("holder"):
        yield (
            CLASSIC_GROUP,
            (
                f"Request memberId={row.member_id} for static member with groupInstanceId={held['instance_id']} is fenced by existing "
                f"memberId={held['holder']} during operation {str(held['api']).lower()}"
            ),
        )


def _elected(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
    if row.detail.get("instead_of"):
        yield (
            CLASSIC_GROUP,
            (
                f"Group leader [memberId: {row.detail['instead_of']}, groupInstanceId: null] failed to join before the rebalance timeout. "
                f"Member {row.member_id} was elected as the new leader."
            ),
        )


def _loaded(kind: str) -> Render:
    def render(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
        yield COORDINATOR, f"Loaded {kind} group {row.detail['group']} with {row.detail['members']} members."

    return render


def _up(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
    yield RUNTIME, "Scheduling loading of metadata from __consumer_offsets-0 with epoch 1"


# --- classic, up to 3.9 -------------------------------------------------------------------------
def _scala(render: Render) -> Render:
    """The Scala coordinator's form of the same event."""

    def changed(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
        for _, message in render(row, version):
            yield SCALA, _to_scala(message, row)

    return changed


def _to_scala(message: str, row: TraceRow) -> str:
    where = " (__consumer_offsets-0)"
    if message.startswith("Preparing"):
        reason = str(row.detail["reason"]).removesuffix(".").replace("instance id null", "instance id None")
        reason = reason.replace("Adding new member", "Adding new member")
        return f"Preparing to rebalance group {row.detail['group']} in state PreparingRebalance with old generation {row.generation}{where} (reason: {reason})"
    if message.startswith("Stabilized"):
        head, tail = message.removesuffix(".").split(" with ")
        return f"{head}{where} with {tail}"
    if message.endswith("is now empty."):
        return message.removesuffix(".") + where
    return message.replace("requesting the member", "request the member").replace(
        "removing it from the group.", "removing it from the group"
    )


# --- consumer groups ----------------------------------------------------------------------------
def _consumer_added(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
    held = row.detail
    kind = "classic" if held.get("classic") else "consumer"
    who = (
        f"Member {row.member_id}"
        if held["instance_id"] is None
        else f"Static member {row.member_id} with instance id {held['instance_id']}"
    )
    yield COORDINATOR, f"[GroupId {held['group']}] {who} joins the consumer group using the {kind} protocol."


def _consumer_rejoined(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
    yield (
        COORDINATOR,
        f"[GroupId {row.detail['group']}] Member {row.member_id} joins the consumer group using the classic protocol.",
    )


def _consumer_pending(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
    yield (
        COORDINATOR,
        (
            f"[GroupId {row.detail['group']}] Dynamic member with unknown member id joins the consumer group. Created a new member id "
            f"{row.member_id} and requesting the member to rejoin with this id."
        ),
    )


def _bumped(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
    group = row.detail["group"]
    if not at_least(version, "4.1"):
        yield COORDINATOR, f"[GroupId {group}] Bumped group epoch to {row.generation}."
        return
    digest = hashlib.blake2b(f"{group}/{row.detail.get('topics', '')}".encode(), digest_size=8).digest()
    stamp = int.from_bytes(digest, "big", signed=True) if row.detail["subscribed"] else 0
    yield COORDINATOR, f"[GroupId {group}] Bumped group epoch to {row.generation} with metadata hash {stamp}."


def _target(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
    held = row.detail
    yield (
        COORDINATOR,
        f"[GroupId {held['group']}] Computed a new target assignment for epoch {row.generation} with '{held['assignor']}' assignor in 0ms.",
    )


def _consumer_removed(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
    held = row.detail
    group, instance, how = held["group"], held.get("instance_id"), held["how"]
    static = f"Static member {row.member_id} with instance id {instance}"
    if how in {"session", "rebalance_timeout", "join_timeout", "sync_timeout"}:
        reason = str(held["reason"]).removesuffix(".")
        yield COORDINATOR, f"[GroupId {group}] Member {row.member_id} fenced from the group because {reason}."
    elif how == "admin" or held.get("classic"):
        who = static if instance else f"Dynamic member {row.member_id}"
        yield (
            COORDINATOR,
            f"[GroupId {group}] {who} has left group through explicit `LeaveGroup` request; client reason: {held['reason']}",
        )
    else:
        yield (
            COORDINATOR,
            f"[GroupId {group}] {static if instance else f'Member {row.member_id}'} left the consumer group.",
        )


def _away(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
    held = row.detail
    yield (
        COORDINATOR,
        f"[GroupId {held['group']}] Static member {row.member_id} with instance id {held['instance_id']} temporarily left the consumer group.",
    )


def _consumer_replaced(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
    held = row.detail
    yield (
        COORDINATOR,
        (
            f"[GroupId {held['group']}] Static member with instance id {held['instance_id']} re-joins the consumer group using the consumer "
            f"protocol. Created a new member {row.member_id} to replace the existing member {held['old_member_id']}."
        ),
    )


def _consumer_refused(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
    held = row.detail
    if held["error"] == "UNRELEASED_INSTANCE_ID":
        yield (
            COORDINATOR,
            (
                f"[GroupId {held['group']}] Static member {row.member_id} with instance id {held['instance_id']} cannot join the group because "
                f"the instance id is owned by member {held['holder']}."
            ),
        )


def _converted(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
    held = row.detail
    empty = "" if held["members"] else "empty "
    before, after = ("classic", "consumer") if held["to"] == "consumer" else ("consumer", "classic")
    yield COORDINATOR, f"[GroupId {held['group']}] Converted the {empty}{before} group to a {after} group."


def _scanned(row: TraceRow, version: str) -> Iterator[tuple[str, str]]:
    held = row.detail
    yield (
        COORDINATOR,
        f"[GroupId {held['group']}] Scanned {held['topics']} topics to refresh regular expressions [{', '.join(held['regexes'])}] in 0ms.",
    )


_CLASSIC: Mapping[str, Render] = MappingProxyType(
    {
        "member_pending": _pending, "member_added": _added, "group_state": _state, "generation": _generation, "assignment": _assignment,
        "member_removed": _removed, "member_replaced": _replaced, "static_kept": _kept, "member_refused": _refused,
        "leader_elected": _elected, "group_loaded": _loaded("classic"), "coordinator_up": _up, "group_converted": _converted,
    }
)  # fmt: skip
_SCALA: Mapping[str, Render] = MappingProxyType(
    {
        kind: _scala(render)
        for kind, render in _CLASSIC.items()
        if kind not in {"member_added", "coordinator_up"}
    }
)
_CONSUMER: Mapping[str, Render] = MappingProxyType(
    {
        "member_added": _consumer_added, "member_rejoined": _consumer_rejoined, "member_pending": _consumer_pending, "epoch_bump": _bumped,
        "target": _target, "member_removed": _consumer_removed, "member_away": _away, "member_replaced": _consumer_replaced,
        "member_refused": _consumer_refused, "group_loaded": _loaded("consumer"), "group_converted": _converted, "regex_scanned": _scanned,
    }
)  # fmt: skip
