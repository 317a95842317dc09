"""Members that are slow: in a rebalance callback, to answer a rebalance, or as the leader that assigns."""

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
                self._answer(event, event.named_by_file, notice=name == "other_rebalancing")
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
            "Do less in the callback (commit, hand over, return) and poll often: the partitions wait for it, the other members do not.",
            "ConsumerRebalanceListener; KIP-848",
            last_ms=one.last_ms,
        )
    return told(
        "slow_callback",
        who,
        one.times,
        f"{who} spent {seconds(one.worst_ms)} s in a rebalance callback: others wait for it",
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
        f"{named} was told {one.times} heartbeats in a row that its group is rebalancing and did not come: everybody waited for it",
        one.first,
        "Its application does not poll or sits in a callback: take a thread dump of that process. The line itself is a normal notice.",
        "AbstractCoordinator.HeartbeatResponseHandler; REBALANCE_IN_PROGRESS",
        last_ms=one.last_ms,
    )


def _slow_leader(who: str, one: _Worst) -> Row:
    return told(
        "slow_leader",
        who,
        one.times,
        f"{who} (the leader) took {seconds(one.worst_ms)} s to work out an assignment; everybody waited in SyncGroup",
        one.first,
        "Use a cheaper assignor or fewer partitions a group, a session well above it, or group.protocol=consumer.",
        "KAFKA-10122; ConsumerCoordinator.onLeaderElected",
        last_ms=one.last_ms,
    )
