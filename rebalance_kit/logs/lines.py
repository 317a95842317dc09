"""A log line and the layouts in which Kafka's processes print it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple

from rebalance_kit.logs.broker_templates import BROKER
from rebalance_kit.logs.client_templates import CLIENT, PROCESS
from rebalance_kit.model.versions import has

EPOCH = datetime(2026, 1, 5, 9, 0, 0, tzinfo=UTC)
"""The wall-clock time at which a simulated run begins, unless somebody says otherwise."""
SPRING_WIDTH = 40


@dataclass(frozen=True, slots=True)
class LogLine:
    """One log event: ``at_ms`` of the run, level, logger, message (newlines inside where Kafka has them).

    ``thrown`` is what an exception prints below the line (class and message, without stack frames).
    """

    at_ms: int
    level: str
    logger: str
    message: str
    thrown: str | None = None


def default_layout(line: LogLine, begins: datetime = EPOCH) -> str:
    """Kafka's own pattern ``[%d] %p %m (%c)%n``, without the final newline.

    >>> default_layout(LogLine(1234, "INFO", "a.B", "hello"))
    '[2026-01-05 09:00:01,234] INFO hello (a.B)'
    """
    when = begins + timedelta(milliseconds=line.at_ms)
    below = "" if line.thrown is None else f"\n{line.thrown}"
    return f"[{when:%Y-%m-%d %H:%M:%S},{when.microsecond // 1000:03d}] {line.level} {line.message} ({line.logger}){below}"


def spring_layout(line: LogLine, begins: datetime = EPOCH) -> str:
    """Spring Boot's console pattern, with the logger shortened to its 40 columns."""
    when = begins + timedelta(milliseconds=line.at_ms)
    stamp = f"{when:%Y-%m-%dT%H:%M:%S}.{when.microsecond // 1000:03d}Z"
    below = "" if line.thrown is None else f"\n{line.thrown}"
    return f"{stamp} {line.level:>6} 1 --- [           main] {shortened(line.logger):<{SPRING_WIDTH}} : {line.message}{below}"


def shortened(logger: str) -> str:
    """Spring Boot's ``%-40.40c{1.}``: every package to its first letter, then the last 40 characters.

    >>> shortened("org.apache.kafka.clients.consumer.internals.ConsumerRebalanceListenerInvoker")
    'k.c.c.i.ConsumerRebalanceListenerInvoker'
    """
    *packages, name = logger.split(".")
    return ".".join([*(part[:1] for part in packages), name])[-SPRING_WIDTH:]


def librdkafka_layout(line: LogLine, begins: datetime = EPOCH) -> str:
    """Librdkafka's default printer: ``%LEVEL|SECONDS.MS|FACILITY|CLIENT| [thrd:...]: message``.

    The logger of such a line is ``FACILITY|CLIENT`` and its level a syslog number.
    """
    when = begins + timedelta(milliseconds=line.at_ms)
    return (
        f"%{line.level}|{int(when.timestamp())}.{when.microsecond // 1000:03d}|{line.logger}| {line.message}"
    )


LAYOUTS: Mapping[str, Callable[[LogLine, datetime], str]] = MappingProxyType(
    {"kafka": default_layout, "spring": spring_layout, "librdkafka": librdkafka_layout}
)
"""How a line is printed: Kafka's default pattern, Spring Boot's console, librdkafka's standard error."""


def render(line: LogLine, begins: datetime = EPOCH, layout: str = "kafka") -> str:
    """A line as its process prints it, without the final newline: ``layout`` is a Java process's, librdkafka has its own.

    ``begins`` is the wall-clock time at ms 0 of the run; raises ``KeyError`` for a layout that is not in ``LAYOUTS``.
    """
    return LAYOUTS["librdkafka" if line.level.isdigit() else layout](line, begins)


def at_least(version: str, release: str) -> bool:
    """Whether a Kafka version is of that release or newer."""
    ours, theirs = (tuple(int(part) for part in text.split(".")[:2]) for text in (version, release))
    return ours >= theirs


def listed(partitions: Iterable[object], version: str) -> str:
    """A set of partitions as callback lines print it: brackets since 4.1, none before."""
    inside = ", ".join(str(one) for one in partitions)
    return f"[{inside}]" if has("bracketed-callback-lines", version) else inside


def bracketed(partitions: Iterable[object]) -> str:
    """A list as Java prints it: ``[orders-0, orders-1]``."""
    return f"[{', '.join(str(one) for one in partitions)}]"


# The texts of Kafka's log lines: every line that the kit writes is in one of these tables.
#
# A line has forms: from which Kafka version on it reads so (the newest form first). Values stand in
# ``{braces}``; everything else is Kafka's own text. Texts and loggers were taken from recorded brokers and
# clients of 3.9.1, 4.0.0 and 4.3.1 where one printed the line, otherwise from the source of Kafka's classes.


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
