"""Sets of partitions and topics as clients compare and print them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from rebalance_kit.protocol.messages import Partitions


def matching(pattern: str, topics: Mapping[str, int]) -> tuple[str, ...]:
    """Existing topics whose whole name matches, sorted."""
    compiled = re.compile(pattern)
    return tuple(sorted(topic for topic in topics if compiled.fullmatch(topic)))


def minus(left: Partitions, right: Partitions) -> Partitions:
    """Partitions of ``left`` that are not in ``right``, in the order of ``left``."""
    gone = frozenset(right)
    return tuple(tp for tp in left if tp not in gone)


def both(left: Partitions, right: Partitions) -> Partitions:
    """Partitions of ``left`` that are in ``right`` too, in the order of ``left``."""
    there = frozenset(right)
    return tuple(tp for tp in left if tp in there)


def in_order(assignment: Mapping[str, Partitions]) -> dict[str, list[str]]:
    """An assignment the way Kafka prints it, members and partitions in the order they have."""
    return {member_id: [str(tp) for tp in partitions] for member_id, partitions in assignment.items()}


def names(partitions: Partitions) -> list[str]:
    """The way Kafka prints partitions, sorted by topic and number."""
    return list(_names(partitions))


@lru_cache(maxsize=4_096)
def _names(partitions: Partitions) -> tuple[str, ...]:
    return tuple([str(tp) for tp in sorted(partitions)])
