"""What an expression may ask of a run: each fact is one method, computed from the trace's rows.

Times are milliseconds of the run. A window that is not given begins with the scenario's first action
and ends with the run, so ``unread()`` is "which partitions did nobody read at some time since then".
Partitions are written as Kafka prints them (``orders-0``), members by their names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from functools import cached_property
from types import MappingProxyType
from typing import Any

from rebalance_kit.analysis.deliveries import gap_lengths
from rebalance_kit.analysis.metrics import metrics
from rebalance_kit.analysis.ownership import moves, owned_at, owners_at
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.topology import parse_partition
from rebalance_kit.model.trace import KINDS, Trace, TraceRow


class RunFacts:
    """The facts of one run. Public methods are what the language offers (``FACTS``)."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    @cached_property
    def _event_ms(self) -> int:
        return next((row.at_ms for row in self._trace.of("action")), 0)

    def _between(self, since: int | None, until: int | None, *kinds: str) -> Iterator[TraceRow]:
        first, last = self._window(since, until)
        return (row for row in self._trace.of(*kinds) if first <= row.at_ms <= last)

    @cached_property
    def _names(self) -> dict[str, str]:
        """Member ids to names, from every row in which a member speaks for itself."""
        inside = set(self._trace.meta.get("members", ())) | {
            row.actor for row in self._trace.of("process_started")
        }
        return {row.member_id: row.actor for row in self._trace.rows if row.member_id and row.actor in inside}

    def _last(self, at: int | None, *kinds: str) -> TraceRow | None:
        last = None
        for row in self._trace.of(*kinds):
            if at is not None and row.at_ms > at:
                break
            last = row
        return last

    def _window(self, since: int | None, until: int | None) -> tuple[int, int]:
        first = self._event_ms if since is None else since
        return (
            first if first > 0 else min(first, self._trace.rows[0].at_ms),  # a draw counts from its phase
            self._trace.end_ms if until is None else until,
        )

    # --- records stop and come again ------------------------------------------------------------
    def unread(self, since: int | None = None, until: int | None = None) -> list[str]:
        """Partitions that nobody read for some time in the window."""
        return sorted(self._gaps(since, until))

    def gap(self, partition: str, since: int | None = None, until: int | None = None) -> int:
        """The longest time in the window during which the partition's records reached nobody."""
        return self._gaps(since, until).get(partition, 0)

    def longest_gap(self, since: int | None = None, until: int | None = None) -> int:
        """The longest such time of any partition."""
        return max(self._gaps(since, until).values(), default=0)

    def gaps_over(self, limit: int, since: int | None = None, until: int | None = None) -> list[str]:
        """Partitions whose records reached nobody for longer than ``limit`` at a stretch."""
        return sorted(name for name, longest in self._gaps(since, until).items() if longest > limit)

    def _gaps(self, since: int | None, until: int | None) -> dict[str, int]:
        """Each partition with its longest gap in the window."""
        lengths = gap_lengths(self._trace, *self._window(since, until))
        return {str(tp): max(lengths[tp]) for tp in lengths}

    # --- who has what ---------------------------------------------------------------------------
    def owner(self, partition: str, at: int | None = None) -> str | None:
        """The member that owns the partition (the latest to get it, where two believe so)."""
        return owners_at(self._trace, at).get(parse_partition(partition))

    def owned(self, member: str, at: int | None = None) -> list[str]:
        """The partitions a member has in its assignment."""
        return owned_at(self._trace, at).get(member, [])

    def idle(self, at: int | None = None) -> list[str]:
        """Members that have been told their assignment and own nothing."""
        return [member for member, partitions in owned_at(self._trace, at).items() if not partitions]

    def moved(self, since: int | None = None, until: int | None = None) -> list[str]:
        """Partitions that one member read when the window began and another one at its end."""
        return sorted(map(str, moves(self._trace, *self._window(since, until))))

    # --- the group ------------------------------------------------------------------------------
    def generations(self, since: int | None = None, until: int | None = None) -> int:
        """Join phases completed (classic protocol)."""
        return sum(1 for _ in self._between(since, until, "generation"))

    def epochs(self, since: int | None = None, until: int | None = None) -> int:
        """Rises of the group epoch (consumer protocol)."""
        return sum(1 for _ in self._between(since, until, "epoch_bump"))

    def targets(self, since: int | None = None, until: int | None = None) -> int:
        """Target assignments computed by the coordinator (consumer protocol)."""
        return sum(1 for _ in self._between(since, until, "target"))

    def generation(self, at: int | None = None) -> int | None:
        """The group's generation or epoch at that time."""
        row = self._last(at, "generation", "epoch_bump")
        return row.generation if row else None

    def state(self, at: int | None = None) -> str | None:
        """The group's state at that time, in Kafka's word."""
        row = self._last(at, "group_state")
        return row.detail["to"] if row else None

    def states(self, since: int | None = None, until: int | None = None) -> list[str]:
        """The states the group entered, in order."""
        return [row.detail["to"] for row in self._between(since, until, "group_state")]

    def reasons(self, since: int | None = None, until: int | None = None) -> list[str]:
        """Kafka's reasons for state changes and epochs, in order."""
        return [
            row.detail["reason"]
            for row in self._between(since, until, "group_state", "epoch_bump")
            if row.detail.get("reason")
        ]

    def said(self, text: str, since: int | None = None, until: int | None = None) -> bool:
        """Whether one of those reasons contains the text."""
        return any(text in reason for reason in self.reasons(since, until))

    def leader(self, at: int | None = None) -> str | None:
        """The member that led the last generation."""
        row = self._last(at, "generation")
        return self._names.get(row.detail["leader"], row.detail["leader"]) if row else None

    def assignor(self, at: int | None = None) -> str | None:
        """The assignor of the last generation or target."""
        row = self._last(at, "generation", "target")
        return row.detail["assignor"] if row else None

    # --- a member -------------------------------------------------------------------------------
    def callbacks(self, member: str, which: str, since: int | None = None, until: int | None = None) -> int:
        """How often the member's listener was called: assigned, revoked or lost."""
        return len(self._calls(member, which, since, until))

    def told(
        self, member: str, which: str, nth: int = 1, since: int | None = None, until: int | None = None
    ) -> list[str] | None:
        """The partitions its n-th such call was given; none when there was no such call."""
        calls = self._calls(member, which, since, until)
        return sorted(calls[nth - 1].detail["partitions"]) if 0 < nth <= len(calls) else None

    def _calls(self, member: str, which: str, since: int | None, until: int | None) -> list[TraceRow]:
        if which not in {"assigned", "revoked", "lost"}:
            raise DataError(f"callback {which!r} is unknown; expected assigned, revoked or lost")
        return [
            row
            for row in self._between(since, until, "callback_begin")
            if row.actor == member and row.detail["callback"] == which
        ]

    def removed(self, member: str, since: int | None = None, until: int | None = None) -> str | None:
        """How the coordinator removed the member (leave, session, rebalance_timeout, ...), none if it did not."""
        row = self._removal(member, since, until)
        return row.detail["how"] if row else None

    def removed_ms(self, member: str, since: int | None = None, until: int | None = None) -> int | None:
        """When it did."""
        row = self._removal(member, since, until)
        return row.at_ms if row else None

    def _removal(self, member: str, since: int | None, until: int | None) -> TraceRow | None:
        return next(
            (row for row in self._between(since, until, "member_removed") if row.detail["name"] == member),
            None,
        )

    def died(self, member: str) -> str | None:
        """The error that ended the member's application, none if none did."""
        return next((row.detail["error"] for row in self._trace.of("died") if row.actor == member), None)

    def requests(self, member: str, api: str, since: int | None = None, until: int | None = None) -> int:
        """Requests of that kind (JoinGroup, SyncGroup, Heartbeat, ...) the member sent."""
        return sum(
            row.actor == member and row.detail["api"] == api for row in self._between(since, until, "request")
        )

    def errors(
        self, member: str, api: str | None = None, since: int | None = None, until: int | None = None
    ) -> list[str]:
        """Errors answered to the member, each once, in order of first appearance."""
        errors_seen: dict[str, None] = {}
        for row in self._between(since, until, "response"):
            error = row.detail.get("error", "NONE")
            if row.detail["to"] == member and error != "NONE" and api in {None, row.detail["api"]}:
                errors_seen[error] = None
        return list(errors_seen)

    # --- records --------------------------------------------------------------------------------
    def redelivered(
        self, partition: str | None = None, since: int | None = None, until: int | None = None
    ) -> int:
        """Records delivered again in the window, of one partition or of all."""
        rows = self._between(since, until, "redelivered")
        return sum(row.detail["count"] for row in rows if partition in {None, f"{row.topic}-{row.partition}"})

    def lost(self) -> int:
        """Records committed in the run that nobody processed."""
        return sum(row.detail["lost"] for row in self._trace.of("account"))

    # --- anything -------------------------------------------------------------------------------
    def rows(
        self,
        kind: str,
        member: str | None = None,
        since: int | None = None,
        until: int | None = None,
        **detail: Any,
    ) -> int:
        """How many rows of a kind (model.trace.KINDS), of one actor, with these values in their detail."""
        return sum(1 for _ in self._matching(kind, member, since, until, detail))

    def first_ms(
        self,
        kind: str,
        member: str | None = None,
        since: int | None = None,
        until: int | None = None,
        **detail: Any,
    ) -> int | None:
        """When the first of those rows was written, none if none was."""
        return next((row.at_ms for row in self._matching(kind, member, since, until, detail)), None)

    def last_ms(
        self,
        kind: str,
        member: str | None = None,
        since: int | None = None,
        until: int | None = None,
        **detail: Any,
    ) -> int | None:
        """When the last of them was."""
        times = [row.at_ms for row in self._matching(kind, member, since, until, detail)]
        return times[-1] if times else None

    def _matching(
        self, kind: str, member: str | None, since: int | None, until: int | None, detail: Mapping[str, Any]
    ) -> Iterator[TraceRow]:
        if kind not in KINDS:
            raise DataError(f"{kind!r} is no kind of trace row; expected one of {', '.join(KINDS)}")
        wanted = [(name, value) for name, value in detail.items()]
        for row in self._between(since, until, kind):
            if member in {None, row.actor} and all(row.detail.get(name) == value for name, value in wanted):
                yield row

    def metric(self, name: str) -> Any:
        """A figure of the run's metrics by its name there."""
        figures = asdict(metrics(self._trace))
        if name not in figures:
            raise DataError(f"metric {name!r} is unknown; expected one of {', '.join(figures)}")
        return figures[name]


FACTS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {name: getattr(RunFacts, name) for name in sorted(vars(RunFacts)) if not name.startswith("_")}
)
"""The facts by name, with their docstrings."""


def ask(facts: RunFacts, name: str, arguments: list[Any], named: Mapping[str, Any]) -> Any:
    """Answer one fact; raises ``DataError`` for an unknown one or arguments that do not fit."""
    from difflib import get_close_matches

    if name not in FACTS:
        close = get_close_matches(name, FACTS, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise DataError(f"{name!r} is no fact; expected one of {', '.join(FACTS)}{hint}")
    try:
        return FACTS[name](facts, *arguments, **named)
    except (TypeError, ValueError, OverflowError, LookupError, AttributeError) as error:
        raise DataError(f"{name}(...): {error}; expected: {FACTS[name].__doc__}") from error
