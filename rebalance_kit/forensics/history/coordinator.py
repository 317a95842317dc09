"""Rebalances as the coordinator wrote them down.

Classic: a rebalance begins with "Preparing to rebalance" and ends when the leader's assignment has
been received ("Stabilized" only ends the join phase).  KIP-848: every bump of the group epoch is a
rebalance; several may share one target assignment, and it ends when the last member that wrote a
log has acknowledged (without client logs: when the target was computed).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from rebalance_kit.forensics.history.rebalance import Moves, Rebalance
from rebalance_kit.forensics.history.triggers import (
    classic_trigger,
    client_reason,
    epoch_trigger,
    leave_trigger,
    reason_member,
)
from rebalance_kit.forensics.words import short

if TYPE_CHECKING:
    from rebalance_kit.forensics.event import Event

#: What makes a KIP-848 group bump its epoch is written at most this long before the bump; only the
#: first join of a fresh coordinator takes as long as a seventh of it.
_CAUSE_WINDOW_MS = 1000

#: A static member that comes back bumps nothing unless it asks for other topics, and then at once.
_AT_ONCE_MS = 50

#: Whoever went this long before a rebalance of which only the end is told may have begun it.
_LEFT_BEFORE_MS = 60_000

#: What is said of a bump of the group epoch that neither a line before it nor its hash explains.
_UNTOLD_BUMP = "the group epoch became {epoch}; no line that was read tells why"

JOINED = ("member_id_given", "member_added", "static_added", "joins", "static_rejoins")
LEFT = ("left", "epoch_left")
EXPIRED = ("member_failed", "session_expired")
#: Lines of no group that tell that a broker could not write what it was to store.
UNSTORED = frozenset({"offsets_append_failed", "coordinator_writes_refused"})

#: The error with which an assignment was not stored.
_STORING = re.compile(r"[Ee]rror (\w+) when storing")

#: The partition in which a group is stored, and how long a broker tries to store an assignment (offsets.commit.timeout.ms).
_PARTITION = re.compile(r"__consumer_offsets-(\d{1,9})")
_STORE_MS = 5_000

#: The members of a target assignment, as a coordinator writes it down.
_TARGETED = re.compile(r"([\w.@/-]{1,249})=MemberAssignment\(")

#: Lines with which a member of a consumer group is in it no more.
_REMOVED = frozenset({"epoch_left", "session_expired", "transition_expired", "fenced"})

_ENDS = frozenset({"stabilized", "emptied", "upgraded", "preparing", "unloaded"})


class Coordinator:
    """Folds a coordinator's lines into rebalances."""

    def __init__(self) -> None:
        self._rows: list[Rebalance] = []
        self._open: Rebalance | None = None
        self._unassigned: list[Rebalance] = []
        self._untargeted: list[Rebalance] = []
        self._bump: Rebalance | None = None
        self._acks: tuple[int, int] = (-1, -1)
        self._reached = Reached()
        self._leaver: Event | None = None
        self._cause: Event | None = None
        self._earlier: int | None = None
        self._inside: Rebalance | None = None
        self._next = Moves()
        #: The partition of __consumer_offsets in which the group is stored, where a line names it.
        self._partition: str | None = None
        #: The members of the last target assignment, where the line names them.
        self._targets: frozenset[str] = frozenset()
        #: The hash of the metadata of the group's topics, where a bump has told it.
        self._hash: int | None = None

    def take(self, event: Event) -> None:
        """A line of the coordinator; one without a time tells nothing here."""
        if event.at_ms is None:
            return
        name = event.event
        self._reached.written(event, self._earlier or 0)
        if name in {"preparing", "stabilized"} and (stored := _PARTITION.search(event.text)):
            self._partition = stored[1]
        if name in _ENDS:
            if self._open is not None and _is_later(event, self._open):
                self._open = None
            self._begin_unseen(event)
            self._close(event)
        if name == "preparing":
            self._prepare(event)
        elif name == "bumped":
            self._bumped(event)
        elif name == "assignment_received":
            self._received(event)
        elif name == "computed":
            if (event.epoch or 0) > (self._earlier or 0):
                self._bumped(event, unseen=True)
                self._cause = None  # it is of this epoch
            self._targeted(event)
        if name in LEFT or name in EXPIRED:
            self._leaver = event
        if name == "bumped" or epoch_trigger(name, event.reason) is not None:
            self._cause = event
        if name in {"bumped", "stabilized", "emptied", "computed"}:
            number = event.epoch if event.epoch is not None else event.generation
            self._earlier = self._earlier if number is None else number
        self._move(event)

    def unstored(self, event: Event) -> None:
        """A broker could not write to a partition of __consumer_offsets: an assignment that it had just been given there is not stored."""
        last, partition = self._rows[-1] if self._rows else None, _PARTITION.search(event.text)
        if last is None or event.at_ms is None or partition is None or last.received is None:
            return
        if self._partition in {None, partition[1]} and 0 <= event.at_ms - last.received[1] <= _STORE_MS:
            last.stable, last.end_ms, last.received = False, None, None

    def stepped(self, event: Event) -> None:
        """A member went from one state to another, by its own line: as STABLE it has taken its assignment over.

        Who came after the last bump and made none took over what another left (a static member that is back).
        """
        at_ms, since, bump = event.at_ms, self._reached.stepped(event), self._bump
        late = since is not None and bump is not None and since > (bump.after or 0)
        if bump is not None and (event.epoch or 0) > (bump.after or 0):
            late = True  # the line of that epoch is missing
        if event.state_to == "STABLE" and at_ms is not None and at_ms > self._acks[0] and not late:
            self._acks = (at_ms, self._acks[0])

    def forget(self, gone: Collection[str]) -> None:
        """Forget members that are gone."""
        self._reached.forget(gone)

    @property
    def begun(self) -> list[int]:
        """When the rebalances began that were not given away."""
        return [row.start_ms for row in self._rows]

    def finished(self, before_ms: float = inf) -> list[Rebalance]:
        """Give away the rebalances that began before then and are not under way; without a moment, all there are."""
        over = [
            row
            for row in self._rows
            if row.start_ms < before_ms and (row is not self._open or before_ms == inf)
        ]
        gone = {id(row) for row in over}
        self._rows, self._unassigned, self._untargeted = (
            [row for row in rows if id(row) not in gone]
            for rows in (self._rows, self._unassigned, self._untargeted)
        )
        if before_ms == inf and over:
            _not_over(over[-1], self._next)
        if self._bump is not None and id(self._bump) in gone:
            self._bump.ack_ms, self._bump = self._acks[0], None
        self._reached.prove([row for row in over if row.protocol == "consumer"])
        for row in over:
            _complete(row)
        return over

    def _close(self, event: Event) -> None:
        row, self._open = self._open, None
        if row is None:
            return
        if event.event == "emptied":
            row.members = 0
        else:
            row.members = event.members
        if event.event in {"stabilized", "emptied"}:
            # Before Kafka 0.10 a group was removed with the generation that was over.
            row.after = (
                event.generation if event.event == "stabilized" or event.generation != row.before else None
            )
            row.end_ms = event.at_ms if event.generation is not None else None
        row.stable = event.event == "stabilized"
        self._leaver = None

    def _begin_unseen(self, event: Event) -> None:
        """A rebalance of which only the end is in these logs: it was going on when whoever went last did, and may have begun by that."""
        told = event.event in {"stabilized", "emptied"} and event.generation is not None
        if not told or self._open is not None or event.generation == self._earlier:
            return
        leaver, at_ms = self._leaver, event.at_ms or 0
        fresh = leaver if leaver is not None and at_ms - (leaver.at_ms or 0) <= _LEFT_BEFORE_MS else None
        row = self._begin("classic", "unseen", event, at_ms if fresh is None else fresh.at_ms or 0)
        row.before, row.only_its_end, self._open = (event.generation or 1) - 1, True, row
        if event.generation == 1 and fresh is None:
            row.known = "its first members joined"
        self._unassigned.append(row)

    def _received(self, event: Event) -> None:
        row = self._open
        if row is not None and row.before is not None and event.generation == row.before + 1:
            # The line that it is stable is missing.
            row.after, row.stable, row.end_ms = event.generation, True, event.at_ms
            self._open, self._leaver, self._inside, self._earlier = None, None, None, event.generation
        for row in self._unassigned:
            row.received = (event.generation, event.at_ms or 0)
        self._unassigned = []

    def _prepare(self, event: Event) -> None:
        stated, said = classic_trigger(event.reason), client_reason(event.reason)
        member, leaver = reason_member(event.reason), self._leaver
        trigger = stated
        if stated == "leave":
            # A leave (also one that turns the group into a classic one) is told best by the line before it.
            if member is None and leaver is not None and leaver.event in EXPIRED:
                trigger = "session_expired"
            else:
                trigger = leave_trigger(said)
            member = member or (leaver.member if leaver else None)
            said = said if said is not None else leaver.reason if leaver else None
        if trigger == "leave":
            trigger = leave_trigger(leaver.reason if leaver else None)
        row = self._begin("classic", trigger, event, event.at_ms or 0)
        if trigger == "store_failed" and said is None:
            error = _STORING.search(event.reason or "")
            said = error[1] if error else None
        row.culprit_member, row.said, row.before = member, said, event.generation
        if event.reason is None and trigger == "rejoin":
            row.trigger, row.known = "unseen", "its coordinator writes no reason, as old brokers do not"
        self._open = row
        self._unassigned.append(row)
        self._inside = row

    def _bumped(self, event: Event, *, unseen: bool = False) -> None:
        at_ms, cause = event.at_ms or 0, self._cause
        if self._bump is not None:
            last, before = self._acks
            self._bump.ack_ms = last if last < at_ms else before
        trigger = None if cause is None else epoch_trigger(cause.event, cause.reason)
        within = _AT_ONCE_MS if cause is not None and cause.event == "static_rejoins" else _CAUSE_WINDOW_MS
        fresh = cause if trigger is not None and cause and at_ms - (cause.at_ms or 0) <= within else None
        if self._earlier is not None and (event.epoch or 0) > self._earlier + 1:
            fresh = None  # the lines of an epoch are missing, which that may have been of
        start_ms = at_ms if fresh is None else fresh.at_ms or 0
        untold = "metadata_changed" if not unseen and self._other_metadata(event) else "unseen"
        row = self._begin("consumer", trigger if fresh and trigger else untold, event, start_ms)
        row.only_its_end = unseen
        if row.trigger == "unseen" and not unseen:
            row.known = _UNTOLD_BUMP.format(epoch=event.epoch)
        if fresh is not None:
            row.culprit_member = fresh.member if fresh.member is not None else fresh.instance
            row.said = fresh.reason
        # Without a hash a bump that no line explains may be of a member whose line is missing.
        explained = row.trigger != "unseen" and (fresh is not None or event.hash is not None)
        row.at_least = not self._reached.bumped(event, self._earlier, explained=explained)
        row.before = self._earlier if self._earlier is not None else (event.epoch or 0) - 1
        row.after = event.epoch
        self._bump = row
        self._untargeted.append(row)
        self._inside = None
        self._hash = self._hash if event.hash is None else event.hash

    def _other_metadata(self, bump: Event) -> bool:
        """Whether a bump that no line explains was made by other metadata: its hash is another one than before.

        Where a line is missing, or these logs begin with the bump, a member that came or went may have made it as well,
        and brokers of 4.0 write no hash.
        """
        follows = self._earlier is not None and bump.epoch == self._earlier + 1
        return follows and bump.hash not in {None, 0} and self._hash is not None and bump.hash != self._hash

    def _begin(self, protocol: str, trigger: str, event: Event, start_ms: int) -> Rebalance:
        row = Rebalance(protocol, trigger, start_ms, event.file, event.line, moves=self._next)
        row.confidence = event.confidence
        self._next = Moves()
        self._rows.append(row)
        return row

    def _targeted(self, event: Event) -> None:
        members = frozenset(_TARGETED.findall(event.detail or ""))
        for row in self._untargeted:
            # A target of a later epoch tells that this one was over by then.
            if row.after == event.epoch:
                row.target_ms = event.at_ms
            else:
                row.superseded_ms = event.at_ms
            if row.trigger == "unseen" and members and self._targets:
                row.known = _changed(self._targets, members) or row.known
        self._untargeted, self._targets = [], members

    def _move(self, event: Event) -> None:
        """Note who comes and goes: inside a join phase with that rebalance, else with the next, which it causes."""
        name = event.event
        # Whoever joins a stable group does so in the next rebalance.
        if name in {"stabilized", "emptied", "upgraded"} or event.state == "Stable":
            self._inside = None
        member = event.member
        if member is None:
            return
        moves = self._next if self._inside is None else self._inside.moves
        # A classic member of a consumer group "joins" each time it re-joins; a new one is given an id first.
        # A static member that returns in time joins no rebalance (where it causes one, it is the culprit).
        if name in JOINED and name != "static_rejoins" and (name, event.protocol) != ("joins", "classic"):
            moves.joined.add(member)
            moves.at_ms.setdefault(member, event.at_ms or 0)
        elif name in LEFT:
            moves.left.add(member)
            moves.at_ms[member] = event.at_ms or 0
        elif name in EXPIRED:
            moves.expired.append((event.at_ms or 0, member))


