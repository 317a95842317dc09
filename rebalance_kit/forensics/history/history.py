"""The fold: it takes the events of one group in order of time and gives away what is over."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from rebalance_kit.analysis.ownership import CALLS, Owners
from rebalance_kit.forensics.history.coordinator import EXPIRED, UNSTORED, Coordinator
from rebalance_kit.forensics.history.fates import Fates
from rebalance_kit.forensics.history.felt import Felt
from rebalance_kit.forensics.history.lives import Lives, Names
from rebalance_kit.forensics.history.member_lines import FELT, STARTS
from rebalance_kit.forensics.history.rebalance import Lost, Waits
from rebalance_kit.forensics.history.topics import KINDS, Subscriptions, Topics
from rebalance_kit.forensics.history.triggers import Causes, topics_in

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from rebalance_kit.forensics.event import Event, Kind
    from rebalance_kit.forensics.history.lives import Namesakes
    from rebalance_kit.forensics.history.rebalance import Rebalance


#: Where no rebalance begins for so long, one is over before the next begins.
QUIET_MS = 60_000


class Common:
    """What a group's own lines and lines of no group tell: names, fates, topics, settings.

    Where a run has many groups, its lines of no group are taken once, and the histories of all groups look them up (``shared``).
    """

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


class History:
    """The history of one group.

    It keeps what is open (members, the rebalance under way, owners of partitions, topics) and a short past:
    whoever calls ``finished`` and ``forget`` now and then gets what is over, once, and the state stays as it is.
    ``shared``: what lines of no group tell, unless they are taken here too.
    """

    def __init__(self, group: str | None, shared: Common | None = None) -> None:
        self.group = group
        self._common = Common(shared)
        self.names, self.topics = self._common.names, self._common.topics
        self._fates, self._owners = self._common.fates, self._common.owners
        self.subscriptions = Subscriptions()
        self.coordinated = False
        self._counts, self._numbered = Counts(), 0
        #: When each member was last written of.
        self._mentioned: dict[str, int] = {}
        self._coordinator, self._felt = Coordinator(), Felt()
        self._lives, self._waits, self._causes = Lives(), Waits(), Causes()

    def listeners(self, kind: Kind) -> Iterator[Callable[[Event], object]]:
        """Who takes the events of a kind: the group's, or of no group and of possible concern (a process's start)."""
        name, own = kind.event, kind.group == self.group
        if kind.names:
            yield self._mention
        yield from self._common.listeners(kind)
        if kind.side == "broker":
            if own and self.group is not None:
                yield from self._steps_of_coordinator(name)
            elif name in UNSTORED:
                yield self._coordinator.unstored
        elif own:
            for names, step in self._routes:
                if name in names:
                    yield step

    def _mention(self, event: Event) -> None:
        member, at_ms = self.names.take(event), event.at_ms
        if member is not None:
            self._mentioned[member] = self._mentioned.get(member, 0) if at_ms is None else at_ms

    @cached_property
    def _routes(self) -> tuple[tuple[Collection[str], Callable[[Event], None]], ...]:
        """Which lines of the group's members go where."""
        return (
            (FELT, self._felt_by_member),
            (STARTS, self._felt.start),
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
        if name == "stabilized":
            yield self._owners.stabilized
        yield self._fates.born
        yield self._coordinator.take
        yield self._lives.take

    def _counted(self, event: Event) -> None:
        name, counts = event.event, self._counts
        if not self.coordinated:
            self.coordinated = True
            self._felt.clear()
        if name == "stabilized" and event.generation is not None:
            counts.generations.append(event.generation)
        elif name == "bumped" and event.epoch is not None:
            counts.epochs.append(event.epoch)
        elif name == "computed":
            counts.targets += 1
        elif name in EXPIRED:
            counts.expired.append(event.member)

    def _felt_by_member(self, event: Event) -> None:
        if not self.coordinated:
            self._felt.take(event)

    def _transitioned(self, event: Event) -> None:
        self._coordinator.stepped(event)
        if event.state_from == "STABLE":
            self.subscriptions.step(event)

    def finished(self, before_ms: float = inf, until_ms: float = inf) -> Finished:
        """Give away what was over before then, in order of time; without a moment, everything.

        What explains it may have been written later, so the moment should lie a while back; ``until_ms`` is that of
        the last line.
        """
        rows = self._coordinator.finished(before_ms)
        by_name = self._lives.by_name(self.names.of)
        for row in rows:
            self._name(row, by_name)
        if not self.coordinated:
            rows = rows + self._felt.finished(before_ms)
        rows.sort(key=lambda row: (row.start_ms, row.file, row.line))
        self._explain(rows, before_ms, until_ms)
        counts, self._counts = self._counts, Counts()
        counts.expired = [self.names.of(member) for member in counts.expired]
        gaps = [gap._asdict() for gap in self._owners.over(self.names.of, before_ms, self._fates.last_line)]
        return Finished(rows, gaps, self._lives.finished(self.names.of, before_ms), counts)

    def quiet_before(self, before_ms: int) -> int:
        """A moment up to then at which no rebalance was going on, as far as there is one."""
        begun = sorted(self._coordinator.begun if self.coordinated else self._felt.begun)
        for one, after in zip(reversed(begun), [inf, *reversed(begun)], strict=False):
            if one <= before_ms - QUIET_MS and after - one >= QUIET_MS:
                return min(before_ms, int(min(after, before_ms + QUIET_MS)) - QUIET_MS // 2)
        return before_ms

    def _explain(self, rows: list[Rebalance], before_ms: float, until_ms: float) -> None:
        for number, row in enumerate(rows, start=self._numbered + 1):
            row.number = number
            self._fates.explain(row, until_ms)
        self._numbered += len(rows)
        self.topics.explain(rows)
        for row in rows:
            if row.trigger == "metadata_changed" and row.topics is None and not row.restarting:
                row.topics = topics_in(row.said)
        self.subscriptions.explain(rows)
        self._waits.name(rows)
        self._causes.name(rows)
        self._owners.move(rows, before_ms)

    def session_known(self, client: str) -> bool:
        """Whether these logs tell how long a client's session is."""
        return self._owners.session_known(client)

    def someone_is_silent(self, members: Sequence[Mapping[str, object]]) -> bool:
        """Whether a log is missing: the coordinator's, or that of a member of which only the coordinator tells."""
        return not self.coordinated or any(row["client"] not in self._owners.callers for row in members)

    @property
    def members(self) -> int:
        """How many members are in the group, or were a short while ago."""
        return len(self._lives)

    def gone(self, before_ms: int) -> Collection[str]:
        """The members that are not in the group and have not been written of since then."""
        return {
            member
            for member, at_ms in self._mentioned.items()
            if at_ms < before_ms and member not in self._lives
        }

    def forget(self, before_ms: int) -> None:
        """Forget what was before then and is not open."""
        gone = self.gone(before_ms)
        living = {self.names.of(member) for member in self._mentioned if member in self._lives}
        self._mentioned = {member: at_ms for member, at_ms in self._mentioned.items() if member not in gone}
        self.names.forget(gone)
        self._fates.forget(before_ms, gone, living)
        self._coordinator.forget(gone)
        self._felt.forget(before_ms)
        self._owners.forget(self._fates.clients)
        for part in (self.topics, self.subscriptions, self._waits, self._causes):
            part.forget(before_ms)

    def _name(self, row: Rebalance, by_name: Mapping[str | None, Namesakes]) -> None:
        """Put people's names for member ids."""
        row.culprit = self.names.of(row.culprit_member)
        if row.trigger == "join":
            namesakes = by_name.get(row.culprit)
            row.shares_name = namesakes is not None and namesakes.other_at(row.culprit_member, row.start_ms)
        row.joined = sorted({self.names.of(member) or "" for member in row.moves.joined})
        gone = row.moves.left if row.left_again_ms is None else row.moves.left - {row.culprit_member}
        row.left = sorted({self.names.of(member) or "" for member in gone})
        row.expired = sorted({self.names.of(member) or "" for _, member in row.moves.expired})
        row.others = [
            Lost(self.names.of(member) or "", member, at_ms)
            for at_ms, member in dict.fromkeys(row.moves.expired)
            if member != row.culprit_member
        ]


@dataclass(slots=True)
class Counts:
    """What the coordinator wrote down, to be compared with what the brokers counted."""

    generations: list[int] = field(default_factory=list)
    epochs: list[int] = field(default_factory=list)
    targets: int = 0
    expired: list[str | None] = field(default_factory=list)

    def add(self, later: Counts) -> None:
        """Add what came later."""
        self.generations += later.generations
        self.epochs += later.epochs
        self.targets += later.targets
        self.expired += later.expired


class Finished(NamedTuple):
    """What is over: rows of the tables, which the history does not keep."""

    rebalances: list[Rebalance]
    gaps: list[dict[str, object]]
    members: list[dict[str, object]]
    counts: Counts
