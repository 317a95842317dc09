"""The exercise widget: what ``rebalance-kit exercise`` does in a terminal, as buttons below a story."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path
from typing import Any

import ipywidgets as w

from rebalance_kit.exercises import FOLDER
from rebalance_kit.exercises.checking import AnswerReport
from rebalance_kit.exercises.code_task import CaseLine, CodeReport
from rebalance_kit.exercises.spark_bench import SparkBench, shared_bench
from rebalance_kit.exercises.task import Exercise as SparkExercise
from rebalance_kit.exercises.workspace import Identity, Workspace, find
from rebalance_kit.model.errors import DataError, RebalanceKitError
from rebalance_kit.view.lab.widget import Lab
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
    ``data()`` are the DataFrames of a PySpark exercise's public case; a case of a code exercise that fails can be
    opened in the lab, below the widget. ``repr`` is the whole in words.  Raises ``DataError`` for a name that
    does not exist; Spark is begun by the first ``check`` or ``data`` of a PySpark exercise (or is the notebook's).
    """

    def __init__(self, name: str, *, folder: str | Path = FOLDER, identity: Identity | None = None) -> None:
        self._exercise = find(name)
        self._workspace = Workspace(folder, identity)
        self._bench: SparkBench | None = None
        self._said = ""
        self._answer: Callable[..., Any] | None = None
        buttons = [w.Button(description=words, layout=w.Layout(width="auto")) for words in _BUTTONS.values()]
        for action, button in zip(_BUTTONS, buttons, strict=True):
            button.on_click(self._pressed(action))
        self._buttons = buttons
        self._out = w.HTML()
        self._cases = w.VBox()
        task = self._exercise.task
        head = w.HTML(
            f"<b>{escape(self._exercise.name)} · {escape(task.title)}</b> ({task.level}, {task.minutes} min)"
        )
        super().__init__(
            [head, w.HBox(buttons, layout=w.Layout(flex_flow="row wrap")), self._out, self._cases]
        )

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
        """The output of a right answer to the public case; raises ``DataError`` for a code exercise."""
        return self._on_spark().text("expected.txt")

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
        self._cases.children = _openers(report) if isinstance(report, CodeReport) else ()
        return report

    def hint(self, number: int | None = None) -> str:
        """The next hint, or one by its number; its paragraphs in one line each, since a cell breaks lines itself."""
        hint = self._workspace.hint(self._exercise.name, number)
        return self._say(re.sub(r"(?<=\S)\n(?=\S)", " ", hint))

    def solution(self) -> str:
        """The kit's own answer."""
        return self._say(self._workspace.solution(self._exercise.name))

    def data(self) -> Sequence[Any]:
        """The arguments of the public case: DataFrames; raises ``DataError`` for a code exercise."""
        task = self._on_spark().task
        return self._on().shown(task.inputs(self._on().given, task.public))

    def _on_spark(self) -> SparkExercise:
        if not isinstance(self._exercise, SparkExercise):
            raise DataError(
                f"{self._exercise.name} has no DataFrames; it is checked case by case, see its README.md"
            )
        return self._exercise

    def _on(self) -> SparkBench:
        if self._bench is None:
            self._bench = shared_bench()
        return self._bench

    def _pressed(self, action: str) -> Callable[[object], None]:
        def act(_: object) -> None:
            spark = isinstance(self._exercise, SparkExercise)
            wait = "checking; the first time Spark has to start ..." if spark else "checking ..."
            self._say(wait if action == "check" else "working ...")
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


def _openers(report: CodeReport) -> tuple[w.Widget, ...]:
    """A button per failing case that can be opened in the lab; the lab replaces the one opened before."""
    place = w.VBox()

    def opener(line: CaseLine) -> w.Button:
        button = w.Button(
            description=f"Open in the lab: {line.title}",
            tooltip="Shows the run of this case, a second before it fails",
            layout=w.Layout(width="auto"),
        )

        def show(_: object) -> None:
            place.children = (Lab.from_link(line.link),)

        button.on_click(show)
        return button

    buttons = [opener(line) for line in (*report.public, *report.hidden) if line.link]
    return (w.HBox(buttons, layout=w.Layout(flex_flow="row wrap")), place) if buttons else ()
