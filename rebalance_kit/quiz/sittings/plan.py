"""A plan up to a day: notebooks, exercises and mocks spread over the days left, and gates that answers open.

A plan is two days that are kept; where somebody stands in it is computed from the answers each time.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cache
from pathlib import Path

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.bank import Bank
from rebalance_kit.quiz.items.blueprint import blueprint
from rebalance_kit.quiz.items.reading import read_document
from rebalance_kit.quiz.sittings.store import Attempt, Store

FILE = Path(__file__).with_name("plan.yaml")
DAYS = 14
"""Days of a plan for which no last day is given."""
LONGEST = 366


@dataclass(frozen=True, slots=True)
class PlanStep:
    """Something to do, the lines of the course that it is about, the mock that it is, and the gate behind it."""

    what: str
    topics: tuple[str, ...] = ()
    mock: int | None = None
    share: int = 0
    answers: int = 0


@cache
def steps() -> tuple[PlanStep, ...]:
    """The steps of the path, in order."""
    return tuple(
        PlanStep(
            step["do"],
            tuple(step.get("topics", ())),
            step.get("mock"),
            step.get("gate", {}).get("share", 0),
            step.get("gate", {}).get("answers", 0),
        )
        for step in read_document(FILE).value["steps"]
    )


def first_answers(attempts: Iterable[Attempt]) -> dict[str, Attempt]:
    """The first answer to each item: it says what was known before the kit told the key. Questions left open are none."""
    first: dict[str, Attempt] = {}
    for attempt in attempts:
        if attempt.given:
            first.setdefault(attempt.item, attempt)
    return first


def keep_plan(store: Store, name: str, first: date, until: date) -> None:
    """Keep a plan's days; raises ``DataError`` for a last day that is past or too far away."""
    if not 1 <= (until - first).days < LONGEST:
        raise DataError(
            f"the last day {until} received, expected one after {first} and less than {LONGEST} days away"
        )
    store.keep("plan", blueprint(name).name, {"first": first.isoformat(), "until": until.isoformat()})


def kept_plan(store: Store, name: str) -> tuple[date, date] | None:
    """The first and the last day of the plan that is kept; None where there is none that can be read."""
    state = store.kept("plan").get(blueprint(name).name, {})
    try:
        return date.fromisoformat(str(state["first"])), date.fromisoformat(str(state["until"]))
    except (KeyError, ValueError):
        return None


def dated(first: date, until: date) -> tuple[tuple[date, PlanStep], ...]:
    """Each step with its day: spread evenly, the last one on the day before the last."""
    path = steps()
    span = max(0, (until - first).days - 1)
    return tuple(
        (first + timedelta(days=round(place * span / max(1, len(path) - 1))), step)
        for place, step in enumerate(path)
    )


def gate_open(step: PlanStep, attempts: Mapping[str, Attempt]) -> tuple[bool, str]:
    """Whether the gate behind a step is passed, and how far it is; ``attempts`` are first answers."""
    right = sum(attempt.correct for attempt in attempts.values())
    asked = len(attempts)
    share = round(100 * right / asked) if asked else 0
    passed = asked >= step.answers and share >= step.share
    wanted = f"{step.share} % of at least {step.answers} first answers right"
    return passed, f"gate: {wanted}; so far {right} of {asked}, {share} %"


def plan_lines(store: Store, bank: Bank, name: str, today: date) -> list[str]:
    """The plan in words: each day with what to do, mocks that were handed in, gates open and shut."""
    days = kept_plan(store, name)
    if days is None:
        return [f"No plan for {blueprint(name).name} yet; rebalance-kit plan {name} --until DATE makes one."]
    known = {item.head.id for item in bank.items}
    first = {item: one for item, one in first_answers(store.attempts()).items() if item in known}
    mocks = _handed_in(store, blueprint(name).name)
    lines = [f"{blueprint(name).name}, {days[0]} to {days[1]}; every day also rebalance-kit today {name}."]
    shut = False
    for day, step in dated(*days):
        mark = mocks.get(step.mock, "") if step.mock else ""
        here = " <- today" if day == today else ""
        lines.append(f"{day:%a %d %b}  {step.what}{f' ({mark})' if mark else ''}{here}")
        if step.answers:
            passed, said = gate_open(step, first)
            lines.append(f"            {'open' if passed else 'shut'}, {said}")
            shut = shut or (not passed and day < today)
    if shut:
        lines.append("A gate that is shut and past its day: repeat the notebooks above it before you go on.")
    return lines


def _handed_in(store: Store, name: str) -> dict[int | None, str]:
    """Whole mocks that were handed in, with their mark."""
    return {
        state.get("seed"): f"{state['right']} of {len(state['asked'])} right"
        for state in store.kept("exam").values()
        if state.get("name") == name
        and state.get("ended")
        and state.get("wanted") is None
        and "right" in state
    }


def day_of(at: float) -> date:
    """The learner's own day of a moment."""
    return datetime.fromtimestamp(at).date()  # noqa: DTZ006 - the day on the wall, not in Greenwich


def read_day(text: str) -> date:
    """A day written as 2026-12-31; raises ``DataError``."""
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise DataError(f"the day {text!r} received, expected one such as 2026-12-31") from error
