"""Rows of clients: what a consumer and its application do."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rebalance_kit.model.schema.kind import Keys, Kind, key

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
