"""An exam: timed, no feedback before the end, kept after every step so that a killed kernel costs nothing.

It says what it is before its clock runs: nothing is kept, and no time passes, before ``start()``.

Time runs on while the kernel is dead, as it does in a test centre. It is counted by the machine's own clock
since it was started, which nobody can set; only after a restart of the machine does the wall clock decide, and
one that was set back counts as standing still.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from functools import cached_property
from random import Random
from secrets import randbelow
from types import NoneType
from typing import Any
from uuid import uuid4

from rebalance_kit.model.errors import DataError, require_kind
from rebalance_kit.quiz.items.bank import Bank, read_bank
from rebalance_kit.quiz.items.blueprint import Blueprint, PaperItem, blueprint, compose
from rebalance_kit.quiz.items.item import Choice, Question
from rebalance_kit.quiz.proof.generate import question
from rebalance_kit.quiz.proof.run_book import RunBook
from rebalance_kit.quiz.sittings.grade import Answer, Verdict, grade, require_all_chosen, short_of, unanswered
from rebalance_kit.quiz.sittings.page import public, question_lines, shuffled
from rebalance_kit.quiz.sittings.progress import MOST, Progress, Replay, progress, replays
from rebalance_kit.quiz.sittings.store import Attempt, ExamClock, OwnedElsewhere, Store


def _require_form(seed: object, questions: int | None, minutes: float | None) -> None:
    """Raise ``WrongKind`` or ``DataError`` for an exam that nobody can sit."""
    require_kind(seed, int, "the seed", "a whole number")
    require_kind(questions, (int, NoneType), "questions", "a whole number")
    require_kind(minutes, (int, float, NoneType), "minutes", "a number")
    if isinstance(seed, int) and seed < 1:
        raise DataError(f"mock {seed} received, expected 1 or more: mocks are numbered from 1")
    if questions is not None and not 1 <= questions <= 200:
        raise DataError(f"an exam of {questions} questions received, expected 1 to 200")
    if minutes is not None and not 0 < minutes <= 1440:
        raise DataError(f"an exam of {minutes:g} minutes received, expected more than 0 and at most 1440")


class ExamSitting:
    """One exam of one learner. ``resume`` finds an unfinished one; every step is kept before it returns."""

    def __init__(self, state: dict[str, Any], bank: Bank, store: Store, clock: ExamClock) -> None:
        self._state = state
        self._bank = bank
        self._store = store
        self._clock = clock
        self._notice = ""
        self._began = (clock.steady(), self._spent_before())
        self._book = RunBook()
        self.asked = tuple(PaperItem(*entry) for entry in state["asked"])
        self._state["owner"] = uuid4().hex
        if self.begun:
            self._keep(take=True)

    @cached_property
    def questions(self) -> tuple[Question, ...]:
        """The questions as they are shown; made at the first look, because some need a run."""
        return tuple(
            shuffled(question(self._bank.item(asked.item), asked.seed, self._book), asked.seed)
            for asked in self.asked
        )

    @property
    def begun(self) -> bool:
        """Whether the clock has been started."""
        return bool(self._state.get("begun", True))

    def start(self) -> ExamSitting:
        """Begin: from now on the clock runs, and every step is kept. Does nothing to an exam that has begun."""
        if not self.begun:
            self._state["begun"] = True
            self._began = (self._clock.steady(), 0.0)
            self._keep(take=True)
        return self

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
        clock: ExamClock | None = None,
        again: bool = False,
    ) -> ExamSitting:
        """Come back to the exam of this name and seed, or give a new one to ``start()``; raises ``DataError`` for an unknown name.

        One that was handed in stays handed in and shows its report; with ``again`` it is offered once more, its questions
        and their options in another order. A paper of another length (``questions``) is an exam of its own. Minutes are fixed
        when an exam begins: others raise ``DataError`` while it is open.
        """
        _require_form(seed, questions, minutes)
        plan = blueprint(name)
        bank, store, clock = bank or read_bank(), Store.given(store), clock or ExamClock()
        notice = ""
        for sitting_id, state in _latest_first(store.kept("exam")):
            same = state.get("name") == plan.name and state.get("seed") == seed
            if (
                not same
                or not state.get("begun", True)
                or questions != state.get("wanted")
                or (again and state.get("ended"))
            ):
                continue
            try:
                sitting = cls._resumed(state, bank, store, clock)
            except (DataError, LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
                store.set_aside("exam", sitting_id)
                notice = f"An exam begun before cannot be gone on with ({error}). It is set aside in {store.path}, and this is a new one."
                continue
            if minutes is not None and not sitting.ended and minutes != state["minutes"]:
                raise DataError(
                    f"{minutes:g} minutes received for an exam that is open with {state['minutes']:g}; expected the same, or none"
                )
            return sitting
        sitting = cls(_new_state(plan, bank, seed, questions, minutes, clock), bank, store, clock)
        sitting._notice = notice
        return sitting

    @classmethod
    def _resumed(cls, state: dict[str, Any], bank: Bank, store: Store, clock: ExamClock) -> ExamSitting:
        """The sitting of a kept state; an answer that a changed item no longer takes shows now, not at the end."""
        if not all(
            isinstance(part, str | int) for entry in (*state["asked"], state["missing"]) for part in entry
        ):
            raise DataError("its questions are no names")
        sitting = cls(state, bank, store, clock)
        sitting.verdicts()
        sitting.page()
        return sitting

    def _spent_before(self) -> float:
        state = self._state
        steady = self._clock.steady()
        if state["boot"] and state["boot"] == self._clock.boot() and steady >= state["steady"]:
            return float(state["spent"]) + steady - float(state["steady"])
        return float(state["spent"]) + max(0.0, self._clock.wall() - float(state["wall"]))

    def _keep(self, *, take: bool = False) -> None:
        self._state |= {
            "spent": self.spent_s,
            "wall": self._clock.wall(),
            "steady": self._clock.steady(),
            "boot": self._clock.boot(),
        }
        self._store.keep_owned("exam", self._state["id"], self._state, take=take)

    # --- time --------------------------------------------------------------------------------
    @property
    def spent_s(self) -> float:
        """Seconds since the beginning; of an exam that is over, until then."""
        if not self.begun:
            return 0.0
        if "used_s" in self._state:
            return float(self._state["used_s"])
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
        if not self.begun:
            raise DataError("the exam has not begun; expected start() first")
        if not self.ended and self.left_s <= 0:
            self.finish()
        if self.ended:
            raise DataError("the exam is over; expected no further change. Its report is ready")
        self._keep()  # before anything changes: another window may have the exam

    # --- steps -------------------------------------------------------------------------------
    @property
    def place(self) -> int:
        """The question shown, counted from 0."""
        return int(self._state["place"])

    def go(self, index: int) -> None:
        """Show a question by its place; raises ``DataError`` for one that is not there."""
        if not 0 <= index < len(self.questions):
            raise DataError(f"question {index + 1} received, expected 1 to {len(self.questions)}")
        self._state["place"] = index
        if self.begun:
            self._keep()

    def next_open(self) -> bool:
        """Show the next question that is not fully answered, from the first on after the last; False when there is none."""
        return self._next(lambda place: place["answered"] is False)

    def next_flagged(self) -> bool:
        """Show the next question with a flag, from the first on after the last; False when there is none."""
        return self._next(lambda place: place["flagged"])

    def _next(self, wanted: Callable[[dict[str, Any]], bool]) -> bool:
        marks = self.places()
        for step in range(1, len(marks) + 1):
            place = (self.place + step) % len(marks)
            if wanted(marks[place]):
                self.go(place)
                return True
        return False

    def answer(self, choice: Answer, *, draft: bool = False) -> None:
        """Answer the question shown, again if need be; says nothing of right or wrong. An empty answer takes it back.

        Where N options are asked for, exactly N are an answer; a ``draft`` may have fewer, and its question stays open.
        """
        self._open()
        text = (
            choice
            if isinstance(choice, str)
            else str(choice)
            if isinstance(choice, (int, float))
            else " ".join(choice)
        )
        if text.strip():
            shown = self.questions[self.place]
            grade(shown, text)  # refuses what is no answer
            if not draft or short_of(shown, text) < 0:
                require_all_chosen(shown, text)
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
        shown = self.questions[self.place]
        ids = [choice.id for choice in shown.options] if isinstance(shown, Choice) else []
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
        if not self.begun:
            raise DataError("the exam has not begun; expected start() first")
        if not self.ended:
            self._keep()
            graded = zip(self.asked, self.verdicts(), strict=True)
            self._store.add(*(self._attempt(index, *pair) for index, pair in enumerate(graded)))
            used, limit = self.spent_s, self._state["minutes"] * 60
            self._state |= {
                "used_s": min(used, limit),
                "over": used >= limit,
                "right": sum(bool(verdict and verdict.right) for verdict in self.verdicts()),
                "ended_at": self._clock.wall(),
                "ended": True,
            }
            self._keep()
        return self.report()

    def _attempt(self, index: int, entry: PaperItem, verdict: Verdict | None) -> Attempt:
        known = (
            (False, 0.0, ()) if verdict is None else (verdict.right, verdict.credit, verdict.misconceptions)
        )
        right, credit, beliefs = known
        name = f"{self._state['id']}/{index}"
        return Attempt(
            name,
            self._clock.wall(),
            "exam",
            entry.item,
            entry.seed,
            self.given(index),
            right,
            credit,
            None,
            beliefs,
            self._state["id"],
        )

    def verdicts(self) -> tuple[Verdict | None, ...]:
        """The grading, None for a question without an answer. For the end alone: pages show it once ``ended``."""
        return tuple(
            grade(question, answer) if (answer := self.given(index)) else None
            for index, question in enumerate(self.questions)
        )

    def told(self) -> Verdict:
        """Key and reasons of the question shown, and what the answer was worth; raises ``DataError`` before the end."""
        if not self.ended:
            raise DataError("the exam is not over; expected finish() first")
        question, answer = self.questions[self.place], self.given(self.place)
        return grade(question, answer) if answer else unanswered(question)

    def replays(self) -> tuple[Replay, ...]:
        """The runs that decide the question shown, once the exam has ended; none before."""
        entry = self.asked[self.place]
        return replays(self._bank.item(entry.item), entry.seed, self._book) if self.ended else ()

    def sources(self) -> str:
        """The id of the question shown and what says so, once the exam has ended."""
        entry = self.asked[self.place].item
        return f"  {entry}; sources: {', '.join(self._bank.item(entry).head.source)}"

    def given(self, index: int) -> str:
        """The answer given there; empty when there is none."""
        return str(self._state["given"].get(str(index), ""))

    def report(self) -> Progress:
        """The report of an exam that has ended; raises ``DataError`` before."""
        if not self.ended:
            raise DataError("the exam is not over; expected finish() first")
        plan = blueprint(self._state["name"])
        graded = zip(self.asked, self.verdicts(), strict=True)
        attempts = [self._attempt(index, *pair) for index, pair in enumerate(graded)]
        domains = {entry.item: entry.domain for entry in self.asked}
        title = f"{plan.name} mock {self._state['seed']}"
        report = progress(
            attempts, self._bank, title, plan=plan, asked_for=domains, missing=self._state["missing"]
        )
        # page and terminal open the runs themselves, below the report
        return replace(report, sitting=self._how_it_went(), replay=())

    def _how_it_went(self) -> tuple[str, ...]:
        """Time and what was left open, for the report."""
        of, used = self._state["minutes"], self.spent_s
        time_used = f"Time used: {used / 60:.0f} of {of:g} minutes" + (
            "; time ran out." if self._state.get("over") else "."
        )
        left = [str(number) for number, place in enumerate(self.places(), 1) if not place["answered"]]
        return (time_used, f"Left open: {', '.join(left) or 'none'}.")

    def to_replay(self) -> tuple[tuple[int, Replay], ...]:
        """The first runs behind what was not right, each with its question's number."""
        found: dict[str, tuple[int, Replay]] = {}
        for number, (entry, verdict) in enumerate(zip(self.asked, self.verdicts(), strict=True), start=1):
            if len(found) == MOST or (verdict is not None and verdict.right):
                continue
            for run in replays(self._bank.item(entry.item), entry.seed, self._book)[:1]:
                found.setdefault(run.name, (number, run))
        return tuple(found.values())

    # --- what is shown -----------------------------------------------------------------------
    def page(self) -> dict[str, Any]:
        """The screen as plain JSON; it holds a key only once the exam has ended."""
        if not self.ended and self.left_s <= 0:
            try:
                self.finish()
            except OwnedElsewhere as error:
                self._notice = str(error)
        if not self.begun:
            return self._start_page()
        return {
            "title": f"{self._state['name']} mock {self._state['seed']}",
            "number": self.place + 1,
            "of": len(self.questions),
            "left_s": round(self.left_s, 1),
            "ended": self.ended,
            "question": public(self.questions[self.place]),
            "given": self.given(self.place),
            "struck": self._state["struck"].get(str(self.place), []),
            "places": self.places(),
            "missing": self._state["missing"],
            "notice": self._store.notice or self._notice,
            **(self._told() if self.ended else {}),
        }

    def places(self) -> list[dict[str, Any]]:
        """Of each question whether it is answered, flagged, and how many options its answer still lacks."""
        marks = []
        for index, shown in enumerate(self.questions):
            given = self.given(index)
            lacking = short_of(shown, given) if given else 0
            marks.append(
                {
                    "answered": bool(given) and not lacking,
                    "lacking": lacking,
                    "flagged": index in self._state["flags"],
                }
            )
        return marks

    def _start_page(self) -> dict[str, Any]:
        return {
            "title": f"{self._state['name']} mock {self._state['seed']}",
            "begun": False,
            "ended": False,
            "start": self.start_lines(),
            "minutes": self._state["minutes"],
            "notice": self._store.notice or self._notice,
        }

    def start_lines(self) -> list[str]:
        """What the exam is, before it begins: scope, what is not asked, mark, formats, time, and sittings so far."""
        plan, number = blueprint(self._state["name"]), len(self.asked)
        per_domain = Counter(entry.domain for entry in self.asked)
        return [
            f"{number} questions, {self._state['minutes']:g} minutes. The clock starts when you begin, and runs on while the page or the terminal is closed.",
            "Scope: " + ", ".join(f"{domain} {per_domain[domain]}" for domain in plan.weights) + ".",
            f"Weights: {plan.weights_from}.",
            "Asked is what concerns consumer groups, and what they touch. Not asked here, and part of the real exam:",
            *(f"- {domain}: {', '.join(lines)}" for domain, lines in plan.not_asked.items()),
            f"To learn that: {plan.elsewhere}.",
            f"Mark: none is published. The kit advises {plan.mark} % in three mocks in a row, and {plan.floor} % in every domain.",
            "Formats: choose one; choose as many as the question says; match; put into order. Nothing of right or wrong is said before the end.",
            *history_lines(self._store, plan.name),
        ]

    def _told(self) -> dict[str, Any]:
        """The parts of the screen that appear once the exam has ended."""
        return {
            "report": self.report().text(),
            "source": list(self._bank.item(self.asked[self.place].item).head.source),
            "report_replays": [f"{run.name} (question {number})" for number, run in self.to_replay()],
            "verdict": asdict(self.told()),
            "replays": [replay.name for replay in self.replays()],
            "right": [bool(verdict and verdict.right) for verdict in self.verdicts()],
        }

    def text(self, width: int | None = None) -> str:
        """The exam in words: the time left and the question shown, or the report; a question as wide as ``width``."""
        if self.ended:
            return self.report().text()
        if not self.begun:
            head = f"{self._state['name']} mock {self._state['seed']}, not begun"
            return "\n".join([head, "", *self.start_lines()])
        done = sum(place["answered"] for place in self.places())
        left = clock_text(self.left_s) if self.left_s < 120 else f"{self.left_s / 60:.0f} minutes"
        head = f"{self._state['name']} mock {self._state['seed']}: {done} of {len(self.questions)} answered, {left} left"
        return "\n".join([head, "", *question_lines(self.questions[self.place], self.place + 1, width)])


