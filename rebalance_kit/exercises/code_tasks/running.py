"""Kinds of answers to code exercises: run in a process of their own, or read as one literal.

Kinds of answers that run in a process of their own, one call or one simulation per case (``child.plug_in``).

Answers that are data: one literal in the learner's file, read from its syntax tree and never run.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from rebalance_kit.exercises.answers import Answer, Code
from rebalance_kit.exercises.asking import UNREADABLE, ask
from rebalance_kit.exercises.code_tasks.task import CodeCase, Outputs
from rebalance_kit.exercises.runner import code_of
from rebalance_kit.exercises.task import NotYet
from rebalance_kit.exercises.wall import paths
from rebalance_kit.exercises.wall.kinds import Need

_KIT = {"assignor": paths.ASSIGNOR, "listener": paths.LISTENER}
_PROCESSES = 64


@dataclass(frozen=True, slots=True)
class PluggedIn:
    """An answer that is called: ``how`` says whether it is an assignor or a listener."""

    how: str

    def code(self, answer: Answer, name: str) -> Code:
        """The code as the answer gives it."""
        del name
        return answer.code()

    def run(self, code: Code, name: str, cases: Sequence[CodeCase], limit_s: float) -> Outputs:
        """What it gave, case by case; the limit is one for all of them."""
        order = {
            **code_of(code),
            "function": name,
            "how": self.how,
            "cases": [dict(case.data) for case in cases],
            "limit_s": limit_s,
            "cpu_s": int(2 * limit_s) + 10,
        }
        need = Need(
            "rebalance_kit.exercises.child.plug_in", _KIT[self.how], limits={"RLIMIT_NPROC": _PROCESSES}
        )
        done = ask(need, order, limit_s)
        if done.problem is not None:
            return Outputs(problem=done.problem, printed=done.printed)
        outputs = done.answered.get("outputs")
        if not isinstance(outputs, list) or len(outputs) != len(cases):
            return Outputs(problem=UNREADABLE, printed=done.printed)
        return Outputs(outputs, printed=done.printed)


ASSIGNOR = PluggedIn("assignor")
LISTENER = PluggedIn("listener")


@dataclass(frozen=True, slots=True)
class Literal:
    """An answer of the form ``ANSWER = {...}``; every case gets the same value."""

    def code(self, answer: Answer, name: str) -> Code:
        """The file's text; raises ``NotYet`` where it has no such assignment, or still the stub's."""
        code = answer.code()
        if code.text is None:
            raise NotYet(
                f"the answer is the file's {name}, not a function: save it in answer.py and check the file"
            )
        if _value(code.text, name) is None:
            raise NotYet(
                f"not written yet: {name} is still None. Write your values in its place, then check again."
            )
        return code

    def run(self, code: Code, name: str, cases: Sequence[CodeCase], limit_s: float) -> Outputs:
        """The value, once per case; nothing runs, so no limit is needed."""
        del limit_s
        return Outputs([_value(code.text or "", name)] * len(cases))


LITERAL = Literal()


def _value(text: str, name: str) -> object:
    """The last value assigned to the name at the top of the file; raises ``NotYet`` for anything but a literal."""
    found: ast.expr | None = None
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and any(
            isinstance(t, ast.Name) and t.id == name for t in node.targets
        ):
            found = node.value
    if found is None:
        raise NotYet(
            f"the file has no line `{name} = ...` at its top level. Keep the name that the stub had."
        )
    try:
        value: object = ast.literal_eval(found)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError) as error:
        raise NotYet(
            f"line {found.lineno}: {name} is no plain value ({str(error)[:80]}). Write numbers, texts, lists and dicts alone: this file is read, not run."
        ) from error
    return value
