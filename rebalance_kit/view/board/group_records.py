"""Records of each member, partition and group from the rows so far, and the states drawn from them.

The records hold no rule of the protocol: they repeat what rows say (``client_rows``), and the words
for a member or a partition are chosen here, in order of weight.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from rebalance_kit.model.trace import TraceRow
from rebalance_kit.view.board import states
from rebalance_kit.view.kinds import Life, Standing

PARKING = frozenset({"JoinGroup", "SyncGroup"})
PHASES = {"PreparingRebalance": "JoinGroup", "CompletingRebalance": "SyncGroup"}
"""The request that every member of a classic group sends in this state, and that the coordinator waits for."""
LEAVING = frozenset({"revoke", "lost", "close", "unassigned", "unsubscribed"})
GONE = frozenset({"crashed", "died", "closed"})


@dataclass(slots=True)
class MemberRecord:
    """One member, from the rows so far; ``former`` are ids of its earlier processes, oldest first."""

    name: str
    member_id: str | None = None
    life: Life = "absent"
    standing: Standing = "none"
    generation: int | None = None
    leader: bool = False
    parked: str | None = None
    sending: str | None = None
    callback: str | None = None
    in_callback: frozenset[str] = frozenset()
    error: str | None = None
    instance_id: str | None = None
    protocol: str = "classic"
    stalled: bool = False
    lost_coordinator: bool = False
    cut_off: bool = False
    preparing: bool = False
    refused_call: str | None = None
    group_epoch: int | None = None
    claims: dict[str, None] = field(default_factory=dict)
    fetching: dict[str, None] = field(default_factory=dict)
    fetched: dict[str, None] = field(default_factory=dict)
    unread_for: dict[str, str] = field(default_factory=dict)
    pending_revocation: frozenset[str] = frozenset()
    former: tuple[states.FormerId, ...] = ()


@dataclass(slots=True)
class GroupRecords:
    """All records of one group; ``changed_*`` name what the last rows touched."""

    group_name: str
    members: dict[str, MemberRecord] = field(default_factory=dict)
    holders: dict[str, dict[str, None]] = field(default_factory=dict)
    last_owner: dict[str, str] = field(default_factory=dict)
    targets: dict[str, str] = field(default_factory=dict)
    planned: dict[str, str] = field(default_factory=dict)
    stored: dict[str, str] = field(default_factory=dict)
    group: states.GroupState = field(default_factory=states.GroupState)
    beats: dict[str, list[int]] = field(default_factory=dict)
    messages: list[states.Message] = field(default_factory=list)
    positions: dict[str, list[tuple[int, states.Position]]] = field(default_factory=dict)
    changed_members: dict[str, None] = field(default_factory=dict)
    changed_partitions: dict[str, None] = field(default_factory=dict)
    created: dict[str, int] = field(default_factory=dict)
    deleted: set[str] = field(default_factory=set)
    unheard: set[str] = field(default_factory=set)
    """Members whose last commit named deleted topics alone: the broker refuses it, and the coordinator never hears of it."""
    subscriptions: set[str] = field(default_factory=set)
    patterns: set[str] = field(default_factory=set)

    def member(self, name: str) -> MemberRecord:
        """The record of that member, marked as changed."""
        record = self.members.get(name)
        if record is None:
            record = self.members[name] = MemberRecord(name)
        self.changed_members[name] = None
        return record

    def touch(self, partition: str) -> None:
        """Mark a partition as changed, known from now on."""
        self.holders.setdefault(partition, {})
        self.changed_partitions[partition] = None

    def touch_claims(self, member: MemberRecord) -> None:
        """Whatever the member holds may look different now."""
        for partition in member.claims:
            self.touch(partition)

    def drop_claims(self, member: MemberRecord) -> None:
        """The member holds nothing any more."""
        for partition in member.claims:
            self.holders[partition].pop(member.name, None)
            self.last_owner[partition] = member.name
            self.touch(partition)
        member.claims = {}
        member.fetched = {}

    def note_topic(self, row: TraceRow) -> None:
        """An administrator changes a topic: its partitions are there from now on, or are gone once nobody has them."""
        do, topic = row.detail.get("do"), str(row.detail.get("topic"))
        if do == "delete_topic":
            self.deleted.add(topic)
            for partition in self.holders:
                if partition.rpartition("-")[0] == topic:
                    self.touch(partition)
        elif do in {"create_topic", "add_partitions"}:
            self.deleted.discard(topic)
            for number in range(int(row.detail.get("partitions", 0))):
                self.created.setdefault(f"{topic}-{number}", row.at_ms)

    def note_subscription(self, topics: Iterable[str], pattern: str | None) -> None:
        """Somebody in the group subscribes; partitions that were there before are the group's from now on."""
        self.subscriptions.update(topics)
        if pattern is not None:
            self.patterns.add(pattern)
        for partition in self.created:
            if partition in self.holders:
                self.touch(partition)

    def wants(self, partition: str) -> bool:
        """Whether anybody in the group has subscribed to the partition's topic."""
        topic = partition.rpartition("-")[0]
        return topic in self.subscriptions or any(matches(pattern, topic) for pattern in self.patterns)

    # --- states drawn from records ---------------------------------------------------------
    def member_state(self, name: str) -> states.MemberState:
        """The member's state as of the rows so far."""
        member = self.members.get(name)
        if member is None:
            return states.MemberState()
        return states.MemberState(
            member.life,
            member.standing,
            _doing(member),
            member.generation,
            member.leader,
            member.parked,
            member.sending,
            member.callback if member.life == "alive" else None,
            member.error,
            member.instance_id,
            member.protocol,
            member.group_epoch,
        )

    def partition_state(self, partition: str) -> states.PartitionState:
        """The partition's state as of the rows so far."""
        owner = self.owner_of(partition)
        target = self.targets.get(partition)
        last = self.last_owner.get(partition)
        gone = bool(self.deleted) and partition.rpartition("-")[0] in self.deleted
        if gone and (owner is None or not _reads(owner, partition)):
            return states.ABSENT
        if owner is None:
            planned = self.planned.get(partition)
            fresh = partition in self.created and {last, target, planned} == {None}
            if fresh and not self.wants(partition):
                return states.ABSENT
            return states.PartitionState(last_owner=last, target=target, planned=planned, noticed=not fresh)
        holders = self.holders[partition]
        also = (
            tuple(name for name in holders if name != owner.name and _reads(self.members[name], partition))
            if len(holders) > 1
            else ()
        )
        word = _word(owner, partition)
        flows = _reads(owner, partition) or bool(also)
        return states.PartitionState(
            owner.name, word, flows, last, target if target != owner.name else None, also
        )

    def group_state(self) -> states.GroupState:
        """The group's state with its waiting room."""
        phase = PHASES.get(self.group.state)
        known = [member for member in self.members.values() if member.standing == "member"]
        former = tuple(one for member in self.members.values() for one in member.former)
        if phase is None:
            return self.group._replace(joined=(), awaited=(), coming=(), former=former)
        joined = tuple(member.name for member in known if member.parked == phase)
        coming = tuple(member.name for member in self.members.values() if member.sending == phase)
        awaited = tuple(member.name for member in known if member.parked != phase)
        return self.group._replace(joined=joined, awaited=awaited, coming=coming, former=former)

    def owner_of(self, partition: str) -> MemberRecord | None:
        """Who has the partition: a member of the group before one outside that still reads it."""
        names = self.holders.get(partition)
        if not names:
            return None
        holders = [self.members[name] for name in names]
        inside = [member for member in holders if member.standing in {"member", "away"}]
        if inside:
            return inside[-1]
        outside = [member for member in holders if _reads(member, partition)]
        return outside[-1] if outside else None

    def has_other_owner(self, partition: str, name: str) -> bool:
        """Whether somebody else has the partition."""
        names = self.holders.get(partition)
        if not names or (name in names and len(names) == 1):
            return False
        owner = self.owner_of(partition)
        return owner is not None and owner.name != name


