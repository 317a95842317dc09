"""The assignor of a client that leads a classic group, with what it remembers from one call to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from rebalance_kit.assignors.client.librdkafka_sticky import assign_librdkafka_cooperative
from rebalance_kit.assignors.contract import NO_GENERATION, Cluster, MemberSubscription
from rebalance_kit.assignors.registry import plan
from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.protocol.effects import NO_RACKS, Racks
from rebalance_kit.protocol.messages import JoinMember
from rebalance_kit.simulation.learner_code.own_assignors import Report, assign_own

Shares = Mapping[str, tuple[TopicPartition, ...]]


class Printed(dict[str, tuple[TopicPartition, ...]]):
    """An assignment, and what its sticky assignor logs of it (``printed``)."""

    printed: Shares = MappingProxyType({})


class LeaderAssignor:
    """One process's assignors: Java's keep the greatest generation they have seen (AbstractStickyAssignor.maxGeneration)."""

    def __init__(
        self, client: str, own: Mapping[str, Callable[..., Any]], report: Report, *, cooperative: bool
    ) -> None:
        self._librdkafka = client == "librdkafka"
        self._max_generation: dict[str, int] = {}
        self._own, self._report, self._cooperative = own, report, cooperative

    def __call__(
        self, name: str, partitions: Mapping[str, int], members: Sequence[JoinMember], racks: Racks = NO_RACKS
    ) -> Shares:
        """Assign as the leader does, from the members' subscriptions in the order of the JoinGroup answer."""
        replica_racks = {
            topic: tuple(tuple(rack for _, rack in replicas) for replicas in by_partition)
            for topic, by_partition in racks.items()
        }
        cluster = Cluster(
            {topic: count for topic, count in partitions.items() if count}, replica_racks=replica_racks
        )
        listed = [_subscription(name, member) for member in members]
        if name in self._own:
            return assign_own(
                name, self._own[name], cluster.partitions, listed, self._report, cooperative=self._cooperative
            )
        if self._librdkafka and name == "cooperative-sticky":
            return assign_librdkafka_cooperative(cluster, listed)
        planned = plan(name, cluster, listed, None, self._max_generation.get(name, NO_GENERATION))
        self._max_generation[name] = planned.max_generation
        answer = Printed(planned.assignment)
        if planned.printed is not None:
            answer.printed = planned.printed
        return answer


def _subscription(name: str, member: JoinMember) -> MemberSubscription:
    subscription = member.subscription
    if name == "sticky":  # its claims travel as user data
        return MemberSubscription(
            member.member_id,
            subscription.topics,
            member.instance_id,
            subscription.user_owned,
            subscription.user_generation,
            subscription.rack,
            subscription.generation,
        )
    return MemberSubscription(
        member.member_id,
        subscription.topics,
        member.instance_id,
        subscription.owned,
        subscription.generation,
        subscription.rack,
    )
