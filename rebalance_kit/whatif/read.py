"""Logs to the nights of the groups in them: what the lines print, and what `inferred` makes of the rest."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product

from rebalance_kit.forensics.event import Event
from rebalance_kit.forensics.lines.archives import budget
from rebalance_kit.forensics.lines.files import collect_some
from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.forensics.look import Look, look
from rebalance_kit.forensics.words import counted
from rebalance_kit.model.broker_keys import BROKER_KEYS
from rebalance_kit.model.client_keys import CLIENT_KEYS, REFUSED_BY_CONSUMER
from rebalance_kit.model.errors import ConfigError, DataError
from rebalance_kit.model.versions import PREFERRED, parse_version
from rebalance_kit.whatif.config_files import Block, printed_in
from rebalance_kit.whatif.coordinator import (
    BY_ADMIN,
    EXPIRES,
    FATAL,
    LEAVES,
    POLLS_MS,
    SESSIONS_MS,
    Coordinator,
    by_coordinator,
    clocks,
    coordinator_of,
    end_of,
    gaps_of,
    poll_bound,
    session_bounds,
    stops_of,
    topics_of,
)
from rebalance_kit.whatif.inferred import (
    BROKER_SESSION,
    TOGETHER_MS,
    allowed_values,
    assigned,
    fill_in,
    infer,
    joins_itself,
    mode_of,
    rates_of,
    set_broker,
)
from rebalance_kit.whatif.lives import Deed, Ground, Life, Member, Night, Observed, ground, lives_of, told_by

LONGEST_S = 604_800
"""A week, which is the longest scenario."""
SETTLED_MS = 10_000
"""A group that was there before the logs has so long to come together in the scenario before the first deed."""
MOST_NAMED = 3
"""Groups and members that one sentence names."""
BEGINNING_MS = 6_500
"""Processes that start this soon after the first one belong to the group's beginning."""
_SUBSCRIBES_TO = ("pattern", "regular expression")
_REPLICAS = re.compile(r"replicas=\[([0-9]{1,9}(?:,[0-9]{1,9})*)\]")
WHOLE = frozenset({"INT", "LONG", "SHORT"})
_SESSION, _POLL = "session.timeout.ms", "max.poll.interval.ms"
MOST_CLOCKS = 12
"""Choices of unknown clocks that are drawn."""
_OTHERS = {
    "worker_": "Connect workers",
    "connector_": "Connect workers",
    "streams_": "Streams",
    "stream_thread": "Streams",
    "StreamThread": "Streams",
    "ShareConsumer": "share consumers",
    "joins the share group": "share consumers",
    "joins the streams group": "Streams",
}
"""How the events and the lines of members begin, or what is in them, that are no plain consumers."""


def nights(
    paths: Iterable[str | os.PathLike[str]], group: str | None = None, reading: Reading | None = None
) -> list[Night]:
    """The night of every group in the logs under ``paths``, or of ``group`` alone.

    Raises ``DataError`` when nothing there is a log, when no group (or not that one) is told of, and when
    the members of one group name two clusters.
    """
    given = list(paths)
    with budget():
        told = look(given, reading)
        printed = [(name, *printed_in(name, path)) for _, name, path in collect_some(given)[0]]
    blocks = [block for _, each, _ in printed for block in each]
    events = [event for file in told.files for event in file.events]
    named = sorted({str(event.group) for event in events if event.group})
    if group is not None and group not in named:
        raise DataError(
            f"group {group!r} is in none of these logs; expected one of {', '.join(named) or 'none'}"
        )
    wanted = named if group is None else [group]
    _of_one_cluster([(name, clusters) for name, _, clusters in printed], wanted)
    found = [_Reader(name, events, blocks, told) for name in wanted]
    usable = [night for each in found if (night := each.night()) is not None]
    if not usable:
        raise DataError("; ".join(_nobody(name, events) for name in wanted[:MOST_NAMED]) or _no_group(events))
    return usable


