"""The log of a member's process, over all its lives, in Kafka's own words.

A line stands where the client's own row stands. What an answer makes a client say is written just before
the row that tells what the client did about it, or when it arrived if the client did nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from heapq import merge
from typing import NamedTuple

from rebalance_kit.logs.client.answers import answer_lines
from rebalance_kit.logs.client.classic import CLASSIC, positions
from rebalance_kit.logs.client.consumer import CONSUMER
from rebalance_kit.logs.client.state import ClientState
from rebalance_kit.logs.librdkafka.log import native_lines
from rebalance_kit.logs.lines import LogLine
from rebalance_kit.logs.templates.template import Said
from rebalance_kit.model.trace import Trace, TraceRow

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
