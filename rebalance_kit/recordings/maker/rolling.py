"""Several files written side by side, rotated and packed as they grow, in place under their names only when all are done."""

from __future__ import annotations

import gzip
import io
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import IO, Self, cast

from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.scenario.actions import open_faults
from rebalance_kit.simulation.scenario.expansion import expand
from rebalance_kit.simulation.scenario.scenario import Action, Scenario

_BEGINS_AN_EVENT = frozenset("[{%0123456789")
_LEVEL = 5


class _Stream:
    """One process's log: the part that is being written, and those that are full."""

    def __init__(self, target: Path, packed: bool) -> None:
        self.target, self.packed = target, packed
        self.full: list[Path] = []
        self.lines = 0
        self.out: IO[bytes] = self._open()

    @property
    def part(self) -> Path:
        """Where the text goes until everything is written."""
        return self.target.with_name(f".{self.target.name}.part{len(self.full)}")

    def _open(self) -> IO[bytes]:
        raw = self.part.open("wb")
        return cast("IO[bytes]", _Packed(raw)) if self.packed else raw

    def next(self) -> None:
        """Begin the next file."""
        self.out.close()
        self.full.append(self.part)
        self.lines = 0
        self.out = self._open()

    def finish(self) -> list[Path]:
        """Close, rename, and return the files, the oldest first."""
        self.out.close()
        parts = [*self.full, self.part]
        ending = ".gz" if self.packed else ""
        names = [f"{self.target.name}.{len(parts) - 1 - place}{ending}" for place in range(len(parts) - 1)]
        final = [self.target.with_name(name) for name in [*names, self.target.name + ending]]
        for part, name in zip(parts, final, strict=True):
            os.replace(part, name)
        return final

    def drop(self) -> None:
        """Remove what was begun."""
        self.out.close()
        for part in [*self.full, self.part]:
            part.unlink(missing_ok=True)


class _Packed(gzip.GzipFile):
    """A gzip stream without a time in its head, that closes its file too."""

    def __init__(self, raw: io.BufferedWriter) -> None:
        super().__init__(fileobj=raw, mode="wb", compresslevel=_LEVEL, mtime=0, filename="")
        self._raw = raw

    def close(self) -> None:
        super().close()
        self._raw.close()


class Rolling:
    """Files of a folder, by name, and the truth's file; use it in a ``with``: on an error nothing is left.

    ``rotate`` is after how many lines a log is begun anew (at the next event), None: never. The truth is neither
    rotated nor packed.
    """

    def __init__(
        self, folder: Path, names: Iterable[str], packed: bool, rotate: int | None, truth: Path | None
    ) -> None:
        self.rotate, self.lines = rotate, 0
        self._streams = {name: _Stream(folder / name, packed) for name in names if name.endswith(".log")}
        self._truth = None if truth is None else _Stream(truth, packed=False)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            for stream in [*self._streams.values(), *([self._truth] if self._truth else [])]:
                stream.drop()

    def write(self, name: str, text: str, lines: int) -> None:
        """Append to a log; any other name is the truth's."""
        stream = self._streams.get(name)
        if stream is None:
            if self._truth is not None:
                self._truth.out.write(text.encode())
            return
        self.lines += lines
        if self.rotate is None or stream.lines + lines <= self.rotate:
            stream.lines += lines
            stream.out.write(text.encode())
            return
        self._rotated(stream, text, self.rotate)

    @staticmethod
    def _rotated(stream: _Stream, text: str, rotate: int) -> None:
        held: list[str] = []
        for line in text.splitlines(keepends=True):
            if stream.lines >= rotate and line[0] in _BEGINS_AN_EVENT:
                stream.out.write("".join(held).encode())
                held = []
                stream.next()
            held.append(line)
            stream.lines += 1
        stream.out.write("".join(held).encode())

    def finish(self) -> tuple[Path, ...]:
        """Put every file in its place and return the logs, each process's oldest first."""
        found = [path for stream in self._streams.values() for path in stream.finish()]
        if self._truth is not None:
            self._truth.finish()
        return tuple(found)


# A scenario brought to an end at which it could begin anew: everything mended, every process closed, every session over.


_QUIET_MS = 60_000
"""After the last close: longer than the default session (45 s), after which closed static members are gone too."""


def closed(scenario: Scenario, trace: Trace) -> Scenario:
    """The scenario with its open faults mended at its end, and all that still runs closed; ``trace`` is a run of it."""
    planned = expand(scenario)
    faults = open_faults(planned)
    running: set[str] = set()
    for row in trace.of("process_started", "process_ended"):
        (running.add if row.kind == "process_started" else running.discard)(row.actor)
    end = planned.end_ms
    alive = replace(faults, frozen=tuple(name for name in faults.frozen if name in running))
    recoveries = alive.recovery_actions(end)
    closing = end + (5_000 if recoveries else 0)
    closes = [Action(closing + 300 * place, "close", name) for place, name in enumerate(sorted(running))]
    last = max([closing, *(action.at_ms for action in closes)])
    sessions = [
        int(value)
        for spec in planned.members
        for key, value in spec.configs.items()
        if key == "session.timeout.ms"
    ]
    sessions += [
        int(value) for key, value in planned.broker.items() if key == "group.consumer.session.timeout.ms"
    ]
    return replace(
        planned,
        actions=(*planned.actions, *recoveries, *closes),
        end_ms=last + max([_QUIET_MS, *(one + 15_000 for one in sessions)]),
    )
