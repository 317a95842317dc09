"""The heartbeat thread: how a member hears of a rebalance, and how its membership ends without it.

REBALANCE_IN_PROGRESS makes it join again at its next poll(). UNKNOWN_MEMBER_ID and ILLEGAL_GENERATION take
the generation away. Too long without poll() makes it leave.
"""

from __future__ import annotations

from collections.abc import Mapping

from rebalance_kit.model.errors import COORDINATOR_MOVED, MESSAGES
from rebalance_kit.protocol import effects
from rebalance_kit.protocol.classic_client import joining, requests
from rebalance_kit.protocol.classic_client.member import HEARTBEAT, ClassicMember, MemberState
from rebalance_kit.protocol.client import IN_CALLBACK, AwaitedCommits, PollStep, matching
from rebalance_kit.protocol.messages import NONE, Answer, Heartbeat, OffsetCommit, Request, Trigger

WAITING = frozenset({PollStep.JOINING, PollStep.SYNCING, PollStep.COMMITTING_BEFORE_JOIN})
"""Steps in which poll() waits for an answer that a reset makes worthless."""


def heartbeat_due(member: ClassicMember, fired: effects.TimerFired) -> effects.Effects:
    """heartbeat.interval.ms has passed since the last one."""
    if member.in_group and member.coordinator_known:
        yield requests.heartbeat(member)
        yield member.start_heartbeats()


def heartbeat_answered(member: ClassicMember, request: Heartbeat, answer: Answer) -> effects.Effects:
    """The member is alive, is to join again, or is none any more."""
    error = answer.error
    if error in {NONE, "REBALANCE_IN_PROGRESS"}:
        if member.in_group:
            yield member.session_timer()
        if (
            error != NONE
            and member.state is MemberState.STABLE
            and not member.closing
            and not _queued(member)
        ):
            yield member.request_rejoin("group is already rebalancing")
            yield effects.WantPoll(effects.NextPoll.REJOIN)
    elif error in {"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"}:
        yield from lose_membership(member, request.generation, error, "HEARTBEAT")
    elif error == "FENCED_INSTANCE_ID":
        if request.generation == member.generation:
            why = "encountered FENCED_INSTANCE_ID from HEARTBEAT response"
            yield member.note("generation_reset", reason=why, member_id_kept=False)
            yield member.request_rejoin(why)
            yield from requests.die(member, error, MESSAGES[error])
    elif error in COORDINATOR_MOVED:
        yield from member.lose_coordinator("coordinator unavailable")


def _queued(member: ClassicMember) -> bool:
    """Librdkafka waits for the application to serve a callback: no other rebalance is begun (RD_KAFKA_CGRP_REBALANCING)."""
    return member.librdkafka and member.poll_step in IN_CALLBACK


def lose_membership(member: ClassicMember, sent_generation: int, error: str, api: str) -> effects.Effects:
    """The coordinator does not know the member, or not in this generation: it joins anew."""
    if sent_generation != member.generation or not member.in_group:
        return  # the member has moved on since it sent this
    if _queued(member):
        if error == "UNKNOWN_MEMBER_ID":
            member.member_id = ""
        return
    why = f"encountered {error} from {api} response"
    if member.poll_step is PollStep.SYNCING:
        member.enter(PollStep.IDLE)
    yield from member.reset(why, keep_id=error == "ILLEGAL_GENERATION")
    yield member.request_rejoin(why)
    if not member.closing:
        yield effects.WantPoll(effects.NextPoll.GO_ON)


