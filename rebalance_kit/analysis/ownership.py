"""Who has which partition over time: as assignments say, as records reach members, and as their callbacks tell.

An assignment follows from ``owned`` rows: what a living process believes that it owns. Two processes may
believe so of one partition (one of them was removed and has not noticed); then the latest to get it counts.
A reader follows from the flows of records (``analysis.deliveries``). Where several groups read the same
topics, ``owners_at``, ``last_owners`` and everything about readers look at the trace's own group alone.

By the callbacks (``Owners``), a partition is unread from the moment its owner's revoked (or lost) callback begins
until a new owner's assigned callback begins. An owner that died calls nothing: its partitions have been unread since
it fell silent, a session before its expiry. How long a session is stands in a classic member's own log;
where it does not (a consumer group's sessions are the broker's), the gap is told from the expiry on.
A callback belongs to the last rebalance of its group that had begun when it was called. ``revoked``
counts every partition given up (or lost), ``moved`` only those that went to somebody else: under the
eager protocol the first is everything and the second may be nothing.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING, NamedTuple, Protocol

from rebalance_kit.analysis.deliveries import flows, strangers
from rebalance_kit.model.topology import TopicPartition, parse_partition
from rebalance_kit.model.trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence


OwnerOf = Mapping[TopicPartition, str]
GIVEN_UP = "revoke"
"""The reason of a flow that ends because the reader gave the partition up in a rebalance."""


class HandOvers(NamedTuple):
    """How often partitions changed hands: to another reader, and away from a reader and back to it."""

    to_others: int
    given_back: int


def assignments_at(trace: Trace, at_ms: int | None = None) -> Mapping[str, Mapping[TopicPartition, int]]:
    """Each living process with the partitions it owns and since when (ms); ``at_ms`` None means the end."""
    owned: dict[str, dict[TopicPartition, int]] = {}
    for row in trace.of("owned", "process_ended"):
        if at_ms is not None and row.at_ms > at_ms:
            break
        before = owned.pop(row.actor, {})
        if row.kind == "owned":
            now = [parse_partition(name) for name in row.detail["partitions"]]
            owned[row.actor] = {tp: before.get(tp, row.at_ms) for tp in now}
    return owned


def owned_at(trace: Trace, at_ms: int | None = None) -> dict[str, list[str]]:
    """Each living process with the names of its partitions, in order of the names."""
    assignments = assignments_at(trace, at_ms)
    return {member: sorted(map(str, assignments[member])) for member in sorted(assignments)}


def owners_at(trace: Trace, at_ms: int | None = None) -> OwnerOf:
    """The owner of each partition that has one."""
    others = strangers(trace)
    latest: dict[TopicPartition, tuple[int, str]] = {}
    for member, partitions in assignments_at(trace, at_ms).items():
        if member not in others:
            for tp, since_ms in partitions.items():
                latest[tp] = max(latest.get(tp, (-1, "")), (since_ms, member))
    return {tp: latest[tp][1] for tp in sorted(latest)}


def last_owners(trace: Trace, at_ms: int | None = None) -> OwnerOf:
    """Whoever got each partition last, whether it still has it or not."""
    others = strangers(trace)
    owned: dict[str, frozenset[TopicPartition]] = {}
    last: dict[TopicPartition, str] = {}
    for row in trace.of("owned", "process_ended"):
        if at_ms is not None and row.at_ms > at_ms:
            break
        if row.actor in others:
            continue
        before = owned.pop(row.actor, frozenset())
        if row.kind == "owned":
            now = frozenset(parse_partition(name) for name in row.detail["partitions"])
            last.update(dict.fromkeys(now - before, row.actor))
            owned[row.actor] = now
    return last


def readers_at(trace: Trace, at_ms: int) -> OwnerOf:
    """Whose application received each partition last, at or before that moment."""
    readers: dict[TopicPartition, str] = {}
    for tp, stretches in flows(trace).items():
        begun = [flow for flow in stretches if flow.from_ms <= at_ms]
        if begun:
            readers[tp] = max(begun, key=lambda flow: (min(flow.to_ms, at_ms), flow.from_ms)).member
    return readers


def moves(
    trace: Trace, since_ms: int, until_ms: int | None = None
) -> Mapping[TopicPartition, tuple[str, str]]:
    """Partitions that one member read when a window began and another one at its end, with both."""
    before = readers_at(trace, since_ms)
    after = readers_at(trace, trace.end_ms if until_ms is None else until_ms)
    return {tp: (before[tp], after[tp]) for tp in before if tp in after and before[tp] != after[tp]}


def hand_overs(trace: Trace, since_ms: int) -> HandOvers:
    """Count changes of reader from a moment on, and partitions revoked and given to the same reader again.

    A change is counted when the new reader receives its first record, whatever ended the former one's reading.
    """
    to_others = given_back = 0
    for stretches in flows(trace).values():
        for before, after in pairwise(stretches):
            if after.from_ms < since_ms:
                continue
            to_others += after.member != before.member
            given_back += after.member == before.member and before.reason == GIVEN_UP
    return HandOvers(to_others, given_back)


#: A rebalance is written down by the coordinator up to this long after a client felt it.
_EARLY_MS = 100

#: A session that ends this near to a whole one after a join phase was begun by that phase.
_REARMED_MS = 250

CALLS = frozenset({"assigned", "revoked", "lost"})


class Told(Protocol):
    """What a log line or a trace row tells of a member: a callback, an expiry, or one of its settings."""

    @property
    def event(self) -> str:
        """One of ``CALLS`` for a callback."""

    @property
    def client(self) -> str | None:
        """Whose callback or setting it is."""

    @property
    def at_ms(self) -> int | None:
        """When, None where the line has no time."""

    @property
    def partitions(self) -> list[str] | None:
        """What the callback was given."""

    @property
    def member(self) -> str | None:
        """Who expired."""

    @property
    def key(self) -> str | None:
        """The setting's name."""

    @property
    def value(self) -> str | None:
        """The setting's value."""


