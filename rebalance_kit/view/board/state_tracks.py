"""Tracks of states drawn from a trace as far as it goes; more of the same run may follow.

The lab keeps one of these up to the cursor, so that after a click only what is new has to be folded.
"""

from __future__ import annotations

from rebalance_kit.model.trace import Trace
from rebalance_kit.view.board.row_stream import TraceFolder
from rebalance_kit.view.board.states import ABSENT, GroupState, MemberState, PartitionState
from rebalance_kit.view.board.track import Track, begun
from rebalance_kit.view.style.theme import member_order


class StateTracks:
    """The tracks of one group's members, partitions and of the group itself.

    ``group`` names the group when a trace holds several (default: that of the first process).
    """

    def __init__(self, trace: Trace, group: str | None = None) -> None:
        self.group_name = group or _first_group(trace)
        self.names = _members_of(trace, self.group_name)
        self.folder = TraceFolder(self.group_name)
        self.members: dict[str, Track[MemberState]] = {name: begun(MemberState()) for name in self.names}
        self.partitions: dict[str, Track[PartitionState]] = {
            name: begun(PartitionState()) for name in _partitions_of(trace, self.group_name)
        }
        self.group: Track[GroupState] = begun(GroupState())
        self._rows = 0

    def feed(self, trace: Trace) -> None:
        """Take what the trace holds beyond what was taken before; it must begin with the same rows."""
        new = trace.rows[self._rows :]
        self._rows = len(trace.rows)
        records = self.folder.records
        known: GroupState | None = None
        for at_ms in self.folder.feed(new, trace.end_ms):
            for name in records.changed_members:
                if name in self.members:
                    self.members[name].push(at_ms, records.member_state(name))
            for name in records.changed_partitions:
                track = self.partitions.get(name)
                if track is None:
                    track = self.partitions[name] = begun(ABSENT)
                    if name in records.created and records.wants(name):
                        track.push(records.created[name], PartitionState())
                track.push(at_ms, records.partition_state(name))
            if records.changed_members or records.group is not known:
                known = records.group
                self.group.push(at_ms, records.group_state())


def _first_group(trace: Trace) -> str:
    for row in trace.rows:
        if row.kind == "process_started":
            return str(row.detail.get("group", ""))
    return ""


def _members_of(trace: Trace, group: str) -> tuple[str, ...]:
    others = {
        row.actor
        for row in trace.rows
        if row.kind == "process_started" and row.detail.get("group", group) != group
    }
    return tuple(name for name in member_order(trace) if name not in others)


def _partitions_of(trace: Trace, group: str) -> list[str]:
    """Partitions that exist from the start and that somebody in the group subscribes to."""
    wanted: set[str] = set()
    for row in trace.rows:
        if row.kind == "process_started" and row.detail.get("group", group) == group:
            topics = row.detail.get("topics") or trace.meta.get("topics", ())
            wanted.update(topics)
    return [
        f"{topic}-{number}"
        for topic, count in trace.meta.get("topics", {}).items()
        if topic in wanted
        for number in range(count)
    ]
