"""Topics and their metadata: what makes a classic consumer join again at its next poll()."""

from __future__ import annotations

from collections.abc import Mapping

from rebalance_kit.protocol import effects
from rebalance_kit.protocol.classic_client.joining import assign, invoke_assigned, on_join_prepare
from rebalance_kit.protocol.classic_client.member import ClassicMember, MemberState
from rebalance_kit.protocol.classic_client.requests import begin_close, last_callback
from rebalance_kit.protocol.client import PollStep, matching
from rebalance_kit.protocol.messages import Trigger

Replicas = tuple[tuple[int, str | None], ...]


def polled(member: ClassicMember, event: effects.Polled) -> effects.Effects:
    """An idle application is inside poll(): join again where that is needed."""
    if member.closing:
        return
    if member.completes_again and member.state is MemberState.STABLE:
        member.completes_again = False
        member.pending_assignment = member.owned
        yield from invoke_assigned(member)
        return
    if member.state is MemberState.STABLE and not member.rejoin_needed:
        if member.librdkafka:
            yield from _compare_existing_topics(member)
        else:
            yield from _look_for_changes(member)
    if member.poll_step is PollStep.IDLE and member.rejoin_needed and member.coordinator_known:
        yield from on_join_prepare(member)


def subscribed(member: ClassicMember, event: effects.Subscribed) -> effects.Effects:
    """subscribe() was called: the next poll() compares."""
    member.topics = event.topics
    yield effects.WantPoll(effects.NextPoll.GO_ON)


def rejoin_enforced(member: ClassicMember, event: effects.RejoinEnforced) -> effects.Effects:
    """enforceRebalance() was called."""
    if member.poll_step in {PollStep.JOINING, PollStep.SYNCING}:
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
        yield from assign(member, elected)


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
        yield from last_callback(member)
        return
    member.enter(PollStep.IDLE)
    if member.closing:
        yield from begin_close(member)
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