def former_id(records: GroupRecords, member: MemberRecord) -> states.FormerId:
    """What the coordinator still has of a process that is gone."""
    beats = records.beats.get(member.name)
    return states.FormerId(
        member.name, member.protocol, beats[-1] if beats else None, tuple(member.claims), member.member_id
    )


@lru_cache(maxsize=256)
def matches(pattern: str, topic: str) -> bool:
    """Whether a subscription's pattern takes the topic; one that Python cannot read takes all."""
    try:
        return re.fullmatch(pattern, topic) is not None
    except re.error:
        return True


def _reads(member: MemberRecord, partition: str) -> bool:
    return partition in member.fetching and member.life == "alive"


def _is_out(member: MemberRecord) -> bool:
    """Whether the coordinator does not have the member; of one that no row speaks of (a recorded run) nobody knows."""
    unheard_of = member.standing == "none" and member.member_id is None
    return member.standing not in {"member", "away"} and not unheard_of


def _word(owner: MemberRecord, partition: str) -> str:
    if owner.life in GONE:
        return (
            "was leaving"
            if partition in owner.in_callback and owner.callback != "onPartitionsAssigned"
            else "stopped"
        )
    if owner.life == "frozen":
        return "stopped"
    if _reads(owner, partition):
        if _is_out(owner):
            return "zombie"
        return "give up" if partition in owner.pending_revocation else "flows"
    if owner.refused_call is not None:
        return "stopped"
    if owner.callback is not None:
        leaving = owner.callback != "onPartitionsAssigned" and partition in owner.in_callback
        return "give up" if leaving else "callback"
    if partition not in owner.fetched:
        return "new"
    if partition in owner.pending_revocation or owner.unread_for.get(partition) in LEAVING:
        return "give up"
    return "stopped"


