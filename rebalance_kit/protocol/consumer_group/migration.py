"""Groups that change their protocol with members in them (KIP-848, group.consumer.migration.policy).

Upgrade: a consumer-protocol join reaches a classic group; its members go on, emulated. Downgrade: the
last consumer-protocol member leaves; the classic ones rebalance at once.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from rebalance_kit.model.versions import has
from rebalance_kit.protocol import messages
from rebalance_kit.protocol.classic_group.group import (
    Cause,
    ClassicGroup,
    ClassicGroupMember,
    ClassicGroupState,
    GroupSettings,
)
from rebalance_kit.protocol.classic_group.join_phase import GROUP_TIMERS, begin_rebalance
from rebalance_kit.protocol.consumer_group.group import (
    ClassicMemberMetadata,
    ConsumerGroup,
    ConsumerGroupMember,
    ConsumerGroupSettings,
    ConsumerGroupState,
    MemberState,
    add_member,
    replace_member,
)
from rebalance_kit.protocol.consumer_group.heartbeating import compute_if_due, reconcile, subscribe
from rebalance_kit.protocol.effects import Arrived, CancelTimer, Effect, Effects, Note, Reply, SetTimer, Timer

# Classic members of a consumer group: the coordinator speaks both protocols (KIP-848, online migration).
#
# A classic member is driven by the server's target. Its generation is its member epoch; JoinGroup is
# answered at once, without barrier, leader or member list; SyncGroup returns what is reconciled; the
# heartbeat says REBALANCE_IN_PROGRESS when a re-join would bring it further.


# --- JoinGroup --------------------------------------------------------------------------------
def classic_join(group: ConsumerGroup, arrived: Arrived[messages.JoinGroup]) -> Effects:
    """JoinGroup of a classic member: take the subscription over, compute if due, answer at once."""
    request = arrived.request
    error = _join_error(group, request)
    if error is not None:
        yield group.note(
            "member_refused",
            request.member_id or None,
            name=request.client,
            api="JoinGroup",
            error=error,
            message=None,
        )
        yield Reply(arrived.token, messages.JoinAnswer(error, request.member_id))
    elif not request.member_id and request.instance_id is None:
        member_id = group.settings.new_id(request.client)
        yield group.note("member_pending", member_id, name=request.client, state=group.state.value)
        yield Reply(arrived.token, messages.JoinAnswer("MEMBER_ID_REQUIRED", member_id))
    else:
        known = set(group.members)
        member = yield from _joiner(group, request)
        newcomer = None if member.member_id in known else member.member_id
        yield from _reconcile_joiner(group, request, member, newcomer)
        # the member's own first assignor, whatever the others list (GroupMetadataManager.classicGroupJoinToConsumerGroup)
        answer = messages.JoinAnswer(
            messages.NONE, member.member_id, member.epoch, request.protocols[0][0], ""
        )
        yield Reply(arrived.token, answer)


def _join_error(group: ConsumerGroup, request: messages.JoinGroup) -> str | None:
    low, high = group.settings.classic_session_range
    if not low <= request.session_timeout_ms <= high:
        return "INVALID_SESSION_TIMEOUT"
    known = request.member_id in group.members
    migrates = group.settings.migration_policy in {"bidirectional", "downgrade", "upgrade"}
    if not (known or migrates) or not _shares_an_assignor(group, request):
        return "INCONSISTENT_GROUP_PROTOCOL"
    if request.instance_id is not None and request.member_id:
        holder = group.statics.get(request.instance_id)
        if holder is not None and holder != request.member_id:
            return "FENCED_INSTANCE_ID"
    if not known and len(group.members) >= group.settings.max_size:
        return "GROUP_MAX_SIZE_REACHED"
    return None


def _shares_an_assignor(group: ConsumerGroup, request: messages.JoinGroup) -> bool:
    """Some assignor of the request is listed by every other classic member."""
    shared = {name for name, _ in request.protocols}
    for member in group.members.values():
        if member.classic is not None and member.member_id != request.member_id:
            shared &= {name for name, _ in member.classic.protocols}
    return bool(shared)


def _joiner(
    group: ConsumerGroup, request: messages.JoinGroup
) -> Generator[Effect, None, ConsumerGroupMember]:
    known = group.members.get(request.member_id)
    if known is not None:
        yield group.note("member_rejoined", known.member_id, name=request.client)
        return known
    member_id = request.member_id or group.settings.new_id(request.client)
    instance = request.instance_id
    old = group.members.get(group.statics.get(instance, "")) if instance is not None else None
    if old is not None:
        yield from replace_member(group, old, member_id, request.client)
        return group.members[member_id]
    member = ConsumerGroupMember(member_id, instance, request.client)
    add_member(group, member)
    yield group.note(
        "member_added",
        member_id,
        name=request.client,
        instance_id=instance,
        reason=request.reason.text if request.reason else "",
        classic=True,
    )
    return member


def _reconcile_joiner(
    group: ConsumerGroup, request: messages.JoinGroup, member: ConsumerGroupMember, newcomer: str | None
) -> Effects:
    member.classic = ClassicMemberMetadata(request.session_timeout_ms, request.protocols)
    member.rebalance_timeout_ms = request.rebalance_timeout_ms
    subscription = request.protocols[0][1]
    topics = tuple(sorted(subscription.topics))
    yield from subscribe(group, member, topics, None, joined=not member.names)
    yield from compute_if_due(group, newcomer=newcomer)
    yield from reconcile(group, member, subscription.owned)
    yield from group.settle_state()
    yield CancelTimer((Timer.JOIN, member.member_id))
    group.join_timers.discard(member.member_id)
    yield member.session_timer(request.session_timeout_ms)
    yield SetTimer((Timer.SYNC, member.member_id), request.rebalance_timeout_ms)


# --- SyncGroup and Heartbeat ------------------------------------------------------------------
def classic_sync(group: ConsumerGroup, arrived: Arrived[messages.SyncGroup]) -> Effects:
    """SyncGroup of a classic member: what it owns by now, unless a newer target waits for it."""
    request = arrived.request
    error = _membership_error(group, request)
    if error is not None:
        yield Reply(arrived.token, messages.SyncAnswer(error))
        return
    member = group.members[request.member_id]
    if _next_epoch(group) > member.epoch and member.state is not MemberState.UNREVOKED:
        yield from _wait_for_join(group, member)
        yield Reply(arrived.token, messages.SyncAnswer("REBALANCE_IN_PROGRESS"))
        return
    yield CancelTimer((Timer.SYNC, member.member_id))
    yield from _keep_alive(member)
    yield Reply(arrived.token, messages.SyncAnswer(messages.NONE, tuple(sorted(member.assigned))))


def classic_heartbeat(group: ConsumerGroup, arrived: Arrived[messages.Heartbeat]) -> Effects:
    """Heartbeat of a classic member: it never bumps and never computes."""
    request = arrived.request
    error = _membership_error(group, request)
    if error is not None:
        yield Reply(arrived.token, messages.Answer(error))
        return
    member = group.members[request.member_id]
    yield from _keep_alive(member)
    if _gains_by_rejoining(group, member):
        yield from _wait_for_join(group, member)
        yield Reply(arrived.token, messages.Answer("REBALANCE_IN_PROGRESS"))
    else:
        yield Reply(arrived.token, messages.Answer(messages.NONE))


def _membership_error(group: ConsumerGroup, request: messages.SyncGroup | messages.Heartbeat) -> str | None:
    if request.instance_id is not None and group.statics.get(request.instance_id) not in {
        None,
        request.member_id,
    }:
        return "FENCED_INSTANCE_ID"
    member = group.members.get(request.member_id)
    if member is None or member.classic is None:
        return "UNKNOWN_MEMBER_ID"
    return None if request.generation == member.epoch else "ILLEGAL_GENERATION"


def _gains_by_rejoining(group: ConsumerGroup, member: ConsumerGroupMember) -> bool:
    """A newer target waits, something must be revoked, or all that others were to release is free by now."""
    missing = [tp for tp in group.target_of(member) if tp not in member.assigned]
    released = member.state is MemberState.UNRELEASED and all(
        group.is_free(tp, member.member_id) for tp in missing
    )
    return member.epoch < _next_epoch(group) or member.state is MemberState.UNREVOKED or released


def _next_epoch(group: ConsumerGroup) -> int:
    return group.assignment_epoch if group.settings.has("mixed-heartbeat-target") else group.epoch


def _keep_alive(member: ConsumerGroupMember) -> Effects:
    if member.classic is not None:
        yield member.session_timer(member.classic.session_timeout_ms)


def _wait_for_join(group: ConsumerGroup, member: ConsumerGroupMember) -> Effects:
    if member.member_id not in group.join_timers:
        group.join_timers.add(member.member_id)
        yield SetTimer((Timer.JOIN, member.member_id), member.rebalance_timeout_ms)


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a classic group is not upgraded: error and message for the joiner, and what is answered beside it."""

    error: str
    message: str
    effects: tuple[Effect, ...] = ()


