"""Applies the coordinator's rows to the records: the group, its members, messages on their way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from rebalance_kit.model.trace import TraceRow
from rebalance_kit.view.board.group_records import GONE, PARKING, GroupRecords
from rebalance_kit.view.board.positions import note_commit, note_position
from rebalance_kit.view.board.states import Message

Rule = Callable[[GroupRecords, TraceRow], None]


def _standing(standing: str) -> Rule:
    def rule(records: GroupRecords, row: TraceRow) -> None:
        member = records.member(row.detail["name"])
        member.standing = standing
        records.touch_claims(member)
        if standing in {"removed", "away"}:
            member.parked = None
        if standing == "removed":
            member.pending_revocation, member.leader = frozenset(), False
            if member.life in GONE:
                records.drop_claims(member)

    return rule


def _removed(records: GroupRecords, row: TraceRow) -> None:
    """A member id leaves the group: the oldest of that name, unless the running process says goodbye itself."""
    member = records.member(row.detail["name"])
    if row.detail.get("pending"):
        if member.standing == "pending":
            member.standing = "none"
    elif member.former and row.detail.get("how") != "leave":
        for partition in member.former[0].claims:
            records.touch(partition)
        member.former = member.former[1:]
    else:
        _standing("removed")(records, row)


def _replaced(records: GroupRecords, row: TraceRow) -> None:
    """Another process took a static member's place: whoever had its instance id is out."""
    _standing("member")(records, row)
    for member in list(records.members.values()):
        if (
            member.name != row.detail["name"]
            and member.instance_id == row.detail["instance_id"]
            and member.standing in {"member", "away"}
        ):
            replaced = records.member(member.name)
            replaced.standing = "removed"
            records.member(row.detail["name"]).leader |= replaced.leader
            replaced.leader = False
            records.touch_claims(member)


def _group_moved(records: GroupRecords, row: TraceRow) -> None:
    detail = row.detail
    records.group = records.group._replace(
        state=detail["to"],
        reason=detail.get("reason") or "",
        trigger=detail.get("trigger") or "",
        culprit=detail.get("culprit"),
        protocol=row.speaks(),
    )


def _generation_made(records: GroupRecords, row: TraceRow) -> None:
    for member in list(records.members.values()):
        if member.leader and member.name != row.detail.get("leader"):
            records.member(member.name).leader = False
    records.group = records.group._replace(
        generation=row.generation, assignor=row.detail.get("assignor"), protocol="classic"
    )


def _epoch_bumped(records: GroupRecords, row: TraceRow) -> None:
    detail = row.detail
    records.group = records.group._replace(
        generation=row.generation,
        reason=detail.get("reason") or "",
        trigger=detail.get("trigger") or "",
        culprit=detail.get("culprit"),
        protocol="consumer",
    )


def _target_made(records: GroupRecords, row: TraceRow) -> None:
    records.group = records.group._replace(target_epoch=row.generation, assignor=row.detail.get("assignor"))
    wanted = {
        partition: name for name, partitions in row.detail["assignment"].items() for partition in partitions
    }
    for partition in dict.fromkeys([*records.targets, *wanted]):
        if records.targets.get(partition) != wanted.get(partition):
            records.touch(partition)
    records.targets = wanted


def _planned(records: GroupRecords, row: TraceRow) -> None:
    before = records.planned
    records.planned = {
        partition: name for name, partitions in row.detail["assignment"].items() for partition in partitions
    }
    for partition in dict.fromkeys([*before, *records.planned]):
        records.touch(partition)


def _reconciled(records: GroupRecords, row: TraceRow) -> None:
    member = records.member(row.detail["name"])
    if member.standing != "removed":
        member.standing = "member"
    member.group_epoch = row.detail.get("epoch")
    member.pending_revocation = frozenset(row.detail.get("pending_revocation", ()))
    records.touch_claims(member)


def _coordinator(up: bool) -> Rule:
    def rule(records: GroupRecords, row: TraceRow) -> None:
        records.group = records.group._replace(up=up)
        for member in records.members.values():
            if not up and member.parked:
                records.member(member.name).parked = None

    return rule


def _request(records: GroupRecords, row: TraceRow) -> None:
    api = row.detail["api"]
    detail = row.detail
    news = api == "ConsumerGroupHeartbeat" and (
        (detail.get("epoch") or 0) <= 0 or detail.get("owned") is not None or detail.get("topics") is not None
    )
    records.messages.append(Message(row.at_ms, detail.get("arrives_ms"), row.actor, api, True, None, news))
    leaves = api == "LeaveGroup" or (api == "ConsumerGroupHeartbeat" and (row.generation or 0) < 0)
    if api in PARKING or leaves:
        records.member(row.actor).sending = "LeaveGroup" if leaves else api


def _response(records: GroupRecords, row: TraceRow) -> None:
    api, name, error = row.detail["api"], row.detail["to"], row.detail.get("error")
    records.messages.append(
        Message(
            row.at_ms,
            row.detail.get("arrives_ms"),
            name,
            api,
            False,
            None if error in {None, "NONE"} else error,
            row.detail.get("assignment") is not None,
        )
    )
    member = records.members.get(name)
    if member is not None and member.parked == api:
        records.member(name).parked = None
        records.beats.setdefault(name, []).append(row.at_ms)


def _topic_changed(records: GroupRecords, row: TraceRow) -> None:
    for number in range(int(row.detail.get("partitions") or 0)):
        records.touch(f"{row.topic}-{number}")


GROUP_RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "request": _request,
        "response": _response,
        "group_state": _group_moved,
        "generation": _generation_made,
        "epoch_bump": _epoch_bumped,
        "target": _target_made,
        "assignment": _planned,
        "member_added": _standing("member"),
        "member_pending": _standing("pending"),
        "member_removed": _removed,
        "member_replaced": _replaced,
        "static_kept": _standing("member"),
        "member_away": _standing("away"),
        "member_reconciled": _reconciled,
        "coordinator_down": _coordinator(False),
        "coordinator_up": _coordinator(True),
        "progress": note_position,
        "commit": note_commit,
        "topic_changed": _topic_changed,
    }
)
