"""Write the logs of a trace as files: ``broker.log`` and one a member's process, over all its lives, in Kafka's own words.

A line stands where the client's own row stands. What an answer makes a client say is written just before
the row that tells what the client did about it, or when it arrived if the client did nothing.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from heapq import merge
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from rebalance_kit.assignors.java_order import hash_map_order, hash_set_of, partition_hash
from rebalance_kit.logs.broker import broker_lines
from rebalance_kit.logs.java_classic import (
    BOTH,
    CLASSIC,
    ClientState,
    Render,
    block,
    callback_line,
    positions,
    subscribed,
)
from rebalance_kit.logs.librdkafka_log import native_lines
from rebalance_kit.logs.lines import EPOCH, LogLine, Said, listed, render
from rebalance_kit.model.errors import COORDINATOR_MOVED, EXCEPTION_MESSAGES, FATAL_JOIN, DataError
from rebalance_kit.model.files import write_atomically
from rebalance_kit.model.topology import TopicPartition, parse_partition
from rebalance_kit.model.trace import Trace, TraceRow

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


# Log lines of a Java consumer about error responses, before and after it acts on them.


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


CONSEQUENCES = frozenset(
    {"generation_reset", "rejoin_requested", "coordinator_lost", "died", "member_state", "callback_begin"}
)
"""Rows in which a client tells what it made of an answer."""


class Due(NamedTuple):
    """Lines about an answer: ``before`` what the client does about it, and ``after``."""

    at_ms: int
    before: tuple[Said, ...]
    after: tuple[Said, ...]
    waits: bool
    """The answer is only handled by the application's thread, so it waits for a consequence."""
    heartbeat: TraceRow | None = None
    """A classic heartbeat's answer: what is said about it depends on the generation that the client then has."""


def member_lines(trace: Trace, name: str, version: str | None = None) -> Iterator[LogLine]:
    """Lines about the group that a member's process writes: a Java client's or a librdkafka client's."""
    clients = {row.detail["client"] for row in trace.of("process_started") if row.actor == name}
    java = _java_lines(trace, name, version or str(trace.meta.get("kafka_version", "4.3.1")))
    if "librdkafka" not in clients:
        return java
    return merge(java, native_lines(trace, name), key=lambda line: line.at_ms)  # lives may differ


def split_by_member(trace: Trace) -> Mapping[str, Trace]:
    """The trace once a member, with the rows alone that its log is made of: for groups of many members."""
    shares: dict[str, list[TraceRow]] = {str(name): [] for name in trace.meta.get("members", ())}
    for row in trace.rows:
        if row.kind in {"topic_changed", "run_end"}:
            for rows in shares.values():
                rows.append(row)
        else:
            whom = {"response": "to", "member_refused": "name"}.get(row.kind)
            name = row.actor if whom is None else str(row.detail[whom])
            if name in shares:
                shares[name].append(row)
    return {name: replace(trace, rows=tuple(rows)) for name, rows in shares.items()}


def _java_lines(trace: Trace, name: str, version: str) -> Iterator[LogLine]:
    state = ClientState(name, version, trace.meta)
    due: list[Due] = []
    after: list[LogLine] = []
    frozen = False
    for row in trace.rows:
        if after and row.at_ms > after[0].at_ms:
            yield from after
            after = []
        if state.starting and (row.at_ms > state.starting[0].at_ms or row.actor != name):
            at_ms = state.starting[0].at_ms
            yield from [LogLine(at_ms, *said) for said in positions(state)]
        if row.actor == name or row.kind == "run_end":
            state = state.next_life(row) if row.kind == "process_started" else state
            if state.native:
                continue
            frozen = row.kind == "process_frozen" or (frozen and row.kind != "process_thawed")
            ready = [] if frozen else _ready(due, row)
            for one in ready:
                at_ms = row.at_ms if one.waits else min(one.at_ms, row.at_ms)
                told = one.before if one.heartbeat is None else answer_lines(one.heartbeat, state)[0]
                yield from (LogLine(at_ms, *said) for said in told)
                after += [LogLine(row.at_ms, *said) for said in one.after]
            due = [one for one in due if one not in ready]
            yield from (LogLine(row.at_ms, *said) for said in _said(row, state))
            state.see(row)
            due = [] if row.kind in {"process_ended", "process_started"} else due
        elif row.kind == "topic_changed" and row.detail["partitions"] == 0:
            state.deleted.add(row.topic or "")
        elif row.kind == "member_refused" and row.detail["name"] == name:
            state.told = row.detail["message"]
        elif row.kind == "response" and row.detail["to"] == name and row.detail["arrives_ms"] is not None:
            before, later, waits = answer_lines(row, state)
            if before or later:
                beat = row if row.detail["api"] == "Heartbeat" else None
                due.append(Due(int(row.detail["arrives_ms"]), before, later, waits, beat))
    if state.starting:
        at_ms = state.starting[0].at_ms
        yield from [LogLine(at_ms, *said) for said in positions(state)]
    yield from after


def _ready(due: list[Due], row: TraceRow) -> list[Due]:
    """Answers that are handled by now: at a consequence, or (heartbeats, commits) when time has passed them."""
    told = row.kind in CONSEQUENCES
    return [
        one for one in due if one.at_ms <= row.at_ms and (told or (not one.waits and one.at_ms < row.at_ms))
    ]


def _said(row: TraceRow, state: ClientState) -> tuple[Said, ...]:
    render = (CONSUMER if row.protocol == "consumer" else CLASSIC).get(row.kind)
    return () if render is None else render(row, state)


MEMBER_LAYOUTS = ("kafka", "spring")
"""How a Java member's log may be printed."""


def write_logs(
    trace: Trace,
    folder: str | Path,
    *,
    layout: str = "kafka",
    version: str | None = None,
    begins: datetime = EPOCH,
    packed: bool = False,
) -> tuple[Path, ...]:
    """Write every log of a trace into ``folder`` and return the files; each is written beside and renamed.

    ``layout`` (kafka or spring) is that of the Java members; a broker always prints Kafka's own, librdkafka its own. Raises
    ``DataError`` for a layout that does not exist, and for a member whose name is no file name.
    """
    if layout not in MEMBER_LAYOUTS:
        raise DataError(f"layout {layout!r} is unknown; expected one of {', '.join(MEMBER_LAYOUTS)}")
    file_names(trace)
    place = Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    written = [_write(place / "broker.log", broker_lines(trace, version), "kafka", begins, packed=packed)]
    written += [
        _write(place / f"{name}.log", member_lines(own, name, version), layout, begins, packed=packed)
        for name, own in split_by_member(trace).items()
    ]
    return tuple(written)


def file_names(trace: Trace) -> tuple[str, ...]:
    """Names of a run's logs; raises ``DataError`` for a member whose name is no file name."""
    names = [str(name) for name in trace.meta.get("members", ())]
    for name in names:
        if name in {"broker", "", ".", ".."} or Path(name).name != name:
            raise DataError(
                f"member {name!r} gives no file name of its own; expected a plain name other than broker"
            )
    return ("broker.log", *(f"{name}.log" for name in names))


def _write(target: Path, lines: Iterable[LogLine], layout: str, begins: datetime, *, packed: bool) -> Path:
    text = "".join(render(line, begins, layout) + "\n" for line in lines).encode()
    final = target.with_name(target.name + ".gz") if packed else target
    return write_atomically(final, gzip.compress(text, mtime=0) if packed else text)
