"""An exam: timed, no feedback before the end, kept after every step so that a killed kernel costs nothing.

Time runs on while the kernel is dead, as it does in a test centre. It is counted by the machine's own clock
since it was started, which nobody can set; only after a restart of the machine does the wall clock decide, and
one that was set back counts as standing still.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any
from uuid import uuid4

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.bank import Bank, read_bank
from rebalance_kit.quiz.items.blueprint import Asked, blueprint, compose
from rebalance_kit.quiz.items.item import Choice, Question
from rebalance_kit.quiz.proof.generate import question
from rebalance_kit.quiz.proof.replay import Replay, replays
from rebalance_kit.quiz.proof.runs import RunBook
from rebalance_kit.quiz.sittings.clock import Clock
from rebalance_kit.quiz.sittings.grade import Answer, Verdict, grade, unanswered
from rebalance_kit.quiz.sittings.page import public, question_lines, shuffled
from rebalance_kit.quiz.sittings.progress import Progress, progress
from rebalance_kit.quiz.sittings.store import Attempt, Store


class ExamSitting:
    """One exam of one learner. ``resume`` finds an unfinished one; every step is kept before it returns."""

    def __init__(self, state: dict[str, Any], bank: Bank, store: Store, clock: Clock) -> None:
        self._state = state
        self._bank = bank
        self._store = store
        self._clock = clock
        self._notice = ""
        self._began = (clock.steady(), self._spent_before())
        self._book = book = RunBook()
        self.asked = tuple(Asked(*one) for one in state["asked"])
        self.questions: tuple[Question, ...] = tuple(
            shuffled(question(bank.item(one.item), one.seed, book), one.seed) for one in self.asked
        )
        self._keep()

    # --- begin and come back -----------------------------------------------------------------
    @classmethod
    def begin(
        cls,
        name: str,
        seed: int = 1,
        *,
        questions: int | None = None,
        minutes: float | None = None,
        store: Store | None = None,
        bank: Bank | None = None,
        clock: Clock | None = None,
    ) -> ExamSitting:
        """Come back to the unfinished exam of this name and seed, or begin one; raises ``DataError`` for an unknown name."""
        plan = blueprint(name)
        notice = ""
        bank, store, clock = bank or read_bank(), store or Store(), clock or Clock()
        if questions is not None and not 1 <= questions <= 200:
            raise DataError(f"an exam of {questions} questions received, expected 1 to 200")
        for kept, state in store.kept("exam").items():
            wanted = state.get("name") == plan.name and state.get("seed") == seed and not state.get("ended")
            if not wanted or questions not in {None, state.get("wanted")}:
                continue
            try:
                found = cls(state, bank, store, clock)
                found.verdicts()  # an answer that a changed item no longer takes shows now, not at the end
                found.page()
                return found  # noqa: TRY300 - all that can fail stands above
            except (DataError, KeyError, TypeError, ValueError) as error:
                store.set_aside("exam", kept)
                notice = f"An exam begun before cannot be gone on with ({error}). It is set aside in {store.path}, and this is a new one."
        paper = compose(plan, bank, seed, questions)
        if not paper.asked:
            raise DataError(f"the bank has no item of {plan.name}; expected some")
        state = {
            "id": uuid4().hex,
            "name": plan.name,
            "seed": seed,
            "wanted": questions,
            "asked": [[one.item, one.seed, one.domain] for one in paper.asked],
            "missing": dict(paper.missing),
            "minutes": plan.minutes * len(paper.asked) / plan.questions if minutes is None else minutes,
            "given": {},
            "flags": [],
            "struck": {},
            "place": 0,
            "spent": 0.0,
            "wall": clock.wall(),
            "steady": clock.steady(),
            "boot": clock.boot(),
            "ended": False,
        }
        sitting = cls(state, bank, store, clock)
        sitting._notice = notice
        return sitting

    def _spent_before(self) -> float:
        state = self._state
        steady = self._clock.steady()
        if state["boot"] and state["boot"] == self._clock.boot() and steady >= state["steady"]:
            return float(state["spent"]) + steady - float(state["steady"])
        return float(state["spent"]) + max(0.0, self._clock.wall() - float(state["wall"]))

    def _keep(self) -> None:
        self._state |= {
            "spent": self.spent_s,
            "wall": self._clock.wall(),
            "steady": self._clock.steady(),
            "boot": self._clock.boot(),
        }
        self._store.keep("exam", self._state["id"], self._state)

    # --- time --------------------------------------------------------------------------------
    @property
    def spent_s(self) -> float:
        """Seconds since the beginning."""
        return self._began[1] + max(0.0, self._clock.steady() - self._began[0])

    @property
    def left_s(self) -> float:
        """Seconds left, at least 0."""
        return 0.0 if self.ended else max(0.0, self._state["minutes"] * 60 - self.spent_s)

    @property
    def ended(self) -> bool:
        """Whether the exam has been handed in, by the learner or by time."""
        return bool(self._state["ended"])

    def _open(self) -> None:
        if not self.ended and self.left_s <= 0:
            self.finish()
        if self.ended:
            raise DataError("the exam is over; expected no further change. Its report is ready")

    # --- steps -------------------------------------------------------------------------------
    @property
    def place(self) -> int:
        """The question shown, counted from 0."""
        return int(self._state["place"])

    def go(self, place: int) -> None:
        """Show a question by its place; raises ``DataError`` for one that is not there."""
        if not 0 <= place < len(self.questions):
            raise DataError(f"question {place + 1} received, expected 1 to {len(self.questions)}")
        self._state["place"] = place
        self._keep()

    def answer(self, given: Answer) -> None:
        """Answer the question shown, again if need be; says nothing of right or wrong. An empty answer takes it back."""
        self._open()
        text = (
            given
            if isinstance(given, str)
            else str(given)
            if isinstance(given, (int, float))
            else " ".join(given)
        )
        if text.strip():
            grade(self.questions[self.place], text)  # refuses what is no answer
            self._state["given"][str(self.place)] = text.strip()
        else:
            self._state["given"].pop(str(self.place), None)
        self._keep()

    def flag(self) -> None:
        """Mark the question shown for a second look, or take the mark away."""
        self._open()
        flags = set(self._state["flags"]) ^ {self.place}
        self._state["flags"] = sorted(flags)
        self._keep()

    def strike(self, option: str) -> None:
        """Strike an option of the question shown out, or take it in again; raises ``DataError`` for no option."""
        self._open()
        asked = self.questions[self.place]
        ids = [one.id for one in asked.options] if isinstance(asked, Choice) else []
        if option not in ids:
            raise DataError(
                f"option {option!r} received, expected one of {', '.join(ids) or 'none: this question has no options'}"
            )
        struck = set(self._state["struck"].get(str(self.place), ())) ^ {option}
        self._state["struck"][str(self.place)] = sorted(struck)
        self._keep()

    # --- the end -----------------------------------------------------------------------------
    def finish(self) -> Progress:
        """Hand in: every question is graded and kept, and the report returned. Handing in twice changes nothing."""
        if not self.ended:
            graded = zip(self.asked, self.verdicts(), strict=True)
            self._store.add(*(self._attempt(place, *one) for place, one in enumerate(graded)))
            self._keep()
            self._state["ended"] = True
            self._keep()
        return self.report()

    def _attempt(self, place: int, one: Asked, verdict: Verdict | None) -> Attempt:
        known = (
            (False, 0.0, ()) if verdict is None else (verdict.right, verdict.credit, verdict.misconceptions)
        )
        right, credit, beliefs = known
        name = f"{self._state['id']}/{place}"
        return Attempt(
            name,
            self._clock.wall(),
            "exam",
            one.item,
            one.seed,
            self.given(place),
            right,
            credit,
            None,
            beliefs,
            self._state["id"],
        )

    def verdicts(self) -> tuple[Verdict | None, ...]:
        """The grading, None for a question without an answer. For the end alone: pages show it once ``ended``."""
        return tuple(
            grade(asked, given) if (given := self.given(place)) else None
            for place, asked in enumerate(self.questions)
        )

    def told(self) -> Verdict:
        """Key and reasons of the question shown, and what the answer was worth; raises ``DataError`` before the end."""
        if not self.ended:
            raise DataError("the exam is not over; expected finish() first")
        asked, given = self.questions[self.place], self.given(self.place)
        return grade(asked, given) if given else unanswered(asked)

    def replays(self) -> tuple[Replay, ...]:
        """The runs that decide the question shown, once the exam has ended; none before."""
        one = self.asked[self.place]
        return replays(self._bank.item(one.item), one.seed, self._book) if self.ended else ()

    def given(self, place: int) -> str:
        """What was answered there, empty for nothing."""
        return str(self._state["given"].get(str(place), ""))

    def report(self) -> Progress:
        """The report of an exam that has ended; raises ``DataError`` before."""
        if not self.ended:
            raise DataError("the exam is not over; expected finish() first")
        plan = blueprint(self._state["name"])
        graded = zip(self.asked, self.verdicts(), strict=True)
        found = [self._attempt(place, *one) for place, one in enumerate(graded)]
        domains = {one.item: one.domain for one in self.asked}
        title = f"{plan.name} mock {self._state['seed']}"
        return progress(
            found, self._bank, title, plan=plan, asked_for=domains, missing=self._state["missing"]
        )

    # --- what is shown -----------------------------------------------------------------------
    def page(self) -> dict[str, Any]:
        """What a screen shows now, as plain JSON; a key stands in it only once the exam has ended."""
        if not self.ended and self.left_s <= 0:
            self.finish()
        places = [
            {"answered": bool(self.given(place)), "flagged": place in self._state["flags"]}
            for place in range(len(self.questions))
        ]
        return {
            "title": f"{self._state['name']} mock {self._state['seed']}",
            "number": self.place + 1,
            "of": len(self.questions),
            "left_s": round(self.left_s, 1),
            "ended": self.ended,
            "question": public(self.questions[self.place]),
            "given": self.given(self.place),
            "struck": self._state["struck"].get(str(self.place), []),
            "places": places,
            "missing": self._state["missing"],
            "notice": self._store.notice or self._notice,
            **(self._told() if self.ended else {}),
        }

    def _told(self) -> dict[str, Any]:
        """What a screen shows besides, once the exam has ended."""
        return {
            "report": self.report().text(),
            "verdict": asdict(self.told()),
            "replays": [one.name for one in self.replays()],
            "right": [bool(verdict and verdict.right) for verdict in self.verdicts()],
        }

    def text(self) -> str:
        """The exam in words: the time left and the question shown, or the report."""
        if self.ended:
            return self.report().text()
        done = len(self._state["given"])
        head = f"{self._state['name']} mock {self._state['seed']}: {done} of {len(self.questions)} answered, {self.left_s / 60:.0f} minutes left"
        return "\n".join([head, "", *question_lines(self.questions[self.place], self.place + 1)])
