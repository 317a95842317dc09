"""Rows of the group as its coordinator sees it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rebalance_kit.model.schema.kind import Keys, Kind, key

GROUP = key("text", "group.id")
NAME = key("text", "the member's name")
INSTANCE = key("text?", "group.instance.id")
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
