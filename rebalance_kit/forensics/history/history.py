"""The fold: ``take`` the events of one group in order of time, then ask for what they add up to."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from rebalance_kit.forensics.history.causes import name_causes
from rebalance_kit.forensics.history.coordinator import EXPIRED, Coordinator
from rebalance_kit.forensics.history.fates import Fates
from rebalance_kit.forensics.history.felt import FELT, Felt
from rebalance_kit.forensics.history.lives import Lives
from rebalance_kit.forensics.history.names import Names
from rebalance_kit.forensics.history.owners import CALLS, Owners
from rebalance_kit.forensics.history.rebalance import Lost
from rebalance_kit.forensics.history.storms import storms
from rebalance_kit.forensics.history.subscriptions import Subscriptions
from rebalance_kit.forensics.history.topics import KINDS, Topics
from rebalance_kit.forensics.history.waits import Waits

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from rebalance_kit.forensics.event import Event
    from rebalance_kit.forensics.history.lives import Namesakes
    from rebalance_kit.forensics.history.rebalance import Rebalance


class History:
    """The history of one group.  Keeps what is open, and of what is over only what a table or an answer needs."""

    def __init__(self, group: str | None) -> None:
        self.group = group
        self.names = Names()
        self.topics = Topics()
        self.subscriptions = Subscriptions()
        self.coordinated = False
        self.generations: list[int] = []
        self.epochs: list[int] = []
        self.targets = 0
        self._failed: list[str | None] = []
        self._coordinator, self._felt, self._fates = Coordinator(), Felt(), Fates()
        self._owners, self._lives, self._waits = Owners(), Lives(), Waits()
        self._steps: dict[tuple[str, bool, bool], tuple[Callable[[Event], None], ...]] = {}

    def take(self, event: Event) -> None:
        """The next event of the group, or one of no group that may concern it (a broker's, a process's start)."""
        told = event.__dict__
        if "member" in told or "instance" in told or "reason" in told:
            self.names.take(event)
        key = event.event, event.side == "broker", event.group == self.group
        steps = self._steps.get(key)
        if steps is None:
            steps = self._steps[key] = tuple(self._steps_of(*key))
        for step in steps:
            step(event)

    def _steps_of(self, name: str, of_broker: bool, own: bool) -> Iterator[Callable[[Event], None]]:
        """Who listens to lines of a kind."""
        if of_broker:
            if name in KINDS:
                yield self.topics.change
            elif name in {"broker_started", "loaded"}:
                yield self.topics.start
            if own and self.group is not None:
                yield from self._steps_of_coordinator(name)
            return
        yield self._fates.take
        if name == "config":
            yield self._owners.configured
        if own:
            for names, step in self._routes:
                if name in names:
                    yield step

    @cached_property
    def _routes(self) -> tuple[tuple[Collection[str], Callable[[Event], None]], ...]:
        """Which lines of the group's members go where."""
        return (
            (FELT, self._felt.take),
            (CALLS, self._owners.take),
            ({"joining", "rd_joining"}, self._waits.take),
            ({"process_started", "process_closed", "subscribed"}, self.subscriptions.take),
            ({"transitioned"}, self._transitioned),
            ({"rd_rejoin"}, self.topics.rejoin),
            ({"subscribed", "assigned", "block_assigned"}, self.topics.use),
        )

    def _steps_of_coordinator(self, name: str) -> Iterator[Callable[[Event], None]]:
        yield self._counted
        if name in EXPIRED:
            yield self._owners.expired
        yield self._fates.born
        yield self._coordinator.take
        yield self._lives.take

    def _counted(self, event: Event) -> None:
        name = event.event
        self.coordinated = True
        if name == "stabilized" and event.generation is not None:
            self.generations.append(event.generation)
        elif name == "bumped" and event.epoch is not None:
            self.epochs.append(event.epoch)
        elif name == "computed":
            self.targets += 1
        elif name in EXPIRED:
            self._failed.append(event.member)

    def _transitioned(self, event: Event) -> None:
        if event.state_to == "STABLE" and event.at_ms is not None:
            self._coordinator.acknowledge(event.at_ms)
        if event.state_from == "STABLE":
            self.subscriptions.step(event)

    def rebalances(self) -> list[Rebalance]:
        """All rebalances, numbered in order of time, with cause and culprit; to be asked once, at the end."""
        rows = self._coordinator.finish()
        by_name = self._lives.by_name(self.names.of)
        for row in rows:
            self._name(row, by_name)
        if not self.coordinated:
            rows = rows + self._felt.finish()
        rows.sort(key=lambda row: (row.start_ms, row.file, row.line))
        for number, row in enumerate(rows, start=1):
            row.number = number
            self._fates.explain(row)
        self.topics.explain(rows)
        self.subscriptions.explain(rows)
        self._waits.name(rows)
        name_causes(rows)
        self._owners.move(rows)
        return rows

    def _name(self, row: Rebalance, by_name: Mapping[str | None, Namesakes]) -> None:
        """Put people's names for member ids."""
        row.culprit = self.names.of(row.culprit_member)
        if row.trigger == "join":
            namesakes = by_name.get(row.culprit)
            row.shares_name = namesakes is not None and namesakes.other_at(row.culprit_member, row.start_ms)
        row.joined = sorted({self.names.of(member) or "" for member in row.moves.joined})
        row.left = sorted({self.names.of(member) or "" for member in row.moves.left})
        row.expired = sorted({self.names.of(member) or "" for _, member in row.moves.expired})
        row.others = [
            Lost(self.names.of(member) or "", member, at_ms)
            for at_ms, member in dict.fromkeys(row.moves.expired)
            if member != row.culprit_member
        ]

    def gaps(self) -> list[dict[str, object]]:
        """The gaps of all partitions."""
        return self._owners.gaps(self.names.of)

    def members(self) -> list[dict[str, object]]:
        """The lives of all members."""
        return self._lives.rows(self.names.of)

    def storms(self, rebalances: list[Rebalance]) -> list[dict[str, object]]:
        """The storms among these rebalances."""
        return storms(rebalances)

    def group_row(self, rebalances: list[Rebalance], findings: list[dict[str, object]]) -> dict[str, object]:
        """The row of the group: what is compared with what the brokers counted, and the lists of the rest."""
        # Without a coordinator's log: what the members themselves reported.
        felt = {
            protocol: [row.after for row in rebalances if row.protocol == protocol and row.after is not None]
            for protocol in ("classic", "consumer")
        }
        counted = self.coordinated or not rebalances
        names = [self.names.of(member) for member in self._failed]
        return {
            "generations": self.generations if counted else felt["classic"],
            "epochs": self.epochs if counted else felt["consumer"],
            "targets": self.targets,
            "expired": len(self._failed),
            "expired_members": [name for name in names if name is not None],
            "rebalances": [_shown(row) for row in rebalances] or None,
            "causes": [row.cause for row in rebalances],
            "findings": [_told(row) for row in findings] or None,
        }


#: What a group's row shows of a rebalance and of a finding.
SHOWN = (
    "number",
    "protocol",
    "trigger",
    "cause",
    "culprit",
    "start_ms",
    "end_ms",
    "duration_ms",
    "before",
    "after",
    "members",
    "joined",
    "left",
    "expired",
    "fate",
    "moved",
    "revoked",
    "waited_for",
    "waited_ms",
    "culprit_member",
    "file",
    "line",
)
TOLD = ("at_ms", "finding", "who", "unread_ms", "sentence", "do", "source", "file", "line", "evidence")


def _shown(row: Rebalance) -> dict[str, object]:
    return {name: getattr(row, name) for name in SHOWN}


def _told(row: dict[str, object]) -> dict[str, object]:
    return {name: row[name] for name in TOLD}
