"""How rebalances follow each other, and what several lines of one moment say together.

How a group's rebalances follow each other: storms, members that hold it up, groups that never settle.

What several lines of one moment say together: a machine that slept, a failover that members did not follow.
"""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from rebalance_kit.forensics.findings.finding import Evidence, Row, cause, line, seconds, told
from rebalance_kit.forensics.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rebalance_kit.forensics.event import Event
    from rebalance_kit.forensics.history.rebalance import Rebalance


#: So many second steps in a row, and a cooperative group is going round in circles.
FOLLOW_UPS = 5

#: So many rebalances at this distance at most are a loop.
LOOP, LOOP_EVERY_MS = 7, 60_000

#: A spell of growing and shrinking is judged by this many changes of direction within half an hour.
SWINGS = 3
_SWINGS_WITHIN_MS = 30 * 60_000

#: Expiries at such even distances, and so far apart, follow a clock.
PERIODS = 3
_LEAST_PERIOD_MS = 5 * 60_000
_EVEN = 0.05


def patterns(rebalances: Sequence[Rebalance], storms: Sequence[Row]) -> list[Row]:
    """All findings of this file."""
    return [
        *_storms_told(storms, rebalances),
        *_held_up(rebalances),
        *_looping(rebalances),
        *_never_settling(rebalances),
        *_swinging(rebalances),
        *_periodic(rebalances),
    ]


def _first(rows: Sequence[Rebalance]) -> Evidence:
    return min(map(cause, rows), key=lambda one: one.place)


def _last(rows: Sequence[Rebalance]) -> int:
    return max(row.start_ms for row in rows)


def _storms_told(storms: Sequence[Row], rebalances: Sequence[Rebalance]) -> list[Row]:
    """One finding a storm, with the cause of its first rebalance as evidence."""
    causes = {(row.start_ms, row.file, row.line): row.cause for row in reversed(rebalances)}
    rows = []
    for storm in storms:
        from_ms, file, place = storm["from_ms"], storm["file"], storm["line"]
        triggers, culprits = (_joined(storm[name]) for name in ("triggers", "culprits"))
        lasted = storm["duration_ms"]
        rows.append(
            told(
                "rebalance_storm",
                None,
                storm["rebalances"],
                f"a storm: {storm['rebalances']} rebalances in {lasted / 1000:,.0f} s ({triggers}), "
                f"by {culprits or 'nobody known'}",
                Evidence(from_ms, file, place, causes.get((from_ms, file, place), "")),
                "Joins follow what made members go, so look at the other triggers first. For poll timeouts make batches smaller, "
                "for expiries look at the processes, for the leaves and joins of deployments use static membership. "
                "Cooperative rebalances make each round cheaper.",
                "KIP-429; KIP-345; KIP-848",
                last_ms=storm["to_ms"],
            )
        )
    return rows


def _joined(values: object) -> str:
    return ", ".join(values) if isinstance(values, list) else ""


def _held_up(rebalances: Sequence[Rebalance]) -> list[Row]:
    late: dict[str, list[Rebalance]] = {}
    for row in rebalances:
        if row.waited_for is not None:
            late.setdefault(row.waited_for, []).append(row)
    return [
        told(
            "rebalance_held_up",
            who,
            len(rows),
            f"a rebalance waited up to {seconds(max(row.waited_ms or 0 for row in rows))} s for {who} to join it",
            _first(rows),
            "Look at what it did then: a long batch, a revoke callback that drains, an application that does not poll. "
            "A classic rebalance is as slow as its slowest member.",
            "AbstractCoordinator.onJoinPrepare; consumer config max.poll.interval.ms",
            last_ms=_last(rows),
        )
        for who, rows in late.items()
    ]


