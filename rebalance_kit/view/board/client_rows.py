"""Applies a client's own rows to the records: process, assignment, callbacks, fetching."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from rebalance_kit.model.trace import TraceRow
from rebalance_kit.view.board.group_records import (
    GroupRecords,
    MemberRecord,
    former_id,
    note_position,
    partition_of,
)
from rebalance_kit.view.kinds import Life

LISTENERS = {"assigned": "onPartitionsAssigned", "revoked": "onPartitionsRevoked", "lost": "onPartitionsLost"}
Rule = Callable[[GroupRecords, TraceRow], None]


def _process_started(records: GroupRecords, row: TraceRow) -> None:
    member = records.member(row.actor)
    records.touch_claims(member)
    configs = row.detail.get("configs", {})
    records.note_subscription(row.detail.get("topics") or (), _pattern(row))
    fresh = MemberRecord(row.actor, life="alive", former=member.former)
    fresh.instance_id = configs.get("group.instance.id")
    fresh.protocol = row.speaks()
    if fresh.instance_id is not None and member.standing != "removed":
        fresh.standing, fresh.member_id = member.standing, member.member_id
    elif member.standing == "member":
        fresh.former = (*member.former, former_id(records, member))
    records.drop_claims(member)
    records.members[row.actor] = fresh


def _pattern(row: TraceRow) -> str | None:
    detail = row.detail
    return detail.get("pattern") or detail.get("server_pattern")


def _process_ended(records: GroupRecords, row: TraceRow) -> None:
    member = records.member(row.actor)
    how = row.detail.get("how", "crash")
    lives: dict[str, Life] = {"crash": "crashed", "closed": "closed"}
    member.life = lives.get(how, "died")
    member.error = row.detail.get("error")
    member.fetching.clear()
    if how != "closed" or member.sending != "LeaveGroup":
        member.sending = None
    member.leader = False
    member.stalled = member.lost_coordinator = member.preparing = False
    member.refused_call = None
    records.touch_claims(member)
    if member.life == "closed" or member.standing not in {"member", "away"}:
        records.drop_claims(member)
    if member.life == "closed":
        member.callback, member.in_callback = None, frozenset()


def _life(life: Life) -> Rule:
    def rule(records: GroupRecords, row: TraceRow) -> None:
        member = records.member(row.actor)
        member.life = life
        records.touch_claims(member)

    return rule


def _stall(stalled: bool) -> Rule:
    def rule(records: GroupRecords, row: TraceRow) -> None:
        records.member(row.actor).stalled = stalled

    return rule


def _owned(records: GroupRecords, row: TraceRow) -> None:
    member = records.member(row.actor)
    wanted = dict.fromkeys(row.detail["partitions"])
    for partition in [name for name in member.claims if name not in wanted]:
        records.holders[partition].pop(member.name, None)
        records.last_owner[partition] = member.name
        member.fetched.pop(partition, None)
        records.touch(partition)
    for partition in wanted:
        if partition not in member.claims:
            records.touch(partition)
            records.holders[partition][member.name] = None
    member.claims = wanted


def _fetch_resumed(records: GroupRecords, row: TraceRow) -> None:
    member, partition = records.member(row.actor), partition_of(row)
    member.fetching[partition] = None
    member.fetched[partition] = None
    records.touch(partition)


def _fetch_stopped(records: GroupRecords, row: TraceRow) -> None:
    member, partition = records.member(row.actor), partition_of(row)
    member.fetching.pop(partition, None)
    member.unread_for[partition] = row.detail.get("reason", "")
    records.touch(partition)


def _callback_begin(records: GroupRecords, row: TraceRow) -> None:
    member = records.member(row.actor)
    member.callback = LISTENERS.get(row.detail["callback"], row.detail["callback"])
    member.in_callback = frozenset(row.detail["partitions"])
    records.touch_claims(member)


def _callback_end(records: GroupRecords, row: TraceRow) -> None:
    member = records.member(row.actor)
    member.callback, member.in_callback = None, frozenset()
    records.touch_claims(member)


def _wrong_call(records: GroupRecords, row: TraceRow) -> None:
    """The listener called the wrong function: nothing is changed, and the client waits for the right call."""
    member = records.member(row.actor)
    member.refused_call = str(row.detail["call"])
    records.touch_claims(member)


def _join_prepared(records: GroupRecords, row: TraceRow) -> None:
    records.member(row.actor).preparing = True


def _member_state(records: GroupRecords, row: TraceRow) -> None:
    records.member(row.actor).preparing = False


def _joined(records: GroupRecords, row: TraceRow) -> None:
    records.member(row.actor).leader = bool(row.detail.get("leader"))


def _coordinator_known(known: bool) -> Rule:
    def rule(records: GroupRecords, row: TraceRow) -> None:
        records.member(row.actor).lost_coordinator = not known

    return rule


def _generation_reset(records: GroupRecords, row: TraceRow) -> None:
    member = records.member(row.actor)
    member.generation, member.leader = None, False


def _resumed_at(records: GroupRecords, row: TraceRow) -> None:
    _fetch_resumed(records, row)
    note_position(records, row)


def _paused_at(records: GroupRecords, row: TraceRow) -> None:
    _fetch_stopped(records, row)
    note_position(records, row)


CLIENT_RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "process_started": _process_started,
        "process_ended": _process_ended,
        "process_frozen": _life("frozen"),
        "process_thawed": _life("alive"),
        "stall_begin": _stall(True),
        "stall_end": _stall(False),
        "coordinator_lost": _coordinator_known(False),
        "coordinator_found": _coordinator_known(True),
        "join_prepared": _join_prepared,
        "member_state": _member_state,
        "joined": _joined,
        "generation_reset": _generation_reset,
        "callback_begin": _callback_begin,
        "callback_end": _callback_end,
        "wrong_call": _wrong_call,
        "owned": _owned,
        "fetch_resumed": _resumed_at,
        "fetch_stopped": _paused_at,
    }
)
