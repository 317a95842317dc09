"""Applies a trace's rows to the records: a client's own (process, assignment, callbacks, fetching) and the coordinator's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from rebalance_kit.model.trace import TraceRow
from rebalance_kit.view.board import group_records
from rebalance_kit.view.board.states import FormerId, Message
from rebalance_kit.view.kinds import Life, Standing

LISTENERS = {"assigned": "onPartitionsAssigned", "revoked": "onPartitionsRevoked", "lost": "onPartitionsLost"}
Rule = Callable[[group_records.GroupRecords, TraceRow], None]


def _process_started(records: group_records.GroupRecords, row: TraceRow) -> None:
    member = records.member(row.actor)
    records.touch_claims(member)
    configs = row.detail.get("configs", {})
    records.note_subscription(row.detail.get("topics") or (), _pattern(row))
    fresh = group_records.MemberRecord(row.actor, life="alive", former=member.former)
    fresh.instance_id = configs.get("group.instance.id")
    fresh.protocol = row.speaks()
    if fresh.instance_id is not None and member.standing != "removed":
        fresh.standing, fresh.member_id = member.standing, member.member_id
    elif member.standing == "member":
        fresh.former = (*member.former, group_records.former_id(records, member))
    records.drop_claims(member)
    records.members[row.actor] = fresh


def _pattern(row: TraceRow) -> str | None:
    detail = row.detail
    return detail.get("pattern") or detail.get("server_pattern")


def _process_ended(records: group_records.GroupRecords, row: TraceRow) -> None:
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
    def rule(records: group_records.GroupRecords, row: TraceRow) -> None:
        member = records.member(row.actor)
        member.life = life
        records.touch_claims(member)

    return rule


def _stall(stalled: bool) -> Rule:
    def rule(records: group_records.GroupRecords, row: TraceRow) -> None:
        records.member(row.actor).stalled = stalled

    return rule


def _owned(records: group_records.GroupRecords, row: TraceRow) -> None:
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


def _fetch_resumed(records: group_records.GroupRecords, row: TraceRow) -> None:
    member, partition = records.member(row.actor), group_records.partition_of(row)
    member.fetching[partition] = None
    member.fetched[partition] = None
    records.touch(partition)


def _fetch_stopped(records: group_records.GroupRecords, row: TraceRow) -> None:
    member, partition = records.member(row.actor), group_records.partition_of(row)
    member.fetching.pop(partition, None)
    member.unread_for[partition] = row.detail.get("reason", "")
    records.touch(partition)


def _callback_begin(records: group_records.GroupRecords, row: TraceRow) -> None:
    member = records.member(row.actor)
    member.callback = LISTENERS.get(row.detail["callback"], row.detail["callback"])
    member.in_callback = frozenset(row.detail["partitions"])
    records.touch_claims(member)


def _callback_end(records: group_records.GroupRecords, row: TraceRow) -> None:
    member = records.member(row.actor)
    member.callback, member.in_callback = None, frozenset()
    records.touch_claims(member)


def _wrong_call(records: group_records.GroupRecords, row: TraceRow) -> None:
    """The listener called the wrong function: nothing is changed, and the client waits for the right call."""
    member = records.member(row.actor)
    member.refused_call = str(row.detail["call"])
    records.touch_claims(member)


def _join_prepared(records: group_records.GroupRecords, row: TraceRow) -> None:
    records.member(row.actor).preparing = True


def _member_state(records: group_records.GroupRecords, row: TraceRow) -> None:
    records.member(row.actor).preparing = False


def _joined(records: group_records.GroupRecords, row: TraceRow) -> None:
    records.member(row.actor).leader = bool(row.detail.get("leader"))


def _coordinator_known(known: bool) -> Rule:
    def rule(records: group_records.GroupRecords, row: TraceRow) -> None:
        records.member(row.actor).lost_coordinator = not known

    return rule


def _generation_reset(records: group_records.GroupRecords, row: TraceRow) -> None:
    member = records.member(row.actor)
    member.generation, member.leader = None, False


def _resumed_at(records: group_records.GroupRecords, row: TraceRow) -> None:
    _fetch_resumed(records, row)
    group_records.note_position(records, row)


def _paused_at(records: group_records.GroupRecords, row: TraceRow) -> None:
    _fetch_stopped(records, row)
    group_records.note_position(records, row)


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


# Applies the coordinator's rows to the records: the group, its members, messages on their way.


GOOD = frozenset({None, "NONE"})
ALSO_GOOD: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "Heartbeat": frozenset({"REBALANCE_IN_PROGRESS"}),
        "OffsetCommit": frozenset({"UNKNOWN_TOPIC_OR_PARTITION"}),
    }
)
"""Errors that tell a member of the group something, and renew its session all the same."""


def _standing(standing: Standing) -> Rule:
    def rule(records: group_records.GroupRecords, row: TraceRow) -> None:
        member = records.member(row.detail["name"])
        member.standing = standing
        records.touch_claims(member)
        if standing in {"removed", "away"}:
            member.parked = None
        if standing == "removed":
            member.pending_revocation, member.leader = frozenset(), False
            if member.life in group_records.GONE:
                records.drop_claims(member)

    return rule


def _joined_anew(standing: Standing) -> Rule:
    """A member that joins with a new id while the group still has its old one: the goodbye of the old one was lost."""

    def rule(records: group_records.GroupRecords, row: TraceRow) -> None:
        member = records.member(row.detail["name"])
        if member.standing == "member" and member.member_id not in {None, row.member_id}:
            member.former = (*member.former, group_records.former_id(records, member)._replace(claims=()))
        _standing(standing)(records, row)
        member.member_id = row.member_id

    return rule


def _known(records: group_records.GroupRecords, row: TraceRow) -> None:
    _standing("member")(records, row)
    records.member(row.detail["name"]).member_id = row.member_id


def _removed(records: group_records.GroupRecords, row: TraceRow) -> None:
    """A member id leaves the group: that of the running process, or one of an earlier process of the same name."""
    member = records.member(row.detail["name"])
    if row.detail.get("pending"):
        if member.standing == "pending":
            member.standing = "none"
        return
    gone = [former for former in member.former if former.member_id == row.member_id]
    if gone:
        for partition in gone[0].claims:
            records.touch(partition)
        member.former = tuple(former for former in member.former if former is not gone[0])
    else:
        _standing("removed")(records, row)


def _replaced(records: group_records.GroupRecords, row: TraceRow) -> None:
    """Another process took a static member's place: whoever had its instance id is out."""
    _known(records, row)
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


