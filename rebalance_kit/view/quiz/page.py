"""The base of the widgets of practice, exams and polls; and the quiz, the simplest of them.

Base of the widgets of quiz, exam, poll and vote: a page of plain JSON, its text twin, and the lab below it.

The quiz widget: shows a practice and passes answers on. It holds no key and no rule of grading.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets
import traitlets

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.sittings.exam import ExamSitting
from rebalance_kit.quiz.sittings.grade import Answer, Verdict
from rebalance_kit.quiz.sittings.practice import Practice, practise
from rebalance_kit.quiz.sittings.progress import Progress, Replay
from rebalance_kit.quiz.sittings.store import Store
from rebalance_kit.view.style.showing import Mime, with_twins
from rebalance_kit.view.style.theme import bundled

STATIC = Path(__file__).with_name("static")
_TWIN_WIDTH = 108
"""Signs in a line of a notebook's output; JupyterLab breaks longer ones in the middle of a word."""


def script(name: str) -> str:
    """The script of a page (practice, exam, poll or vote), made of ``page/quiz`` by ``scripts/bundle.py``."""
    return bundled(STATIC / f"{name}.js")


class QuestionPage(anywidget.AnyWidget):
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

    def handle(self, message: Mapping[str, object]) -> None:
        """Do what a message of the page asks; what cannot be done is said on the page."""
        raise NotImplementedError

    def text(self) -> str:
        """The page in words."""
        raise NotImplementedError

    def open_run(self, replays: Sequence[Replay], number: object) -> None:
        """Show one of these runs in the lab, at its moment; a number that none has shows nothing."""
        from rebalance_kit.view.lab.widget import Lab

        if isinstance(number, int) and 0 <= number < len(replays):
            self.lab = Lab.from_link(replays[number].link)

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


class Quiz(QuestionPage):
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

    def answer(self, choice: Answer, confidence: str | None = None) -> Verdict:
        """Answer the question shown (the next one if that is answered already)."""
        verdict = self._practice.answer(choice, confidence)
        self._redraw()
        return verdict

    def forward(self) -> None:
        """Show the next question, if there is one."""
        self._practice.forward()
        self.lab = None
        self._redraw()

    def open_lab(self, number: int = 0) -> None:
        """Show a run that decides the question in the lab, at the moment that does; only once it is answered."""
        self.open_run(self._practice.replays, number)

    def text(self) -> str:
        """The quiz in words; no key stands in it before its question is answered."""
        return self._practice.text()

    def _page(self, error: str) -> dict[str, Any]:
        return {**self._practice.page(), "error": error, "asks_confidence": self._asks_confidence}

    def _redraw(self, error: str = "") -> None:
        self.page = self._page(error)

    def handle(self, message: Mapping[str, object]) -> None:
        """Answer, move on or open the lab, as the page asks."""
        request = message.get("do")
        try:
            if request == "next":
                self.forward()
            elif request == "lab":
                self.open_run(self._practice.replays, message.get("run", 0))
            elif request == "answer" and self._practice.place not in self._practice.verdicts:
                confidence = message.get("confidence")
                self.answer(str(message.get("given", "")), None if confidence is None else str(confidence))
        except DataError as error:
            self._redraw(str(error))


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


# The exam widget: shows a sitting and passes steps on. Its page has no key, and its report only once it is over.


class Exam(QuestionPage):
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

    def start(self) -> None:
        """Begin: the clock runs from now on."""
        self._sitting.start()
        self._redraw()

    @property
    def sitting(self) -> ExamSitting:
        """The exam behind the page."""
        return self._sitting

    def finish(self) -> Progress:
        """Hand in, and return the report."""
        report = self._sitting.finish()
        self._redraw()
        return report

    def open_lab(self, number: int = 0) -> None:
        """Show a run that decides the question in the lab; only once the exam has ended."""
        self.open_run(self._sitting.replays(), number)

    def text(self) -> str:
        """The exam in words."""
        return self._sitting.text()

    def _redraw(self, error: str = "") -> None:
        self.page = {**self._sitting.page(), "error": error}

    def handle(self, message: Mapping[str, object]) -> None:
        """Move, flag, strike, keep or hand in, as the page asks."""
        try:
            if message.get("do") == "lab":
                self.open_run(self._sitting.replays(), message.get("run", 0))
                return
            if message.get("do") == "report lab":
                runs = self._sitting.to_replay() if self._sitting.ended else ()
                self.open_run([run for _, run in runs], message.get("run", 0))
                return
            self.lab = None
            obey(self._sitting, message)
            if message.get("do") == "keep":
                return
        except DataError as error:
            self._redraw("" if self._sitting.ended else str(error))
        else:
            self._redraw()


def obey(sitting: ExamSitting, message: Mapping[str, object]) -> None:
    """Do what the page asks: start, keep, go, flag, strike or finish; an answer comes with most. Raises ``DataError``.

    ``keep`` is sent while an answer is being chosen; what is not an answer yet is ignored.
    """
    request = str(message.get("do"))
    answer = message.get("given")
    if request == "start":
        sitting.start()
    if not sitting.begun:
        return
    if request == "keep":
        with suppress(DataError):
            sitting.answer(str(answer), draft=True)
    elif (
        answer is not None
        and request in {"go", "flag", "finish", "next open", "next flagged"}
        and answer != sitting.given(sitting.place)
    ):
        sitting.answer(str(answer), draft=True)
    index = message.get("place")
    if request == "go" and isinstance(index, int):
        sitting.go(index)
    elif request == "next open":
        sitting.next_open()
    elif request == "next flagged":
        sitting.next_flagged()
    elif request == "flag":
        sitting.flag()
    elif request == "strike":
        sitting.strike(str(message.get("option")))
    elif request == "finish":
        sitting.finish()
