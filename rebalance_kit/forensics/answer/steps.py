"""What lines tell in which no rebalance is told of: steps by kind, in words."""

from __future__ import annotations

import re
from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from rebalance_kit.forensics.event import Event
from rebalance_kit.forensics.findings.unplaced import JOIN_STATES, join_state, step_of
from rebalance_kit.forensics.history.speakers import told_apart
from rebalance_kit.forensics.lines.anchors import anchored
from rebalance_kit.forensics.lines.line_reader import SHOWN
from rebalance_kit.forensics.words import LEAVES_BY_ITSELF, counted, short

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rebalance_kit.forensics.tables import Row

#: Kinds of line in words; those that say the same in several clients have one.
_WORDS = {
    "a member leaves": "left epoch_left pending_left static_away",
    "a member expires": "member_failed session_expired pending_failed transition_expired",
    "a rebalance begins": "preparing bumped",
    "a generation is settled": "stabilized computed emptied",
    "asks to join": "member_id_given joining rd_joining member_added joins",
    "ends its session": "other_session_ended",
    "stops reading partitions": "other_stops_reading",
    "begins to read partitions": "other_reads",
    "is the leader": "other_leader",
    "has joined": "joined synced other_joined rd_join_answer worker_joined",
    "heartbeat": "rd_heartbeat rd_epoch_heartbeat rd_epoch_answer",
    "subscribes": "subscribed",
    "finds its coordinator": "coordinator_found other_coordinator",
    "finds no broker to ask for its coordinator": "rd_no_broker",
    "starts": "process_started",
    "gives up partitions": "revoking revoked other_revoked container_revoked",
    "is given partitions": "assigned other_assigned container_assigned rd_callback",
    "changes its state": "transitioned streams_state",
    "waits, before it closes": "rd_close_waits",
    "is closed": "process_closed",
    "kafka-consumer-groups found the group rebalancing": "tool_rebalancing",
    "leaves": "leaving rd_leave other_leaving",
    "a broker gives up coordinating the groups of a partition of __consumer_offsets": "coordinator_resigned",
    "group metadata loaded": "metadata_loaded loaded member_loaded",
    "is told that the group is rebalancing": "other_rebalancing",
    "asks to join again": "rejoin_requested join_retried",
    "a heartbeat fails": "other_heartbeat_failed rd_heartbeat_error",
    "fails to join": "other_join_failed",
    "finds no coordinator": "other_no_coordinator",
    "a commit fails": "other_commit_failed commit_failed auto_commit_failed",
}
_BY_KIND = {kind: words for words, kinds in _WORDS.items() for kind in kinds.split()}
_MOST = 5

#: Steps that leave a group as it is.
_QUIET = frozenset(
    {
        *("heartbeat", "subscribes", "finds its coordinator", "finds no coordinator", "starts"),
        *("finds no broker to ask for its coordinator", "group metadata loaded", "a commit fails"),
    }
)


def tells_of_rebalance(row: Row) -> bool:
    """Whether a line may tell of a rebalance, be it of its beginning, its middle or its end."""
    return _BY_KIND.get(row["event"], "") not in _QUIET or _WAITING.search(row["text"]) is not None


def moves(row: Row) -> bool:
    """Whether a line tells that a member comes, goes, or has other partitions."""
    return _BY_KIND.get(row["event"], "") in _MOVES


#: Steps of which one wants to know why.
_MOVES = frozenset(
    {
        *("a rebalance begins", "asks to join", "asks to join again", "has joined", "leaves"),
        *("gives up partitions", "is given partitions", "is told that the group is rebalancing"),
        "ends its session",
    }
)


#: librdkafka's states of a member that is in the middle of a rebalance, or leaves that state.
_WAITING = re.compile(r"join.state \W*wait-|wait-\w+(?:-\w+)* -> ")

_REBALANCING = re.compile(r"to (?:REBALANCING|PARTITIONS_REVOKED)\b")


#: What ends a line about partitions that are none, before its logger.
_NONE = re.compile(r"(?:\[\]|\{\}|\bset\(\)|\bSet\(\))\)?(?: \([\w.$:]+\))?\s*$")


#: What librdkafka waits for: an answer of its application, or so many of something.
_AWAITED_CALL = re.compile(r"rebalance_cb|\bcall\b")
_AWAITED = re.compile(r"\b([1-9]\d{0,5}) (toppar|commit)\(s\)")


def _awaited(detail: str) -> str:
    if _AWAITED_CALL.search(detail):
        return ", for its application to answer the rebalance callback"
    found = [
        counted(int(number), "partition" if of == "toppar" else of) for number, of in _AWAITED.findall(detail)
    ]
    return f" ({', '.join(found)})" if found else ""


def _words(row: Row) -> str:
    words = _BY_KIND.get(row["event"], "")
    if row["event"] == "rd_close_waits":
        return words + _awaited(row["detail"] or "")
    if row["event"] == "rejoin_requested" and LEAVES_BY_ITSELF in (row["reason"] or ""):
        return "leaves by itself"
    if row["event"] == "streams_state" and _REBALANCING.search(row["text"]):
        return "a rebalance begins"
    if row["reason"] and ("fails" in words or words == "asks to join again"):
        return f"{words} ({row['reason'][:80]})"
    return words.replace(" partitions", " no partition") if _NONE.search(row["text"]) else words


