"""Where partitions stand: what rows say of positions, log ends and committed offsets."""

from __future__ import annotations

from rebalance_kit.model.trace import TraceRow
from rebalance_kit.view.board.group_records import GroupRecords
from rebalance_kit.view.board.states import Position


def partition_of(row: TraceRow) -> str:
    """The partition a row speaks of, as Kafka prints it."""
    return f"{row.topic}-{row.partition}"


def note_position(records: GroupRecords, row: TraceRow) -> None:
    """Keep where the partition of a row stands."""
    partition, detail = partition_of(row), row.detail
    known = records.positions.setdefault(partition, [])
    position, log_end = detail.get("position"), detail.get("log_end")
    if position is None or records.has_other_owner(partition, row.actor):
        return  # what a member outside the group reads is not where the group stands
    last = known[-1][1] if known else Position(0, 0, None)
    known.append(
        (
            row.at_ms,
            Position(
                position,
                last.log_end if log_end is None else log_end,
                detail.get("committed", last.committed),
            ),
        )
    )


def note_commit(records: GroupRecords, row: TraceRow) -> None:
    """Keep the offsets of a commit that was accepted."""
    if row.detail.get("error", "NONE") != "NONE":
        return
    for partition, offset in row.detail["offsets"].items():
        known = records.positions.setdefault(partition, [])
        last = known[-1][1] if known else Position(offset, offset, None)
        known.append((row.at_ms, Position(max(last.position, offset), max(last.log_end, offset), offset)))
