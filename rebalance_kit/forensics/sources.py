"""Where a live look reads: a folder or file that grows, standard input, the output of a command."""

from __future__ import annotations

import os
import queue
import re
import shlex
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING, Protocol

from rebalance_kit.forensics.lines.files import collect
from rebalance_kit.forensics.lines.pipes import STANDARD_INPUT, STANDARD_INPUT_NAME, open_pipe
from rebalance_kit.model.errors import ConfigError, DataError
from rebalance_kit.model.files import ended_along

if TYPE_CHECKING:
    import io
    from collections.abc import Iterator, Sequence

_CHUNK = 1 << 18

#: So many pieces of a pipe are held, each of so many bytes at most; whoever writes faster than they are read waits.
_PIECES, _PIPED = 256, 1 << 16

#: What the names of rotated files end in.
_ROTATED = re.compile(r"\.\d+$|-\d{4}-?\d\d-?\d\d(-\d+)?$")


class Source(Protocol):
    """Something that says more and more."""

    @property
    def ended(self) -> bool:
        """Whether it will never say more."""
        ...

    def pieces(self) -> Iterator[tuple[str, bytes]]:
        """What it has said since: the name of the file, and a piece of it."""
        ...


class Growing:
    """A file, or the logs of a folder, known by their inodes: a file that is renamed goes on where it was.

    One that becomes shorter is read from its beginning; copies under the name of a rotated file are none of its own.
    """

    def __init__(self, path: Path) -> None:
        if not path.exists():
            raise DataError(f"no such file or folder: {path}; expected logs that grow")
        self._path = path
        self._read: dict[tuple[int, int], int] = {}
        self._known = False

    @property
    def ended(self) -> bool:
        """A file may always grow."""
        return False

    def pieces(self) -> Iterator[tuple[str, bytes]]:
        """The new bytes of each file."""
        for _, name, path in collect([self._path])[0] if self._path.exists() else ():
            if path.suffix != ".gz":
                try:
                    with path.open("rb") as stream:
                        yield from self._new(name, stream)
                except FileNotFoundError:
                    continue  # it was rotated away between the listing and now
        self._known = True

    def _new(self, name: str, stream: io.BufferedReader) -> Iterator[tuple[str, bytes]]:
        status = os.fstat(stream.fileno())
        key = status.st_dev, status.st_ino
        if self._known and key not in self._read and _ROTATED.search(name):
            self._read[key] = status.st_size
        place = self._read.get(key, 0)
        stream.seek(place if place <= status.st_size else 0)
        while piece := stream.read(_CHUNK):
            yield name, piece
        self._read[key] = stream.tell()


class Pipe:
    """Standard input or a command: read by a thread, because a pipe may be silent."""

    def __init__(self, name: str, stream: IO[bytes], process: subprocess.Popen[bytes] | None = None) -> None:
        self._name, self._process = name, process
        self._pieces: queue.Queue[bytes] = queue.Queue(_PIECES)
        self._closed = threading.Event()
        self._along = ExitStack()
        if process is not None:
            self._along.enter_context(ended_along(process.pid))  # a silent one would never notice
        threading.Thread(target=self._fill, args=(stream,), daemon=True).start()

    def _fill(self, stream: IO[bytes]) -> None:
        while piece := os.read(stream.fileno(), _PIPED):
            self._pieces.put(piece)
        if self._process is not None:
            stream.close()
        self._closed.set()

    @property
    def ended(self) -> bool:
        """Whether the other side has closed the pipe and all of it is read."""
        return self._closed.is_set() and self._pieces.empty()

    def pieces(self) -> Iterator[tuple[str, bytes]]:
        """What has come until now."""
        for _ in range(self._pieces.qsize()):
            yield self._name, self._pieces.get()

    def close(self) -> None:
        """End the command."""
        if self._process is not None:
            self._along.close()
            if self._process.poll() is None:
                self._process.terminate()
            self._process.wait()


def sources(paths: Sequence[str | os.PathLike[str]], commands: Sequence[str]) -> list[Growing | Pipe]:
    """The sources of ``paths`` and of ``name=command`` texts; ``ConfigError`` and ``DataError`` name what is wrong."""
    found: list[Growing | Pipe] = []
    for path in paths:
        if os.fspath(path) == STANDARD_INPUT:
            found.append(Pipe(STANDARD_INPUT_NAME, sys.stdin.buffer))
        elif Path(path).is_fifo():
            found.append(Pipe(os.fspath(path), open_pipe(Path(path))))
        else:
            found.append(Growing(Path(path)))
    asked = [_command(text) for text in commands]
    twice = sorted({name for name, _ in asked if [one for one, _ in asked].count(name) > 1})
    if twice:
        raise ConfigError(f"--from names {twice[0]!r} twice; expected a name of its own for each command")
    return found + [_started(name, words) for name, words in asked]


def _command(text: str) -> tuple[str, list[str]]:
    name, equals, command = text.partition("=")
    try:
        words = shlex.split(command, posix=os.name == "posix")  # a backslash of Windows stands for itself
    except ValueError as problem:
        raise ConfigError(f"--from {text!r}: {problem}; expected NAME=COMMAND") from problem
    if not equals or not name.strip() or not words:
        raise ConfigError(
            f"--from {text!r}; expected NAME=COMMAND, for instance broker-0='kubectl logs -f kafka-0'"
        )
    return name.strip(), words


def _started(name: str, words: list[str]) -> Pipe:
    try:
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    except OSError as problem:
        raise DataError(
            f"--from {name}: {words[0]} cannot be started: {problem.strerror}; expected a command that prints logs"
        ) from problem
    assert process.stdout is not None
    return Pipe(name, process.stdout, process)
