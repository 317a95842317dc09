"""Kafka's errors as the Java client throws them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

EXCEPTIONS: Mapping[str, str] = MappingProxyType(
    {
        "UNKNOWN_MEMBER_ID": "UnknownMemberIdException",
        "ILLEGAL_GENERATION": "IllegalGenerationException",
        "REBALANCE_IN_PROGRESS": "RebalanceInProgressException",
        "MEMBER_ID_REQUIRED": "MemberIdRequiredException",
        "FENCED_INSTANCE_ID": "FencedInstanceIdException",
        "INCONSISTENT_GROUP_PROTOCOL": "InconsistentGroupProtocolException",
        "INVALID_SESSION_TIMEOUT": "InvalidSessionTimeoutException",
        "GROUP_MAX_SIZE_REACHED": "GroupMaxSizeReachedException",
        "NOT_COORDINATOR": "NotCoordinatorException",
        "COORDINATOR_NOT_AVAILABLE": "CoordinatorNotAvailableException",
        "DISCONNECTED": "DisconnectException",
    }
)