def _group_moved(records: group_records.GroupRecords, row: TraceRow) -> None:
    detail = row.detail
    if detail["to"] == "Empty":
        records.stored = {}
    records.group = records.group._replace(
        state=detail["to"],
        reason=detail.get("reason") or "",
        trigger=detail.get("trigger") or "",
        culprit=detail.get("culprit"),
        protocol=row.speaks(),
    )


def _generation_made(records: group_records.GroupRecords, row: TraceRow) -> None:
    for member in list(records.members.values()):
        if member.leader and member.name != row.detail.get("leader"):
            records.member(member.name).leader = False
    for name in row.detail["members"].values():  # also of a static member that missed the join phase
        records.beats.setdefault(name, []).append(row.at_ms)
    records.group = records.group._replace(
        generation=row.generation, assignor=row.detail.get("assignor"), protocol="classic"
    )


def _epoch_bumped(records: group_records.GroupRecords, row: TraceRow) -> None:
    detail = row.detail
    records.group = records.group._replace(
        generation=row.generation,
        reason=detail.get("reason") or "",
        trigger=detail.get("trigger") or "",
        culprit=detail.get("culprit"),
        protocol="consumer",
    )


def _target_made(records: group_records.GroupRecords, row: TraceRow) -> None:
    records.group = records.group._replace(target_epoch=row.generation, assignor=row.detail.get("assignor"))
    wanted = {
        partition: name for name, partitions in row.detail["assignment"].items() for partition in partitions
    }
    for partition in dict.fromkeys([*records.targets, *wanted]):
        if records.targets.get(partition) != wanted.get(partition):
            records.touch(partition)
    records.targets = wanted


def _planned(records: group_records.GroupRecords, row: TraceRow) -> None:
    before = records.planned
    records.planned = {
        partition: name for name, partitions in row.detail["assignment"].items() for partition in partitions
    }
    for partition in dict.fromkeys([*before, *records.planned]):
        records.touch(partition)
    records.stored = {str(member_id): str(name) for member_id, name in row.detail.get("ids", {}).items()}


