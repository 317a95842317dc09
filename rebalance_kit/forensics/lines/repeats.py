"""Logs repeat themselves: what a line says besides its time is read once and remembered.

A line is cut into its time and the rest.  Most rests have occurred before in the same logs (nine of ten in those
of the log maker), and a rest says the same whenever it is written.  Only a plain time at the beginning is cut
off; any other line is a rest by itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from rebalance_kit.forensics.grammar.template import NUMBERS
from rebalance_kit.forensics.lines.timestamps import MILLIS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rebalance_kit.forensics.lines.layouts import Reading
    from rebalance_kit.forensics.lines.timestamps import Clock

#: What a line gave: the fields of its one event or of its events, why it is rejected, or None: it is ignored.
Told: TypeAlias = "dict[str, Any] | list[dict[str, Any]] | str | None"

#: Rests of one kind of time by what they gave; the moment of an event counts from the line's time.
Memory: TypeAlias = "dict[str, Told]"

#: So many rests are remembered, and only those up to this length.
MOST, LONGEST = 50_000, 1_000

#: Further from UTC than this is no time zone.
_MOST_OFFSET_MS = 86_400_000

#: What is counted is another number in the next line.
_COUNTED = NUMBERS - {"hash", "static"}

#: So many lines at the beginning of a piece are looked at for the form of its times.
_LOOKED_AT = 200

#: A line without its time: where its like is remembered, the rest, and the moment (0: no plain time).
Cut: TypeAlias = tuple[Memory, str, int]


class Form:
    """One form of plain times: with or without a bracket, T or blank, comma or point."""

    def __init__(self, bracket: str, letters: str = "") -> None:
        #: The bracket, the letter between day and time, the one before the milliseconds.
        self.letters = letters
        #: How many letters of a line there are before the milliseconds.
        self.width = 20 + len(bracket)
        #: When the seconds begin that have occurred.
        self.seconds: dict[str, int] = {}
        self.memory: Memory = {}


class Repeats:
    """Remembers rests of lines."""

    def __init__(self, reading: Reading, clock: Clock) -> None:
        self._clock = clock
        # A reader's own layouts may look at the digits of a time.
        self._cuts = not reading.layouts
        self._zoned = reading.time_zone is not None
        #: Lines without a plain time.
        self.whole: Memory = {}
        self._forms = {
            f"{bracket}{middle}{point}": Form(bracket, f"{bracket}{middle}{point}")
            for bracket in ("", "[")
            for middle in "T "
            for point in ",."
        }
        self._any = Form("")

    def form_of(self, lines: Sequence[str]) -> Form:
        """The form of the first plain time near the beginning; an empty one where there is none."""
        for line in lines[:_LOOKED_AT]:
            memory = self.cut(line)[0]
            if memory is not self.whole:
                return next(form for form in self._forms.values() if form.memory is memory)
        return self._any

    def cut(self, line: str) -> Cut:
        """A line without the plain time that begins it: ``2026-11-21 02:15:25,032``, or the same in brackets."""
        start = 1 if line[:1] == "[" else 0
        end = start + 23
        if self._cuts and (line[end : end + 1] == "]") == bool(start):
            form = self._forms.get(
                line[:start] + line[start + 10 : start + 11] + line[start + 19 : start + 20]
            )
            ms = MILLIS.get(line[end - 3 : end])
            if form is not None and ms is not None:
                begun = form.seconds.get(line[: form.width])
                begun = self._second(form, line, start) if begun is None else begun
                if begun is not None:
                    return form.memory, line[end:], begun + ms
        return self.whole, line, 0

    def second_of(self, form: Form, line: str) -> int | None:
        """The moment at which the second of a line in this form begins; None for a line in another one."""
        start, end = form.width - 20, form.width + 3
        letters = line[:start] + line[start + 10 : start + 11] + line[start + 19 : start + 20]
        if letters != form.letters or (line[end : end + 1] == "]") != bool(start):
            return None
        return self._second(form, line, start)

    def _second(self, form: Form, line: str, start: int) -> int | None:
        """The moment at which the second of a line begins; None where it has none."""
        begun = self._clock.second(line[start : start + 19])
        if begun is not None:
            if len(form.seconds) >= MOST:
                form.seconds.clear()
            form.seconds[line[: form.width]] = begun
        return begun

    def is_kafkas(self, memory: Memory) -> bool:
        """Whether lines are remembered there that begin as Kafka's own layout does."""
        return memory is self._forms["[ ,"].memory

    def memories(self) -> list[Memory]:
        """All that is remembered."""
        return [self.whole, *(form.memory for form in self._forms.values())]

    def remember(self, cut: Cut, told: Told) -> None:
        """Remember what a line gave, unless the next line with this rest may give something else, or hardly comes."""
        memory, rest, ms = cut
        if type(told) is dict:
            if not told.keys().isdisjoint(_COUNTED) or ("at_ms" in told) is (memory is self.whole):
                return
            if memory is not self.whole and not self._counts_from(cut, told["at_ms"]):
                return
            told = told.copy()
            if memory is not self.whole:
                told["at_ms"] -= ms
        elif type(told) is list:
            told = [fields.copy() for fields in told]
            for fields in told:
                if "at_ms" in fields:
                    if not self._counts_from(cut, fields["at_ms"]):
                        return
                    fields["at_ms"] -= ms
        if len(rest) > LONGEST:
            return
        if len(memory) >= MOST:
            memory.clear()
        memory[rest] = told

    def _counts_from(self, cut: Cut, at_ms: int | None) -> bool:
        """Whether the moment of an event follows from the time that was cut off."""
        memory, _, ms = cut
        if at_ms is None or memory is self.whole:
            return False
        return at_ms == ms or (not self._zoned and abs(at_ms - ms) <= _MOST_OFFSET_MS)