def _looping(rebalances: Sequence[Rebalance]) -> list[Row]:
    """Generations that prove many more rebalances than these logs hold."""
    rows = [row for row in rebalances if row.protocol == "classic" and row.after is not None]
    # A group that changed its protocol counts on from its epochs.
    if len(rows) < 2 or any(row.protocol != "classic" for row in rebalances):
        return []
    first, last = rows[0], rows[-1]
    proved, lasted_ms = (last.after or 0) - (first.after or 0), last.start_ms - first.start_ms
    if proved < LOOP or proved < 2 * len(rows) or lasted_ms > proved * LOOP_EVERY_MS:
        return []
    return [
        told(
            "generation_loop",
            None,
            proved,
            f"a loop: the generation went from {first.after} to {last.after} in {seconds(lasted_ms)} s, so the group was rebalanced "
            f"at least {proved} times, of which these logs hold {len(rows)}",
            _first(rows),
            "Look for what asks for a rebalance as soon as one is over: members that join anew each time, or two clusters of Connect workers "
            "with one group.id and different config topics.",
            "ClassicGroup.initNextGeneration",
            last_ms=last.start_ms,
        )
    ]


def _never_settling(rebalances: Sequence[Rebalance]) -> list[Row]:
    runs: list[list[Rebalance]] = [[]]
    for row in rebalances:
        if row.trigger == "follow_up":
            runs[-1].append(row)
        else:
            runs.append([])
    return [
        told(
            "cooperative_never_settles",
            None,
            len(run),
            f"{len(run)} cooperative rebalances followed each other, and no line between them tells of anybody coming or going",
            _first(run),
            "It may be a defect of the assignor: update (librdkafka 2.6.1, Java 3.5.1 or later); stopping all members once is first aid.",
            "KAFKA-15106; confluentinc/librdkafka#4783",
            last_ms=_last(run),
        )
        for run in runs
        if len(run) >= FOLLOW_UPS
    ]


def _came_back(rebalances: Sequence[Rebalance]) -> set[str]:
    """Who joined after it had left: that is a restart."""
    gone: set[str] = set()
    back: set[str] = set()
    for row in rebalances:
        back |= gone & {*row.joined, row.culprit if row.trigger == "join" and row.culprit else ""}
        gone |= {*row.left, row.culprit if row.trigger == "leave" and row.culprit else ""}
    return back - {""}


def _swinging(rebalances: Sequence[Rebalance]) -> list[Row]:
    """Members that come for the first time and others that go for good, in turn: no restart, a scaler.

    Of one that only its id tells, new in each life, nobody knows whether it was there before.
    """
    comes = Counter(
        name for row in rebalances if row.trigger == "join" for name in {*row.joined, row.culprit or ""}
    )
    goes = Counter(row.culprit for row in rebalances if row.trigger == "leave")
    back = _came_back(rebalances)
    moves = [
        row
        for row in rebalances
        if row.trigger in {"join", "leave"}
        and row.culprit is not None
        and row.culprit != row.culprit_member
        and row.culprit not in back
        and comes[row.culprit] <= 1
        and goes[row.culprit] <= 1
    ]
    turns = [row for before, row in pairwise(moves) if before.trigger != row.trigger]
    begun = [
        row
        for row, third in zip(turns, turns[SWINGS - 1 :], strict=False)
        if third.start_ms - row.start_ms <= _SWINGS_WITHIN_MS
    ]
    if not begun:
        return []
    times = len(begun) + SWINGS - 1
    return [
        told(
            "scaling_to_and_fro",
            None,
            times,
            f"the group grew and shrank in turn ({times} changes of direction): "
            "a scaler may be chasing the rebalances that it causes itself",
            _first(begun),
            "Make the scaler's stabilization window longer than a rebalance and the catching up after it; larger steps; "
            "scale on rate, not on lag alone.",
            "Kubernetes HPA stabilizationWindowSeconds; KEDA Kafka scaler",
            last_ms=_last(begun),
        )
    ]


