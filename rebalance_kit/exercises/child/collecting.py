"""The rows of an answer as plain values: called, looked at, and collected."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

MOST_ROWS = 20_000
_DRAINED_S = 50
"""A stream ends by itself once its files are read; a learner's never should take so long."""


class NoAnswer(Exception):
    """The function gave nothing that can be compared; these words say why and what to try."""


def rows_of(
    frame: Any, function: str, columns: Mapping[str, str], kind: type, stream: Path | None
) -> list[list[Any]]:
    """The values of the columns asked for, row by row; raises ``NoAnswer`` for anything but such a DataFrame.

    ``kind`` is the class of Spark's DataFrames, ``stream`` a folder for a streaming answer's output.
    """
    if frame is None:
        raise NoAnswer(f"{function} returned None. Did the last line lose its `return`?")
    if not isinstance(frame, kind):
        raise NoAnswer(
            f"{function} returned a {type(frame).__name__}, expected a Spark DataFrame. "
            "Leave out `collect()`, `toPandas()` and `show()`: return the DataFrame itself."
        )
    given: Any = frame
    _require_columns(columns, {field.name: field.dataType.simpleString() for field in given.schema.fields})
    rows = given.limit(MOST_ROWS + 1).collect() if stream is None else _drained(given, stream)
    if len(rows) > MOST_ROWS:
        raise NoAnswer(
            f"more than {MOST_ROWS:,} rows: a join that multiplies rows? Check that its keys name one row on one side."
        )
    return [[_plain(row[name]) for name in columns] for row in rows]


def _require_columns(columns: Mapping[str, str], got: Mapping[str, str]) -> None:
    missing = [name for name in columns if name not in got]
    if missing:
        raise NoAnswer(
            f"column {missing[0]!r} is missing; your columns are {', '.join(got)}, expected {', '.join(columns)}. Rename with `.alias(...)`."
        )
    for name, wanted in columns.items():
        if got[name] != wanted:
            raise NoAnswer(
                f"column {name!r} is of type {got[name]}, expected {wanted}. Say so with `.cast({wanted!r})`."
            )


def _drained(frame: Any, folder: Path) -> Sequence[Any]:
    """All rows that a streaming answer puts out (append mode) until its files are read."""
    out, mark = folder / "stream", folder / "stream-mark"
    query = (
        frame.writeStream.format("parquet")
        .outputMode("append")
        .option("checkpointLocation", str(mark))
        .trigger(availableNow=True)
        .start(str(out))
    )
    try:
        if not query.awaitTermination(_DRAINED_S):
            raise NoAnswer(f"the stream was not read to its end within {_DRAINED_S} s")
    finally:
        _apart(query.stop)
    found: Sequence[Any] = frame.sparkSession.read.parquet(str(out)).collect()
    return found


def _apart(stop: Callable[[], None]) -> None:
    """Call it from a thread, which has a connection of its own: an interrupted one is still waiting for an answer."""
    thread = threading.Thread(target=stop, daemon=True)
    thread.start()
    thread.join(5)


def _plain(value: Any) -> Any:
    return value.isoformat() if isinstance(value, datetime) else value
