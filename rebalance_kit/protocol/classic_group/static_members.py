"""A static member comes back (KIP-345): its instance id is known, its member id is not.

The new process takes the place of the old one, which is fenced: at once where it waits for an answer,
else at its next request (``identity.identity_error``). Nothing rebalances while the group is Stable and
would select the same assignor.
"""

from __future__ import annotations

from typing import NamedTuple

from rebalance_kit.protocol.classic_group.group import Cause, ClassicGroup, ClassicGroupMember
from rebalance_kit.protocol.classic_group.leaving import Then
from rebalance_kit.protocol.effects import Arrived, CancelTimer, Effect, Effects, Reply, SetTimer, Timer
from rebalance_kit.protocol.messages import JoinAnswer, JoinGroup, SyncAnswer
from rebalance_kit.protocol.triggers import Trigger


class Replacement(NamedTuple):
    """An old member, the one that takes its place, and whether the old one led."""

    old: ClassicGroupMember
    new: ClassicGroupMember
    led: bool


def replace_static_then(
    group: ClassicGroup, arrived: Arrived[JoinGroup], member_id: str, then: Then
) -> Effects:
    """Empty, Preparing, Completing: the new process joins the rebalance that ``then`` begins or goes on with."""
    replaced = _replacement(group, arrived.request, member_id)
    yield from _fence_and_swap(group, replaced)
    yield _replaced_note(group, replaced, rebalance=True)
    group.park_join(replaced.new, arrived.token)
    instance, why = replaced.new.instance_id, told_reason(arrived.request)
    reason = (
        f"Updating metadata for static member {member_id} with instance id {instance}; client reason: {why}"
    )
    yield from then(group, Cause(reason, Trigger.STATIC, arrived.request.client))


def replace_static_stable(
    group: ClassicGroup, arrived: Arrived[JoinGroup], member_id: str, then: Then
) -> Effects:
    """Stable: nothing rebalances, unless the selected assignor would change."""
    replaced = _replacement(group, arrived.request, member_id)
    yield from _fence_and_swap(group, replaced)
    keeps_protocol = group.select_protocol() == group.protocol
    yield _replaced_note(group, replaced, rebalance=not keeps_protocol)
    if keeps_protocol:
        yield from _answer_current(group, arrived, replaced)
        return
    group.park_join(replaced.new, arrived.token)
    instance, why = replaced.new.instance_id, told_reason(arrived.request)
    reason = f"Group's selectedProtocol will change because static member {member_id} with instance id {instance} joined with change of protocol; client reason: {why}"
    yield from then(group, Cause(reason, Trigger.STATIC, arrived.request.client))


def _replacement(group: ClassicGroup, request: JoinGroup, member_id: str) -> Replacement:
    assert request.instance_id is not None
    old = group.members[group.statics[request.instance_id]]
    new = ClassicGroupMember(
        member_id,
        request.instance_id,
        request.client,
        request.session_timeout_ms,
        request.rebalance_timeout_ms,
        request.protocols,
        assignment=old.assignment,
        is_new=False,
    )
    return Replacement(old, new, group.leader == old.member_id)


def _fence_and_swap(group: ClassicGroup, replaced: Replacement) -> Effects:
    yield from _fence_old(group, replaced.old)
    _swap_ids(group, replaced)
    yield CancelTimer((Timer.SESSION, replaced.old.member_id))
    yield SetTimer((Timer.SESSION, replaced.new.member_id), replaced.old.session_timeout_ms)


def _fence_old(group: ClassicGroup, old: ClassicGroupMember) -> Effects:
    """Whatever the old process waits for is answered FENCED_INSTANCE_ID."""
    yield from group.answer_join(old, JoinAnswer("FENCED_INSTANCE_ID", old.member_id))
    yield from group.answer_sync(old, SyncAnswer("FENCED_INSTANCE_ID"))


def _swap_ids(group: ClassicGroup, replaced: Replacement) -> None:
    """The new id takes over the old one's place, and leads if that one led."""
    old_id = replaced.old.member_id
    owes_sync = old_id in group.pending_sync
    group.remove(old_id)
    if owes_sync:
        group.pending_sync.add(old_id)  # replaceStaticMember leaves it there: nobody can send it any more
    group.add(replaced.new)
    if replaced.led:
        group.leader = replaced.new.member_id


def _answer_current(group: ClassicGroup, arrived: Arrived[JoinGroup], replaced: Replacement) -> Effects:
    """The new process gets the current generation; SyncGroup will give it the old assignment."""
    group.store()
    yield group.note("static_kept", replaced.new.member_id, name=arrived.request.client)
    if replaced.led and not group.settings.skips_assignment:
        # told that its old id leads, it takes itself for a follower
        answer = group.join_answer(replaced.new)._replace(leader=replaced.old.member_id, members=())
    else:
        answer = group.join_answer(replaced.new, skip_assignment=replaced.led)
    yield Reply(arrived.token, answer)


def _replaced_note(group: ClassicGroup, replaced: Replacement, *, rebalance: bool) -> Effect:
    return group.note(
        "member_replaced",
        replaced.new.member_id,
        name=replaced.new.client,
        instance_id=replaced.new.instance_id,
        old_member_id=replaced.old.member_id,
        old_name=replaced.old.client,
        rebalance=rebalance,
        state=group.state.value,
    )


def told_reason(request: JoinGroup) -> str:
    """The client's reason as the coordinator prints it."""
    return "not provided" if request.reason is None else request.reason.text
