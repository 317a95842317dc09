"""What reaches the terminal: text alone. Control characters of names are shown, and no encoding fails."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

_QUIET_S = 2
"""A command that is done sooner says nothing of its work."""
_MOST_TOLD = 1_200
"""Letters of an error: a value of a megabyte is told by its beginning and the sentence's end."""
_BIDI = (0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A))
_SHOWN = {
    code: f"\\u{code:04x}"
    for code in (*(code for code in range(0x20) if code not in {0x09, 0x0A}), *range(0x7F, 0xA0), *_BIDI)
}
_ASCII = str.maketrans({"–": "-", "—": "-", "−": "-", "·": "*", "…": "...", "→": "->", "×": "x", "’": "'"})


def shown(text: str) -> str:
    r"""Text with its control characters written as ``\u001b``, line ends and tabs left as they are.

    >>> shown("a\x1b[31mb")
    'a\\u001b[31mb'
    """
    return text.translate(_SHOWN)


class PlainOutput:
    """A stream that takes any text: control characters are shown, what its encoding lacks is replaced."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write text as it can be shown; returns how many characters were given."""
        self._stream.write(encodable(shown(text), getattr(self._stream, "encoding", None)))
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
        line = encodable(shown(short), getattr(sys.stderr, "encoding", None))
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
