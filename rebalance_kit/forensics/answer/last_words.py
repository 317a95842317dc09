"""Last words: what any logger wrote in a member's own file in the seconds before it left, expired or was too slow.

Lines of no group are not kept while logs are read; the few files that matter are looked through once more.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from rebalance_kit.forensics.answer.steps import FRAME, UNREAD, bare, without_head
from rebalance_kit.forensics.grammar.template import LONG
from rebalance_kit.forensics.lines.anchors import ANCHOR, NOISE, UNCLEAR, message_behind
from rebalance_kit.forensics.lines.files import Text
from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.forensics.lines.line_reader import SHOWN
from rebalance_kit.forensics.lines.times_in_text import time_in
from rebalance_kit.forensics.lines.timestamps import Clock
from rebalance_kit.forensics.words import EXCEPTION
from rebalance_kit.model.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rebalance_kit.forensics.answer.selected import Selected
    from rebalance_kit.forensics.answer.severity import Card
    from rebalance_kit.forensics.tables import Row, Tables

#: Findings of a member whose loop was too slow.
BY_POLL = ("poll_timeout_exceeded", "client_poll_timeout", "zombie_commit")

#: How long before the line of a finding its trouble may have been written: a handler is slow for a whole poll interval.
_BEFORE_MS = {
    **dict.fromkeys(BY_POLL, 600_000),
    **dict.fromkeys(("session_expired", "member_frozen", "died_without_goodbye"), 120_000),
    **dict.fromkeys(("client_lost_session", "native_session_lost", "heartbeats_unanswered"), 120_000),
    **dict.fromkeys(("member_left", "task_failed", "replaced_without_leave"), 10_000),
}
_AFTER_MS = 500

#: Lines without a time are near to the finding when so few lines lie between.
_NEAR_LINES = 40

#: So many cards are asked about, and files larger than this, or runs of more lines, are not looked through once more.
_CARDS, _BYTES, _LINES = 6, 64 << 20, 400_000

#: In longer logs the most telling line of any logger lies far from the group's few, and to look for it takes longer than to read them.
_BESIDE_LINES = 20_000

_SHOWN = 220

_Place = TypeVar("_Place", int, str)


class _Kind(NamedTuple):
    """What a line of trouble points to."""

    pattern: re.Pattern[str]
    means: str


#: What is told beside a poll that came too late, and nowhere else.
_SLOW = "a slow handler"

_CRASH, _STOP = "an error that nothing caught", "a stop"

#: What a plain stop does not say.
_FAILED = re.compile(r"xception|[Ee]rror\b|\bfail", re.ASCII)

_KINDS = (
    _Kind(re.compile(r"OutOfMemory|OOMKilled|out of memory|Cannot allocate memory"), "memory that ran out"),
    # Of a chain of exceptions the last is the one that began it.
    _Kind(re.compile(r"^Caused by: "), ""),
    _Kind(re.compile(r"Exception in thread|[Uu]ncaught|\bpanic:|Segmentation fault|core dumped"), _CRASH),
    _Kind(
        re.compile(
            r"\bSIGTERM\b|\bSIGINT\b|[Ss]hutting down|[Ss]hutdown (?:hook|signal)|[Ss]topping .*[Cc]ontainer|[Gg]raceful shutdown|\bterminating\b|[Cc]losing consumer|[Ii]nitiat\w+ .{0,40}shutdown"
        ),
        _STOP,
    ),
    _Kind(
        re.compile(
            r"Pause (?:Full|Young|Remark)|\[?Full GC|GC pause|stopped for|clock leap|Thread starvation"
        ),
        "a pause (garbage collection, or a machine that stood still)",
    ),
    _Kind(
        re.compile(
            r"REQTMOUT|i/o timeout|tcp_closed|connection_down|[Cc]onnection (?:was )?closed|[Ii]n[- ]flight|[Tt]ransport failure|[Cc]onnection (?:refused|reset|to node)|Connect to \S+ failed|"
            r"Disconnected|[Bb]roker may not be available|Failed to resolve|No route to host"
        ),
        "a connection that failed or got no answer",
    ),
    _Kind(
        re.compile(
            r"(?<![_.\w])[Tt]ime(?:d)? ?out(?!\w*[\"']? ?[:=] ?\d)|[Rr]etry|[Ss]leeping|non-responsive|[Bb]acking off|deadlock"
        ),
        _SLOW,
    ),
    _Kind(
        re.compile(
            r"\b(?:ERROR|FATAL|SEVERE|CRITICAL)\b|\b(?:Error|error)\b\"?[\]:=|]|\w(?:Exception|Error)\b|^Traceback"
            # What librdkafka writes before the texts of its errors.
            r"|\b(?:Broker|Local): [A-Z]"
        ),
        "",
    ),
)
TROUBLE = re.compile("|".join(f"(?:{kind.pattern.pattern})" for kind in _KINDS))
#: An exception with its message.
_EXCEPTION = re.compile(rf"(?:^|[\s:(\[]){EXCEPTION}(?:\([^)]*\))?(?:: ?\S|\s*\Z)")
#: The same, alone on a line or thrown by a thread.
_THROWN = re.compile(rf"(?:^|Exception in thread .*?[\"\s])({EXCEPTION}(?:\([^)]*\))?(?::.*|\s*)\Z)")
_NO_TROUBLE = re.compile(
    r"^[#*>|]*\s+(?:at |\.\.\. )|^#\d{1,4} \S+\(\d|^(?:[\w.-]{1,60} +\| |\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S* )?\s*[\w.]+ = |0 errors|\[GroupCoordinator|\berr(?:or)?\W{1,4}(?:None|null|nil|NONE|0)\b"
)
_DIGITS = re.compile(r"\d+")


class _Anchor(NamedTuple):
    """The line of the member beside which its last words are looked for."""

    file: Path
    line: int
    at_ms: int | None
    text: str


def add_last_words(result: Selected, cards: Sequence[Card]) -> None:
    """Put ``last_words`` to the findings of the first cards, wherever a member's own file holds some."""
    if sum(row["lines"] for row in result.rows("lines")) > _LINES:
        return
    for card in cards[:_CARDS]:
        row = card.first
        if row["finding"] in _BEFORE_MS and row["last_words"] is None:
            row["last_words"] = _words(result, row)
            _copy(result, row)


