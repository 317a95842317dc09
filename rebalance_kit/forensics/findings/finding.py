"""A finding as a row of the table, and the first line that proves it.

Which setting, and by how much: what was measured beside the limit that it passed, in the client's own spelling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from rebalance_kit.forensics.event import Event
    from rebalance_kit.forensics.history.rebalance import Rebalance


#: The columns of the table, in order (``path`` and ``group`` come before them).
FINDINGS = (
    *("finding", "who", "at_ms", "last_ms", "times", "sentence", "do", "source", "file", "line", "evidence"),
    *("confidence", "last_words", "setting"),
)

#: A row of the table.
Row: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Evidence:
    """When, where and what a line said."""

    at_ms: int | None
    file: str
    line: int
    text: str
    confidence: str | None = None

    @property
    def place(self) -> tuple[int, int, str]:
        """What makes a line the first."""
        return (-1 << 62 if self.at_ms is None else self.at_ms, self.line, self.file)


def line(event: Event) -> Evidence:
    """An event as evidence."""
    return Evidence(event.at_ms, event.file, event.line, event.text, event.confidence)


def cause(row: Rebalance) -> Evidence:
    """A rebalance as evidence: its line, and its cause as the text."""
    return Evidence(row.start_ms, row.file, row.line, row.cause, row.confidence)


def told(
    code: str,
    who: str | None,
    times: int,
    sentence: str,
    first: Evidence,
    do: str,
    source: str,
    *,
    last_ms: int | None = None,
    setting: str | None = None,
) -> Row:
    """A row of the table of findings; ``last_ms``: when it was last so (as it stands: when it first was)."""
    last_ms = first.at_ms if last_ms is None else last_ms
    values = (
        code,
        who,
        first.at_ms,
        last_ms,
        times,
        sentence,
        do,
        source,
        first.file,
        first.line,
        first.text,
    )
    return dict(zip(FINDINGS, (*values, first.confidence, None, setting), strict=True))


def seconds(ms: int) -> str:
    """Milliseconds as seconds, to the tenth.

    >>> seconds(12_345)
    '12.3'
    """
    return f"{ms / 1000:,.1f}"


def order(row: Row) -> tuple[object, ...]:
    """What orders the findings of a group: time (none first), kind, whom it is about, words, place."""
    at_ms, who = row["at_ms"], row["who"]
    return (
        (at_ms is not None, at_ms or 0),
        row["finding"],
        (who is not None, who or ""),
        row["sentence"],
        row["do"],
        row["source"],
        row["file"],
        row["line"],
        row["evidence"],
    )


#: How clients spell the limit between two polls.
_SPELLED = {"other": "max_poll_interval_ms"}
_POLL = "max.poll.interval.ms"

#: What Java's and librdkafka's clients have where nobody set it.
_DEFAULT_MS = 300_000

#: A limit is proposed in steps of so much, and with so much room.
_STEP_MS, _ROOM = 10_000, 1.2

#: Kinds of finding about the limit between two polls.
_OF_POLLS = frozenset({"poll_timeout_exceeded", "poll_overrun", "client_poll_timeout"})


def setting(code: str, event: Event, over_ms: int | None) -> str | None:
    """What to set, in a sentence; None where no limit was passed, or nothing measured."""
    if code not in _OF_POLLS:
        return None
    key = _SPELLED.get(event.side, _POLL)
    if "[Worker " in event.text or "connector-consumer-" in event.text:
        key = f"consumer.override.{_POLL}"
    limit_ms = event.limit_ms or _DEFAULT_MS
    known = (
        f"{key} is {limit_ms:,}"
        if event.limit_ms
        else f"{key} is {limit_ms:,} by default, and these logs do not say otherwise"
    )
    if over_ms is None:
        return f"{known}; how long the batch took is not in these lines"
    took_ms = limit_ms + over_ms
    wanted = -int(-took_ms * _ROOM // _STEP_MS) * _STEP_MS
    share = limit_ms / took_ms / _ROOM
    fewer = f"at most {share:.0%} of today's {key.replace('interval', 'records').replace('_ms', '').replace('.ms', '')}"
    if event.side == "librdkafka":
        fewer = f"at most {share:.0%} of today's work between two polls (it hands out single records)"
    return (
        f"{seconds(took_ms)} s passed between two polls at most; {known}: either {key} >= {wanted:,} (a hung process is then "
        f"noticed {seconds(wanted - limit_ms)} s later), or {fewer}"
    )
