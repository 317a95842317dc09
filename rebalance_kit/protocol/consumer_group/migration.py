"""Groups that change their protocol with members in them (KIP-848, group.consumer.migration.policy).

Upgrade: a consumer-protocol join reaches a classic group; its members go on, emulated. Downgrade: the
last consumer-protocol member leaves; the classic ones rebalance at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_kit.model.versions import has
from rebalance_kit.protocol.classic_group.group import Cause, ClassicGroup, ClassicGroupMember, GroupSettings
from rebalance_kit.protocol.classic_group.join_phase import GROUP_TIMERS, begin_rebalance
from rebalance_kit.protocol.classic_group.states import ClassicGroupState
from rebalance_kit.protocol.consumer_group.group import (
    ClassicMemberMetadata,
    ConsumerGroup,
    ConsumerGroupMember,
    ConsumerGroupSettings,
)
from rebalance_kit.protocol.consumer_group.states import ConsumerGroupState
from rebalance_kit.protocol.effects import CancelTimer, Effect, Note, Timer
from rebalance_kit.protocol.messages import JoinAnswer, SyncAnswer
from rebalance_kit.protocol.triggers import Trigger


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
            refusals += classic.answer_join(member, JoinAnswer("REBALANCE_IN_PROGRESS", member.member_id))
        return Refusal("UNKNOWN_SERVER_ERROR", "No value present", tuple(refusals))
    return _convert(classic, settings)


def _convert(classic: ClassicGroup, settings: ConsumerGroupSettings) -> tuple[ConsumerGroup, list[Effect]]:
    effects: list[Effect] = []
    group = ConsumerGroup(settings, classic.generation, classic.generation)
    group.state = ConsumerGroupState.STABLE
    for member in classic.in_map_order():
        effects += classic.answer_join(member, JoinAnswer("REBALANCE_IN_PROGRESS", member.member_id))
        effects += classic.answer_sync(member, SyncAnswer("REBALANCE_IN_PROGRESS"))
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
    effects += begin_rebalance(classic, Cause(reason, Trigger.DOWNGRADE, None))
    detail = {"group": settings.group, "to": "classic", "members": len(classic.members)}
    effects.append(Note("group_converted", classic.generation, None, detail))
    return classic, effects
