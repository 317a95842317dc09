"""A log line and the layouts in which Kafka's processes print it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

COORDINATOR = "org.apache.kafka.coordinator.group.GroupMetadataManager"
CLASSIC_GROUP = "org.apache.kafka.coordinator.group.classic.ClassicGroup"
RUNTIME = "org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime"
SCALA = "kafka.coordinator.group.GroupCoordinator"
CLIENT = "org.apache.kafka.clients.consumer.internals."
EPOCH = datetime(2026, 1, 5, 9, 0, 0, tzinfo=UTC)
"""The wall-clock time at which a simulated run begins, unless somebody says otherwise."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """One log event: ``at_ms`` of the run, level, logger, message (newlines inside where Kafka has them)."""

    at_ms: int
    level: str
    logger: str
    message: str


def default_layout(line: LogLine, begins: datetime = EPOCH) -> str:
    """Kafka's own pattern ``[%d] %p %m (%c)%n``, without the final newline.

    >>> default_layout(LogLine(1234, "INFO", "a.B", "hello"))
    '[2026-01-05 09:00:01,234] INFO hello (a.B)'
    """
    when = begins + timedelta(milliseconds=line.at_ms)
    return f"[{when:%Y-%m-%d %H:%M:%S},{when.microsecond // 1000:03d}] {line.level} {line.message} ({line.logger})"


def spring_layout(line: LogLine, begins: datetime = EPOCH) -> str:
    """Spring Boot's console pattern, with the logger shortened to its 40 columns."""
    when = begins + timedelta(milliseconds=line.at_ms)
    logger = line.logger
    parts = logger.split(".")
    for place in range(len(parts) - 1):
        if len(".".join(parts)) <= SPRING_WIDTH:
            break
        parts[place] = parts[place][:1]
    logger = ".".join(parts)[-SPRING_WIDTH:]
    stamp = f"{when:%Y-%m-%dT%H:%M:%S}.{when.microsecond // 1000:03d}Z"
    return f"{stamp} {line.level:>6} 1 --- [           main] {logger:<{SPRING_WIDTH}} : {line.message}"


SPRING_WIDTH = 40
LAYOUTS = {"kafka": default_layout, "spring": spring_layout}


def at_least(version: str, release: str) -> bool:
    """Whether a Kafka version is of that release or newer."""
    ours, theirs = (tuple(int(part) for part in text.split(".")[:2]) for text in (version, release))
    return ours >= theirs


def listed(partitions: list[str], version: str) -> str:
    """A set of partitions as callback lines print it: brackets since 4.1, none before."""
    inside = ", ".join(partitions)
    return f"[{inside}]" if at_least(version, "4.1") else inside