def _nobody(group: str, events: Sequence[Event]) -> str:
    """Why the lines of a group are no night, and what of them is missing."""
    own = [event for event in events if event.group == group]
    if not any(event.at_ms is not None for event in own):
        return (
            f"group {group}: none of its {counted(len(own), 'line')} has a time that can be read; "
            "expected lines with date and time, as the process wrote them"
        )
    rounds = sum(event.event in {"preparing", "bumped"} for event in own)
    gone = sorted({str(event.member or event.instance) for event in own if event.event in EXPIRES | LEAVES})
    said = [f"of {counted(rounds, 'rebalance')}"] if rounds else []
    said += [f"that {', '.join(gone[:MOST_NAMED])} left or expired"] if gone else []
    told = f" {' and '.join(said)}, but" if said else ""
    return (
        f"group {group}: its {counted(len(own), 'line')} tell{told} of no member that starts, joins or is assigned something; "
        "expected more of the same log from before: the coordinator's from the members' joins on, or a member's from its start on"
    )


def _no_group(events: Sequence[Event]) -> str:
    if not events:
        return "no line of Kafka's group protocols is in these logs; expected the log of a group's coordinator, of its members, or both"
    return (
        f"no line names its group ({counted(len(events), 'line')} tell something, the first {events[0].event}); "
        "expected more of the same log: lines with the group's name"
    )


def _of_one_cluster(told: Sequence[tuple[str, Iterable[tuple[str, str]]]], wanted: Sequence[str]) -> None:
    """Refuse groups of one name in two clusters: their members would be taken for one group's."""
    seen: dict[str, dict[str, str]] = defaultdict(dict)
    for name, clusters in told:
        for group, cluster in sorted(clusters):
            seen[group].setdefault(cluster, name)
    for group in wanted:
        if len(seen[group]) > 1:
            places = ", ".join(f"{cluster} in {name}" for cluster, name in seen[group].items())
            raise DataError(
                f"the members of group {group!r} name {len(seen[group])} clusters: {places}; "
                "expected the logs of one cluster, because a group of the same name in another is another group"
            )


