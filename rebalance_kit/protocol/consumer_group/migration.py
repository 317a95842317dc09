"""Groups that change their protocol with members in them (KIP-848, group.consumer.migration.policy).

Upgrade: a consumer-protocol join reaches a classic group; its members go on, emulated. Downgrade: the
last consumer-protocol member leaves; the classic ones rebalance at once.
"""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_kit.model.versions import has
from rebalance_kit.protocol.classic_group.join import JOIN_TIMER, SYNC_TIMER, prepare
from rebalance_kit.protocol.classic_group.state import ClassicGroup, GroupMember, GroupSettings, State
from rebalance_kit.protocol.consumer_group.state import (
    ClassicSide,
    ConsumerGroup,
    ConsumerGroupMember,
    ConsumerGroupSettings,
    GroupState,
)
from rebalance_kit.protocol.effects import CancelTimer, Effect, Note, SetTimer
from rebalance_kit.protocol.messages import JoinAnswer, SyncAnswer


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
        classic.out = []
        for member in list(classic.members.values()):
            classic.answer_join(member, JoinAnswer("REBALANCE_IN_PROGRESS", member.member_id))
        return Refusal("UNKNOWN_SERVER_ERROR", "No value present", tuple(classic.out))
    return _convert(classic, settings)


def _convert(classic: ClassicGroup, settings: ConsumerGroupSettings) -> tuple[ConsumerGroup, list[Effect]]:
    classic.out = []
    group = ConsumerGroup(settings, classic.generation, classic.generation)
    group.state = GroupState.STABLE
    for member in classic.in_map_order():
        classic.answer_join(member, JoinAnswer("REBALANCE_IN_PROGRESS", member.member_id))
        if member.parked_sync is not None:
            classic.reply(member.parked_sync, SyncAnswer("REBALANCE_IN_PROGRESS"))
            member.parked_sync = None
    pending = [CancelTimer(("pending", one)) for one in classic.pending]
    out: list[Effect] = [*classic.out, CancelTimer(JOIN_TIMER), CancelTimer(SYNC_TIMER), *pending]
    for held in classic.members.values():
        _admit(group, held, classic.generation)
        out.append(SetTimer(("session", held.member_id), held.session_timeout_ms))
    group.metadata, group.seen_topics = group.metadata_now(), dict(settings.topics())
    out.append(
        Note(
            "group_converted",
            group.epoch,
            None,
            {"group": settings.group, "to": "consumer", "members": len(group.members)},
        )
    )
    return group, out


def _admit(group: ConsumerGroup, held: GroupMember, epoch: int) -> None:
    topics = tuple(sorted(held.protocols[0][1].topics))
    member = ConsumerGroupMember(
        held.member_id,
        held.instance_id,
        held.sender,
        epoch,
        epoch,
        topics=topics,
        names=topics,
        rebalance_timeout_ms=held.rebalance_timeout_ms,
    )
    member.classic = ClassicSide(held.session_timeout_ms, held.protocols)
    group.members[held.member_id] = member
    if held.instance_id is not None:
        group.statics[held.instance_id] = held.member_id
    group.hold(member, dict.fromkeys(held.assignment, epoch), {})
    group.target[held.member_id] = tuple(held.assignment)


def downgrade(group: ConsumerGroup, settings: GroupSettings) -> tuple[ClassicGroup, list[Effect]]:
    """Turn a consumer group whose members are all classic into a classic group that rebalances at once."""
    classic = ClassicGroup(settings)
    classic.generation = group.epoch
    for member_id in settings.consumer_order(list(group.members)):  # the first one leads
        member = group.members[member_id]
        assert member.classic is not None
        classic.add(
            GroupMember(
                member.member_id,
                member.instance_id,
                member.sender,
                member.classic.session_timeout_ms,
                member.rebalance_timeout_ms,
                member.classic.protocols,
                tuple(group.target.get(member.member_id, ())),
                is_new=False,
            )
        )
    classic.protocol = classic.select_protocol()
    classic.previous, classic.state = State.COMPLETING, State.STABLE
    classic.store()
    classic.out = []
    for member_id, held in classic.members.items():
        for timer in ("join", "sync"):
            classic.out.append(CancelTimer((timer, member_id)))
        classic.out.append(SetTimer(("session", member_id), held.session_timeout_ms))
    prepare(
        classic,
        f"Downgrade group {settings.group} from consumer to classic for member leaving.",
        "downgrade",
        None,
    )
    detail = {"group": settings.group, "to": "classic", "members": len(classic.members)}
    classic.out.append(Note("group_converted", classic.generation, None, detail))
    return classic, classic.out
