"""Rebalances of groups whose coordinator's log is not there, as the members felt them.

On a managed cluster only the clients' logs are at hand.  Every generation (or epoch) that a member
reports is a rebalance; its cause is what a member wrote between the one before and this.  What no
member wrote about was done by somebody whose log is missing, or by a process that died.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field, replace
from itertools import takewhile
from math import inf
from typing import TYPE_CHECKING

from rebalance_kit.forensics.history.member_lines import (
    ASKED,
    FOUND,
    GONE,
    LOST,
    RANK,
    is_under_way,
    member_trigger,
    number_of,
    only_asked,
    stand_in,
    told_by_heartbeat,
    why,
)
from rebalance_kit.forensics.history.rebalance import GAVE, GOT, Rebalance, Shift, Shifts
from rebalance_kit.forensics.words import FIRST_ANSWER, short

if TYPE_CHECKING:
    from collections.abc import Collection

    from rebalance_kit.forensics.event import Event


#: Members whose clients log no generation have joined in one rebalance when they say so within this time.
_SAME_END_MS = 2_000
_SOMEBODY = "{} was told that the group was rebalancing; who began that is not in these lines"

#: The first answer to a JoinGroup without a member id, in any client's words.


_FIRST_JOIN = " (its first join: it had just subscribed)"

_STATIC = "; it is static, and whether it began a rebalance by that is not in these lines"

#: Members in an assignment of a leader.
_SHARES = re.compile(r"Assignment\(partitions=\[")


@dataclass(slots=True)
class _Round:
    """One generation or epoch: when its first and last member told of it, and who they were."""

    protocol: str
    after: int
    first_ms: int
    file: str
    line: int
    end_ms: int = 0
    clients: set[str] = field(default_factory=set)
    told: list[_Told] = field(default_factory=list)
    shift: Shift = field(default_factory=Shift)
    #: Static members: one that is back in time makes no generation.
    static: set[str] = field(default_factory=set)
    #: Whose SyncGroup was refused afterwards: its coordinator had gone on, so when it wrote of it is no end.
    late: set[str] = field(default_factory=set)
    #: What the member that told of it first is called in a sentence.
    named: str = ""
    confidence: str | None = None


@dataclass(slots=True)
class _Unnumbered:
    """A rebalance that members ended without a generation: who had been a member before, and who had not."""

    start_ms: int
    end_ms: int
    file: str
    line: int
    members: set[str] = field(default_factory=set)
    new: list[str] = field(default_factory=list)
    #: One that had been a member, and so was told of it.
    told: str | None = None

    def row(self) -> Rebalance:
        """The rebalance."""
        return Rebalance(
            "classic",
            "join" if self.new else "unseen",
            self.start_ms,
            self.file,
            self.line,
            culprit=self.new[0] if self.new else None,
            end_ms=self.end_ms,
            duration_ms=self.end_ms - self.start_ms,
            at_least=True,
            joined=sorted(self.new),
            named=short(", ".join(self.new)) or None,
            known=None if self.new else _SOMEBODY.format(self.told),
        )


@dataclass(slots=True, order=True)
class _Told:
    """A line with which a member says that it began (or leaves) something; the most telling sorts first."""

    rank: int
    at_ms: int
    trigger: str
    client: str
    reason: str
    file: str
    line: int
    confidence: str | None = None
    #: What it is called in a sentence.
    named: str = ""
    member: str | None = None
    #: Of a member whose subscription stands in the log: when that was.
    since_ms: int | None = None


class Felt:
    """Folds the members' lines into rebalances."""

    def __init__(self) -> None:
        self._rounds: dict[tuple[str, int], _Round] = {}
        self._told: list[_Told] = []
        self._epoch, self._ended_ms = 0, -1
        #: The epoch of which these lines tell first, though not how it was settled.
        self._first_epoch: int | None = None
        #: When each member was last heard of.
        self._heard: dict[tuple[str, str], int] = {}
        #: The last round of each protocol that was given away.
        self._last: dict[str, _Round] = {}
        self._latest: dict[str, Rebalance] = {}
        #: Each member's first proof, since the last round, that a rebalance is on its way.
        self._under_way: dict[tuple[str, str], Event] = {}
        #: The epoch at which a member left its settled state, and whether it gave up partitions since.
        self._reconciling: dict[tuple[str, str], tuple[int | None, bool]] = {}
        self._shifts = Shifts()
        #: Files that begin with a process; members whose beginning was told; members that were in the group, or lost it.
        self._begun_files: set[str] = set()
        self._starts: dict[tuple[str, str], str] = {}
        #: When members subscribed that have not joined yet, and to what those did that have; of a generation its leader, and to how many
        #: members that gave shares.
        self._coming: dict[tuple[str, str], int] = {}
        self._subscribed: dict[tuple[str, str], str | None] = {}
        self._leaders: dict[int, tuple[str, int]] = {}
        self._in: set[tuple[str, str]] = set()
        #: Rebalances of clients that log no generation.
        self._unnumbered: list[_Unnumbered] = []
        self._members: dict[str, int] = {}

    def start(self, event: Event) -> None:
        """A line with which a life begins, and what a leader says of its shares."""
        member = event.client or stand_in(event) or "", event.file
        if event.event == "process_started":
            self._begun_files.add(event.file)
        elif event.event == "assignment_finished":
            shares = len(_SHARES.findall(event.detail or ""))
            if event.generation is not None and shares:
                self._leaders[event.generation] = member[0], shares
        elif event.event == "topics_unassigned":
            self._shifts.without_topics(member)
        elif event.event == "process_closed":
            self._in.discard(member)
        elif event.event == "coordinator_lost":
            self._unheard(member)
        elif event.event == "other_step":
            if event.at_ms is not None and FIRST_ANSWER.search(event.reason or ""):
                self._tell_join(member, event, event.at_ms)
        elif event.client is not None and member not in self._in:
            self._starts.setdefault(member, event.event)
            if event.event == "subscribed" and event.at_ms is not None:
                self._coming.setdefault(member, event.at_ms)
                self._subscribed[member] = event.detail
        elif event.event == "subscribed" and event.detail is not None and event.at_ms is not None:
            # Who subscribes to the same topics once more may be a second process of that name.
            if self._subscribed.get(member) == event.detail:
                self._shifts.subscribed(member, event.at_ms)
            self._subscribed[member] = event.detail

    def _unheard(self, member: tuple[str, str]) -> None:
        """A member's coordinator is lost before it has answered: what the member asked for by itself is nothing that began."""
        asked = self._under_way.get(member)
        if asked is not None and asked.event in ASKED and not self._shifts.is_notified(member):
            del self._under_way[member]
            self._told = [
                told
                for told in self._told
                if (told.client, told.file) != member
                or told.at_ms < (asked.at_ms or 0)
                or told.trigger not in {"unseen", "rejoin"}
            ]

    def _by_itself(self, member: tuple[str, str]) -> str:
        """Why a member asks to join, of which its line gives no reason: it is new, it began it, or that is not told."""
        if member not in self._in:
            new = member[1] in self._begun_files or self._starts.get(member, "") not in {"", *FOUND}
            return "join" if new else "unseen"
        return "unseen" if self._shifts.is_notified(member) else "rejoin"

    def take(self, event: Event) -> None:
        """A line of a client with a time."""
        at_ms, client = event.at_ms, event.client or stand_in(event)
        if at_ms is None or client is None:
            return
        member = client, event.file
        self._heard[member] = at_ms
        if event.event == "transitioned":
            self._shifts.reconciles(member)
        if event.event in GAVE or event.event in GOT:
            self._shifts.moved(member, event)
            if event.event != "revoked":
                return
        number = self._settled(member, event)
        if number is not None:
            one = self._rounds.get(number)
            if one is None:
                one = self._rounds[number] = _Round(*number, at_ms, event.file, event.line)
                one.confidence = event.confidence
                one.named = event.client or event.named_in_words
            one.end_ms = max(one.end_ms, at_ms)
            one.clients.add(client)
            if _is_static(event):
                one.static.add(client)
            self._shifts.settled(member, one.shift)
            self._joined(member, event, at_ms)
            if event.event == "rd_join_answer" and event.members == 1:
                one.shift.alone = one.named
        elif told_by_heartbeat(event):
            self._shifts.notified(member, event.client or event.named_in_words, event, at_ms)
        if event.event == "sync_failed":
            for one in self._rounds.values():
                if one.protocol == "classic" and f"generationId={one.after}," in (event.detail or ""):
                    one.late.add(client)
        # Generation -1 is none: its member's had been reset.
        if event.event == "other_joined" and number is None and (event.generation or 0) >= 0:
            self._joined_unnumbered(member, event, at_ms)
        if number is not None or event.event in GONE:
            self._under_way.pop(member, None)
        elif is_under_way(event):
            self._under_way.setdefault(member, event)
        trigger = member_trigger(event)
        if trigger == "unseen":
            trigger = self._by_itself(member)
        if number is not None or trigger in LOST or event.event in {"coordinator_lost", "heartbeat_failed"}:
            self._in.add(member)
        if trigger == "join" and member not in self._in:
            self._new(member)
        if trigger is not None:
            rank = RANK.index(trigger)
            told = _Told(
                *(rank, at_ms, trigger, client, why(event), event.file, event.line, event.confidence),
                named=client if event.client else event.named_in_words,
                member=event.member,
                since_ms=self._coming.get(member) if trigger == "join" else None,
            )
            self._told.append(told)

    def _new(self, member: tuple[str, str]) -> None:
        """A member joins that was in no group: what it wrote of changed metadata was its wait for the first it gets (librdkafka)."""
        self._told = [
            told
            for told in self._told
            if (told.client, told.file) != member or told.trigger != "metadata_changed"
        ]

    def _joined(self, member: tuple[str, str], event: Event, at_ms: int) -> None:
        """A member has joined: one that had subscribed, and whose request to join no line tells, has come with that."""
        since_ms = self._coming.pop(member, None)
        if since_ms is None:
            return
        for told in reversed(self._told):
            if told.at_ms < since_ms:
                break
            if told.trigger == "join" and (told.client, told.file) == member:
                return
        self._tell_join(member, event, at_ms, since_ms)

    def _tell_join(
        self, member: tuple[str, str], event: Event, at_ms: int, since_ms: int | None = None
    ) -> None:
        """Keep that a member joins."""
        rank = RANK.index("join")
        self._told.append(
            _Told(
                *(rank, at_ms, "join", member[0], "", event.file, event.line, event.confidence),
                named=event.client or short(event.member or "") or event.named_in_words,
                member=event.member,
                since_ms=since_ms,
            )
        )

    def _joined_unnumbered(self, member: tuple[str, str], event: Event, at_ms: int) -> None:
        """A member has joined, of a client that logs no generation: it ends the rebalance that another's joining ended just before, or its own."""
        proof = self._under_way.pop(member, None)
        one = self._unnumbered[-1] if self._unnumbered else None
        if one is None or at_ms - one.end_ms > _SAME_END_MS or event.member in one.members:
            one = _Unnumbered(at_ms, at_ms, event.file, event.line)
            self._unnumbered.append(one)
        if proof is not None and (proof.at_ms or 0) < one.start_ms:
            one.start_ms, one.file, one.line = proof.at_ms or 0, proof.file, proof.line
        one.end_ms = max(one.end_ms, at_ms)
        own = event.member or (member[0] if event.client is not None else event.named_in_words)
        if own in self._members:
            one.told = one.told or (event.client or event.named_in_words)
        else:
            one.new.append(own)
        one.members.add(own)
        self._members[own] = at_ms

    def forget(self, before_ms: int) -> None:
        """Forget members that were last heard of before then, unless with them a rebalance began that goes on."""
        self._heard = {
            member: at_ms
            for member, at_ms in self._heard.items()
            if at_ms >= before_ms or self._waits(member)
        }
        self._under_way = {key: one for key, one in self._under_way.items() if key in self._heard}
        self._reconciling = {key: one for key, one in self._reconciling.items() if key in self._heard}
        self._shifts.forget(set(self._heard))
        self._in &= self._heard.keys()
        self._starts = {key: told for key, told in self._starts.items() if key in self._heard}
        self._coming = {key: at_ms for key, at_ms in self._coming.items() if at_ms >= before_ms}
        self._subscribed = {key: told for key, told in self._subscribed.items() if key in self._heard}
        self._members = {own: at_ms for own, at_ms in self._members.items() if at_ms >= before_ms}
        over = max((one.after for one in self._last.values() if one.protocol == "classic"), default=0)
        self._leaders = {number: one for number, one in self._leaders.items() if number > over}

    def _waits(self, member: tuple[str, str]) -> bool:
        """Whether the member's last words began a rebalance whose end was not told."""
        proof = self._under_way.get(member)
        return proof is not None and (proof.at_ms or 0) > self._ended_ms

    def clear(self) -> None:
        """Forget everything: a coordinator's log tells it better."""
        self._rounds, self._told, self._under_way, self._reconciling, self._heard = {}, [], {}, {}, {}
        self._unnumbered, self._coming, self._subscribed, self._leaders = [], {}, {}, {}

    def _settled(self, member: tuple[str, str], event: Event) -> tuple[str, int] | None:
        """The generation or epoch that a line proves to be settled."""
        if event.event == "revoked" and event.partitions and member in self._reconciling:
            self._reconciling[member] = self._reconciling[member][0], True
        if event.event == "transitioned" and event.state_from == "STABLE":
            self._reconciling[member] = event.epoch, False
            if not self._epoch and self._first_epoch is None and (event.epoch or 0) > 0:
                self._first_epoch = event.epoch
        number = number_of(event)
        if number is not None and number[0] == "consumer":
            # A member acknowledges what it gave up at the epoch that is over: that began nothing.
            if number[1] < self._epoch or self._reconciling.get(member) == (number[1], True):
                return None
            self._epoch = number[1]
        return number

    @property
    def begun(self) -> list[int]:
        """When the rebalances were first told of that were not given away."""
        return [one.first_ms for one in self._rounds.values()]

    def finished(self, before_ms: float = inf) -> list[Rebalance]:
        """Give away the rebalances that ended before then; without a moment, all, with one that may be under way."""
        rows: list[Rebalance] = []
        for protocol in ("classic", "consumer"):
            rounds = sorted(
                (one for one in self._rounds.values() if one.protocol == protocol), key=lambda one: one.after
            )
            rounds = list(takewhile(lambda one: one.end_ms < before_ms, rounds))
            rows += self._rows_of(rounds, self._last.get(protocol))
            for one in rounds:
                del self._rounds[protocol, one.after]
                self._last[protocol] = one
        over = [one for one in self._unnumbered if one.end_ms < before_ms]
        self._unnumbered = self._unnumbered[len(over) :]
        rows += [one.row() for one in over]
        placed_ms = max((one.first_ms for one in self._last.values()), default=-1)
        self._told = [told for told in self._told if told.at_ms > placed_ms]
        self._ended_ms = max((row.end_ms or 0 for row in rows), default=self._ended_ms)
        for row in sorted(rows, key=lambda row: row.start_ms):
            self._latest[row.protocol] = row
        return rows + (self._unfinished() if before_ms == inf else [])

    def _rows_of(self, rounds: list[_Round], last: _Round | None) -> list[Rebalance]:
        self._place(rounds, [last.first_ms if last else 0, *(one.first_ms for one in rounds)])
        first = [last.after if last else self._before(one) for one in rounds[:1]]
        files: dict[str, set[str]] = {}
        for client, file in self._heard:
            files.setdefault(client, set()).add(file)
        shared = {client for client, theirs in files.items() if len(theirs) > 1}
        rows = [
            _row(one, before, self._leaders.get(one.after) if one.protocol == "classic" else None, shared)
            for one, before in zip(rounds, first + [one.after for one in rounds], strict=False)
        ]
        if (
            rows
            and last is None
            and rows[0].trigger in {"leave", "poll_timeout"}
            and rows[0].culprit in rounds[0].clients
        ):
            rows[0].before = None  # it came back, and of which generation it had been is not told
        return rows

    def _before(self, one: _Round) -> int | None:
        """What was before the first round: each generation follows the one before, and a member need not meet each epoch."""
        if one.protocol == "classic":
            return one.after - 1
        known = self._first_epoch
        return known if known is not None and known < one.after else None

    def _unfinished(self) -> list[Rebalance]:
        """A rebalance that members wrote of and whose end is not in these logs."""
        ended_ms = self._ended_ms
        proofs = [event for event in self._under_way.values() if (event.at_ms or 0) > ended_ms]
        first = min(proofs, key=lambda event: (event.at_ms or 0, event.file, event.line), default=None)
        if first is None:
            return []
        told = min((told for told in self._told if told.at_ms > ended_ms), default=None)
        seen = told if told is not None and told.trigger != "unseen" else None
        protocol = "consumer" if first.event == "transitioned" else "classic"
        last = self._latest.get(protocol)
        own = self._shifts.open((first.client or stand_in(first) or "", first.file))
        return [
            Rebalance(
                protocol,
                seen.trigger if seen else "unseen",
                min(first.at_ms or 0, seen.at_ms) if seen else first.at_ms or 0,
                seen.file if seen else first.file,
                seen.line if seen else first.line,
                culprit=seen.client if seen else None,
                before=last.after if last else first.epoch,
                said=(seen.reason or None) if seen else None,
                named=seen.named if seen else None,
                known=(own.words() if own is not None else None) or only_asked(first),
                confidence=seen.confidence if seen else first.confidence,
            )
        ]

    def _place(self, rounds: list[_Round], since: list[int]) -> None:
        """Give each line to the first round after it that had not begun when the one before was told of."""
        in_time = sorted(range(len(rounds)), key=lambda place: (rounds[place].first_ms, since[place]))
        moments = [rounds[place].first_ms for place in in_time]
        for told in self._told:
            found = bisect_left(moments, told.at_ms)
            # Of one millisecond the lines of a file tell the order.
            later = found < len(moments) and _is_behind(told, rounds[in_time[found]])
            found += later
            if found < len(moments) and (later or told.at_ms > since[in_time[found]]):
                rounds[in_time[found]].told.append(told)


