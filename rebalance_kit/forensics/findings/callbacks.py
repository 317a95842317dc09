"""Members that are slow, and settings that make rebalances worse.

Members that are slow: in a rebalance callback, to answer a rebalance, or as the leader that assigns.

Settings that make rebalances worse than they need to be, as members write them down when they start.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebalance_kit.forensics.findings.finding import Evidence, Row, line, seconds, told

if TYPE_CHECKING:
    from rebalance_kit.forensics.event import Event


#: A callback that takes longer is reported; healthy ones take a few milliseconds.
SLOW_CALLBACK_MS = 1_000

#: A KIP-848 member acknowledges at its next poll() only: until then, callback and waiting cannot be told apart.
SLOW_ACKNOWLEDGEMENT_MS = 2_000

#: A leader that takes longer than this for an assignment is reported.
SLOW_LEADER_MS = 2_000

#: The same notice so often before one re-join is reported: one a heartbeat, so three are six seconds or more.
NOTICES = 3

_NOTICE = "group is already rebalancing"

_STEPS = frozenset(
    {"revoked", "assigned", "lost", "joining", "transitioned", "leaving", "rejoin_requested", "left_group"}
)

#: The lines that tell of it.
SLOW_STEPS = _STEPS | {"joined", "assignment_finished", "other_rebalancing", "other_joined"}

#: What ends or begins the waiting of others.
_ANSWERS = frozenset({"joining", "joined", "assignment_finished", "other_joined"})

#: What must follow a callback at once; "assigned" is followed by an acknowledgement under KIP-848 only.
_FOLLOWS = {
    "revoked": frozenset({"joining", "rejoin_requested", "assigned", "leaving", "transitioned"}),
    "assigned": frozenset({"transitioned"}),
    "lost": frozenset({"joining", "transitioned"}),
}


class _Worst:
    """How often, the first line, and the longest time of one member."""

    def __init__(self, first: Evidence) -> None:
        self.first, self.times, self.worst_ms = first, 0, 0
        self.last_ms = first.at_ms or 0

    def take_in(self, other: _Worst) -> None:
        """Keep the higher number and the earlier line of the two."""
        self.first = min(self.first, other.first, key=lambda one: one.place)
        self.times = max(self.times, other.times)
        self.last_ms = max(self.last_ms, other.last_ms)

    def add(self, first: Evidence, took_ms: int) -> None:
        self.first = min(self.first, first, key=lambda one: one.place)
        self.times += 1
        self.last_ms = max(self.last_ms, first.at_ms or 0)
        self.worst_ms = max(self.worst_ms, took_ms)


class Slowness:
    """Folds the steps of members, each in its file."""

    def __init__(self) -> None:
        self._before: dict[tuple[str, str], Event] = {}
        #: What members without a name are called in a sentence.
        self._nameless: dict[str, str] = {}
        self._callbacks: dict[tuple[str, bool], _Worst] = {}
        #: Members of the consumer protocol, each in its file.
        self._by_epoch: set[tuple[str, str]] = set()
        self._joins: dict[tuple[str, str], int] = {}
        self._joined: dict[tuple[str, str], Event] = {}
        self._notices: dict[tuple[str, int], _Worst] = {}
        #: Of members that were told several times and did not come: the most often, and the first line.
        self._repeated: dict[str, _Worst] = {}
        self._leaders: dict[str, _Worst] = {}

    def take(self, event: Event) -> None:
        """A line of a client with a time."""
        if event.at_ms is None:
            return
        name, client = event.event, event.client
        if client is None:
            if event.side == "other":
                self._nameless[event.named_by_file] = event.named_in_words
                # Of lines that only their words tell of, nobody knows whether one member wrote them all.
                told = name == "other_rebalancing" and event.confidence is None
                self._answer(event, event.named_by_file, notice=told)
            return
        notice = name == "rejoin_requested" and (event.reason or "").startswith(_NOTICE)
        key = client, event.file
        # The heartbeat thread goes on during a callback; its lines do not end it.
        if name == "transitioned":
            self._by_epoch.add(key)
        if name in _STEPS and not notice and event.side == "java":
            before = self._before.get(key)
            self._before[key] = event
            if before is not None and before.event in _FOLLOWS:
                self._callback(before, event)
        if notice or name in _ANSWERS:
            self._answer(event, client, notice=notice)

    def _callback(self, before: Event, after: Event) -> None:
        took_ms = (after.at_ms or 0) - (before.at_ms or 0)
        ends = after.event in _FOLLOWS.get(before.event, ())
        if before.event == "assigned":
            ends = ends and after.state_from == "RECONCILING"
        by_epoch = (before.client or "", before.file) in self._by_epoch
        if ends and took_ms > (SLOW_ACKNOWLEDGEMENT_MS if by_epoch else SLOW_CALLBACK_MS):
            key = before.client or "", by_epoch
            self._callbacks.setdefault(key, _Worst(line(before))).add(line(before), took_ms)

    def _answer(self, event: Event, client: str, *, notice: bool) -> None:
        key = client, event.file
        if event.event in {"joining", "other_joined"}:
            self._joins[key] = self._joins.get(key, 0) + 1
            self._joined.pop(key, None)
        elif event.event == "joined":
            self._joined[key] = event
        elif notice:
            turn = client, self._joins.get(key, 0)
            self._notices.setdefault(turn, _Worst(line(event))).add(line(event), 0)
        elif event.event == "assignment_finished":
            joined = self._joined.get(key)
            # Clients before 2.7 say that they joined only afterwards: then the line before is of another generation.
            if joined is not None and joined.generation == event.generation:
                took_ms = (event.at_ms or 0) - (joined.at_ms or 0)
                if took_ms > SLOW_LEADER_MS:
                    self._leaders.setdefault(client, _Worst(line(event))).add(line(event), took_ms)

    def settle(self, before_ms: float) -> None:
        """Sum up the notices of turns that began before then."""
        for (who, turn), one in list(self._notices.items()):
            if (one.first.at_ms or 0) < before_ms:
                del self._notices[who, turn]
                if one.times >= NOTICES:
                    self._repeated.setdefault(who, one).take_in(one)

    def rows(self) -> list[Row]:
        """The findings, once all lines are taken and summed up."""
        rows = [
            _slow_callback(who, one, acknowledges=acknowledges)
            for (who, acknowledges), one in self._callbacks.items()
        ]
        rows += [_repeated(who, self._nameless.get(who, who), one) for who, one in self._repeated.items()]
        return rows + [_slow_leader(who, one) for who, one in self._leaders.items()]


def _slow_callback(who: str, one: _Worst, *, acknowledges: bool) -> Row:
    if acknowledges:
        return told(
            "slow_callback",
            who,
            one.times,
            f"{who} acknowledged a change of its partitions {seconds(one.worst_ms)} s after its callback had begun: "
            "the callback took so long, or its next poll() came so late",
            one.first,
            "Do less in the callback (commit, hand over, return) and poll often: partitions that change hands wait for it.",
            "ConsumerRebalanceListener; KIP-848",
            last_ms=one.last_ms,
        )
    return told(
        "slow_callback",
        who,
        one.times,
        f"{who} spent {seconds(one.worst_ms)} s in a rebalance callback",
        one.first,
        "Do less in the callback (commit, hand over, return); under the classic protocol everybody waits for the slowest member.",
        "ConsumerRebalanceListener",
        last_ms=one.last_ms,
    )


def _repeated(who: str, named: str, one: _Worst) -> Row:
    return told(
        "repeated_notice",
        who,
        one.times,
        f"{named} was told {one.times} times in a row that its group is rebalancing, and no line between them tells that it asked to join",
        one.first,
        "If its application does not poll, or sits in a callback, the others wait for it: take a thread dump of that process. The line itself is a normal notice.",
        "AbstractCoordinator.HeartbeatResponseHandler; REBALANCE_IN_PROGRESS",
        last_ms=one.last_ms,
    )


def _slow_leader(who: str, one: _Worst) -> Row:
    return told(
        "slow_leader",
        who,
        one.times,
        f"{who} (the leader) took {seconds(one.worst_ms)} s to work out an assignment",
        one.first,
        "The other members wait for it. Use a cheaper assignor or fewer partitions per group, a session well above it, or group.protocol=consumer.",
        "KAFKA-10122; ConsumerCoordinator.onLeaderElected",
        last_ms=one.last_ms,
    )


_KEYS = frozenset({"heartbeat.interval.ms", "session.timeout.ms", "group.protocol"})


class Settings:
    """Collects what members say of their configuration."""

    def __init__(self) -> None:
        #: By file: the clients with Java's default list of assignors, the first line, and how many there are.
        self._defaults: dict[str, tuple[set[str | None], Event, int]] = {}
        self._ranged: set[str] = set()
        self._told: dict[tuple[str, str | None], dict[str, str]] = {}
        self._beats: dict[tuple[str, str | None], Evidence] = {}

    def take(self, event: Event) -> None:
        """A line of a member's settings, or one that says which assignor its group uses."""
        if event.event == "joined" and event.assignor == "range":
            self._ranged.add(event.file)
        if event.event != "config":
            return
        key, value = event.key or "", event.value
        if key == "partition.assignment.strategy" and value is not None:
            if "RangeAssignor" in value and "CooperativeStickyAssignor" in value:
                clients, first, times = self._defaults.get(event.file, (set(), event, 0))
                first = min(first, event, key=lambda one: one.line)
                self._defaults[event.file] = clients | {event.client}, first, times + 1
        elif key in _KEYS:
            place = event.file, event.client
            values = self._told.setdefault(place, {})
            if value is not None:
                values[key] = max(values.get(key, value), value)
            if key == "heartbeat.interval.ms":
                self._beats.setdefault(place, line(event))

    def rows(self) -> list[Row]:
        """The findings, once all lines are taken."""
        return [*self._eager(), *self._too_close()]

    def _eager(self) -> list[Row]:
        """Members with Java's default assignor list, which runs EAGER although cooperative-sticky is in it."""
        found = [told for file, told in self._defaults.items() if file in self._ranged]
        if not found:
            return []
        who = sorted({client for clients, _, _ in found for client in clients if client is not None})
        return [
            told(
                "eager_by_default",
                None,
                sum(times for _, _, times in found),
                f"{', '.join(name for name in who if name) or 'a client of these lines'}: the assignor list [range, cooperative-sticky] runs the eager protocol; "
                "every rebalance stops every partition",
                line(min((first for _, first, _ in found), key=lambda event: (event.line, event.file))),
                "Set partition.assignment.strategy to CooperativeStickyAssignor alone (one more rolling bounce), "
                "or use group.protocol=consumer.",
                "KIP-429; ConsumerConfig partition.assignment.strategy",
            )
        ]

    def _too_close(self) -> list[Row]:
        """Classic members whose session is shorter than three heartbeat intervals."""
        rows = []
        for (file, who), values in self._told.items():
            beat, session = (
                _number(values.get(key)) for key in ("heartbeat.interval.ms", "session.timeout.ms")
            )
            if beat is None or session is None or session >= 3 * beat:
                continue
            if values.get("group.protocol", "classic").lower() != "classic":
                continue
            rows.append(
                told(
                    "heartbeat_too_slow",
                    who,
                    1,
                    f"{'a member' if who is None else who} heartbeats every {beat} ms in a session of {session} ms: "
                    "two lost heartbeats and it is out",
                    self._beats[file, who],
                    "Keep heartbeat.interval.ms at a third of session.timeout.ms or less, so that one may be lost and one be late.",
                    "consumer config heartbeat.interval.ms",
                )
            )
        return rows


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.strip().isdecimal() and len(text) < 19 else None
