"""Kinds of answers that run in a process of their own, one call or one simulation per case (``child.plug_in``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rebalance_kit.exercises.answers import Answer, Code
from rebalance_kit.exercises.asking import UNREADABLE, ask
from rebalance_kit.exercises.code_tasks.task import CodeCase, Outputs
from rebalance_kit.exercises.runner import code_of
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
