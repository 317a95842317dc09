"""Trace rows folded in order: one small rule a kind of row, and messages counted where they are.

A request is on its way until ``arrives_ms``, then it waits at the coordinator until it is answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from rebalance_kit.model.trace import Trace, TraceRow
from rebalance_kit.view.fold import GONE, PARKING, Fold, MemberRecord
from rebalance_kit.view.state import Message, Position

BEATS = frozenset({"JoinGroup", "SyncGroup", "Heartbeat", "ConsumerGroupHeartbeat", "OffsetCommit"})
LISTENERS = {"assigned": "onPartitionsAssigned", "revoked": "onPartitionsRevoked", "lost": "onPartitionsLost"}


# --- rows ------------------------------------------------------------------------------------
def _process_started(fold: Fold, row: TraceRow) -> None:
    one = fold.member(row.actor)
    fold.touch_claims(one)
    configs = row.detail.get("configs", {})
    kept = MemberRecord(row.actor, life="alive", standing="none" if one.standing == "removed" else one.standing)
    kept.instance_id = configs.get("group.instance.id")
    kept.protocol = row.protocol
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
        _drop_claims(fold, one)
    if one.life == "closed":
        one.callback, one.in_callback = None, frozenset()


def _drop_claims(fold: Fold, one: MemberRecord) -> None:
    for partition in one.claims:
        fold.holders[partition].pop(one.name, None)
        fold.last_owner[partition] = one.name
        fold.touch(partition)
    one.claims = {}
    one.fetched = {}


def _life(life: str) -> Callable[[Fold, TraceRow], None]:
    def rule(fold: Fold, row: TraceRow) -> None:
        one = fold.member(row.actor)
        one.life = life
        fold.touch_claims(one)

    return rule


def _stall(stalled: bool) -> Callable[[Fold, TraceRow], None]:
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
    one, partition = fold.member(row.actor), _partition(row)
    one.fetching[partition] = None
    one.fetched[partition] = None
    fold.touch(partition)


def _fetch_paused(fold: Fold, row: TraceRow) -> None:
    one, partition = fold.member(row.actor), _partition(row)
    one.fetching.pop(partition, None)
    one.paused_for[partition] = row.detail.get("reason", "")
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


def _coordinator_known(known: bool) -> Callable[[Fold, TraceRow], None]:
    def rule(fold: Fold, row: TraceRow) -> None:
        fold.member(row.actor).lost_coordinator = not known

    return rule


def _generation_reset(fold: Fold, row: TraceRow) -> None:
    one = fold.member(row.actor)
    one.generation, one.leader = None, False


# --- rows of the coordinator -------------------------------------------------------------------
def _standing(standing: str) -> Callable[[Fold, TraceRow], None]:
    def rule(fold: Fold, row: TraceRow) -> None:
        one = fold.member(row.detail["name"])
        one.standing = standing
        fold.touch_claims(one)
        if standing in {"removed", "away"}:
            one.parked = None
        if standing == "removed":
            one.pending_revocation, one.leader = frozenset(), False
            if one.life in GONE:
                _drop_claims(fold, one)

    return rule


def _group_moved(fold: Fold, row: TraceRow) -> None:
    detail = row.detail
    fold.group = fold.group._replace(state=detail["to"], reason=detail.get("reason") or "", trigger=detail.get("trigger") or "",
                                     culprit=detail.get("culprit"), protocol=row.protocol)  # fmt: skip


def _generation_made(fold: Fold, row: TraceRow) -> None:
    fold.group = fold.group._replace(generation=row.generation, assignor=row.detail.get("assignor"), protocol="classic")


def _epoch_bumped(fold: Fold, row: TraceRow) -> None:
    detail = row.detail
    fold.group = fold.group._replace(generation=row.generation, reason=detail.get("reason") or "", trigger=detail.get("trigger") or "",
                                     culprit=detail.get("culprit"), protocol="consumer")  # fmt: skip


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


def _coordinator(up: bool) -> Callable[[Fold, TraceRow], None]:
    def rule(fold: Fold, row: TraceRow) -> None:
        fold.group = fold.group._replace(up=up)
        for one in fold.members.values():
            if not up and one.parked:
                fold.member(one.name).parked = None

    return rule


# --- messages and positions ---------------------------------------------------------------------
def _request(fold: Fold, row: TraceRow) -> None:
    api = row.detail["api"]
    fold.messages.append(Message(row.at_ms, row.detail.get("arrives_ms"), row.actor, api, True, None))
    leaves = api == "LeaveGroup" or (api == "ConsumerGroupHeartbeat" and (row.generation or 0) < 0)
    if api in PARKING or leaves:
        fold.member(row.actor).sending = "LeaveGroup" if leaves else api


def _response(fold: Fold, row: TraceRow) -> None:
    api, name, error = row.detail["api"], row.detail["to"], row.detail.get("error")
    fold.messages.append(Message(row.at_ms, row.detail.get("arrives_ms"), name, api, False, None if error in {None, "NONE"} else error))
    one = fold.members.get(name)
    if one is not None and one.parked == api:
        fold.member(name).parked = None
        fold.beats.setdefault(name, []).append(row.at_ms)


def _position(fold: Fold, row: TraceRow) -> None:
    partition, detail = _partition(row), row.detail
    known = fold.positions.setdefault(partition, [])
    last = known[-1][1] if known else Position(0, 0, None)
    position, log_end = detail.get("position"), detail.get("log_end")
    if position is None:
        return
    known.append((row.at_ms, Position(position, last.log_end if log_end is None else log_end, detail.get("committed", last.committed))))


def _commit(fold: Fold, row: TraceRow) -> None:
    if row.detail.get("error", "NONE") != "NONE":
        return
    for partition, offset in row.detail["offsets"].items():
        known = fold.positions.setdefault(partition, [])
        last = known[-1][1] if known else Position(offset, offset, None)
        known.append((row.at_ms, Position(max(last.position, offset), max(last.log_end, offset), offset)))


def _topic_changed(fold: Fold, row: TraceRow) -> None:
    for number in range(int(row.detail.get("partitions") or 0)):
        fold.touch(f"{row.topic}-{number}")


def _resumed_at(fold: Fold, row: TraceRow) -> None:
    _fetch_resumed(fold, row)
    _position(fold, row)


def _paused_at(fold: Fold, row: TraceRow) -> None:
    _fetch_paused(fold, row)
    _position(fold, row)


def _partition(row: TraceRow) -> str:
    return f"{row.topic}-{row.partition}"


RULES: dict[str, Callable[[Fold, TraceRow], None]] = {
    "process_started": _process_started,
    "process_ended": _process_ended,
    "process_frozen": _life("frozen"),
    "process_thawed": _life("alive"),
    "stall_begin": _stall(True),
    "stall_end": _stall(False),
    "request": _request,
    "response": _response,
    "group_state": _group_moved,
    "generation": _generation_made,
    "epoch_bump": _epoch_bumped,
    "target": _target_made,
    "member_added": _standing("member"),
    "member_pending": _standing("pending"),
    "member_removed": _standing("removed"),
    "member_replaced": _standing("member"),
    "static_kept": _standing("member"),
    "member_away": _standing("away"),
    "member_reconciled": _reconciled,
    "coordinator_down": _coordinator(False),
    "coordinator_up": _coordinator(True),
    "coordinator_lost": _coordinator_known(False),
    "coordinator_found": _coordinator_known(True),
    "joined": _joined,
    "generation_reset": _generation_reset,
    "callback_begin": _callback_begin,
    "callback_end": _callback_end,
    "owned": _owned,
    "fetch_resumed": _resumed_at,
    "fetch_paused": _paused_at,
    "progress": _position,
    "commit": _commit,
    "topic_changed": _topic_changed,
}
OF_A_MEMBER = frozenset({"joined", "synced", "reconciling", "owned", "rejoin_requested", "member_state", "callback_begin"})


def moments(trace: Trace, group: str) -> Iterator[tuple[int, Fold]]:
    """Feed the rows of one group in order; yields after each millisecond that had any."""
    fold = Fold(group)
    now: int | None = None
    for at_ms, what in _in_order(trace, group):
        if now is not None and at_ms != now:
            yield now, fold
            fold.changed_members.clear()
            fold.changed_partitions.clear()
        now = at_ms
        if isinstance(what, _Arrival):
            _arrive(fold, at_ms, what.row)
        else:
            _take(fold, what)
    if now is not None:
        yield now, fold


def _take(fold: Fold, row: TraceRow) -> None:
    rule = RULES.get(row.kind)
    if rule is not None:
        rule(fold, row)
    if row.kind in OF_A_MEMBER and row.generation is not None and row.actor in fold.members:
        fold.member(row.actor).generation = row.generation if row.generation >= 0 else None


def _arrive(fold: Fold, at_ms: int, row: TraceRow) -> None:
    """A message reaches its end: a request the coordinator, an answer its member."""
    if row.kind == "response":
        one = fold.members.get(row.detail["to"])
        if one is not None and one.generation != row.generation and one.life == "alive":
            fold.member(one.name).generation = row.generation
        return
    one, api = fold.members.get(row.actor), row.detail["api"]
    if one is None:
        return
    if api in BEATS:
        fold.beats.setdefault(one.name, []).append(at_ms)
    if one.sending == api and api in PARKING:
        fold.member(one.name).sending = None
    if api in PARKING and one.life != "absent" and fold.group.up:
        fold.member(one.name).parked = api


class _Arrival(NamedTuple):
    at_ms: int
    seq: int
    row: TraceRow


def _in_order(trace: Trace, group: str) -> Iterator[tuple[int, TraceRow | _Arrival]]:
    """Rows and arrivals by time; at one millisecond an arrival comes before what it causes."""
    outside = {row.actor for row in trace.rows if row.kind == "process_started" and row.detail.get("group", group) != group}
    rows = [row for row in trace.rows if row.actor not in outside and row.detail.get("group", group) == group]
    arrivals = sorted(_Arrival(row.detail["arrives_ms"], row.seq, row) for row in rows if _arrives(row))
    ahead = 0
    for row in rows:
        while ahead < len(arrivals) and (arrivals[ahead].at_ms, arrivals[ahead].seq) < (row.at_ms, row.seq):
            yield arrivals[ahead].at_ms, arrivals[ahead]
            ahead += 1
        yield row.at_ms, row
    for one in arrivals[ahead:]:
        if one.at_ms <= trace.end_ms:
            yield one.at_ms, one


def _arrives(row: TraceRow) -> bool:
    if row.kind == "request":
        return row.detail.get("arrives_ms") is not None
    return row.kind == "response" and row.detail.get("api") == "ConsumerGroupHeartbeat" and row.detail.get("arrives_ms") is not None and row.generation is not None
