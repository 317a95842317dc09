"""What lines tell in which no rebalance is told of: steps by kind, in words."""

from __future__ import annotations

import re
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

from rebalance_kit.forensics.event import Event
from rebalance_kit.forensics.findings.input_quality import ZONE_MS
from rebalance_kit.forensics.findings.rules.by_rule import RULES_BY_EVENT
from rebalance_kit.forensics.findings.unplaced import (
    ENDED,
    HANDED_ID,
    JOIN_STATES,
    join_state,
    step_of,
    step_of_broker,
)
from rebalance_kit.forensics.history.rebalance import GAVE, GOT
from rebalance_kit.forensics.history.speakers import process_of, told_apart
from rebalance_kit.forensics.lines.anchors import CLIENT_OF_RDKAFKA, anchored, message_behind
from rebalance_kit.forensics.lines.layouts import NAMED
from rebalance_kit.forensics.lines.line_reader import SHOWN
from rebalance_kit.forensics.words import EXCEPTION, FIRST_ANSWER, LEAVES_BY_ITSELF, WHOSE, counted, short

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from rebalance_kit.forensics.tables import Row

#: Kinds of line that leave a group as it is.
_QUIET = frozenset(
    (
        "rd_heartbeat rd_epoch_heartbeat rd_epoch_answer subscribed coordinator_found other_coordinator other_no_coordinator "
        "process_started rd_no_broker coordinator_resigned metadata_loaded loaded member_loaded other_commit_failed commit_failed auto_commit_failed"
    ).split()
)

#: Kinds of line that tell that a member comes, goes, or has other partitions: one wants to know why.
_MOVES = (
    GAVE
    | GOT
    | {
        *("preparing", "bumped", "joining", "rd_joining", "member_added", "joins", "member_id_given"),
        *(
            "joined",
            "synced",
            "other_joined",
            "rd_join_answer",
            "worker_joined",
            "rejoin_requested",
            "join_retried",
        ),
        *("leaving", "rd_leave", "other_leaving", "container_revoked", "container_assigned", "rd_callback"),
        *("other_rebalancing", "other_session_ended"),
    }
)


#: What ends a line about partitions that are none, before its logger.
_NONE = re.compile(r"(?:\[\]|\{\}|\bset\(\)|\bSet\(\))\)?(?: \([\w.$:]+\))?\s*$")


def tells_of_rebalance(row: Row) -> bool:
    """Whether a line may tell of a rebalance, be it of its beginning, its middle or its end."""
    return row["event"] not in _QUIET or _WAITING.search(row["text"]) is not None


def moves(row: Row) -> bool:
    """Whether a line tells that a member comes, goes, or has other partitions."""
    if row["event"] == "streams_state":
        return _REBALANCING.search(row["text"]) is not None
    return row["event"] in _MOVES and _NONE.search(row["text"]) is None


#: librdkafka's states of a member that is in the middle of a rebalance, or leaves that state.
_WAITING = re.compile(r"join.state \W*wait-|wait-\w+(?:-\w+)* -> ")

#: An error of librdkafka, in its words.
_ERRED = re.compile(r"\bBroker: [A-Z]")

#: So many clients are told of in a headline.
_CLIENTS = 5

_REBALANCING = re.compile(r"to (?:REBALANCING|PARTITIONS_REVOKED)\b")


def last_states(events: Iterable[Row]) -> tuple[str, int]:
    """What each client of librdkafka did at last, by its join state or as it ended (empty where no line tells one), and the last such line."""
    last: dict[str, str] = {}
    line = 0
    for row in events:
        who = row["client"] or "a client"
        if row["event"] == "rd_ended":
            last[who], line = ENDED, row["line"]
        elif (
            row["side"] == "librdkafka"
            and row["event"] != "rd_close_waits"
            and (state := join_state(row["text"]))
        ):
            last[who], line = f"{JOIN_STATES[state]} (join-state {state})", row["line"]
    told = [f"{who} {words}" for who, words in [*last.items()][:_CLIENTS]]
    return "; ".join(told), line


#: So many lines are told one by one; one of them is no longer than this in a headline.
SHORT, _CUT = 60, 160

_DAY_MS = 86_400_000

#: A quoted line, and so many names of partitions, are no longer than this.
_QUOTED, _NAMED = 500, 12

