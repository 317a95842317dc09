"""A recorded run that is under way, read on as its files grow: what a lab shows of a live group."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rebalance_kit.live.members import TRUTH
from rebalance_kit.model.errors import DataError
from rebalance_kit.recordings.folder import Line, RecordedRun, is_row, is_step, parse_line, read_run

THIN_MS = 300
"""Of polls that give a member the same partitions the first and the last in so long are kept; a gap is one of more than 400 ms."""
MOST_BYTES = 4 << 20
"""Of one file at one look; the rest is read at the next."""


@dataclass(slots=True)
class _Tail:
    """A file that grows; half a line at its end waits for the other half."""

    file: Path
    read: int = 0
    half: bytes = b""

    def lines(self) -> list[str]:
        """The lines that are new."""
        try:
            with self.file.open("rb") as held:
                held.seek(self.read)
                new = held.read(MOST_BYTES)
        except FileNotFoundError:
            return []
        self.read += len(new)
        *whole, self.half = (self.half + new).split(b"\n")
        return [line.decode("utf-8", "replace") for line in whole]


@dataclass(slots=True)
class _Log:
    """The events of a log that grows; what is no line of a known layout goes on with the one before."""

    tail: _Tail
    events: list[Line] = field(default_factory=list)

    def look(self) -> bool:
        """Read on; whether an event is new."""
        before = len(self.events)
        for text in self.tail.lines():
            line = parse_line(text)
            if line is not None:
                self.events.append(line)
            elif self.events:
                last = self.events[-1]
                self.events[-1] = Line(last.t, last.level, f"{last.text}\n{text}")
        return len(self.events) > before


class Following:
    """Follows the folder of a run (``live.Group``'s, or that of ``record`` in another process); ``broker_log`` is elsewhere where given.

    Raises ``DataError`` for what is no folder.
    """

    def __init__(self, folder: str | Path, broker_log: Path | None = None) -> None:
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise DataError(f"{self.folder} is no folder; expected that of a run under way")
        self._broker = _Log(_Tail(broker_log or self.folder / "broker.log"))
        self._members: dict[str, _Log] = {}
        self._truth = _Tail(self.folder / TRUTH)
        self._rows: list[Mapping[str, Any]] = []
        self._polls: dict[str, tuple[Mapping[str, Any] | None, Mapping[str, Any] | None]] = {}
        self._head: Mapping[str, Any] = {}
        self._mark = (0, 0)

    def look(self) -> bool:
        """Read what is new; whether anything but further records is."""
        news = self._read_head()
        news |= self._broker.look()
        for file in self.folder.glob("*.log"):
            name = file.stem
            if name != "broker" and name not in self._members:
                self._members[name] = _Log(_Tail(file))
        for log in self._members.values():
            log.look()
        for text in self._truth.lines():
            try:
                row = json.loads(text)
            except ValueError:
                continue
            if is_row(row):
                news |= self._take(row)
        return news

    def _take(self, row: Mapping[str, Any]) -> bool:
        """Keep a row; whether it is anything but a poll that gives a member what the one before gave."""
        by = str(row["by"])
        if row["kind"] != "records":
            self._rows.append(row)
            return True
        kept, last = self._polls.get(by, (None, None))
        if kept and row["t"] - kept["t"] < THIN_MS and row["records"].keys() == kept["records"].keys():
            self._polls[by] = (kept, row)
            return False
        if last:
            self._rows.append(last)
        self._rows.append(row)
        self._polls[by] = (row, None)
        return False

    def run(self) -> RecordedRun | None:
        """The run up to now; None before its first step. The record's own end is its end, once it is there."""
        if (self.folder / f"{TRUTH}.gz").exists():  # it is over, and packed
            return read_run(self.folder)
        steps = tuple(step for step in self._head.get("steps", ()) if is_step(step))
        if not steps:
            return None
        if not self.over:
            steps = (*steps, {"t": int(time.time() * 1000), "do": "admin", "line": "stop"})
        rows = [*self._rows, *(last for _, last in self._polls.values() if last)]
        return RecordedRun(
            self.folder.name,
            str(self._head.get("scenario", "")),
            str(self._head.get("protocol", "")),
            str(self._head.get("kafka", "")),
            {str(key): str(value) for key, value in self._head.get("broker", {}).items()},
            steps,
            tuple(self._broker.events),
            {name: tuple(log.events) for name, log in sorted(self._members.items())},
            tuple(sorted(rows, key=lambda row: int(row["t"]))),
        )

    @property
    def over(self) -> bool:
        """Whether the run was stopped."""
        return any(
            step.get("line") == "stop" and step["do"] == "admin" for step in self._head.get("steps", ())
        )

    def _read_head(self) -> bool:
        """Read run.json where it was written anew; it is replaced as a whole."""
        file = self.folder / "run.json"
        try:
            stat = file.stat()
            mark = (stat.st_mtime_ns, stat.st_size)
            if mark == self._mark:
                return False
            head = json.loads(file.read_text("utf-8"))
        except (FileNotFoundError, ValueError):
            return False
        self._head, self._mark = head, mark
        return True
