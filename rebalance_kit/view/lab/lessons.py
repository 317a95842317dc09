"""The lessons of the lab: scenarios of the kit in an order to learn in, read from the ``lesson:`` block of their YAML.

A block says where the lesson stands (``group``, ``order``), what to ``try`` and ``watch``, under which other words people
look for it (``also_called``), whether records come ``twice`` or are ``skipped`` (``finds``), who ``dies`` of it, where its
story ``begins``, and its ``beats``: the kind of step, what the lesson says there, and which step of that kind (``nth``,
-1: the last). A test runs every lesson under every protocol and asks for each of these sentences.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from rebalance_kit.model.errors import ScenarioError, nearest
from rebalance_kit.scenarios import SUFFIX, load, names, source
from rebalance_kit.simulation.scenario.scenario import THREE_PROTOCOLS
from rebalance_kit.simulation.scenario.yaml_nodes import Nodes, compose
from rebalance_kit.view.lab.tabs.why import STEP_KINDS

if TYPE_CHECKING:
    from yaml.nodes import Node

GROUPS = (
    "First steps",
    "Barriers and clocks",
    "Callbacks and commits",
    "Identity",
    "Assignors",
    "Migration",
    "Operations",
    "Defects of releases",
)
"""Headings of the menu, in its order."""
FINDS: Mapping[str, str] = {
    "twice": "records come twice, are delivered again: duplicates, redelivery, at least once",
    "skipped": "records are lost, skipped, never read: data loss",
}
"""What the search finds a lesson by in which records come twice (dozens of them) or are skipped."""
NEEDED = ("group", "order", "try", "watch", "beats")
KEYS = (*NEEDED, "also_called", "finds", "begins", "dies")
_BLOCK = re.compile(r"^lesson:.*(?:\n(?:[ #].*)?)*", re.MULTILINE)
ON_KUBERNETES = re.compile(r"\bpods?\b|HPA|StatefulSet|rollout|CPU throttling")


class LessonBeat(NamedTuple):
    """A sentence of a lesson: the kind of step it is said at, the words, and the how-manieth step of that kind (-1: the last)."""

    kind: str
    words: str
    nth: int = 1


class Lesson(NamedTuple):
    """One lesson; ``dies`` holds of each protocol whose process ends of an error, ``begins_ms`` None: at the first action."""

    name: str
    group: str
    order: int
    try_: str
    watch: str
    beats: tuple[LessonBeat, ...]
    also_called: str = ""
    finds: tuple[str, ...] = ()
    begins_ms: int | None = None
    dies: Mapping[str, tuple[str, ...]] = dict.fromkeys(THREE_PROTOCOLS, ())


def read_lesson(text: str, name: str) -> Lesson:
    """The lesson in the YAML text of scenario ``name``; raises ``ScenarioError`` naming file, line, key and what is allowed there."""
    nodes, entries = _block(text, name + SUFFIX)
    beats = nodes.sequence(entries["beats"], "lesson.beats")
    return Lesson(
        name,
        _one_of(nodes, entries["group"], "lesson.group", GROUPS),
        nodes.integer(entries["order"], "lesson.order"),
        nodes.text(entries["try"], "lesson.try"),
        nodes.text(entries["watch"], "lesson.watch"),
        tuple(_beat(nodes, beat, f"lesson.beats[{number}]") for number, beat in enumerate(beats)),
        nodes.text(entries["also_called"], "lesson.also_called") if "also_called" in entries else "",
        tuple(
            _one_of(nodes, one, "lesson.finds", FINDS)
            for one in nodes.sequence(entries["finds"], "lesson.finds")
        )
        if "finds" in entries
        else (),
        nodes.time_ms(entries["begins"], "lesson.begins") if "begins" in entries else None,
        _dies(nodes, entries["dies"]) if "dies" in entries else dict.fromkeys(THREE_PROTOCOLS, ()),
    )


def _block(text: str, where: str) -> tuple[Nodes, dict[str, Node]]:
    """The entries of the block; the rest of the file, which a scenario's own reader checks, is not read again."""
    nodes = Nodes(where)
    found = _BLOCK.search(text)
    if found is None:
        raise ScenarioError(f"{where}:1: has no lesson; expected lesson: with {', '.join(NEEDED)}")
    root = compose("\n" * text.count("\n", 0, found.start()) + found[0], where)
    ((at, block),) = nodes.mapping(root, "").values()
    entries = {key: value for key, (_, value) in nodes.mapping(block, "lesson", KEYS).items()}
    for needed in NEEDED:
        if needed not in entries:
            nodes.fail(at, "lesson", f"has no {needed}; expected {', '.join(NEEDED)}")
    return nodes, entries


