"""Functions an expression may use that ask no run: counting, nearness, and Kafka's assignors.

The assignor helpers write a group as text lists: topics as ``["orders:3", "bills:3"]``, members by id.
Every member subscribes to every topic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from rebalance_kit.assignors.contract import Assignment, Cluster, MemberSubscription
from rebalance_kit.assignors.registry import assign
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.topology import TopicPartition

Members = Sequence[str]
LARGEST_GROUP = 64


def count(entries: Sequence[Any]) -> int:
    """How many entries a list has."""
    return len(entries)


def near(first: float, second: float, within: float) -> bool:
    """Whether two numbers differ by at most ``within``."""
    return abs(first - second) <= within


def same(first: Sequence[Any], second: Sequence[Any]) -> bool:
    """Whether two lists hold the same entries in any order."""
    return sorted(map(str, first)) == sorted(map(str, second))


def least(*numbers: float) -> float:
    """The least of the numbers."""
    return min(numbers)


def most(*numbers: float) -> float:
    """The greatest of the numbers."""
    return max(numbers)


def names(prefix: str, number: int) -> list[str]:
    """``["c1", "c2", "c3"]`` for ``names("c", 3)``."""
    return [f"{prefix}{index}" for index in range(1, _group_size(number) + 1)]


def topic(name: str, partitions: int) -> str:
    """``"orders:3"`` for ``topic("orders", 3)``."""
    return f"{name}:{partitions}"


def pick(entries: Sequence[Any], number: int) -> Any:
    """The entry at a place, counted from 1."""
    if not 0 < number <= len(entries):
        raise DataError(f"pick: place {number!r} received, expected 1 to {len(entries)}")
    return entries[number - 1]


def without(entries: Sequence[Any], gone: Any) -> list[Any]:
    """The list without one entry."""
    return [entry for entry in entries if entry != gone]


def assigned(assignor: str, topics: Sequence[str], members: Members, member: str) -> list[str]:
    """Partitions of the member in the first assignment of such a group."""
    return _spell(_fresh(assignor, _cluster(topics), members), member)


def after_leave(assignor: str, topics: Sequence[str], members: Members, gone: str, member: str) -> list[str]:
    """Partitions of the member after the first assignment and one more without ``gone``."""
    cluster = _cluster(topics)
    return _spell(
        _again(assignor, cluster, without(members, gone), _fresh(assignor, cluster, members)), member
    )


def after_join(
    assignor: str, topics: Sequence[str], members: Members, newcomer: str, member: str
) -> list[str]:
    """Partitions of the member once ``newcomer`` has joined and nothing moves any more."""
    cluster = _cluster(topics)
    return _spell(
        _settled(assignor, cluster, [*members, newcomer], _fresh(assignor, cluster, members)), member
    )


def moves_on_leave(assignor: str, topics: Sequence[str], members: Members, gone: str) -> int:
    """How many partitions change their owner when ``gone`` leaves (its own included)."""
    cluster = _cluster(topics)
    before = _fresh(assignor, cluster, members)
    return _moves(before, _again(assignor, cluster, without(members, gone), before))


def moves_on_join(assignor: str, topics: Sequence[str], members: Members, newcomer: str) -> int:
    """How many partitions change their owner when ``newcomer`` joins, all told."""
    cluster = _cluster(topics)
    before = _fresh(assignor, cluster, members)
    return _moves(before, _settled(assignor, cluster, [*members, newcomer], before))


def _group_size(number: int) -> int:
    if not 0 < number <= LARGEST_GROUP:
        raise DataError(f"a group of {number!r} received, expected 1 to {LARGEST_GROUP}")
    return number


def _cluster(topics: Sequence[str]) -> Cluster:
    counts = {}
    for text in topics:
        name, colon, number = str(text).rpartition(":")
        if not colon or not name or not (number.isdecimal() and len(number) < 9) or int(number) > 1000:
            raise DataError(f"topic {text!r} received, expected <name>:<partitions> as in orders:3")
        counts[name] = int(number)
    return Cluster(counts)


def _fresh(assignor: str, cluster: Cluster, members: Members) -> Assignment:
    _group_size(len(members))
    topics = tuple(sorted(cluster.partitions))
    return assign(assignor, cluster, [MemberSubscription(name, topics) for name in members])


def _again(
    assignor: str, cluster: Cluster, members: Members, before: Assignment, generation: int = 1
) -> Assignment:
    topics = tuple(sorted(cluster.partitions))
    claims = [
        MemberSubscription(
            name, topics, owned=before[name], generation=generation, subscription_generation=generation
        )
        if name in before
        else MemberSubscription(name, topics)
        for name in members
    ]
    return assign(assignor, cluster, claims)


def _settled(assignor: str, cluster: Cluster, members: Members, before: Assignment) -> Assignment:
    """Repeat until nobody has to give anything up: what a cooperative group does in two generations."""
    for generation in range(1, 6):
        after = _again(assignor, cluster, members, before, generation)
        if assignor != "cooperative-sticky" or all(
            set(after[name]) == set(before.get(name, ())) for name in members
        ):
            return after
        before = after
    raise DataError(f"{assignor} did not settle; expected it to within five generations")


def _moves(before: Assignment, after: Assignment) -> int:
    owners: dict[TopicPartition, str] = {tp: name for name, partitions in before.items() for tp in partitions}
    return sum(owners.get(tp) != name for name, partitions in after.items() for tp in partitions)


def _spell(assignment: Assignment, member: str) -> list[str]:
    if member not in assignment:
        raise DataError(f"member {member!r} is not in the group; expected one of {', '.join(assignment)}")
    return [str(tp) for tp in sorted(assignment[member])]


HELPERS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {
        one.__name__: one
        for one in (
            count,
            near,
            same,
            least,
            most,
            names,
            topic,
            pick,
            without,
            assigned,
            after_leave,
            after_join,
            moves_on_leave,
            moves_on_join,
        )
    }
)
