"""A process behind a wall, and the words that pass: orders in, answers out, each a line of JSON through a pipe of its own.

What comes out was written by whoever answered, so nothing of it is believed: it is read as JSON, up to a bound, and judged outside.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Self

from rebalance_kit.exercises.wall import kinds
from rebalance_kit.model.files import remove_scratch, scratch_folder

MOST_ANSWERED = 64 << 20
MOST_PRINTED = 20_000
_PIECE = 1 << 16
_MOST_PIECES = 64


class Silent(Exception):
    """No word came within the time."""


class Unreadable(Exception):
    """What came is no line of JSON that holds an object, or has no end."""


def read_answer(line: bytes) -> Mapping[str, Any]:
    """An answer as its process wrote it; raises ``Unreadable`` for anything but an object of JSON."""
    try:
        answer = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Unreadable from error
    if not isinstance(answer, dict):
        raise Unreadable
    return answer


class Walled:
    """A running process; ``close`` ends it and all that it started. ``printed`` is what it wrote to standard output, cut."""

    def __init__(self, need: kinds.Need, kind: str | None = None) -> None:
        self._folder = scratch_folder("wall")
        self._folder.chmod(0o711)
        self._printed = b""
        self._cut = False
        self._answered = bytearray()
        reply, tell_reply = os.pipe()
        orders, self._orders = os.pipe()
        printed, tell_printed = os.pipe()
        try:
            self._process = subprocess.Popen(
                kinds.command_behind(kind or kinds.best(), need, self._folder, tell_reply),
                env={"PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8"}, stdin=orders, stdout=tell_printed, stderr=subprocess.DEVNULL, pass_fds=(tell_reply,), start_new_session=True,
            )  # fmt: skip
        finally:
            for end in (tell_reply, orders, tell_printed):
                os.close(end)
        self._reply, self._out = reply, printed
        os.set_blocking(self._orders, False)

    def send(self, order: Mapping[str, Any], limit_s: float = 30.0) -> None:
        """Hand an order over; one that is not taken in time, or by nobody, is lost: the answer will be missing."""
        left = memoryview(json.dumps(order).encode() + b"\n")
        until = time.monotonic() + limit_s
        while left and (wait := until - time.monotonic()) > 0:
            _, writable, _ = select.select([], [self._orders], [], wait)
            if not writable:
                return
            try:
                left = left[os.write(self._orders, left[:_PIECE]) :]
            except BlockingIOError:
                continue
            except OSError:
                return

    def receive(self, limit_s: float) -> Mapping[str, Any] | None:
        """The next answer; None where the process has ended without one. Raises ``Silent`` or ``Unreadable``."""
        until = time.monotonic() + limit_s
        ends, looked = {self._reply, self._out}, 0
        while (end_of_line := self._answered.find(b"\n", looked)) < 0:
            looked = len(self._answered)
            if looked > MOST_ANSWERED:
                raise Unreadable
            ready, _, _ = select.select(list(ends), [], [], max(until - time.monotonic(), 0))
            if not ready:
                raise Silent
            for end in ready:
                piece = os.read(end, _PIECE)
                if end == self._out:
                    self._note(piece)
                    ends -= set() if piece else {end}
                elif piece:
                    self._answered += piece
                else:
                    return None
        line = bytes(self._answered[:end_of_line])
        del self._answered[: end_of_line + 1]
        return read_answer(line)

    def ends(self) -> tuple[int, int]:
        """The ends of the pipes to and from the process, for another process of ours that is to speak with it from now on."""
        os.set_blocking(self._orders, True)
        return self._orders, self._reply

    def wait(self, limit_s: float) -> int | None:
        """The status of the process, as a shell tells it; None while it goes on."""
        try:
            status = self._process.wait(limit_s)
        except subprocess.TimeoutExpired:
            return None
        return 128 - status if status < 0 else status

    def printed(self) -> str:
        """What was written to standard output so far and not asked for before, cut to a length that can be read."""
        with suppress(OSError):
            for _ in range(_MOST_PIECES):
                if not select.select([self._out], [], [], 0)[0] or not (piece := os.read(self._out, _PIECE)):
                    break
                self._note(piece)
        return self._told()

    def _told(self) -> str:
        text = self._printed.decode("utf-8", "replace").strip()
        cut, self._printed, self._cut = self._cut, b"", False
        return f"{text}\n... (cut after {MOST_PRINTED:,} bytes)" if cut else text

    def _note(self, piece: bytes) -> None:
        self._cut = self._cut or len(self._printed) + len(piece) > MOST_PRINTED
        self._printed = (self._printed + piece)[:MOST_PRINTED]

    def close(self) -> None:
        """End the process and whatever it started; behind a wall of its own everything ends with it."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for end in (self._reply, self._out, self._orders):
            with suppress(OSError):
                os.close(end)
        remove_scratch(self._folder)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
