"""The broker's log of a trace, in Kafka's own words: 4.x coordinator, and the Scala one up to 3.9."""

from __future__ import annotations

from collections.abc import Iterator

from rebalance_kit.logs.broker.groups import CLASSIC, CONSUMER, LOADING
from rebalance_kit.logs.broker.state import BrokerState
from rebalance_kit.logs.lines import LogLine
from rebalance_kit.logs.templates.template import Said
from rebalance_kit.model.trace import Trace, TraceRow
from rebalance_kit.model.versions import has


def broker_lines(trace: Trace, version: str | None = None) -> Iterator[LogLine]:
    """Lines about groups that a broker of that version writes (default: the trace's), in order of time."""
    release = version or str(trace.meta.get("kafka_version", "4.3.1"))
    state = BrokerState(release, trace.meta)
    held: list[LogLine] = []
    for row in trace.rows:
        if state.loading_ms is not None and row.kind != "group_loaded":
            yield from [
                LogLine(state.loading_ms, *said)
                for said in state.say(
                    "finish_load", epoch=state.load_epoch, took_ms=0, waited_ms=0, records=0, bytes=0
                )
            ]
            state.loading_ms = None
        state.see(row)
        if held and not _goes_first(row, held[0].at_ms):
            yield from held
            held = []
        lines = [LogLine(row.at_ms, *said) for said in _said(row, state)]
        if (
            lines
            and row.kind == "member_removed"
            and row.detail["how"] in {"leave", "admin"}
            and state.scala
            and row.protocol == "classic"
        ):
            held += lines
        else:
            yield from lines
    yield from held


def _said(row: TraceRow, state: BrokerState) -> tuple[Said, ...]:
    if row.actor not in {"coordinator", "broker"}:
        return ()
    render = LOADING.get(row.kind) or (CLASSIC if row.protocol == "classic" else CONSUMER).get(row.kind)
    return () if render is None else render(row, state)


def _goes_first(row: TraceRow, left_ms: int) -> bool:
    """Whether 3.9 prints this row's line before "has left group": what the leave caused (4.x prints it after)."""
    if row.at_ms != left_ms or row.kind == "member_removed":
        return False
    return not (row.kind == "response" and row.detail["api"] == "LeaveGroup")


def supports(version: str, protocol: str) -> bool:
    """Whether brokers of that version know a group protocol at all (KIP-848 came with 3.7)."""
    return protocol == "classic" or has("consumer-protocol", version)
