"""Logs repeat themselves: what a line says besides its time is read once and remembered.

A line is cut into its time and the rest.  Most rests have occurred before in the same logs (nine of ten in those
of the log maker), and a rest says the same whenever it is written.  Only a plain time at the beginning is cut
off; any other line is a rest by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from rebalance_kit.forensics.lines.timestamps import MILLIS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rebalance_kit.forensics.lines.layouts import Reading
    from rebalance_kit.forensics.lines.timestamps import Clock

#: What a line gave: the fields of its events, why it is rejected, or None: it is ignored.
Told: TypeAlias = "list[dict[str, Any]] | str | None"

#: Rests of one kind of time by what they gave; the moment of an event counts from the line's time.
Memory: TypeAlias = "dict[str, Told]"

#: So many rests are remembered, and only those up to this length.
MOST, LONGEST = 50_000, 1_000

#: Further from UTC than this is no time zone.
_MOST_OFFSET_MS = 86_400_000

#: A line without its time: where its like is remembered, the rest, and the moment (0: no plain time).
#: (A plain tuple, because one is made for every line.)
Cut: TypeAlias = tuple[Memory, str, int]


class Repeats:
    """Remembers rests of lines."""

    def __init__(self, reading: Reading, clock: Clock) -> None:
        self._clock = clock
        # A reader's own layouts may look at the digits of a time.
        self._cuts = not reading.layouts
        self._zoned = reading.time_zone is not None
        self._whole: Memory = {}
        self._by_form: dict[str, Memory] = {}
        self._seconds: dict[str, tuple[Memory, int]] = {}

    def cuts(self, lines: Iterable[str]) -> Iterator[Cut]:
        """Each line without the plain time that begins it: ``2026-11-21 02:15:25,032``, or the same in brackets."""
        whole, seconds, millis = self._whole, self._seconds, MILLIS
        for line in lines:
            if line[:1] == "[":
                stamp, rest = line[1:24], line[24:]
                plain = rest[:1] == "]"
            else:
                stamp, rest = line[:23], line[23:]
                plain = stamp[10:11] in {"T", " "} and rest[:1] != "]"
            if plain:
                second = seconds.get(stamp[:20]) or self._second(stamp)
                ms = millis.get(stamp[20:])
                if second is not None and ms is not None:
                    yield second[0], rest, second[1] + ms
                    continue
            yield whole, line, 0

    def _second(self, stamp: str) -> tuple[Memory, int] | None:
        """The moment at which a second begins, with the memory of the lines whose times have this form."""
        begun = self._clock.second(stamp[:19]) if self._cuts and stamp[19:20] in {",", "."} else None
        if begun is None:
            return None
        if len(self._seconds) >= MOST:
            self._seconds.clear()
        second = self._by_form.setdefault(stamp[10] + stamp[19], {}), begun
        self._seconds[stamp[:20]] = second
        return second

    def memories(self) -> list[Memory]:
        """All that is remembered."""
        return [self._whole, *self._by_form.values()]

    def remember(self, cut: Cut, told: Told) -> None:
        """Remember what a line gave, unless the next line with this rest may give something else."""
        memory, rest, ms = cut
        if len(rest) > LONGEST:
            return
        if isinstance(told, list):
            counted = []
            for one in told:
                fields = one.copy()
                if "at_ms" in fields:
                    if not self._counts_from(cut, fields["at_ms"]):
                        return
                    fields["at_ms"] -= ms
                counted.append(fields)
            told = counted
        if len(memory) >= MOST:
            memory.clear()
        memory[rest] = told

    def _counts_from(self, cut: Cut, at_ms: int | None) -> bool:
        """Whether the moment of an event follows from the time that was cut off."""
        memory, _, ms = cut
        if at_ms is None or memory is self._whole:
            return False
        return at_ms == ms or (not self._zoned and abs(at_ms - ms) <= _MOST_OFFSET_MS)
