"""One question to a process behind a wall: an order in, a reply or the words for there being none out."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rebalance_kit.exercises.child.words import no_answer_within
from rebalance_kit.exercises.wall.begin import begun
from rebalance_kit.exercises.wall.kinds import Need
from rebalance_kit.exercises.wall.process import Silent, Unreadable, Walled

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
