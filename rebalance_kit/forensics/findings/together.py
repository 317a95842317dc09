"""What several lines of one moment say together: a machine that slept, a failover that members did not follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebalance_kit.forensics.findings.finding import Row, line, seconds, told

if TYPE_CHECKING:
    from rebalance_kit.forensics.event import Event
    from rebalance_kit.forensics.findings.finding import Evidence

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

#: A coordinator that is lost again within this time of being found was never held.
_HELD_MS, _LOST_TIMES = 5_000, 2


class Together:
    """Folds timers of clients, and expiries after a coordinator loaded the group."""

    def __init__(self) -> None:
        self._last: tuple[int, str, int] | None = None
        #: Who woke together, for how long at most, how often, and the first line.
        self._asleep: tuple[set[str], int, int, Evidence] | None = None
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
        elif at_ms - self._found.get(who, at_ms - _HELD_MS - 1) <= _HELD_MS:
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

    def rows(self) -> list[Row]:
        """The findings, once all lines are taken."""
        return [*self._frozen(), *self._not_followed(), *self._never_held()]

    def _never_held(self) -> list[Row]:
        return [
            told(
                "coordinator_never_held",
                who,
                times,
                f"{who} found its coordinator and lost it again at once, {times} times in {seconds(last_ms - first_ms)} s, without joining",
                first,
                "The broker that it is sent to does not answer as the coordinator: look at that broker and at __consumer_offsets (a leader "
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
        return [
            told(
                "machine_frozen",
                None,
                times,
                f"{', '.join(sorted(names))} ran into their limits in the same moment{long}: "
                "their machine (or the process that they share) was frozen or asleep",
                first,
                "Look at the host: a suspended laptop, virtual machine or container, CPU throttling, a debugger. The broker is not to blame "
                "for timers that fire together.",
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
                f"{number} member{'s' if number > 1 else ''} expired {seconds(after_ms)} s after a new coordinator had loaded the group, "
                "which is a whole session: they did not find the new coordinator in time",
                first,
                "Look at those clients from the failover on (NOT_COORDINATOR, FindCoordinator): an old client that does not look again, "
                "a network that does not reach the new broker, bootstrap servers that are gone.",
                "GroupMetadataManager.onLoaded; NOT_COORDINATOR",
            )
        ]