#: Another time, alone or of logfmt, and a level behind it.
_LEADING = re.compile(
    r'^\W?(?:time=)?"?\d[\d:.,TZ+/-]{7,34}"?\]?(?:[+-]\d{4})?\s+(?:level=\w+\s+)?', re.ASCII
)

#: What is left of a head that a paste had cut.
_REST_OF_HEAD = re.compile(r"^\]\s*(?:[A-Z]{4,5}\s+)?(?=\S)")

#: The message of a line of JSON.
_MESSAGE = re.compile(r'"(?:@?message|msg|log|textPayload)": ?"((?:[^"\\]|\\.){1,1000})')

#: Its error stands beside the message.
_WHY_BESIDE = re.compile(r'"(?:err|error|exception|cause|reason|stack)\w*": ?["{]', re.IGNORECASE)

#: Settings, offsets, and what a framework prints of its client once more are no steps.
_NO_STEPS = frozenset({"config", "process_started", "offset_set", "container_assigned", "container_revoked"})


#: The time at a line's beginning, its level, and the group behind them.
WITHOUT_TIME = re.compile(
    r"^\[?\d{2,4}[-/.]\d\d[-/.]\d{2,4}[T ][\d:,.]+Z?\]?\s*(?:[A-Z]{4,5} +)?(?:\[Group[^\]]*\]:? ?)?", re.ASCII
)


def summary(events: Sequence[Row], lines: Mapping[str, int]) -> str:
    """The most telling step of some lines (one with a reason, one that moves something), and the last of them.

    ``lines``: how many each file has, so that only the last of all is told as the end.
    """
    told = timeline(events) or timeline(map(_quoted_too, events))
    if not told:
        return ""
    rows = {(row["file"], row["line"]): row for row in events}

    several = len({row["group"] for row in events if row["group"] is not None}) > 1

    def short_of(one: Step) -> Step:
        row = rows[one.file, one.line]
        of_group = several and row["group"] is not None and row["side"] != "broker"
        told_short = _short(one, row)
        return (
            told_short._replace(who=f"{told_short.who or 'a member'} of {row['group']}")
            if of_group
            else told_short
        )

    def rank(one: Step) -> int:
        row = rows[one.file, one.line]
        why = (row["reason"] or row["cause"]) and row["event"] not in _QUIET
        why = why or _ERRED.search(row["text"])
        quiet = row["event"] in _QUIET or row["event"] == "rd_step"
        return 0 if why else 1 if moves(row) else 3 if quiet else 2

    telling = [one for one in told if rank(one) < 3] or told
    chosen = min(telling, key=rank), telling[-1]
    first, last = map(short_of, chosen)
    states, line = last_states(events)
    if len(told) == 1 and not states:
        return _said(last) + (f" ({last.lines} lines)" if last.lines > 1 else "")
    by_state = bool(states) and line >= last.line
    end = states if by_state else _said(last)
    before = "" if (first == last and not by_state) or first.what in end else _said(first)
    if not before and states and not by_state:
        before = states
    is_last = telling[-1] is told[-1]
    final = is_last and _is_last(events, told[-1], lines) and (by_state or not last.quoted)
    # A state is over, and a step is not the last one, where a line of the group follows.
    behind = (
        ""
        if is_last or len(told) > SHORT
        else f"; the last line read as a group's: {_said(short_of(told[-1]))}"
    )
    when = "at the end " if final else "then " if before else ""
    if told[-1].at_ms is None and before:
        when = f"line {(told[-1] if by_state or is_last else last).line}: "
    return f"{before}{'; ' if before else ''}{when}{end}{behind}"


def _is_last(events: Iterable[Row], one: Step, lines: Mapping[str, int]) -> bool:
    """Whether no line of its file follows a step."""
    last: int = max(row["line"] for row in events if row["file"] == one.file)
    return last >= lines.get(one.file, 0)


#: Steps that tell how it went on.
_GOES_ON = GOT | {
    "joining",
    "rd_joining",
    "joined",
    "synced",
    "other_joined",
    "rd_join_answer",
    "lost",
    "other_lost",
    "other_rebalancing",
}