def _copy(result: Selected, row: Row) -> None:
    """The rows of groups hold findings of their own."""
    for group in result.rows("groups"):
        for one in group["findings"] or ():
            if all(one.get(name) == row[name] for name in ("finding", "who", "file", "line")):
                one["last_words"] = row["last_words"]


def _words(result: Selected, row: Row) -> str | None:
    anchor = _anchor(result, row)
    if anchor is None:
        return None
    until_ms = row["at_ms"]
    found = [one for one in _trouble(anchor, until_ms, _BEFORE_MS[row["finding"]]) if one[0] != anchor.line]
    if not found:
        return None
    plain = {"", _CRASH} if row["finding"] in BY_POLL else {"", _CRASH, _SLOW}
    kind, (number, text) = _telling(_KINDS, found[::-1], plain)
    means = _points_to(kind, text)
    same = sum(_DIGITS.sub("0", other)[:60] == _DIGITS.sub("0", text)[:60] for _, other in found) - 1
    like = f" (and {same} more like it)" if same else ""
    late = row["finding"] in BY_POLL and number < anchor.line
    means = f"; points to {means}" if means and (means != _SLOW or late) else ""
    return f"{anchor.file.name}:{number}  {' '.join(text.split())[:_SHOWN]}{like}{means}"


def _telling(
    kinds: Iterable[_Kind], found: Sequence[tuple[_Place, str]], plain: Collection[str]
) -> tuple[_Kind, tuple[_Place, str]]:
    """The gravest kind of some lines of trouble, and the most telling line: of exceptions the one that began it, else one with its message.

    ``plain``: what tells less than an exception does.
    """
    kind = next(kind for kind in kinds if any(kind.pattern.search(text) for _, text in found))
    said = [one for one in found if kind.pattern.search(one[1])]
    if kind.means in plain:
        said = (
            [one for one in found if "Caused by: " in one[1]]
            or [one for one in found if _EXCEPTION.search(one[1])]
            or [one for one in found if not bare(one[1]).startswith("Traceback (")]
            or said
        )
    return kind, said[0]


def _points_to(kind: _Kind, text: str) -> str:
    """What a line points to, if it is of that kind; what tells of an error besides is no plain stop."""
    known = kind.pattern.search(text) and not (kind.means == _STOP and _FAILED.search(text))
    return kind.means if known else ""