def _not_over(row: Rebalance, coming: Moves) -> None:
    """Of the last rebalance: whether whoever began it left before it was over, and who came after it and began no other."""
    member = row.culprit_member
    if row.trigger == "join" and row.end_ms is None and member in row.moves.left:
        row.left_again_ms = row.moves.at_ms[member] - row.start_ms
    elif row.end_ms is not None and coming.joined:
        came = min(coming.joined, key=lambda one: (coming.at_ms[one], one))
        more = f" and {len(coming.joined) - 1} more" if len(coming.joined) > 1 else ""
        after_ms = coming.at_ms[came] - row.end_ms
        row.later = f"{short(came)}{more} asked to join {after_ms / 1000:,.1f} s later, and that rebalance is not in these lines"


def _is_later(end: Event, row: Rebalance) -> bool:
    """Whether a line ends a rebalance after this one, whose own end is missing."""
    number = end.generation if end.event in {"stabilized", "emptied"} else None
    return number is not None and row.before is not None and number > row.before + 1


def _changed(before: frozenset[str], after: frozenset[str]) -> str | None:
    """Who came and went between two target assignments; None for nobody."""
    parts = [
        f"{', '.join(sorted(names))} {words}"
        for names, words in (
            (after - before, "joined (the target assignment before did not have it)"),
            (before - after, "left or was lost (the target assignment has it no more)"),
        )
        if names
    ]
    return "; ".join(parts) or None