def upgrade(
    classic: ClassicGroup, settings: ConsumerGroupSettings
) -> tuple[ConsumerGroup, list[Effect]] | Refusal:
    """Turn a classic group with members into a consumer group, or say why not."""
    name = settings.group
    if settings.migration_policy not in {"bidirectional", "upgrade"}:
        return Refusal(
            "GROUP_ID_NOT_FOUND",
            f"Group {name} is not a consumer group: Cannot upgrade classic group {name} to consumer group because online upgrade is disabled.",
        )
    if len(classic.members) > settings.max_size:
        return Refusal(
            "GROUP_ID_NOT_FOUND",
            f"Cannot upgrade classic group {name} to consumer group because the group size exceeds the consumer group maximum size.",
        )
    if classic.protocol is None and has("join-before-first-generation", settings.kafka_version):
        # fromClassicGroup asks for a protocol that a first, unfinished join phase has not selected
        refusals: list[Effect] = []
        for member in classic.members.values():
            refusals += classic.answer_join(
                member, messages.JoinAnswer("REBALANCE_IN_PROGRESS", member.member_id)
            )
        return Refusal("UNKNOWN_SERVER_ERROR", "No value present", tuple(refusals))
    return _convert(classic, settings)


def _convert(classic: ClassicGroup, settings: ConsumerGroupSettings) -> tuple[ConsumerGroup, list[Effect]]:
    effects: list[Effect] = []
    group = ConsumerGroup(settings, classic.generation, classic.generation)
    group.state = ConsumerGroupState.STABLE
    for member in classic.in_map_order():
        effects += classic.answer_join(member, messages.JoinAnswer("REBALANCE_IN_PROGRESS", member.member_id))
        effects += classic.answer_sync(member, messages.SyncAnswer("REBALANCE_IN_PROGRESS"))
    effects += [CancelTimer(key) for key in GROUP_TIMERS]
    effects += [CancelTimer((Timer.PENDING, member_id)) for member_id in classic.pending]
    for member in classic.members.values():
        _admit(group, member, classic.generation)
        effects.append(member.session_timer())
    group.metadata, group.seen_topics = group.metadata_now(), dict(settings.topics())
    effects.append(
        Note(
            "group_converted",
            group.epoch,
            None,
            {"group": settings.group, "to": "consumer", "members": len(group.members)},
        )
    )
    return group, effects


