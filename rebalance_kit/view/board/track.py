"""Tracks: states in order of time, found by bisection; and positions between two looks.

Tracks of states drawn from a trace as far as it goes; more of the same run may follow.

The lab keeps one of these up to the cursor, so that after a click only what is new has to be folded.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import Generic, NamedTuple, TypeVar

from rebalance_kit.model.trace import Trace, TraceRow
from rebalance_kit.view.board.client_rows import CLIENT_RULES, GROUP_RULES
from rebalance_kit.view.board.group_records import PARKING, GroupRecords
from rebalance_kit.view.board.states import ABSENT, GroupState, MemberState, PartitionState, Position, Queue
from rebalance_kit.view.style.theme import member_order

# A trace folded in order: rows, and messages counted where they are.
#
# A request is on its way until ``arrives_ms``, then it waits at the coordinator until it is answered.


RULES = {**GROUP_RULES, **CLIENT_RULES}
TRAVELLING = frozenset({"request", "response"})
OF_A_MEMBER = frozenset({"joined", "synced", "reconciling", "owned", "member_state"})


class TraceFolder:
    """Rows of one group fed in order, as far as they are known; more may follow later.

    ``records`` is what the rows have said so far. Rows of other groups' members are left out.
    """

    def __init__(self, group: str) -> None:
        self.records = GroupRecords(group)
        self._group = group
        self._outside: set[str] = set()
        self._flying: list[_Arrival] = []

    def feed(self, rows: Iterable[TraceRow], until_ms: int) -> Iterator[int]:
        """Take rows up to ``until_ms`` and whatever arrives by then; yields after each millisecond that had any."""
        now: int | None = None
        records = self.records
        for at_ms, event in self._in_order(rows, until_ms):
            if now is not None and at_ms != now:
                yield now
                records.changed_members.clear()
                records.changed_partitions.clear()
            now = at_ms
            if isinstance(event, _Arrival):
                _arrive(records, at_ms, event.row)
            else:
                _take(records, event)
        if now is not None:
            yield now
            records.changed_members.clear()
            records.changed_partitions.clear()

    def _in_order(self, rows: Iterable[TraceRow], until_ms: int) -> Iterator[tuple[int, TraceRow | _Arrival]]:
        """Rows and arrivals by time; at one millisecond an arrival comes before what it causes."""
        flying, group = self._flying, self._group
        for row in rows:
            if row.detail.get("group", group) != group:
                if row.kind == "process_started":
                    self._outside.add(row.actor)
                continue
            if row.actor in self._outside:
                continue
            while flying and (flying[0].at_ms, flying[0].seq) < (row.at_ms, row.seq):
                arrival = heappop(flying)
                yield arrival.at_ms, arrival
            if row.kind in TRAVELLING and _arrives(row):
                heappush(flying, _Arrival(row.detail["arrives_ms"], row.seq, row))
            yield row.at_ms, row
        while flying and flying[0].at_ms <= until_ms:
            arrival = heappop(flying)
            yield arrival.at_ms, arrival


def _take(records: GroupRecords, row: TraceRow) -> None:
    kind = row.kind
    rule = RULES.get(kind)
    if rule is not None:
        rule(records, row)
    if kind == "action":
        _do(records, row)
    if kind in OF_A_MEMBER and row.generation is not None and row.actor in records.members:
        records.member(row.actor).generation = row.generation if row.generation >= 0 else None


def _do(records: GroupRecords, row: TraceRow) -> None:
    """What somebody outside the group does to topics, to the network and to subscriptions."""
    records.note_topic(row)
    do, member = row.detail["do"], row.detail.get("member")
    if do in {"cut_network", "heal_network"} and member in records.members:
        records.member(member).cut_off = do == "cut_network"
    if do == "subscribe" and member in records.members:
        records.note_subscription(row.detail.get("topics", ()), None)


def _arrive(records: GroupRecords, at_ms: int, row: TraceRow) -> None:
    """A message reaches its end: a request the coordinator, an answer its member."""
    if row.kind == "response":
        member = records.members.get(row.detail["to"])
        if member is not None and member.generation != row.generation and member.life == "alive":
            records.member(member.name).generation = row.generation
        return
    member, api = records.members.get(row.actor), row.detail["api"]
    if member is None:
        return
    if member.sending == api and api in PARKING:
        records.member(member.name).sending = None
    answered_at_once = api == "SyncGroup" and records.group.state == "Stable"
    if api in PARKING and member.life != "absent" and records.group.up and not answered_at_once:
        records.member(member.name).parked = api


class _Arrival(NamedTuple):
    at_ms: int
    seq: int
    row: TraceRow


def _arrives(row: TraceRow) -> bool:
    if row.kind == "request":
        return row.detail.get("arrives_ms") is not None
    return (
        row.kind == "response"
        and row.detail.get("api") == "ConsumerGroupHeartbeat"
        and row.detail.get("arrives_ms") is not None
        and row.generation is not None
    )


S = TypeVar("S")


@dataclass(slots=True)
class Track(Generic[S]):
    """States in order of time; each holds from its ``times`` entry to the next."""

    times: list[int] = field(default_factory=list)
    states: list[S] = field(default_factory=list)

    def push(self, at_ms: int, state: S) -> None:
        """Add a state unless it equals the last; a later word on the same millisecond wins."""
        if self.times and self.times[-1] == at_ms:
            self.states[-1] = state
            if len(self.states) > 1 and self.states[-2] == state:
                self.times.pop()
                self.states.pop()
        elif not self.states or self.states[-1] != state:
            self.times.append(at_ms)
            self.states.append(state)

    def index(self, at_ms: int) -> int:
        """Which entry holds at that moment (the first one before anything was known)."""
        return max(bisect_right(self.times, at_ms) - 1, 0)

    def at(self, at_ms: int) -> S:
        """The state at that moment."""
        return self.states[self.index(at_ms)]

    def since(self, at_ms: int, same: Callable[[S], bool]) -> int:
        """Since when every state has satisfied ``same``, looking back from that moment."""
        index = self.index(at_ms)
        while index > 0 and same(self.states[index - 1]):
            index -= 1
        return self.times[index]


def begun(state: S) -> Track[S]:
    """A track that holds one state from the start."""
    return Track([0], [state])


def between(known: list[tuple[int, Position]], index: int, at_ms: int, *, flows: bool) -> Position:
    """The position at a moment between two looks: the log grows evenly, an owner that kept up keeps up."""
    since, here = known[index]
    if index + 1 < len(known):
        until, there = known[index + 1]
    elif index > 0:
        until, there = (
            at_ms,
            here._replace(log_end=here.log_end + round(_rate(known, index) * (at_ms - since))),
        )
    else:
        until, there = at_ms, here
    share = (at_ms - since) / (until - since) if until > since else 1.0
    log_end = round(here.log_end + (there.log_end - here.log_end) * share)
    if not flows:
        return Position(here.position, max(log_end, here.log_end), here.committed)
    if index + 1 < len(known) and there.log_end - there.position > max(2, here.log_end - here.position):
        return Position(
            round(here.position + (there.position - here.position) * share), log_end, here.committed
        )
    behind = max(0, there.log_end - there.position) if index + 1 < len(known) else 0
    return Position(max(here.position, log_end - behind), max(log_end, here.position), here.committed)


def _rate(known: list[tuple[int, Position]], index: int) -> float:
    first, last = known[0], known[index]
    return (last[1].log_end - first[1].log_end) / (last[0] - first[0]) if last[0] > first[0] else 0.0


# Queues of records: partitions that are read, and in which the records of some seconds wait all the same.


BEHIND_MS = 2_000
"""A queue is one of at least the records of two seconds,"""
LEAST = 10
"""and of at least ten records; less is what comes between two polls."""
APART_MS = 4_000
"""Looks that are nearer to each other say nothing of whether a queue grows."""

Looks = Sequence[tuple[int, Position]]
Stretch = tuple[int, Position, int, Position, PartitionState]


def queues_of(name: str, looks: Looks, track: Track[PartitionState], end_ms: int) -> Iterator[Queue]:
    """Stretches between two looks at a partition at whose end a queue waits; the last one reaches to the end."""
    if all(look.log_end - look.position < LEAST for _, look in looks):
        return
    stretches = _stretches(looks, track)
    for number, (since, before, until, after, state) in enumerate(stretches, start=1):
        waiting = _waiting(after)
        if waiting < LEAST or not state.flows or state.owner is None:
            continue
        if waiting < (after.log_end - before.log_end) * BEHIND_MS / (until - since):
            continue
        end = end_ms if number == len(stretches) else until
        yield Queue(since, end, name, state.owner, waiting, waiting - _waiting(before))


def _stretches(looks: Looks, track: Track[PartitionState]) -> list[Stretch]:
    """Pairs of looks while one member reads the partition without a break, with its state at the first of them."""
    times, states = track.times, track.states
    stretches: list[Stretch] = []
    begun: tuple[int, Position] | None = None
    here = first = 0
    for look in looks:
        at_ms, position = look
        while here + 1 < len(times) and times[here + 1] <= at_ms:
            here += 1
        if begun is not None and (
            _broken(states[first : here + 1]) if first < here else not states[here].flows
        ):
            begun = None
        if begun is None:
            begun, first = look, here
        elif at_ms - begun[0] >= APART_MS:
            stretches.append((*begun, at_ms, position, states[first]))
            begun, first = look, here
    return stretches


def _broken(states: Sequence[PartitionState]) -> bool:
    return any(not state.flows or state.owner != states[0].owner for state in states)


def _waiting(position: Position) -> int:
    return max(0, position.log_end - position.position)


class StateTracks:
    """The tracks of one group's members, partitions and of the group itself.

    ``group`` names the group when a trace holds several (default: that of the first process).
    """

    def __init__(self, trace: Trace, group: str | None = None) -> None:
        self.group_name = group or _first_group(trace)
        self.names = _members_of(trace, self.group_name)
        self.folder = TraceFolder(self.group_name)
        self.members: dict[str, Track[MemberState]] = {name: begun(MemberState()) for name in self.names}
        self.partitions: dict[str, Track[PartitionState]] = {
            name: begun(PartitionState()) for name in _partitions_of(trace, self.group_name)
        }
        self.group: Track[GroupState] = begun(GroupState())
        self._rows = 0

    def feed(self, trace: Trace) -> None:
        """Take what the trace holds beyond what was taken before; it must begin with the same rows."""
        new = trace.rows[self._rows :]
        self._rows = len(trace.rows)
        records = self.folder.records
        known: GroupState | None = None
        for at_ms in self.folder.feed(new, trace.end_ms):
            for name in records.changed_members:
                if name in self.members:
                    self.members[name].push(at_ms, records.member_state(name))
            for name in records.changed_partitions:
                track = self.partitions.get(name)
                if track is None:
                    track = self.partitions[name] = begun(ABSENT)
                    if name in records.created and records.wants(name):
                        track.push(records.created[name], PartitionState())
                track.push(at_ms, records.partition_state(name))
            if records.changed_members or records.group is not known:
                known = records.group
                self.group.push(at_ms, records.group_state())


def _first_group(trace: Trace) -> str:
    for row in trace.rows:
        if row.kind == "process_started":
            return str(row.detail.get("group", ""))
    return ""


def _members_of(trace: Trace, group: str) -> tuple[str, ...]:
    others = {
        row.actor
        for row in trace.rows
        if row.kind == "process_started" and row.detail.get("group", group) != group
    }
    return tuple(name for name in member_order(trace) if name not in others)


def _partitions_of(trace: Trace, group: str) -> list[str]:
    """Partitions that exist from the start and that somebody in the group subscribes to."""
    wanted: set[str] = set()
    for row in trace.rows:
        if row.kind == "process_started" and row.detail.get("group", group) == group:
            topics = row.detail.get("topics") or trace.meta.get("topics", ())
            wanted.update(topics)
    return [
        f"{topic}-{number}"
        for topic, count in trace.meta.get("topics", {}).items()
        if topic in wanted
        for number in range(count)
    ]
