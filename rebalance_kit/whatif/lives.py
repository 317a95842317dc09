"""What a member's own log tells of it: when its processes started and ended, when it did not poll, how long its callbacks took.

A line is written when something ends as often as when it begins; what began without a line is reckoned back from the
setting that ended it (``max.poll.interval.ms``), with the window in which it may lie.

What logs tell of one group's night: members and their lives, topics, configurations, and what was done to them.

Everything carries its ground: the line that says it, or the word that it is assumed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rebalance_kit.forensics.event import Event


class Ground(NamedTuple):
    """Where something comes from: a file and a line, or (without a file) why it is assumed."""

    file: str = ""
    line: int = 0
    why: str = ""

    def __str__(self) -> str:
        """``broker.log:1475``, with the reasoning behind it where there is one."""
        place = f"{self.file.rsplit('/', 1)[-1]}:{self.line}" if self.file else "assumed"
        return f"{place}, {self.why}" if self.why else place


@dataclass(slots=True)
class Deed:
    """Something done at ``at_ms`` (of the logs' clock), give or take ``within_ms``; ``do`` is an action of scenarios."""

    at_ms: int
    do: str
    member: str | None
    ground: Ground
    args: Mapping[str, object] = field(default_factory=dict)
    within_ms: int = 0


@dataclass(slots=True)
class Member:
    """A member by the name of its client, with its configuration at its first start."""

    name: str
    client: str = "java"
    #: Kafka's version as its process prints it: its defaults are those of that one.
    version: str = ""
    topics: tuple[str, ...] = ()
    pattern: str | None = None
    configs: dict[str, tuple[str, Ground]] = field(default_factory=dict)
    instance: str | None = None
    #: Whether the log of its process is among the files.
    told: bool = False
    #: Whether it was running when the logs begin.
    before: bool = False

    def milliseconds(self, key: str, default: int) -> int:
        """A setting in ms."""
        found = self.configs.get(key)
        return int(found[0]) if found is not None else default


@dataclass(slots=True)
class Observed:
    """What the logs say happened from the first deed to the end, in the measures of a run."""

    rounds: int = 0
    removals: tuple[tuple[str, str], ...] = ()
    #: When each session ended, and when each rebalance began, in seconds of the night.
    expiries_s: tuple[float, ...] = ()
    began_s: tuple[float, ...] = ()
    partitions_unread: int = 0
    longest_gap_s: float = 0.0
    unread_partition_s: float = 0.0
    #: Seconds from the first line to the last of each rebalance.
    lasted_s: tuple[float, ...] = ()


@dataclass(slots=True)
class Night:
    """One group's night. Times are ms since 1970; ``missing`` and ``outside`` are sentences."""

    group: str
    begin_ms: int
    end_ms: int
    protocol: str
    kafka_version: str
    topics: dict[str, tuple[int, Ground]] = field(default_factory=dict)
    rate_per_s: dict[str, float] = field(default_factory=dict)
    members: dict[str, Member] = field(default_factory=dict)
    deeds: list[Deed] = field(default_factory=list)
    broker: dict[str, tuple[str, Ground]] = field(default_factory=dict)
    #: The one broker that holds every replica, where there is but one.
    only_node: int | None = None
    #: Whether the coordinator's log is there: it says who was expelled, and who left.
    removals_known: bool = False
    observed: Observed = field(default_factory=Observed)
    #: What is assumed for want of a line.
    assumed: list[str] = field(default_factory=list)
    #: What happened and cannot be repeated from these logs: no counterfactual then.
    unknown: str = ""
    #: Logs or lines that would tell more.
    missing: list[str] = field(default_factory=list)
    #: What the logs tell and the engine does not repeat.
    outside: list[str] = field(default_factory=list)

    #: The same night under the other clocks that the lines allow, where they tell none.
    also: tuple[Night, ...] = ()
    #: Whether the clocks chosen here are the defaults, which half of the draws have then.
    plain: bool = False

    @property
    def gaps_known(self) -> bool:
        """Whether every member's own lines say what it was assigned."""
        return all(member.told and member.client == "java" for member in self.members.values())


LATE_MS = 1_500
"""A member that answers a rebalance later than this after its background thread heard of it was not polling."""
EARLY_MS = 150
SLOW_MS = 300
"""A callback that takes longer than this is slow."""
_CALLBACKS = {
    "revoked": "onPartitionsRevoked",
    "lost": "onPartitionsLost",
    "assigned": "onPartitionsAssigned",
}
_GONE = {"leaving", "left_group", "process_closed", "rd_leave"}
#: Lines that the background thread writes while a callback may still run.
_BACKGROUND = {
    *("rejoin_requested", "coordinator_found", "coordinator_lost", "poll_timeout", "poll_late", "config"),
    *("auto_commit_failed", "commit_failed", "commit_not_sent", "generation_reset", "heartbeat_failed"),
    *("heartbeat_unknown", "heartbeat_fenced", "heartbeat_error", "commit_stale", "given_away"),
}
_OVERDUE = "consumer poll timeout has expired"
_LEAVES_LATE_MS = 2_000
_TOLD = "group is already rebalancing"
_OWN = "consumer pro-actively leaving"


def in_background(event: Event) -> bool:
    """Whether the background thread wrote it, whatever the application's thread was doing."""
    return event.event in _BACKGROUND or (event.event == "transitioned" and event.state_to == "RECONCILING")


#: What an application's own enforceRebalance() does not say.
_KAFKAS = (
    *("need to re-join", "group is already", "consumer pro-actively", "cached metadata", "subscription"),
    *("rebalance failed", "encountered", "failed to", "need to revoke", "the leader", "topic metadata"),
)


@dataclass(slots=True)
class Life:
    """One process of a member: from its start to its close, its death, or the end of the logs."""

    begin_ms: int
    events: list[Event]
    started: bool
    closed_ms: int | None = None
    closed: Event | None = None

    @property
    def last_ms(self) -> int:
        """When it last wrote."""
        return self.events[-1].at_ms or 0


def ground(event: Event, why: str = "") -> Ground:
    """The place of an event."""
    return Ground(event.file, event.line, why)


def lives_of(events: Sequence[Event]) -> list[Life]:
    """The lives of one member, from its dated events in order of time."""
    lives: list[Life] = []
    for event in events:
        at_ms = event.at_ms or 0
        if event.event == "process_started" or not lives:
            # librdkafka's first lines come a moment before it says that it is initialized.
            early: list[Event] = []
            while (
                lives
                and event.side == "librdkafka"
                and lives[-1].events
                and at_ms - lives[-1].last_ms < EARLY_MS
            ):
                early.insert(0, lives[-1].events.pop())
            if lives and not lives[-1].events:
                lives.pop()
            lives.append(
                Life(early[0].at_ms or 0 if early else at_ms, early, event.event == "process_started")
            )
        lives[-1].events.append(event)
    for life in lives:
        life.closed, life.closed_ms = _close(life.events)
    return lives


def _close(events: Sequence[Event]) -> tuple[Event | None, int | None]:
    """The line that proves that close() was called, and when it was."""
    end, overdue_ms = None, -_LEAVES_LATE_MS
    for place, event in enumerate(events):
        if is_overdue(event):
            overdue_ms = event.at_ms or 0
        late = (
            event.at_ms or 0
        ) - overdue_ms < _LEAVES_LATE_MS  # its poll timeout makes it leave, nobody closes it
        by_close = event.event in _GONE and not (
            event.event in {"leaving", "rd_leave", "left_group"} and (late or _goes_on(events[place + 1 :]))
        )
        going = event.event == "transitioned" and event.state_to == "PREPARE_LEAVING"
        if by_close or (going and not _goes_on(events[place + 1 :])):
            end = place
            break
    if end is None:
        return None, None
    at_ms = events[end].at_ms
    for event in reversed(events[:end]):
        if event.event in {"revoked", "lost"}:
            at_ms = event.at_ms
        elif not in_background(event) or (event.event == "generation_reset" and _OWN not in event.text):
            break
    return events[end], at_ms


def _goes_on(later: Sequence[Event]) -> bool:
    """Whether the process joins again."""
    return any(
        event.event in {"joining", "joined", "synced", "rd_join_answer", "poll_late"}
        or (event.event == "transitioned" and event.state_to == "JOINING")
        for event in later
    )


def is_overdue(event: Event) -> bool:
    """Whether a line says that max.poll.interval.ms has passed; a log may hold the LeaveGroup that follows alone."""
    return event.event in {"poll_timeout", "rd_poll_timeout"} or (
        event.event == "leaving" and (event.reason or "").startswith(_OVERDUE)
    )


def told_by(member: Member, life: Life, until_ms: int) -> Iterator[Deed]:
    """What the lines of one life say was done to its member, without its start and its end."""
    yield from _stalls(member, life, until_ms)
    yield from _callbacks(member, life)
    first = True
    for event in life.events:
        if event.event == "subscribed" and not event.state:
            if not first:
                topics = tuple(name.strip() for name in (event.detail or "").split(",") if name.strip())
                yield Deed(
                    event.at_ms or 0,
                    "subscribe",
                    member.name,
                    ground(event, "subscribe()"),
                    {"topics": topics},
                )
            first = False
        reason = event.reason or ""
        if event.event == "rejoin_requested" and reason and not reason.startswith(_KAFKAS):
            yield Deed(
                event.at_ms or 0,
                "enforce_rebalance",
                member.name,
                ground(event, "enforceRebalance()"),
                {"reason": reason},
            )


def _stalls(member: Member, life: Life, until_ms: int) -> Iterator[Deed]:
    limit_ms = member.milliseconds("max.poll.interval.ms", 300_000)
    busy_until = 0
    for place, event in enumerate(life.events):
        at_ms = event.at_ms or 0
        if at_ms < busy_until:
            continue
        if is_overdue(event):
            begin_ms = at_ms - (event.limit_ms or limit_ms) - (event.over_ms or 0)
            back = next((one for one in life.events[place + 1 :] if _polls_again(one)), None)
            end_ms = (back.at_ms or until_ms) if back is not None else until_ms
            why = f"did not poll for {(end_ms - begin_ms) / 1000:.1f} s: its poll timeout came then"
            busy_until = end_ms
            yield Deed(
                begin_ms, "stall", member.name, ground(event, why), {"for_ms": max(1, end_ms - begin_ms)}
            )
            continue
        told = event.event == "rejoin_requested" and (event.reason or "").startswith(_TOLD)
        if not told and not (
            event.event == "transitioned" and event.state_from == "STABLE" and event.state_to == "RECONCILING"
        ):
            continue
        answered = next(
            (later for later in range(place + 1, len(life.events)) if life.events[later].event in _ANSWERS),
            None,
        )
        if answered is None:
            continue
        answer = life.events[answered]
        if (answer.at_ms or 0) - at_ms <= LATE_MS or answer.event == "poll_timeout":
            continue
        if any(one.event == "auto_commit_failed" for one in life.events[place:answered]):
            continue  # it polls; what it has to give away waits for the commit, which is retried
        if told and _callback_runs(life.events[:place], at_ms):
            continue  # its assigned callback was still running
        end_ms = answer.at_ms or 0
        busy_until = end_ms
        why = (
            f"answered the rebalance {(end_ms - at_ms) / 1000:.1f} s later: at least so long it did not poll"
        )
        yield Deed(at_ms - 100, "stall", member.name, ground(event, why), {"for_ms": end_ms - at_ms + 100})


_ANSWERS = {
    "revoked",
    "lost",
    "assigned",
    "joining",
    "leaving",
    "process_closed",
    "poll_timeout",
    "given_away",
}


def _callback_runs(before: Sequence[Event], at_ms: int) -> bool:
    """Whether the last word of the application's thread was the begin of a callback (of nothing: a moment ago)."""
    last = next((one for one in reversed(before) if not in_background(one)), None)
    if last is None or last.event not in _CALLBACKS:
        return False
    return bool(last.partitions) or at_ms - (last.at_ms or 0) < 4 * LATE_MS


def _polls_again(event: Event) -> bool:
    return event.event in {"poll_late", "lost", "given_away", "joining", "commit_not_sent", "rd_steady"} or (
        event.event == "rd_state" and event.state_to in {"wait-unassign-to-complete", "init"}
    )


def callbacks_of(life: Life) -> Iterator[tuple[Event, int]]:
    """Callbacks of a life with what they took (ms): the time until the application's thread wrote its next line."""
    for place, event in enumerate(life.events):
        if event.event not in _CALLBACKS or event.side == "librdkafka":
            continue
        after = next((one for one in life.events[place + 1 :] if not in_background(one)), None)
        if after is None or (event.event == "assigned" and not event.partitions):
            continue
        if event.event == "assigned" and not after.event.startswith(("offset_", "transitioned", "revoked")):
            continue
        took_ms = (after.at_ms or 0) - (event.at_ms or 0)
        # The offsets are asked for before the line that follows an assignment: that takes a request.
        asked = event.event == "assigned" and not after.event.startswith("transitioned")
        yield event, took_ms if took_ms >= (2 * SLOW_MS if asked else SLOW_MS) else 0


def _callbacks(member: Member, life: Life) -> Iterator[Deed]:
    """When its callbacks became slow, and quick again: between two of them, so half-way."""
    current, last_ms = 0, life.begin_ms
    for event, took_ms in callbacks_of(life):
        at_ms = event.at_ms or 0
        if life.closed_ms is not None and at_ms >= life.closed_ms:
            break  # close() waits for its callback only so long
        if abs(took_ms - current) > max(SLOW_MS, current // 5):
            called = _CALLBACKS[event.event]
            why = f"{called} takes {took_ms / 1000:.1f} s" if took_ms else f"{called} is quick again"
            yield Deed(
                max(last_ms + 1, (last_ms + at_ms) // 2),
                "slow_callback",
                member.name,
                ground(event, why),
                {"callback_ms": round(took_ms, -1)},
            )
            current = took_ms
        last_ms = max(last_ms, at_ms + (took_ms or 1))
