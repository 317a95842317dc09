"""A plan of a workshop: beats with minutes, what to say and show, what will be believed. Data, read from YAML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rebalance_kit.model.errors import DataError, RebalanceKitError
from rebalance_kit.quiz.items.bank import Bank, read_bank
from rebalance_kit.quiz.items.reading import Document, read_document
from rebalance_kit.quiz.sittings.poll import asked_in_poll

FOLDER = Path(__file__).parent
PREFIX = "workshop-"
_PLAN = {"title", "minutes", "for", "aims", "before", "plan_b", "beats"}
_BEAT = {"title", "minutes", "say", "poll", "lab", "compare", "watch", "hands_on", "expect", "plan_b", "take"}


@dataclass(frozen=True, slots=True)
class Scene:
    """A run that is ready to be shown: scenario, protocol, seed, and where the lab opens."""

    scenario: str
    protocol: str
    seed: int
    at_ms: int


@dataclass(frozen=True, slots=True)
class Expectation:
    """A belief that will be voiced, at which minute of the workshop, and what to reply."""

    minute: int
    belief: str
    sentence: str
    reply: str


@dataclass(frozen=True, slots=True)
class HandsOn:
    """Minutes of a beat in which the learners have the lab in their own hands, and what they find out with it."""

    minutes: int
    task: str


@dataclass(frozen=True, slots=True)
class Beat:
    """A stretch of the lesson, from minute ``starts`` on."""

    title: str
    starts: int
    minutes: int
    say: tuple[str, ...]
    watch: str = ""
    poll: str | None = None
    lab: Scene | None = None
    compare: tuple[str, ...] = ()
    expect: tuple[Expectation, ...] = ()
    plan_b: str = ""
    hands_on: HandsOn | None = None

    @property
    def ends(self) -> int:
        """The minute at which the next beat begins."""
        return self.starts + self.minutes


@dataclass(frozen=True, slots=True)
class Plan:
    """A whole workshop."""

    name: str
    title: str
    minutes: int
    audience: str
    aims: tuple[str, ...]
    before: tuple[str, ...]
    plan_b: tuple[str, ...]
    beats: tuple[Beat, ...]


def plan_names() -> tuple[str, ...]:
    """The workshops that there are."""
    return tuple(sorted(file.stem.removeprefix(PREFIX) for file in FOLDER.glob(f"{PREFIX}*.yaml")))


def read_plan(name: str, bank: Bank | None = None) -> Plan:
    """The plan of a workshop by name; raises ``DataError`` for an unknown one, or one that cannot be held as it stands."""
    if name not in plan_names():
        raise DataError(f"workshop {name!r} is unknown; expected one of {', '.join(plan_names())}")
    return plan_of(read_document(FOLDER / f"{PREFIX}{name}.yaml"), name, bank or read_bank())


def plan_of(document: Document, name: str, bank: Bank) -> Plan:
    """The plan in a document: known keys, minutes that add up, polls, runs and beliefs that exist. Raises ``DataError``."""
    raw = document.value
    _known(document, (), raw, _PLAN)
    beats: list[Beat] = []
    for number, written in enumerate(raw["beats"]):
        _known(document, ("beats", number), written, _BEAT)
        try:
            raw_beat = _taken(written["take"]) if "take" in written else written
            beats.append(_beat(raw_beat, beats[-1].ends if beats else 0, bank))
        except (RebalanceKitError, KeyError, TypeError) as error:
            line = document.line(("beats", number))
            raise DataError(f"{document.path}:{line}: beat {number + 1} cannot be held: {error}") from error
    whole = sum(beat.minutes for beat in beats)
    if whole != raw["minutes"]:
        raise DataError(
            f"{document.path}:{document.line(('minutes',))}: the beats take {whole} minutes; expected {raw['minutes']}"
        )
    return Plan(
        name,
        raw["title"],
        whole,
        raw["for"],
        tuple(raw["aims"]),
        tuple(raw["before"]),
        tuple(raw["plan_b"]),
        tuple(beats),
    )


def _known(document: Document, place: tuple[str | int, ...], raw: Any, keys: set[str]) -> None:
    names = set(raw) if isinstance(raw, Mapping) else {type(raw).__name__}
    if not isinstance(raw, Mapping) or names - keys:
        odd = ", ".join(sorted(map(str, names - keys)))
        raise DataError(
            f"{document.path}:{document.line(place)}: {odd} received; expected {', '.join(sorted(keys))}"
        )


def _taken(place: str) -> Mapping[str, Any]:
    """The beat of another plan, written ``plan/title of the beat``."""
    plan, _, title = place.partition("/")
    path = FOLDER / f"{PREFIX}{plan}.yaml"
    beats = read_document(path).value["beats"] if plan in plan_names() else ()
    for beat in beats:
        if beat.get("title") == title:
            found: Mapping[str, Any] = beat
            return found
    raise DataError(
        f"take: {place!r} is no beat of another workshop; expected PLAN/TITLE, as 90min/The first crash"
    )


def _beat(raw: Mapping[str, Any], starts: int, bank: Bank) -> Beat:
    beat = Beat(
        raw["title"],
        starts,
        raw["minutes"],
        tuple(raw["say"]),
        raw.get("watch", ""),
        raw.get("poll"),
        _scene(raw.get("lab")),
        tuple(raw.get("compare", ())),
        tuple(_expectation(expectation, starts, bank) for expectation in raw.get("expect", ())),
        raw.get("plan_b", ""),
        HandsOn(int(raw["hands_on"]["minutes"]), raw["hands_on"]["task"]) if "hands_on" in raw else None,
    )
    if beat.hands_on is not None and (beat.lab is None or not 0 < beat.hands_on.minutes <= beat.minutes):
        raise DataError(
            f"hands_on: {beat.hands_on.minutes} minutes received; expected a lab, and at most the beat's {beat.minutes}"
        )
    if beat.poll is not None:
        asked_in_poll(bank.item(beat.poll), 1)
    for scenario in beat.compare:
        _load(scenario)
    late = [expectation.belief for expectation in beat.expect if expectation.minute >= beat.ends]
    if late:
        raise DataError(
            f"{', '.join(late)} expected after the beat's end; expected a minute below {beat.minutes}"
        )
    return beat


def _scene(raw: Mapping[str, Any] | None) -> Scene | None:
    if raw is None:
        return None
    scene = Scene(raw["scenario"], raw["protocol"], int(raw["seed"]), 1000 * int(raw["at_s"]))
    if not 0 <= scene.at_ms < _load(scene.scenario).end_ms:
        raise DataError(f"at_s: {raw['at_s']} received; expected a moment within the run of {scene.scenario}")
    return scene


def _load(name: str) -> Any:
    from rebalance_kit.scenarios import load

    return load(name)


def _expectation(raw: Mapping[str, Any], starts: int, bank: Bank) -> Expectation:
    belief = raw["belief"]
    if belief not in bank.beliefs:
        raise DataError(f"belief {belief!r} is unknown; expected one of misconceptions.yaml")
    return Expectation(starts + raw["at"], belief, bank.beliefs[belief], raw["reply"])