def _periodic(rebalances: Sequence[Rebalance]) -> list[Row]:
    lost = [row for row in rebalances if row.trigger == "session_expired"]
    waits = [after.start_ms - before.start_ms for before, after in pairwise(lost)]
    if len(waits) < PERIODS:
        return []
    mean = sum(waits) / len(waits)
    spread = (sum((wait - mean) ** 2 for wait in waits) / len(waits)) ** 0.5
    if mean < _LEAST_PERIOD_MS or spread > _EVEN * mean:
        return []
    return [
        told(
            "periodic_expiry",
            None,
            len(lost),
            f"members are lost at even distances, about every {mean / 60_000:,.1f} minutes",
            _first(lost),
            "Look for what has that period: the life of a token or certificate (connections.max.reauth.ms), a scheduled job.",
            "KIP-368; connections.max.reauth.ms",
            last_ms=_last(lost),
        )
    ]


#: Clients whose timers fire this near to each other were woken by the same thing.
_SAME_MOMENT_MS = 50

#: Lines of a client's own timers.
_TIMERS = frozenset(
    {"rd_session_timeout", "rd_poll_timeout", "poll_timeout", "other_poll_timeout", "other_session_expired"}
)

#: Sessions as people set them; an expiry follows the end of one by less than this.
_SESSIONS_MS, _EXACTLY_MS = (6_000, 10_000, 15_000, 20_000, 30_000, 45_000, 60_000, 90_000, 120_000), 150

#: The lines that tell of it.
_FLAPS = frozenset({"coordinator_found", "coordinator_lost", "joined"})
TOGETHER = _TIMERS | _FLAPS | {"loaded", "member_loaded", "member_failed"}

#: A poll limit that is noticed so much too late, or a session so long, was noticed by a process that had been halted.
_LATE_MS, _LATE_SESSION_MS = 5_000, 120_000
_OF_THE_NETWORK = re.compile(
    r"[Tt]ransport failure|[Rr]efused|[Dd]isconnect|[Rr]esolve|error was Local: Timed out"
)

#: A coordinator that is lost again within this time of being found was never held.
_HELD_MS, _LOST_TIMES = 5_000, 2


