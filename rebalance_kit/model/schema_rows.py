"""Every kind of row by its name: rows of the run, its processes, topics and records; of the group as its coordinator sees it; of clients."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rebalance_kit.model.schema_kind import Keys, Kind, key

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


GROUP = key("text", "group.id")
NAME = key("text", "the member's name")

STATE = key("text", "the group's state just then", optional=True, logs=True)
TRIGGER = key(
    "|join|rejoin|metadata|subscription|revocation|static|leave|admin|session|sync_timeout|join_timeout"
    "|rebalance_timeout|assignor|downgrade|load",
    "what set it off (``protocol.messages``); empty where nothing in particular did",
)
REASON = key("text", "the reason in Kafka's words; empty where Kafka gives none")
CULPRIT = key("text?", "the member that set it off")
SHARES = key("{[partition]}", "partitions by the member's name")
IDS = key("{text}", "member id to name, in the coordinator's order")
_MEMBER: Keys = MappingProxyType({"group": GROUP, "name": NAME})

GROUP_ROWS: Mapping[str, Kind] = MappingProxyType(
    {
        "group_state": Kind(
            "the group changed state",
            {
                "group": GROUP,
                "from": key("text", "the state before"),
                "to": key("text", "the state after"),
                "reason": REASON,
                "trigger": TRIGGER,
                "culprit": CULPRIT,
            },
        ),
        "generation": Kind(
            "classic: a join phase completed; generation is the new one",
            {
                "group": GROUP,
                "assignor": key("text?", "the assignor that all members have in common"),
                "leader": key("text", "the leader's name"),
                "members": key(
                    "{text}", "member id to name, in the order in which the coordinator lists them"
                ),
                "leader_id": key("text?", "the leader's member id", recorded=False),
                "instances": key("{text?}", "member id to group.instance.id", recorded=False),
            },
        ),
        "assignment": Kind(
            "classic: the leader's assignment is stored",
            {
                "group": GROUP,
                "leader": key("text", "the leader's name"),
                "assignment": SHARES,
                "assignor": key("text?", "the assignor of this generation"),
                "ids": IDS,
            },
        ),
        "epoch_bump": Kind(
            "consumer: the group epoch rose to generation",
            {
                "group": GROUP,
                "reason": REASON,
                "trigger": TRIGGER,
                "culprit": CULPRIT,
                "subscribed": key("bool", "whether anything is subscribed at all", recorded=False, logs=True),
            },
        ),
        "target": Kind(
            "consumer: target assignment computed for epoch generation",
            {
                "group": GROUP,
                "assignor": key("text", "the server assignor"),
                "assignment": SHARES,
                "ids": IDS,
            },
        ),
        "regex_scanned": Kind(
            "consumer: the coordinator matched topics against regular expressions",
            {
                "group": GROUP,
                "regexes": key("[text]", "which ones"),
                "topics": key("int", "how many topics there are"),
            },
        ),
        "group_converted": Kind(
            "the group changed its protocol",
            {
                "group": GROUP,
                "to": key("consumer|classic", "the protocol it speaks now"),
                "members": key("int", "how many members it takes along"),
            },
        ),
        "member_added": Kind(
            "coordinator added a member",
            {
                **_MEMBER,
                "instance_id": INSTANCE,
                "reason": REASON,
                "state": STATE,
                "classic": key("bool", "True for a classic member of a consumer group", optional=True),
            },
        ),
        "member_rejoined": Kind("consumer group: a classic member sent JoinGroup again", _MEMBER),
        "member_pending": Kind(
            "coordinator handed out an id with MEMBER_ID_REQUIRED", {**_MEMBER, "state": STATE}
        ),
        "member_removed": Kind(
            "coordinator removed a member",
            {
                **_MEMBER,
                "how": key(
                    "leave|session|rebalance_timeout|join_timeout|sync_timeout|admin|late|downgrade",
                    "how it came to that",
                ),
                "reason": REASON,
                "instance_id": key("text?", "group.instance.id", optional=True, logs=True),
                "pending": key("bool", "True for one that had an id and had not joined", optional=True),
            },
        ),
        "member_replaced": Kind(
            "a static member's id was replaced",
            {
                **_MEMBER,
                "instance_id": INSTANCE,
                "old_member_id": key("text", "the id before"),
                "old_name": key("text", "the process that had it"),
                "rebalance": key("bool", "whether the group rebalances for it"),
                "state": STATE,
            },
        ),
        "member_refused": Kind(
            "coordinator refused a request",
            {
                **_MEMBER,
                "api": key("text", "which request"),
                "error": key("text", "Kafka's name of the error"),
                "message": key("text?", "Kafka's words"),
                "instance_id": key("text?", "group.instance.id", optional=True, logs=True),
                "holder": key("text?", "member id that holds the instance id", optional=True, logs=True),
            },
        ),
        "member_away": Kind(
            "a static consumer-protocol member left for a while (epoch -2)",
            {**_MEMBER, "instance_id": INSTANCE},
        ),
        "member_reconciled": Kind(
            "consumer: the broker's record of a member changed",
            {
                **_MEMBER,
                "state": key("STABLE|UNREVOKED_PARTITIONS|UNRELEASED_PARTITIONS", "its state"),
                "epoch": key("int", "its member epoch"),
                "assigned": key("[partition]", "what it is assigned"),
                "pending_revocation": key("[partition]", "what it has yet to give up"),
            },
        ),
        "leader_elected": Kind(
            "classic: a member became leader",
            {
                **_MEMBER,
                "instead_of": key(
                    "text", "member id of the leader before, where it did not join", optional=True, logs=True
                ),
            },
        ),
        "static_kept": Kind("classic: a static member came back without a rebalance", _MEMBER),
        "coordinator_down": Kind("the broker that hosts the coordinator is gone", protocol=False),
        "coordinator_up": Kind(
            "the coordinator has loaded its groups again",
            {"members": key("{int}", "members by group")},
            protocol=False,
        ),
        "group_loaded": Kind(
            "the coordinator read a group back from its log",
            {"group": GROUP, "members": key("int", "how many it has")},
        ),
        "timer_set": Kind(
            "a timer that the group waits for was armed",
            {
                "group": GROUP,
                "timer": key("rebalance|initial|sync", "which timer"),
                "after_ms": key("int", "when it runs out"),
                "name": key("text?", "the member it concerns; None: the group"),
            },
        ),
        "timer_fired": Kind(
            "a timer ran out",
            {
                "group": GROUP,
                "timer": key("rebalance|initial|sync|session|join", "which timer"),
                "name": key("text?", "the member it concerns; None: the group"),
            },
        ),
    }
)


CALLBACK = key("assigned|revoked|lost", "which callback")
PARTITIONS = key("[partition]", "which partitions")
ERROR = key("text", "Kafka's name of the error, or its exception")
MESSAGE = key("text", "the error's message")
ASSIGNOR = key("text?", "the assignor of this generation")
_CHANGE: Keys = MappingProxyType(
    {
        "assigned": key("[partition]", "what it is assigned"),
        "owned": key("[partition]", "what it owned before"),
        "added": key("[partition]", "what is new"),
        "revoked": key("[partition]", "what it has to give up"),
    }
)

CLIENT_ROWS: Mapping[str, Kind] = MappingProxyType(
    {
        "member_state": Kind(
            "a client's own state machine moved",
            {"from": key("text", "the state before"), "to": key("text", "the state after")},
        ),
        "rejoin_requested": Kind(
            "a client decided to re-join",
            {
                "reason": key("text", "why, as its log says it"),
                "sent": key("text", "why, as its JoinGroup says it"),
            },
        ),
        "join_prepared": Kind(
            "a client begins to re-join", {"revokes": key("bool", "whether it gives everything up first")}
        ),
        "joined": Kind(
            "a client got a successful JoinGroup answer",
            {"leader": key("bool", "whether it is the leader"), "assignor": ASSIGNOR},
        ),
        "synced": Kind(
            "a client got its assignment",
            {
                **_CHANGE,
                "cooperative": key("bool", "whether it follows the cooperative protocol"),
                "listed": key("[partition]", "the assignment in the order of the message", logs=True),
            },
        ),
        "assignment_computed": Kind(
            "classic leader ran the assignor",
            {
                "assignor": ASSIGNOR,
                "assignment": key("{[partition]}", "partitions by member id"),
                "senders": key("{text}", "member id to name"),
                "lists": key("{[partition]}", "the assignment in Kafka's order", logs=True),
                "printed": key("{[partition]}", "what a sticky assignor logs", logs=True),
            },
        ),
        "generation_reset": Kind(
            "a client gave up its generation",
            {
                "reason": key("text", "why"),
                "member_id_kept": key("bool", "whether it re-joins under its old id"),
            },
        ),
        "reconciling": Kind(
            "consumer client starts to reconcile",
            {**_CHANGE, "local_epoch": key("int", "how many assignments it has taken up")},
        ),
        "callback_begin": Kind(
            "a listener callback began; generation is what groupMetadata() shows",
            {"callback": CALLBACK, "partitions": PARTITIONS},
        ),
        "callback_end": Kind(
            "the callback returned",
            {"callback": CALLBACK, "partitions": PARTITIONS, "error": key("text?", "the error it raised")},
        ),
        "wrong_call": Kind(
            "a librdkafka callback called the wrong family; it got _STATE and nothing changed",
            {"call": key("assign|unassign", "what it called")},
        ),
        "owned": Kind(
            "the client's assignment changed", {"partitions": key("[partition]", "what it owns now")}
        ),
        "coordinator_lost": Kind(
            "a client marked its coordinator unknown", {"cause": key("text", "why, as its log says it")}
        ),
        "coordinator_found": Kind("a client found its coordinator"),
        "poll_timeout": Kind(
            "max.poll.interval.ms passed without poll()",
            {
                "limit_ms": key("int", "max.poll.interval.ms"),
                "over_ms": key("int", "how far beyond it the client noticed"),
            },
        ),
        "metadata_changed": Kind(
            "a client saw other topics or partition counts", {"topics": key("{int}", "partitions by topic")}
        ),
        "died": Kind("an error left poll(); the application ends", {"error": ERROR, "message": MESSAGE}),
        "poll_raised": Kind(
            "an error left poll() or close(); the application caught it and goes on",
            {"error": ERROR, "message": MESSAGE},
        ),
        "own_code_fault": Kind(
            "a listener or assignor of the learner's own failed or answered nonsense",
            {
                "part": key("listener|assignor", "what failed"),
                "name": key("text", "which method, or which assignor"),
                "fault": key("text", "what it did"),
                "seen": key("text", "the error, or the answer"),
            },
        ),
    }
)


PARTS: Mapping[str, Mapping[str, Kind]] = MappingProxyType(
    {
        "The run, processes, topics and records": RUN_ROWS,
        "Messages": MESSAGE_ROWS,
        "The group, as its coordinator sees it": GROUP_ROWS,
        "Clients": CLIENT_ROWS,
    }
)
SCHEMA: Mapping[str, Kind] = MappingProxyType(
    {name: kind for part in PARTS.values() for name, kind in part.items()}
)
