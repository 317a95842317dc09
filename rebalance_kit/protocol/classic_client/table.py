"""Events of a classic consumer: the table that says which rule answers which, and ``step``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.errors import ProtocolViolation
from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.classic_client.answers import (
    after_commit,
    answered,
    coordinator_found,
    disconnected,
    lead,
)
from rebalance_kit.protocol.classic_client.member import (
    CLOSE_LIMIT,
    COMMIT_LIMIT,
    HEARTBEAT,
    POLL_TIMEOUT_REASON,
    RETRY,
    RETRY_MS,
    SESSION,
    ClassicMember,
    Phase,
    Stage,
)
from rebalance_kit.protocol.client import calls_wrong_family, matching, names
from rebalance_kit.protocol.messages import Heartbeat
from rebalance_kit.protocol.triggers import Trigger

Replicas = tuple[tuple[int, str | None], ...]


# --- the application thread -------------------------------------------------------------------
def _polled(member: ClassicMember, event: Any) -> None:
    if member.stage is not Stage.IDLE or member.closing:
        return
    if member.completes_again and member.phase is Phase.STABLE:
        member.completes_again = False
        member.pending_assignment = member.owned
        member.assign()
        return
    _look_at_metadata(member)
    if member.rejoin_needed and member.coordinator_known:
        member.begin_join()


def _look_at_metadata(member: ClassicMember) -> None:
    if member.phase is not Phase.STABLE or member.rejoin_needed:
        return
    if member.leader and member.assigned_metadata is not None:
        watched = sorted({*member.assigned_metadata, *member.topics})
        seen = {topic: member.metadata.get(topic, 0) for topic in watched}
        if seen != dict(member.assigned_metadata) or _racks_changed(member, watched):
            racked = member.settings.rack is not None
            before = _printed(
                member, member.assigned_metadata, member.assigned_racks if racked else fx.NO_RACKS
            )
            after = _printed(member, seen, member.racks if racked else fx.NO_RACKS)
            member.request_rejoin(
                f"cached metadata has changed from (version1: {before}) at the beginning of the rebalance to (version2: {after})",
                "cached metadata has changed",
                Trigger.METADATA,
            )
            return
    if tuple(sorted(member.joined_topics)) != tuple(sorted(member.topics)):
        printed = member.settings.hash_order
        old, new = (f"[{', '.join(printed(sorted(one)))}]" for one in (member.joined_topics, member.topics))
        member.request_rejoin(
            f"subscription has changed from {old} at the beginning of the rebalance to {new}",
            "subscription has changed",
            Trigger.SUBSCRIPTION,
        )


def _racks_changed(member: ClassicMember, topics: list[str]) -> bool:
    """Only a leader with client.rack looks at the racks of replicas (ConsumerCoordinator.PartitionRackInfo)."""
    if member.settings.rack is None:
        return False
    kept = member.settings.tolerates_offline
    for topic in topics:
        for old, new in zip(member.assigned_racks.get(topic, ()), member.racks.get(topic, ()), strict=False):
            if not (_accounted_for(old, new, kept) and _accounted_for(new, old, kept)):
                return True
    return False


def _accounted_for(one: Replicas, other: Replicas, tolerates_offline: bool) -> bool:
    """Whether each rack of ``one`` is in ``other``, or is that of a replica that is offline there (where that is tolerated)."""
    there = {rack for _, rack in other if rack is not None}
    away = {node for node, rack in other if rack is None} if tolerates_offline else set()
    return all(rack is None or rack in there or node in away for node, rack in one)


def _printed(member: ClassicMember, counts: Mapping[str, int], racks: fx.Racks) -> str:
    topics = []
    for topic in member.settings.hash_order(sorted(counts)):
        count = counts[topic]
        told = racks.get(topic, ())
        listed = [_rack_info(told[number]) if number < len(told) else "NO_RACKS" for number in range(count)]
        topics.append(f"{topic}=[{', '.join(listed)}]")
    return "{" + ", ".join(topics) + "}"


def _rack_info(replicas: Replicas) -> str:
    names = sorted({rack for _, rack in replicas if rack is not None})
    return f"racks=[{', '.join(names)}]" if names else "NO_RACKS"


def _callback_done(member: ClassicMember, event: Any) -> None:
    stage = member.stage
    if stage in {Stage.REVOKING, Stage.ASSIGNING} and calls_wrong_family(
        member.settings, incremental=member.settings.cooperative
    ):
        member.note("wrong_call", call="assign" if stage is Stage.ASSIGNING else "unassign")
        member.stuck = True  # nothing is changed on the error: heartbeats go on, nothing is read
        return
    member.raised = member.raised or event.error
    if stage is Stage.GIVING_UP:
        member.gave_up()
    elif stage is Stage.REVOKING:
        gone = [tp for tp in member.owned if tp not in frozenset(member.pending_assignment)]
        member.owned = tuple(tp for tp in member.owned if tp not in frozenset(gone))
        member.request_rejoin(
            f"need to revoke partitions [{', '.join(names(tuple(gone)))}] as indicated by the current assignment and re-join",
            "need to revoke partitions and re-join",
            Trigger.REVOCATION,
        )
        if member.death is not None:
            member.last_callback()
        else:
            member.assign()
    elif stage is Stage.ASSIGNING and member.death is not None:
        member.last_callback()
    elif stage is Stage.ASSIGNING:
        member.stage = Stage.IDLE
        member.out.append(fx.StartFetching(member.owned))
        # the next poll() completes the same join again, for its future was not taken (joinGroupIfNeeded)
        member.completes_again = member.throw()
        if member.closing:
            member.begin_close()
        else:
            member.out.append(fx.WantPoll("settled"))
    elif stage is Stage.CLOSE_CALLBACK:
        # onLeavePrepare throws ahead of maybeLeaveGroup: the group only hears of it by the session timeout
        member.leave(silently=member.throw())


def _close_called(member: ClassicMember, event: Any) -> None:
    if member.stage is Stage.CLOSED or member.closing:
        return
    if member.stage in {Stage.REVOKING, Stage.ASSIGNING, Stage.GIVING_UP} and not member.stuck:
        member.closing = True
        member.close_timeout_ms = event.timeout_ms
        return
    member.close_timeout_ms = event.timeout_ms
    member.begin_close()


def _commit_done(member: ClassicMember, event: Any) -> None:
    after_commit(member, event.how, event.error)


def _poll_timeout(member: ClassicMember, event: Any) -> None:
    if member.phase in {Phase.UNJOINED, Phase.PREPARING} or member.stage is Stage.CLOSED:
        return  # the heartbeat thread, which would notice, rests (MemberState.hasNotJoinedGroup)
    member.note("poll_timeout", limit_ms=member.settings.max_poll_interval_ms)
    if member.settings.instance_id is None and member.coordinator_known:
        member.send_leave(POLL_TIMEOUT_REASON)
    if member.stage in {Stage.JOINING, Stage.SYNCING, Stage.COMMITTING}:
        member.stage = Stage.IDLE
    member.reset("consumer pro-actively leaving the group", keep_id=False)
    member.request_rejoin("consumer pro-actively leaving the group")
    member.out.append(fx.WantPoll("settled"))


def _subscribed(member: ClassicMember, event: Any) -> None:
    member.topics = event.topics
    member.out.append(fx.WantPoll("settled"))


def _metadata_seen(member: ClassicMember, event: Any) -> None:
    if event.racks != member.racks:
        member.racks = event.racks
        member.out.append(fx.WantPoll("settled"))
    if event.partitions != member.metadata:
        if member.metadata:
            member.note("metadata_changed", topics=dict(event.partitions))
        member.metadata = event.partitions
        if member.pattern is not None:
            member.topics = matching(member.pattern, event.partitions)
        member.out.append(fx.WantPoll("settled"))
    if (
        member.elected is not None
        and member.stage is Stage.SYNCING
        and member.generation == member.elected.generation
    ):
        lead(member, member.elected)


def _rejoin_enforced(member: ClassicMember, event: Any) -> None:
    if member.stage in {Stage.JOINING, Stage.SYNCING}:
        return  # rejoinNeeded is cleared by the SyncGroup that is under way
    member.request_rejoin(event.reason)
    member.out.append(fx.WantPoll("settled"))


# --- the heartbeat thread ---------------------------------------------------------------------
def _timer_fired(member: ClassicMember, event: Any) -> None:
    if member.stage is Stage.CLOSED:
        return
    if event.key == HEARTBEAT:
        _beat(member)
    elif event.key == SESSION:
        if member.phase in {Phase.STABLE, Phase.COMPLETING}:
            _session_passed(member)
    elif event.key == RETRY:
        _commit_again(member)
    elif event.key == COMMIT_LIMIT and member.stage is Stage.COMMITTING:
        member.give_up()
    elif event.key == CLOSE_LIMIT and member.stage is Stage.CLOSE_COMMIT:
        member.last_callback()


def _session_passed(member: ClassicMember) -> None:
    """Java only looks for its coordinator and keeps its partitions; librdkafka gives them up as lost."""
    member.lose_coordinator("session timed out without receiving a heartbeat response")
    if member.native and not member.closing:
        if member.stage is Stage.SYNCING:
            member.stage = Stage.IDLE
        member.reset("session timed out", keep_id=False)
        member.request_rejoin("session timed out")
        if member.stage is Stage.IDLE and member.owned:
            member.give_up()


def _commit_again(member: ClassicMember) -> None:
    how = {Stage.COMMITTING: "join", Stage.CLOSE_COMMIT: "close"}.get(member.stage)
    if how is None:
        return
    if member.generation < 0:
        after_commit(member, how, "UNKNOWN_MEMBER_ID")
    elif member.coordinator_known:
        member.out.append(fx.Commit(how))
    else:
        member.out.append(fx.SetTimer(RETRY, RETRY_MS))


def _beat(member: ClassicMember) -> None:
    if member.phase not in {Phase.STABLE, Phase.COMPLETING}:
        return
    kept = member.settings
    if not member.coordinator_known:
        return
    member.out.append(
        fx.Send(Heartbeat(kept.name, member.member_id, kept.instance_id, member.generation, kept.group))
    )
    member.out.append(fx.SetTimer(HEARTBEAT, kept.heartbeat_interval_ms))


RULES: Mapping[type, Callable[[ClassicMember, Any], None]] = MappingProxyType(
    {
        fx.Polled: _polled,
        fx.Answered: answered,
        fx.Disconnected: disconnected,
        fx.TimerFired: _timer_fired,
        fx.CallbackDone: _callback_done,
        fx.CommitDone: _commit_done,
        fx.CoordinatorFound: coordinator_found,
        fx.PollTimeout: _poll_timeout,
        fx.Subscribed: _subscribed,
        fx.MetadataSeen: _metadata_seen,
        fx.RejoinEnforced: _rejoin_enforced,
        fx.CloseCalled: _close_called,
    }
)


def step(member: ClassicMember, event: Any) -> list[fx.Effect]:
    """Apply one event to a classic consumer and return the effects it asks for, in order."""
    rule = RULES.get(type(event))
    if rule is None:
        raise ProtocolViolation(f"a classic consumer is never sent {type(event).__name__}")
    member.out = []
    rule(member, event)
    return member.out
