"""Log lines of librdkafka while the application's rebalance callback runs and calls an assign function.

EAGER delegates ``assign`` and ``revoke``, COOPERATIVE and KIP-848 their incremental forms; what is delegated, and
why, is in the line, and the join state waits for the call.
"""

from __future__ import annotations

from rebalance_kit.logs.librdkafka.state import NativeState
from rebalance_kit.logs.templates.template import Said
from rebalance_kit.model.trace import TraceRow

QUEUE = "rd_kafka_cgrp_new"
CLOSE_QUEUE = "rd_kafka_consumer_close0"


def begun(row: TraceRow, state: NativeState) -> tuple[Said, ...]:
    """The callback is handed its partitions."""
    count = len(row.detail["partitions"])
    if row.detail["callback"] == "assigned":
        return _assigning(state, count)
    if row.seq in state.marks.closing:
        head = closing(state, count)
        return (*head, *_revoking(state, count), *state.say("done"), *state.say("close_waits"))
    if row.detail["callback"] == "lost" and not state.reason:
        return (*_topics_gone(state, count), *_revoking(state, count, "topics not available"))
    return _revoking(state, count)


def _topics_gone(state: NativeState, count: int) -> tuple[Said, ...]:
    """A COOPERATIVE member has found that topics it reads are deleted: ``rd_kafka_cgrp_metadata_update_check``."""
    why = f"{count} subscribed topic(s) no longer exist"  # its count is that of partitions
    return (*state.say("metadata_updated"), *state.say("assignment_lost", count=len(state.owned), reason=why))


def closing(state: NativeState, count: int) -> tuple[Said, ...]:
    """close() unsubscribes, which is a rebalance of its own, also with nothing owned."""
    state.closing = True
    state.reason = "unsubscribe"
    asked = state.say(
        "rebalance", who="initiating rebalance", mode=state.mode, count=count, lost="", reason="unsubscribe"
    )
    all_of_them = (
        state.say("revoking_all", count=count, why="terminating")
        if state.way == "COOPERATIVE" and count
        else ()
    )
    gone = state.say("unsubscribe", topics=len(state.topics), member=state.member)
    return (*state.say("closing"), *gone, *asked, *all_of_them)


def _incremental(state: NativeState) -> str:
    return "incremental " if state.way == "COOPERATIVE" else ""


def _assigning(state: NativeState, count: int) -> tuple[Said, ...]:
    after = (
        state.join_state in {"wait-incr-unassign-to-complete", "wait-unassign-to-complete"}
        and state.way == "COOPERATIVE"
    )
    if state.way == "EAGER":
        reason = "new assignment"
    else:
        reason = "cooperative assign after revoke" if after else "sync group assign"
    waits = state.go("wait-assign-call")
    told = state.say(
        "delegating", incremental=_incremental(state), what="assign", count=count, queue=QUEUE, reason=reason
    )
    held = len(state.owned) - count
    return (
        *waits,
        *told,
        *(state.say("pausing", count=held, reason="incremental rebalance") if held > 0 else ()),
    )


def _revoking(state: NativeState, count: int, why: str | None = None) -> tuple[Said, ...]:
    some = state.way == "COOPERATIVE" and not state.closing and state.reason in {"", "rebalance in progress"}
    reason = why or ("sync group revoke" if some else state.reason)
    queue = CLOSE_QUEUE if state.closing else QUEUE
    waits = state.go("wait-unassign-call")
    told = state.say(
        "delegating", incremental=_incremental(state), what="revoke", count=count, queue=queue, reason=reason
    )
    return (
        *waits,
        *told,
        *state.say("pausing", count=len(state.owned), reason=f"{_incremental(state)}rebalance"),
    )


def ended(row: TraceRow, state: NativeState) -> tuple[Said, ...]:
    """The application has called what it was asked to call, and the callback has returned."""
    count = len(row.detail["partitions"])
    if row.seq in state.marks.wrong:
        return ()
    if row.detail["callback"] == "assigned":
        return _assigned(state, count)
    if state.closing:
        return (*state.say("closing_unassign"), *state.go("wait-unassign-to-complete"), *_committed(state))
    if state.way == "EAGER" or state.reason not in {"", "rebalance in progress"}:
        state.rejoin = (
            *state.rejoin,
            *state.say("rejoining", how="without an assignment", reason="Unassignment done"),
        )
        return (*state.go("wait-unassign-to-complete"), *_committed(state))
    left = len(state.owned) - count
    resumed = state.say("resuming", count=left, reason="incremental unassign called") if left else ()
    return (*resumed, *state.go("wait-incr-unassign-to-complete"), *_committed(state, count))


def _committed(state: NativeState, count: int | None = None) -> tuple[Said, ...]:
    """Offsets of what was given up are stored before anything else happens."""
    row, state.gives_up = state.gives_up, None
    if row is None:
        return ()
    told = {
        "count": len(row.detail["offsets"]) if count is None else count,
        "reason": "unassigned partitions",
    }
    asked = state.say("committing", generation=row.generation, **told)
    return (*asked, *state.say("committed", error=state.commit_error, **told), *state.say("done"))


def _assigned(state: NativeState, count: int) -> tuple[Said, ...]:
    new = state.say("new_assignment", count=count) if state.way == "EAGER" else ()
    called = "assign called" if state.way == "EAGER" else "incremental assign called"
    resumed = state.say("resuming", count=len(state.owned), reason=called) if state.owned else ()
    said = (*new, *resumed, *state.go("steady"), *state.say("done"))
    state.reason = ""
    if state.after_revoke:
        state.after_revoke = False
        why = "rejoining group to redistribute previously owned partitions to other group members"
        state.rejoin = state.say("rejoining", how=f"with {len(state.owned)} owned partition(s)", reason=why)
    return said
