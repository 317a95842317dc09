"""Topics and their metadata: what changes travels with the next heartbeat."""

from __future__ import annotations

from rebalance_kit.protocol.client.partitions import matching
from rebalance_kit.protocol.consumer_client.member import ConsumerMember
from rebalance_kit.protocol.effects import Effects, MetadataSeen, RejoinEnforced, Subscribed


def subscribed(member: ConsumerMember, event: Subscribed) -> Effects:
    """subscribe() was called."""
    member.topics = event.topics
    member.topics_changed = True
    return iter(())


def metadata_seen(member: ConsumerMember, event: MetadataSeen) -> Effects:
    """The metadata is read again: a pattern may match other topics."""
    member.metadata = event.partitions
    if member.pattern is not None:
        topics = matching(member.pattern, event.partitions)
        member.topics_changed = member.topics_changed or topics != member.topics
        member.topics = topics
    return iter(())


def rejoin_enforced(member: ConsumerMember, event: RejoinEnforced) -> Effects:
    """The KIP-848 client only logs that enforceRebalance() is not supported."""
    return iter(())
