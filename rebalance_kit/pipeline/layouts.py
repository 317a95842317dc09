"""How a line is laid out: where its time, level, logger and message stand.

A layout is a row of the table: a quick test with SQL's ``LIKE`` that nearly only its own lines pass,
the expression that takes a line apart, the names of its groups, and the pattern of its time.
Lines that pass no test belong to an event above (a stack trace, a block) or to no log at all.
"""

from __future__ import annotations

from dataclasses import dataclass

_LEVELS = "TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL"

#: Time of a layout given as seconds since 1970 instead of by a pattern.
EPOCH_SECONDS = "epoch seconds"


@dataclass(frozen=True, slots=True)
class Layout:
    """One way of writing a line; ``groups`` name the expression's groups, in order.

    Known groups: ``at``, ``level``, ``logger``, ``message``, ``fac`` and ``client`` (librdkafka).
    """

    name: str
    like: tuple[str, ...]
    pattern: str
    groups: tuple[str, ...]
    time: str


#: Kafka's own ``[%d] %p %m (%c)%n`` (``config/log4j2.yaml``, before 4.0 ``log4j.properties``).
KAFKA_DEFAULT = Layout(
    "kafka",
    ("[____-__-__ __:__:__,___] %",),
    rf"(?s)^\[([^\]]{{23}})\] ({_LEVELS}) +(.*?)(?: \(([\w.$]+)\))?$",
    ("at", "level", "message", "logger"),
    "yyyy-MM-dd HH:mm:ss,SSS",
)

#: ``2026-11-21T02:15:25.032Z  INFO 8617 --- [app] [main] o.a.k.c.c.i.ConsumerCoordinator : message``.
SPRING_BOOT = Layout(
    "spring-boot",
    ("____-__-__T__:__:__.___%--- [%", "____-__-__ __:__:__.___%--- [%"),
    rf"(?s)^(\S+(?: [\d:.,]+)?) +({_LEVELS}) \S+ --- (?:\[.*?\] )+(\S+) *: (.*)$",
    ("at", "level", "logger", "message"),
    "yyyy-MM-dd['T'][' ']HH:mm:ss.SSS[XXX]",
)

#: ``2026-11-21 02:15:25,032 [thread] INFO logger - message``: the common log4j and logback pattern.
LOG4J = Layout(
    "log4j",
    ("____-__-__ __:__:__,___ %", "____-__-__ __:__:__.___ %", "____-__-__T__:__:__.___%"),
    rf"(?s)^(\d{{4}}-\d\d-\d\d[ T][\d:]{{8}}[.,]\d{{3}}\S*) +(?:\[.*?\] +)?({_LEVELS}) +(?:\[.*?\] +)?([\w.$]+) *(?:-|:) (.*)$",
    ("at", "level", "logger", "message"),
    "yyyy-MM-dd['T'][' ']HH:mm:ss[,SSS][.SSS][XXX]",
)

#: librdkafka's default printer: ``%7|1795229275.890|JOIN|c1#consumer-1| [thrd:main]: message``.
LIBRDKAFKA = Layout(
    "librdkafka",
    ("\\%_|%.___|%",),
    r"(?s)^%(\d)\|(\d+\.\d{3})\|(\w+)\|([^|]*)\| (?:\[thrd:[^\]]*\]: ?)?(?:GroupCoordinator/\d+: |\S+:\d+/(?:\d+|bootstrap): )?(.*)$",
    ("level", "at", "fac", "client", "message"),
    EPOCH_SECONDS,
)

LAYOUTS: tuple[Layout, ...] = (KAFKA_DEFAULT, SPRING_BOOT, LIBRDKAFKA, LOG4J)

#: What a line without a layout starts with when it continues the event above it.
CONTINUATIONS: tuple[str, ...] = (
    "\t",
    " ",
    "{",
    "}",
    "*",
    "Caused by:",
    "Suppressed:",
    "...",
    "Traceback (most recent call last)",
    "java.",
    "javax.",
    "org.",
    "com.",
    "io.",
    "kafka.",
    "cimpl.",
)
