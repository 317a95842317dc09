"""The base of the widgets of practice, exams and polls, and the quiz, the simplest of them; what they do is in ``sheets``."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets
import traitlets

from rebalance_kit.quiz.sittings.exam import ExamSitting
from rebalance_kit.quiz.sittings.practice import Practice, practise
from rebalance_kit.quiz.sittings.store import Store
from rebalance_kit.view.quiz.sheets import ExamSheet, PracticeSheet, Sheet
from rebalance_kit.view.style.showing import Mime, with_twins
from rebalance_kit.view.style.theme import bundled

STATIC = Path(__file__).with_name("static")
_TWIN_WIDTH = 108
"""Signs in a line of a notebook's output; JupyterLab breaks longer ones in the middle of a word."""


def script(name: str) -> str:
    """The script of a page (practice, exam, poll or vote), made of ``page/quiz`` by ``scripts/bundle.py``."""
    return bundled(STATIC / f"{name}.js")


class QuestionPage(Sheet, anywidget.AnyWidget):
    """A widget whose screen gets ``page`` alone, and in a notebook file leaves ``text()`` alone.

    ``lab`` is a run shown below the page, None until one is asked for.
    """

    _css = STATIC / "quiz.css"
    page = traitlets.Dict().tag(sync=True)
    lab = traitlets.Instance(ipywidgets.Widget, allow_none=True).tag(
        sync=True, **ipywidgets.widget_serialization
    )

    def _show(self, page: dict[str, Any]) -> None:
        """Begin with a page, and listen to it."""
        anywidget.AnyWidget.__init__(self, page=page)
        self.on_msg(self._received)

    def _received(self, _widget: object, message: object, _buffers: object) -> None:
        """Handle what a page sends; what is no object of JSON comes from no page of the kit."""
        if isinstance(message, dict):
            self.handle(message)

    def put(self, page: dict[str, Any]) -> None:
        """Show this page."""
        self.page = page

    def show_run(self, link: str | None) -> None:
        """Show the lab of a link below the page, or none."""
        if link is None:
            self.lab = None
            return
        from rebalance_kit.view.lab.widget import Lab

        self.lab = Lab.from_link(link)

    def __repr__(self) -> str:
        return self.text()

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[Mime, Mime] | None:
        return with_twins(super()._repr_mimebundle_(**kwargs), {"text/plain": in_page_lines(self.text())})


def in_page_lines(text: str) -> str:
    """Text with its long lines (of a log, say) broken between words, the rest of each hanging below its beginning.

    >>> print(in_page_lines("  1) " + "word " * 22))
      1) word word word word word word word word word word word word word word word word word word word word
           word word
    """
    lines: list[str] = []
    for line in text.splitlines():
        if len(line) <= _TWIN_WIDTH:
            lines.append(line)
            continue
        inner = " " * (len(line) - len(line.lstrip()) + 9)
        lines += textwrap.wrap(line, _TWIN_WIDTH, subsequent_indent=inner, break_on_hyphens=False)
    return "\n".join(lines)


class Quiz(PracticeSheet, QuestionPage):
    """Questions of a tag (the first ``count``), one after another, with feedback on every option as soon as one is answered.

    ``Quiz("eager")`` in a notebook shows it; ``quiz.answer("a")`` does from code what a click does and
    returns the verdict. The page gets ``page`` alone: a question without its key, then the verdict.
    Answers are kept in the learner's file (``store``; None: the usual one). ``repr`` and ``text()`` are the
    same in words. Raises ``DataError`` for an unknown tag or id.
    """

    _esm = script("practice")

    def __init__(
        self,
        tag: str | None = None,
        *,
        ids: Sequence[str] = (),
        seed: int = 1,
        count: int | None = None,
        store: Store | None = None,
        confidence: bool = True,
    ) -> None:
        self._begin(practise(tag, ids, seed, count, Store.given(store)), asks_confidence=confidence)

    def _begin(self, practice: Practice, *, asks_confidence: bool) -> None:
        self._asks_confidence = asks_confidence
        self._practice = practice
        self._show(self._page(""))


class Review(Quiz):
    """Questions missed or guessed that are due again, at most ``count``, as fresh variants; says so when nothing is due."""

    def __init__(self, count: int | None = 20, *, store: Store | None = None) -> None:
        import time

        from rebalance_kit.quiz.sittings.practice import practise_due

        self._begin(practise_due(Store.given(store), time.time(), count), asks_confidence=True)


class Today(Quiz):
    """Today's fifteen minutes for an exam, ``Today("CCAAK")``: what is due, what is weak, what is new; nothing twice a day."""

    def __init__(self, name: str = "CCDAK", *, store: Store | None = None) -> None:
        import time

        from rebalance_kit.quiz.sittings.daily import practise_today

        self._begin(practise_today(Store.given(store), name, time.time()), asks_confidence=True)


class Exam(ExamSheet, QuestionPage):
    """A timed mock exam, ``Exam("CCDAK")`` or ``Exam("CCAAK")``: a page that says what it is, and a button that begins it.

    The same call after a killed kernel comes back to an exam that has begun.

    An exam that was handed in stays handed in: the call shows its report, and ``again=True`` begins it once more.
    Papers of the seeds 1, 2 and 3 are parallel and avoid each other's questions as far as the bank allows. Time runs on while the kernel is dead.
    ``exam.finish()`` hands in and returns the report. Raises ``DataError`` for an unknown exam.
    """

    _esm = script("exam")

    def __init__(
        self,
        name: str = "CCDAK",
        seed: int = 1,
        *,
        questions: int | None = None,
        minutes: float | None = None,
        again: bool = False,
        store: Store | None = None,
    ) -> None:
        self._sitting = ExamSitting.begin(
            name, seed, questions=questions, minutes=minutes, store=Store.given(store), again=again
        )
        self._show({**self._sitting.page(), "error": ""})
