"""The texts of Kafka's log lines: every line that the kit writes is in one of these tables.

A line has forms: from which Kafka version on it reads so (the newest form first). Values stand in
``{braces}``; everything else is Kafka's own text. Texts and loggers were taken from recorded brokers and
clients of 3.9.1, 4.0.0 and 4.3.1 where one printed the line, otherwise from the source of Kafka's classes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

from rebalance_kit.logs.lines import at_least
from rebalance_kit.logs.templates.broker import BROKER
from rebalance_kit.logs.templates.client import CLIENT, PROCESS


class Said(NamedTuple):
    """A line without its time: level, logger, whole message."""

    level: str
    logger: str
    message: str
    thrown: str | None = None


@dataclass(frozen=True, slots=True)
class Form:
    """How a line reads from ``since`` on; an empty text means that those versions do not print it."""

    since: str
    level: str
    logger: str
    text: str


def _forms(table: Mapping[str, tuple[tuple[str, str, str, str], ...]]) -> dict[str, tuple[Form, ...]]:
    return {name: tuple(Form(*form) for form in forms) for name, forms in table.items()}


TEMPLATES: Mapping[str, tuple[Form, ...]] = MappingProxyType({**_forms(BROKER), **_forms(CLIENT)})
"""Every line about a group by its name, its forms from the newest to the oldest."""
PROCESSES: Mapping[str, tuple[Form, ...]] = MappingProxyType(_forms(PROCESS))
"""Lines with which a client begins and ends, whatever its group does."""
_ALL = MappingProxyType({**TEMPLATES, **PROCESSES})


def form_of(name: str, version: str) -> Form | None:
    """The form that a Kafka version prints, None when it prints no such line; ``KeyError`` for no line at all."""
    found = next((form for form in _ALL[name] if at_least(version, form.since)), None)
    return found if found is not None and found.text else None


def say(name: str, version: str, /, **values: object) -> tuple[Said, ...]:
    """The line of that name with its values, as that version prints it: one, or none.

    >>> [line] = say("stabilized", "3.9.1", group="g", generation=2, members=3, broker=1)
    >>> line.message
    '[GroupCoordinator 1]: Stabilized group g generation 2 (__consumer_offsets-0) with 3 members'
    """
    form = form_of(name, version)
    if form is None:
        return ()
    return (Said(form.level, form.logger, form.text.format_map(values)),)
