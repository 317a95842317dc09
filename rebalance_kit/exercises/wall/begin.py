"""Which process an answer gets: one behind the best wall of this machine, or a watched one."""

from __future__ import annotations

import json
import os
import queue
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, Any

from rebalance_kit.exercises.child.attempt import no_answer_within
from rebalance_kit.exercises.child.lock import STANDARD
from rebalance_kit.exercises.wall import kinds
from rebalance_kit.exercises.wall.kinds import Need
from rebalance_kit.exercises.wall.process import MOST_ANSWERED, Silent, Unreadable, Walled, read_answer
from rebalance_kit.model.errors import EnvironmentProblem
from rebalance_kit.model.files import remove_scratch, scratch_folder

# A process without a wall, for a machine whose pipes cannot be waited for together (Windows): threads read, and the same words pass.
#
# Orders go in by standard input, answers come out by standard output, and what the answer prints by standard error.


class Watched(Walled):
    """A running process; ``close`` ends it and all that it started."""

    def __init__(self, need: kinds.Need) -> None:
        if need.starts_processes:
            raise EnvironmentProblem(
                "a PySpark answer is checked by processes that share pipes, which this system has not; expected Linux, macOS, or WSL on Windows"
            )
        self._folder = scratch_folder("wall")
        self._printed = b""
        self._cut = False
        kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT") if name in os.environ}
        self._process = subprocess.Popen(
            kinds.command_behind(kinds.NONE, need, self._folder, STANDARD),
            env=kept, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self._lines: queue.Queue[bytes] = queue.Queue()
        self._threads = [
            threading.Thread(target=work, args=(stream,), daemon=True)
            for work, stream in ((self._hear, self._process.stdout), (self._overhear, self._process.stderr))
        ]
        for thread in self._threads:
            thread.start()

    def _hear(self, stream: IO[bytes]) -> None:
        while line := stream.readline(MOST_ANSWERED):
            self._lines.put(line)
        self._lines.put(b"")

    def _overhear(self, stream: IO[bytes]) -> None:
        while piece := os.read(stream.fileno(), 1 << 16):
            self._note(piece)

    def send(self, order: Mapping[str, Any], limit_s: float = 30.0) -> None:
        """Hand an order over; one that is not taken in time, or by nobody, is lost."""
        stream = self._process.stdin

        def write() -> None:
            with suppress(OSError, ValueError):
                if stream is not None:
                    stream.write(json.dumps(order).encode() + b"\n")
                    stream.flush()

        writer = threading.Thread(target=write, daemon=True)
        writer.start()
        writer.join(limit_s)

    def receive(self, limit_s: float) -> Mapping[str, Any] | None:
        """The next answer; None where the process has ended without one. Raises ``Silent`` or ``Unreadable``."""
        try:
            line = self._lines.get(timeout=limit_s)
        except queue.Empty:
            raise Silent from None
        if not line:
            return None
        if not line.endswith(b"\n"):
            raise Unreadable
        return read_answer(line)

    def ends(self) -> tuple[int, int]:
        """Raises ``EnvironmentProblem``: no other process can take these pipes over."""
        raise EnvironmentProblem(
            "callbacks of real clients are called through pipes of another process, which this system has not; expected Linux, macOS, or WSL on Windows"
        )

    def printed(self) -> str:
        """What was printed so far and not asked for before, cut to a length that can be read."""
        if self._process.poll() is not None:
            self._threads[1].join(1.0)
        return self._told()

    def close(self) -> None:
        """End the process and whatever it started."""
        if sys.platform == "win32":
            command = ["taskkill", "/T", "/F", "/PID", str(self._process.pid)]
            with suppress(OSError):
                subprocess.run(command, capture_output=True, check=False)
        self._process.kill()
        self._process.wait()
        for thread, stream in zip(self._threads, (self._process.stdout, self._process.stderr), strict=True):
            thread.join(1.0)
            if stream is not None and not thread.is_alive():
                stream.close()
        with suppress(OSError, ValueError):
            if self._process.stdin is not None:
                self._process.stdin.close()
        remove_scratch(self._folder)


def begun(need: kinds.Need) -> Walled:
    """Start what is needed behind the best wall; where pipes cannot be waited for together (Windows), a watched process."""
    return Walled(need) if hasattr(select, "poll") else Watched(need)


# One question to a process behind a wall: an order in, a reply or the words for there being none out.


START_S = 120.0
"""Seconds until the process stands ready; it needs less than two."""
GRACE_S = 5.0
"""Seconds that a process gets beyond its limit to say where it was."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What a process behind a wall replied, or the problem in words; and what it printed."""

    answered: Mapping[str, Any]
    problem: str | None = None
    printed: str = ""


NOTHING: Mapping[str, Any] = {}


def ask(need: Need, order: Mapping[str, Any], limit_s: float) -> Reply:
    """Put a process behind a wall, hand it the order, wait for its reply or the end of its time, and leave none of it behind."""
    with begun(need) as process:
        try:
            if process.receive(START_S) is None:
                return Reply(NOTHING, NO_START)
        except (Silent, Unreadable):
            return Reply(NOTHING, NO_START)
        process.send(order)
        return replied(process, limit_s)


def replied(process: Walled, limit_s: float) -> Reply:
    """The next reply, or the words for there being none."""
    try:
        answered = process.receive(limit_s + GRACE_S)
    except Silent:
        return Reply(NOTHING, no_answer_within(limit_s), process.printed())
    except Unreadable:
        return Reply(NOTHING, UNREADABLE, process.printed())
    if answered is None:
        return Reply(NOTHING, ended(process.wait(GRACE_S), limit_s), process.printed())
    problem = answered.get("problem")
    return Reply(answered, problem if isinstance(problem, str) else None, process.printed())


NO_START = "the process for your answer did not start. `rebalance-kit doctor` says what is missing."


def ended(status: int | None, limit_s: float) -> str:
    """What it means that a process ended with that status (128 and more: a signal) and without a reply."""
    if status is None:
        return no_answer_within(limit_s)
    if status == 128 + getattr(signal, "SIGXCPU", 128):
        return f"your code used more CPU time than {limit_s:g} s of waiting allow. Is there a loop without an end?"
    if status > 128 and status - 128 in {number.value for number in signal.Signals}:
        name = signal.Signals(status - 128).name
        return f"your code ended its process ({name}) before it gave an answer: out of memory, or a crash in a library."
    if status:
        return f"your code ended its process with status {status}. {_LEAVE_EXIT_OUT}"
    return f"your code ended its process before it gave an answer. {_LEAVE_EXIT_OUT}"


_LEAVE_EXIT_OUT = "Leave out `exit()` and `os._exit()`: let your code return."
UNREADABLE = "what your code left in place of its answer cannot be read. Return what the README asks for, and write nothing to other files or pipes."
