"""What happened to the member that caused a rebalance, taken from its own log.

The coordinator only sees that heartbeats stopped.  Whether the process died, was frozen or had been
closed shows in the client's file: what it wrote last before, what first after, and whether a process
started in between.  The same holds for a leave without a reason (librdkafka, KIP-848), which may be
a poll timeout.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING

from rebalance_kit.forensics.history.rebalance import Lost

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from rebalance_kit.forensics.event import Event
    from rebalance_kit.forensics.history.rebalance import Rebalance

#: A client's own line about its leaving is written at most this long after the coordinator's.
_JUST_AFTER_MS = 500

#: A process says that it has started within this time of its first line.
_STARTING_MS = 5_000

#: What is said of a process without later lines while the log goes on.
_NOTHING_YET = "; its log has no line of the hours after"

_BEGINS = frozenset(
    {"member_id_given", "member_added", "static_added", "static_replaced", "joins", "static_rejoins"}
)
_ANEW = frozenset({"process_started", "subscribed", "joining", "rd_joining"})
_STALLED = frozenset({"poll_timeout", "rd_poll_timeout"})

#: Lines that may say more than that the process lived.
_TELLING = _ANEW | _STALLED | {"transitioned", "rd_epoch_heartbeat"}


@dataclass(slots=True)
class Timeline:
    """Moments of one client's lines in one file, in order: all of them, and those that mean something here."""

    seen: array[int] = field(default_factory=lambda: array("q"))
    closed: bytearray = field(default_factory=bytearray)
    anew: array[int] = field(default_factory=lambda: array("q"))
    stalled: array[int] = field(default_factory=lambda: array("q"))
    subscribed: array[int] = field(default_factory=lambda: array("q"))
    started: array[int] = field(default_factory=lambda: array("q"))

    def forget(self, before_ms: int) -> None:
        """Keep what is later, and the last of each kind that is not."""
        for moments in (self.seen, self.anew, self.stalled, self.subscribed, self.started):
            past = bisect_left(moments, before_ms) - 1
            if past > 0:
                del moments[:past]
                if moments is self.seen:
                    del self.closed[:past]


class Fates:
    """Keeps when each client wrote what; asked about whoever was lost once all lines are taken.

    ``shared``: what clients wrote in lines of no group, once all of them are taken.
    """

    def __init__(self, shared: Fates | None = None) -> None:
        self._shared = shared
        #: What was silent since then is forgotten, unless it is one of these clients.
        self._since_ms, self._living = -inf, frozenset[str | None]()
        self._lines: dict[str, dict[str, Timeline]] = {}
        self._homes: dict[str, set[str]] = {}
        self._births: dict[str, int] = {}

    def born(self, event: Event) -> None:
        """The coordinator took a member in."""
        if event.event in _BEGINS and event.member is not None and event.at_ms is not None:
            self._births[event.member] = event.at_ms

    def take(self, event: Event) -> None:
        """A line of a client with a time."""
        # Nearly every event of a client comes here, and a dictionary answers sooner than attributes with defaults.
        said = event.__dict__
        at_ms, client = said.get("at_ms"), said.get("client")
        if at_ms is None or client is None:
            return
        member, file, name = said.get("member"), said["file"], said["event"]
        if member:
            homes = self._homes.get(member)
            if homes is None:
                homes = self._homes[member] = set()
            homes.add(file)
        files = self._lines.get(client)
        if files is None:
            files = self._lines[client] = {}
        line = files.get(file)
        if line is None:
            line = files[file] = Timeline()
        line.seen.append(at_ms)
        line.closed.append(name == "process_closed")
        if name not in _TELLING:
            return
        if _begins_anew(event):
            line.anew.append(at_ms)
        if name in _STALLED:
            line.stalled.append(at_ms)
        if name == "subscribed":
            line.subscribed.append(at_ms)
        if name == "process_started":
            line.started.append(at_ms)

    def forget(self, before_ms: int, gone: Iterable[str], names: Collection[str | None]) -> None:
        """Forget what was before then, members that are gone, and clients that are silent since and not in ``names``."""
        self._since_ms, self._living = before_ms, frozenset(names)
        for member in gone:
            self._homes.pop(member, None)
            self._births.pop(member, None)
        for client, files in list(self._lines.items()):
            for file, line in list(files.items()):
                line.forget(before_ms)
                if line.seen[-1] < before_ms and client not in names:
                    del files[file]
            if not files:
                del self._lines[client]

    @property
    def clients(self) -> Collection[str]:
        """The clients that are remembered."""
        return self._lines.keys()

    def explain(self, row: Rebalance, until_ms: float = inf) -> None:
        """Correct the trigger and add ``fate``, from the culprit's log; and what became of others who expired.

        ``until_ms``: later lines may follow, and are too late to be looked at.
        """
        if row.culprit is not None:
            own = Lost(row.culprit, row.culprit_member, row.start_ms)
            if self._ask(own, until_ms):
                row.stalled = own.stalled
                if row.trigger == "session_expired":
                    row.fate, row.words = own.fate, own.words
        row.others = sorted(
            (lost for lost in row.others if self._ask(lost, until_ms) and lost.words is not None),
            key=lambda lost: (lost.name, lost.fate or "", lost.words or ""),
        )
        if row.trigger == "leave" and row.stalled:
            row.trigger = "poll_timeout"
        if until_ms < inf:
            row.words = _NOTHING_YET if row.fate == "gone" else row.words
            for lost in row.others:
                lost.words = _NOTHING_YET if lost.fate == "gone" else lost.words

    def _ask(self, lost: Lost, until_ms: float) -> bool:
        """Fill in what the member's own log holds around its end; False without such a log.

        Several processes may share a client.id: where a file names the member id, that file alone counts.
        """
        homes = self.homes_of(lost.member)
        birth = self._births.get(lost.member or "")
        files = [*self.lines_of(lost.name).items()]
        if self._shared is not None:
            homes = homes | self._shared.homes_of(lost.member)
            files += self._of_no_group(self._shared.lines_of(lost.name), lost.name, until_ms)
        lines = [line for file, line in files if not homes or file in homes]
        if not lines:
            return False
        _settle(lost, lines, lost.at_ms if birth is None else min(birth, lost.at_ms), until_ms)
        return True

    def last_line(self, client: str, at_ms: int) -> int | None:
        """When a client last wrote something up to a moment, where it wrote nothing later."""
        lines = [*self.lines_of(client).values()]
        if self._shared is not None:
            lines += self._shared.lines_of(client).values()
        return _last([line.seen for line in lines], at_ms)

    def homes_of(self, member: str | None) -> set[str]:
        """The files in whose lines a client names this member id."""
        return self._homes.get(member or "", set())

    def lines_of(self, client: str) -> Mapping[str, Timeline]:
        """When a client wrote, by file."""
        return self._lines.get(client, {})

    def _of_no_group(
        self, shared: Mapping[str, Timeline], client: str, until_ms: float
    ) -> Iterator[tuple[str, Timeline]]:
        """Of what a client wrote in lines of no group, what is not forgotten."""
        own = self.lines_of(client)
        for file, line in shared.items():
            place = bisect_right(line.seen, until_ms)
            if place and (file in own or client in self._living or line.seen[place - 1] >= self._since_ms):
                yield file, line