def _reconciled(records: group_records.GroupRecords, row: TraceRow) -> None:
    member = records.member(row.detail["name"])
    if member.standing != "removed":
        member.standing = "member"
    member.group_epoch = row.detail.get("epoch")
    member.pending_revocation = frozenset(row.detail.get("pending_revocation", ()))
    assigned = row.detail.get("assigned", ())
    former = [partition for partition, name in records.planned.items() if name == member.name]
    records.planned = {
        **{partition: name for partition, name in records.planned.items() if name != member.name},
        **dict.fromkeys(assigned, member.name),
    }
    for partition in dict.fromkeys([*former, *assigned]):
        records.touch(partition)
    records.touch_claims(member)


def _coordinator(up: bool) -> Rule:
    def rule(records: group_records.GroupRecords, row: TraceRow) -> None:
        records.group = records.group._replace(up=up)
        for member in records.members.values():
            if not up and member.parked:
                records.member(member.name).parked = None

    return rule


def _loaded(records: group_records.GroupRecords, row: TraceRow) -> None:
    """A group is read back, each member with a full session; a classic one with those of its last stored assignment."""
    if row.speaks() != "classic":
        _all_sessions_begin(records, row)
        return
    missing = dict(records.stored)
    for known in list(records.members.values()):
        member = records.member(known.name)
        records.touch_claims(member)
        member.former = tuple(
            former._replace(last_beat_ms=row.at_ms)
            for former in member.former
            if former.member_id in records.stored
        )
        if member.member_id in records.stored:
            member.standing = "member"
        elif member.standing in {"member", "pending"}:
            member.standing = "none"
        for member_id in (member.member_id, *(former.member_id for former in member.former)):
            missing.pop(str(member_id), None)
        records.beats.setdefault(member.name, []).append(row.at_ms)
    for member_id, name in missing.items():
        member = records.member(name)
        member.former = (*member.former, FormerId(name, "classic", row.at_ms, (), member_id))


def _request(records: group_records.GroupRecords, row: TraceRow) -> None:
    api = row.detail["api"]
    detail = row.detail
    news = api == "ConsumerGroupHeartbeat" and (
        (detail.get("epoch") or 0) <= 0 or detail.get("owned") is not None or detail.get("topics") is not None
    )
    records.messages.append(Message(row.at_ms, detail.get("arrives_ms"), row.actor, api, True, None, news))
    leaves = api == "LeaveGroup" or (api == "ConsumerGroupHeartbeat" and (row.generation or 0) < 0)
    if api in group_records.PARKING or (leaves and row.detail.get("arrives_ms") is not None):
        records.member(row.actor).sending = "LeaveGroup" if leaves else api
    elif api == "ConsumerGroupHeartbeat" and not leaves and row.actor in records.members:
        records.member(row.actor).sending = None  # it is a member anew, or wants to be


def _response(records: group_records.GroupRecords, row: TraceRow) -> None:
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
    if member is None:
        return
    held = member.parked == api
    if held:
        records.member(name).parked = None
    unheard = api == "OffsetCommit" and name in records.unheard
    if not unheard and _renews(member, api, error, held=held):
        records.beats.setdefault(name, []).append(row.at_ms)


def _renews(member: group_records.MemberRecord, api: str, error: str | None, *, held: bool) -> bool:
    """Whether an answer begins the member's session anew: a SyncGroup only where the coordinator kept it waiting."""
    if member.protocol == "consumer":
        return api == "ConsumerGroupHeartbeat" and error in GOOD and member.standing == "member"
    if api == "SyncGroup":
        return held
    return error in GOOD | ALSO_GOOD.get(api, frozenset())


def _all_sessions_begin(records: group_records.GroupRecords, row: TraceRow) -> None:
    """A group that was read back, or that changes its protocol, gives every member a full session."""
    for member in records.members.values():
        if member.standing in {"member", "away"}:
            records.beats.setdefault(member.name, []).append(row.at_ms)


def _topic_changed(records: group_records.GroupRecords, row: TraceRow) -> None:
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
        "member_added": _joined_anew("member"),
        "member_pending": _joined_anew("pending"),
        "member_removed": _removed,
        "member_replaced": _replaced,
        "static_kept": _known,
        "member_away": _standing("away"),
        "member_reconciled": _reconciled,
        "coordinator_down": _coordinator(False),
        "coordinator_up": _coordinator(True),
        "group_loaded": _loaded,
        "group_converted": _all_sessions_begin,
        "progress": group_records.note_position,
        "commit": group_records.note_commit,
        "topic_changed": _topic_changed,
    }
)
