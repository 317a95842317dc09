"""The parts of a history that lines of no group feed too: names, fates, topics, settings.

Where a run tells of many groups, its lines of no group are taken once, and the histories of all groups look them up.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rebalance_kit.forensics.history.fates import Fates
from rebalance_kit.forensics.history.names import Names
from rebalance_kit.forensics.history.owners import Owners
from rebalance_kit.forensics.history.topics import KINDS, Topics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rebalance_kit.forensics.event import Event, Kind


class Common:
    """What a group's own lines and lines of no group tell; ``shared``: of no group, once all of them are taken."""

    def __init__(self, shared: Common | None = None) -> None:
        self.names: Names = Names(shared.names if shared else None)
        self.fates: Fates = Fates(shared.fates if shared else None)
        self.topics: Topics = Topics(shared.topics if shared else None)
        self.owners: Owners = Owners(shared=shared.owners if shared else None)

    def listeners(self, kind: Kind) -> Iterator[Callable[[Event], object]]:
        """Who takes the events of a kind, besides ``names``."""
        name = kind.event
        if kind.side == "broker":
            if name in KINDS:
                yield self.topics.change
            elif name in {"broker_started", "loaded"}:
                yield self.topics.start
            return
        if kind.dated:
            yield self.fates.take
        if name == "config":
            yield self.owners.configured
