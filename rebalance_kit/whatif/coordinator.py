"""What the logs tell of a night: the coordinator's lines, and the members' own about unread partitions.

What the broker's log tells: who joined, was expelled, left; topics that came, grew and went; its own stops. With it, how each life
of a member ended: the coordinator's word decides between a crash, a freeze and a close.

When partitions reached nobody, from the members' own lines: who held them, and when the holder was not reading.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from rebalance_kit.analysis.deliveries import gaps
from rebalance_kit.forensics.event import Event
from rebalance_kit.model.trace import Trace
from rebalance_kit.model.versions import parse_version
from rebalance_kit.whatif.lives import Deed, Ground, Life, Member, Night, callbacks_of, ground, in_background

FATAL = frozenset({"client_instance_fenced", "client_instance_refused", "fatal"})
"""Events of a member that Kafka itself ended."""
_UUID = re.compile(r"-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
JOINS = frozenset(
    {"member_id_given", "member_added", "static_added", "static_replaced", "joins", "static_rejoins"}
)
_ADDING = re.compile(r"Adding new member (\S{1,500}?)(?: with group instance ?id (\S{1,500}?))?(?:;|\)|$|\s)")
EXPIRES = frozenset({"member_failed", "session_expired"})
LEAVES = frozenset({"left", "epoch_left", "static_away"})
BY_ADMIN = "removed by an admin"


@dataclass(slots=True)
class Coordinator:
    """Events of the group's coordinator by member, and those of the broker itself."""

    joins: list[tuple[str, Event]] = field(default_factory=list)
    expires: list[tuple[str, Event]] = field(default_factory=list)
    leaves: list[tuple[str, Event]] = field(default_factory=list)
    own: list[Event] = field(default_factory=list)
    #: When it read the group's state anew: every session begins again then.
    loaded_ms: list[int] = field(default_factory=list)

    @property
    def told(self) -> bool:
        """Whether it said anything of the group."""
        return bool(self.joins or self.expires or self.leaves)

    def lived_before(self, name: str, event: Event) -> bool:
        """Whether what ends here is a life of that member from before these logs: another id of it joined, this one never did."""
        joined = {one.member for other, one in self.joins if other == name}
        return bool(joined) and event.member is not None and event.member not in joined


def coordinator_of(events: Iterable[Event], names: Mapping[str, str]) -> Coordinator:
    """Sort the broker's events; ``names`` maps member ids and instance ids to members' names."""
    told, known = Coordinator(), dict(names)
    joined: set[str] = set()
    for event in map(_with_member, events):
        who = event.member or event.instance
        if event.side == "broker" and who:
            if who not in known:
                known[who] = known.get(event.instance or "", "") or _named(who, event, known)
            name = known[who]
            if event.event in JOINS or (event.event == "preparing" and who not in joined):
                told.joins.append((name, event))
                joined.add(who)
            elif event.event in EXPIRES:
                told.expires.append((name, event))
            elif event.event in LEAVES:
                told.leaves.append((name, event))
        if event.event in {"loaded", "metadata_loaded"}:
            told.loaded_ms.append(event.at_ms or 0)
        if event.group is None and event.side == "broker":
            told.own.append(event)
    return told


def _with_member(event: Event) -> Event:
    """The begin of a rebalance with the member whose joining began it: the only word of it from an old broker."""
    found = _ADDING.search(event.reason or "") if event.event == "preparing" else None
    return event if found is None else Event({**event.__dict__, "member": found[1], "instance": found[2]})


def _named(who: str, event: Event, known: Mapping[str, str]) -> str:
    """A member id without its random part is the client.id (or the group.instance.id); a KIP-848 one says nothing."""
    bare = _UUID.sub("", who)
    if bare != who:
        return known.get(bare, bare)
    return event.instance or f"member-{len({*known.values()}) + 1}"