def ending(events: Sequence[Row], after: Row, lines: Mapping[str, int]) -> str:
    """How it went on by the last of some lines, in words, where it came after ``after``; else empty. ``lines`` as of ``summary``."""
    told = timeline(events)
    if not told or told[-1].file != after["file"] or told[-1].line <= after["line"]:
        return ""
    row = next(row for row in events if (row["file"], row["line"]) == (told[-1].file, told[-1].line))
    last = _short(told[-1], row)
    again = told[-1].at_ms is not None and told[-1].at_ms == after["at_ms"]
    if last.quoted or row["event"] not in _GOES_ON or again:
        return ""
    when = "At the end" if _is_last(events, told[-1], lines) else "Then"
    when = when if told[-1].at_ms is not None else f"Line {told[-1].line}:"
    return f"{when} {_said(last if told[-1].who else last._replace(who='it'))}"


def _short(one: Step, row: Row) -> Step:
    """A step in words where the list quotes its line, for a headline."""
    event = Event(_given(row))
    words = step_of_broker(event) if event.side == "broker" else step_of(event) if one.quoted else None
    if words:
        one = one._replace(who="" if event.side == "broker" else one.who or "a member", what=short(words))
    return one if one.who or one.quoted or event.side == "broker" else one._replace(who="a member")


#: Partitions by their names.
_PARTITIONS = re.compile(r"[^ ,]+-\d+|\.\.\.|[, ]")


def _said(one: Step) -> str:
    """Whose step, and what, in no more than a line or two."""
    what = one.what
    if len(what) > _CUT:
        head, _, names = what.rpartition(": ")
        by_name = not one.quoted and not _PARTITIONS.sub("", names)
        what = head if by_name else what[:_CUT] + ('..."' if one.quoted else "...")
    return f"{one.who} {what}".strip()


class Step(NamedTuple):
    """One step as a line tells it: when, whose, what, on how many lines in a row, and how many more belong to it.

    ``read``: the line was read as a group's; another is quoted.  ``moves``: as of ``moves``, or it tells why, or a rule is
    about such lines.  ``until_ms``: when the last of its lines was written.  ``since``: the time since
    some start that its line begins with.  ``brief``: a coordinator's line in words, where there is no room to quote it.
    """

    at_ms: int | None
    file: str
    line: int
    who: str
    what: str
    lines: int = 1
    more: int = 0
    read: bool = True
    moves: bool = False
    until_ms: int | None = None
    since: str = ""
    brief: str = ""

    @property
    def quoted(self) -> bool:
        """Whether the words are the line's own."""
        return self.what.startswith('"')


#: The name that lines of no group have among events.
UNREAD = "unread"

#: A class of an exception, which is no logger's name.
THROWN = re.compile(EXCEPTION)

#: A coordinator's own lines.
_OF_COORDINATOR = re.compile(r"\[Group(?:Coordinator|MetadataManager) |kafka\.coordinator\.group\.")

#: What people put before pasted lines, and docker compose; whose a Java line is.
_MARK = re.compile(r"^[#*>|] +")
_MARGIN = re.compile(rf"[#*>|\s]*{NAMED}?")
_CLIENT = re.compile(r"\[(?:Consumer|Producer|Worker|AdminClient)\b[^\]]{0,99}?clientId=([^,\]]+)")


#: A time since a start of its own.
_SINCE = re.compile(r"\W{0,3}?(T?\+\d{1,9}\.\d{1,9}s?)\b")

#: The first line of a stack: where it was thrown.
FRAME = re.compile(r"\bat [\w$./@]+\([^)]*\)")

#: Lines of a stack, of a block of settings and the like belong to the line before them.
_BELONGS = re.compile(
    r"(?:[#*>|] *|[\w.-]{1,60} +\| )?\s*(?:at [\w$./@]+\(|\.\.\. \d+ more)|\s+(?:at |\.\.\. \d|File \"|in /|from /|[\w.]+ = )|\s*#\d+ |goroutine \d|\s*(?:\[stacktrace\]|Traceback \()|\W*\Z"
)


