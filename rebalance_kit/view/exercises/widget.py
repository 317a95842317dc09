"""The exercise widget: what ``rebalance-kit exercise`` does in a terminal, as buttons below a story."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets as w

from rebalance_kit.exercises.catalogue import load
from rebalance_kit.exercises.checking import AnswerReport
from rebalance_kit.exercises.code_tasks.checking import CodeReport
from rebalance_kit.exercises.spark_bench import SparkBench
from rebalance_kit.exercises.workspace import FOLDER, Identity, Workspace
from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.view.style.showing import Mime

_WRAPPED = (
    "white-space: pre-wrap; word-break: normal; overflow-wrap: anywhere; max-width: 110ch; margin: 4px 0"
)

_BUTTONS = {
    "start": "Copy it into my folder",
    "check": "Check my answer",
    "hint": "Next hint",
    "solution": "Show the solution",
}


class Exercise(w.VBox):
    """One exercise in a notebook: ``start``, ``check``, ``hint`` and ``solution``, each a button and a method.

    ``check(function)`` checks a function written in a cell, ``check()`` the file in the learner's folder.
    ``data()`` are the DataFrames of the public case. ``repr`` is the whole in words.  Raises ``DataError``
    for a name that does not exist; Spark is begun by the first ``check`` or ``data`` (or is the notebook's).
    """

    def __init__(self, name: str, *, folder: str | Path = FOLDER, identity: Identity | None = None) -> None:
        self._exercise = load(name)
        self._workspace = Workspace(folder, identity)
        self._bench: SparkBench | None = None
        self._said = ""
        self._answer: Callable[..., Any] | None = None
        buttons = [w.Button(description=words, layout=w.Layout(width="auto")) for words in _BUTTONS.values()]
        for action, button in zip(_BUTTONS, buttons, strict=True):
            button.on_click(self._pressed(action))
        self._buttons = buttons
        self._out = w.HTML()
        task = self._exercise.task
        head = w.HTML(
            f"<b>{escape(self._exercise.name)} · {escape(task.title)}</b> ({task.level}, {task.minutes} min)"
        )
        super().__init__([head, w.HBox(buttons, layout=w.Layout(flex_flow="row wrap")), self._out])

    @property
    def story(self) -> str:
        """The README as Markdown, its headings two levels down: it stands inside a lesson."""
        return re.sub(r"^(?=#+ )", "##", self._exercise.text("README.md"), flags=re.MULTILINE)

    @property
    def stub(self) -> str:
        """The answer to begin with, as Python text."""
        return self._exercise.text("answer.py")

    @property
    def expected(self) -> str:
        """The output of a right answer to the public case."""
        return self._exercise.text("expected.txt")

    def start(self) -> str:
        """Copy the exercise into the learner's folder; an answer that is there stays."""
        return self._say(self._workspace.start(self._exercise.name))

    def check(
        self, answer: Callable[..., Any] | None = None, *, hidden: bool = True
    ) -> AnswerReport | CodeReport:
        """Check a function, or the file in the learner's folder."""
        self._answer = answer or self._answer
        report = self._workspace.check(self._exercise.name, self._on(), self._answer, hidden=hidden)
        self._say(str(report))
        return report

    def hint(self, number: int | None = None) -> str:
        """The next hint, or one by its number; its paragraphs in one line each, since a cell breaks lines itself."""
        hint = self._workspace.hint(self._exercise.name, number)
        return self._say(re.sub(r"(?<=\S)\n(?=\S)", " ", hint))

    def solution(self) -> str:
        """The kit's own answer."""
        return self._say(self._workspace.solution(self._exercise.name))

    def data(self) -> Sequence[Any]:
        """The arguments of the public case: DataFrames."""
        return self._exercise.task.inputs(self._on(), self._exercise.task.public)

    def _on(self) -> SparkBench:
        if self._bench is None:
            self._bench = SparkBench()
        return self._bench

    def _pressed(self, action: str) -> Callable[[object], None]:
        def act(_: object) -> None:
            self._say(
                "working ..." if action != "check" else "checking; the first time Spark has to start ..."
            )
            for button in self._buttons:
                button.disabled = True
            try:
                getattr(self, action)()
            except RebalanceKitError as problem:
                self._say(f"{problem}")
            finally:
                for button in self._buttons:
                    button.disabled = False

        return act

    def _say(self, words: str) -> str:
        self._said = words
        self._out.value = f"<pre style='{_WRAPPED}'>{escape(words)}</pre>"
        return words

    def __repr__(self) -> str:
        task = self._exercise.task
        lines = [
            f"Exercise {self._exercise.name}: {task.title} ({task.level}, {task.minutes} min); function {task.function}"
        ]
        return "\n".join([*lines, self._said] if self._said else lines)

    def _repr_mimebundle_(self, **kwargs: Any) -> Mime | None:
        data: Mime | None = super()._repr_mimebundle_(**kwargs)
        return None if data is None else {**data, "text/plain": repr(self)}
