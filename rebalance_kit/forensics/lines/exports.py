"""Logs as log stores export them.

Logs as tools hand them out: exports, copies of a terminal that wrapped its lines.

Answers of a log store as curl delivers them: one line of JSON in which many lines of logs stand.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from rebalance_kit.forensics.grammar.template import LONG
from rebalance_kit.forensics.lines.anchors import ABOUT, ANCHOR, is_record, message_behind
from rebalance_kit.forensics.lines.last_resort import LOW
from rebalance_kit.forensics.lines.layouts import LAYOUTS
from rebalance_kit.forensics.lines.line_reader import LineReader
from rebalance_kit.forensics.lines.refusals import refusal_in
from rebalance_kit.forensics.lines.times_in_text import time_in

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


#: Files that may be exports of logs (Kibana, kubectl, CloudWatch): they are read when a line of Kafka is in them.
EXPORTS = frozenset({".json", ".jsonl", ".csv"})

_CHUNK = 1 << 20

#: Only small files are copies of a terminal.
TERMINAL_BYTES = 1 << 20
_WRAPPED_SHARE = 0.2

#: Lines that begin alike are lines of their own.
_ALIKE = 6
_BEGINS = re.compile(r"\W{0,3}(?:\d{4}-\d\d-\d\d|%\d\||\{\"|\d\d:\d\d:\d\d|[A-Z]{4,5} )")


def holds_a_log(path: Path) -> bool:
    """Whether a line of Kafka is near the beginning of a file."""
    try:
        with path.open("rb") as stream:
            head = stream.read(_CHUNK).decode("utf-8", "replace")
    except OSError:
        return False
    return ANCHOR.search(head) is not None


def unwrapped(data: bytes) -> bytes | None:
    """The lines of a terminal's copy, put together again; None for a file that is none."""
    if len(data) > TERMINAL_BYTES or b"\n" not in data:
        return None
    lines = data.decode("utf-8", "replace").split("\n")
    bordered = sum(line.startswith(("│", "|")) and line.rstrip().endswith(("│", "|")) for line in lines)
    if bordered >= 0.8 * len([line for line in lines if line.strip()]) > 0:
        lines = [line.strip().strip("│|").removeprefix(" ").removesuffix(" ") for line in lines]
        width = max(map(len, lines))
    else:
        lengths = Counter(len(line) for line in lines if len(line) > 60)
        width = max(lengths, default=0)
        wrapped = sum(_goes_on(one, after, width) for one, after in pairwise(lines))
        # Lines of one text are as long as each other by themselves.
        ends = {line.rstrip()[-_ALIKE:] for line in lines if len(line) == width}
        if lengths[width] < 3 or wrapped < _WRAPPED_SHARE * len(lines) or len(ends) == 1:
            return None
    joined: list[str] = []
    last, at = "", 0
    for line in lines:
        if joined and _goes_on(last, line, width):
            # The blank at which a line was cut may have got lost.
            joined[at] += last[len(last.rstrip()) :].ljust(width - len(last.rstrip())) + line.rstrip()
            joined.append("")
        else:
            at = len(joined)
            joined.append(line.rstrip())
        last = line
    return "\n".join(joined).encode()


def _goes_on(line: str, after: str, width: int) -> bool:
    """Whether the line is as wide as the terminal and the next one does not begin as lines of logs do."""
    wide = len(line.rstrip()) >= width - 1 and after.strip() != ""
    return wide and _BEGINS.match(after) is None and line[:_ALIKE] != after[:_ALIKE]


#: A broken line is tried with so many lines below it, and a record of JSON is so long at most.
_BELOW, _LINES_OF_A_RECORD = 8, 60


def rejoined(data: bytes) -> tuple[bytes, bool] | None:
    """Records that stand on several lines, put together, and whether there were any; None for a file that stays as it is.

    JSON printed over many lines; a message broken by hand, where only the whole is a line of the grammar; a message below
    its time and logger.  The place of a line that was added to the one above stays, empty, so that line numbers stay.
    An exception without a record above it is set in, as what stands alone is.
    """
    if len(data) > TERMINAL_BYTES:
        return None
    lines = data.decode("utf-8", "replace").split("\n")
    before = lines.copy()
    reader = LineReader(LAYOUTS)
    joined, place = False, 0
    while place < len(lines):
        if _EXCEPTION.match(lines[place]) and _stands_alone(before, place):
            lines[place] = f" {lines[place]}"
        if place == len(lines) - 1:
            break
        # Nearly always a line of its own follows, and then there is nothing to put together.
        size = (
            _size_of_object(lines, place) or _size_of_report(lines, place) or _size_with_cause(lines, place)
        )
        size = size or (0 if _ends_above(lines[place + 1]) else _size_of_broken(reader, lines, place))
        after = lines[place + 1]
        if (
            not size
            and _DEEPER.match(after)
            and not _TRACE.match(after.strip())
            and _may_be_broken(lines[place])
        ):
            size = 2
        if size > 1:
            whole = " ".join(
                [lines[place].rstrip(), *(line.strip() for line in lines[place + 1 : place + size])]
            )
            lines[place : place + size] = [whole, *[""] * (size - 1)]
            joined = True
        place += max(size, 1)
    return ("\n".join(lines).encode(), joined) if lines != before else None


