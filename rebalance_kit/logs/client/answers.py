"""Log lines of a Java consumer about error responses, before and after it acts on them."""

from __future__ import annotations

from collections.abc import Mapping

from rebalance_kit.assignors.java_order import hash_map_order, partition_hash
from rebalance_kit.logs.client.state import ClientState
from rebalance_kit.logs.templates.template import Said
from rebalance_kit.model.kafka_errors import COORDINATOR_MOVED, EXCEPTION_MESSAGES, FATAL_JOIN
from rebalance_kit.model.topology import TopicPartition, parse_partition
from rebalance_kit.model.trace import TraceRow

Lines = tuple[tuple[Said, ...], tuple[Said, ...], bool]
NOTHING: Lines = ((), (), False)
REBALANCED = (
    "Commit cannot be completed since the group has already rebalanced and assigned the partitions to another member. This means that the "
    "time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, which typically implies that the poll "
    "loop is spending too much time message processing. You can address this either by increasing max.poll.interval.ms or by reducing the "
    "maximum size of batches returned in poll() with max.poll.records."
)
THROWN = {
    "UNKNOWN_MEMBER_ID": "org.apache.kafka.clients.consumer.CommitFailedException: OffsetCommit failed with unknown member ID. The coordinator is not aware of this member.",
    "STALE_MEMBER_EPOCH": "org.apache.kafka.clients.consumer.CommitFailedException: OffsetCommit failed with stale member epoch. The member epoch is stale. The member must retry after receiving its updated member epoch via the ConsumerGroupHeartbeat API.",
    "UNKNOWN_TOPIC_OR_PARTITION": "org.apache.kafka.common.errors.UnknownTopicIdException: This server does not host this topic ID.",
}


def answer_lines(row: TraceRow, state: ClientState) -> Lines:
    """Lines of an answer: before the client acts on it, after it did, and whether poll() must handle it first."""
    held = row.detail
    request = state.sent.get(int(held["corr"]))
    if request is None:
        return NOTHING
    error = str(held["error"])
    if request.detail.get("how") == "close":
        state.close_refused = error != "NONE"
    if error == "NONE":
        revoking, state.revoking = (
            (state.revoking, ()) if request.detail.get("how") == "reconcile" else ((), state.revoking)
        )
        return revoking, (), False
    if row.protocol == "consumer":
        if held["api"] == "OffsetCommit":
            return _consumer_commit(error, request, state)
        return _consumer_heartbeat(error, request, state)
    if held["api"] == "Heartbeat":
        return _heartbeat(error, request, state)
    if held["api"] == "OffsetCommit":
        return _commit(error, request, state)
    if held["api"] == "JoinGroup":
        return _join(error, request, state)
    return _sync(error, request, state) if held["api"] == "SyncGroup" else NOTHING


def _stamp(request: TraceRow, state: ClientState) -> str:
    return state.stamp(request.generation, request.member_id)


def _heartbeat(error: str, request: TraceRow, state: ClientState) -> Lines:
    if error in {"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION", "FENCED_INSTANCE_ID"}:
        name = "heartbeat_failed" if request.generation == state.generation else "heartbeat_stale"
        return (
            state.say(name, stamp=_stamp(request, state), instance=state.optional_instance, error=error),
            (),
            False,
        )
    if error in COORDINATOR_MOVED:
        state.refusal = error
        return state.say("heartbeat_no_coordinator", node=state.node), (), False
    return NOTHING


def _commit(error: str, request: TraceRow, state: ClientState) -> Lines:
    offsets = request.detail["offsets"]
    if error == "UNKNOWN_TOPIC_OR_PARTITION":  # the first one in the answer's map ends the look
        gone = [tp for tp in _in_map_order(offsets) if tp.topic in state.deleted]
        return (
            tuple(
                said
                for tp in gone[:1]
                for said in state.say(
                    "commit_retried_on",
                    partition=tp,
                    offset=offsets[str(tp)],
                    message=EXCEPTION_MESSAGES[error],
                )
            ),
            (),
            False,
        )
    if error in COORDINATOR_MOVED:
        state.refusal = error
    message = EXCEPTION_MESSAGES.get(error, error)
    first = str(_in_map_order(offsets)[0])
    before = (
        *state.say("commit_failed_on", partition=first, offset=offsets[first], message=message),
        *state.say("commit_failed", stamp=_stamp(request, state), message=message),
    )
    if error not in {"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"}:
        return before, (), False
    return before, state.say("auto_commit_failed", offsets=state.offsets(offsets), message=REBALANCED), False


def _in_map_order(offsets: Mapping[str, int]) -> list[TopicPartition]:
    return hash_map_order([parse_partition(str(tp)) for tp in offsets], partition_hash)


def _join(error: str, request: TraceRow, state: ClientState) -> Lines:
    stamp = _stamp(request, state)
    message = state.told or EXCEPTION_MESSAGES.get(error, error)
    if error == "MEMBER_ID_REQUIRED":
        return NOTHING
    if error == "REBALANCE_IN_PROGRESS":
        return state.say("join_repeated", error=error), (), True
    if error in FATAL_JOIN:
        return state.say("join_fatal", message=message), (), True
    if error == "FENCED_INSTANCE_ID":
        return state.say("join_fenced", instance=state.optional_instance, stamp=stamp), (), True
    if error in COORDINATOR_MOVED:
        state.refusal = error
        return state.say("join_no_coordinator", message=message, stamp=stamp), (), True
    return state.say("join_failed", message=message, stamp=stamp), (), True


def _sync(error: str, request: TraceRow, state: ClientState) -> Lines:
    message = (
        "The group began another rebalance."
        if error == "REBALANCE_IN_PROGRESS"
        else EXCEPTION_MESSAGES.get(error, error)
    )
    if error in COORDINATOR_MOVED:
        state.refusal = error
        return state.say("sync_no_coordinator", message=message, stamp=_stamp(request, state)), (), True
    return state.say("sync_failed", message=message, stamp=_stamp(request, state)), (), True


def _consumer_heartbeat(error: str, request: TraceRow, state: ClientState) -> Lines:
    message = state.told or "null"
    if error == "UNKNOWN_MEMBER_ID":
        return (
            state.say("heartbeat_unknown", member=request.member_id, backoff_ms=100, message=message),
            (),
            True,
        )
    if error == "FENCED_MEMBER_EPOCH":
        return (
            state.say(
                "heartbeat_fenced", member=request.member_id, epoch=request.generation, message=message
            ),
            (),
            True,
        )
    if error == "UNRELEASED_INSTANCE_ID":
        return state.say("heartbeat_unreleased", instance=state.instance, message=message), (), True
    if error in COORDINATOR_MOVED:
        state.refusal = error
        return NOTHING
    return (
        state.say(
            "heartbeat_fatal", error=error, message="null" if error == "UNKNOWN_SERVER_ERROR" else message
        ),
        (),
        True,
    )


def _consumer_commit(error: str, request: TraceRow, state: ClientState) -> Lines:
    if error == "STALE_MEMBER_EPOCH":
        before = state.say("commit_stale", member=request.member_id, epoch=request.generation)
    elif error == "UNKNOWN_MEMBER_ID":
        before = state.say("commit_unknown", error=error)
    elif error == "UNKNOWN_TOPIC_OR_PARTITION":
        before = ()
    else:
        return NOTHING
    failed = state.say("auto_commit_thrown", offsets=state.offsets(request.detail["offsets"]))
    return before, tuple(said._replace(thrown=THROWN[error]) for said in failed), False
