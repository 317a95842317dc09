"""An assignor of the learner's own, run by the leader: what it answers is looked at, reported, and passed on.

Kafka checks little of what an assignor answers: the coordinator leaves unknown members out, a partition that is
given twice is read twice, one that is forgotten is read by nobody. So it is here; each is reported.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rebalance_kit.assignors.contract import KafkaFailure, MemberSubscription
from rebalance_kit.model.errors import AssignorError
from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.simulation.learner_code.call_with_timeout import CallTimedOut, call_with_timeout
from rebalance_kit.simulation.learner_code.partitions import as_partition

Report = Callable[[str, str, str], None]
Shares = dict[str, tuple[TopicPartition, ...]]


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
) -> Shares:
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
    shares = _read(name, answer, report)
    for fault, seen in _faults(shares, partitions, members, cooperative=cooperative):
        report(name, fault, seen)
    known = {member.member_id: shares.get(member.member_id, ()) for member in members}
    if cooperative:
        _check_cooperative(known, members)
    return known


def _read(name: str, answer: Any, report: Report) -> Shares:
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
    shares: Shares, partitions: Mapping[str, int], members: Sequence[MemberSubscription], *, cooperative: bool
) -> list[tuple[str, str]]:
    """What is wrong with an answer, in words."""
    faults: list[tuple[str, str]] = []
    topics = {member.member_id: member.topics for member in members}
    givers: dict[TopicPartition, str] = {}
    for member_id, share in shares.items():
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
        {tp for member in members for tp in member.owned if tp not in shares.get(member.member_id, ())}
        if cooperative
        else set()
    )
    for topic in sorted({topic for listed in topics.values() for topic in listed}):
        for number in range(partitions.get(topic, 0)):
            tp = TopicPartition(topic, number)
            if tp not in givers and tp not in held_back:
                faults.append(("forgotten partition", f"{tp} is given to nobody"))
    return faults


def _check_cooperative(shares: Shares, members: Sequence[MemberSubscription]) -> None:
    added = {tp for member in members for tp in shares[member.member_id] if tp not in member.owned}
    revoked = {tp for member in members for tp in member.owned if tp not in shares[member.member_id]}
    if added & revoked:
        listed = ", ".join(str(tp) for tp in sorted(added & revoked))
        raise KafkaFailure(
            "IllegalStateException",
            "Assignor supporting the COOPERATIVE protocol violates its requirements: it has reassigned "
            f"partitions [{listed}] which are still owned by some members",
        )