def _stands_alone(lines: list[str], place: int) -> bool:
    """Whether an exception tells of a group and no record above it does: what is pasted is often a stack alone."""
    above = next((line for line in reversed(lines[max(0, place - 3) : place]) if line.strip()), "")
    tells = refusal_in(lines[place]) is not None or "CommitFailedException: " in lines[place]
    return tells and not _TRACE.match(above.strip()) and message_behind(above) == 0 and not is_record(above)


def _size_of_object(lines: list[str], place: int) -> int:
    """How many lines an object has that begins at the end of this one, with a message or a group in it; 0 for none."""
    if lines[place].rstrip()[-1:] != "{" or not 0 < len(lines[place + 1].strip()) < LONG:
        return 0
    # What a person quoted may end a little further to the right, but not as far as its members.
    margin = max(_margin(lines[place]), _margin(lines[place + 1]) - 1)
    for end in range(place + 1, min(place + _LINES_OF_A_RECORD, len(lines))):
        line = lines[end]
        if line.strip()[:1] == "}" and _margin(line) <= margin:
            inside = [part.strip() for part in lines[place + 1 : end]]
            told = sum(_MEMBER.match(part) is not None for part in inside)
            return end - place + 1 if told >= 2 and _OF_A_RECORD.search(" ".join(inside)) else 0
        if not line.strip():
            return 0
    return 0


def _size_of_report(lines: list[str], place: int) -> int:
    """How many lines a report of brod has that begins with this one: who speaks, then what, with Erlang terms over many lines."""
    if not _REPORTS.search(lines[place].rstrip()):
        return 0
    for end in range(place + 1, min(place + _LINES_OF_A_RECORD, len(lines))):
        if not lines[end].strip() or _BEGINS.match(lines[end]) or _REPORTS.search(lines[end].rstrip()):
            return end - place
    return min(_LINES_OF_A_RECORD, len(lines) - place)


#: How the processes of brod begin, behind the time that the logger or a line above writes.
_REPORTS = re.compile(r"\b(?:Group member|group (?:coordinator|subscriber)) \(.*\):\Z")


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


#: A member of an object, of JSON or as JavaScript prints it; what makes the object a record of a log.
_MEMBER = re.compile(r"""["']?[\w@.$-]{1,60}["']?\s?: """)
_OF_A_RECORD = re.compile(
    r"""["']?\b(?:message|msg|log|textPayload|groupId|group_?id|memberId|member_id|clientId|error)["']?\s?: """
)


def _size_with_cause(lines: list[str], place: int) -> int:
    """How many lines a record has with the exception below it that tells why; 0 where there is none or it tells of no group."""
    line = lines[place].rstrip()
    below = place + 1 if lines[place + 1].strip() else place + 2
    cause = lines[below].strip() if below < len(lines) else ""
    tells = _EXCEPTION.match(cause) is not None and bool(refusal_in(cause) or "CommitFailed" in cause)
    loud = _FAILS.search(line) is not None or (_LOUD.search(line) is not None and not ANCHOR.search(line))
    headed = message_behind(line) > 0 or (_FAILS.search(line) is not None and line[:1].isupper())
    fails = tells and loud and headed and refusal_in(line) is None
    return below - place + 1 if fails else 0


#: How a record ends whose exception follows, and how an exception is printed.
_LOUD = re.compile(r"\b(?:ERROR|SEVERE|FATAL|WARN|WARNING)\b")
_FAILS = re.compile(
    r"(?:fail(?:ed|ure)|exception|error|errored|null|threw|thrown|cause)\b[^\w]{0,4}\Z", re.IGNORECASE
)
_EXCEPTION = re.compile(
    r"(?:Caused by: |Exception in thread \"[^\"]{1,99}\" )?(?:[a-z]\w*\.){1,9}[A-Z]\w*(?:Exception|Error)\b"
)


