"""How an assignor deals partitions to members, step by step: a table with the number of each step, and the steps as text."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap

from rebalance_kit.assignors.contract import Assignment, Cluster, MemberSubscription, Step
from rebalance_kit.assignors.registry import plan
from rebalance_kit.model.errors import AssignorError
from rebalance_kit.model.topology import TopicId, TopicPartition, parse_partition
from rebalance_kit.view.style.showing import WIDTH, Picture, closed, page, words
from rebalance_kit.view.style.theme import ROLES, looks
from rebalance_kit.view.words.phrases import partitions_in_words

MOST_COLUMNS, MOST_MEMBERS = 24, 12
LEFT, TOP, ROW = 130, 84, 46
LINE = 108
"""Signs in a line of the text; JupyterLab breaks longer ones in the middle of a word."""


@dataclass(frozen=True, slots=True, repr=False)
class Dealt(Picture):
    """The picture and its text, with the ``assignment`` itself: partitions by member."""

    assignment: Mapping[str, tuple[TopicPartition, ...]]


def deal(
    assignor: str,
    topics: Mapping[str, int],
    members: int | Mapping[str, Sequence[str]],
    owned: Mapping[str, Sequence[str]] | None = None,
    racks: Mapping[str, str] | None = None,
    replica_racks: Mapping[str, Sequence[Sequence[str]]] | None = None,
) -> Dealt:
    """Let an assignor deal ``topics`` (partitions by name) to ``members``, and draw each of its steps.

    ``members`` is a number (``c1``, ``c2`` ... that subscribe to everything) or the topics by member. ``owned`` gives
    what a member owns already, as ``["orders-0"]``; ``racks`` the rack of a member, ``replica_racks`` the racks that
    hold each partition of a topic. Raises ``AssignorError`` for an unknown assignor, for a partition that does not
    exist and for more than 12 members or 24 partitions, which no picture of this kind can show.
    """
    subscriptions = _subscriptions(topics, members, owned or {}, racks or {})
    cluster = Cluster(
        dict(topics),
        {topic: TopicId(0, number) for number, topic in enumerate(topics, start=1)},
        {topic: tuple(map(tuple, lists)) for topic, lists in (replica_racks or {}).items()},
    )
    columns = [TopicPartition(topic, number) for topic, count in topics.items() for number in range(count)]
    if len(columns) > MOST_COLUMNS or len(subscriptions) > MOST_MEMBERS:
        raise AssignorError(
            f"{len(subscriptions)} members and {len(columns)} partitions: expected at most {MOST_MEMBERS} and "
            f"{MOST_COLUMNS} in a picture; use rebalance_kit.assignors.assign for more"
        )
    steps: list[Step] = []
    assignment = plan(assignor, cluster, subscriptions, steps).assignment
    names = [subscription.member_id for subscription in subscriptions]
    text = _told(assignor, steps, assignment, names)
    had = {(subscription.member_id, gone) for subscription in subscriptions for gone in subscription.owned}
    return Dealt(_drawn(assignor, columns, names, _numbers(steps, had), assignment), text, assignment)


def _subscriptions(
    topics: Mapping[str, int],
    members: int | Mapping[str, Sequence[str]],
    owned: Mapping[str, Sequence[str]],
    racks: Mapping[str, str],
) -> list[MemberSubscription]:
    wanted = (
        {f"c{number}": tuple(topics) for number in range(1, members + 1)}
        if isinstance(members, int)
        else members
    )
    if not wanted:
        raise AssignorError("members: 0 given; expected at least one")
    strangers = (owned.keys() | racks.keys()) - wanted.keys()
    if strangers:
        raise AssignorError(f"{', '.join(sorted(strangers))}: no such member; expected {', '.join(wanted)}")
    return [
        MemberSubscription(
            name,
            tuple(subscribed),
            owned=tuple(_partition(text, topics) for text in owned.get(name, ())),
            generation=1 if name in owned else None,
            rack=racks.get(name),
        )
        for name, subscribed in wanted.items()
    ]


def _partition(text: str, topics: Mapping[str, int]) -> TopicPartition:
    try:
        partition = parse_partition(text)
    except ValueError as error:
        raise AssignorError(f"owned: {text!r} is not a partition; expected a name like orders-0") from error
    if partition.partition >= topics.get(partition.topic, 0):
        raise AssignorError(f"owned: {text} does not exist; topics are {dict(topics)}")
    return partition


def _told(assignor: str, steps: Sequence[Step], assignment: Assignment, names: Sequence[str]) -> str:
    lines = [f"{assignor}:"]
    for number, step in enumerate(steps, start=1):
        lines += wrap(f"{number:>3}. {step}", LINE, subsequent_indent="     ", break_on_hyphens=False)
    lines += [f"   {name} owns {partitions_in_words(map(str, assignment[name]))}" for name in names]
    return "\n".join(lines)


def _drawn(
    assignor: str,
    columns: Sequence[TopicPartition],
    names: Sequence[str],
    numbers: Mapping[tuple[str, TopicPartition], str],
    assignment: Assignment,
) -> str:
    role = ROLES["light"]
    height = TOP + ROW * len(names) + 52
    parts = page(height, role)
    wide = (WIDTH - LEFT - 20) / max(len(columns), 8)
    at = {partition: LEFT + place * wide for place, partition in enumerate(columns)}
    parts.append(words(20, 32, f"{assignor}: the numbers are its steps", bold=True, size=16))
    for partition, x in at.items():
        if partition.partition == 0:
            parts.append(words(x + 3, 56, partition.topic, bold=True))
        parts.append(words(x + wide / 2, 75, str(partition.partition), anchor="middle", colour=role["ink2"]))
    for row, (name, seen) in enumerate(looks(names).items()):
        y = TOP + ROW * row
        parts.append(words(20, y + 27, name, bold=True, size=15))
        for partition, x in at.items():
            owns = partition in assignment[name]
            said = numbers.get((name, partition), "")
            fill, ink = (seen.hue, seen.on_hue) if owns else (role["surface"], role["ink2"])
            dash = "" if owns or not said else ' stroke-dasharray="4 3"'
            edge = seen.hue if said else role["hairline"]
            parts.append(
                f'<rect x="{x + 2:.1f}" y="{y + 3}" width="{wide - 4:.1f}" height="{ROW - 8}" rx="6" fill="{fill}" '
                f'stroke="{edge}" stroke-width="1.5"{dash}/>'
            )
            parts.append(words(x + wide / 2, y + 26, said, colour=ink, anchor="middle", bold=owns, size=14))
    note = "Filled: the member owns it now. Dashed: it had the partition, or a step holds it back."
    parts.append(words(20, height - 18, note, colour=role["ink2"]))
    return closed(parts, f"How {assignor} deals", note)


def _numbers(
    steps: Sequence[Step], had: Collection[tuple[str, TopicPartition]]
) -> dict[tuple[str, TopicPartition], str]:
    """The numbers of the steps that touch a member's partition; *had* where none touches what it owned."""
    found: dict[tuple[str, TopicPartition], list[str]] = {}
    for number, step in enumerate(steps, start=1):
        for partition in step.partitions:
            if step.member is not None:
                found.setdefault((step.member, partition), []).append(str(number))
    return dict.fromkeys(had, "had") | {cell: ", ".join(texts) for cell, texts in found.items()}
