"""From a line to its events: what the reader found, as the fields of ``Event``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from rebalance_kit.forensics.grammar.template import NUMBERS
from rebalance_kit.forensics.lines.line_reader import LineReader
from rebalance_kit.forensics.lines.times_in_text import time_in
from rebalance_kit.forensics.lines.timestamps import Clock, is_date

if TYPE_CHECKING:
    from rebalance_kit.forensics.grammar.template import Template
    from rebalance_kit.forensics.lines.last_resort import Message
    from rebalance_kit.forensics.lines.layouts import Reading

#: A leader prints the plan of a whole group in one line: 10,000 partitions take about 250 kB.
LONGEST_LINE = 1_000_000

#: How many letters of a longer one are kept.
KEPT_OF_A_LONG_LINE = 500

#: How much of a line is kept to be shown as evidence.
SHOWN = 300

_LARGEST = 2**63

#: Python refuses to read numbers of some thousand digits; one of fewer digits than these fits any column.
_DIGITS, _SURE_DIGITS = 100, 19


class Messages:
    """Reads lines that may matter: their events as dictionaries of fields, with ``at_ms`` and ``text``."""

    def __init__(self, reading: Reading) -> None:
        self._reader = LineReader(reading.table)
        self.clock = Clock(reading)

    def read(self, line: str) -> list[dict[str, Any]] | str | None:
        """The events of a line; why it is rejected; or None: it is ignored."""
        if "\0" in line or "\1" in line or "\2" in line:
            return "binary, not text"
        found = self._reader.read(line)
        if found is None or isinstance(found, str):
            return found
        text = line[:SHOWN]
        events = []
        for said in found:
            event = self._event(said, text)
            at = said[0][2]
            if at and event["at_ms"] is None and (why := self._unreadable(at, said[0][0])):
                return why
            events.append(event)
        return events

    def _moment(self, at: str, layout: str | None) -> int | None:
        """When that is: as the layout says, else as loggers write it anywhere, in the digits of any script."""
        ms = self.clock.read(at, layout)
        return self.clock.read(*time_in(at)) if ms is None else ms

    def _unreadable(self, at: str, layout: str | None) -> str | None:
        """Why a time that gave no moment is wrong; None where only its year is missing."""
        plain, said_by = time_in(at)
        if is_date(plain or at):
            return f"no such date or time: {at}"
        return None if self.clock.lacks_year(said_by or layout) else f"no time that can be read: {at[:SHOWN]}"

    def _event(self, said: Message, text: str) -> dict[str, Any]:
        (layout, level, at, writer), (instance, client, group), (template, fields) = said
        told = fields_of(template, fields or ())
        told["text"] = text
        if at:
            told["at_ms"] = self._moment(at, layout)
        if level:
            told["level"] = level
        if group and not told.get("group"):
            told["group"] = group
        if not told.get("client") and (who := client or (_writer(writer) if writer else None)):
            told["client"] = who
        if instance and not told.get("instance"):
            told["instance"] = instance_of(instance)
        return told


def _writer(name: str) -> str:
    """The client of librdkafka's ``c1#consumer-1``; where it is called as all are, its instance is told too."""
    bare = name.split("#", 1)[0]
    return name if bare == "rdkafka" else bare


def fields_of(template: Template, texts: Sequence[str]) -> dict[str, Any]:
    """What a message says by itself: the kind of event and its fields."""
    fixed, values = _form(template)
    return _filled(fixed.copy(), values, texts)


def fields_at_once(template: Template, texts: Sequence[str]) -> dict[str, Any]:
    """The same with room for what every dated event has, which the caller fills in: a dictionary that grows is slow."""
    room, values = _room(template)
    return _filled(room.copy(), values, texts)


def _filled(
    told: dict[str, Any], values: list[tuple[str, Callable[[str], Any] | None]], texts: Sequence[str]
) -> dict[str, Any]:
    for (name, value_of), text_of in zip(values, texts, strict=True):
        if value_of is not None:
            told[name] = value_of(text_of)
        elif text_of:
            told[name] = text_of
        else:
            told.pop(name, None)
    return told


@cache
def _form(template: Template) -> tuple[dict[str, Any], list[tuple[str, Callable[[str], Any] | None]]]:
    """The fields that are the same for all lines of a template, and what makes values of the others."""
    fixed: dict[str, Any] = {"event": template.event, "side": template.side}
    for name, value in template.given:
        fixed[name] = _VALUES[name](value) if name in _VALUES else value
    return fixed, [(name, _VALUES.get(name)) for name in template.fields]


@cache
def _room(template: Template) -> tuple[dict[str, Any], list[tuple[str, Callable[[str], Any] | None]]]:
    fixed, values = _form(template)
    names = ("path", "file", "line", "row", "at_ms", "level", "text", *(name for name, _ in values))
    return fixed | dict.fromkeys(names), values


def _whole(text: str) -> int | None:
    """A number that a column of type long holds, and one less too."""
    if 0 < len(text) < _SURE_DIGITS:
        return int(text)
    number = int(text) if 0 < len(text) <= _DIGITS else None
    return None if number is None or not -_LARGEST < number < _LARGEST else number


def instance_of(text: str) -> str | None:
    """A ``group.instance.id``; None for the ways Kafka writes that there is none."""
    bare = text[5:-1] if text.startswith("Some(") and text.endswith(")") else text
    return None if bare in {"null", "None", ""} else bare


def _partitions(text: str) -> list[str]:
    """``[a-0, a-1]`` or ``a-0, a-1`` as a list; an empty one for none."""
    bare = text.strip()
    bare = (bare[1:-1] if bare.startswith("[") and bare.endswith("]") else bare).strip(" ")
    return bare.split(", ") if bare else []


#: What makes values of fields that are not plain text.
_VALUES: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(NUMBERS, _whole),
    "instance": instance_of,
    "partitions": _partitions,
}
