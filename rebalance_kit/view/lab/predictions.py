"""Predict: the outcome of a deed is asked for before it is shown, and the guess is scored and kept.

Questions and answers are drawn from the run that the deed makes; nothing of it travels to the page before
the answers are in.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import NoneType
from typing import NotRequired, TypedDict

from rebalance_kit.analysis.deliveries import Gap, gaps
from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.view.lab.state import LabState
from rebalance_kit.view.lab.tabs.why import steps
from rebalance_kit.view.words.phrases import LISTED, seconds

MANY = 24
"""Above that many partitions they are asked for by number, not by name."""
NEXT = ("JoinGroup", "SyncGroup", "LeaveGroup", "Heartbeat", "ConsumerGroupHeartbeat", "OffsetCommit")
REASONS = {
    "crash": "{who} crashed",
    "frozen": "{who} froze",
    "stall": "{who} did not call poll()",
    "revoke": "{who} gave it up",
    "lost": "{who} lost it",
    "close": "{who} was closed",
}
"""What begins a gap, by the reason of the fetch that stopped."""
STOPPING = ("action", "gives up all", "callback revoked", "callback lost", "poll_timeout", "process_ended")
"""Steps of Why (``Step.kind``) that make a member stop reading what it has."""
CLOSE = 0.25
"""A length of time counts as right within a quarter of the truth, or half a second."""


Truth = Sequence[str] | float | str


class Mark(TypedDict):
    """One answer marked: score from 0 to 1; misses and false alarms where things were ticked."""

    truth: Truth
    why: str
    answer: object
    score: float
    missed: NotRequired[list[str]]
    false: NotRequired[list[str]]


class Marks(TypedDict):
    """All answers of a prediction with their mean score."""

    marks: list[Mark]
    score: float


class Prediction(Marks):
    """The marks of one prediction, with the scenario and the moment it was made in."""

    title: str
    at_ms: int


@dataclass(frozen=True, slots=True)
class Question:
    """One question: kind (tick, number, choice), words, options, the truth, why it is so."""

    kind: str
    words: str
    options: tuple[str, ...]
    truth: Truth
    why: str

    def asked(self) -> dict[str, object]:
        """The question without its answer, for the page."""
        return {"kind": self.kind, "words": self.words, "options": list(self.options)}

    def marked(self, answer: object) -> Mark:
        """Score an answer from 0 to 1; raises ``TypeError`` or ``ValueError`` for one that cannot be read."""
        mark = Mark(truth=self.truth, why=self.why, answer=answer, score=0.0)
        if isinstance(self.truth, str):
            return {**mark, "score": float(answer == self.truth)}
        if isinstance(self.truth, Sequence):
            return _ticked(mark, answer, set(self.truth))
        if answer in {None, ""}:
            return mark
        if not isinstance(answer, (str, int, float)):
            raise TypeError(f"{answer!r} received, expected a number")
        error = abs(float(answer) - self.truth)
        return {**mark, "score": float(error <= max(0.5, CLOSE * self.truth))}


def _ticked(mark: Mark, answer: object, wanted: set[str]) -> Mark:
    """A mark for ticked names, with misses and false alarms."""
    if not isinstance(answer, (Iterable, NoneType)):
        raise TypeError(f"{answer!r} received, expected names")
    ticked = set(answer or ())
    hits, false = len(ticked & wanted), len(ticked - wanted)
    score = 1.0 if ticked == wanted else max(0, hits - false) / max(1, len(wanted))
    return {
        **mark,
        "score": round(score, 2),
        "missed": sorted(wanted - ticked),
        "false": sorted(ticked - wanted),
    }


def questions(now: LabState, then: LabState, at_ms: int) -> tuple[Question, ...]:
    """Questions about a deed at ``at_ms`` that leads from one state to another."""
    return (
        _moves(now, then, at_ms),
        _stops(then, at_ms),
        _how_long(then, at_ms),
        *_next_message(then, at_ms),
    )


def _moves(now: LabState, then: LabState, at_ms: int) -> Question:
    before = {name: track.at(at_ms).owner for name, track in now.boards.partitions.items()}
    after = {name: track.states[-1].owner for name, track in then.boards.partitions.items()}
    moved = [name for name, owner in after.items() if before.get(name) != owner]
    orphans = sum(after[name] is None for name in moved)
    nobody = f"; {orphans} of them will have none" if orphans else ""
    keep = "does not keep its" if len(moved) == 1 else "do not keep their"
    why = f"{len(moved)} of {len(after)} partitions {keep} owner of {at_ms / 1000:.1f} s until the run ends{nobody}."
    if len(after) > MANY:
        return Question(
            "number",
            f"How many of the {len(after)} partitions will have another owner, or none, when the run ends?",
            (),
            len(moved),
            why,
        )
    return Question(
        "tick",
        "Which partitions will have another owner, or none, when the run ends?",
        tuple(after),
        moved,
        why,
    )


def _stops(then: LabState, at_ms: int) -> Question:
    names = tuple(
        name
        for name, track in then.boards.members.items()
        if track.at(at_ms - 1 if at_ms else 0).life == "alive"
    )
    stopped = []
    for name in names:
        tracks = [
            track for track in then.boards.partitions.values() if track.at(max(0, at_ms - 1)).owner == name
        ]
        if any(
            not state.flows
            for track in tracks
            for moment, state in zip(track.times, track.states, strict=True)
            if moment >= at_ms
        ):
            stopped.append(name)
    why = "A member stops when any partition that it has now is for a moment read by nobody."
    if len(stopped) <= LISTED and len(then.boards.partitions) <= MANY:
        why = " ".join([why, *_what_stopped(then, stopped, at_ms)])
    if len(names) > MANY:
        words = f"How many of the {len(names)} members will stop reading one of their partitions, if only for a moment?"
        return Question("number", words, (), len(stopped), f"{len(stopped)} members. {why}")
    return Question(
        "tick",
        "Which members will stop reading one of their partitions, if only for a moment?",
        names,
        stopped,
        why,
    )


def _what_stopped(then: LabState, stopped: Sequence[str], at_ms: int) -> Iterator[str]:
    """What each member does, or what happens to it, when its partitions first stop, as Why tells it."""
    account = [step for step in steps(then.boards) if step.kind.startswith(STOPPING)]
    for name in stopped:
        first_ms = min(
            moment
            for track in then.boards.partitions.values()
            if track.at(max(0, at_ms - 1)).owner == name
            for moment, state in zip(track.times, track.states, strict=True)
            if moment >= at_ms and not state.flows
        )
        about = [
            (step.at_ms, sentence)
            for step in account
            for sentence in step.sentences
            if at_ms <= step.at_ms <= first_ms and sentence.startswith(f"{name} ")
        ]
        if about:
            yield f"{seconds(about[-1][0])}: {about[-1][1]}"


def _how_long(then: LabState, at_ms: int) -> Question:
    longest_gap = max(gaps(then.boards.trace, at_ms), key=lambda gap: gap.within(at_ms), default=None)
    longest = longest_gap.within(at_ms) / 1000 if longest_gap is not None else 0.0
    why = "No partition is unread." if longest_gap is None else _told_of(longest_gap, at_ms)
    return Question(
        "number",
        "How many seconds does the longest gap of a partition last? An answer within a quarter of it is right.",
        (),
        round(longest, 1),
        why,
    )


def _told_of(gap: Gap, at_ms: int) -> str:
    """From when to when the gap lasts, what began it and who ended it."""
    began = REASONS.get(gap.cause or "", f"{gap.before} stopped reading it")
    begun = max(gap.from_ms, at_ms)
    ended = f"until {gap.after} read it at {seconds(gap.to_ms)}" if gap.after else "to the end"
    return f"{gap.partition} is unread for {seconds(gap.to_ms - begun)}: {began.format(who=gap.before)} at {seconds(begun)}, {ended}."


def _next_message(then: LabState, at_ms: int) -> tuple[Question, ...]:
    """The next request of the group's protocol, with two others that it could have been."""
    quiet = {"Heartbeat", "ConsumerGroupHeartbeat", "OffsetCommit"}
    sent = [message for message in then.boards.messages if message.request and message.sent_ms >= at_ms]
    first = next((message for message in sent if message.api not in quiet), sent[0] if sent else None)
    if first is None:
        return ()
    what = (
        "Which request other than heartbeats and commits is sent next?"
        if first.api not in quiet
        else "Which request is sent next?"
    )
    dice = random.Random(f"{then.boards.trace.run_id}/{at_ms}")
    fit = [api for api in NEXT if api != first.api and (first.api in quiet or api not in quiet)]
    others = dice.sample(fit, min(2, len(fit)))
    options = sorted([first.api, *others])
    why = f"{first.member} sends {first.api} at {first.sent_ms / 1000:.1f} s."
    return (Question("choice", what, tuple(options), first.api, why),)


def marks(questions: tuple[Question, ...], answers: object) -> Marks:
    """All answers marked; raises ``ScenarioError`` for answers that do not fit the questions."""
    if not isinstance(answers, list) or len(answers) != len(questions):
        raise ScenarioError(f"got {str(answers)[:60]} as answers; expected a list of {len(questions)}")
    try:
        marked = [question.marked(answer) for question, answer in zip(questions, answers, strict=True)]
    except (TypeError, ValueError) as error:
        raise ScenarioError(f"the answers cannot be read: {error}") from error
    return {"marks": marked, "score": round(sum(mark["score"] for mark in marked) / len(marked), 2)}


def summary(predictions: Sequence[Prediction]) -> str:
    """All predictions so far, in one sentence."""
    if not predictions:
        return "Nothing was predicted yet."
    mean = sum(prediction["score"] for prediction in predictions) / len(predictions)
    return f"{len(predictions)} predicted, {mean:.0%} right."