def topics_of(own: Iterable[Event], since_ms: int) -> tuple[dict[str, tuple[int, Ground]], list[Deed]]:
    """Topics with their partitions before ``since_ms``, and what became of them later."""
    made: dict[str, list[Event]] = defaultdict(list)
    deeds: list[Deed] = []
    topics: dict[str, tuple[int, Ground]] = {}
    seen: set[tuple[str, str | None, str]] = set()
    for event in own:
        # A broker that starts again replays every record: the same topic with the same id is no new one.
        said = event.event, event.topic, (event.detail or "").split(" ", 1)[0]
        if said in seen and event.event in {"partition_created", "topic_deleted"}:
            continue
        seen.add(said)
        name = (event.topic or "").rpartition("-")[0]
        if event.event == "partition_created" and name and not name.startswith("__"):
            made[name].append(event)
        elif event.event == "topic_deleted" and not (event.topic or "__").startswith("__"):
            deeds.append(
                Deed(event.at_ms or 0, "delete_topic", None, ground(event), {"topic": event.topic or ""})
            )
            made[f"\0{event.topic}"].append(event)
    for name, events in made.items():
        if not name.startswith("\0"):
            gone = [one.at_ms or 0 for one in made.get(f"\0{name}", ())]
            first, later = _growth(name, events, since_ms, gone)
            topics |= first
            deeds += later
    return topics, deeds


def _growth(
    name: str, events: Sequence[Event], since_ms: int, gone: Sequence[int]
) -> tuple[dict[str, tuple[int, Ground]], list[Deed]]:
    first: dict[str, tuple[int, Ground]] = {}
    deeds: list[Deed] = []
    count, last_ms = 0, 0
    for at_ms, event in [(event.at_ms or 0, event) for event in events]:
        if any(last_ms < when <= at_ms for when in gone):
            count = 0
        count, last_ms = count + 1, at_ms
        if at_ms < since_ms:
            first[name] = count, ground(event)
            continue
        args = {"topic": name, "partitions": count}
        grows = count > 1 and not (deeds and deeds[-1].do == "create_topic" and at_ms - deeds[-1].at_ms < 500)
        if deeds and at_ms - deeds[-1].at_ms < 500:
            deeds[-1] = Deed(deeds[-1].at_ms, deeds[-1].do, None, ground(event), args)
        else:
            deeds.append(
                Deed(at_ms, "add_partitions" if grows else "create_topic", None, ground(event), args)
            )
    return first, deeds


def stops_of(own: Sequence[Event], begin_ms: int, end_ms: int) -> Iterator[Deed]:
    """The broker's stops within the night, as ``broker_down`` and ``broker_up``."""
    starts = [event for event in own if event.event == "broker_started"]
    for event in own:
        at_ms = event.at_ms or 0
        if event.event != "broker_stopping" or not begin_ms <= at_ms <= end_ms:
            continue
        back = next((one for one in starts if (one.at_ms or 0) > at_ms), None)
        if back is None:
            continue
        loaded = next(
            (one for one in own if one.event == "metadata_loaded" and (one.at_ms or 0) > at_ms), back
        )
        yield Deed(at_ms, "broker_down", None, ground(event))
        yield Deed(loaded.at_ms or 0, "broker_up", None, ground(loaded))


Span = tuple[int, int]
POLL_MS = 100
"""What is read between two long gaps within one poll() ends no gap."""
LONG_MS = 1_000
"""A shorter gap may be the time between two batches of a producer."""
LEAST_MS = 10
"""A shorter gap is the time between two lines of one shutdown, not a partition that waits."""


def gaps_in(trace: Trace, since_ms: int, until_ms: int, poll_ms: int = POLL_MS) -> dict[str, list[int]]:
    """Of each partition of a run that was unread in a window, how long (ms); what is read in less than ``poll_ms`` ends no long gap."""
    spans: dict[str, list[Span]] = {}
    for gap in gaps(trace, since_ms):
        begin, end = max(gap.from_ms, since_ms), min(gap.to_ms, until_ms)
        if begin >= end:
            continue
        _append(spans.setdefault(str(gap.partition), []), (begin, end), poll_ms)
    return _counted(spans)


def _append(each: list[Span], gap: Span, poll_ms: int) -> None:
    long = each and min(gap[1] - gap[0], each[-1][1] - each[-1][0]) >= LONG_MS
    if long and gap[0] - each[-1][1] < poll_ms:
        each[-1] = each[-1][0], gap[1]
    else:
        each.append(gap)


def _counted(spans: Mapping[str, Sequence[Span]]) -> dict[str, list[int]]:
    lengths = {
        name: [end - begin for begin, end in each if end - begin >= LEAST_MS] for name, each in spans.items()
    }
    return {name: each for name, each in lengths.items() if each}


