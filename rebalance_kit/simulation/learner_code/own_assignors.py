"""An assignor of the learner's own, run by the leader: what it answers is looked at, reported, and passed on.

Kafka checks little of what an assignor answers: the coordinator leaves unknown members out, a partition that is
given twice is read twice, one that is forgotten is read by nobody. So it is here; each is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from rebalance_kit.assignors.contract import NO_GENERATION, Cluster, KafkaFailure, MemberSubscription
from rebalance_kit.assignors.registry import plan
from rebalance_kit.assignors.sticky_classes import assign_librdkafka_cooperative
from rebalance_kit.model.errors import AssignorError
from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.protocol.effects import NO_RACKS, Racks
from rebalance_kit.protocol.messages import JoinMember
from rebalance_kit.simulation.learner_code.plug_ins import CallTimedOut, as_partition, call_with_timeout

Report = Callable[[str, str, str], None]
Assignment = dict[str, tuple[TopicPartition, ...]]


class OwnAssignorFailure(AssignorError):
    """The learner's assignor raised, blocked, or answered what is no assignment; it leaves the leader's poll()."""

    def __init__(self, name: str, java_exception: str, seen: str) -> None:
        super().__init__(f"assignor {name}: {seen}")
        self.java_exception = java_exception


def assign_own(
    name: str,
    run: Callable[..., Any],
    partitions: Mapping[str, int],
    members: Sequence[MemberSubscription],
    report: Report,
    *,
    cooperative: bool = False,
) -> Assignment:
    """Run the assignor and return the share of every member; ``report(name, fault, seen)`` hears of nonsense.

    Raises ``OwnAssignorFailure`` where Kafka's leader would throw, and ``KafkaFailure`` when a cooperative
    assignor hands a partition over that another member still owns (``ConsumerCoordinator.validateCooperativeAssignment``).
    """
    try:
        answer = call_with_timeout(lambda: run(dict(partitions), tuple(members)))
    except CallTimedOut as blocked:
        report(name, "blocks", str(blocked))
        raise OwnAssignorFailure(name, "TimeoutException", str(blocked)) from blocked
    except Exception as error:
        seen = f"{type(error).__name__}: {error}"
        report(name, "raises", seen)
        raise OwnAssignorFailure(name, type(error).__name__, seen) from error
    assignment = _read(name, answer, report)
    for fault, seen in _faults(assignment, partitions, members, cooperative=cooperative):
        report(name, fault, seen)
    known = {member.member_id: assignment.get(member.member_id, ()) for member in members}
    if cooperative:
        _check_cooperative(known, members)
    return known


def _read(name: str, answer: Any, report: Report) -> Assignment:
    try:
        return {
            str(member_id): tuple(dict.fromkeys(as_partition(partition) for partition in partitions))
            for member_id, partitions in answer.items()
        }
    except (AttributeError, TypeError, ValueError) as error:
        seen = f"{answer!r:.120}; expected a mapping of member id -> partitions"
        report(name, "returns nonsense", seen)
        raise OwnAssignorFailure(name, "ClassCastException", f"returned {seen}") from error


def _faults(
    assignment: Assignment,
    partitions: Mapping[str, int],
    members: Sequence[MemberSubscription],
    *,
    cooperative: bool,
) -> list[tuple[str, str]]:
    """What is wrong with an answer, in words."""
    faults: list[tuple[str, str]] = []
    topics = {member.member_id: member.topics for member in members}
    givers: dict[TopicPartition, str] = {}
    for member_id, share in assignment.items():
        if member_id not in topics:
            faults.append(("unknown member", f"{member_id!r} is no member of the group"))
            continue
        for tp in share:
            if not 0 <= tp.partition < partitions.get(tp.topic, 0):
                faults.append(("unknown partition", f"{tp} does not exist"))
            elif tp.topic not in topics[member_id]:
                faults.append(
                    ("not subscribed", f"{tp} is given to {member_id}, which does not subscribe {tp.topic}")
                )
            if tp in givers:
                faults.append(("given twice", f"{tp} is given to {givers[tp]} and to {member_id}"))
            givers[tp] = member_id
    held_back = (
        {tp for member in members for tp in member.owned if tp not in assignment.get(member.member_id, ())}
        if cooperative
        else set()
    )
    for topic in sorted({topic for listed in topics.values() for topic in listed}):
        for number in range(partitions.get(topic, 0)):
            tp = TopicPartition(topic, number)
            if tp not in givers and tp not in held_back:
                faults.append(("forgotten partition", f"{tp} is given to nobody"))
    return faults


def _check_cooperative(assignment: Assignment, members: Sequence[MemberSubscription]) -> None:
    added = {tp for member in members for tp in assignment[member.member_id] if tp not in member.owned}
    revoked = {tp for member in members for tp in member.owned if tp not in assignment[member.member_id]}
    if added & revoked:
        listed = ", ".join(str(tp) for tp in sorted(added & revoked))
        raise KafkaFailure(
            "IllegalStateException",
            "Assignor supporting the COOPERATIVE protocol violates its requirements: it has reassigned "
            f"partitions [{listed}] which are still owned by some members",
        )


# The assignor of a client that leads a classic group, with what it remembers from one call to the next.


LeaderAnswer = Mapping[str, tuple[TopicPartition, ...]]


class Printed(dict[str, tuple[TopicPartition, ...]]):
    """An assignment, and what its sticky assignor logs of it (``printed``)."""

    printed: LeaderAnswer = MappingProxyType({})


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
    ) -> LeaderAnswer:
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