def _admit(group: ConsumerGroup, former: ClassicGroupMember, epoch: int) -> None:
    topics = tuple(sorted(former.protocols[0][1].topics))
    member = ConsumerGroupMember(
        former.member_id,
        former.instance_id,
        former.client,
        epoch,
        epoch,
        topics=topics,
        names=topics,
        rebalance_timeout_ms=former.rebalance_timeout_ms,
    )
    member.classic = ClassicMemberMetadata(former.session_timeout_ms, former.protocols)
    group.members[former.member_id] = member
    if former.instance_id is not None:
        group.statics[former.instance_id] = former.member_id
    group.hold(member, dict.fromkeys(former.assignment, epoch), {})
    group.target[former.member_id] = tuple(former.assignment)


def downgrade(group: ConsumerGroup, settings: GroupSettings) -> tuple[ClassicGroup, list[Effect]]:
    """Turn a consumer group whose members are all classic into a classic group that rebalances at once."""
    classic = ClassicGroup(settings)
    classic.generation = group.epoch
    for member_id in settings.consumer_order(list(group.members)):  # the first one leads
        member = group.members[member_id]
        assert member.classic is not None
        classic.add(
            ClassicGroupMember(
                member.member_id,
                member.instance_id,
                member.client,
                member.classic.session_timeout_ms,
                member.rebalance_timeout_ms,
                member.classic.protocols,
                tuple(sorted(group.target.get(member.member_id, ()))),
                is_new=False,
            )
        )
    classic.protocol = classic.select_protocol()
    classic.previous, classic.state = ClassicGroupState.COMPLETING_REBALANCE, ClassicGroupState.STABLE
    classic.store()
    effects: list[Effect] = []
    for member_id, classic_member in classic.members.items():
        effects += [CancelTimer((timer, member_id)) for timer in (Timer.JOIN, Timer.SYNC, Timer.REBALANCE)]
        effects.append(classic_member.session_timer())
    reason = f"Downgrade group {settings.group} from consumer to classic for member leaving."
    effects += begin_rebalance(classic, Cause(reason, messages.Trigger.DOWNGRADE, None))
    detail = {"group": settings.group, "to": "classic", "members": len(classic.members)}
    effects.append(Note("group_converted", classic.generation, None, detail))
    return classic, effects
