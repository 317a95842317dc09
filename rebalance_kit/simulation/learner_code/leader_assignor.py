"""The assignor of a client that leads a classic group, with what it remembers from one call to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from rebalance_kit.assignors.client.librdkafka_sticky import assign_native_cooperative
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
        self._native = client == "librdkafka"
        self._max_generation: dict[str, int] = {}
        self._own, self._report, self._cooperative = own, report, cooperative

    def __call__(
        self, name: str, partitions: Mapping[str, int], members: Sequence[JoinMember], racks: Racks = NO_RACKS
    ) -> Shares:
        """Assign as the leader does, from the members' subscriptions in the order of the JoinGroup answer."""
        replicas = {
            topic: tuple(tuple(rack for _, rack in held) for held in told) for topic, told in racks.items()
        }
        cluster = Cluster(
            {topic: count for topic, count in partitions.items() if count}, replica_racks=replicas
        )
        listed = [_subscription(name, one) for one in members]
        if name in self._own:
            return assign_own(
                name, self._own[name], cluster.partitions, listed, self._report, cooperative=self._cooperative
            )
        if self._native and name == "cooperative-sticky":
            return assign_native_cooperative(cluster, listed)
        done = plan(name, cluster, listed, None, self._max_generation.get(name, NO_GENERATION))
        self._max_generation[name] = done.max_generation
        answer = Printed(done.assignment)
        if done.printed is not None:
            answer.printed = done.printed
        return answer


def _subscription(name: str, one: JoinMember) -> MemberSubscription:
    held = one.subscription
    if name == "sticky":  # its claims travel as user data
        return MemberSubscription(
            one.member_id,
            held.topics,
            one.instance_id,
            held.user_owned,
            held.user_generation,
            held.rack,
            held.generation,
        )
    return MemberSubscription(
        one.member_id, held.topics, one.instance_id, held.owned, held.generation, held.rack
    )