def gaps_of(night: Night, lives: Mapping[str, Sequence[Life]], since_ms: int) -> dict[str, list[int]]:
    """Of each partition that was held once, how long (ms) nobody read it, from ``since_ms`` to the night's end."""
    read: dict[str, list[Span]] = defaultdict(list)
    for name, each in lives.items():
        still = _still(night, name)
        for life in each:
            still += [(one.at_ms or 0, (one.at_ms or 0) + took) for one, took in callbacks_of(life) if took]
            for partition, span in _held(life, night):
                read[partition] += _without(span, still)
    return _counted(
        {
            partition: [
                (max(begin, since_ms), min(end, night.end_ms))
                for begin, end in _between(sorted(spans), night.end_ms)
            ]
            for partition, spans in read.items()
        }
    )


def _still(night: Night, name: str) -> list[Span]:
    """When a member read nothing: dead, frozen, away from poll(), or from a broker that was down and held every replica."""
    spans: list[Span] = []
    since: int | None = None
    down: int | None = None
    for deed in night.deeds:
        if deed.do == "broker_down" and night.only_node is not None:
            down = deed.at_ms
        elif deed.do == "broker_up" and down is not None:
            spans.append((down, deed.at_ms))
            down = None
        if deed.member != name:
            continue
        if deed.do == "stall":
            spans.append((deed.at_ms, deed.at_ms + int(str(deed.args["for_ms"]))))
        elif deed.do in {"crash", "freeze"}:
            since = deed.at_ms
        elif deed.do in {"start", "thaw"} and since is not None:
            spans.append((since, deed.at_ms))
            since = None
    return spans if since is None else [*spans, (since, night.end_ms)]


def _held(life: Life, night: Night) -> list[tuple[str, Span]]:
    """The stretches in which a process held each partition, some since before its log begins."""
    since: dict[str, int] = {}
    seen: set[str] = set()
    spans: list[tuple[str, Span]] = []
    for event in life.events:
        at_ms = event.at_ms or 0
        for partition in event.partitions or ():
            if event.event == "assigned":
                since.setdefault(partition, at_ms)
            elif event.event in {"revoked", "lost"} and (
                partition in since or not (partition in seen or life.started)
            ):
                spans.append((partition, (since.pop(partition, night.begin_ms), at_ms)))
            seen.add(partition)
    until_ms = night.end_ms if life.closed_ms is None else life.closed_ms
    return spans + [(partition, (begin, max(begin, until_ms))) for partition, begin in since.items()]


def _without(span: Span, still: Sequence[Span]) -> list[Span]:
    """What of a stretch is left where its holder read."""
    left = [span]
    for begin, end in still:
        left = [
            piece
            for low, high in left
            for piece in ((low, min(high, begin)), (max(low, end), high))
            if piece[0] < piece[1]
        ]
    return left


def _between(spans: Sequence[Span], end_ms: int) -> list[Span]:
    found: list[Span] = []
    reached = spans[0][1] if spans else end_ms
    for begin, end in spans[1:]:
        if begin - reached >= LEAST_MS:
            _append(found, (reached, begin), POLL_MS)
        reached = max(reached, end)
    if reached < end_ms:
        _append(found, (reached, end_ms), POLL_MS)
    return found


