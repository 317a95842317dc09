"""One moment of a run as values: members, partitions, the group, messages on their way.

A state says what is true from one moment until the next change. Whatever runs with the clock
(seconds since, a shrinking session) is worked out from ``BoardState`` and never stored.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from rebalance_kit.analysis.deliveries import Delivery
from rebalance_kit.view.kinds import Life, MarkKind, Standing


class MemberState(NamedTuple):
    """One member between two changes.

    ``life`` is the process: absent, alive, frozen, crashed, died, closed. ``standing`` is what the
    coordinator holds: none, pending, member, away, removed. ``doing`` is the word drawn beside the
    disc. ``parked`` and ``sending`` name the request that waits at the coordinator or is on its way; a closed process
    may still have its LeaveGroup on the way. ``callback`` is the listener that a living process runs.
    """

    life: Life = "absent"
    standing: Standing = "none"
    doing: str = "not started"
    generation: int | None = None
    leader: bool = False
    parked: str | None = None
    sending: str | None = None
    callback: str | None = None
    error: str | None = None
    instance_id: str | None = None
    protocol: str = "classic"
    group_epoch: int | None = None


class PartitionState(NamedTuple):
    """One partition between two changes.

    ``word`` is what its token says: flows, callback, give up, no owner, stopped, was leaving, new,
    zombie. ``target`` is the member that waits for it (KIP-848 only: a classic group has no target
    before SyncGroup). ``also`` names members outside the group that still read it. ``planned`` is the
    member that the classic leader's last assignment, or with KIP-848 the coordinator's last answer, gives it to, while it has
    no owner. ``noticed`` is False for one
    that was added to its topic and that no assignment has held yet.
    """

    owner: str | None = None
    word: str = "no owner"
    flows: bool = False
    last_owner: str | None = None
    target: str | None = None
    also: tuple[str, ...] = ()
    planned: str | None = None
    noticed: bool = True


RECENT_MS = 3_000
"""How long a sentence tells of records that came twice or were skipped."""
ABSENT = PartitionState(word="not there", flows=True)
"""A partition before its topic has it, before the group reads its topic, or after the topic was deleted: nothing stops."""


class FormerId(NamedTuple):
    """The member id of a process that is gone, still in the group beside the id of its restarted process.

    ``claims`` is what the group keeps for it. ``session_ends_ms`` is None until ``Boards`` works it out.
    """

    name: str
    protocol: str
    last_beat_ms: int | None
    claims: tuple[str, ...]
    member_id: str | None = None
    session_ends_ms: int | None = None


class GroupState(NamedTuple):
    """The group as its coordinator sees it between two changes.

    ``joined`` and ``awaited`` fill the waiting room of a classic join or sync phase; ``coming`` are
    members whose request is on its way. ``generation`` is the classic generation or the group epoch.
    ``former`` are member ids of processes that are gone and have been started again.
    """

    state: str = "Empty"
    protocol: str = "classic"
    generation: int | None = None
    target_epoch: int | None = None
    assignor: str | None = None
    reason: str = ""
    trigger: str = ""
    culprit: str | None = None
    joined: tuple[str, ...] = ()
    awaited: tuple[str, ...] = ()
    coming: tuple[str, ...] = ()
    up: bool = True
    former: tuple[FormerId, ...] = ()


class Message(NamedTuple):
    """A request or answer on its way; ``arrives_ms`` is None for one that is lost.

    ``news``: a KIP-848 heartbeat that joins, leaves, acknowledges or brings an assignment.
    """

    sent_ms: int
    arrives_ms: int | None
    member: str
    api: str
    request: bool
    error: str | None
    news: bool = False


class Mark(NamedTuple):
    """Something worth a mark on the strip: its kind, whom it concerns, and words."""

    at_ms: int
    kind: MarkKind
    member: str | None
    words: str


class Position(NamedTuple):
    """Where a partition stands: next offset to read, end of its log, committed offset (None: none)."""

    position: int
    log_end: int
    committed: int | None


class Queue(NamedTuple):
    """A queue in a partition that ``member`` reads: ``waiting`` records at the end, ``gained`` of them since the begin."""

    begin_ms: int
    end_ms: int
    partition: str
    member: str
    waiting: int
    gained: int


@dataclass(frozen=True, slots=True)
class MemberView:
    """A member on the board at a moment, with what runs with the clock.

    ``since_ms`` is when its present doing began; ``session_ends_ms`` is None while no session runs
    (no member, or its parked JoinGroup holds it); ``starts_ms`` is when its process, which is gone, starts again.
    """

    name: str
    label: str
    number: int
    state: MemberState
    since_ms: int
    owned: tuple[str, ...]
    fetching: tuple[str, ...]
    session_ends_ms: int | None
    starts_ms: int | None = None


@dataclass(frozen=True, slots=True)
class PartitionView:
    """A partition on the board at a moment; ``stopped_since_ms`` is None while it flows."""

    name: str
    state: PartitionState
    stopped_since_ms: int | None
    at: Position | None

    @property
    def lag(self) -> int:
        """Records that wait behind the position."""
        return max(0, self.at.log_end - self.at.position) if self.at else 0


@dataclass(frozen=True, slots=True)
class BoardState:
    """Everything the lab shows at ``at_ms``.

    ``deliveries`` are what came twice or was skipped so far, ``queues`` partitions that are
    read and in which the records of some seconds wait.
    """

    at_ms: int
    end_ms: int
    label: str
    group: GroupState
    members: tuple[MemberView, ...]
    partitions: tuple[PartitionView, ...]
    deliveries: tuple[Delivery, ...] = ()
    queues: tuple[Queue, ...] = ()

    @property
    def flowing(self) -> int:
        """How many partitions flow."""
        return sum(1 for partition in self.partitions if partition.state.flows)

    def member(self, name: str) -> MemberView:
        """The member of that name; raises ``KeyError`` naming those on the board."""
        for view in self.members:
            if view.name == name:
                return view
        raise KeyError(
            f"{name!r} is not on the board; expected one of {', '.join(view.name for view in self.members)}"
        )

    def owned_by(self, name: str | None) -> tuple[PartitionView, ...]:
        """Partitions whose owner is that member (None: those in the rail)."""
        return tuple(partition for partition in self.partitions if partition.state.owner == name)