@dataclass(slots=True)
class _Reader:
    """Folds the events of one group."""

    group: str
    events: list[Event]
    blocks: list[Block]
    look: Look
    #: The clocks of which no line tells, each with the values that the lines allow; the likeliest first.
    open: dict[str, list[int]] = field(default_factory=dict)

    def night(self) -> Night | None:
        """The night, and beside it the same one under each other choice of clocks; None where nobody of the group is told of."""
        night = self._night({})
        if night is None:
            return None
        choices = [dict(zip(self.open, each, strict=True)) for each in product(*self.open.values())]
        others = [self._night(each) for each in choices[1:MOST_CLOCKS]]
        night.also = tuple(one for one in others if one is not None)
        return night

    def _night(self, chosen: Mapping[str, int]) -> Night | None:
        own = [event for event in self.events if event.group in {self.group, None}]
        dated = sorted((event for event in own if event.at_ms is not None), key=lambda one: one.at_ms or 0)
        by_member = self._by_member(dated)
        ids = {
            str(event.member): name for name, events in by_member.items() for event in events if event.member
        }
        ids |= {
            str(event.instance): name
            for name, events in by_member.items()
            for event in events
            if event.instance
        }
        coordinator = coordinator_of((event for event in dated if event.side == "broker"), ids)
        lives = {name: lives_of(events) for name, events in by_member.items()}
        moments = [life.begin_ms for each in lives.values() for life in each]
        moments += [event.at_ms or 0 for _, event in coordinator.joins]
        if not moments:
            return None
        begin_ms = min(moments)
        ends = [event.at_ms or 0 for event in dated if event.group == self.group]
        night = Night(self.group, begin_ms, max(ends, default=begin_ms), "", self._version(dated))
        self._members(night, lives, coordinator)
        night.protocol = self._protocol(night, dated)
        self._broker(night)
        fill_in(night)
        self._clocks(night, lives, coordinator, chosen)
        self._deeds(night, lives, coordinator)
        night.begin_ms = min([begin_ms, *(deed.at_ms for deed in night.deeds if deed.do == "start")])
        unseen = [deed.at_ms - SETTLED_MS for deed in night.deeds if deed.at_ms < night.begin_ms]
        night.begin_ms = min([night.begin_ms, *unseen])
        self._topics(night, dated, coordinator)
        _shutdown(night, lives)
        self._observed(night, lives)
        night.removals_known = coordinator.told
        if not any(event.event == "process_started" and event.detail for event in dated):
            night.assumed.append(f"Kafka {night.kafka_version}: no line names a version")
        self._say(night, coordinator)
        return night

    # --- who ---------------------------------------------------------------------------------------
    def _by_member(self, dated: Sequence[Event]) -> dict[str, list[Event]]:
        """Clients' events by member: by client.id, and by file too where two files of one name overlap in time."""
        places: dict[tuple[str, str], list[Event]] = defaultdict(list)
        for event in dated:
            if event.side != "broker" and event.group == self.group:
                places[event.client or event.named_by_file, event.file].append(event)
        files: dict[str, list[str]] = defaultdict(list)
        for client, file in places:
            files[client].append(file)
        found: dict[str, list[Event]] = defaultdict(list)
        for client, each in files.items():
            spans = sorted(
                (places[client, file][0].at_ms or 0, places[client, file][-1].at_ms or 0) for file in each
            )
            apart = any(second[0] < first[1] for first, second in pairwise(spans))
            for file in each:
                name = f"{places[client, file][0].named_by_file}-{client}" if apart else client
                found[name] += places[client, file]
        return {name: sorted(events, key=lambda one: one.at_ms or 0) for name, events in found.items()}

    def _members(self, night: Night, lives: dict[str, list[Life]], coordinator: Coordinator) -> None:
        for name, each in sorted(lives.items()):
            member = night.members[name] = Member(name, told=True)
            first = each[0].events
            member.version = _versions(first)
            member.client = "librdkafka" if any(one.side == "librdkafka" for one in first) else "java"
            member.instance = next((one.instance for one in first if one.instance), None)
            member.before = not each[0].started and not joins_itself(first)
            subscribed = next((one for one in first if one.event == "subscribed"), None)
            if subscribed is not None and any(word in subscribed.text for word in _SUBSCRIBES_TO):
                member.pattern = (subscribed.detail or "").strip("'")
            elif subscribed is not None and subscribed.detail:
                member.topics = tuple(part.strip() for part in subscribed.detail.split(",") if part.strip())
            self._configure(night, member, each[0])
        for name, event in coordinator.joins:
            if name not in night.members:
                night.members[name] = Member(name, instance=event.instance)
        native = [member for member in night.members.values() if member.client == "librdkafka"]
        for member in native:
            infer(member, lives.get(member.name, []), coordinator)
        for member in native:
            for other in native:
                for key, value in other.configs.items():
                    member.configs.setdefault(key, (value[0], Ground(why=f"as {other.name}")))

    def _anew(self, night: Night, member: Member, life: Life) -> dict[str, object]:
        """The settings of a later process, where they are others than those of the first."""
        later = Member(member.name, member.client)
        self._configure(night, later, life)
        if not later.configs or {key: value for key, (value, _) in later.configs.items()} == {
            key: value for key, (value, _) in member.configs.items()
        }:
            return {}
        return {"printed": later.configs}

    def _configure(self, night: Night, member: Member, life: Life) -> None:
        file = life.events[0].file
        line = max(
            (one.line for one in life.events[:20] if one.event == "process_started"),
            default=life.events[0].line,
        )
        own = [
            block
            for block in self.blocks
            if block.kind == "ConsumerConfig"
            and block.file == file
            and block.line <= line
            and block.get("group.id") in {self.group, None}
        ]
        if not own:
            self._told_by_broker(member, life)
            return
        block = max(own, key=lambda one: one.line)
        consumer = (block.get("group.protocol") or "classic").lower() == "consumer"
        for key, (value, at) in block.values.items():
            known = CLIENT_KEYS.get(key)
            if known is None or known.acts != "engine" or value in {"null", "", "[]"}:
                continue
            if key in {"group.id", "client.id"} or (consumer and key in REFUSED_BY_CONSUMER):
                continue
            if _fits(night, known.kind, key, value, f"{block.file}:{at}"):
                member.configs[key] = value, Ground(block.file, at)

    def _told_by_broker(self, member: Member, life: Life) -> None:
        """The clocks that a broker's line names of a member whose own settings are not printed."""
        ids = {one.member for one in life.events if one.member}
        for block in self.blocks:
            if block.kind == "MemberMetadata" and (
                block.get("member.id") in ids or (not ids and block.get("client.id") == member.name)
            ):
                for key, (value, at) in block.values.items():
                    if key in CLIENT_KEYS and key not in {"client.id", "group.id"}:
                        member.configs.setdefault(key, (value, Ground(block.file, at, "the broker says it")))

    def _clocks(
        self,
        night: Night,
        lives: Mapping[str, Sequence[Life]],
        coordinator: Coordinator,
        chosen: Mapping[str, int],
    ) -> None:
        """Sessions and poll limits that no line names: inferred where the lines leave one value, else one of several (``chosen``)."""
        consumer = night.protocol.startswith("consumer")
        untold = [member for member in night.members.values() if _SESSION not in member.configs]
        if consumer:
            untold = [] if self._says_broker else list(night.members.values())
        bounds = {
            member.name: session_bounds(night, member, lives.get(member.name, ()), coordinator)
            for member in untold
        }
        session, _ = clocks(night, untold[0]) if untold else (0, 0)
        if any(most is not None for _, most in bounds.values()):
            least = max(least for least, _ in bounds.values())
            most = min(most for _, most in bounds.values() if most is not None)
            allowed = allowed_values(least, most, SESSIONS_MS, session, self._as_others(night, _SESSION))
            if consumer:
                set_broker(night, self._choose(night, BROKER_SESSION, allowed, chosen))
            else:
                value = self._choose(night, _SESSION, allowed, chosen)
                for member in untold:
                    member.configs[_SESSION] = value
        for member in () if consumer else untold:
            if _SESSION not in member.configs and clocks(night, member)[0] != (
                45_000 if parse_version(night.kafka_version) >= (3, 0) else 10_000
            ):
                why = f"the default of its Kafka {member.version}"
                member.configs[_SESSION] = str(clocks(night, member)[0]), Ground(why=why)
        late = [
            member
            for name, member in night.members.items()
            if _POLL not in member.configs
            and any(
                one.event == "poll_timeout" and not one.limit_ms
                for life in lives.get(name, ())
                for one in life.events
            )
        ]
        if late:
            limits = [found for one in late if (found := poll_bound(lives[one.name])) is not None]
            most = min(limits, default=300_000)
            allowed = allowed_values(0, most, POLLS_MS, 300_000, self._as_others(night, _POLL))
            value = self._choose(night, _POLL, allowed, chosen)
            for member in night.members.values():
                member.configs.setdefault(_POLL, value)

    @property
    def _says_broker(self) -> bool:
        """Whether a broker prints its settings, or those of the group: what is not in them is the default."""
        return any(
            block.kind == "KafkaConfig"
            or (block.kind == "GroupConfig" and block.get("group.id") == self.group)
            for block in self.blocks
        )

    def _as_others(self, night: Night, key: str) -> set[int]:
        """What the printed settings of other members, and the broker's lines, say of a clock."""
        said = {int(one.configs[key][0]) for one in night.members.values() if key in one.configs}
        return said | {
            int(block.values[key][0])
            for block in self.blocks
            if block.kind == "MemberMetadata" and key in block.values
        }

    def _choose(
        self, night: Night, key: str, allowed: list[int], chosen: Mapping[str, int]
    ) -> tuple[str, Ground]:
        value = chosen.get(key, allowed[0])
        if len(allowed) == 1:
            why = "no line names it; no other fits when sessions ended, processes began and wrote"
            return str(value), Ground(why=why)
        if not chosen:
            self.open[key] = allowed
        said = ", ".join(f"{one / 1000:g}" for one in sorted(allowed))
        night.plain = night.plain or value in {45_000, 300_000}
        night.missing.append(
            f"{'the KafkaConfig block of the broker' if key == BROKER_SESSION else 'a ConsumerConfig block of the members'}: "
            f"no line names {key}, and {said} s all fit; each is drawn"
        )
        return str(value), Ground(why=f"one of {said} s")

    def _version(self, dated: Sequence[Event]) -> str:
        """The broker's version where a broker's log tells it, else the clients'."""
        coordinators = {one.file for one in dated if one.side == "broker"}
        said = [
            (one.file not in coordinators, one.detail or "")
            for one in dated
            if one.event == "process_started"
        ]
        for _, version in sorted(said, key=lambda entry: entry[0]):
            try:
                parse_version(version)
            except ConfigError:
                continue
            return version
        return PREFERRED

    def _protocol(self, night: Night, dated: Sequence[Event]) -> str:
        """The protocol most members use, as one of ``PROTOCOLS``."""
        for event in dated:
            if event.event in {"bumped", "transitioned", "rd_epoch_heartbeat"}:
                assigned = next(
                    (one.assignor for one in dated if one.event == "computed" and one.assignor), ""
                )
                return "consumer-range" if assigned == "range" else "consumer"
        modes = [mode_of(member, night.kafka_version) for member in night.members.values()]
        if "cooperative" in modes and "eager" not in modes:
            return "cooperative"
        chosen = next(
            (one.assignor for one in dated if one.event in {"joined", "rd_join_answer"} and one.assignor), ""
        )
        if chosen == "cooperative-sticky" and not any(modes):
            return "cooperative"
        return chosen if chosen in {"sticky", "roundrobin"} else "eager"

    def _broker(self, night: Night) -> None:
        for block in self.blocks:
            if block.kind == "GroupConfig" and block.get("group.id") == self.group:
                for key, (value, at) in block.values.items():
                    if key != "group.id":
                        night.broker[key] = value, Ground(block.file, at, "set for this group")
            if block.kind != "KafkaConfig":
                continue
            for key, (value, at) in block.values.items():
                known = BROKER_KEYS.get(key)
                if known is None or not key.startswith("group.") or value == "null":
                    continue
                try:
                    plain = str(known.default(night.kafka_version))
                except ConfigError:
                    continue
                if _bare(value) != _bare(plain) and _fits(
                    night, known.kind, key, value, f"{block.file}:{at}"
                ):
                    night.broker[key] = value, Ground(block.file, at)

    # --- what was done -----------------------------------------------------------------------------
    def _deeds(self, night: Night, lives: dict[str, list[Life]], coordinator: Coordinator) -> None:
        deeds = night.deeds
        for name, each in lives.items():
            member = night.members[name]
            for number, life in enumerate(each):
                deeds += told_by(member, life, night.end_ms)
                first = life.events[0]
                if not (number == 0 and member.before):
                    again = self._anew(night, member, life) if number else {}
                    deeds.append(
                        Deed(life.begin_ms, "start", name, ground(first, "its process starts"), again)
                    )
                deeds += end_of(night, member, each, number, coordinator)
        for member in night.members.values():
            if not member.told:
                deeds += by_coordinator(night, member, coordinator)
        for name, event in coordinator.leaves:
            if BY_ADMIN in (event.reason or ""):
                deeds.append(Deed(event.at_ms or 0, "remove", name, ground(event, "removed by an admin")))
        deeds.sort(key=lambda deed: deed.at_ms)

    def _topics(self, night: Night, dated: Sequence[Event], coordinator: Coordinator) -> None:
        since_ms = min((deed.at_ms for deed in night.deeds if deed.do == "start"), default=night.begin_ms)
        topics, later = topics_of(coordinator.own, since_ms + 1)
        wanted = {topic for member in night.members.values() for topic in member.topics}
        wanted |= {
            str(topic)
            for deed in night.deeds
            if deed.do == "subscribe"
            for topic in deed.args.get("topics", ())  # type: ignore[attr-defined]
        }
        named, first = assigned(dated, self.group)
        if not named and not wanted:
            named = {name: count for name, (count, _) in topics.items()}
            if named:
                night.assumed.append(
                    f"{self.group} reads {', '.join(sorted(named))}: no line says it, and the broker has no other topic"
                )
        matching = any(member.pattern for member in night.members.values())
        for name in sorted(wanted | set(named) | (set(topics) if matching else set())):
            if name in topics:
                night.topics[name] = topics[name]
            elif name in named and not any(deed.args.get("topic") == name for deed in later):
                night.topics[name] = named[name], first[name]
        night.deeds += [
            deed
            for deed in later
            if (deed.args.get("topic") in wanted | set(named) or matching)
            and night.begin_ms <= deed.at_ms <= night.end_ms
        ]
        night.deeds += stops_of(coordinator.own, night.begin_ms, night.end_ms)
        replicas = {
            node
            for event in coordinator.own
            if event.event == "partition_created" and (found := _REPLICAS.search(event.detail or ""))
            for node in found[1].split(",")
        }
        if len(replicas) == 1:
            night.only_node = int(replicas.pop())
        night.deeds.sort(key=lambda deed: deed.at_ms)
        for member in night.members.values():
            if not member.topics and member.pattern is None:
                member.topics = tuple(sorted(named or night.topics))
                if member.told and member.topics:
                    night.assumed.append(
                        f"{member.name} subscribes to {', '.join(member.topics)}: what the group was assigned"
                    )
        night.rate_per_s = rates_of(dated, self.group)

    # --- what happened -----------------------------------------------------------------------------
    def _observed(self, night: Night, lives: dict[str, list[Life]]) -> None:
        since_ms = _first_deed(night)
        rows = [row for row in self.look.rows("rebalances") if row["group"] == self.group]
        within = [row for row in rows if since_ms <= (row["start_ms"] or 0) < night.end_ms]
        gaps = gaps_of(night, lives, since_ms)
        begin_ms = night.begin_ms
        ended = [
            row["ended_ms"] or 0
            for row in self.look.rows("members")
            if row["group"] == self.group
            and row["end"] == "expired"
            and since_ms <= (row["ended_ms"] or 0) < night.end_ms
        ]
        removals = [
            (row["client"] or row["member"], "failed" if row["end"] == "expired" else "left")
            for row in self.look.rows("members")
            if row["group"] == self.group
            and row["end"] in {"expired", "left"}
            and since_ms <= (row["ended_ms"] or 0) < night.end_ms
        ]
        night.observed = Observed(
            len(within),
            tuple(sorted(removals)),
            tuple((at_ms - begin_ms) / 1000 for at_ms in sorted(ended)),
            tuple((row["start_ms"] - begin_ms) / 1000 for row in within),
            len(gaps),
            max(map(max, gaps.values()), default=0) / 1000,
            sum(map(sum, gaps.values())) / 1000,
            tuple((row["duration_ms"] or 0) / 1000 for row in within),
        )

    def _say(self, night: Night, coordinator: Coordinator) -> None:
        lasted_s = (night.end_ms - night.begin_ms) / 1000
        if not night.topics:
            night.unknown = "what the group reads"
            night.missing.append(
                "the topics: no line that is understood says what the group subscribes to or is assigned (a member's Subscribed to topic(s), or Adding newly "
                "assigned partitions); or write them into the scenario that --scenario FILE gives"
            )
        elif lasted_s > LONGEST_S:
            night.unknown = "which of these days is meant"
            night.missing.append(
                f"a choice: these lines cover {lasted_s / 86_400:.0f} days, and a night is at most {LONGEST_S // 86_400}; cut them to one incident"
            )
        elif lasted_s < SETTLED_MS / 1000 and all(deed.do == "start" for deed in night.deeds):
            night.unknown = "what happened to the group"
            night.missing.append(
                f"the lines before and after: these cover {lasted_s:.1f} s, in which nothing happens to the group"
            )
        silent = [name for name, member in night.members.items() if not member.told]
        if silent:
            night.missing.append(
                f"the log{'s' if len(silent) > 1 else ''} of {', '.join(sorted(silent))}: only the coordinator tells of them, "
                "so that slow callbacks and times without poll() are not known"
            )
        if not coordinator.told:
            night.missing.append("the coordinator's log: who was expelled, and when, is not known without it")
            lost = [one for one in self.events if one.group == self.group and one.event == "coordinator_lost"]
            if lost:
                night.unknown = f"how long the coordinator was away: {len(lost)} lines say that it was lost, the first is {ground(lost[0])}"
                night.missing.append(f"the broker's log: {night.unknown}")
        others = {
            event.client or event.named_by_file
            for event in self.events
            if event.group == self.group and event.side == "other"
        }
        if others:
            night.outside.append(
                f"{', '.join(sorted(others))}: neither the Java client nor librdkafka; taken for a Java client, the nearest that is simulated"
            )
        bare = sorted(
            name
            for name, member in night.members.items()
            if member.told and not any(place.file for _, place in member.configs.values())
        )
        if bare:
            night.assumed.append(
                f"{', '.join(bare)}: no ConsumerConfig block is printed; where nothing else is said, the defaults of Kafka {night.kafka_version} are taken"
            )
        kinds = {
            kind
            for event in self.events
            for begins, kind in _OTHERS.items()
            if event.group == self.group and (event.event.startswith(begins) or begins in event.text)
        }
        if kinds:
            night.outside.append(
                f"{self.group} is a group of {', '.join(sorted(kinds))}, which the engine does not simulate; the nearest is a plain consumer group"
            )


