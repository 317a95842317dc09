"""Parts of a code exercise as values: cases, what an answer earned in each, and how it is run.

A folder of ``exercises/code`` holds one exercise; its ``task.py`` has a ``TASK``, its ``hidden.py`` the cases that
only ``cases(seed)`` knows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from rebalance_kit.exercises.answers import Answer, Code
from rebalance_kit.exercises.verdict import NotYet
from rebalance_kit.simulation.permalink import Link

NOTHING: Mapping[str, Any] = {}


@dataclass(frozen=True, slots=True)
class CodeCase:
    """One situation: ``data`` goes to the process that runs the answer, ``facts`` stay with the judge.

    ``link`` opens the situation in the lab; ``points`` are what a right answer earns.
    """

    title: str
    data: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    facts: Mapping[str, Any] = field(default_factory=lambda: NOTHING)
    link: Link | None = None
    points: int = 2


@dataclass(frozen=True, slots=True)
class Mark:
    """What an answer earned in a case: ``share`` of its points (1.0: all), else the words that say what is missing.

    ``at_ms`` is the moment at which it shows; ``link`` stands in for the case's own where the answer decides the run.
    """

    share: float
    words: str = ""
    at_ms: int | None = None
    link: Link | None = None


FULL = Mark(1.0)


class Failed(NotYet):
    """The answer earns nothing in this case; ``at_ms`` is the moment in the run at which that shows."""

    def __init__(self, words: str, at_ms: int | None = None) -> None:
        super().__init__(words)
        self.at_ms = at_ms


@dataclass(frozen=True, slots=True)
class Outputs:
    """What an answer gave, case by case, or the problem in words; and what it printed."""

    outputs: Sequence[Any] = ()
    problem: str | None = None
    printed: str = ""


class Kind(Protocol):
    """A kind of answer: what its file has to hold, and how it gives its outputs."""

    def code(self, answer: Answer, name: str) -> Code:
        """The code to run or read; raises ``NotYet`` for what is no answer yet."""

    def run(self, code: Code, name: str, cases: Sequence[CodeCase], limit_s: float) -> Outputs:
        """One output per case; the answer never enters this process."""


@dataclass(frozen=True, slots=True)
class CodeTask:
    """An exercise: the name asked for (``function``), the kind of its answer, its public cases and their judge.

    ``judge(case, output)`` returns a ``Mark`` or raises ``NotYet``; it may run the engine, never the answer.
    """

    title: str
    minutes: int
    level: str
    function: str
    kind: Kind
    public: Sequence[CodeCase]
    judge: Callable[[CodeCase, Any], Mark]
    limit_s: float = 30.0
