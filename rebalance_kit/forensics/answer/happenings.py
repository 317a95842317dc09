"""What happened beside Kafka (``--events FILE``): deploys, kills, evictions, set beside rebalances and findings.

A file is CSV (a time, then text), JSON lines (``time`` and ``text``), or what ``kubectl get events -o json`` prints.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.forensics.lines.times_in_text import time_in
from rebalance_kit.forensics.lines.timestamps import Clock
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import refuse_no_file

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from rebalance_kit.forensics.answer.selected import Selected

#: An event this long before (or so little after) something may be its cause.
BEFORE_MS, _AFTER_MS = 120_000, 5_000

#: Larger files are none of events.
_MOST_BYTES, _SHOWN = 16 << 20, 160

_TIMES = ("time", "at", "timestamp", "@timestamp", "ts", "lastTimestamp", "eventTime", "firstTimestamp")
_TEXTS = ("text", "message", "event", "what", "note", "title")


@dataclass(frozen=True, slots=True, order=True)
class Happening:
    """Something that happened beside Kafka: when (milliseconds since 1970), and what, in one line."""

    at_ms: int
    text: str


def read_happenings(path: Path, reading: Reading | None = None) -> list[Happening]:
    """The events of a file in order of time; ``DataError`` names the file, the line and what was expected."""
    try:
        refuse_no_file(path, "a file of events")
        if path.stat().st_size > _MOST_BYTES:
            raise DataError(
                f"{path}: {path.stat().st_size:,} bytes; expected a file of events, at most {_MOST_BYTES:,}"
            )
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as problem:
        raise DataError(f"{path} cannot be read: {problem}; expected events as CSV or JSON") from problem
    clock = Clock(reading or Reading())
    bare = text.lstrip()
    rows = _of_json(path, bare) if bare[:1] in {"{", "["} else _of_csv(path, text)
    found = []
    for where, at, what in rows:
        ms = clock.read(*time_in(at)) if at.strip() else None
        if ms is None:
            raise DataError(f"{path}:{where}: no time in {at[:80]!r}; expected such as 2026-11-23T02:47:10Z")
        found.append(Happening(ms, " ".join(what.split())[:_SHOWN] or "(no text)"))
    if not found:
        raise DataError(f"{path} holds no event; expected lines of a time and a text (CSV or JSON)")
    return sorted(found)


def _of_csv(path: Path, text: str) -> Iterator[tuple[int, str, str]]:
    try:
        for number, cells in enumerate(csv.reader(io.StringIO(text)), start=1):
            if not cells or not any(cell.strip() for cell in cells):
                continue
            if number == 1 and time_in(cells[0])[0] is None and cells[0].strip().lower() in {*_TIMES, "date"}:
                continue
            yield number, cells[0], " ".join(cells[1:])
    except csv.Error as problem:
        raise DataError(f"{path} is no CSV ({problem}); expected lines of a time and a text") from problem


def _of_json(path: Path, text: str) -> Iterator[tuple[int, str, str]]:
    try:
        whole: Any = json.loads(text)
        records = whole.get("items", [whole]) if isinstance(whole, dict) else whole
        numbered = list(enumerate(records, start=1))
    except (ValueError, RecursionError, TypeError):
        numbered = []
        for number, line in enumerate(text.splitlines(), start=1):
            if line.strip():
                try:
                    numbered.append((number, json.loads(line)))
                except (ValueError, RecursionError) as problem:
                    raise DataError(
                        f"{path}:{number}: no JSON ({problem}); expected time and text"
                    ) from problem
    for number, record in numbered:
        if not isinstance(record, dict):
            raise DataError(f"{path}:{number}: {str(record)[:60]!r}; expected an object with time and text")
        at = next((str(record[name]) for name in _TIMES if record.get(name)), "")
        about = record.get("involvedObject") or record.get("regarding") or {}
        who = f"{about.get('kind', '')} {about.get('name', '')}".strip() if isinstance(about, dict) else ""
        what = next((str(record[name]) for name in _TEXTS if record.get(name)), "")
        yield number, at, " ".join(part for part in (str(record.get("reason") or ""), who, what) if part)


def set_beside_rebalances(result: Selected, happenings: Sequence[Happening]) -> None:
    """Say in the causes of rebalances what happened shortly before them."""
    of_groups = [one for row in result.rows("groups") for one in row["rebalances"] or ()]
    for row in {id(row): row for row in (*result.rows("rebalances"), *of_groups)}.values():
        if said := beside(row["start_ms"], happenings):
            row["cause"] = f"{row['cause']}; {said}"


def set_beside_findings(result: Selected, happenings: Sequence[Happening]) -> None:
    """Say beside findings what happened shortly before them."""
    of_groups = [one for row in result.rows("groups") for one in row["findings"] or ()]
    for row in {id(row): row for row in (*result.rows("findings"), *of_groups)}.values():
        if said := beside(row["at_ms"], happenings):
            row["last_words"] = f"{row['last_words']}; {said}" if row.get("last_words") else said


def beside(at_ms: int | None, happenings: Sequence[Happening]) -> str | None:
    """The event nearest before a moment, in words; None where none is near."""
    near = [
        one for one in happenings if at_ms is not None and at_ms - BEFORE_MS <= one.at_ms <= at_ms + _AFTER_MS
    ]
    if not near or at_ms is None:
        return None
    one = near[-1]
    apart = (at_ms - one.at_ms) / 1000
    when = f"{apart:.1f} s before it" if apart >= 0 else f"{-apart:.1f} s after it"
    return f"{when}: {one.text}"
