"""What no line prints of a night, and its lines show or allow: limits, modes, topics, rates."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from rebalance_kit.forensics.event import Event
from rebalance_kit.model.config import ClientConfig
from rebalance_kit.model.errors import ConfigError
from rebalance_kit.whatif.coordinator import Coordinator
from rebalance_kit.whatif.lives import Ground, Life, Member, Night, ground

TOGETHER_MS = 10_000
"""Members that close within this time at the very end are a shutdown, which is no part of the night."""
_ASSIGNMENT = re.compile(r"([\w.-]+)-([0-9]{1,9})")
STRATEGY = "partition.assignment.strategy"
BROKER_SESSION = "group.consumer.session.timeout.ms"
_NATIVE_SESSION_MS = 45_000
_SESSIONS_MS = (6_000, 10_000, 15_000, 20_000, 30_000, 45_000, 60_000)


def allowed_values(least: int, most: int, usual: Sequence[int], default: int, others: set[int]) -> list[int]:
    """The values (ms) that the bounds allow, the likeliest first: what others of the group have, else the default, else the middle one."""
    told = sorted(one for one in others if least <= one <= most)
    if told:
        return told
    found = [one for one in usual if least <= one <= most]
    if default in found:
        return [default, *(one for one in found if one != default)]
    if not found:
        return [max(usual[0], (least + min(most, 1_800_000)) // 2)]
    middle = found[(len(found) - 1) // 2]
    return [middle, *(one for one in found if one != middle)]


def set_broker(night: Night, value: tuple[str, Ground]) -> None:
    """A session of the broker's, with the least that it has to allow then."""
    night.broker[BROKER_SESSION] = value
    if int(value[0]) < 45_000:
        night.broker["group.consumer.min.session.timeout.ms"] = (
            value[0],
            Ground(why="the session is so short"),
        )
    if int(value[0]) > 60_000:
        night.broker["group.consumer.max.session.timeout.ms"] = value[0], Ground(why="the session is so long")


def fill_in(night: Night) -> None:
    """What the lines show of the protocol, for members whose ConsumerConfig is not printed."""
    given = {
        "consumer": ("group.protocol", "consumer"),
        "consumer-range": ("group.protocol", "consumer"),
        "cooperative": (STRATEGY, "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"),
        "sticky": (STRATEGY, "org.apache.kafka.clients.consumer.StickyAssignor"),
        "roundrobin": (STRATEGY, "org.apache.kafka.clients.consumer.RoundRobinAssignor"),
    }.get(night.protocol)
    for member in night.members.values():
        if given and member.client == "java" and not member.configs:
            member.configs[given[0]] = given[1], Ground(why=f"the group's lines are of {night.protocol}")


def infer(member: Member, lives: Sequence[Life], coordinator: Coordinator) -> None:
    """What librdkafka does not print and its lines show: poll limit, mode, and the session between last heartbeat and expulsion."""
    events = [event for life in lives for event in life.events]
    for event in events:
        if event.event == "rd_poll_timeout" and event.limit_ms:
            member.configs["max.poll.interval.ms"] = str(event.limit_ms), ground(event)
        elif event.event == "rd_rebalance" and event.mode == "COOPERATIVE":
            member.configs.setdefault(STRATEGY, ("cooperative-sticky", ground(event)))
        elif event.event == "rd_epoch_heartbeat":
            member.configs.setdefault("group.protocol", ("consumer", ground(event)))
    limit = member.configs.get("max.poll.interval.ms")
    if limit is not None and int(limit[0]) < _NATIVE_SESSION_MS and "group.protocol" not in member.configs:
        why = "librdkafka takes no session longer than max.poll.interval.ms, and its default is 45 s"
        member.configs["session.timeout.ms"] = "10000", Ground(why=why)
    for name, event in coordinator.expires:
        beats = [
            one.at_ms or 0
            for one in events
            if one.event == "rd_heartbeat" and (one.at_ms or 0) < (event.at_ms or 0)
        ]
        if name == member.name and beats and "group.protocol" not in member.configs:
            silent_ms = (event.at_ms or 0) - beats[-1]
            session_ms = min(_SESSIONS_MS, key=lambda each: abs(each - silent_ms))
            if abs(session_ms - silent_ms) < 500:
                member.configs["session.timeout.ms"] = (
                    str(session_ms),
                    ground(event, "so long after its last heartbeat"),
                )


def joins_itself(events: Sequence[Event]) -> bool:
    """Whether a log that begins without the start of its process begins at its first join."""
    return any(
        one.event in {"member_id_given", "rd_join_answer"}
        or (one.event == "rejoin_requested" and "given member-id" in (one.reason or ""))
        or (one.event == "transitioned" and one.state_from == "UNSUBSCRIBED")
        for one in events[:8]
    )


def mode_of(member: Member, version: str) -> str:
    """The rebalance mode of a member by its printed assignors; empty where they are not printed, or are none."""
    given = member.configs.get(STRATEGY)
    if given is None:
        return ""
    try:
        config = ClientConfig.of({STRATEGY: strategies(given[0])}, version)
    except ConfigError:
        return ""
    return config.mode.lower()


def strategies(printed: str) -> list[str]:
    """The classes of a printed ``partition.assignment.strategy``.

    >>> strategies("[class org.apache.kafka.clients.consumer.RangeAssignor]")
    ['org.apache.kafka.clients.consumer.RangeAssignor']
    """
    return [part.strip().removeprefix("class ") for part in printed.strip("[]").split(",") if part.strip()]


def assigned(dated: Sequence[Event], group: str) -> tuple[dict[str, int], dict[str, Ground]]:
    """Topics and at least how many partitions each has, from what members were assigned."""
    counts: dict[str, int] = {}
    first: dict[str, Ground] = {}
    for event in dated:
        if event.group != group:
            continue
        for text in event.partitions or ():
            found = _ASSIGNMENT.fullmatch(text)
            if found:
                counts[found[1]] = max(counts.get(found[1], 0), int(found[2]) + 1)
                first.setdefault(found[1], ground(event, "the greatest partition that was assigned"))
    return counts, first


def rates_of(dated: Sequence[Event], group: str) -> dict[str, float]:
    """Records a second of each partition of a topic, from positions that were set at two moments."""
    seen: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for event in dated:
        if event.group == group and event.event == "offset_set" and event.topic and event.offset is not None:
            seen[event.topic].append((event.at_ms or 0, event.offset))
    rates: dict[str, list[float]] = defaultdict(list)
    for partition, moments in seen.items():
        for (before, low), (after, high) in pairwise(moments):
            if after - before >= TOGETHER_MS and high > low:
                rates[partition.rpartition("-")[0]].append((high - low) * 1000 / (after - before))
    return {topic: round(median(values), 1) for topic, values in rates.items()}
