"""What the coordinator's rows change: the group, who is in it, and messages on their way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from rebalance_kit.model.trace import TraceRow
from rebalance_kit.view.board.group_records import GONE, PARKING, Fold
from rebalance_kit.view.board.positions import note_commit, note_position
from rebalance_kit.view.board.states import Message

Rule = Callable[[Fold, TraceRow], None]


def _standing(standing: str) -> Rule:
    def rule(fold: Fold, row: TraceRow) -> None:
        one = fold.member(row.detail["name"])
        one.standing = standing
        fold.touch_claims(one)
        if standing in {"removed", "away"}:
            one.parked = None
        if standing == "removed":
            one.pending_revocation, one.leader = frozenset(), False
            if one.life in GONE:
                fold.drop_claims(one)

    return rule


def _replaced(fold: Fold, row: TraceRow) -> None:
    """Another process took a static member's place: whoever had its instance id is out."""
    _standing("member")(fold, row)
    for one in list(fold.members.values()):
        if (
            one.name != row.detail["name"]
            and one.instance_id == row.detail["instance_id"]
            and one.standing in {"member", "away"}
        ):
            fold.member(one.name).standing = "removed"
            fold.touch_claims(one)


def _group_moved(fold: Fold, row: TraceRow) -> None:
    detail = row.detail
    fold.group = fold.group._replace(
        state=detail["to"],
        reason=detail.get("reason") or "",
        trigger=detail.get("trigger") or "",
        culprit=detail.get("culprit"),
        protocol=row.speaks(),
    )


def _generation_made(fold: Fold, row: TraceRow) -> None:
    fold.group = fold.group._replace(
        generation=row.generation, assignor=row.detail.get("assignor"), protocol="classic"
    )


def _epoch_bumped(fold: Fold, row: TraceRow) -> None:
    detail = row.detail
    fold.group = fold.group._replace(
        generation=row.generation,
        reason=detail.get("reason") or "",
        trigger=detail.get("trigger") or "",
        culprit=detail.get("culprit"),
        protocol="consumer",
    )


def _target_made(fold: Fold, row: TraceRow) -> None:
    fold.group = fold.group._replace(target_epoch=row.generation, assignor=row.detail.get("assignor"))
    wanted = {partition: name for name, given in row.detail["assignment"].items() for partition in given}
    for partition in dict.fromkeys([*fold.targets, *wanted]):
        if fold.targets.get(partition) != wanted.get(partition):
            fold.touch(partition)
    fold.targets = wanted


def _reconciled(fold: Fold, row: TraceRow) -> None:
    one = fold.member(row.detail["name"])
    if one.standing != "removed":
        one.standing = "member"
    one.group_epoch = row.detail.get("epoch")
    one.pending_revocation = frozenset(row.detail.get("pending_revocation", ()))
    fold.touch_claims(one)


def _coordinator(up: bool) -> Rule:
    def rule(fold: Fold, row: TraceRow) -> None:
        fold.group = fold.group._replace(up=up)
        for one in fold.members.values():
            if not up and one.parked:
                fold.member(one.name).parked = None

    return rule


def _request(fold: Fold, row: TraceRow) -> None:
    api = row.detail["api"]
    detail = row.detail
    news = api == "ConsumerGroupHeartbeat" and (
        (detail.get("epoch") or 0) <= 0 or detail.get("owned") is not None or detail.get("topics") is not None
    )
    fold.messages.append(Message(row.at_ms, detail.get("arrives_ms"), row.actor, api, True, None, news))
    leaves = api == "LeaveGroup" or (api == "ConsumerGroupHeartbeat" and (row.generation or 0) < 0)
    if api in PARKING or leaves:
        fold.member(row.actor).sending = "LeaveGroup" if leaves else api


def _response(fold: Fold, row: TraceRow) -> None:
    api, name, error = row.detail["api"], row.detail["to"], row.detail.get("error")
    fold.messages.append(
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
    one = fold.members.get(name)
    if one is not None and one.parked == api:
        fold.member(name).parked = None
        fold.beats.setdefault(name, []).append(row.at_ms)


def _topic_changed(fold: Fold, row: TraceRow) -> None:
    for number in range(int(row.detail.get("partitions") or 0)):
        fold.touch(f"{row.topic}-{number}")


GROUP_RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "request": _request,
        "response": _response,
        "group_state": _group_moved,
        "generation": _generation_made,
        "epoch_bump": _epoch_bumped,
        "target": _target_made,
        "member_added": _standing("member"),
        "member_pending": _standing("pending"),
        "member_removed": _standing("removed"),
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
