"""A run as piecewise-constant states: one track per member, one per partition, one for the group.

``board(trace, at_ms)`` answers what the lab shows at a moment; whoever asks often keeps ``Boards``,
which folds the trace once and finds any moment by bisection.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

from rebalance_kit.analysis.deliveries import Delivery, Gap, deliveries, gaps
from rebalance_kit.analysis.metrics import study_from
from rebalance_kit.model.client_keys import CLIENT_KEYS
from rebalance_kit.model.config import BrokerConfig
from rebalance_kit.model.topology import parse_partition
from rebalance_kit.model.trace import Trace, require_trace
from rebalance_kit.model.versions import PREFERRED
from rebalance_kit.view.board.marks import find_marks
from rebalance_kit.view.board.states import (
    ABSENT,
    RECENT_MS,
    BoardState,
    GroupState,
    Mark,
    MemberView,
    Message,
    PartitionState,
    PartitionView,
    Position,
    Queue,
)
from rebalance_kit.view.board.track import StateTracks, Track, between, queues_of
from rebalance_kit.view.style.theme import looks


class Boards:
    """One group's run, ready to be asked for any moment.

    ``group`` names the consumer group when a trace holds several (default: that of the first
    process). Session timeouts follow from the trace: the members' configs, and the broker's in ``meta``.
    ``tracks`` and ``settled_ms`` are taken from a run that begins with the same rows.
    """

    def __init__(
        self,
        trace: Trace,
        group: str | None = None,
        tracks: StateTracks | None = None,
        settled_ms: int | None = None,
    ) -> None:
        require_trace(trace)
        self._settled_before = settled_ms
        self.trace = trace
        self.end_ms = trace.end_ms
        tracks = tracks or StateTracks(trace, group)
        tracks.feed(trace)
        self.group_name = tracks.group_name
        self.names = tracks.names
        self.members, self.group = tracks.members, tracks.group
        self.partitions = {
            name: tracks.partitions[name] for name in sorted(tracks.partitions, key=parse_partition)
        }
        records = tracks.folder.records
        self.messages: tuple[Message, ...] = tuple(records.messages)
        self.beats: dict[str, list[int]] = records.beats
        self.positions: dict[str, list[tuple[int, Position]]] = records.positions
        self._sessions = _session_lengths(trace)
        self._starts: dict[str, list[int]] = {}
        for row in trace.of("process_started"):
            self._starts.setdefault(row.actor, []).append(row.at_ms)

    def retold(self, trace: Trace) -> Boards:
        """The same boards for a trace that differs in configurations alone: its sessions have other lengths."""
        other = copy(self)
        vars(other).update(trace=trace, _sessions=_session_lengths(trace))
        return other

    @cached_property
    def marks(self) -> tuple[Mark, ...]:
        """Marks of the strip: actions, rebalances, sessions that end."""
        return find_marks(self.trace, self.group_name)

    @cached_property
    def labels(self) -> dict[str, str]:
        """The label on each member's disc."""
        return {name: look.label for name, look in looks(self.names).items()}

    @cached_property
    def change_times(self) -> tuple[int, ...]:
        """Every moment at which a member, a partition, the group or what is told of records changed."""
        tracks: list[Track[Any]] = [*self.members.values(), *self.partitions.values(), self.group]
        told = {at for each in self.deliveries for at in (each.at_ms, each.at_ms + RECENT_MS)}
        told |= {at for each in self.queues for at in (each.begin_ms, each.end_ms)}
        times = {at for track in tracks for at in track.times}
        return tuple(sorted(times | {at for at in told if at <= self.end_ms}))

    @cached_property
    def deliveries(self) -> tuple[Delivery, ...]:
        """Records of this group's partitions that came twice or were skipped."""
        return tuple(each for each in deliveries(self.trace) if each.member in self.members)

    @cached_property
    def queues(self) -> tuple[Queue, ...]:
        """When records of some seconds waited in partitions that were read."""
        found = [
            queue
            for name, track in self.partitions.items()
            for queue in queues_of(name, self.positions.get(name, ()), track, self.end_ms)
        ]
        return tuple(sorted(found))

    def _records(self, board: BoardState) -> BoardState:
        """The board with what is told of records at its moment."""
        at_ms = board.at_ms
        past = tuple(each for each in self.deliveries if each.at_ms <= at_ms)
        queues = tuple(
            each
            for each in self.queues
            if each.begin_ms <= at_ms < each.end_ms or at_ms == each.end_ms == self.end_ms
        )
        return replace(board, deliveries=past, queues=queues) if past or queues else board

    def settled_ms(self) -> int | None:
        """The first settled moment: the group is stable, all partitions flow, nobody waits for one.

        None when that never comes.
        """
        return self._settled

    def calm_ms(self) -> int | None:
        """The first moment from ``settled_ms`` on at which each partition that has a reader has a committed offset."""
        settled = self.settled_ms()
        if settled is None:
            return None
        committed = [
            next((at_ms for at_ms, position in looks if position.committed is not None), settled)
            for looks in self.positions.values()
        ]
        return max([settled, *committed])

    @cached_property
    def _settled(self) -> int | None:
        if self._settled_before is not None:
            return self._settled_before
        return _first_settled(self.group, list(self.partitions.values()))

    @cached_property
    def watched_from_ms(self) -> int:
        """The moment from which a run is counted (``analysis.metrics.study_from``)."""
        return study_from(self.trace)

    @cached_property
    def gaps(self) -> dict[str, list[Gap]]:
        """When nobody received a partition's records, from ``watched_from_ms`` on, by partition."""
        by_partition: dict[str, list[Gap]] = {name: [] for name in self.partitions}
        for gap in gaps(self.trace, self.watched_from_ms):
            by_partition.setdefault(str(gap.partition), []).append(gap)
        return by_partition

    def session_ends_ms(self, name: str, at_ms: int) -> int | None:
        """When the coordinator's session of that member would end; None while none runs."""
        state = self.members[name].at(at_ms)
        if state.standing not in {"member", "away"} or state.parked is not None:
            return None
        beats = self.beats.get(name, [])
        last = bisect_right(beats, at_ms) - 1
        if last < 0:
            return None
        ends_ms = beats[last] + self.session_ms(name, state.protocol)
        return ends_ms if ends_ms >= at_ms else None  # none runs while the coordinator is away

    def session_ms(self, name: str, protocol: str = "classic") -> int:
        """The member's session timeout: its own (classic) or the broker's (consumer)."""
        return self._sessions[(protocol, name) if (protocol, name) in self._sessions else (protocol, "")]

    def position(self, name: str, at_ms: int) -> Position | None:
        """Where the partition stands, between two looks at it read off a straight line."""
        known = self.positions.get(name)
        if not known:
            return None
        last = bisect_right(known, at_ms, key=lambda look: look[0]) - 1
        if last < 0:
            return None
        return between(known, last, at_ms, flows=self.partitions[name].at(at_ms).flows)

    def at(self, at_ms: int) -> BoardState:
        """The board at that moment."""
        states = {name: track.at(at_ms) for name, track in self.partitions.items()}
        owned: dict[str, list[str]] = {}
        for partition, state in states.items():
            if state.owner is not None:
                owned.setdefault(state.owner, []).append(partition)
        members = tuple(
            self._member(number, name, at_ms, tuple(owned.get(name, ())), states)
            for number, name in enumerate(self.names, start=1)
        )
        partitions = tuple(
            self._partition(name, state, at_ms) for name, state in states.items() if state.word != ABSENT.word
        )
        group = self._group(at_ms)
        return self._records(BoardState(at_ms, self.end_ms, self.trace.label, group, members, partitions))

    def walk(self, times: Sequence[int]) -> Iterator[BoardState]:
        """Boards at rising moments, without positions: what changed is looked at, no more."""
        begun = times[0] if times else 0
        members = [
            self._member(number, name, begun, (), {}) for number, name in enumerate(self.names, start=1)
        ]
        partitions = [
            PartitionView(
                name, state, None if state.flows else track.since(begun, lambda state: not state.flows), None
            )
            for name, track, state in (
                (name, track, track.at(begun)) for name, track in self.partitions.items()
            )
        ]
        changes = self._changes(begun)
        at = 0
        for at_ms in times:
            touched: set[int] = set()
            while at < len(changes) and changes[at][0] <= at_ms:
                _, place, index = changes[at]
                at += 1
                if place < 0:
                    touched.add(-1 - place)
                else:
                    track = self.partitions[partitions[place].name]
                    state = track.states[index]
                    stopped = (
                        None
                        if state.flows
                        else track.since(track.times[index], lambda state: not state.flows)
                    )
                    partitions[place] = PartitionView(partitions[place].name, state, stopped, None)
            for index in sorted(touched):
                members[index] = self._member(index + 1, self.names[index], at_ms, (), {})
            group = self._group(at_ms)
            there = tuple(partition for partition in partitions if partition.state.word != ABSENT.word)
            board = BoardState(at_ms, self.end_ms, self.trace.label, group, tuple(members), there)
            yield self._records(board)

    def _changes(self, after_ms: int) -> list[tuple[int, int, int]]:
        """Later changes as (moment, place, index of the new state); members have places below zero."""
        changes = [
            (at_ms, number, index)
            for number, track in enumerate(self.partitions.values())
            for index, at_ms in enumerate(track.times)
            if at_ms > after_ms
        ]
        changes += [
            (at_ms, -1 - number, index)
            for number, name in enumerate(self.names)
            for index, at_ms in enumerate(self.members[name].times)
            if at_ms > after_ms
        ]
        return sorted(changes)

    def _group(self, at_ms: int) -> GroupState:
        """The group, with when the session of each former member id ends."""
        state = self.group.at(at_ms)
        if not state.former:
            return state
        return state._replace(
            former=tuple(
                former
                if former.last_beat_ms is None
                else former._replace(
                    session_ends_ms=former.last_beat_ms + self.session_ms(former.name, former.protocol)
                )
                for former in state.former
            )
        )

    def _member(
        self, number: int, name: str, at_ms: int, owned: tuple[str, ...], states: dict[str, PartitionState]
    ) -> MemberView:
        track = self.members[name]
        state = track.at(at_ms)
        since = track.since(at_ms, lambda earlier: earlier.doing == state.doing)
        fetching = tuple(partition for partition in owned if states[partition].flows)
        ends_ms = self.session_ends_ms(name, at_ms)
        starts = () if state.life in {"alive", "frozen"} else self._starts.get(name, ())
        starts_ms = next((start for start in starts if start > at_ms), None)
        return MemberView(name, self.labels[name], number, state, since, owned, fetching, ends_ms, starts_ms)

    def _partition(self, name: str, state: PartitionState, at_ms: int) -> PartitionView:
        since = None if state.flows else self.partitions[name].since(at_ms, lambda earlier: not earlier.flows)
        return PartitionView(name, state, since, self.position(name, at_ms))


