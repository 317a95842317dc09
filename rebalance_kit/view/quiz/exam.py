"""The exam widget: shows a sitting and passes steps on. Its page has no key, and its report only once it is over."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.sittings.exam import ExamSitting
from rebalance_kit.quiz.sittings.progress import Progress
from rebalance_kit.quiz.sittings.store import Store
from rebalance_kit.view.quiz.page import QuestionPage, script


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