def steps(events: Iterable[Row]) -> str:
    """The steps, the most telling (those with words of their own) first."""
    rows = list(events)
    count = Counter(map(_words, rows))
    others = count.pop("", 0)
    said = [words if times == 1 else f"{words} ({times} times)" for words, times in count.most_common(_MOST)]
    if others and said:
        said.append(counted(others, "other line"))
    numbers = [row["generation"] for row in rows if row["generation"] is not None]
    if numbers:
        first, last = min(numbers), max(numbers)
        said.append(f"generation {first}" if first == last else f"generations {first} to {last}")
    return ", ".join(said)


def last_states(events: Iterable[Row]) -> str:
    """What each client of librdkafka did at last, by its join state; empty where no line tells one."""
    last: dict[str, str] = {}
    for row in events:
        if (
            row["side"] == "librdkafka"
            and row["event"] != "rd_close_waits"
            and (state := join_state(row["text"]))
        ):
            last[row["client"] or "the client"] = state
    told = [f"{who} {JOIN_STATES[state]} (join-state {state})" for who, state in [*last.items()][:_MOST]]
    return f"at the end {'; '.join(told)}" if told else ""


#: So many lines are told one by one; the last of them is no longer than this in a headline.
SHORT, _LAST = 60, 120

#: A quoted line, and so many names of partitions, are no longer than this.
_QUOTED, _NAMED = 300, 4

#: What stands before the words of a Java client or a coordinator.
_BRACKET = re.compile(r"^\[[^\]]{1,200}\]:? ?")

#: Another time, alone or of logfmt, and a level behind it.
_LEADING = re.compile(
    r'^\W?(?:time=)?"?\d[\d:.,TZ+/-]{7,34}"?\]?(?:[+-]\d{4})?\s+(?:level=\w+\s+)?', re.ASCII
)

#: The message of a line of JSON.
_MESSAGE = re.compile(r'"(?:@?message|msg|log|textPayload)": ?"((?:[^"\\]|\\.){1,300})')

#: Settings, offsets, and what a framework prints of its client once more are no steps.
_NO_STEPS = frozenset({"config", "process_started", "offset_set", "container_assigned", "container_revoked"})


#: The time at a line's beginning, its level, and the group behind them.
WITHOUT_TIME = re.compile(
    r"^\[?\d{2,4}[-/.]\d\d[-/.]\d{2,4}[T ][\d:,.]+Z?\]?\s*(?:[A-Z]{4,5} +)?(?:\[Group[^\]]*\]:? ?)?", re.ASCII
)


def last_step(events: Sequence[Row]) -> str:
    """What the last of a few lines says, and whose it is; empty of more lines."""
    last = timeline(events)[-1:] if len(events) <= SHORT else []
    return " ".join(f"{one.who} {_cut(one.what)}".strip() for one in last)


def _cut(what: str) -> str:
    return what if len(what) <= _LAST else f'{what[:_LAST]}..."'


class Step(NamedTuple):
    """One step as a line tells it: when, whose, what, and on how many lines in a row."""

    at_ms: int | None
    file: str
    line: int
    who: str
    what: str
    lines: int = 1


def timeline(events: Iterable[Row]) -> list[Step]:
    """Every line as a step in words, or quoted where it is none; in order of time, lines of one step once."""
    told: list[Step] = []
    rows = [{name: value for name, value in row.items() if value is not None} for row in _in_order(events)]
    for event in told_apart([Event(row) for row in rows]):
        one = _step(event)
        before = told[-1] if told else None
        if before is not None and (before.who, before.what) == (one.who, one.what):
            told[-1] = before._replace(lines=before.lines + 1)
        else:
            told.append(one)
    return told


def _in_order(events: Iterable[Row]) -> list[Row]:
    """The rows by time; a line without one stays behind the line before it in its file."""
    last: dict[str, int] = {}
    placed = []
    for row in events:
        if row["event"] not in _NO_STEPS:
            at_ms = last[row["file"]] = row["at_ms"] if row["at_ms"] is not None else last.get(row["file"], 0)
            placed.append((at_ms, row["file"], row["row"], row))
    return [row for *_, row in sorted(placed, key=itemgetter(0, 1, 2))]


def _step(event: Event) -> Step:
    what = None if event.side == "broker" or event.confidence else step_of(event)
    if what is None and event.event == "other_joined" and event.member:
        what = f"joins as {event.member}" + (f", is given {event.detail}" if event.detail else "")
    elif what is None:
        what = _quoted(event.text)
    else:
        if event.partitions:
            more = ", ..." if len(event.partitions) > _NAMED else ""
            what += f": {', '.join(event.partitions[:_NAMED])}{more}"
        if event.event in {"joined", "other_joined"} and event.member:
            what += f" as {event.member}"
    who = event.client or ("coordinator" if event.side == "broker" else event.instance or "")
    return Step(event.at_ms, event.file, event.line, short(who), short(what))


def _quoted(text: str) -> str:
    found = next(anchored(text), None)
    message = _MESSAGE.search(text) if found is None and "{" in text else None
    words = (
        found.texts[0]
        if found is not None
        else message[1].replace('\\"', '"')
        if message is not None
        else _LEADING.sub("", WITHOUT_TIME.sub("", text, count=1), count=1)
    )
    words = " ".join(_BRACKET.sub("", words).split())
    cut = len(words) > _QUOTED or len(text) >= SHOWN
    return f'"{words[:_QUOTED]}{"..." if cut else ""}"'
