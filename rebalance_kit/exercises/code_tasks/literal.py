"""Answers that are data: one literal in the learner's file, read from its syntax tree and never run."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from rebalance_kit.exercises.answers import Answer, Code
from rebalance_kit.exercises.code_tasks.task import CodeCase, Outputs
from rebalance_kit.exercises.verdict import NotYet


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
