"""What a client's own rows change: its process, its assignment, its callbacks, what it fetches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from rebalance_kit.model.trace import TraceRow
from rebalance_kit.view.board.group_records import Fold, MemberRecord
from rebalance_kit.view.board.positions import note_position, partition_of

LISTENERS = {"assigned": "onPartitionsAssigned", "revoked": "onPartitionsRevoked", "lost": "onPartitionsLost"}
Rule = Callable[[Fold, TraceRow], None]


def _process_started(fold: Fold, row: TraceRow) -> None:
    one = fold.member(row.actor)
    fold.touch_claims(one)
    configs = row.detail.get("configs", {})
    kept = MemberRecord(
        row.actor, life="alive", standing="none" if one.standing == "removed" else one.standing
    )
    kept.instance_id = configs.get("group.instance.id")
    kept.protocol = row.speaks()
    for partition in one.claims:
        fold.holders[partition].pop(one.name, None)
    fold.members[row.actor] = kept


def _process_ended(fold: Fold, row: TraceRow) -> None:
    one = fold.member(row.actor)
    how = row.detail.get("how", "crash")
    one.life = {"crash": "crashed", "closed": "closed"}.get(how, "died")
    one.error = row.detail.get("error")
    one.fetching.clear()
    one.parked = one.sending = None
    one.leader = False
    one.stalled = one.lost_coordinator = False
    fold.touch_claims(one)
    if one.life == "closed" or one.standing not in {"member", "away"}:
        fold.drop_claims(one)
    if one.life == "closed":
        one.callback, one.in_callback = None, frozenset()


def _life(life: str) -> Rule:
    def rule(fold: Fold, row: TraceRow) -> None:
        one = fold.member(row.actor)
        one.life = life
        fold.touch_claims(one)

    return rule


def _stall(stalled: bool) -> Rule:
    def rule(fold: Fold, row: TraceRow) -> None:
        fold.member(row.actor).stalled = stalled

    return rule


def _owned(fold: Fold, row: TraceRow) -> None:
    one = fold.member(row.actor)
    wanted = dict.fromkeys(row.detail["partitions"])
    for partition in [held for held in one.claims if held not in wanted]:
        fold.holders[partition].pop(one.name, None)
        fold.last_owner[partition] = one.name
        one.fetched.pop(partition, None)
        fold.touch(partition)
    for partition in wanted:
        if partition not in one.claims:
            fold.touch(partition)
            fold.holders[partition][one.name] = None
    one.claims = wanted


def _fetch_resumed(fold: Fold, row: TraceRow) -> None:
    one, partition = fold.member(row.actor), partition_of(row)
    one.fetching[partition] = None
    one.fetched[partition] = None
    fold.touch(partition)


def _fetch_stopped(fold: Fold, row: TraceRow) -> None:
    one, partition = fold.member(row.actor), partition_of(row)
    one.fetching.pop(partition, None)
    one.unread_for[partition] = row.detail.get("reason", "")
    fold.touch(partition)


def _callback_begin(fold: Fold, row: TraceRow) -> None:
    one = fold.member(row.actor)
    one.callback = LISTENERS.get(row.detail["callback"], row.detail["callback"])
    one.in_callback = frozenset(row.detail["partitions"])
    fold.touch_claims(one)


def _callback_end(fold: Fold, row: TraceRow) -> None:
    one = fold.member(row.actor)
    one.callback, one.in_callback = None, frozenset()
    fold.touch_claims(one)


def _joined(fold: Fold, row: TraceRow) -> None:
    fold.member(row.actor).leader = bool(row.detail.get("leader"))


def _coordinator_known(known: bool) -> Rule:
    def rule(fold: Fold, row: TraceRow) -> None:
        fold.member(row.actor).lost_coordinator = not known

    return rule


def _generation_reset(fold: Fold, row: TraceRow) -> None:
    one = fold.member(row.actor)
    one.generation, one.leader = None, False


def _resumed_at(fold: Fold, row: TraceRow) -> None:
    _fetch_resumed(fold, row)
    note_position(fold, row)


def _paused_at(fold: Fold, row: TraceRow) -> None:
    _fetch_stopped(fold, row)
    note_position(fold, row)


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
        "joined": _joined,
        "generation_reset": _generation_reset,
        "callback_begin": _callback_begin,
        "callback_end": _callback_end,
        "owned": _owned,
        "fetch_resumed": _resumed_at,
        "fetch_stopped": _paused_at,
    }
)
