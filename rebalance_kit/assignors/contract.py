"""Input and output of every assignor.

An assignor is a pure function ``(cluster, members, explain) -> Assignment``. It keeps nothing between
calls: what Kafka's classes remember (``maxGeneration``, the sticky user data) is an argument here.

Members stand in the order in which they were put into the Java map of the group leader (client
assignors) or of the coordinator (server assignors). Java's map then has an order of its own, which
decides some outcomes; the assignors apply it themselves (see ``java_order``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rebalance_kit.model.errors import AssignorError
from rebalance_kit.model.topology import TopicId, TopicPartition

Assignment = dict[str, tuple[TopicPartition, ...]]
"""Every member is present, possibly with an empty tuple. Client assignors: Kafka's own list order.
Server assignors answer with sets, so theirs are sorted."""

NO_GENERATION = -1
"""The generation that Kafka assumes for a member that sent none (``AbstractStickyAssignor.DEFAULT_GENERATION``)."""


@dataclass(frozen=True, slots=True)
class MemberSubscription:
    """What one member told the group: its topics and, where the assignor asks for it, what it owns.

    ``owned`` is what the assignor sees as the member's present partitions: owned partitions or user
    data for the sticky family, the previous *target* assignment for ``server.uniform`` (in the
    iteration order of Kafka's map, see ``server_topics.target_order``). ``generation`` is the one
    those claims come from; None means that none was sent.

    ``subscription_generation`` matters to ``sticky`` alone, whose claims travel as user data with a
    generation of their own: it is the one in the subscription beside them, which Kafka compares the
    *other* claimant's with. None: none was sent, as after the member lost its generation.
    """

    member_id: str
    topics: tuple[str, ...]
    group_instance_id: str | None = None
    owned: tuple[TopicPartition, ...] = ()
    generation: int | None = None
    rack: str | None = None
    subscription_generation: int | None = None


@dataclass(frozen=True, slots=True)
class Cluster:
    """What the assignor knows of the topics: partition counts, ids (server), racks of the replicas (client)."""

    partitions: Mapping[str, int]
    topic_ids: Mapping[str, TopicId] = field(default_factory=dict)
    replica_racks: Mapping[str, tuple[tuple[str | None, ...], ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of an explanation: which rule gave or took which partitions, in plain words."""

    rule: str
    member: str | None = None
    partitions: tuple[TopicPartition, ...] = ()

    def __str__(self) -> str:
        who = f"{self.member}: " if self.member is not None else ""
        what = f" [{', '.join(map(str, self.partitions))}]" if self.partitions else ""
        return f"{who}{self.rule}{what}"


class KafkaFailure(AssignorError):
    """Kafka's own class throws on this input; ``java_exception`` is the simple name of what it throws."""

    def __init__(self, java_exception: str, reason: str) -> None:
        super().__init__(f"Kafka's assignor throws {java_exception} on this input: {reason}")
        self.java_exception = java_exception