def poll_timeout(member: ClassicMember, event: effects.PollTimeout) -> effects.Effects:
    """max.poll.interval.ms without poll(): a dynamic member leaves at once; lost waits for the next poll().

    librdkafka serves a queued callback first, as it was queued. Its heartbeats rest until it joins again, so that a
    refused commit or the end of its session tells that it has lost what it then holds.
    """
    parked = member.librdkafka and member.poll_step is PollStep.JOINING and member.member_id
    if member.librdkafka and not member.polls_watched:
        return
    if not member.in_group and not parked:
        return  # the heartbeat thread, which would notice, rests (MemberState.hasNotJoinedGroup)
    yield member.note("poll_timeout", limit_ms=member.settings.max_poll_interval_ms, over_ms=event.over_ms)
    if member.settings.instance_id is None and member.coordinator_known:
        yield requests.leave_request(member, "consumer poll timeout has expired.")
    member.max_poll_exceeded, member.polls_watched = member.librdkafka, False
    if parked or _queued(member):
        member.member_id = ""
        yield effects.CancelTimer(HEARTBEAT)
        return
    if member.poll_step in WAITING:
        member.enter(PollStep.IDLE)
    yield from member.reset("consumer pro-actively leaving the group", keep_id=False)
    yield member.request_rejoin("consumer pro-actively leaving the group")
    yield effects.WantPoll(effects.NextPoll.GO_ON)


def session_passed(member: ClassicMember, fired: effects.TimerFired) -> effects.Effects:
    """No answer for a session. Java only looks for its coordinator; librdkafka gives its partitions up as lost."""
    if not member.in_group:
        return
    if not member.librdkafka:
        yield from member.lose_coordinator("session timed out without receiving a heartbeat response")
    elif _queued(member):
        member.member_id = ""
    elif not member.closing:
        if member.poll_step is PollStep.SYNCING:
            member.enter(PollStep.IDLE)
        yield from member.reset("session timed out", keep_id=False)
        yield member.request_rejoin("session timed out")
        if member.poll_step is PollStep.IDLE and member.owned:
            yield from joining.revoke_before_join(member)
        else:
            yield effects.WantPoll(effects.NextPoll.GO_ON)


def coordinator_lost(member: ClassicMember, request: Request, cause: str) -> effects.Effects:
    """A request gets no answer: the member looks for its coordinator."""
    yield from member.lose_coordinator(cause)


def coordinator_found(member: ClassicMember, event: effects.CoordinatorFound) -> effects.Effects:
    """Heartbeats go on at once; whatever waits for poll() does too."""
    if member.coordinator_known:
        return
    member.coordinator_known = True
    yield member.note("coordinator_found")
    if member.in_group:
        yield member.session_timer()
        yield effects.SetTimer(HEARTBEAT, 0)
    if member.poll_step is PollStep.IDLE:
        yield effects.WantPoll(effects.NextPoll.GO_ON)


# Commits of a classic consumer: what an answer says about its membership, and the steps that wait for one.


COMMITS = AwaitedCommits(
    {PollStep.COMMITTING_BEFORE_JOIN: joining.JOIN_COMMIT, PollStep.CLOSE_COMMITTING: requests.CLOSE_COMMIT}
)


def commit_answered(member: ClassicMember, request: OffsetCommit, answer: Answer) -> effects.Effects:
    """A commit is answered, whoever asked for it."""
    error = answer.error
    if error in {"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"}:
        yield from lose_membership(member, request.generation, error, "OFFSET_COMMIT")
    elif error == "FENCED_INSTANCE_ID" and request.generation == member.generation and not member.closing:
        yield from requests.die(member, error, MESSAGES[error])
        return
    elif error == "REBALANCE_IN_PROGRESS" and member.state is MemberState.STABLE:
        yield member.request_rejoin("offset commit failed since group is already rebalancing")
        yield effects.WantPoll(effects.NextPoll.GO_ON)
    elif error in COORDINATOR_MOVED:
        yield from member.lose_coordinator("coordinator unavailable")
    yield from COMMITS.ended(member, request.how, error)


def retry_commit(member: ClassicMember, fired: effects.TimerFired) -> effects.Effects:
    """retry.backoff.ms has passed; after a reset nobody may commit any more."""
    awaited = COMMITS.of(member)
    if awaited is None:
        return
    if member.generation < 0:
        yield from awaited.ended(member, awaited.how, "UNKNOWN_MEMBER_ID")
    else:
        yield from awaited.again(member)


