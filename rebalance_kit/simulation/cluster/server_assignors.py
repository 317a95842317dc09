"""Server-side assignors as a coordinator calls them, in the order of its own map of members."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from rebalance_kit.assignors.contract import Cluster, MemberSubscription
from rebalance_kit.assignors.java_order import timeline_order
from rebalance_kit.assignors.registry import assign
from rebalance_kit.assignors.server.sticky_range import assign_sticky_range
from rebalance_kit.assignors.server.topics import target_order
from rebalance_kit.assignors.server.uniform import uniform_targets
from rebalance_kit.model.topology import TopicId, TopicPartition
from rebalance_kit.model.versions import has
from rebalance_kit.protocol.messages import Partitions

ServerMember = tuple[str, str | None, tuple[str, ...], Partitions]
"""Member id, instance id, topics, previous target."""
ServerAssign = Callable[
    [str, Sequence[ServerMember], Mapping[str, int], Mapping[str, TopicId], str | None],
    dict[str, tuple[TopicPartition, ...]],
]


def server_assignor(kafka_version: str) -> ServerAssign:
    """The function that a coordinator of this version assigns with: assignor's name, members, topics, their ids, newcomer.

    The newcomer is a member that the request under way has brought. The assignor's map gets it last.
    """
    forgets = has("server-range-not-sticky", kafka_version)
    passes_extra_on = has("uniform-passes-extra-on", kafka_version)

    def server_assign(
        name: str,
        members: Sequence[ServerMember],
        partitions: Mapping[str, int],
        ids: Mapping[str, TopicId],
        newcomer: str | None,
    ) -> dict[str, tuple[TopicPartition, ...]]:
        by_id = {member[0]: member for member in members}
        cluster = Cluster(partitions, ids)
        subscriptions = []
        order = timeline_order(member_id for member_id in by_id if member_id != newcomer)
        for member_id in order if newcomer is None else [*order, newcomer]:
            _, instance_id, topics, target = by_id[member_id]
            subscriptions.append(
                MemberSubscription(member_id, topics, instance_id, target_order(target, cluster))
            )
        if name == "uniform":
            return uniform_targets(cluster, subscriptions, passes_extra_on=passes_extra_on)
        if name == "range" and not forgets:
            return assign_sticky_range(cluster, subscriptions)
        return assign(f"server.{name}", cluster, subscriptions)

    return server_assign