def _size_of_broken(reader: LineReader, lines: list[str], place: int) -> int:
    """How many lines a message is broken into that begins with this one; 0 where it is whole or remains unknown."""
    line = lines[place]
    if not _may_be_broken(line) or _whole(reader, line):
        return 0
    joined, size = line.rstrip(), 0
    for below in range(place + 1, min(place + 1 + _BELOW, len(lines))):
        after = lines[below].strip()
        if _ends_above(lines[below]) or (ANCHOR.search(after) and message_behind(joined) < len(joined)):
            break
        joined = f"{joined} {after}"
        if size:
            # What goes on in small letters belongs to it.
            if not after[:1].islower():
                break
            size = below - place + 1
        # A bracket that is still open goes on below.
        elif _balanced(joined) and _whole(reader, joined):
            size = below - place + 1
    return size


def _balanced(text: str) -> bool:
    return all(text.count(opened) <= text.count(closed) for opened, closed in ("()", "[]", "{}"))


#: So far to the right goes on what stands above, in small letters.
_DEEPER = re.compile(r" {12,}[a-z]")
#: Lines of a stack trace end no line above them.
_TRACE = re.compile(r"at [\w.$]+\(|Caused by:|(?:java|org|com|io)\.|\.\.\. \d+ more|File \"|Traceback")
#: What ends a paste or begins another part of a document.
_OF_DOCUMENTS = re.compile(r"```|~~~|'''|[#>] |#{2,}|//|</?\w+>|\* |- |\d{1,2}[.)] ")


def _ends_above(line: str) -> bool:
    """Whether a line cannot be the rest of the one above: blank, begun as lines of logs do, of a stack trace or a document."""
    after = line.strip()
    if not after or _BEGINS.match(line) is not None or _TRACE.match(after) or _OF_DOCUMENTS.match(after):
        return True
    return ANCHOR.match(after) is None and message_behind(line) > 0


def _may_be_broken(line: str) -> bool:
    """Whether a line may be the beginning of one about a group."""
    if ANCHOR.search(line) is not None or _BREAKABLE.search(line) is not None:
        return True
    behind = message_behind(line)
    return behind > 0 and (behind >= len(line.rstrip()) or ABOUT.search(line, behind) is not None)


_BREAKABLE = re.compile(r"session timed out|maximum poll interval|LeaveGroup request|poll timeout")


def _whole(reader: LineReader, line: str) -> bool:
    """Whether a line is one of the grammar's, not read by single words."""
    found = reader.read(line)
    return isinstance(found, list) and not any(said[2][0].given == LOW for said in found)


#: So many times at the beginning show whether an export is sorted newest first, and so many steps back prove it.
_SAMPLED, _STEPS_BACK = 60, 3
_MOSTLY = 0.9


def turned(data: bytes) -> bytes | None:
    """The records of an export that is sorted newest first, the oldest first; None for any other file.

    A record is a line with a time and the lines without one below it; what stands above the first stays there.  Without
    any time a member's own steps show it: assigned before it joined, joined before it asked.
    """
    sample = data[: 64 << 10].decode("utf-8", "replace").split("\n")[:-1] or [data.decode("utf-8", "replace")]
    if len(data) > MOST_BYTES:
        return None
    timeless = _steps_go_back(sample)
    if not timeless and not _goes_back(sample):
        return None
    records: list[list[str]] = [[]]
    whole = data.decode("utf-8", "replace").split("\n")
    last = whole.pop() if whole[-1] == "" else None
    for line in whole:
        if timeless or _moment(line) is not None:
            records.append([])
        records[-1].append(line)
    head, *rest = records
    lines = [*head, *(line for record in reversed(rest) for line in record)]
    return "\n".join([*lines, last] if last is not None else lines).encode()


#: The steps of a rebalance in a Java member's words, in their order.
_STEPS = re.compile(
    r"\] (?:(Discovered (?:group )?coordinator)|(Revok\w+ previously assigned)|(\(Re-\)joining group)|(Successfully joined group)|((?:Setting|Adding) newly assigned))"
)


def _steps_go_back(lines: list[str]) -> bool:
    """Whether the steps of a member stand in the reverse of their order, in lines of which none has a time or belongs to another."""
    steps = [(line, found.lastindex or 0) for line in lines if (found := _STEPS.search(line))]
    falls = sum(after < before for (_, before), (_, after) in pairwise(steps))
    rises = sum(after > before for (_, before), (_, after) in pairwise(steps))
    return falls >= _STEPS_BACK and not rises and not any(time_in(line)[0] for line, _ in steps)


