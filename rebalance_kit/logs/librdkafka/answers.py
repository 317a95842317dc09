"""Log lines of librdkafka about responses: JoinGroup, SyncGroup, heartbeats, commits."""

from __future__ import annotations

from rebalance_kit.logs.librdkafka.state import NativeState
from rebalance_kit.logs.templates.librdkafka import ERRORS
from rebalance_kit.logs.templates.template import Said
from rebalance_kit.model.topology import parse_partition
from rebalance_kit.model.trace import TraceRow

AUTO = "cgrp auto commit timer"


def answered(row: TraceRow, state: NativeState) -> tuple[Said, ...]:
    """Lines of an answer that has reached the client."""
    held = row.detail
    request, error = state.sent.get(int(held["corr"])), str(held["error"])
    worded = ERRORS.get(error, f"Broker: {error}")
    api = held["api"]
    if api == "JoinGroup":
        return _join_answered(row, state, worded)
    if api == "SyncGroup":
        size = _size([str(one) for one in held["assignment"]]) if error == "NONE" else 0
        return state.say("sync_response", error=worded, size=size)
    if api == "OffsetCommit" and request is not None:
        if request.detail["how"] != "auto":
            state.commit_error = worded
            return ()
        return (
            *state.say("committed", count=len(request.detail["offsets"]), reason=AUTO, error=worded),
            *state.say("done"),
        )
    if api == "Heartbeat" and error != "NONE":
        return state.say("heartbeat_error", count=len(state.owned), error=worded)
    if api == "ConsumerGroupHeartbeat":
        return _epoch_answered(row, state, worded)
    return ()


def _join_answered(row: TraceRow, state: NativeState, worded: str) -> tuple[Said, ...]:
    held = row.detail
    member, fine = row.member_id or "", held["error"] == "NONE"
    me = " (me)" if fine and held["leader"] == member else ""
    said = state.say(
        "join_response",
        generation=row.generation if fine else -1,
        assignor=held["assignor"] or "",
        leader=held["leader"],
        me=me,
        member=member,
        members=held["members"],
        error="(no error)" if fine else worded,
    )
    if fine:
        elected = state.say("elected", members=held["members"]) if me else ()
        return (*said, *elected, *state.go("wait-metadata" if me else "wait-sync"))
    named = state.named(member) if held["error"] == "MEMBER_ID_REQUIRED" else state.named("")
    return (
        *said,
        *named,
        *state.say("rejoining", how="without an assignment", reason=f"JoinGroup error: {worded}"),
    )


def _size(partitions: list[str]) -> int:
    """Bytes of a ``ConsumerProtocolAssignment``: version, topics with their partitions, no user data."""
    topics: dict[str, int] = {}
    for partition in partitions:
        topic = parse_partition(partition).topic
        topics[topic] = topics.get(topic, 0) + 1
    return 2 + 4 + sum(2 + len(topic.encode()) + 4 + 4 * count for topic, count in topics.items()) + 4


def _epoch_answered(row: TraceRow, state: NativeState, worded: str) -> tuple[Said, ...]:
    held = row.detail
    if held["error"] != "NONE":
        return state.say("heartbeat_error", count=len(state.owned), error=worded)
    said = state.say("epoch_response", member=row.member_id, epoch=held["epoch"])
    if state.join_state in {"wait-assign-call", "wait-unassign-call"}:
        return (*said, *state.say("postponed"))
    if state.acknowledges:
        state.acknowledges = False
        said = (*said, *state.say("acknowledged", target=state.printed(state.owned)))
    if held["assignment"] is None:
        return said
    return (*said, *state.say("target", target=state.printed(held["assignment"], named=False)))
