"""What the leader of a group was told, rebalance by rebalance: cases for assignors, taken from runs of the engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from rebalance_kit.assignors.contract import Cluster, MemberSubscription
from rebalance_kit.assignors.registry import assign
from rebalance_kit.exercises.asking import UNREADABLE
from rebalance_kit.exercises.code_tasks.task import CodeCase, Failed
from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.simulation.permalink import Link
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.simulation.scenario.yaml_file import read_scenario
from rebalance_kit.simulation.simulate import simulate

Shares = dict[str, list[TopicPartition]]
OWN = "own"


def assignor_case(title: str, scenario: str, like: str, points: int = 2, *, owning: bool = False) -> CodeCase:
    """All calls that the leader makes in a run of a scenario (YAML text), while an assignor of Kafka's answers.

    ``like`` is that assignor; with ``owning`` only those calls are kept in which a member owns something.
    """
    planned = read_scenario(scenario, title)
    calls = [call for call in _calls(planned, like) if not owning or any(m["owned"] for m in call["members"])]
    protocol = {"cooperative-sticky": "cooperative", "range": "eager"}[like]
    at_ms = max((call["at_ms"] for call in calls), default=0)
    link = Link(planned, at_ms, protocol=protocol, assignor=None)
    return CodeCase(title, {"calls": calls}, {"at_ms": [call["at_ms"] for call in calls]}, link, points)


def _calls(scenario: Scenario, like: str) -> list[dict[str, Any]]:
    seen: list[tuple[Mapping[str, int], Sequence[MemberSubscription]]] = []

    def leader(partitions: Mapping[str, int], members: Sequence[MemberSubscription]) -> Any:
        seen.append((partitions, members))
        return assign(like, Cluster(partitions), members)

    leader.supported_protocols = ("COOPERATIVE",) if like == "cooperative-sticky" else ("EAGER",)  # type: ignore[attr-defined]
    members = tuple(
        replace(member, configs={**member.configs, "partition.assignment.strategy": OWN})
        for member in scenario.members
    )
    trace = simulate(replace(scenario, members=members), assignors={OWN: leader})
    moments = [row.at_ms for row in trace.of("generation")]
    return [
        {"at_ms": at_ms, "partitions": dict(partitions), "members": [_plain(member) for member in members]}
        for at_ms, (partitions, members) in zip(moments, seen, strict=False)
    ]


def _plain(member: MemberSubscription) -> dict[str, Any]:
    return {
        "member_id": member.member_id,
        "topics": list(member.topics),
        "instance_id": member.group_instance_id,
        "owned": [list(tp) for tp in member.owned],
        "generation": member.generation,
    }


def members_of(call: Mapping[str, Any]) -> tuple[MemberSubscription, ...]:
    """The members of a call, as the kit's assignors take them."""
    return tuple(
        MemberSubscription(
            member["member_id"], tuple(member["topics"]), member["instance_id"],
            tuple(TopicPartition(*pair) for pair in member["owned"]), member["generation"],
        )
        for member in call["members"]
    )  # fmt: skip


def shares_of(output: Any, call: Mapping[str, Any], at_ms: int) -> Shares:
    """The share of every member; raises ``Failed`` for what no group could use, in words."""
    if not isinstance(output, Mapping):
        raise Failed(UNREADABLE)
    topics = {member["member_id"]: member["topics"] for member in call["members"]}
    if strangers := sorted(set(map(str, output)) - set(topics)):
        raise Failed(f"{strangers[0]!r} is no member id of this group; they are {', '.join(topics)}.", at_ms)
    if missing := [member for member in topics if member not in output]:
        raise Failed(
            f"member {missing[0]} is not in your answer. A member without partitions gets an empty list.",
            at_ms,
        )
    shares: Shares = {}
    givers: dict[TopicPartition, str] = {}
    for member, subscribed in topics.items():
        shares[member] = [_existing(pair, call, at_ms) for pair in output[member]]
        for tp in shares[member]:
            if tp.topic not in subscribed:
                raise Failed(f"{tp} is given to {member}, which does not subscribe to {tp.topic}.", at_ms)
            if tp in givers:
                raise Failed(f"{tp} is given twice: to {givers[tp]} and to {member}.", at_ms)
            givers[tp] = member
    wanted = {topic for listed in topics.values() for topic in listed}
    forgotten = [
        TopicPartition(topic, number)
        for topic in sorted(wanted)
        for number in range(call["partitions"].get(topic, 0))
        if TopicPartition(topic, number) not in givers
    ]
    if forgotten:
        raise Failed(
            f"{forgotten[0]} is given to nobody (forgotten: {len(forgotten)} partitions): it stays unread.",
            at_ms,
        )
    return shares


def _existing(pair: Any, call: Mapping[str, Any], at_ms: int) -> TopicPartition:
    try:
        topic, number = pair
        known = 0 <= number < call["partitions"].get(topic, 0)
    except (TypeError, ValueError, AttributeError) as error:
        raise Failed(UNREADABLE) from error
    if not known:
        raise Failed(f"partition {topic}-{number} does not exist.", at_ms)
    return TopicPartition(topic, number)