# Topics and their metadata: what makes a classic consumer join again at its next poll().


Replicas = tuple[tuple[int, str | None], ...]


def polled(member: ClassicMember, event: effects.Polled) -> effects.Effects:
    """An idle application is inside poll(): join again where that is needed."""
    if member.closing:
        return
    if member.completes_again and member.state is MemberState.STABLE:
        member.completes_again = False
        member.pending_assignment = member.owned
        yield from joining.invoke_assigned(member)
        return
    if member.state is MemberState.STABLE and not member.rejoin_needed:
        if member.librdkafka:
            yield from _compare_existing_topics(member)
        else:
            yield from _look_for_changes(member)
    if member.poll_step is PollStep.IDLE and member.rejoin_needed and member.coordinator_known:
        yield from joining.on_join_prepare(member)


def subscribed(member: ClassicMember, event: effects.Subscribed) -> effects.Effects:
    """subscribe() was called: the next poll() compares."""
    member.topics = event.topics
    yield effects.WantPoll(effects.NextPoll.GO_ON)


def rejoin_enforced(member: ClassicMember, event: effects.RejoinEnforced) -> effects.Effects:
    """enforceRebalance() was called; librdkafka has none, so nothing happens."""
    if member.librdkafka or member.poll_step in {PollStep.JOINING, PollStep.SYNCING}:
        return  # rejoinNeeded is cleared by the SyncGroup that is under way
    yield member.request_rejoin(event.reason)
    yield effects.WantPoll(effects.NextPoll.GO_ON)


def metadata_seen(member: ClassicMember, event: effects.MetadataSeen) -> effects.Effects:
    """The metadata is read again: the next poll() compares, and a leader that waited for it assigns."""
    if event.racks != member.racks:
        member.racks = event.racks
        yield effects.WantPoll(effects.NextPoll.GO_ON)
    if event.partitions != member.metadata:
        if member.metadata:
            yield member.note("metadata_changed", topics=dict(event.partitions))
        member.metadata = event.partitions
        if member.pattern is not None:
            member.topics = matching(member.pattern, event.partitions)
        yield effects.WantPoll(effects.NextPoll.GO_ON)
    elected = member.elected
    waits = member.poll_step is PollStep.SYNCING
    if elected is not None and waits and member.generation == elected.generation:
        yield from joining.assign(member, elected)


def _look_for_changes(member: ClassicMember) -> effects.Effects:
    """The leader watches the metadata of the whole group, and everybody its own subscription (rejoinNeededOrPending).

    The leader's snapshot is renewed with the metadata alone (maybeUpdateSubscriptionMetadata): it knows no topic that
    subscribe() has named since, and one that a pattern matches at once.
    """
    if member.leader and member.assigned_metadata is not None:
        named = member.joined_topics if member.pattern is None else member.topics
        watched = sorted({*member.assigned_metadata, *named})
        seen = {topic: member.metadata.get(topic, 0) for topic in watched}
        if seen != dict(member.assigned_metadata) or _racks_changed(member, watched):
            racked = member.settings.rack is not None
            old_racks, racks = (
                (member.assigned_racks, member.racks) if racked else (effects.NO_RACKS, effects.NO_RACKS)
            )
            before = _printed(member, member.assigned_metadata, old_racks)
            after = _printed(member, seen, racks)
            yield member.request_rejoin(
                f"cached metadata has changed from (version1: {before}) at the beginning of the rebalance to (version2: {after})",
                "cached metadata has changed",
                Trigger.METADATA,
            )
            return
    if sorted(member.joined_topics) != sorted(member.topics):
        old, new = (_listed(member, topics) for topics in (member.joined_topics, member.topics))
        yield member.request_rejoin(
            f"subscription has changed from {old} at the beginning of the rebalance to {new}",
            "subscription has changed",
            Trigger.SUBSCRIPTION,
        )


def _listed(member: ClassicMember, topics: tuple[str, ...]) -> str:
    return f"[{', '.join(member.settings.hash_order(sorted(topics)))}]"


