"""A finding as a row of the table, and the first line that proves it.

Which setting, and by how much: what was measured beside the limit that it passed, in the client's own spelling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

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


_POLL, _RECORDS, _SESSION = "max.poll.interval.ms", "max.poll.records", "session.timeout.ms"

#: Keys that are looked for in what members say of their configuration.
LIMITS = frozenset({_POLL, _RECORDS, _SESSION})

#: What Java's and librdkafka's clients have where nobody set it; the session is Java's since 3.0 and librdkafka's since 2.0.
_DEFAULT_MS = {_POLL: 300_000, _SESSION: 45_000}

#: Before Kafka 3.0 (September 2021, KIP-735) a session was shorter.
_OLDER_SESSION_MS, _LONGER_SESSIONS_MS = 10_000, 1_632_182_400_000

#: A limit is proposed in steps of so much, and with so much room; no client takes a longer one than a day's.
_STEP_MS, _ROOM, _LONGEST_MS = 10_000, 1.2, 86_400_000

#: Kinds of finding about the limit between two polls, and about the session.
_OF_POLLS = frozenset({"poll_timeout_exceeded", "poll_overrun", "client_poll_timeout"})
_OF_SESSIONS = frozenset({"native_session_lost", "heartbeats_unanswered"})


def _spelled(key: str, event: Event) -> str:
    """A key as the client that spoke spells it."""
    text = event.text
    if "[Worker " in text or "connector-consumer-" in text:
        return f"consumer.override.{key}"
    if event.side == "other" and _POLL not in text and "[Consumer " not in text:
        return key.replace(".", "_")
    if "ntainer#" in text or "o.s.k." in text or "springframework" in text:
        return (
            "spring.kafka.consumer.max-poll-records"
            if key == _RECORDS
            else f"spring.kafka.consumer.properties.{key}"
        )
    if "Confluent.Kafka" in text or "MaxPollIntervalMs" in text:
        return "".join(part.capitalize() for part in key.split("."))
    return key


def setting(code: str, event: Event, over_ms: int | None, configured: Mapping[str, int]) -> str | None:
    """What to set, in a sentence; ``configured``: what the member said of its limits; None where no limit was passed."""
    if code in _OF_SESSIONS:
        return _of_session(event, over_ms, configured)
    if code not in _OF_POLLS:
        return None
    if "[Worker " in event.text:
        return (
            "rebalance.timeout.ms of the worker (60,000 by default) is its limit between two polls: look what kept the herder for longer "
            "(starting, stopping or validating connectors, waiting for their tasks)"
        )
    key = _spelled(_POLL, event)
    said_ms = event.limit_ms or configured.get(_POLL)
    limit_ms = said_ms or _DEFAULT_MS[_POLL]
    known = _known(key, limit_ms, said=said_ms is not None)
    if over_ms is None:
        return known
    took_ms = limit_ms + over_ms
    # What librdkafka itself writes while poll() is still awaited, an application prints when it comes back.
    waits = (
        ": the line is written while poll() is still awaited"
        if not _of_its_own(event) and _WAITS in event.text
        else ""
    )
    told = (
        f"{_between(event, took_ms)}{waits}; {known}"
        if said_ms is not None
        else f"if {key} is {limit_ms:,}, its default (no configuration that sets it was found), {_between(event, took_ms)}"
    )
    wanted = -int(-took_ms * _ROOM // _STEP_MS) * _STEP_MS
    if wanted > _LONGEST_MS:
        return (
            f"{told} ({took_ms / 3_600_000:,.1f} hours): no limit is meant for that. "
            "Perhaps the loop had stopped, the machine slept, or its clock was set: look there first"
        )
    if not _of_its_own(event):
        return f"{told}. The limit has to be above the longest handler, which is not in this line"
    share = limit_ms / took_ms / _ROOM
    fewer = f"at most {share:.0%} of today's {_spelled(_RECORDS, event)}"
    records = configured.get(_RECORDS)
    if records:
        fewer = f"{_spelled(_RECORDS, event)} <= {max(1, int(records * share)):,} (now {records:,})"
    return (
        f"{told}: either {key} >= {wanted:,} (a hung process is then "
        f"noticed {seconds(wanted - limit_ms)} s later), or {fewer}"
    )


def _between(event: Event, took_ms: int) -> str:
    """How long poll() was not called: Java says by how much it was late when it came, librdkafka while it waits."""
    if _of_its_own(event):
        return f"about {seconds(took_ms)} s passed between two polls"
    return f"at least {seconds(took_ms - took_ms % 100)} s passed between two polls"


#: How librdkafka's own line ends.
_WAITS = "leaving group"


def _of_its_own(event: Event) -> bool:
    """Whether a client measures at its next poll, and takes records by a setting: Java's and Python's do, librdkafka does not."""
    return event.side == "java" or (event.side == "other" and "max_poll_" in event.text)


def _of_session(event: Event, over_ms: int | None, configured: Mapping[str, int]) -> str | None:
    """The session beside the time that was measured without an answer."""
    key = _spelled(_SESSION, event)
    said_ms = configured.get(_SESSION)
    older = event.at_ms is not None and event.at_ms < _LONGER_SESSIONS_MS
    limit_ms = said_ms or (_OLDER_SESSION_MS if older else _DEFAULT_MS[_SESSION])
    known = _known(key, limit_ms, said=said_ms is not None)
    if over_ms is None:
        return known
    if said_ms is None or over_ms < limit_ms:
        # The session was over by then, whatever a default says.
        limit_ms, known = over_ms, f"{key} is no longer than that"
    wanted = -int(-over_ms * _ROOM // _STEP_MS) * _STEP_MS
    if wanted > 1_800_000:
        return f"no successful answer came for {seconds(over_ms)} s; {known}: longer than any session may be (group.max.session.timeout.ms is 30 min by default)"
    return (
        f"no successful answer came for at least {seconds(over_ms)} s; {known}. How much longer it was is not in this line; with {key} = {wanted:,} "
        f"a process that dies is noticed {seconds(max(0, wanted - limit_ms))} s later"
    )


def _known(key: str, limit_ms: int, *, said: bool) -> str:
    told = f"{key} is {limit_ms:,}"
    if said:
        return told
    older = " (10,000 in older clients)" if limit_ms == _DEFAULT_MS[_SESSION] else ""
    return f"{told} by default{older}; no configuration that sets it was found"
