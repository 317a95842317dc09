"""In which order the members line up: the leader's map order, and the sorted line of range and round robin."""

from __future__ import annotations

from collections.abc import Sequence

from rebalance_kit.assignors.contract import MemberSubscription
from rebalance_kit.assignors.java_order import hash_map_order, java_key, string_hash


def in_map_order(members: Sequence[MemberSubscription]) -> list[MemberSubscription]:
    """Return the members as a default ``HashMap`` keyed by member id reads them."""
    by_id = {member.member_id: member for member in members}
    return [by_id[member_id] for member_id in hash_map_order(list(by_id), string_hash)]


def in_line(members: Sequence[MemberSubscription]) -> list[MemberSubscription]:
    """Static members first, by instance id; then dynamic ones by member id (``MemberInfo.compareTo``).

    Two members with one instance id keep their order, as in Java's stable sort.

    >>> from rebalance_kit.assignors.contract import MemberSubscription as M
    >>> [m.member_id for m in in_line([M("b", ()), M("a", ()), M("z", (), "pod-0")])]
    ['z', 'a', 'b']
    """
    return sorted(members, key=_place)


def _place(member: MemberSubscription) -> tuple[int, bytes]:
    if member.group_instance_id is not None:
        return 0, java_key(member.group_instance_id)
    return 1, java_key(member.member_id)


def topics_in_map_order(members: Sequence[MemberSubscription]) -> list[str]:
    """Return all subscribed topics in the order the leader's maps read them.

    ``AbstractPartitionAssignor.assign`` collects them in a ``HashSet``, member by member in map order.
    """
    seen: dict[str, None] = {}
    for member in members:
        seen.update(dict.fromkeys(member.topics))
    return hash_map_order(list(seen), string_hash)
