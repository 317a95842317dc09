"""The one place where every command ends: a status, and one line that says what is wrong, where, and what was expected."""

from __future__ import annotations

import argparse
import os
import platform
import shlex
import sys
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TextIO, TypeAlias

from rebalance_kit.cli.terminal import plain, silence, tell
from rebalance_kit.model import __version__
from rebalance_kit.model.errors import RebalanceKitError, missing_package

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
