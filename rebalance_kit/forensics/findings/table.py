"""All findings of a group: the rules and collectors put together, without echoes of each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebalance_kit.forensics.findings.callbacks import SLOW_STEPS, Settings, Slowness
from rebalance_kit.forensics.findings.finding import Row, order
from rebalance_kit.forensics.findings.input_quality import InputQuality
from rebalance_kit.forensics.findings.patterns import TOGETHER, Together, patterns
from rebalance_kit.forensics.findings.restarts import COMINGS_AND_GOINGS, REPLACING, Replaced, Restarts
from rebalance_kit.forensics.findings.rules.by_rule import JOINED, RULES_BY_EVENT, ByRule
from rebalance_kit.forensics.findings.subscribed import SHARED_OUT, Remade, Shares, Subscribed
from rebalance_kit.forensics.findings.unplaced import LOADED, PLACED, STATES, UNLOADED, Unplaced
from rebalance_kit.forensics.history.member_lines import FOUND

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from rebalance_kit.forensics.event import Event, Kind
    from rebalance_kit.forensics.history.history import History
    from rebalance_kit.forensics.history.lives import Names
    from rebalance_kit.forensics.history.rebalance import Rebalance

#: A finding of the first kind says nothing beside one of the others about the same member (or group).
_UNLESS = {
    "coordinator_lost": ("member_frozen",),
    "coordinator_not_ready": ("coordinator_lost",),
    "client_join_failed": ("client_lost_session",),
    "heartbeats_unanswered": ("member_frozen", "machine_frozen"),
    "native_session_lost": ("machine_frozen",),
    "member_left": ("task_failed", "poll_timeout_exceeded", "client_poll_timeout", "instance_id_fenced"),
    "replaced_without_leave": ("died_without_goodbye",),
    "static_return": ("duplicate_instance_id", "instance_id_shared", "instances_take_turns"),
    "instance_id_shared": ("duplicate_instance_id",),
    "repeated_notice": ("deleted_topic_commit",),
    "rebalance_held_up": ("slow_callback", "deleted_topic_commit"),
}

#: Of these, one about anybody in the group is enough.
_OF_THE_GROUP = frozenset(
    {"task_failed", "machine_frozen", "duplicate_instance_id", "instance_id_shared", "instances_take_turns"}
)

#: The lines that tell of topics.
MADE_AND_GONE = frozenset({"topic_created", "topic_deleted"})


class Findings:
    """Collects, event by event, what deserves a sentence; ``alone``: the run tells of one group only.

    ``remade``: the topics of which lines of no group tell, unless they are taken here too.
    """

    def __init__(self, group: str | None, *, alone: bool, remade: Remade | None = None) -> None:
        self._group, self._alone, self._remade = group, alone, Remade(remade)
        self._by_rule, self._slowness, self._restarts = ByRule(), Slowness(), Restarts()
        self._shares, self._settings, self._subscribed = Shares(), Settings(), Subscribed()
        self._replaced = Replaced()
        self._quality, self._unplaced, self._together = InputQuality(group), Unplaced(), Together()

    def listeners(self, kind: Kind) -> Iterator[Callable[[Event], object]]:
        """Who takes the events of a kind: the group's, or of no group."""
        name, side, own = kind.event, kind.side, kind.group == self._group
        if own and self._group is not None and (side == "broker" or name == "joined"):
            yield self._quality.take
        # What no group is named for is of the only one there is.
        if own or self._alone:
            if name in RULES_BY_EVENT:
                yield self._by_rule.take
            if name in JOINED and side != "broker":
                yield self._by_rule.joined
            if name in FOUND:
                yield self._by_rule.found
            if name in TOGETHER:
                yield self._together.take
            if name == "config":
                yield self._by_rule.configured
            if name in COMINGS_AND_GOINGS:
                yield self._restarts.take
            if name in REPLACING and side == "broker":
                yield self._replaced.take
            if kind.back:
                yield self._quality.went_back
            if kind.instance and side == "java":
                yield self._restarts.use
        if name in MADE_AND_GONE:
            yield self._remade.change
        if own and name in PLACED:
            yield self._unplaced.take
        if own and name in {UNLOADED, LOADED}:
            yield self._unplaced.unload
        if own and name == STATES:
            yield self._unplaced.state
        if own and side != "broker":
            for names, step in (
                (SLOW_STEPS, self._slowness.take),
                (SHARED_OUT, self._shares.take),
                (("config", "joined"), self._settings.take),
                (("subscribed",), self._subscribed.take),
            ):
                if name in names:
                    yield step

    def copied(self, event: Event) -> None:
        """A line that another file holds too, and that was taken from there."""
        if event.side == "broker" and event.group == self._group and self._group is not None:
            self._quality.take(event)

    def settle(self, before_ms: float, history: History, rebalances: Sequence[Rebalance]) -> None:
        """Sum up what was before then (at the end: everything); ``rebalances`` are those that are over since the last time."""
        self._slowness.settle(before_ms)
        self._quality.settle(before_ms)
        self._restarts.settle(history.names, before_ms)
        self._replaced.settle(history.names, before_ms)
        self._shares.settle(rebalances, before_ms)

    def forget(self, members: Collection[str], names: Names) -> None:
        """Remember by their names members that will not be written of any more."""
        self._by_rule.forget(members, names)

    def rows(self, history: History, rebalances: Sequence[Rebalance], storms: Sequence[Row]) -> list[Row]:
        """All findings, earliest first; to be asked once, at the end."""
        rows = [
            *self._by_rule.rows(history.names, rebalances),
            *self._slowness.rows(),
            *self._restarts.rows(),
            *self._replaced.rows(),
            *self._shares.rows(),
            *self._settings.rows(),
            *self._subscribed.rows(history.subscriptions.by_caller),
            *self._remade.rows(history.topics),
            *patterns(rebalances, storms),
            *self._together.rows(),
            *self._quality.rows(),
            *self._unplaced.rows(
                placed=(bool(rebalances) and self._group is not None) or history.coordinated
            ),
        ]
        return sorted(_without_echoes(rows), key=order)


def _without_echoes(rows: Sequence[Row]) -> list[Row]:
    """Drop findings that another one explains (``_UNLESS``)."""
    said = {(row["finding"], row["who"]) for row in rows}
    kinds = {code for code, _ in said}

    def echoes(row: Row) -> bool:
        return any(
            code in kinds if code in _OF_THE_GROUP else (code, row["who"]) in said
            for code in _UNLESS.get(str(row["finding"]), ())
        )

    return [row for row in rows if not echoes(row)]
