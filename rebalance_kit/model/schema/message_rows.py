"""Rows of messages: what each request and each response shows of itself."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rebalance_kit.model.schema.kind import Keys, Kind, key

INSTANCE = key("text?", "group.instance.id")
ARRIVES = key("int?", "when it arrives; None when it is lost")
CORR = key("int", "number that joins a request and its response")
API = key(
    "JoinGroup|SyncGroup|Heartbeat|LeaveGroup|OffsetCommit|ConsumerGroupHeartbeat",
    "Kafka's name of the request",
)

REQUESTS: Mapping[str, Keys] = MappingProxyType(
    {
        "JoinGroup": {
            "protocols": key("[text]", "assignors in order of preference"),
            "topics": key("[text]", "what it subscribes"),
            "owned": key("[partition]", "what it owns"),
            "reason": key("text?", "why it joins"),
            "instance_id": INSTANCE,
        },
        "SyncGroup": {
            "assignor": key("text?", "the assignor it knows"),
            "leads": key("bool", "whether it brings the assignment"),
        },
        "Heartbeat": {},
        "LeaveGroup": {"reason": key("text?", "why it leaves"), "instance_id": INSTANCE},
        "OffsetCommit": {
            "how": key("auto|join|reconcile|revoked|close|sync", "what commits"),
            "offsets": key("{int}", "offset by partition"),
        },
        "ConsumerGroupHeartbeat": {
            "epoch": key("int", "the member epoch it knows; 0 joins, -1 leaves, -2 leaves for a while"),
            "topics": key("[text]?", "what it subscribes; None: as before"),
            "owned": key("[partition]?", "what it owns; None: as before"),
            "instance_id": INSTANCE,
        },
    }
)
RESPONSES: Mapping[str, Keys] = MappingProxyType(
    {
        "JoinGroup": {
            "leader": key("text", "member id of the leader; empty in a refusal"),
            "assignor": key("text?", "the assignor of the new generation"),
            "members": key("int", "how many members the leader is told of"),
        },
        "SyncGroup": {"assignment": key("[partition]", "what it is assigned")},
        "Heartbeat": {},
        "LeaveGroup": {},
        "OffsetCommit": {},
        "ConsumerGroupHeartbeat": {
            "epoch": key("int", "its member epoch"),
            "assignment": key("[partition]?", "what it is assigned; None: as before"),
        },
    }
)

MESSAGE_ROWS: Mapping[str, Kind] = MappingProxyType(
    {
        "request": Kind(
            "actor sends a request",
            {"api": API, "corr": CORR, "arrives_ms": ARRIVES},
            by="api",
            variants=REQUESTS,
        ),
        "response": Kind(
            "coordinator answers",
            {
                "api": API,
                "corr": CORR,
                "to": key("text", "the member"),
                "error": key("text", "NONE or Kafka's name"),
                "arrives_ms": ARRIVES,
                "group": key("text", "group.id"),
            },
            by="api",
            variants=RESPONSES,
        ),
    }
)
