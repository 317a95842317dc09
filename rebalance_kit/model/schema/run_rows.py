"""Rows of the run, of processes, topics and records."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rebalance_kit.model.schema.kind import Keys, Kind, key

LIFE = key("int", "which of the processes that ran under this name, from 1")
POSITION = key("int?", "the next offset that the member reads; None while it looks for its first position")
LOG_END = key("int?", "the end of the log; None where the position is")
COMMITTED = key("int?", "the committed offset, None where there is none")
WHERE: Keys = MappingProxyType({"position": POSITION, "log_end": LOG_END, "committed": COMMITTED})

_TOPIC = key("text", "which topic")
_PARTITIONS = key("int", "how many partitions it has then")
_TOPICS = key("[text]?", "what it subscribes", optional=True)
_CONFIGS = key("{config}", "configuration set here", optional=True)
_REPLACE = key("bool", "whether the configuration replaces the old one", optional=True)
_CRASH = key("bool", "whether it crashes instead of closing", optional=True)
_AFTER = key("int", "how long it stays away", optional=True)
_API = key("text", "which request")
_NODE = key("int", "which broker")
_START: Keys = MappingProxyType(
    {
        "topics": _TOPICS,
        "configs": _CONFIGS,
        "replace_configs": _REPLACE,
        "client": key("java|librdkafka", "which client it uses from now on", optional=True),
        "callback": key("text", "how it answers callbacks from now on", optional=True),
        "commit": key("text", "how it commits from now on", optional=True),
    }
)
ACTIONS: Mapping[str, Keys] = MappingProxyType(
    {
        "start": _START,
        "close": {"timeout_ms": key("int", "limit of close()", optional=True)},
        "crash": {},
        "freeze": {},
        "thaw": {},
        "stall": {"for_ms": key("int", "how long poll() is not called")},
        "slow_down": {"processing_ms": key("number", "time per record from now on")},
        "slow_callback": {"callback_ms": key("int", "time per callback from now on")},
        "restart": {"after_ms": _AFTER, "crash": _CRASH, **_START},
        "duplicate": {
            "as": key("text", "name of the second process"),
            "topics": _TOPICS,
            "configs": _CONFIGS,
        },
        "subscribe": {"topics": key("[text]", "what it subscribes from now on")},
        "enforce_rebalance": {"reason": key("text", "what the application says", optional=True)},
        "reconfigure": {
            "configs": key("{config}", "configuration set here"),
            "after_ms": _AFTER,
            "replace_configs": _REPLACE,
        },
        "remove": {},
        "see_metadata": {"topics": key("{int}", "partition counts that the member sees")},
        "cut_network": {},
        "heal_network": {},
        "drop_next": {"api": _API},
        "delay_next": {"api": _API, "by_ms": key("int", "how much longer it travels")},
        "add_partitions": {"topic": _TOPIC, "partitions": _PARTITIONS},
        "create_topic": {
            "topic": _TOPIC,
            "partitions": _PARTITIONS,
            "rate_per_s": key("number", "records per second and partition", optional=True),
        },
        "delete_topic": {"topic": _TOPIC},
        "broker_down": {},
        "broker_up": {},
        "node_down": {"node": _NODE, "crash": _CRASH},
        "node_up": {"node": _NODE},
        "coordinator_failover": {"for_ms": key("int", "until the other coordinator answers", optional=True)},
    }
)
"""Arguments of each action that is written; ``rolling_restart`` and ``scale_to`` are written as what they stand for."""

RUN_ROWS: Mapping[str, Kind] = MappingProxyType(
    {
        "action": Kind(
            "an action of the scenario",
            {"do": key("text", "which action"), "member": key("text?", "whom it concerns")},
            protocol=False,
            by="do",
            variants=ACTIONS,
        ),
        "process_started": Kind(
            "a member's process lives",
            {
                "group": key("text", "group.id"),
                "client": key("java|librdkafka", "which client"),
                "configs": key("{config}", "configuration that differs from the defaults"),
                "topics": key("[text]", "what it subscribes by name"),
                "life": LIFE,
                "pattern": key("text?", "the pattern it subscribes by, matched by itself", recorded=False),
                "server_pattern": key("text?", "the pattern that the broker matches", recorded=False),
            },
        ),
        "process_ended": Kind(
            "a member's process is gone",
            {
                "how": key("crash|closed|died", "how it ended"),
                "error": key("text?", "the error it died of"),
                "life": LIFE,
            },
        ),
        "process_frozen": Kind("the process was stopped by the system; nothing of it runs"),
        "process_thawed": Kind("the process runs again"),
        "stall_begin": Kind(
            "the application stopped calling poll()", {"until_ms": key("int", "when it calls poll() again")}
        ),
        "stall_end": Kind("the application calls poll() again"),
        "fetch_resumed": Kind("records of this partition flow to actor again", WHERE, place="partition"),
        "fetch_stopped": Kind(
            "records of this partition stop reaching actor",
            {
                "reason": key(
                    "revoke|lost|crash|frozen|stall|close|callback|unassigned|unsubscribed|paused|leader|deleted",
                    "why",
                ),
                **WHERE,
            },
            place="partition",
        ),
        "progress": Kind("where a partition stands when its owner is looked at", WHERE, place="partition"),
        "commit": Kind(
            "offsets committed",
            {
                "group": key("text", "group.id"),
                "how": key("auto|join|reconcile|revoked|close|sync", "what committed them"),
                "error": key("text", "NONE or Kafka's name"),
                "offsets": key("{int}", "offset by partition"),
            },
        ),
        "redelivered": Kind(
            "records of this partition were delivered again",
            {"count": key("int", "how many"), "first_offset": key("int", "the first of them")},
            place="partition",
        ),
        "account": Kind(
            "final count of this partition for one group",
            {
                "group": key("text", "group.id"),
                "produced": key("int", "records written to it"),
                "read": key("int", "offset up to which anybody read"),
                "delivered": key("int", "records handed to applications, each time counted"),
                "redelivered": key("int", "those handed out more than once"),
                "lost": key("int", "records that were committed and never processed"),
                "committed": COMMITTED,
            },
            protocol=False,
            place="partition",
        ),
        "leader_changed": Kind(
            "another broker leads this partition",
            {
                "from": key("int?", "the broker that led it"),
                "to": key("int?", "the broker that leads it; None while it is offline"),
            },
            protocol=False,
            place="partition",
        ),
        "topic_changed": Kind(
            "a topic was created, grew or was deleted",
            {
                "partitions": key("int", "how many it has now; 0 when it was deleted"),
                "topic_id": key("[int]?", "the two halves of its id", logs=True),
            },
            protocol=False,
            place="topic",
        ),
        "run_end": Kind("the run is over", {"reason": key("text", "why")}, protocol=False),
    }
)


# Rows of messages: what each request and each response shows of itself.


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