def timeline(events: Iterable[Row], others: Iterable[Row] | None = None) -> list[Step]:
    """Every line as a step in words, or quoted where it is none; in order of time, lines of one step once.

    ``others``: lines that were not read as a group's; where they are given, all lines are told.
    """
    told: list[Step] = []
    whole, others = others is not None, [*(others or ())]
    several = len({process for row in others if (process := process_of(row["text"]))}) > 1
    rows = _in_order([*(_quoted_too(row) if whole else row for row in events), *others])
    known = [row for row in rows if row["event"] != UNREAD]
    apart = told_apart([Event(_given(row)) for row in known])
    steps = (
        _step(event)._replace(moves=moves(row) or _tells(event))
        for event, row in zip(apart, known, strict=True)
    )
    for row in rows:
        before = told[-1] if told else None
        deeper = before is not None and before.more and row["text"].startswith(("    ", "\t"))
        handed = (
            before is not None and before.what == '"Rebalance failed."' and FIRST_ANSWER.search(row["text"])
        )
        if before is not None and handed:
            told[-1] = before._replace(what=HANDED_ID, lines=before.lines + 1)
            continue
        if row["event"] == UNREAD and before is not None and (deeper or _BELONGS.match(row["text"])):
            first = not before.more and before.quoted and not FRAME.search(before.what)
            frame = FRAME.search(row["text"]) if first else None
            what = f"{before.what} {' '.join(frame[0].split())}" if frame else before.what
            told[-1] = before._replace(what=what, more=before.more + any(map(str.isalnum, row["text"])))
            continue
        one = _unread(row) if row["event"] == UNREAD else _named(next(steps), row)
        if one.at_ms is None and (counted_from := _SINCE.match(row["text"])):
            one = one._replace(since=counted_from[1])
        if several and (process := process_of(row["text"])) and process not in one.who:
            one = one._replace(who=f"{one.who} ({process})" if one.who else process)
        same = before is not None and (before.who, before.what, before.more) == (one.who, one.what, 0)
        if before is not None and same and (before.at_ms or 0) // _DAY_MS == (one.at_ms or 0) // _DAY_MS:
            told[-1] = before._replace(lines=before.lines + 1, until_ms=one.at_ms)
        elif one.what != '""':
            told.append(one)
    return told


def _named(one: Step, row: Row) -> Step:
    """A step with its client where its own line names it, or with the coordinator that wrote it."""
    if row["side"] == "broker" or one.who == "" or row["client"] is None:
        return one
    if _OF_COORDINATOR.search(row["text"]):
        return one._replace(who="coordinator")
    return one if row["client"] in row["text"] else one._replace(who="")


def _tells(event: Event) -> bool:
    """Whether a line gives a reason, or a rule finds something in it."""
    rules = RULES_BY_EVENT.get(event.event, ())
    return bool(event.reason or event.cause) or any(rule.when(event) for rule in rules)


def _quoted_too(row: Row) -> Row:
    """Where every line is told, what is no step is quoted."""
    return {**row, "event": UNREAD} if row["event"] in _NO_STEPS else row


def _given(row: Row) -> Row:
    return {name: value for name, value in row.items() if value is not None}


def _in_order(events: Iterable[Row]) -> list[Row]:
    """The rows by time; a line without one stays behind the line before it in its file, and so does one of another clock."""
    last: dict[str, int] = {}
    placed = []
    rows = sorted(events, key=itemgetter("file", "line", "row"))
    clocks = of_several_clocks(rows)
    for row in rows:
        if row["event"] not in _NO_STEPS:
            before = last.get(row["file"], 0)
            at_ms = before if row["at_ms"] is None else row["at_ms"]
            # Some times are told to the second.
            to_the_second = at_ms % _TO_THE_SECOND_MS == 0 and before - _TO_THE_SECOND_MS < at_ms < before
            kept = row["file"] in clocks or to_the_second
            at_ms = last[row["file"]] = max(before, at_ms) if kept else at_ms
            placed.append((at_ms, row["file"], row["row"], row))
    return [row for *_, row in sorted(placed, key=itemgetter(0, 1))]


def bare(text: str) -> str:
    """A line without what stands before it as it was pasted, or collected from a container."""
    return text[_MARGIN.match(text).end() :]  # type: ignore[union-attr]


def without_head(text: str) -> str:
    """A line without what its logger wrote before the message; an exception's class is no logger's name."""
    if text[:1] == "{" and not _WHY_BESIDE.search(text) and (message := _MESSAGE.search(text)):
        return message[1].replace('\\"', '"')
    behind = message_behind(text)
    thrown = THROWN.search(text, 0, behind)
    return text[thrown.start() if thrown else behind :]


#: Two jumps between two clocks are equal but for this.
_SAME_JUMP_MS, _TO_THE_SECOND_MS = 2_000, 1_000