def _goes_back(lines: list[str]) -> bool:
    """Whether the times of these lines fall, but for a few that stay."""
    moments = [moment for line in lines if (moment := _moment(line)) is not None][:_SAMPLED]
    if len(moments) < max(_STEPS_BACK, len([line for line in lines if line.strip()][:_SAMPLED]) // 2):
        return False
    back = sum(after < before for before, after in pairwise(moments))
    on = sum(after > before for before, after in pairwise(moments))
    return back >= _STEPS_BACK and back >= _MOSTLY * (back + on)


def _moment(line: str) -> str | None:
    """The time of a line where its text sorts as time does: a date in figures, or a count."""
    at, form = time_in(line)
    return at if form is None and at and not at.startswith("1970-01-01T") else None


#: java.util.logging writes two lines: time, class and method; then level and message.
_JUL_HEAD = rb"[A-Z][a-z]{2} \d{1,2}, \d{4},? \d{1,2}:\d\d:\d\d(?: |\xe2\x80\xaf)[AP]M [\w.$]+(?: \S+)?\r?"
_JUL_BODY = rb"[A-Z]{4,10}: "
_is_jul_head, _is_jul_body = re.compile(_JUL_HEAD).fullmatch, re.compile(_JUL_BODY).match
_holds_jul = re.compile(rb"(?m)^%b\n%b" % (_JUL_HEAD, _JUL_BODY)).search


class TimesAbove:
    """Gives each line of java.util.logging the time of the line above it, which is left empty: line numbers stay.

    A file whose beginning holds no such pair of lines passes through as it is.
    """

    def __init__(self) -> None:
        #: Whether the file is written so; known after its first piece.
        self.applies: bool | None = None
        self._above, self._rest = b"", b""

    def take(self, piece: bytes) -> bytes:
        """The piece with its times moved, up to its last whole line."""
        if self.applies is None:
            self.applies = _holds_jul(piece) is not None
        if not self.applies:
            return piece
        *lines, self._rest = (self._rest + piece).split(b"\n")
        return b"".join(self._timed(line) + b"\n" for line in lines)

    def rest(self) -> bytes:
        """What is left after the last piece."""
        return self._timed(self._rest) if self._rest else b""

    def _timed(self, line: bytes) -> bytes:
        above, self._above = self._above, b""
        if _is_jul_head(line):
            self._above = line
            return b""
        if not above or not _is_jul_body(line):
            return line
        at, _ = time_in(above.decode("utf-8", "replace"))
        return f"{at} ".encode() + line


#: Larger answers are not taken apart.
MOST_BYTES = 64 << 20

#: Where messages and their times stand: Elasticsearch, Datadog, CloudWatch.
_MESSAGES = ("message", "msg", "log", "line", "content")
_TIMES = ("@timestamp", "timestamp", "time", "ts", "eventTime")

_NANOSECONDS = 19


def spread(data: bytes) -> bytes | None:
    """The lines in an answer that is one line of JSON, each with its time; None for any other text.

    Knows Elasticsearch's hits, Loki's streams, CloudWatch's events, Datadog's data, and any list of records with a message.
    """
    if len(data) > MOST_BYTES or data[:1] not in {b"{", b"["} or b"\n" in data.rstrip(b"\r\n"):
        return None
    try:
        told = json.loads(data)
    except (ValueError, RecursionError):
        return None
    lines = list(_lines(told))
    return "\n".join(lines).encode("utf-8", "replace") if len(lines) > 1 else None


def _lines(value: Any) -> Iterator[str]:
    """The lines below a value, in their order."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            line = _record(one)
            if line is not None:
                yield line
            else:
                waiting += reversed([part for part in one.values() if isinstance(part, dict | list)])
        elif isinstance(one, list):
            if (
                len(one) == 2
                and all(isinstance(part, str) for part in one)
                and len(one[0]) == _NANOSECONDS
                and one[0].isdecimal()
            ):
                yield _timed(one[1], one[0][:13])
            else:
                waiting += reversed([part for part in one if isinstance(part, dict | list)])


def _record(record: dict[str, Any]) -> str | None:
    """A record as a line of its own; None for one without a message."""
    message = next((record[name] for name in _MESSAGES if isinstance(record.get(name), str)), None)
    if message is None:
        return None
    at = next((record[name] for name in _TIMES if isinstance(record.get(name), str | int)), None)
    return _timed(message, None if at is None else str(at))


def _timed(message: str, at: str | None) -> str:
    """A message with the time of its record before it, unless it begins with one of its own."""
    bare = " ".join(message.splitlines())
    return (
        bare
        if at is None or bare[:3] in {"[20", "%3|", "%4|", "%5|", "%6|", "%7|"} or bare[:2] == "20"
        else f"{at} {bare}"
    )