def _complete(row: Rebalance) -> None:
    """Add when it ended, how long it took, and whether that is proved."""
    received = row.stable and row.after is not None and row.received and row.received[0] == row.after
    if received and row.received:
        row.end_ms = row.received[1]
    if row.protocol == "consumer":
        own = row.ack_ms if row.ack_ms is not None and row.ack_ms >= row.start_ms else None
        target_ms = row.superseded_ms if row.target_ms is None and not row.at_least else row.target_ms
        told = [ms for ms in (own, target_ms) if ms is not None]
        row.end_ms = max(told) if told else None
    else:
        # Who has joined waits for its assignment still.
        row.at_least = row.only_its_end or (row.stable and not received)
    row.duration_ms = None if row.end_ms is None else row.end_ms - row.start_ms
    row.at_least = None if row.end_ms is None else row.at_least


@dataclass(slots=True)
class _Steps:
    """How far a member of a consumer group got: the epoch that it came for, that with which it is gone, and what its own lines tell."""

    since: int | None = None
    until: float = inf
    reached: int = 0
    state: str | None = None


class Reached:
    """Which epochs of a consumer group all its members have reached by their own lines; its coordinator writes no end of a rebalance.

    A member without changes writes nothing of an epoch: later lines tell that it had reached it, where none before is missing.
    """

    def __init__(self) -> None:
        self._members: dict[str, _Steps] = {}
        #: Whether these lines tell of the group from its first member on, and of each bump why.
        self._whole = False

    def written(self, event: Event, epoch: int) -> None:
        """A line of the coordinator in this epoch: who comes, and who goes."""
        member, name = event.member, event.event
        if name == "static_rejoins" and event.other in self._members:
            self._members[event.other].until = epoch + 1
        if member is None:
            return
        if name in {"joins", "static_rejoins"}:
            steps = self._members.setdefault(member, _Steps())
            steps.since, steps.until = (epoch + 1 if steps.since is None else steps.since), inf
        elif name in _REMOVED and member in self._members:
            self._members[member].until = epoch + 1

    def bumped(self, event: Event, earlier: int | None, *, explained: bool) -> bool:
        """Whether these lines tell of everybody who is in the group with this bump."""
        first = earlier is None and event.epoch in {1, 2}
        follows = self._whole and earlier is not None and event.epoch == earlier + 1
        self._whole = explained and (first or follows)
        return self._whole

    def stepped(self, event: Event) -> int | None:
        """A member went from one state to another; the epoch that it came for, where its coordinator tells."""
        if event.member is None:
            return None
        steps = self._members.setdefault(event.member, _Steps())
        if event.state_to == "JOINING":
            steps.state = event.state_from
        if steps.state == event.state_from:
            steps.state = event.state_to
            if "STABLE" in {event.state_from, event.state_to}:
                steps.reached = max(steps.reached, event.epoch or 0)
        else:  # a line is missing
            steps.state = None
        return steps.since

    def prove(self, rows: Collection[Rebalance]) -> None:
        """Mark the rows of epochs that a member had not reached, as far as its lines tell."""
        short = sorted(
            (max(steps.since, steps.reached + 1), steps.until)
            for steps in self._members.values()
            if steps.since is not None and steps.reached + 1 < steps.until
        )
        upto, place = 0.0, 0
        for row in sorted(rows, key=lambda row: row.after or 0):
            while place < len(short) and short[place][0] <= (row.after or 0):
                upto, place = max(upto, short[place][1]), place + 1
            row.at_least = row.at_least or (row.after or 0) < upto

    def forget(self, gone: Collection[str]) -> None:
        """Forget members that are gone."""
        for member in gone:
            self._members.pop(member, None)