class TraceEvent(NamedTuple):
    """A callback or an expiry that a trace tells."""

    at_ms: int
    event: str = ""
    client: str | None = None
    partitions: list[str] | None = None
    member: str | None = None
    key: str | None = None
    value: str | None = None


class _Call(NamedTuple):
    event: str
    client: str
    at_ms: int


class Gap(NamedTuple):
    """A partition between two owners: the columns of the table."""

    partition: str
    from_ms: int
    to_ms: int
    duration_ms: int
    owner_before: str
    owner_after: str
    known_by: str


class _Kept(NamedTuple):
    """A partition that came to somebody though its owner had not given it up."""

    partition: str
    before: _Call
    after: _Call


class Moved(Protocol):
    """A rebalance that began at a moment, to which movements are added."""

    moved: list[str] | None
    revoked: list[str] | None

    @property
    def start_ms(self) -> int:
        """When it began."""
        ...


class Owners:
    """Folds the members' callbacks, be they told by logs or by a trace; ``shared``: settings in lines of no group."""

    def __init__(self, early_ms: int = _EARLY_MS, shared: Owners | None = None) -> None:
        self._early_ms, self._shared = early_ms, shared
        self._owner: dict[str, str] = {}
        self._last: dict[str, _Call] = {}
        self._gaps: list[Gap] = []
        self._kept: list[_Kept] = []
        self._moves: list[tuple[int, list[str], list[str]]] = []
        self._expired: list[tuple[int, str]] = []
        #: When each client last expired, of what is over.
        self._dead: dict[str, int] = {}
        self._sessions: dict[str, dict[str, str]] = {}
        #: The session of KIP-848's members, which is the broker's.
        self._brokers_session_ms: int | None = None
        self._tells = False
        #: Who ever called back, and when a coordinator last set all sessions anew.
        self.callers: set[str] = set()
        self._anew: list[int] = []

    def take(self, event: Told) -> None:
        """A callback of a client."""
        client, at_ms = event.client, event.at_ms
        if client is None or at_ms is None:
            return
        call = _Call(event.event, client, at_ms)
        self.callers.add(client)
        moved: list[str] = []
        parts = event.partitions or []
        for partition in parts:
            if event.event == "assigned":
                before = self._owner.get(partition)
                if before is not None and before != client:
                    moved.append(partition)
                self._assigned(partition, call)
            # A zombie that learns late of its loss says nothing about who reads the partition now.
            elif self._owner.get(partition) == client:
                self._last[partition] = call
        if parts:
            self._tells = True
            self._moves.append((at_ms, moved, [] if event.event == "assigned" else parts))

    def _assigned(self, partition: str, call: _Call) -> None:
        last = self._last.get(partition)
        if last is not None and last.event == "assigned":
            self._kept.append(_Kept(partition, last, call))
        elif last is not None:
            self._gaps.append(_gap(partition, last.at_ms, call, last.client, last.event))
        self._owner[partition] = call.client
        self._last[partition] = call

    def expired(self, event: Told) -> None:
        """The coordinator removed a member that it had not heard of for a session."""
        if event.member is not None and event.at_ms is not None:
            self._expired.append((event.at_ms, event.member))

    def configured(self, event: Told) -> None:
        """A line of a member's settings."""
        key, value = event.key, event.value
        if key == "group.consumer.session.timeout.ms" and value is not None and value.strip().isdecimal():
            self._brokers_session_ms = int(value)
        if event.client is not None and key in {"session.timeout.ms", "group.protocol"} and value is not None:
            told = self._sessions.setdefault(event.client, {})
            told[key] = max(told.get(key, value), value)

    def stabilized(self, event: Told) -> None:
        """A join phase ended: the coordinator began every member's session anew."""
        if event.at_ms is not None:
            self._anew.append(event.at_ms)

    def over(
        self,
        name_of: Callable[[str | None], str | None],
        before_ms: float = inf,
        last_line: Callable[[str, int], int | None] = lambda *_: None,
    ) -> list[Gap]:
        """Give away the gaps that ended before then; without a moment, all.

        ``last_line``: when a client last wrote something up to a moment.
        """
        expiries = {name: [at_ms] for name, at_ms in self._dead.items()}
        for at_ms, member in self._expired:
            expiries.setdefault(name_of(member) or "", []).append(at_ms)
            if at_ms < before_ms:
                self._dead[name_of(member) or ""] = at_ms
        self._expired = [one for one in self._expired if one[0] >= before_ms]
        rows = [gap for gap in self._gaps if gap.to_ms < before_ms]
        self._gaps = [gap for gap in self._gaps if gap.to_ms >= before_ms]
        for kept in self._kept:
            if kept.after.at_ms < before_ms:
                rows += self._told_by_expiry(kept, expiries, last_line)
        self._kept = [kept for kept in self._kept if kept.after.at_ms >= before_ms]
        self._anew = [at_ms for at_ms in self._anew if at_ms >= before_ms]
        return sorted(rows)

    def forget(self, names: Collection[str]) -> None:
        """Forget clients that have not been heard of for long, unless something of theirs waits for a new owner."""
        theirs = {*self._owner.values(), *names}
        self._dead = {name: at_ms for name, at_ms in self._dead.items() if name in theirs}
        self._sessions = {name: told for name, told in self._sessions.items() if name in theirs}

    def _told_by_expiry(
        self, kept: _Kept, expiries: dict[str, list[int]], last_line: Callable[[str, int], int | None]
    ) -> Iterator[Gap]:
        moments = expiries.get(kept.before.client, [])
        place = bisect_right(moments, kept.after.at_ms)
        if not place or moments[place - 1] < kept.before.at_ms:
            return
        # The coordinator's timer was set by the last heartbeat that reached it.
        silent_since = moments[place - 1] - (self._session_ms(kept.before.client) or 0)
        if any(abs(at_ms - silent_since) <= _REARMED_MS for at_ms in self._anew):
            # It was the end of a join phase that set it: of the member, its own log tells when it was last there.
            silent_since = min(silent_since, last_line(kept.before.client, silent_since) or silent_since)
        from_ms = max(kept.before.at_ms, silent_since)
        yield _gap(kept.partition, from_ms, kept.after, kept.before.client, "expired")

    def _session_ms(self, client: str) -> int | None:
        """The session timeout that a classic member, or a KIP-848 member's broker, wrote down when it started."""
        told = self.settings_of(client)
        for key, value in self._shared.settings_of(client).items() if self._shared else ():
            told[key] = max(told.get(key, value), value)
        session = told.get("session.timeout.ms", "")
        classic = told.get("group.protocol", "classic").lower() == "classic"
        if not classic:
            return self._brokers_session_ms
        return int(session) if session.strip().isdecimal() and len(session) < 19 else None

    def session_known(self, client: str) -> bool:
        """Whether a client's own log tells how long its session is, so that a gap that its expiry tells has a beginning."""
        return self._session_ms(client) is not None

    def settings_of(self, client: str) -> dict[str, str]:
        """What a client told of its session."""
        return dict(self._sessions.get(client, ()))

    def move(self, rebalances: Sequence[Moved], before_ms: float = inf) -> None:
        """Add ``moved`` and ``revoked``: sorted lists of partitions; None where no member's log tells.

        Callbacks from ``before_ms`` on are of later ones.
        """
        until_ms = before_ms - self._early_ms
        moves = [move for move in self._moves if move[0] < until_ms]
        self._moves = [move for move in self._moves if move[0] >= until_ms]
        if not self._tells:
            return
        begun = [row.start_ms - self._early_ms for row in rebalances]
        sums: list[tuple[set[str], set[str]]] = [(set(), set()) for _ in rebalances]
        for at_ms, moved, given_up in moves:
            place = bisect_right(begun, at_ms) - 1
            if place >= 0:
                sums[place][0].update(moved)
                sums[place][1].update(given_up)
        for row, (gone, left) in zip(rebalances, sums, strict=True):
            row.moved, row.revoked = sorted(gone), sorted(left)


def _gap(partition: str, from_ms: int, after: _Call, owner: str, known_by: str) -> Gap:
    return Gap(partition, from_ms, after.at_ms, after.at_ms - from_ms, owner, after.client, known_by)
