"""The log lines around a finding, for its card."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rebalance_kit.forensics.tables import Tables

#: Of more events than these the page shows the lines of proof alone: they would have to be collected from Spark.
_EVENTS = 200_000

#: So many lines are shown around a finding, and so many letters of lines on the whole page.
_NEAR, _ROOM = 8, 500_000


class NearbyLine(NamedTuple):
    """A line near a finding; ``proves``: it is the finding's own."""

    file: str
    line: int
    text: str
    proves: bool


class LinesAround:
    """The understood lines of some logs by group, to be asked for the neighbours of findings."""

    def __init__(self, result: Tables) -> None:
        self._room = _ROOM
        self._of: dict[tuple[str, str | None], list[tuple[int, str, int, str]]] = defaultdict(list)
        if sum(row["parsed"] for row in result.rows("lines")) > _EVENTS:
            return
        seen: set[tuple[str, str, int]] = set()
        for event in result.rows("events"):
            place = event["path"], event["file"], event["line"]
            if event["at_ms"] is not None and place not in seen:
                seen.add(place)
                row = event["at_ms"], event["file"], event["line"], event["text"]
                self._of[event["path"], event["group"]].append(row)
        for rows in self._of.values():
            rows.sort()

    def near(self, path: str, group: str | None, finding: Mapping[str, Any]) -> list[NearbyLine]:
        """The lines nearest in time to a finding, its own among them; none where they are not at hand."""
        at_ms = finding["at_ms"]
        rows = self._of.get((path, group), [])
        if at_ms is None or not rows or self._room <= 0:
            return []
        place = bisect_left(rows, (at_ms, finding["file"], finding["line"], ""))
        first = max(0, min(place - _NEAR // 2, len(rows) - _NEAR))
        told = [
            NearbyLine(file, line, text, (file, line) == (finding["file"], finding["line"]))
            for _, file, line, text in rows[first : first + _NEAR]
        ]
        self._room -= sum(len(row.text) for row in told)
        return told