def _anchor(result: Selected, row: Row) -> _Anchor | None:
    """The finding's own line in the member's file, or, where the coordinator tells of it, the member's last line before."""
    own = ANCHOR.search(row["evidence"] or "")
    told_by_broker = (own is not None and own[0].startswith("[Group")) or row["finding"] == "session_expired"
    if not told_by_broker:
        return _Anchor(_path(row), row["line"], row["at_ms"], row["evidence"])
    last = None
    for event in result.rows("events"):
        before = event["client"] == row["who"] and event["side"] != "broker" and event["at_ms"] is not None
        if (
            before
            and event["at_ms"] <= (row["at_ms"] or 0)
            and (last is None or event["at_ms"] >= last["at_ms"])
        ):
            last = event
    return None if last is None else _Anchor(_path(last), last["line"], last["at_ms"], last["text"])


def _path(row: Row) -> Path:
    named = Path(row["file"])
    return named if named.is_file() else Path(row["path"]) / row["file"]


def _trouble(anchor: _Anchor, until_ms: int | None, before_ms: int) -> list[tuple[int, str]]:
    """The lines of trouble near the anchor, with their numbers."""
    clock = Clock(Reading())
    own_ms = clock.read(*time_in(anchor.text))
    shift_ms = None if own_ms is None or anchor.at_ms is None else anchor.at_ms - own_ms
    found: list[tuple[int, str]] = []
    before = ""
    for number, text in _lines(anchor.file):
        if TROUBLE.search(text) and not _NO_TROUBLE.search(text) and not ANCHOR.search(text):
            at_ms = clock.read(*time_in(text))
            # A line of a stack belongs to the one before it.
            before = before if at_ms is None else text
            at_ms = clock.read(*time_in(before)) if at_ms is None else at_ms
            if shift_ms is None or at_ms is None or until_ms is None:
                near = 0 <= anchor.line - number <= _NEAR_LINES
            else:
                near = until_ms - before_ms <= at_ms + shift_ms <= until_ms + _AFTER_MS
            if near:
                found.append((number, text))
        elif time_in(text)[0] is not None:
            before = text
    return found


def trouble(result: Tables) -> str:
    """What else is wrong, in lines of any logger that were not read: the most telling of them, and what it points to."""
    rows, found = result.rows("lines"), list[tuple[str, str]]()
    if sum(row["lines"] for row in rows) > _BESIDE_LINES:
        return ""
    events = result.rows("events")
    by_poll = any(row["finding"] in BY_POLL for row in result.rows("findings"))
    read = {(event["path"], event["file"], event["line"]) for event in events}
    thrown_at: dict[str, str] = {}
    for row in rows:
        for number, text in _lines(_path(row)):
            known = (
                (row["path"], row["file"], number) in read
                or _NO_TROUBLE.search(text)
                or (ANCHOR.search(text) and not ("[thrd:" in text and _OF_CLOSING.search(text)))
            )
            if not known and TROUBLE.search(text[:LONG]) and (by_poll or not _is_slow_alone(text[:LONG])):
                found.append((f"{row['file'].rsplit('/', 1)[-1]}:{number}", text[:LONG]))
            elif found and (frame := FRAME.search(text[:LONG])):
                thrown_at.setdefault(found[-1][0], frame[0])
    if not found:
        return ""
    # Of a chain of exceptions the last is the one that began it.
    chain = [one for one in found if bare(one[1]).startswith("Caused by: ")]
    kind, (place, text) = _telling((_REFUSED, _NOT_OWNED, *_KINDS), chain[::-1] or found, {"", _CRASH, _SLOW})
    if not events and kind.means == _SLOW and not _ERROR.search(text):
        # Nothing was read: an error tells more than a warning that something took long.
        place, text = next((one for one in found if _ERROR.search(one[1])), (place, text))
    text = bare(text)
    thrown = _THROWN.search(text)
    words = " ".join((thrown[1] if thrown else without_head(text)).split())
    if words.startswith("Traceback (most recent"):
        return ""
    if any(words[:_SAME] in " ".join(event["text"].split()) for event in events):
        return ""
    more = " and other lines of trouble" if len(found) > 1 else ""
    means = _points_to(kind, text)
    means = f" (points to {means})" if means not in {"", _SLOW} else ""
    cut = "..." if len(words) > _SHOWN else ""
    means = f" {thrown_at[place]}{means}" if words.endswith("Exception") and place in thrown_at else means
    return f'{place} says "{words[:_SHOWN]}{cut}"{means}{more}'


#: The level of an error.
_ERROR = re.compile(
    r"\b(?:ERROR|FATAL|SEVERE|CRITICAL)\b|\[(?:error|fatal)\]|\blevel\W{1,4}(?:error|fatal)\b"
)


