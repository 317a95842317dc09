"""Standard input and named pipes as files: they can be read once only, and a look asks for them several times."""

from __future__ import annotations

import os
import select
import sys
import threading
import time
from functools import cache
from itertools import count
from typing import TYPE_CHECKING, NamedTuple, Self, cast

from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import scratch_folder

if TYPE_CHECKING:
    import io
    from pathlib import Path

#: What the path of standard input is called, and what it is called in reports.
STANDARD_INPUT, STANDARD_INPUT_NAME = "-", "standard input"

_CHUNK = 1 << 20

#: How long a pipe may fill before the terminal hears of it, and how often it does then.
_SHOWN_AFTER_S, _EVERY_S = 2.0, 0.2

#: Whoever writes into a named pipe opens it within this time.
_WRITER_S = 3.0


@cache
def standard_input() -> Path:
    """What stands on standard input, as a file; Ctrl-C ends it early."""
    return _filled(
        cast("io.BufferedReader", sys.stdin.buffer), scratch() / "standard-input.log", STANDARD_INPUT_NAME
    )


def standard_input_ended_early() -> bool:
    """Whether Ctrl-C ended the reading of standard input, or of a named pipe."""
    return bool(_ENDED_EARLY)


def named_pipe(path: Path) -> Path:
    """What comes out of a named pipe, as a file; once, unless more is written later; ``DataError`` without a writer."""
    status = path.stat()
    known = _PIPES.get((status.st_dev, status.st_ino))
    if known is not None and not _more(known.opened):
        return known.copy
    target = scratch() / f"pipe-{next(_NUMBERS)}.log"
    if known is None:
        with open_pipe(path) as stream:
            known = _Pipe(os.dup(stream.fileno()), target)
            _filled(stream, target, str(path))
    else:
        with os.fdopen(os.dup(known.opened), "rb") as stream:
            _filled(stream, target, str(path))
    _PIPES[status.st_dev, status.st_ino] = _Pipe(known.opened, target)
    return target


class _Pipe(NamedTuple):
    """A named pipe that was read: it stays open, so that what is written later waits in it, and its copy."""

    opened: int
    copy: Path


def _more(opened: int) -> bool:
    """Whether records wait in an open pipe, or somebody writes into it."""
    poll = select.poll()
    poll.register(opened, select.POLLIN)
    events = dict(poll.poll(0)).get(opened, 0)
    return bool(events & select.POLLIN) or not events & select.POLLHUP


def open_pipe(path: Path) -> io.BufferedReader:
    """Open a named pipe that somebody writes into; ``DataError`` when nobody does within some seconds."""
    opened: list[io.BufferedReader] = []
    waiting = threading.Thread(target=lambda: opened.append(path.open("rb")), daemon=True)
    waiting.start()
    waiting.join(_WRITER_S)
    if waiting.is_alive():
        # Being a writer for a moment sets the waiting thread free.
        os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
        waiting.join()
        for stream in opened:
            stream.close()
        raise DataError(
            f"{path} is a pipe that nobody writes into; expected files, folders, a pipe that a command fills, or -"
        )
    if not opened:
        raise DataError(f"{path} cannot be read; expected a pipe that a command fills")
    return opened[0]


def _filled(stream: io.BufferedReader, target: Path, name: str) -> Path:
    """Copy a pipe to a file; from two seconds on, a terminal is told how much has come."""
    with target.open("wb") as out, Filling(name) as filling:
        try:
            while chunk := stream.read1(_CHUNK):
                out.write(chunk)
                filling.come_to(out.tell())
        except KeyboardInterrupt:
            _ENDED_EARLY.append(target)
            sys.stderr.write("interrupted: what was read so far is told\n")
    return target


class Filling:
    """Tells a terminal, from two seconds on, how many bytes of something have come, and of how many at most."""

    def __init__(self, name: str) -> None:
        self._name, self._begun_s, self._told_s = name, time.monotonic(), 0.0
        self._terminal = sys.stderr is not None and sys.stderr.isatty()

    def come_to(self, size: int, most: int | None = None) -> None:
        """So many bytes are there."""
        now_s = time.monotonic()
        if self._terminal and now_s - self._begun_s >= _SHOWN_AFTER_S and now_s - self._told_s >= _EVERY_S:
            self._told_s = now_s
            bound = "" if most is None else f" of at most {most / 1e6:,.0f} MB"
            sys.stderr.write(f"\r\x1b[K{self._name}: {size / 1e6:,.1f} MB{bound} so far")
            sys.stderr.flush()

    def __enter__(self) -> Self:
        """Begin."""
        return self

    def __exit__(self, *_: object) -> None:
        """Take the words away."""
        if self._told_s:
            sys.stderr.write("\r\x1b[K")


@cache
def scratch() -> Path:
    """A folder that goes with the process, killed or not."""
    return scratch_folder("logs")


_ENDED_EARLY: list[Path] = []

#: Named pipes that were read, by device and inode, and the numbers of their copies.
_PIPES: dict[tuple[int, int], _Pipe] = {}
_NUMBERS = count()
