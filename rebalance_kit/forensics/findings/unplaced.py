"""What lines tell where no rebalance can be told: members that left, and lines without a time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rebalance_kit.analysis.ownership import CALLS
from rebalance_kit.forensics.findings.finding import Row, line, told
from rebalance_kit.forensics.findings.in_order import InOrder
from rebalance_kit.forensics.history.felt import FELT
from rebalance_kit.forensics.words import counted

if TYPE_CHECKING:
    from rebalance_kit.forensics.event import Event

_LEAVING = frozenset({"leaving", "rd_leave", "other_leaving"})

#: Lines that would be placed in a rebalance if they had a time.
PLACED = (
    FELT
    | CALLS
    | {"preparing", "stabilized", "bumped", "computed", "joins", "left", "epoch_left"}
    | {"member_failed", "session_expired"}
)


_YEARLESS = re.compile(
    r"\W{0,3}(?:[A-Z][a-z]{2} )?[A-Z][a-z]{2} [ \d]\d \d\d:\d\d|\W{0,3}\d\d[-/.]\d\d \d\d:\d\d:\d\d"
)
_SOME_TIME = re.compile(r"\d\d?[:.]\d\d[:.]\d\d")


def _time_of(text: str) -> str:
    """What to do about a time that cannot be read, by how it stands in the line."""
    if _YEARLESS.match(text):
        return "The time stands there without a year: pass --year 2026 (the year that it was)."
    if _SOME_TIME.search(text[:60]):
        return "A time stands there in a form that is not known: describe it in a file of layouts (--layouts FILE)."
    return (
        "Add the time to the layout (log4j2 and logback: %d{ISO8601}; slf4j-simple: showDateTime), or read the logs "
        "with kubectl logs --timestamps or docker logs -t."
    )


class Unplaced:
    """Keeps who left, and the first line without a time."""

    def __init__(self) -> None:
        self._left: dict[str, Event] = {}
        self._timeless: Event | None = None
        self._timed = self._untimed = 0
        self._in_order = InOrder()

    def take(self, event: Event) -> None:
        """A line of the group that would be placed."""
        if event.at_ms is not None:
            self._timed += 1
        else:
            self._timeless = self._timeless or event
            self._untimed += 1
            self._in_order.take(event)
        if event.event in _LEAVING and "poll timeout" not in (event.reason or ""):
            self._left.setdefault(event.client or event.named_by_file, event)

    def rows(self, *, placed: bool) -> list[Row]:
        """The findings; ``placed``: the history holds a rebalance, or a coordinator's lines."""
        rows = []
        if not placed:
            rows = [
                told(
                    "member_left",
                    who,
                    1,
                    f"{who if event.client else event.named_in_words} left the group ({event.reason or 'no reason given'}); the rebalance of those who stay is not in these logs",
                    line(event),
                    "Expected when it is stopped or deployed. The logs of the other members, or the coordinator's, tell what followed.",
                    "KafkaConsumer.close; LeaveGroup",
                )
                for who, event in self._left.items()
            ]
        first = self._timeless
        if first is not None and not self._timed:
            rows.append(
                told(
                    "lines_without_time",
                    None,
                    self._untimed,
                    self._without_time(),
                    line(first),
                    _time_of(first.text),
                    "org.slf4j.simpleLogger.showDateTime",
                )
            )
        return rows

    def _without_time(self) -> str:
        """What lines without a time tell."""
        lines = f"{counted(self._untimed, 'line')} of this group {'tells' if self._untimed == 1 else 'tell'} of a rebalance"
        told = self._in_order.words()
        if not told:
            return f"{lines} without a time that can be read: what happened when, and how long it took, cannot be told"
        return f"{told}; {lines} and {'holds' if self._untimed == 1 else 'hold'} no time that can be read, so when and how long is not told"