def clock_text(seconds: float) -> str:
    """Minutes and seconds.

    >>> clock_text(89.6)
    '1:30'
    """
    whole = round(seconds)
    return f"{whole // 60}:{whole % 60:02}"


def history_lines(store: Store, name: str | None = None) -> list[str]:
    """Sittings that were handed in, the latest first: mock, day, mark, time; none where there are none."""
    ended = [
        state
        for state in store.kept("exam").values()
        if state.get("ended")
        and isinstance(state.get("ended_at"), (int, float))
        and name in {None, state.get("name")}
    ]
    if not ended:
        return []
    lines = ["Sittings so far:"]
    for state in sorted(ended, key=lambda each: float(each["ended_at"]), reverse=True)[:MOST]:
        day = datetime.fromtimestamp(state["ended_at"]).strftime("%Y-%m-%d")  # noqa: DTZ006 - the learner's own day
        of = len(state["asked"])
        lines.append(
            f"- {day} {state['name']} mock {state['seed']}: {state['right']} of {of} right, "
            f"{100 * state['right'] / max(1, of):.0f} %, {state['used_s'] / 60:.0f} of {state['minutes']:g} minutes"
        )
    return lines


def _latest_first(kept: Mapping[str, dict[str, Any]]) -> list[tuple[str, dict[str, Any]]]:
    """Unfinished exams first, then those that were handed in, the latest first."""

    def latest(entry: tuple[str, dict[str, Any]]) -> tuple[bool, float]:
        wall = entry[1].get("wall")
        return not entry[1].get("ended"), float(wall) if isinstance(wall, (int, float)) else 0.0

    return sorted(kept.items(), key=latest, reverse=True)


def _new_state(
    plan: Blueprint, bank: Bank, seed: int, questions: int | None, minutes: float | None, clock: ExamClock
) -> dict[str, Any]:
    """The state of a sitting that begins now, as JSON values; raises ``DataError`` when the bank has no item for it."""
    paper = compose(plan, bank, seed, questions)
    if not paper.asked:
        raise DataError(f"the bank has no item of {plan.name}; expected some")
    draw = randbelow(10**6) + 1
    asked = [[entry.item, draw, entry.domain] for entry in paper.asked]
    Random(draw).shuffle(asked)
    return {
        "id": uuid4().hex,
        "begun": False,
        "name": plan.name,
        "seed": seed,
        "wanted": questions,
        "asked": asked,
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
