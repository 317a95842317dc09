"""The keys of a scenario file, as one table: what the reader accepts, what the reference and editors are told.

``docs/scenario.md`` and ``docs/scenario.schema.json`` are made of it (``reference``); arguments of actions stand in
``actions.ARGUMENTS``, Kafka's own keys in ``model.configs``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from rebalance_kit.simulation.scenario.checks import CALLBACKS, CLIENTS, COMMITS

Kind = Literal[
    "text",
    "time",
    "moment",
    "moment or null",
    "whole number",
    "number",
    "true or false",
    "names",
    "choice",
    "configs",
    "part",
]


@dataclass(frozen=True, slots=True)
class Key:
    """One key: how its value is written, what it means, what holds without it, an example in YAML.

    A ``part`` has keys of its own. ``default`` is in words; empty where the key is required.
    """

    kind: Kind
    words: str
    default: str
    example: str
    options: tuple[str, ...] = ()


FILE: Mapping[str, Key] = MappingProxyType(
    {
        "scenario": Key("text", "its name", "the name of the file", "my-crash"),
        "title": Key("text", "a heading for people", "none", "A consumer crashes"),
        "story": Key("text", "what happens and what to look at", "none", "One of two consumers is killed."),
        "moments": Key(
            "text",
            "which moments matter, and which may be drawn",
            "none",
            "The moment of the crash is drawn.",
        ),
        "kafka_version": Key("text", "the release that brokers and clients behave like", "4.3.1", "4.3.1"),
        "protocol": Key(
            "choice",
            "switches every member to a protocol; then no `configs` may choose one",
            "as the members' configs say",
            "cooperative",
        ),
        "label": Key(
            "text", "the run's label where no `protocol` is given", "classic, consumer or mixed", "sticky"
        ),
        "group": Key("text", "the members' `group.id`", "orders-app", "billing"),
        "seed": Key("whole number", "decides everything that is drawn", "1", "7"),
        "end": Key("time", "when the run ends", "60s", "2m"),
        "topics": Key(
            "part",
            "topics: a mapping of name to partitions, or to the keys of a topic; or a list of topics with `name`",
            "",
            "{orders: 6}",
        ),
        "broker": Key(
            "configs",
            "broker configurations by Kafka's keys",
            "Kafka's defaults",
            "{group.initial.rebalance.delay.ms: 0}",
        ),
        "configs": Key(
            "configs",
            "client configurations that all members share",
            "Kafka's defaults",
            "{session.timeout.ms: 10000}",
        ),
        "members": Key(
            "part", "a list of members, or one mapping with `count`", "", "{count: 3, topics: [orders]}"
        ),
        "actions": Key(
            "part",
            "what is done to the group, in any order",
            "none",
            "[{at: 30s, do: crash, member: consumer-1}]",
        ),
        "latencies": Key(
            "part", "delays by name, in place of the measured ones", "as measured", "{one_way: 2}"
        ),
        "data_plane": Key(
            "true or false", "whether records are produced, read and committed", "true", "false"
        ),
        "nodes": Key(
            "part",
            "brokers by id with their racks (null for none)",
            "one broker that never stops",
            "{1: rack-a, 2: rack-b}",
        ),
        "expect": Key(
            "names",
            "errors with which Kafka refuses a member at once, where the scenario is to show them",
            "none",
            "[INCONSISTENT_GROUP_PROTOCOL]",
        ),
        "lesson": Key(
            "part", "what the lab says of a scenario of the kit; decides nothing in a run", "none", "{}"
        ),
    }
)
TOPIC: Mapping[str, Key] = MappingProxyType(
    {
        "partitions": Key("whole number", "how many", "", "6"),
        "rate_per_s": Key("number", "records per second into each partition", "10", "2.5"),
        "topic_id": Key("part", "the topic's id as two signed 64-bit halves", "drawn", "[1, 2]"),
    }
)
MEMBER: Mapping[str, Key] = MappingProxyType(
    {
        "name": Key("text", "the process's name; with `count`, `prefix` instead", "", "consumer-1"),
        "topics": Key("names", "what it subscribes to", "one of the three is required", "[orders]"),
        "pattern": Key("text", "a java.util.regex.Pattern that the client matches", "see topics", "orders.*"),
        "server_pattern": Key(
            "text", "an RE2/J pattern that the broker matches (KIP-848)", "see topics", "orders.*"
        ),
        "start": Key("moment or null", "when its process starts; null: an action starts it", "0", "3s"),
        "configs": Key(
            "configs", "client configurations by Kafka's keys", "Kafka's defaults", "{client.rack: rack-a}"
        ),
        "client": Key("choice", "which client it is", "java", "librdkafka", CLIENTS),
        "callback": Key(
            "choice", "which rebalance callback it has (librdkafka)", "default", "wrong", CALLBACKS
        ),
        "callback_ms": Key("time", "how long each rebalance callback takes", "0", "2s"),
        "processing_ms": Key("number", "milliseconds of work per record", "0", "1.5"),
        "commit": Key("choice", "when it commits", "auto", "per_batch", COMMITS),
        "lives": Key("part", "facts pinned for the repetition of a recorded run", "none", "[]"),
        "count": Key("whole number", "makes so many alike", "one member", "3"),
        "prefix": Key("text", "with `count`: names are this and a number", "consumer-", "pod-"),
        "every": Key("time", "with `count`: how far apart they start", "0", "500ms"),
        "instance_prefix": Key(
            "text",
            "with `count`: a `group.instance.id` for each, this and a number",
            "dynamic members",
            "pod-",
        ),
    }
)
ACTION: Mapping[str, Key] = MappingProxyType(
    {
        "at": Key("moment", "when it is done", "", "30s"),
        "do": Key("choice", "what is done", "", "crash"),
        "member": Key("text", "whom it concerns, where it concerns one member", "", "consumer-1"),
    }
)