def _is_behind(told: _Told, one: _Round) -> bool:
    """Whether a line follows, in the same millisecond and file, the first that told of a round."""
    return (told.at_ms, told.file) == (one.first_ms, one.file) and told.line > one.line


def _row(
    one: _Round, before: int | None, leader: tuple[str, int] | None, shared: Collection[str]
) -> Rebalance:
    # What a member gave up while epochs passed of which no line tells belongs to any of them.
    follows = before is not None and one.after - before <= 1
    shift = one.shift if one.protocol == "classic" or follows else Shift()
    noticed_ms = shift.notified_ms
    began = (
        line
        for line in one.told
        # Whoever came after another member had learnt of the rebalance did not begin it.
        if line.trigger != "join" or noticed_ms is None or (line.since_ms or line.at_ms) <= noticed_ms
    )
    told = min(began, default=None)
    # The first generation of a group is that of its first members.
    if one.after == 1 and one.clients and (told is None or told.trigger == "unseen"):
        first = _Told(0, one.first_ms, "join", min(one.clients), "", one.file, one.line)
        first.named = one.named if len(one.clients) == 1 else ""
        told = first if told is None else replace(told, trigger="join")
    if told is not None and told.client in shared:
        # Of members that share a client id the member id, else the file tells which.
        own = told.member or told.file.rsplit("/", 1)[-1]
        told = replace(told, named=short(own if own.startswith(told.client) else f"{told.named} ({own})"))
    known = shift.words() or _of_leader(leader, one.after)
    if (
        told is not None
        and told.trigger == "rejoin"
        and not shift.topicless
        and shift.notified in {None, told.client}
    ):
        # It may have been told in an answer of which it writes nothing.
        known = known or f"{told.named} asked to join again, and no line tells why"
        told = replace(told, trigger="unseen")
    back = told is not None and told.client in one.clients and told.trigger in {"join", *LOST}
    start_ms = told.at_ms if told else one.first_ms
    asked_ms = None
    if (
        told is not None
        and back
        and (one.protocol == "consumer" or told.client in one.static or told.trigger in LOST)
    ):
        # What it is given first is of an epoch or a generation that another may have made, and it went for an earlier one.
        before = None
        came = [line.at_ms for line in one.told if line.trigger == "join" and line.client == told.client]
        asked_ms = max(start_ms, min(came, default=one.first_ms))
    if told is None and shift.gave_ms is not None:
        start_ms = min(start_ms, shift.gave_ms)
    if told is not None and told.since_ms is not None and noticed_ms is not None:
        start_ms = min(start_ms, noticed_ms)
    return Rebalance(
        one.protocol,
        told.trigger if told else "unseen",
        start_ms,
        told.file if told else one.file,
        told.line if told else one.line,
        # Of several that gave up partitions any may have come again first.
        culprit=told.client if told and told.trigger not in {"unseen", "follow_up"} else None,
        end_ms=one.end_ms,
        # Since a member went that is back, the group may have settled without it.
        duration_ms=0
        if one.clients <= one.late
        else one.end_ms - (start_ms if asked_ms is None else asked_ms),
        at_least=True,
        before=before,
        after=one.after,
        joined=_names(one, "join"),
        left=_names(one, "leave", "poll_timeout"),
        said=(told.reason or None) if told and told.trigger != "unseen" else None,
        named=(told.named or None) if told else None,
        known=known,
        words=_with_whom(told, leader, shift, _first_given(one, told)),
        confidence=one.confidence if told is None else told.confidence or one.confidence,
    )