def _one_of(nodes: Nodes, node: Node, key: str, known: Mapping[str, str] | tuple[str, ...]) -> str:
    word = nodes.text(node, key)
    if word not in known:
        nodes.fail(node, key, f"got {word!r}{nearest(word, known)} (expected one of {', '.join(known)})")
    return word


def _beat(nodes: Nodes, node: Node, key: str) -> LessonBeat:
    entries = {name: value for name, (_, value) in nodes.mapping(node, key, ("kind", "says", "nth")).items()}
    for needed in ("kind", "says"):
        if needed not in entries:
            nodes.fail(node, key, f"has no {needed}; expected kind and says")
    nth = nodes.integer(entries["nth"], f"{key}.nth") if "nth" in entries else 1
    if nth == 0:
        nodes.fail(
            entries["nth"], f"{key}.nth", "got 0; expected 1 for the first step of its kind, -1 for the last"
        )
    kind = _one_of(nodes, entries["kind"], f"{key}.kind", STEP_KINDS)
    return LessonBeat(kind, nodes.text(entries["says"], f"{key}.says"), nth)


def _dies(nodes: Nodes, node: Node) -> Mapping[str, tuple[str, ...]]:
    """Who dies: one list for every protocol, or one for each."""
    from yaml.nodes import MappingNode

    if not isinstance(node, MappingNode):
        return dict.fromkeys(THREE_PROTOCOLS, nodes.names(node, "lesson.dies"))
    told = nodes.mapping(node, "lesson.dies", THREE_PROTOCOLS)
    return {
        name: nodes.names(told[name][1], f"lesson.dies.{name}") if name in told else ()
        for name in THREE_PROTOCOLS
    }


@lru_cache(maxsize=1)
def lessons() -> tuple[Lesson, ...]:
    """All lessons in the order of the menu; raises ``ScenarioError`` where one has no block, or the place of another."""
    places: dict[tuple[int, int], Lesson] = {}
    read = [read_lesson(source(name), name) for name in names()]
    for lesson in read:
        place = (GROUPS.index(lesson.group), lesson.order)
        if place in places:
            taken = ", ".join(
                str(order) for order in sorted(one.order for one in read if one.group == lesson.group)
            )
            nodes, entries = _block(source(lesson.name), lesson.name + SUFFIX)
            nodes.fail(
                entries["order"],
                "lesson.order",
                f"{lesson.order} is the place of {places[place].name}; expected a free one ({lesson.group} has {taken})",
            )
        places[place] = lesson
    return tuple(places[place] for place in sorted(places))


def lesson_of(name: str) -> Lesson | None:
    """The lesson of a scenario's name, None for a scenario of one's own."""
    return next((lesson for lesson in lessons() if lesson.name == name), None)


def search_words(lesson: Lesson) -> str:
    """What the search finds a lesson by, beside its title and what is to be tried in it.

    >>> search_words(lesson_of("join"))
    'new consumer, add a pod, Kubernetes, k8s'
    """
    words = lesson.also_called
    also = f"{words}, Kubernetes, k8s" if ON_KUBERNETES.search(words) else words
    return "; ".join([*(FINDS[kind] for kind in lesson.finds), also])


@lru_cache(maxsize=1)
def lesson_rows() -> list[dict[str, str]]:
    """All lessons with the titles and stories of their scenarios, as JSON values."""
    rows = []
    for lesson in lessons():
        scenario = load(lesson.name)
        rows.append(
            {
                "name": lesson.name,
                "group": lesson.group,
                "title": scenario.title,
                "story": scenario.story,
                "try": lesson.try_,
                "watch": lesson.watch,
                "finds": search_words(lesson),
            }
        )
    return rows
