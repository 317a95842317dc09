"""The one place where every command ends: a status, and one line that says what is wrong, where, and what was expected.

What reaches the terminal is text alone: control characters of names are shown, and no encoding fails.
"""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO, TypeAlias, cast

from rebalance_kit.model import __version__
from rebalance_kit.model.errors import RebalanceKitError, missing_package
from rebalance_kit.model.html import visible

_QUIET_S = 2
"""A command that is done sooner says nothing of its work."""
_MOST_TOLD = 1_200
"""Letters of an error: a value of a megabyte is told by its beginning and the sentence's end."""
_ASCII = str.maketrans({"–": "-", "—": "-", "−": "-", "·": "*", "…": "...", "→": "->", "×": "x", "’": "'"})


class PlainOutput:
    """A stream that takes any text: control characters are shown, what its encoding lacks is replaced."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text as it can be shown; returns how many characters were given."""
        self._stream.write(encodable(visible(text), getattr(self._stream, "encoding", None)))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write each."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def plain(stream: TextIO) -> TextIO:
    """The stream behind ``PlainOutput``."""
    return cast("TextIO", PlainOutput(stream))


def encodable(text: str, encoding: str | None) -> str:
    """Text that an encoding can hold: dashes and arrows in ASCII, all else that it lacks escaped."""
    chosen = encoding or "utf-8"
    try:
        text.encode(chosen)
    except UnicodeEncodeError:
        return text.translate(_ASCII).encode(chosen, "backslashreplace").decode(chosen)
    except LookupError:
        return text.encode("ascii", "backslashreplace").decode("ascii")
    return text


def tell(text: str) -> None:
    """A line on standard error; nothing where it is closed."""
    if sys.stderr is not None:
        whole = " ".join(text.splitlines())
        short = (
            whole if len(whole) <= _MOST_TOLD else f"{whole[: _MOST_TOLD // 2]} … {whole[-_MOST_TOLD // 2 :]}"
        )
        line = encodable(visible(short), getattr(sys.stderr, "encoding", None))
        print(line, file=sys.stderr)


@contextmanager
def working(command: str, *, once: bool) -> Iterator[None]:
    """Say on a terminal's standard error that a command works, from the second second on; ``once``, or every second."""
    stream = sys.stderr
    if stream is None or not stream.isatty():
        yield
        return
    ended, begun = threading.Event(), time.monotonic()

    def tick() -> None:
        told = ended.wait(_QUIET_S)
        while not told:
            stream.write(f"\r{command}: {time.monotonic() - begun:.0f} s (Ctrl-C ends it) ")
            stream.flush()
            told = once or ended.wait(1)
        stream.write("\r\x1b[K" * (time.monotonic() - begun > _QUIET_S))
        stream.flush()

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def silence(stream: TextIO | None) -> None:
    """Point a stream that cannot be written to nowhere, so that the end of the process does not fail on it."""
    try:
        if stream is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except (OSError, ValueError):
        return


INPUT, DEFECT, INTERRUPTED, CLOSED = 2, 70, 130, 0
"""Statuses: input that cannot be used, a defect of the kit, Ctrl-C, a reader that went away."""
_MOST_LETTERS = 300
"""Of a path that is told."""


def through(run: Callable[[TextIO], int], out: TextIO | None, *, debug: bool = False) -> int:
    """Run a command and return its status; with ``debug`` an error keeps its traceback."""
    stream = out if out is not None else sys.stdout
    if stream is None:
        tell("rebalance-kit: standard output is closed; expected a place to print to, for instance /dev/null")
        return INPUT
    if sys.stdin is None:
        sys.stdin = Path(os.devnull).open(encoding="utf-8")  # noqa: SIM115 - as long as the process
    try:
        status = run(plain(stream))
        stream.flush()
    except BrokenPipeError:
        silence(None if out is not None else stream)
        return CLOSED
    except KeyboardInterrupt:
        tell("rebalance-kit: interrupted; each file written so far is whole, later ones are missing")
        return INTERRUPTED
    except Exception as error:
        if debug:
            raise
        if isinstance(error, OSError):
            silence(None if out is not None else _unwritable(stream))
        words = told(error)
        tell(f"rebalance-kit: {_defect(error) if words is None else words}")
        return DEFECT if words is None else INPUT
    return status


def told(error: Exception) -> str | None:
    """An error in one line: what is wrong, where, what was expected; None for one that no input should cause."""
    if isinstance(error, RebalanceKitError):
        return str(error)
    if isinstance(error, ImportError) and (problem := missing_package(error)) is not None:
        return str(problem)
    if isinstance(error, OSError):
        where = "standard output or a file" if error.filename is None else str(error.filename)
        where = where if len(where) <= _MOST_LETTERS else f"{where[:_MOST_LETTERS]}…"
        return f"{where}: {error.strerror or error}; expected a place that can be read and written"
    if isinstance(error, MemoryError):
        return "the memory is not enough for this input; expected a smaller one"
    if isinstance(error, RecursionError):
        return "the input is nested too deeply; expected a few levels"
    if isinstance(error, UnicodeEncodeError) and any(
        "\ud800" <= letter <= "\udfff" for letter in error.object
    ):
        return f"{error.object[:_MOST_LETTERS]!a} holds bytes that are no UTF-8; expected a path or a text in UTF-8"
    if isinstance(error, ValueError) and "null byte" in str(error):
        return "a path holds a NUL character; expected the name of a file or a folder"
    if isinstance(error, UnicodeError):
        return f"text that is no Unicode ({error}); expected UTF-8"
    return None


def _defect(error: Exception) -> str:
    """The line about a defect of the kit, with the file that says where it happened."""
    words = f"{type(error).__name__}: {error}"
    words = words if len(words) <= _MOST_LETTERS else f"{words[:_MOST_LETTERS]}…"
    about = f"rebalance-kit {__version__}, Python {platform.python_version()}, {platform.platform()}"
    lines = "".join(traceback.format_exception(error))
    try:
        handle, file = tempfile.mkstemp(prefix="rebalance-kit-defect-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as report:
            report.write(f"{about}\ncommand: {shlex.join(sys.argv[1:])}\n\n{lines}")
    except (OSError, ValueError):
        return f"a defect of the kit ({words}); `rebalance-kit --debug` shows where"
    return f"a defect of the kit ({words}); {file} says where: please attach it to an issue (it names your files)"


def add_debug(parser: argparse.ArgumentParser) -> None:
    """Add ``--debug``."""
    parser.add_argument("--debug", action="store_true", help="show the traceback of an error")


def _unwritable(stream: TextIO) -> TextIO | None:
    """The stream when it cannot be flushed, else None."""
    try:
        stream.flush()
    except OSError:
        return stream
    return None


Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"  # noqa: SLF001 - argparse offers no public name