def _is_slow_alone(text: str) -> bool:
    """Whether a line of a low level tells only that something takes its time."""
    low = _LOW.search(text[:SHOWN]) is not None
    return low and not any(kind.means != _SLOW and kind.pattern.search(text) for kind in _KINDS)


_LOW = re.compile(r"\b(?:INFO|DEBUG|TRACE)\b")

#: What librdkafka's other threads say when their client is closed.
_OF_CLOSING = re.compile(r"Handle is terminating|Closing consumer|Terminating instance")

#: So far a time may stand in a line of an unknown layout.
_HEAD = 40

#: How a line begins that has its time there: with a number, or a word before it.
_CLOCKED = re.compile(r"\W{0,6}(?:[A-Za-z]{3,9}\W{1,2})?\d")

#: So much of a line is told already where a line that was read holds it.
_SAME = 120


def unread(result: Tables) -> list[Row]:
    """The lines that were not read as a group's, with the times that they hold, as rows beside the table of events."""
    read: dict[str, set[int]] = defaultdict(set)
    shift_ms: dict[str, int] = {}
    clock = Clock(Reading())
    for event in result.rows("events"):
        read[event["file"]].add(event["line"])
        own_ms = clock.read(*time_in(event["text"]))
        if own_ms is not None and event["at_ms"] is not None:
            shift_ms.setdefault(event["file"], event["at_ms"] - own_ms)
    found = []
    for row in result.rows("lines"):
        file = row["file"]
        for number, text in _lines(_path(row)):
            if number not in read[file]:
                # Of a line of no group only what stands before its message is its own time.
                behind = message_behind(text)
                head = text if text[:1] == "{" else text[: behind or _HEAD]
                own = file in shift_ms and (behind or text[:1] == "{" or _CLOCKED.match(head))
                own_ms = clock.read(*time_in(head)) if own else None
                found.append(
                    {
                        "file": file, "line": number, "row": 0, "event": UNREAD, "text": text[:LONG].rstrip("\r"),
                        "at_ms": None if own_ms is None else own_ms + shift_ms[file],
                    }
                )  # fmt: skip
    return found


#: Exceptions that tell by themselves what their member met.
_REFUSED = _Kind(
    re.compile(
        r"CommitFailedException|TaskMigratedException|kicked out of the group|has been fenced due to a rebalance"
    ),
    "a commit that was refused; mostly the group had rebalanced without this member",
)


#: What a consumer throws at whoever asks for a partition that was taken away.
_NOT_OWNED = _Kind(
    re.compile(r"No current assignment for partition"), "a partition that this member does not own (any more)"
)


#: Words of a group that no template and no list of words may have read.
_HINT = re.compile(
    r"rebalanc|consumer.?group|kafka.?consumer|rdkafka|registered consumers|consumer instance|(?:for|in|of|joined|left) group[ ,:]|partition (?:watcher|consumer)|claim\w* partition|out of \d+ partitions|group[._]?id\b|max[._]?poll|commit.?failed|(?:group|consumer|kafka).{0,80}"
    r"(?:coordinator|heartbeat|session|join|leav|\bleft\b|fenc|generation|evict|kick|expired|revok)",
    re.IGNORECASE,
)


def hints(result: Tables) -> tuple[int, Row | None]:
    """How many lines hold words of a group although none was read as a group's, and the first of them."""
    rows, found, first = result.rows("lines"), 0, None
    if sum(row["lines"] for row in rows) > _LINES:
        return 0, None
    for row in rows:
        for number, text in _lines(_path(row)):
            if _HINT.search(text[:LONG]) and not NOISE.search(text[:LONG]):
                found += 1
                first = first or {
                    "path": row["path"], "file": row["file"], "line": number, "why": UNCLEAR, "text": text[:SHOWN],
                }  # fmt: skip
    return found, first


def line_at(row: Row) -> str:
    """The text of the line that a row of findings names; empty where it cannot be read."""
    return next((text for number, text in _lines(_path(row)) if number == row["line"]), "")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        if path.stat().st_size > _BYTES:
            return
        rest, number = b"", 0
        for piece in Text(path).pieces():
            head, end, rest = (rest + piece).rpartition(b"\n")
            if end:
                for line in head.decode("utf-8", "replace").split("\n"):
                    number += 1
                    yield number, line
        if rest:
            yield number + 1, rest.decode("utf-8", "replace")
    except (OSError, DataError):
        return
