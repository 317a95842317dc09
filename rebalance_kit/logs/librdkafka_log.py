"""The log of a librdkafka consumer with ``debug=cgrp,consumer``: what it writes about its group, row by row.

librdkafka tells of answers (JoinGroup, SyncGroup, heartbeats) where the Java client tells of conclusions. An
answer's lines stand where the client's own next row stands, or when it arrived.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

from rebalance_kit.logs.librdkafka_state import AUTO, Marks, NativeState, answered, begun, closing, ended
from rebalance_kit.logs.lines import LogLine, Said
from rebalance_kit.model.topology import parse_partition
from rebalance_kit.model.trace import Trace, TraceRow

Render = Callable[[TraceRow, NativeState], tuple[Said, ...]]
NULL = "NULL"
METADATA = "Metadata for subscribed topic(s) has changed"


class _Answer(NamedTuple):
    at_ms: int
    row: TraceRow


def native_lines(trace: Trace, name: str) -> Iterator[LogLine]:
    """Lines about the group that a librdkafka consumer writes, over all its lives; loggers are ``FACILITY|CLIENT``."""
    state: NativeState | None = None
    due: list[_Answer] = []
    marks = _marks(trace, name)
    for row in trace.rows:
        if row.kind == "response" and row.detail["to"] == name and row.detail["arrives_ms"] is not None:
            due.append(_Answer(int(row.detail["arrives_ms"]), row))
        if row.actor != name and row.kind != "run_end":
            continue
        if row.kind == "process_started":
            native = row.detail["client"] == "librdkafka"
            state, due = NativeState(name, row, trace.meta, marks) if native else None, []
        if state is None:
            continue
        ready, due = (
            [one for one in due if one.at_ms <= row.at_ms],
            [one for one in due if one.at_ms > row.at_ms],
        )
        for one in ready:
            yield from [LogLine(one.at_ms, *said) for said in answered(one.row, state)]
        render = RENDER.get(row.kind)
        yield from [LogLine(row.at_ms, *said) for said in (() if render is None else render(row, state))]
        if row.kind == "process_ended":
            state = None


def _marks(trace: Trace, name: str) -> Marks:
    own = [row for row in trace.rows if row.actor == name]
    wrong = frozenset(row.seq for row, following in pairwise(own) if following.kind == "wrong_call")
    closing: set[int] = set()
    last: TraceRow | None = None
    for row in own:
        if row.kind == "callback_begin":
            last = row if row.detail["callback"] in {"revoked", "lost"} else None
        elif row.kind == "request" and row.detail["api"] == "JoinGroup":
            last = None
        elif row.kind == "process_ended":
            closing |= {last.seq} if last is not None and row.detail["how"] == "closed" else set()
            last = None
    return Marks(wrong, frozenset(closing))


# --- starting, requests -----------------------------------------------------------------------------------
def _started(row: TraceRow, state: NativeState) -> tuple[Said, ...]:
    said = state.say("member_id_app", old="(not-set)", new="") if row.protocol == "classic" else ()
    return (
        *said,
        *state.turn("query-coord"),
        *state.say("initialized"),
        *state.say("subscribe", topics=len(state.topics)),
    )


def _acted(row: TraceRow, state: NativeState) -> tuple[Said, ...]:
    """A later call of subscribe()."""
    if row.detail["do"] != "subscribe":
        return ()
    state.topics = tuple(row.detail["topics"])
    return state.say("subscribe", topics=len(state.topics))


def _sent(row: TraceRow, state: NativeState) -> tuple[Said, ...]:
    held = row.detail
    state.sent[int(held["corr"])] = row
    first = () if state.spoke else state.turn("wait-coord", "wait-broker-transport", "up")
    joins = 0 if not state.spoke else len(state.topics)  # the subscription is looked up first
    state.spoke = True
    api = held["api"]
    if api == "JoinGroup":
        topics = len(held["topics"])
        rejoin, state.rejoin = state.rejoin, ()
        asked = (*state.say("join", topics=joins), *state.say("joining", topics=topics, member=state.member))
        return (*first, *rejoin, *state.go("init"), *asked, *state.go("wait-join"))
    if api == "Heartbeat":
        return state.say("heartbeat", generation=row.generation)
    if api == "OffsetCommit":
        if held["how"] != "auto":  # librdkafka commits what it gives up once the application has let go of it
            state.gives_up = row
            return ()
        return state.say("committing", count=len(held["offsets"]), generation=row.generation, reason=AUTO)
    if api == "LeaveGroup":
        return (*_closes_empty(state), *state.named(""), *state.say("leave"), *state.say("leaving"))
    if api == "ConsumerGroupHeartbeat":
        return (*first, *_epoch_heartbeat(row, state))
    return ()


def _closes_empty(state: NativeState) -> tuple[Said, ...]:
    """Leaving without a callback before it: close() had nothing to give up."""
    if state.closing or state.reason not in {"", "rebalance in progress"}:
        return ()
    return (*closing(state, 0), *state.say("close_waits"))


def _epoch_heartbeat(row: TraceRow, state: NativeState) -> tuple[Said, ...]:
    held = row.detail
    epoch = int(held["epoch"])
    joins = epoch == 0
    said: tuple[Said, ...] = ()
    if not state.member:
        state.member = row.member_id or ""
        said = state.say("member_id_app", old="(not-set)", new=state.member)
    absent = "(null)" if joins else NULL
    topics = (
        absent if held["topics"] is None else ", ".join(f"{topic}((null))[-1]" for topic in held["topics"])
    )
    if epoch < 0:
        said = (*_closes_empty(state), *state.say("leave"), *state.say("leaving"))
    elif held["owned"] is not None and not joins:
        state.acknowledges = True
        said = state.say("acknowledging", target=state.printed(held["owned"]))
    owned = NULL if held["owned"] is None else state.printed(held["owned"])
    instance = held["instance_id"] if held["instance_id"] and joins else absent
    return (
        *said,
        *state.say(
            "epoch_heartbeat",
            member=row.member_id,
            epoch=epoch,
            instance=instance,
            owned=owned,
            topics=topics,
            regex="" if joins else NULL,
            assignor=state.config.get("group.remote.assignor") or absent,
        ),
    )


# --- what the client makes of it ------------------------------------------------------------------------------
def _requested(row: TraceRow, state: NativeState) -> tuple[Said, ...]:
    reason = str(row.detail["reason"])
    count = len(state.owned)
    if reason == "group is already rebalancing":
        if state.way == "EAGER":
            state.reason = "rebalance in progress"
            return state.say(
                "rebalance", who="is rebalancing", mode=state.mode, count=count, lost="", reason=state.reason
            )
        state.rejoin = state.say(
            "rejoining", how=f"with {count} owned partition(s)", reason="Group is rebalancing"
        )
    elif reason.startswith("need to revoke"):
        state.after_revoke = True
    elif reason == METADATA:
        after_lost = state.join_state == "wait-incr-unassign-to-complete"  # which says it already
        updated = () if after_lost else state.say("metadata_updated")
        if state.way == "EAGER":
            return (*updated, *state.say("rejoining_all", count=count, reason=METADATA))
        return (*updated, *state.say("rejoining", how=f"with {count} owned partition(s)", reason=METADATA))
    return ()


def _reset(row: TraceRow, state: NativeState) -> tuple[Said, ...]:
    why = "illegal generation" if row.detail["member_id_kept"] else "resetting member-id"
    return (*(() if row.detail["member_id_kept"] else state.named("")), *lost(state, why))


def lost(state: NativeState, why: str) -> tuple[Said, ...]:
    """Everything owned is lost: ``rd_kafka_cgrp_revoke_all_rejoin``."""
    count = len(state.owned)
    state.reason = why
    said = state.say(
        "rebalance", who="initiating rebalance", mode=state.mode, count=count, lost=" (lost)", reason=why
    )
    if not count:
        return said
    return (
        *said,
        *state.say("revoking_all", count=count, why="assignment lost"),
        *state.say("assignment_lost", count=count, reason=why),
    )


def _computed(row: TraceRow, state: NativeState) -> tuple[Said, ...]:
    shares, assignor = row.detail["assignment"], row.detail["assignor"]
    told = {"assignor": assignor, "members": len(shares)}
    topics = len({parse_partition(str(one)).topic for given in shares.values() for one in given})
    said = [*state.say("assignor_runs", topics=topics, **told), *state.say("assignor_ran", **told)]
    for member, given in shares.items():
        said += state.say(
            "member_assigned", member=member, me=" (me)" if member == state.member else "", count=len(given)
        )
        for one in given:
            tp = parse_partition(str(one))
            said += state.say("partition_assigned", topic=tp.topic, partition=tp.partition)
    return (*said, *state.say("assignor", **told), *state.go("wait-sync"))


def _synced(row: TraceRow, state: NativeState) -> tuple[Said, ...]:
    held = row.detail
    state.has_joined = True
    if not held["cooperative"]:
        return ()
    return state.say(
        "incremental", added=len(held["added"]), revoked=len(held["revoked"]), count=len(held["assigned"])
    )


def _reconciling(row: TraceRow, state: NativeState) -> tuple[Said, ...]:
    held = row.detail
    state.has_joined = True
    said = state.say("reconciling", target=state.printed(held["assigned"]))
    return (
        *said,
        *state.say(
            "incremental", added=len(held["added"]), revoked=len(held["revoked"]), count=len(held["assigned"])
        ),
    )


def _moved(row: TraceRow, state: NativeState) -> tuple[Said, ...]:
    if row.detail["to"] == "FENCED":
        return lost(state, "member fenced - rejoining")
    return ()


def _overdue(row: TraceRow, state: NativeState) -> tuple[Said, ...]:
    limit = int(row.detail["limit_ms"])
    said = state.say("poll_exceeded", limit_ms=limit, over_ms=int(row.detail["over_ms"]))
    return (*said, *lost(state, "max.poll.interval.ms exceeded"))


def _owned(row: TraceRow, state: NativeState) -> tuple[Said, ...]:
    state.owned = tuple(row.detail["partitions"])
    return ()


def _wrong(row: TraceRow, state: NativeState) -> tuple[Said, ...]:
    return state.say("wrong_call")


def _over(row: TraceRow, state: NativeState) -> tuple[Said, ...]:
    if row.detail["how"] == "crash":
        return ()
    forgotten = state.say("member_id_app", old=state.member, new="(not-set)")
    return (*state.go("init"), *state.turn("term"), *state.say("closed"), *forgotten)


RENDER: Mapping[str, Render] = MappingProxyType(
    {
        "action": _acted,
        "process_started": _started,
        "request": _sent,
        "rejoin_requested": _requested,
        "generation_reset": _reset,
        "assignment_computed": _computed,
        "synced": _synced,
        "reconciling": _reconciling,
        "member_state": _moved,
        "callback_begin": begun,
        "callback_end": ended,
        "owned": _owned,
        "poll_timeout": _overdue,
        "wrong_call": _wrong,
        "process_ended": _over,
    }
)
"""The lines for each kind of row."""