def of_several_clocks(rows: Iterable[Row]) -> set[str]:
    """The files in which time goes back and forward by the same, as where processes of two time zones write, or that hold times without a day beside others."""
    rows = [*rows]
    last: dict[str, int] = {}
    dated, undated = (
        {
            row["file"]
            for row in rows
            if row["at_ms"] is not None and (row["at_ms"] >= 2 * _DAY_MS) is is_dated
        }
        for is_dated in (True, False)
    )
    jumps: dict[str, list[int]] = {}
    for row in rows:
        if row["at_ms"] is not None:
            jump = row["at_ms"] - last.get(row["file"], row["at_ms"])
            last[row["file"]] = row["at_ms"]
            if abs(jump) >= ZONE_MS:
                jumps.setdefault(row["file"], []).append(jump)
    return (dated & undated) | {
        file
        for file, found in jumps.items()
        if any(abs(one + other) <= _SAME_JUMP_MS for one, other in pairwise(found))
    }


def _unread(row: Row) -> Step:
    text = without_head(_MARK.sub("", row["text"], count=1))
    client = _CLIENT.search(row["text"])
    of_rdkafka = CLIENT_OF_RDKAFKA.search(row["text"]) if client is None else None
    who = client[1] if client else of_rdkafka[0] if of_rdkafka else ""
    return Step(row["at_ms"], row["file"], row["line"], short(who), _quoted(text or row["text"]), read=False)


#: What librdkafka waits for before it closes: an answer of its application, or so many of something.
_AWAITED_CALL = re.compile(r"rebalance_cb|\bcall\b")
_AWAITED = re.compile(r"\b([1-9]\d{0,5}) (toppar|commit)\(s\)")


def _awaited(detail: str) -> str:
    if _AWAITED_CALL.search(detail):
        return ", for its application to answer the rebalance callback"
    found = [
        counted(int(number), "partition" if of == "toppar" else of) for number, of in _AWAITED.findall(detail)
    ]
    return f" ({', '.join(found)})" if found else ""


#: What a coordinator writes, of a group or of the partitions in which groups are stored.
_COORDINATOR = re.compile(r"Group ?(?:Coordinator|Metadata ?Manager|Id\b)|\[Group |CoordinatorRuntime")


def _of_broker(event: Event) -> str:
    """Whether a broker's line is its coordinator's."""
    return "coordinator" if event.group or _COORDINATOR.search(event.text) else "broker"


def _step(event: Event) -> Step:
    what = None if event.side in {"broker", "other"} or event.confidence else step_of(event)
    if event.event == "rd_close_waits":
        what = f"waits, before it closes{_awaited(event.detail or '')}"
    elif what is None and event.event == "other_joined" and event.member:
        round_ = f" generation {event.generation}" if event.generation else ""
        what = f"joins{round_} as {event.member}" + (f", is given {event.detail}" if event.detail else "")
    elif what is None:
        what = _quoted(event.text)
    else:
        if event.partitions:
            more = ", ..." if len(event.partitions) > _NAMED else ""
            what += f": {', '.join(event.partitions[:_NAMED])}{more}"
        if event.event in {"joined", "other_joined"} and event.member:
            what += f" as {event.member}"
    who = event.client or (_of_broker(event) if event.side == "broker" else event.instance or "")
    if LEAVES_BY_ITSELF in (event.reason or ""):
        what = _quoted(event.text)
    quote = what.startswith('"')
    brief = short(step_of_broker(event)) if event.side == "broker" else ""
    return Step(event.at_ms, event.file, event.line, short(who), what if quote else short(what), brief=brief)


def _quoted(text: str) -> str:
    text = _MARK.sub("", text, count=1)
    found = next(anchored(text), None)
    message = _MESSAGE.search(text) if found is None and "{" in text else None
    beside = _beside(text) if message is not None else ""
    words = (
        found.texts[0]
        if found is not None
        else message[1].replace('\\"', '"')
        if message is not None
        else _LEADING.sub("", text[message_behind(text) :] or text, count=1)
    )
    words = " ".join(WHOSE.sub("", _REST_OF_HEAD.sub("", words, count=1)).split())
    cut = len(words) > _QUOTED or len(text) >= SHOWN
    return f'"{words[:_QUOTED]}{"..." if cut else ""}"{beside}'


#: What a record says beside its message of how and why.
_HOW = re.compile(r'"(how|why|err|error|reason|cause)": ?"((?:[^"\\]|\\.){1,200})"')


def _beside(record: str) -> str:
    told = ", ".join(f'{key}: "{words}"' for key, words in _HOW.findall(record))
    return f" ({told})" if told else ""
