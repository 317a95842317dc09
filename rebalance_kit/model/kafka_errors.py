"""Kafka's errors: their messages (``org.apache.kafka.common.protocol.Errors``), and what some of them mean to a client."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

MESSAGES: Mapping[str, str] = MappingProxyType(
    {
        "UNKNOWN_MEMBER_ID": "The coordinator is not aware of this member.",
        "ILLEGAL_GENERATION": "Specified group generation id is not valid.",
        "REBALANCE_IN_PROGRESS": "The group is rebalancing, so a rejoin is needed.",
        "FENCED_INSTANCE_ID": "The broker rejected this static consumer since another consumer with the same "
        "group.instance.id has registered with a different member.id.",
        "INCONSISTENT_GROUP_PROTOCOL": "The group member's supported protocols are incompatible with those of existing "
        "members or first group member tried to join with empty protocol type or empty protocol list.",
        "INVALID_SESSION_TIMEOUT": "The session timeout is not within the range allowed by the broker "
        "(as configured by group.min.session.timeout.ms and group.max.session.timeout.ms).",
        "INVALID_GROUP_ID": "The configured groupId is invalid.",
        "GROUP_AUTHORIZATION_FAILED": "Not authorized to access group: Group authorization failed.",
        "GROUP_MAX_SIZE_REACHED": "The consumer group has reached its max size.",
        "NOT_COORDINATOR": "This is not the correct coordinator.",
        "COORDINATOR_NOT_AVAILABLE": "The coordinator is not available.",
        "COORDINATOR_LOAD_IN_PROGRESS": "The coordinator is loading and hence can't process requests.",
        "UNKNOWN_TOPIC_OR_PARTITION": "This server does not host this topic-partition.",
        "STALE_MEMBER_EPOCH": "The member epoch is stale. The member must retry after receiving its updated member "
        "epoch via the ConsumerGroupHeartbeat API.",
        "DISCONNECTED": "null",
    }
)
"""Error name to its message; of a broken connection a client knows none."""
EXCEPTION_MESSAGES: Mapping[str, str] = MappingProxyType(
    {
        **MESSAGES,
        "GROUP_MAX_SIZE_REACHED": f"Consumer group {MESSAGES['GROUP_MAX_SIZE_REACHED']} already has the configured "
        "maximum number of members.",
    }
)
"""What the exception of an error says: one class takes the message for the group's name and wraps it."""
UNSUPPORTED_CONSUMER_PROTOCOL = (
    "The cluster does not support the new CONSUMER group protocol. Set group.protocol=classic on the consumer configs "
    "to revert to the CLASSIC protocol until the cluster is upgraded."
)
"""What a client says when the broker does not offer KIP-848 (UNSUPPORTED_VERSION)."""
FATAL_JOIN = frozenset(
    {
        "INCONSISTENT_GROUP_PROTOCOL",
        "INVALID_SESSION_TIMEOUT",
        "INVALID_GROUP_ID",
        "GROUP_AUTHORIZATION_FAILED",
        "GROUP_MAX_SIZE_REACHED",
    }
)
"""Answers to JoinGroup that end the application (``AbstractCoordinator.JoinGroupResponseHandler``)."""
COORDINATOR_MOVED = frozenset({"NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE"})
"""Answers after which a client looks for its coordinator."""
