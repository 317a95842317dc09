"""What a page of practice, exam, poll or vote asks and is answered, whatever carries it: a widget, or a worker of the browser.

A sheet puts plain JSON on its page and hears what the page asks. It holds no key and no rule of grading, and nothing of
Jupyter, which the page's Python does not have.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.bank import read_bank
from rebalance_kit.quiz.sittings.exam import ExamSitting
from rebalance_kit.quiz.sittings.grade import Answer, Verdict
from rebalance_kit.quiz.sittings.page import public, question_lines
from rebalance_kit.quiz.sittings.poll import (
    PollCount,
    asked_in_poll,
    cast,
    known_room,
    voter_of,
    write_code,
    write_file,
)
from rebalance_kit.quiz.sittings.practice import Practice
from rebalance_kit.quiz.sittings.progress import Progress, Replay
from rebalance_kit.quiz.sittings.store import Store


class Sheet:
    """A page of plain JSON, its text twin, and the run shown below it."""

    def put(self, page: dict[str, Any]) -> None:
        """Show this page."""
        raise NotImplementedError

    def show_run(self, link: str | None) -> None:
        """Show the lab of a link below the page, or none."""
        raise NotImplementedError

    def handle(self, message: Mapping[str, object]) -> None:
        """Do what a message of the page asks; what cannot be done is said on the page."""
        raise NotImplementedError

    def text(self) -> str:
        """The page in words."""
        raise NotImplementedError

    def open_run(self, replays: Sequence[Replay], number: object) -> None:
        """Show one of these runs in the lab, at its moment; a number that none has shows nothing."""
        if isinstance(number, int) and 0 <= number < len(replays):
            self.show_run(replays[number].link)


class PracticeSheet(Sheet):
    """A practice: a question without its key, then the verdict."""

    _practice: Practice
    _asks_confidence: bool

    def answer(self, choice: Answer, confidence: str | None = None) -> Verdict:
        """Answer the question shown (the next one if that is answered already)."""
        verdict = self._practice.answer(choice, confidence)
        self._redraw()
        return verdict

    def forward(self) -> None:
        """Show the next question, if there is one."""
        self._practice.forward()
        self.show_run(None)
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
        self.put(self._page(error))

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


class ExamSheet(Sheet):
    """A sitting of an exam. Its page has no key, and its report only once it is over."""

    _sitting: ExamSitting

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
        self.put({**self._sitting.page(), "error": error})

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
            self.show_run(None)
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


class PollSheet(Sheet):
    """A poll on the projector: how many have voted, and only when the instructor says so the split and the answer."""

    count: PollCount

    def take(self, text: str) -> int:
        """Count the codes in a pasted text; how many were taken."""
        taken = self.count.take(text)
        self._redraw()
        return taken

    def collect(self) -> int:
        """Count the votes in the shared folder; how many there are."""
        votes = self.count.collect()
        self._redraw()
        return votes

    def hands(self, **counts: int) -> None:
        """Count raised hands where no codes can be sent: ``poll.hands(a=4, b=11)``."""
        self.count.hands(**counts)
        self._redraw()

    def end_round(self) -> None:
        """End the vote that is open."""
        self._do("end_round")

    def revote(self) -> None:
        """Open the second vote, with the split hidden."""
        self._do("revote")

    def show(self) -> None:
        """Show the split."""
        self._do("show")

    def reveal(self) -> None:
        """Show the split, the answer and the reasons; the poll is over."""
        self._do("reveal")

    def restart(self) -> None:
        """Forget all votes and begin anew."""
        self._do("restart")

    def open_lab(self, number: int = 0) -> None:
        """Show a run that decides the question in the lab; only once it is revealed."""
        self.open_run(self.count.replays(), number)

    def text(self) -> str:
        """The screen in words."""
        return self.count.text()

    def _do(self, step: str) -> None:
        getattr(self.count, step)()
        self._redraw()

    def _redraw(self, error: str = "") -> None:
        self.put({**self.count.page(), "error": error})

    def handle(self, message: Mapping[str, object]) -> None:
        """Take votes or the next step, as the page asks."""
        request = message.get("do")
        try:
            if isinstance(request, str) and request in STEPS:
                STEPS[request](self)
            elif request == "take":
                self.take(str(message.get("text", "")))
            elif request == "lab":
                self.open_run(self.count.replays(), message.get("run", 0))
        except DataError as error:
            self._redraw(str(error))


STEPS: Mapping[str, Callable[[PollSheet], object]] = MappingProxyType(
    {
        "end_round": PollSheet.end_round,
        "revote": PollSheet.revote,
        "show": PollSheet.show,
        "reveal": PollSheet.reveal,
        "restart": PollSheet.restart,
        "collect": PollSheet.collect,
    }
)


class VoteSheet(Sheet):
    """A learner's own vote. Nothing of right or wrong is known here; the answer comes with the instructor's poll."""

    _code = ""

    def _ask(self, item: str, seed: int, room: str, folder: str | Path | None, store: Store) -> None:
        self._room = known_room(room)
        self._asked = asked_in_poll(read_bank().item(item), seed)
        self._folder = folder
        self._voter = voter_of(store)

    def _page(self, **changes: Any) -> dict[str, Any]:
        empty = {"given": "", "again": False, "code": "", "kept": "", "error": ""}
        return {"question": public(self._asked), **empty, **changes}

    def vote(self, answer: Answer, *, again: bool = False) -> str:
        """Vote, and return the code; raises ``DataError`` for no option."""
        ballot = cast(self._asked, answer, self._voter, again=again)
        file = "" if self._folder is None else str(write_file(ballot, self._room, self._folder))
        self._code = write_code(ballot, self._room)
        self.put(self._page(given=ballot.answer, again=again, code=self._code, kept=file))
        return self._code

    def text(self) -> str:
        """The question in words, and the code once there is one."""
        lines = question_lines(self._asked, 1)
        return "\n".join([*lines, f"Your code: {self._code}"] if self._code else lines)

    def handle(self, message: Mapping[str, object]) -> None:
        """Cast the vote that the page sends."""
        again = bool(message.get("again"))
        try:
            if message.get("do") == "vote":
                self.vote(str(message.get("given", "")), again=again)
        except DataError as error:
            self.put(self._page(again=again, error=str(error)))