class Together:
    """Folds timers of clients, and expiries after a coordinator loaded the group."""

    def __init__(self) -> None:
        self._last: tuple[int, str, int] | None = None
        #: Who woke together, for how long at most, how often, and the first line.
        self._asleep: tuple[set[str], int, int, Evidence] | None = None
        self._halted = False
        self._loaded_ms: int | None = None
        self._sessions: set[int] = set()
        self._late: dict[str, tuple[int, Evidence]] = {}
        self._found: dict[str, int] = {}
        #: How often in a row a client lost a coordinator at once, the moments of the first and last, and the first line.
        self._flaps: dict[str, tuple[int, int, int, Evidence]] = {}
        self._worst: dict[str, tuple[int, int, int, Evidence]] = {}

    def take(self, event: Event) -> None:
        """A line with a time, in order of time."""
        at_ms = event.at_ms
        if at_ms is None:
            return
        if event.event in _TIMERS:
            self._timer(event, at_ms)
        elif event.event in _FLAPS:
            self._flap(event, at_ms)
        elif event.event == "loaded":
            self._loaded_ms = at_ms
        elif event.event == "member_loaded":
            self._loaded_ms = at_ms
            self._sessions |= {event.limit_ms} if event.limit_ms else set()
        elif event.event == "member_failed" and self._loaded_ms is not None and event.member is not None:
            after_ms = at_ms - self._loaded_ms
            if any(abs(after_ms - session) <= _EXACTLY_MS for session in self._sessions or _SESSIONS_MS):
                self._late.setdefault(event.member, (after_ms, line(event)))

    def _flap(self, event: Event, at_ms: int) -> None:
        who = event.client or event.named_in_words
        if event.event == "coordinator_found":
            self._found[who] = at_ms
        elif event.event == "joined":
            self._flaps.pop(who, None)
        elif at_ms - self._found.pop(who, at_ms - _HELD_MS - 1) <= _HELD_MS:
            times, first_ms, _, first = self._flaps.get(who, (0, at_ms, at_ms, line(event)))
            self._flaps[who] = told_now = (times + 1, first_ms, at_ms, first)
            self._worst[who] = max(self._worst.get(who, told_now), told_now, key=lambda one: one[0])

    def _timer(self, event: Event, at_ms: int) -> None:
        client, over_ms = event.client or event.named_by_file, event.over_ms or 0
        last, self._last = self._last, (at_ms, client, over_ms)
        if last is None or last[1] == client or at_ms - last[0] > _SAME_MOMENT_MS:
            return
        names, most_ms, times, first = self._asleep or (set(), 0, 0, line(event))
        self._asleep = names | {last[1], client}, max(most_ms, last[2], over_ms), times + 1, first
        # A timer of a process that runs fires on time, and an error of the connection tells of the network.
        late_ms = _LATE_MS if "poll_timeout" in event.event else _LATE_SESSION_MS
        self._halted |= max(last[2], over_ms) >= late_ms and _OF_THE_NETWORK.search(event.text) is None

    def rows(self) -> list[Row]:
        """The findings, once all lines are taken."""
        return [*self._frozen(), *self._not_followed(), *self._never_held()]

    def _never_held(self) -> list[Row]:
        return [
            told(
                "coordinator_never_held",
                who,
                times,
                f"{who} found its coordinator and lost it again at once, {times} times within {seconds(max(100, last_ms - first_ms))} s, without joining",
                first,
                "Perhaps the broker that it is sent to does not answer as the coordinator: look at that broker and at __consumer_offsets (a leader "
                "that moves, a load in progress), and at advertised.listeners and proxies between the two.",
                "AbstractCoordinator.markCoordinatorUnknown; NOT_COORDINATOR",
                last_ms=last_ms,
            )
            for who, (times, first_ms, last_ms, first) in self._worst.items()
            if times >= _LOST_TIMES
        ]

    def _frozen(self) -> list[Row]:
        if self._asleep is None:
            return []
        names, most_ms, times, first = self._asleep
        long = f" after {seconds(most_ms)} s" if most_ms else ""
        if not self._halted:
            return [
                told(
                    "timed_out_together",
                    None,
                    times,
                    f"{', '.join(sorted(names))} ran into their limits in the same moment{long}: look at what they share",
                    first,
                    "One process, host or handler that was halted, a service that all of them wait for, or a broker and a network that did not "
                    "answer any of them: the lines of that moment tell which.",
                    "librdkafka: SESSTMOUT, MAXPOLL; max.poll.interval.ms",
                )
            ]
        return [
            told(
                "machine_frozen",
                None,
                times,
                f"{', '.join(sorted(names))} ran into their limits in the same moment{long}, "
                "as when their machine (or a process that they share) was frozen or asleep",
                first,
                "Look at the host: a suspended laptop, virtual machine or container, CPU throttling, a debugger. Timers that fire together, "
                "and late, point away from the broker.",
                "librdkafka: SESSTMOUT, MAXPOLL; max.poll.interval.ms",
            )
        ]

    def _not_followed(self) -> list[Row]:
        if not self._late:
            return []
        after_ms, first = min(self._late.values(), key=lambda one: one[1].place)
        number = len(self._late)
        return [
            told(
                "failover_not_followed",
                None,
                number,
                f"{counted(number, 'member')} expired {seconds(after_ms)} s after a coordinator had loaded the group, "
                "as members do that it does not hear for a session",
                first,
                "Look at those clients from that load on (NOT_COORDINATOR, FindCoordinator): an old client that does not look again, "
                "a network that does not reach the new broker, bootstrap servers that are gone.",
                "GroupMetadataManager.onLoaded; NOT_COORDINATOR",
            )
        ]