def _versions(events: Sequence[Event]) -> str:
    """The version that a process prints of itself."""
    for event in events:
        if event.event == "process_started" and event.side != "librdkafka":
            try:
                parse_version(event.detail or "")
            except ConfigError:
                continue
            return event.detail or ""
    return ""


def _fits(night: Night, kind: str, key: str, value: str, place: str) -> bool:
    """Whether a printed value can be one of its key's; what cannot, because somebody changed the line, is said."""
    if kind not in WHOLE or re.fullmatch(r"-?[0-9]{1,18}", value):
        return True
    sentence = f"{key} = {value[:40]!r} ({place}) is no whole number: the default is taken"
    if sentence not in night.outside:
        night.outside.append(sentence)
    return False


def _bare(value: str) -> str:
    return re.sub(r"[\[\]()'\s,]", "", value).lower()


def _first_deed(night: Night) -> int:
    """The moment from which the night counts: the first thing done after the group came together."""
    starts = [deed.at_ms for deed in night.deeds if deed.do == "start"]
    begun = min(starts, default=night.begin_ms) + BEGINNING_MS
    done = [deed.at_ms for deed in night.deeds if deed.do != "start" or deed.at_ms > begun]
    return min(done, default=night.begin_ms)


def _shutdown(night: Night, lives: Mapping[str, Sequence[Life]]) -> None:
    """Leave a shutdown of everybody who is still there at the end out of the night."""
    alive: dict[str, Deed | None] = {}
    for deed in night.deeds:
        if deed.member is not None and deed.do in {"start", "close", "crash"}:
            alive[deed.member] = None if deed.do == "start" else deed
    for name, each in lives.items():
        if alive.get(name, True) is None and any(event.event in FATAL for event in each[-1].events):
            del alive[name]  # Kafka ended its last process
    ends = [deed for deed in alive.values() if deed is not None and deed.do == "close"]
    if any(deed is None for deed in alive.values()) or not ends:
        return
    last = max(deed.at_ms for deed in ends)
    closing = [deed for deed in ends if deed.at_ms > last - TOGETHER_MS]
    end_ms = min(deed.at_ms for deed in closing)
    dropped = [deed for deed in night.deeds if deed.at_ms >= end_ms]
    night.deeds = [deed for deed in night.deeds if deed.at_ms < end_ms]
    night.end_ms = end_ms
    night.outside.append(
        f"the shutdown at the end ({', '.join(sorted({str(one.member) for one in dropped if one.member}))} close together): it is not counted"
    )
