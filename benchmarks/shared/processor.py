"""Processor time of a process and of all that it started, looked up while they run: on a shared machine the wall clock tells of others."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Self

EVERY_S = 0.2
_TICKS = os.sysconf("SC_CLK_TCK")


class Processor:
    """A context manager; ``seconds`` holds the processor time of this process and its descendants within the block."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._seen: dict[int, float] = {}
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Self:
        self._look()
        self._before = dict(self._seen)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._stop.set()
        self._thread.join()
        self._look()
        self.seconds = sum(used - self._before.get(pid, 0.0) for pid, used in self._seen.items())

    def _watch(self) -> None:
        while not self._stop.wait(EVERY_S):
            self._look()

    def _look(self) -> None:
        parents, used = {}, {}
        for path in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = path.read_text().rpartition(")")[2].split()
            except OSError:
                continue  # it ended meanwhile
            pid = int(path.parent.name)
            parents[pid], used[pid] = int(fields[1]), (int(fields[11]) + int(fields[12])) / _TICKS
        ours = {os.getpid()}
        while more := {pid for pid, parent in parents.items() if parent in ours} - ours:
            ours |= more
        self._seen |= {pid: used[pid] for pid in ours if pid in used}