def _is_static(event: Event) -> bool:
    """Whether a member of a classic group has an instance id: a line tells it, or its member id begins with that in place of its client's."""
    given = event.member is not None and event.client is not None and event.generation is not None
    return event.instance is not None or (given and not (event.member or "").startswith(event.client or ""))


def _of_leader(leader: tuple[str, int] | None, generation: int) -> str | None:
    """What is known of a generation of which only its leader's assignment tells."""
    if leader is None:
        return None
    who, number = leader
    led = "is its only member" if number == 1 else f"is the leader of its {number} members"
    return f"no line tells how generation {generation} began; {who} {led}"


def _first_given(one: _Round, told: _Told | None) -> str:
    """What is not proved by a member's own joining: that nobody else made what it is given first."""
    if one.protocol == "consumer":
        return f"; epoch {one.after} is the first that it was given"
    return _STATIC if told is not None and told.client in one.static else ""


def _with_whom(
    told: _Told | None, leader: tuple[str, int] | None, shift: Shift, first_given: str
) -> str | None:
    """How a member came that began the rebalance: on its own start, alone or as the leader of others; and why one came again."""
    if told is not None and told.trigger == "rejoin" and shift.topicless:
        return "; in the assignment before, its topics were given to nobody"
    if told is None or told.trigger != "join":
        return None
    led = leader is not None and leader[0] == told.client
    number = leader[1] if leader is not None else 0
    whom = (", as its only member" if number == 1 else f", as the leader of {number} members") if led else ""
    return ("" if told.since_ms is None else _FIRST_JOIN) + whom + first_given or None


def _names(one: _Round, *triggers: str) -> list[str]:
    return sorted({line.client for line in one.told if line.trigger in triggers})