def _doing(member: MemberRecord) -> str:
    if member.life == "absent":
        return "not started"
    if member.life == "crashed":
        return "gone" if member.standing in {"removed", "none"} else "crashed"
    if member.life == "died":
        return "died"
    if member.life == "closed":
        return "left"
    if member.life == "frozen":
        return "frozen, removed" if member.standing == "removed" else "frozen"
    if member.callback is not None:
        return f"in {member.callback}"
    if member.refused_call is not None:
        return f"had its {member.refused_call}() refused"
    if member.stalled:
        return "does not poll"
    if member.standing == "removed" and member.claims:
        return "removed, still works"
    if member.sending == "LeaveGroup":
        return "leaves"
    if member.cut_off:
        return "is cut off"
    if member.lost_coordinator:
        return "looks for the coordinator"
    if member.preparing:
        return "commits before it joins"
    if member.parked is not None:
        return f"waits in {member.parked}"
    if member.sending in PARKING:
        return f"sends {member.sending}"
    if member.pending_revocation:
        return "gives up partitions"
    reads = bool(member.fetching) and not _is_out(member)
    return "polls" if member.standing == "member" or reads else "starts"


# Where partitions stand: what rows say of positions, log ends and committed offsets.


def partition_of(row: TraceRow) -> str:
    """The partition a row speaks of, as Kafka prints it."""
    return f"{row.topic}-{row.partition}"


def note_position(records: GroupRecords, row: TraceRow) -> None:
    """Keep where the partition of a row stands."""
    partition, detail = partition_of(row), row.detail
    known = records.positions.setdefault(partition, [])
    position, log_end = detail.get("position"), detail.get("log_end")
    if position is None or records.has_other_owner(partition, row.actor):
        return  # what a member outside the group reads is not where the group stands
    last = known[-1][1] if known else states.Position(0, 0, None)
    known.append(
        (
            row.at_ms,
            states.Position(
                position,
                last.log_end if log_end is None else log_end,
                detail.get("committed", last.committed),
            ),
        )
    )


def note_commit(records: GroupRecords, row: TraceRow) -> None:
    """Keep the offsets of a commit that was accepted."""
    topics = {partition.rpartition("-")[0] for partition in row.detail["offsets"]}
    (records.unheard.add if topics and topics <= records.deleted else records.unheard.discard)(row.actor)
    if row.detail.get("error", "NONE") != "NONE":
        return
    for partition, offset in row.detail["offsets"].items():
        known = records.positions.setdefault(partition, [])
        last = known[-1][1] if known else states.Position(offset, offset, None)
        known.append(
            (row.at_ms, states.Position(max(last.position, offset), max(last.log_end, offset), offset))
        )