# --- librdkafka -------------------------------------------------------------------------------
def _compare_existing_topics(member: ClassicMember) -> effects.Effects:
    """Whoever sees a subscribed topic come, go or grow joins again, leader or not (rd_kafka_cgrp_metadata_update_check).

    With client.rack the racks of its replicas count, too (rd_kafka_topic_info_cmp). COOPERATIVE first loses what it owned of topics that are gone; then only the leader joins again by itself.
    """
    before, seen = member.existing_topics, member.existing
    if before is None or (seen == before and not _other_racks(member)):
        return
    member.existing_topics, member.existing_racks = seen, member.racks
    gone = tuple(tp for tp in member.owned if tp.topic in member.topics and tp.topic not in seen)
    if member.settings.cooperative and gone:
        member.enter(PollStep.LOSING)
        yield effects.StopFetching(gone, "lost")
        yield member.callback("lost", gone)
    else:
        yield from _join_for_metadata(member)


def _other_racks(member: ClassicMember) -> bool:
    """Whether a member with a rack sees replicas of its topics on other racks than before."""

    def seen(racks: effects.Racks) -> list[list[set[str]]]:
        return [
            [{rack for _, rack in replicas if rack is not None} for replicas in racks.get(topic, ())]
            for topic in member.topics
        ]

    return member.settings.rack is not None and seen(member.existing_racks) != seen(member.racks)


def deleted_lost(member: ClassicMember, event: effects.CallbackDone) -> effects.Effects:
    """The callback for partitions of a deleted topic has returned: they are not owned any more, and the leader joins again."""
    if event.error is not None:
        yield member.raised(event.error)
    yield member.own(tuple(tp for tp in member.owned if member.metadata.get(tp.topic)))
    if member.death is not None:
        yield from requests.last_callback(member)
        return
    member.enter(PollStep.IDLE)
    if member.closing:
        yield from requests.begin_close(member)
        return
    if member.leader and member.state is MemberState.STABLE and not member.rejoin_needed:
        yield from _join_for_metadata(member)
    yield effects.WantPoll(effects.NextPoll.GO_ON)


def _join_for_metadata(member: ClassicMember) -> effects.Effects:
    yield member.request_rejoin("Metadata for subscribed topic(s) has changed", trigger=Trigger.METADATA)


# --- racks ------------------------------------------------------------------------------------
def _racks_changed(member: ClassicMember, topics: list[str]) -> bool:
    """Only a leader with client.rack looks at the racks of replicas (ConsumerCoordinator.PartitionRackInfo)."""
    if member.settings.rack is None:
        return False
    tolerant = member.settings.tolerates_offline
    for topic in topics:
        pairs = zip(member.assigned_racks.get(topic, ()), member.racks.get(topic, ()), strict=False)
        for old, new in pairs:
            if not (_accounted_for(old, new, tolerant) and _accounted_for(new, old, tolerant)):
                return True
    return False


def _accounted_for(replicas: Replicas, others: Replicas, tolerates_offline: bool) -> bool:
    """Whether each rack is among the others, or is that of a replica that is offline there (where that is tolerated)."""
    there = {rack for _, rack in others if rack is not None}
    away = {node for node, rack in others if rack is None} if tolerates_offline else set()
    return all(rack is None or rack in there or node in away for node, rack in replicas)


def _printed(member: ClassicMember, counts: Mapping[str, int], racks: effects.Racks) -> str:
    topics = []
    for topic in member.settings.hash_order(sorted(counts)):
        replicas = racks.get(topic, ())
        infos = [
            _rack_info(replicas[number]) if number < len(replicas) else "NO_RACKS"
            for number in range(counts[topic])
        ]
        topics.append(f"{topic}=[{', '.join(infos)}]")
    return "{" + ", ".join(topics) + "}"


def _rack_info(replicas: Replicas) -> str:
    racks = sorted({rack for _, rack in replicas if rack is not None})
    return f"racks=[{', '.join(racks)}]" if racks else "NO_RACKS"
