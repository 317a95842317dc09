"""Kinds of answers that run in a process of their own, one call or one simulation per case (``child.plug_in``)."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rebalance_kit.exercises.answers import Answer, Code
from rebalance_kit.exercises.code_tasks.task import CodeCase, Outputs
from rebalance_kit.exercises.runner import UNREADABLE, code_of, printed_text, run_child, written

_NO_VARIABLES: Mapping[str, str] = {}


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
        return run_order(order, len(cases), limit_s, "rebalance_kit.exercises.child.plug_in")


ASSIGNOR = PluggedIn("assignor")
LISTENER = PluggedIn("listener")


def run_order(order: dict[str, Any], cases: int, limit_s: float, module: str) -> Outputs:
    """Run a child with an order; it has to give as many outputs as there are cases."""
    with tempfile.TemporaryDirectory(prefix="rebalance-kit-answer-") as scratch:
        folder = Path(scratch)
        problem = run_child(
            {**order, "out": os.fspath(folder / "out")}, _NO_VARIABLES, folder, limit_s, module
        )
        answered, problem = written(folder / "out", problem)
        printed = printed_text(folder / "printed")
    if problem is not None:
        return Outputs(problem=problem, printed=printed)
    outputs = answered.get("outputs") if isinstance(answered, dict) else None
    if not isinstance(outputs, list) or len(outputs) != cases:
        return Outputs(problem=UNREADABLE, printed=printed)
    return Outputs(outputs, printed=printed)