def _begins_anew(event: Event) -> bool:
    """Lines of a member that begins a new membership: a poll timeout before them is over.

    A KIP-848 member may turn to JOINING again before its coordinator has read that it left; it has joined
    when it leaves that state.
    """
    name = event.event
    return (
        name in _ANEW
        or (name == "transitioned" and event.state_from == "JOINING")
        or (name == "rd_epoch_heartbeat" and event.epoch == 0)
    )


def _settle(lost: Lost, lines: Sequence[Timeline], since_ms: int, until_ms: float) -> None:
    at_ms = lost.at_ms
    closed = _closed(lines, at_ms)
    next_ms = _next([line.seen for line in lines], at_ms, until_ms)
    stalled = _last([line.stalled for line in lines], at_ms + _JUST_AFTER_MS)
    anew = _last([line.anew for line in lines], at_ms)
    born = _next([line.started for line in lines], since_ms, until_ms)
    lost.stalled = stalled is not None and stalled > (anew or 0)
    if born is None and not any(line.started for line in lines) and next_ms is not None:
        # Where a layout leaves out the line of a starting process, a first subscription stands for it.
        early = _next([line.subscribed for line in lines], at_ms, until_ms)
        born = early if early is not None and early <= next_ms + _STARTING_MS else None
    if closed:
        lost.fate, lost.fate_ms = "closed", born
    elif born is not None:
        lost.fate, lost.fate_ms = "restarted", born
    elif next_ms is None:
        lost.fate = "gone"
    else:
        lost.fate, lost.fate_ms = "frozen", next_ms
    lost.words = _words(lost)


def _closed(lines: Sequence[Timeline], upto_ms: int) -> bool:
    """Whether the last line up to then is that of a process that closes."""
    found = [
        (line.seen[place - 1], bool(line.closed[place - 1]))
        for line in lines
        if (place := bisect_right(line.seen, upto_ms))
    ]
    return max(found, default=(0, False))[1]


def _last(moments: Sequence[array[int]], upto_ms: int) -> int | None:
    """The last moment up to then."""
    found = [one[place - 1] for one in moments if (place := bisect_right(one, upto_ms))]
    return max(found, default=None)


def _next(moments: Sequence[array[int]], from_ms: int, until_ms: float) -> int | None:
    """The first moment after, up to the last that is looked at."""
    found = [one[place] for one in moments if (place := bisect_right(one, from_ms)) < len(one)]
    return min((at_ms for at_ms in found if at_ms <= until_ms), default=None)


def _words(lost: Lost) -> str:
    """The fate of a member that was removed for a missed session, as the end of a sentence."""
    gap = "" if lost.fate_ms is None else f"{abs(lost.fate_ms - lost.at_ms) / 1000:,.1f} s"
    later = lost.fate_ms is not None and lost.fate_ms > lost.at_ms
    if lost.fate == "frozen":
        return f"; its process lived on (a long GC pause, a freeze or a lost network may be why): it wrote again {gap} after the removal"
    if lost.fate == "restarted":
        return (
            f"; its process had ended and a new one started {gap} after the removal"
            if later
            else f"; its process had ended and a new one had started {gap} before the removal"
        )
    if lost.fate == "closed":
        closed = "; it had been closed, which a static member does not tell the group, and "
        return closed + (f"came back {gap} after the removal" if later else "did not return")
    return "; its log ends before"
