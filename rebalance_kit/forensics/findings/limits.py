"""Which setting, and by how much: what was measured beside the limit that it passed, in the client's own spelling."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebalance_kit.forensics.findings.finding import seconds

if TYPE_CHECKING:
    from rebalance_kit.forensics.event import Event

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