def board(trace: Trace, at_ms: int, group: str | None = None) -> BoardState:
    """The board of a run at a moment (milliseconds from its start)."""
    return Boards(trace, group).at(at_ms)


def _first_settled(group: Track[GroupState], partitions: Sequence[Track[PartitionState]]) -> int | None:
    """The first moment at which the group is stable and each partition flows where it shall be; None without partitions."""
    turns: dict[int, int] = dict.fromkeys(group.times, 0)
    for track in partitions:
        waits = False
        for at_ms, state in zip(track.times, track.states, strict=True):
            if waits == (state.flows and state.target in {None, state.owner}):
                waits = not waits
                turns[at_ms] = turns.get(at_ms, 0) + (1 if waits else -1)
    waiting = 0
    for at_ms in sorted(turns) if partitions else ():
        waiting += turns[at_ms]
        if not waiting and group.at(at_ms).state == "Stable":
            return at_ms
    return None


def _session_lengths(trace: Trace) -> Mapping[tuple[str, str], int]:
    """Session timeouts by (protocol, member); under the empty name what applies to members without their own."""
    version = str(trace.meta.get("kafka_version", PREFERRED))
    broker = BrokerConfig.of(trace.meta.get("broker", {}), version)
    lengths = {
        ("consumer", ""): broker.consumer_session_timeout_ms,
        ("classic", ""): int(CLIENT_KEYS["session.timeout.ms"].default(version)),
    }
    for row in trace.of("process_started"):
        own = row.detail.get("configs", {}).get("session.timeout.ms")
        if own is not None:
            lengths["classic", row.actor] = int(own)
    return lengths


# The bars of a partition: who owned it from when to when, and what its owner did.


class Segment(NamedTuple):
    """One bar: the same owner and word from begin to end, all of it read or all of it unread."""

    begin_ms: int
    end_ms: int
    owner: str | None
    word: str
    flows: bool


def segments_of(boards: Boards, partition: str) -> list[Segment]:
    """Bars of a partition from the start to the end of the run; equal neighbours are one."""
    track = boards.partitions[partition]
    bars: list[Segment] = []
    for index, state in enumerate(track.states):
        until = track.times[index + 1] if index + 1 < len(track.times) else boards.end_ms
        begin = track.times[index]
        if until <= begin and index + 1 < len(track.times):
            continue
        last = bars[-1] if bars else None
        if last is not None and (last.owner, last.word, last.flows) == (state.owner, state.word, state.flows):
            bars[-1] = last._replace(end_ms=until)
        else:
            bars.append(Segment(begin, until, state.owner, state.word, state.flows))
    return bars
