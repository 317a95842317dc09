"""Log lines of a Java consumer under the consumer protocol (KIP-848), row by row."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rebalance_kit.assignors.java_order import hash_set_of, partition_hash
from rebalance_kit.logs.java_classic import BOTH, Render, block, callback_line, subscribed
from rebalance_kit.logs.java_state import ClientState
from rebalance_kit.logs.lines import Said, listed
from rebalance_kit.model.topology import parse_partition
from rebalance_kit.model.trace import TraceRow

LEFT_MEANWHILE = "the member already transitioned out of the reconciling state into UNSUBSCRIBED"
TIMED_OUT = (
    "org.apache.kafka.common.errors.TimeoutException: java.util.concurrent.TimeoutException\n"
    "Caused by: java.util.concurrent.TimeoutException"
)


def _started(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    return (*state.say("version", release=state.version), *subscribed(row, state, "consumer"))


def _sent(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    state.sent[int(row.detail["corr"])] = row
    return ()


def _moved(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    before, after = str(row.detail["from"]), str(row.detail["to"])
    said = state.say(
        "transitioned", member=row.member_id, epoch=row.generation or 0, before=before, after=after
    )
    dropped = state.say("epoch_dropped", member=row.member_id)
    if after == "PREPARE_LEAVING":  # the callbacks of close() come first in the log
        earlier = state.say(
            "transitioned", member=row.member_id, epoch=row.generation or 0, before=before, after=after
        )
        state.leaving, state.interrupted = (*earlier, *dropped), before == "RECONCILING"
        return ()
    if after == "LEAVING":
        leaving, state.leaving = state.leaving, ()
        return (*leaving, *said)
    if after == "FENCED":
        shown = state.generation if state.generation is not None else 0
        fenced = state.say("transitioned", member=row.member_id, epoch=shown, before=before, after=after)
        return (*fenced, *dropped)
    if after == "FATAL":
        return (*said, *state.say("fatal", member=row.member_id, epoch=row.generation or 0))
    if before == "UNSUBSCRIBED":
        return (*said, *_discovered(state))
    if before == "STALE":
        return (*_resumed(row, state), *said)
    state.generation = row.generation
    return said


def _discovered(state: ClientState) -> tuple[Said, ...]:
    return state.say("discovered_consumer", group=state.group)


def _resumed(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    """The application polls again; the figure is the whole time over the limit."""
    over = max(row.at_ms - state.polled_ms - state.over_limit_ms, 0)
    return state.say("poll_resumed", over_ms=over, member=row.member_id)


def _reconciling(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    held = row.detail
    said = state.say("reconciling", local_epoch=held["local_epoch"], member=row.member_id, **block(held))
    if not held["revoked"]:
        return said
    revoked = hash_set_of(
        [parse_partition(str(one)) for one in held["revoked"]], partition_hash
    )  # new HashSet<>(revoked)
    revoking = state.say("revoking", partitions=listed(revoked, state.version))
    if state.owned and state.auto_commits:
        state.revoking = revoking  # said when the commit is answered
        return said
    return (*said, *revoking)


def _callback(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    """The revoked callback waits for the commit; one that ran out of time is passed over."""
    revoking, state.revoking = state.revoking, ()
    late = revoking if row.detail["callback"] == "revoked" and not state.close_refused else ()
    timed_out = (
        state.say("close_commit_failed")
        if state.close_refused and row.detail["callback"] == "revoked"
        else ()
    )
    timed_out = tuple(one._replace(thrown=TIMED_OUT) for one in timed_out)
    return (*timed_out, *late, *callback_line(row, state))


def _lost(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    cause = "null" if state.refusal is None else state.refusal
    state.refusal = None
    return state.say("unavailable_consumer", node=state.node, cause=cause)


def _found(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    return _discovered(state)


def _overdue(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    state.over_limit_ms = int(row.detail["limit_ms"])
    return state.say("poll_expired_consumer")


def _ended(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    if row.detail["how"] == "crash":
        return ()
    gone = state.say("unregistered", client=state.client)
    if not state.close_refused:
        return (*state.say("left_the_group"), *gone)
    late = state.say("interrupted", reason=LEFT_MEANWHILE) if state.interrupted else ()
    return (*state.say("leave_unfinished", limit_ms=state.close_ms), *late, *gone)


CONSUMER: Mapping[str, Render] = MappingProxyType(
    {
        **BOTH,
        "process_started": _started,
        "request": _sent,
        "member_state": _moved,
        "reconciling": _reconciling,
        "callback_begin": _callback,
        "coordinator_lost": _lost,
        "coordinator_found": _found,
        "poll_timeout": _overdue,
        "process_ended": _ended,
    }
)
"""The lines for each kind of row of a KIP-848 consumer."""
