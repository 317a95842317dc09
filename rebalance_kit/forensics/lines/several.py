"""Reads with several processes: this one cuts files into pieces of whole lines, others read them, the events come back in order.

A worker is this Python with this module: pieces come on its standard input and events leave on its standard output, and it
ends when its input does.  What a worker cannot do (it was killed, or could not be started) this process does itself.
"""

from __future__ import annotations

import marshal
import subprocess
import sys
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import astuple
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Self

from rebalance_kit.forensics.event import Event
from rebalance_kit.forensics.lines.file_reader import FileRead, FileReader, span_of
from rebalance_kit.forensics.lines.layouts import Layout, Reading
from rebalance_kit.model.collector import uncollected

if TYPE_CHECKING:
    from types import TracebackType
    from typing import IO

#: So many pieces for each worker are under way at most: enough to read on while this process folds what it has.
_AHEAD = 48

#: While this process folds, a thread that waits for it may hand a worker its next piece after so long.
_HANDED_S = 0.000_3

_WORKER = """
import sys
sys.path[:] = sys.argv[1:]
from rebalance_kit.forensics.lines.several import work
work(sys.stdin.buffer, sys.stdout.buffer)
"""


class SeveralReaders(FileReader):
    """A reader whose lines are read by so many processes."""

    ahead = True

    def __init__(self, reading: Reading, processes: int) -> None:
        super().__init__(reading)
        self._waiting: deque[tuple[FileRead, int, bytes, Future[bytes]]] = deque()
        self._workers: SimpleQueue[subprocess.Popen[bytes] | None] = SimpleQueue()
        for _ in range(processes):
            self._workers.put(_started(reading))
        self._threads = ThreadPoolExecutor(processes)
        self._most = _AHEAD * processes

    def __enter__(self) -> Self:
        self._interval_s = sys.getswitchinterval()
        sys.setswitchinterval(_HANDED_S)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        sys.setswitchinterval(self._interval_s)
        for *_, asked in self._waiting:
            asked.cancel()
        self._threads.shutdown()
        while not self._workers.empty():
            if (worker := self._workers.get()) is not None:
                _end(worker)

    def take(self, told: FileRead, data: bytes) -> None:
        """Whole lines, which are read elsewhere; they are counted at once."""
        first, told.lines = told.lines, told.lines + data.count(b"\n") + 1
        asked = self._threads.submit(self._asked, told.run, told.name, first, data)
        self._waiting.append((told, first, data, asked))
        while len(self._waiting) > self._most:
            self._take_back()

    def settled(self, told: FileRead) -> FileRead:
        """A file that was closed, once all its lines are back."""
        while any(one is told for one, *_ in self._waiting):
            self._take_back()
        return super().settled(told)

    def _take_back(self) -> None:
        """The oldest piece, read."""
        told, first, data, asked = self._waiting.popleft()
        answer = asked.result()
        if not answer:
            part = FileRead(told.run, told.name, lines=first)
            super().take(part, data)
            told.events += part.events
            told.rejected += part.rejected
            told.parsed += part.parsed
            told.span = span_of([*(told.span or ()), *(part.span or ())])
            return
        events, rejected, parsed, span = marshal.loads(answer)
        told.events += map(Event, events)
        told.rejected += rejected
        told.parsed += parsed
        told.span = span_of([*(told.span or ()), *(span or ())])

    def _asked(self, run: str, name: str, first: int, data: bytes) -> bytes:
        """What a worker answers; nothing where it cannot."""
        worker = self._workers.get()
        answer = b""
        if worker is not None:
            try:
                assert worker.stdin is not None
                assert worker.stdout is not None
                _send(worker.stdin, marshal.dumps((run, name, first, data)))
                answer = _received(worker.stdout)
            except OSError:
                pass
            if not answer:
                _end(worker)
                worker = None
        self._workers.put(worker)
        return answer


def work(pieces: IO[bytes], answers: IO[bytes]) -> None:
    """Read pieces until there are no more."""
    layouts, year, time_zone, offsets = marshal.loads(_received(pieces))
    reader = FileReader(Reading(tuple(Layout(*one) for one in layouts), year, time_zone, offsets))
    with uncollected(), suppress(BrokenPipeError, KeyboardInterrupt):
        while piece := _received(pieces):
            run, name, first, data = marshal.loads(piece)
            told = FileRead(run, name, lines=first)
            reader.take(told, data)
            events: list[dict[str, Any]] = [event.__dict__ for event in told.events]
            _send(answers, marshal.dumps((events, told.rejected, told.parsed, told.span)))


def _started(reading: Reading) -> subprocess.Popen[bytes] | None:
    """A worker; None where none can be started."""
    command = [sys.executable, "-I", "-S", "-c", _WORKER, *sys.path]
    try:
        # A Ctrl-C of the terminal is for this process alone, which ends its workers.
        worker = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
        )
        assert worker.stdin is not None
        _send(worker.stdin, marshal.dumps(astuple(reading)))
    except OSError:
        return None
    return worker


def _end(worker: subprocess.Popen[bytes]) -> None:
    with suppress(OSError):
        worker.communicate()


def _send(stream: IO[bytes], data: bytes) -> None:
    stream.write(len(data).to_bytes(8, "little"))
    stream.write(data)
    stream.flush()


def _received(stream: IO[bytes]) -> bytes:
    """The next message; nothing at the end, or where it is cut off."""
    size = int.from_bytes(stream.read(8), "little")
    data = stream.read(size)
    return data if len(data) == size else b""
