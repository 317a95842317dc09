"""Settings that make rebalances worse than they need to be, as members write them down when they start."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebalance_kit.forensics.findings.finding import Evidence, Row, line, told

if TYPE_CHECKING:
    from rebalance_kit.forensics.event import Event

_KEYS = frozenset({"heartbeat.interval.ms", "session.timeout.ms", "group.protocol"})


class Settings:
    """Collects what members say of their configuration."""

    def __init__(self) -> None:
        #: By file: the clients with Java's default list of assignors, the first line, and how many there are.
        self._defaults: dict[str, tuple[set[str | None], Event, int]] = {}
        self._ranged: set[str] = set()
        self._told: dict[tuple[str, str | None], dict[str, str]] = {}
        self._beats: dict[tuple[str, str | None], Evidence] = {}

    def take(self, event: Event) -> None:
        """A line of a member's settings, or one that says which assignor its group uses."""
        if event.event == "joined" and event.assignor == "range":
            self._ranged.add(event.file)
        if event.event != "config":
            return
        key, value = event.key or "", event.value
        if key == "partition.assignment.strategy" and value is not None:
            if "RangeAssignor" in value and "CooperativeStickyAssignor" in value:
                clients, first, times = self._defaults.get(event.file, (set(), event, 0))
                first = min(first, event, key=lambda one: one.line)
                self._defaults[event.file] = clients | {event.client}, first, times + 1
        elif key in _KEYS:
            place = event.file, event.client
            values = self._told.setdefault(place, {})
            if value is not None:
                values[key] = max(values.get(key, value), value)
            if key == "heartbeat.interval.ms":
                self._beats.setdefault(place, line(event))

    def rows(self) -> list[Row]:
        """The findings, once all lines are taken."""
        return [*self._eager(), *self._too_close()]

    def _eager(self) -> list[Row]:
        """Members with Java's default assignor list, which runs EAGER although cooperative-sticky is in it."""
        found = [told for file, told in self._defaults.items() if file in self._ranged]
        if not found:
            return []
        who = sorted({client for clients, _, _ in found for client in clients if client is not None})
        return [
            told(
                "eager_by_default",
                None,
                sum(times for _, _, times in found),
                f"{', '.join(name for name in who if name) or 'clients that are not named'}: the assignor list [range, cooperative-sticky] runs the eager protocol; "
                "every rebalance stops every partition",
                line(min((first for _, first, _ in found), key=lambda event: (event.line, event.file))),
                "Set partition.assignment.strategy to CooperativeStickyAssignor alone (one more rolling bounce), "
                "or use group.protocol=consumer.",
                "KIP-429; ConsumerConfig partition.assignment.strategy",
            )
        ]

    def _too_close(self) -> list[Row]:
        """Classic members whose session is shorter than three heartbeat intervals."""
        rows = []
        for (file, who), values in self._told.items():
            beat, session = (
                _number(values.get(key)) for key in ("heartbeat.interval.ms", "session.timeout.ms")
            )
            if beat is None or session is None or session >= 3 * beat:
                continue
            if values.get("group.protocol", "classic").lower() != "classic":
                continue
            rows.append(
                told(
                    "heartbeat_too_slow",
                    who,
                    1,
                    f"{'a member' if who is None else who} heartbeats every {beat} ms in a session of {session} ms: "
                    "two lost heartbeats and it is out",
                    self._beats[file, who],
                    "Keep heartbeat.interval.ms at a third of session.timeout.ms or less, so that one may be lost and one be late.",
                    "consumer config heartbeat.interval.ms",
                )
            )
        return rows


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.strip().isdecimal() and len(text) < 19 else None
