"""How many members and partitions a scenario begins with, as settings of the lab."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from rebalance_kit.model.key_types import RefusedConfig
from rebalance_kit.simulation.scenario.scenario import MemberSpec, Scenario

MEMBERS = "members"
PARTITIONS = "partitions."
"""Before the name of the topic."""
MOST_MEMBERS, MOST_PARTITIONS = 100, 1000
MEMBER_HELP = (
    "Members that the run begins with; one more has the configuration of the first, the last one goes first."
)
TOPIC_HELP = "Partitions that the topic begins with."


def is_size(name: str) -> bool:
    """Whether a setting is a size of the group.

    >>> is_size("partitions.orders"), is_size("processing_ms")
    (True, False)
    """
    return name == MEMBERS or name.startswith(PARTITIONS)


def sizes(scenario: Scenario) -> dict[str, tuple[int, int]]:
    """Each size by its name, with the most that is allowed."""
    found = {MEMBERS: (len(scenario.members), MOST_MEMBERS)} if scenario.members else {}
    return found | {
        f"{PARTITIONS}{topic.name}": (topic.partitions, MOST_PARTITIONS) for topic in scenario.topics
    }


def changed_by(value: object, lesson: object, default: object) -> str:
    """Who has set a value: "here" where it is another one than the lesson's, "lesson" where that is no default.

    >>> changed_by(5, 3, 3), changed_by(3, 3, 1), changed_by(1, 1, 1)
    ('here', 'lesson', '')
    """
    if value != lesson:
        return "here"
    return "" if value == default else "lesson"


def size_fields(scenario: Scenario, lesson: Scenario) -> list[dict[str, Any]]:
    """The sizes as fields of the settings drawer; those of the lesson are the defaults."""
    own = {name: value for name, (value, _) in sizes(lesson).items()}
    return [
        {
            "name": name,
            "value": str(value),
            "default": str(own.get(name, value)),
            "allowed": f"a whole number, 1 to {most}",
            "help": MEMBER_HELP if name == MEMBERS else TOPIC_HELP,
            "where": "the group" if name == MEMBERS else "the topic",
            "changed": changed_by(value, own.get(name, value), own.get(name, value)),
        }
        for name, (value, most) in sizes(scenario).items()
    ]


def with_sizes(
    base: Scenario, settings: Mapping[str, Any], needed: Mapping[str, str], taken: Collection[str] = ()
) -> Scenario:
    """The scenario with other sizes from the start; settings that are no sizes are left alone.

    ``needed`` says of members what is done to them: they cannot be taken away. ``taken`` are the names of members that
    come later. Raises ``RefusedConfig`` for a size that cannot be.
    """
    made = base
    for name, value in settings.items():
        if not is_size(name):
            continue
        known = sizes(base).get(name)
        if known is None:
            raise RefusedConfig(f"{name!r} cannot be set: there is no such topic", (name,), "ValueError")
        count = _count(name, str(value).strip() or str(known[0]), known[1])
        if name == MEMBERS:
            made = _with_members(made, count, needed, taken)
        else:
            topics = (
                replace(topic, partitions=count) if f"{PARTITIONS}{topic.name}" == name else topic
                for topic in made.topics
            )
            made = replace(made, topics=tuple(topics))
    return made


def _count(name: str, text: str, most: int) -> int:
    if not (text.isdecimal() and len(text) < 12) or not 1 <= int(text) <= most:
        raise RefusedConfig(
            f"got {text[:20]!r}; expected a whole number from 1 to {most}", (name,), "ValueError"
        )
    return int(text)


def _with_members(base: Scenario, count: int, needed: Mapping[str, str], taken: Collection[str]) -> Scenario:
    everybody = [*base.members, *_fresh(base, set(taken))]
    for spec in everybody[count:]:
        if spec.name in needed:
            raise RefusedConfig(
                f"{spec.name} is needed, because {needed[spec.name]}; undo that first",
                (MEMBERS,),
                "ValueError",
            )
    return replace(base, members=tuple(everybody[:count]))


def _fresh(base: Scenario, taken: set[str]) -> Iterator[MemberSpec]:
    """Members like the first one, under names that nobody has; as many as there may be in all."""
    first = base.members[0]
    taken |= {spec.name for spec in base.members}
    stem = first.name.rpartition("-")[0] or first.name
    for number in range(len(base.members) + 1, MOST_MEMBERS + len(taken) + 1):
        name = f"{stem}-{number}"
        if name not in taken:
            static = {"group.instance.id": name} if "group.instance.id" in first.configs else {}
            yield replace(first, name=name, configs={**first.configs, **static}, lives=())