def end_of(
    night: Night, member: Member, lives: Sequence[Life], number: int, coordinator: Coordinator
) -> Iterator[Deed]:
    """How a life ended, and when it stood still before. What Kafka itself ended was not done to the group."""
    life, after = lives[number], lives[number + 1] if number + 1 < len(lives) else None
    if any(event.event in FATAL for event in life.events):
        return
    for name, event in coordinator.expires:
        at_ms = event.at_ms or 0
        if name != member.name or life is not whose_session(event, lives):
            continue
        awake = next((one for one in life.events if (one.at_ms or 0) > at_ms), None)
        silent_ms = max((one.at_ms or 0 for one in life.events if (one.at_ms or 0) <= at_ms), default=0)
        session_ms, beat_ms = clocks(night, member)
        since_ms, upto_ms = max(at_ms - session_ms, silent_ms), at_ms - session_ms + beat_ms
        if after is not None:
            upto_ms = min(upto_ms, after.begin_ms)
        if since_ms >= upto_ms:
            night.missing.append(
                f"the clock of {member.name}: its session of {session_ms / 1000:g} s ends at {ground(event)}, and "
                f"{'a new process began' if silent_ms < upto_ms else 'it wrote'} within it (another session.timeout.ms, or clocks that differ)"
            )
            since_ms, upto_ms = silent_ms, max(silent_ms + 2, min(at_ms, upto_ms))
        about, within = (since_ms + upto_ms) // 2, max(0, (upto_ms - since_ms) // 2 - 1)
        why = f"no heartbeat for {session_ms / 1000:g} s: "
        if awake is None and (life.closed is None or after is not None):
            if not (member.instance and life.closed_ms is not None):
                yield Deed(
                    about,
                    "crash",
                    member.name,
                    ground(event, f"{why}its process wrote nothing more"),
                    within_ms=within,
                )
                return
        elif awake is not None:
            yield Deed(about, "freeze", member.name, ground(event, f"{why}it stood still"), within_ms=within)
            yield Deed((awake.at_ms or 0) - 20, "thaw", member.name, ground(awake, "it writes again"))
    if life.closed is not None and life.closed_ms is not None:
        yield Deed(
            life.closed_ms, "close", member.name, ground(life.closed, "close()"), {"timeout_ms": 30_000}
        )
    elif after is not None:
        at_ms = (life.last_ms + after.begin_ms) // 2
        why = f"its log stops without close(), and a new process starts at line {after.events[0].line}"
        yield Deed(
            at_ms,
            "crash",
            member.name,
            ground(life.events[-1], why),
            within_ms=max(0, (after.begin_ms - life.last_ms) // 2 - 1),
        )
    elif not coordinator.told:
        yield from _silence(night, member, life)


def whose_session(event: Event, lives: Sequence[Life]) -> Life | None:
    """The life whose session ended: the one that had the member id, else the last one that had begun."""
    at_ms = event.at_ms or 0
    begun = [life for life in lives if life.begin_ms <= at_ms]
    own = [life for life in begun if event.member and any(one.member == event.member for one in life.events)]
    return (own or begun)[-1] if begun else None


_APART = frozenset({"coordinator_lost", "heartbeat_failed", "heartbeat_error", "rd_session_timeout"})
_CONTACT = frozenset({"joined", "synced", "rd_join_answer", "transitioned", "rd_epoch_heartbeat"})
_SLACK_MS = 500
SESSIONS_MS = (
    6_000,
    10_000,
    15_000,
    20_000,
    25_000,
    30_000,
    45_000,
    60_000,
    90_000,
    120_000,
    180_000,
    300_000,
)
"""Sessions that people set, of which those that the lines allow are tried."""
POLLS_MS = (10_000, 30_000, 60_000, 120_000, 180_000, 300_000, 600_000, 900_000, 1_800_000)


def session_bounds(
    night: Night, member: Member, lives: Sequence[Life], coordinator: Coordinator
) -> tuple[int, int | None]:
    """Between which times (ms) the session of a member lies, by when it ended and when its process was last there.

    The coordinator heard of it when it joined; while it writes it sends heartbeats; a process that has begun anew or was closed sends none
    under the old id.
    """
    _, beat_ms = clocks(night, member)
    least, most = 0, None
    for name, event in coordinator.expires:
        if name != member.name:
            continue
        at_ms = event.at_ms or 0
        heard = [one for one in coordinator.loaded_ms if one <= at_ms]
        heard += [
            one.at_ms or 0
            for who, one in coordinator.joins
            if who == name and one.member == event.member and (one.at_ms or 0) <= at_ms
        ]
        life = whose_session(event, lives)
        if life is not None and coordinator.lived_before(name, event):
            life = None
        until_ms = at_ms
        if life is not None:
            after = next((one for one in lives if one.begin_ms > life.begin_ms), None)
            if life.closed_ms is not None and life.closed_ms <= at_ms:
                until_ms = life.closed_ms
                heard.append(until_ms - beat_ms)
                least = max(least, at_ms - until_ms - 2 * _SLACK_MS)
            elif after is not None and after.begin_ms <= at_ms:
                least = max(least, at_ms - after.begin_ms - _SLACK_MS)
            apart = False
            for one in life.events:
                if (one.at_ms or 0) > until_ms:
                    break
                apart = one.event in _APART or (apart and one.event not in _CONTACT)
                if not apart:
                    heard.append((one.at_ms or 0) - (0 if one.event in _CONTACT else beat_ms))
        if heard:
            within = at_ms - max(heard) + _SLACK_MS
            most = within if most is None else min(most, within)
    return least, most


def poll_bound(lives: Iterable[Life]) -> int | None:
    """How long (ms) the poll limit is at most, by the lines of the application's own thread before it was passed; None without such."""
    most = None
    for life in lives:
        for place, event in enumerate(life.events):
            if event.event != "poll_timeout" or event.limit_ms:
                continue
            own = [one.at_ms or 0 for one in life.events[:place] if not in_background(one)]
            if own:
                within = (event.at_ms or 0) - max(own) + _SLACK_MS
                most = within if most is None else min(most, within)
    return most


def _silence(night: Night, member: Member, life: Life) -> Iterator[Deed]:
    """Without the coordinator's word: a log that stops long before the others' may be a crash, or only a log that was cut."""
    session_ms, _ = clocks(night, member)
    if night.end_ms - life.last_ms > 3 * session_ms:
        night.missing.append(
            f"what became of {member.name}: its log stops {(night.end_ms - life.last_ms) / 1000:.0f} s before the others' "
            "(a crash, or a file that was cut?); it is taken to go on"
        )
    yield from ()


def clocks(night: Night, member: Member) -> tuple[int, int]:
    """Session timeout and heartbeat interval that held for a member, in ms."""
    protocol = member.configs.get("group.protocol")
    consumer = (
        night.protocol.startswith("consumer") if protocol is None else protocol[0].lower() == "consumer"
    )
    if consumer:
        session = night.broker.get("group.consumer.session.timeout.ms", ("45000", Ground()))[0]
        beat = night.broker.get("group.consumer.heartbeat.interval.ms", ("5000", Ground()))[0]
        return int(session), int(beat)
    version = member.version or night.kafka_version
    default = 45_000 if parse_version(version) >= (3, 0) or member.client == "librdkafka" else 10_000
    return member.milliseconds("session.timeout.ms", default), member.milliseconds(
        "heartbeat.interval.ms", 3_000
    )


def by_coordinator(night: Night, member: Member, coordinator: Coordinator) -> Iterator[Deed]:
    """The lives of a member of which only the coordinator tells."""
    told = [(event.at_ms or 0, 0, event) for name, event in coordinator.joins if name == member.name]
    told += [(event.at_ms or 0, 1, event) for name, event in coordinator.expires if name == member.name]
    told += [(event.at_ms or 0, 2, event) for name, event in coordinator.leaves if name == member.name]
    session_ms, beat_ms = clocks(night, member)
    running, joined_ms = False, 0
    for at_ms, kind, event in sorted(told, key=lambda one: one[:2]):
        if kind == 0 and not running:
            running, joined_ms = True, at_ms
            yield Deed(at_ms - 700, "start", member.name, ground(event, "it joins"))
        elif kind == 1 and coordinator.lived_before(member.name, event):
            member.before = True
            about = at_ms - session_ms + beat_ms // 2
            why = "the session of its earlier process expired"
            yield Deed(about, "crash", member.name, ground(event, why), within_ms=beat_ms // 2)
        elif kind == 1 and running:
            running = False
            about = at_ms - session_ms + beat_ms // 2
            if about - beat_ms // 2 <= joined_ms:
                night.missing.append(
                    f"session.timeout.ms of {member.name}: it joined only {(at_ms - joined_ms) / 1000:.0f} s before its session ended, "
                    f"and no line says how long that is (the default is {session_ms / 1000:g} s)"
                )
                about = (joined_ms + at_ms) // 2
            within = min(beat_ms // 2, about - joined_ms - 1)
            yield Deed(about, "crash", member.name, ground(event, "its session expired"), within_ms=within)
        elif kind == 2 and running and BY_ADMIN not in (event.reason or ""):
            running = False
            yield Deed(at_ms - 5, "close", member.name, ground(event, "it left"), {"timeout_ms": 30_000})
