"""Whether a trace is written as the schema says."""

from __future__ import annotations

from collections.abc import Iterator

from rebalance_kit.model.schema.kind import Kind
from rebalance_kit.model.schema.table import SCHEMA
from rebalance_kit.model.trace import Trace, TraceRow

PROTOCOLS = ("classic", "consumer")


def problems(trace: Trace) -> Iterator[str]:
    """Everything in which rows differ from the schema, each with its row; nothing for a sound trace."""
    recorded = trace.source == "recorded"
    for index, row in enumerate(trace.rows):
        kind = SCHEMA.get(row.kind)
        where = f"row {index} ({row.kind} at {row.at_ms} ms)"
        if kind is None:
            yield f"{where}: no kind of row, expected one of {', '.join(SCHEMA)}"
            continue
        if row.seq != index:
            yield f"{where}: seq {row.seq}, expected {index}"
        for problem in (*_columns(row, kind), *_detail(row, kind, recorded=recorded)):
            yield f"{where}: {problem}"


def _columns(row: TraceRow, kind: Kind) -> Iterator[str]:
    expected = PROTOCOLS if kind.protocol else (None,)
    if row.protocol not in expected:
        yield f"protocol {row.protocol!r}, expected one of {expected}"
    for name, value, wanted in (
        ("topic", row.topic, kind.place != ""),
        ("partition", row.partition, kind.place == "partition"),
    ):
        if (value is not None) != wanted:
            yield f"{name} {value!r}, expected {'one' if wanted else 'None'}"


def _detail(row: TraceRow, kind: Kind, *, recorded: bool) -> Iterator[str]:
    if kind.by is not None and row.detail.get(kind.by) not in kind.variants:
        yield f"{kind.by} {row.detail.get(kind.by)!r}, expected one of {', '.join(kind.variants)}"
        return
    keys = kind.keys_of(row.detail)
    for name, key in keys.items():
        if name not in row.detail:
            if not key.optional and (key.recorded or not recorded):
                yield f"{name} is missing, expected {key.type}"
        elif not key.type.accepts(row.detail[name]):
            yield f"{name} is {row.detail[name]!r}, expected {key.type}"
    unknown = [name for name in row.detail if name not in keys]
    if unknown:
        yield f"{', '.join(unknown)} not in the schema, expected {', '.join(keys) or 'no keys'}"
