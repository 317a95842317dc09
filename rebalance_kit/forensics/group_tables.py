"""One group's events in, the rows of all its tables out: what both engines call, once a group."""

from __future__ import annotations

from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING

from rebalance_kit.forensics.findings.cost import with_costs
from rebalance_kit.forensics.findings.table import Findings
from rebalance_kit.forensics.history.history import History

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rebalance_kit.forensics.event import Event


@dataclass(slots=True)
class GroupTables:
    """The rows of a group in each table, without ``path`` and ``group``."""

    rebalances: list[dict[str, object]] = field(default_factory=list)
    gaps: list[dict[str, object]] = field(default_factory=list)
    storms: list[dict[str, object]] = field(default_factory=list)
    members: list[dict[str, object]] = field(default_factory=list)
    findings: list[dict[str, object]] = field(default_factory=list)
    groups: list[dict[str, object]] = field(default_factory=list)


def group_tables(group: str | None, events: Iterable[Event], *, alone: bool) -> GroupTables:
    """The tables of one group, from its events and those of no group, in any order.

    ``alone``: no other group is in the run.  For None, what lines of no group prove by themselves.
    """
    history, findings = History(group), Findings(group, alone=alone)
    for event in in_order_of_time(events):
        history.take(event)
        findings.take(event)
    rebalances = history.rebalances()
    storms = history.storms(rebalances)
    gaps = [] if group is None else history.gaps()
    said = with_costs(findings.rows(history, rebalances, storms), rebalances, storms, gaps)
    if group is None:
        return GroupTables(findings=said)
    return GroupTables(
        rebalances=[row.columns() for row in rebalances],
        gaps=gaps,
        storms=storms,
        members=history.members(),
        findings=said,
        groups=[history.group_row(rebalances, said)],
    )


def in_order_of_time(events: Iterable[Event]) -> list[Event]:
    """The events in order of time (none comes first), then by their place in their file."""
    undated: list[Event] = []
    dated: list[Event] = []
    for event in events:
        (undated if event.at_ms is None else dated).append(event)
    undated.sort(key=attrgetter("file", "row"))
    dated.sort(key=attrgetter("at_ms", "file", "row"))
    return undated + dated
