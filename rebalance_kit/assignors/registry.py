"""The assignors by name, with what the clients must know of each class.

``assign("cooperative-sticky", cluster, members)`` is the whole of it; ``plan`` also returns what the class
would remember, and what a cooperative group holds back.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType

from rebalance_kit.assignors.client import assign_range, assign_roundrobin
from rebalance_kit.assignors.contract import NO_GENERATION, Assignment, Cluster, MemberSubscription, Step
from rebalance_kit.assignors.server import assign_server_range, assign_server_uniform
from rebalance_kit.assignors.sticky_classes import plan_cooperative, plan_sticky
from rebalance_kit.assignors.sticky_plan import StickyPlan
from rebalance_kit.model.errors import AssignorError


@dataclass(frozen=True, slots=True)
class AssignorClass:
    """One assignor as Kafka's configuration knows it.

    ``name`` is what travels in JoinGroup or ConsumerGroupHeartbeat, ``java_class`` what stands in
    ``partition.assignment.strategy`` or ``group.consumer.assignors``. ``protocols`` holds the rebalance
    protocols a client class supports, the highest first (``ConsumerPartitionAssignor.supportedProtocols``);
    empty for server assignors.
    """

    name: str
    java_class: str
    protocols: tuple[str, ...]
    rack_aware: bool
    sticky: bool


_CLIENT = "org.apache.kafka.clients.consumer."
_SERVER = "org.apache.kafka.coordinator.group.assignor."

ASSIGNORS: Mapping[str, AssignorClass] = MappingProxyType(
    {
        "range": AssignorClass("range", _CLIENT + "RangeAssignor", ("EAGER",), True, False),
        "roundrobin": AssignorClass("roundrobin", _CLIENT + "RoundRobinAssignor", ("EAGER",), False, False),
        "sticky": AssignorClass("sticky", _CLIENT + "StickyAssignor", ("EAGER",), True, True),
        "cooperative-sticky": AssignorClass(
            "cooperative-sticky", _CLIENT + "CooperativeStickyAssignor", ("COOPERATIVE", "EAGER"), True, True
        ),
        "server.range": AssignorClass("range", _SERVER + "RangeAssignor", (), False, False),
        "server.uniform": AssignorClass("uniform", _SERVER + "UniformAssignor", (), False, True),
    }
)
"""Keyed by the name that ``assign`` takes; server assignors carry the prefix ``server.``."""


def assign(
    name: str,
    cluster: Cluster,
    members: Sequence[MemberSubscription],
    explain: list[Step] | None = None,
    max_generation: int = NO_GENERATION,
) -> Assignment:
    """Assign by the assignor of that name; every member is in the answer, possibly with nothing.

    ``explain`` collects the steps in plain words and costs nothing when None. ``max_generation`` is what
    the leader's sticky assignor remembers of earlier calls. Raises ``KafkaFailure`` where Kafka's class
    throws, ``AssignorError`` for an unknown name.
    """
    return plan(name, cluster, members, explain, max_generation).assignment


def plan(
    name: str,
    cluster: Cluster,
    members: Sequence[MemberSubscription],
    explain: list[Step] | None = None,
    max_generation: int = NO_GENERATION,
) -> StickyPlan:
    """Assign, and return with it what is held back and remembered (sticky family; else empty)."""
    match name:
        case "sticky":
            return plan_sticky(cluster, members, explain, max_generation)
        case "cooperative-sticky":
            return plan_cooperative(cluster, members, explain, max_generation)
        case "range":
            assignment = assign_range(cluster, members, explain)
        case "roundrobin":
            assignment = assign_roundrobin(cluster, members, explain)
        case "server.range":
            assignment = assign_server_range(cluster, members, explain)
        case "server.uniform":
            assignment = assign_server_uniform(cluster, members, explain)
        case _:
            raise AssignorError(_unknown(name))
    return StickyPlan(assignment, {}, max_generation)


def _unknown(name: str) -> str:
    close = get_close_matches(name, ASSIGNORS, n=1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"no assignor is called {name!r}: expected one of {', '.join(ASSIGNORS)}{hint}"


def by_java_class(java_class: str) -> AssignorClass:
    """Return the assignor of a class name as written in a Kafka configuration; raises ``AssignorError``.

    >>> by_java_class("org.apache.kafka.clients.consumer.CooperativeStickyAssignor").protocols
    ('COOPERATIVE', 'EAGER')
    """
    for assignor in ASSIGNORS.values():
        if assignor.java_class == java_class:
            return assignor
    known = ", ".join(assignor.java_class for assignor in ASSIGNORS.values())
    raise AssignorError(
        f"{java_class!r} is not the class of an assignor Kafka ships: expected one of {known}"
    )
