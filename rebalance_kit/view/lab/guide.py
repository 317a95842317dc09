"""Guided playing: the beats of a run, one sentence and one rule each, and what the page is given of them.

The beats of a run: the steps of Why at which guided playing stops, one per phase of a rebalance.

A lesson says some of them in its own words (``lessons``); the others are told as Why tells them. Nothing is said
that the run does not show: a beat is a step of the run's account, with the rule of that step.

What the page is given to guide through a run: the account of Why, and the beats in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.lab.lessons import LessonBeat, lesson_of
from rebalance_kit.view.lab.state import LabState
from rebalance_kit.view.lab.tabs.why import Step, joined, steps, why_entries

FULL_ROUNDS = 2
"""So many rebalances of a run, or so many returns to rest, are told phase by phase; of later ones what the lesson names."""
LEAD_MS = 10_000
"""A member that starts so shortly before the first action belongs to the story."""
LATE_MS = 6_500
PHASES: Mapping[str, str] = MappingProxyType(
    {
        "action": "cause",
        "removed": "detection",
        "poll_timeout": "detection",
        "coordinator_down": "detection",
        "coordinator_up": "return",
        "member_away": "detection",
        "process_ended": "detection",
        "member_added": "arrival",
        "member_replaced": "identity",
        "static_kept": "identity",
        "member_refused": "identity",
        "group_converted": "identity",
        "group_state": "rebalance",
        "epoch_bump": "rebalance",
        "rejoin_requested": "hearing",
        "gives up all": "revocation",
        "told to give up": "revocation",
        "callback revoked": "revocation",
        "callback lost": "revocation",
        "keeps all": "join",
        "generation": "plan",
        "target": "plan",
        "assignment": "assignment",
        "reconciled": "assignment",
        "callback assigned": "assignment",
        "joins once more": "follow-up",
        "twice": "records",
        "skipped": "records",
        "flows again": "end",
    }
)
"""The phase of each kind of step; a kind without one is no beat unless a lesson names it."""
ONCE = frozenset({"hearing", "join", "assignment", "follow-up"})
"""Phases that are told of the first rebalance alone."""
FIRST = "two-consumers"
FIRST_BEATS = (
    LessonBeat("member_added", "The first member is in the group; a second one is on its way."),
    LessonBeat("generation", "The wait for more members is over, and the leader deals the partitions."),
    LessonBeat("assignment", "Each member hears its share, and only now does anything flow."),
    LessonBeat("target", "The coordinator itself deals the partitions; no member has to wait for another."),
)
"""What the lab says of the run that it opens with, which is no lesson of the menu (``state.first_lesson``)."""
HEARS = "will re-join: group is already rebalancing"
_REASON = re.compile(r" \((?:[^()]|\([^()]*\))*\)\.")


class Beat(NamedTuple):
    """Where guided playing stops: the moment, one sentence, and the step of Why (by number) whose rule is lit."""

    at_ms: int
    words: str
    step: int


def beats(boards: Boards, scenario: Scenario, *, as_written: bool = True) -> list[Beat]:
    """The beats of a run in order of time, from where its story begins.

    The lesson speaks in its own words only of the run ``as_written``: after a deed or with other chances they might be wrong.
    """
    return beats_from(boards, story_start_ms(scenario), lesson_beats(scenario) if as_written else ())


def beats_from(boards: Boards, start_ms: int, told: Sequence[LessonBeat] = ()) -> list[Beat]:
    """The beats of a run from a moment on; ``told`` is what a lesson says of it in its own words."""
    account = steps(boards)
    own = own_steps(account, told, start_ms)
    chosen = _chosen(account, start_ms, own)
    return [Beat(account[at].at_ms, own.get(at) or _plainly(account[at]), at) for at in chosen]


def lesson_beats(scenario: Scenario) -> Sequence[LessonBeat]:
    """What the lesson of a scenario says in its own words."""
    if scenario.name == FIRST:
        return FIRST_BEATS
    lesson = lesson_of(scenario.name)
    return lesson.beats if lesson else ()


def story_start_ms(scenario: Scenario) -> int:
    """Where the lesson says, else the first action or late start; 0 where nothing happens but the start itself."""
    lesson = lesson_of(scenario.name)
    if lesson and lesson.begins_ms is not None:
        return lesson.begins_ms
    acts = [action.at_ms for action in scenario.actions]
    late = [member.start_ms for member in scenario.members if (member.start_ms or 0) >= LATE_MS]
    starts = [at_ms for at_ms in late if at_ms is not None and (not acts or at_ms >= min(acts) - LEAD_MS)]
    return min([*acts, *starts], default=0)


def own_steps(account: Sequence[Step], told: Sequence[LessonBeat], start_ms: int) -> dict[int, str]:
    """The steps of a run that a lesson tells in its own words, by number; those that the run does not have are left out."""
    found = {}
    for beat in told:
        places = [
            place for place, step in enumerate(account) if step.at_ms >= start_ms and step.kind == beat.kind
        ]
        nth = beat.nth - 1 if beat.nth > 0 else beat.nth + len(places)
        if 0 <= nth < len(places):
            found[places[nth]] = beat.words
    return found


def _chosen(account: Sequence[Step], start_ms: int, own: Mapping[int, str]) -> list[int]:
    """Numbers of the steps that are beats: the first of each phase in each of the first rebalances, and the lesson's own."""
    last = max((place for place, step in enumerate(account) if step.kind == "flows again"), default=-1)
    chosen, rebalances, ends, seen = [], 0, 0, set[str]()
    for place, step in enumerate(account):
        if step.at_ms < start_ms:
            continue
        phase = _phase(step)
        if phase in {"cause", "rebalance"}:
            rebalances += phase == "rebalance"
            seen &= {"cause", "detection", "arrival"} if phase == "rebalance" else ONCE
        told = ends < FULL_ROUNDS and (rebalances <= 1 or (rebalances <= FULL_ROUNDS and phase not in ONCE))
        ends += phase == "end"
        if place in own or place == last or (told and phase is not None and phase not in seen):
            chosen.append(place)
        seen.add(phase or step.kind)
    return chosen


def _phase(step: Step) -> str | None:
    """The phase that a step belongs to; None for one that changes nothing to be seen."""
    if step.words.endswith("with nothing."):
        return None
    if step.kind == "rejoin_requested" and "leaving the group" in step.words:
        return None
    return PHASES.get(step.kind) or PHASES.get(step.kind.partition(" ")[0])


def _plainly(step: Step) -> str:
    """A step in one sentence, without the reason that the coordinator logs."""
    words = _REASON.sub(".", joined(step.sentences, 1)).replace(
        HEARS, "hears of the rebalance with its heartbeat"
    )
    return f"The{words[3:]}" if words.startswith("the ") else words


def guide_of(state: LabState) -> dict[str, object]:
    """``entries`` of Why, and ``beats``: [ms, sentence, number of the entry whose rule is lit]."""
    as_written = not state.done and state.seed is None
    return _content(state.boards, beats(state.boards, state.scenario, as_written=as_written))


def guide_of_run(boards: Boards) -> dict[str, object]:
    """The same of a run of which no scenario is at hand: from where it is counted."""
    return _content(boards, beats_from(boards, boards.watched_from_ms))


def _content(boards: Boards, told: list[Beat]) -> dict[str, object]:
    return {"entries": why_entries(boards), "beats": [list(beat) for beat in told]}
