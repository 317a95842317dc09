"""Asks a cluster about its groups with librdkafka's AdminClient, and prints two looks as one JSON object. Writes nothing to the cluster.

Started as ``python -m rebalance_kit.live.inspection.child``, which reads its wishes (addresses, configs, seconds between the looks,
groups) as JSON from its input; nothing imports it. Security settings go to the client and nowhere else.
"""

from __future__ import annotations

import fnmatch
import json
import sys
import time
from collections.abc import Iterable, Mapping
from typing import Any

from confluent_kafka import ConsumerGroupTopicPartitions, KafkaException, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, OffsetSpec  # type: ignore[attr-defined]

TIMEOUT_S = 20
AT_ONCE = 100
"""Groups per request."""
KEYS = (
    "group.consumer.session.timeout.ms",
    "group.consumer.heartbeat.interval.ms",
    "group.max.session.timeout.ms",
)
REASONS = ("authentication", "sasl", "ssl", "certificate")
"""Words of the errors that tell more than that a connection ended."""
POLL_S = 0.5
_errors: list[str] = []


def main() -> int:
    """Look twice, and print what was seen; an error as ``{"error": ...}``."""
    wish = json.load(sys.stdin)
    configs: dict[str, Any] = {**wish["configs"], "bootstrap.servers": wish["bootstrap"], "log_level": 0}
    configs.setdefault("client.id", "rebalance-kit-inspect")
    configs["error_cb"] = lambda error: _errors.append(str(error.str()))
    try:
        admin = AdminClient(configs)
    except KafkaException as error:
        json.dump({"error": _words(error.args[0]), "code": ""}, sys.stdout)
        return 1
    try:
        cluster = _cluster(admin)
        first = _look(admin, wish["groups"])
        time.sleep(wish["seconds"])
        second = _look(admin, wish["groups"])
    except KafkaException as error:
        about = error.args[0]
        admin.poll(POLL_S)  # what the client knows of the reason waits until it is polled
        json.dump(
            {"error": _words(about), "code": about.name() if hasattr(about, "name") else ""}, sys.stdout
        )
        return 1
    json.dump({"cluster": cluster, "looks": [first, second]}, sys.stdout)
    return 0


def _words(error: Any) -> str:
    """What the client said, with the reason behind a transport failure where it told one."""
    words = error.str() if hasattr(error, "str") else str(error)
    told = sorted(_errors, key=lambda one: any(mark in one.lower() for mark in REASONS))[-1:]
    return "; ".join([words, *(one for one in told if one not in words)])


def _cluster(admin: Any) -> dict[str, Any]:
    seen = admin.list_topics(timeout=TIMEOUT_S)
    brokers = {str(broker.id): f"{broker.host}:{broker.port}" for broker in seen.brokers.values()}
    configs: dict[str, str] = {}
    try:
        resource = ConfigResource(ConfigResource.Type.BROKER, next(iter(brokers)))
        (held,) = admin.describe_configs([resource], request_timeout=TIMEOUT_S).values()
        found = held.result(TIMEOUT_S)
        configs = {key: found[key].value for key in KEYS if key in found}
    except (KafkaException, StopIteration):
        pass  # a read-only principal may lack DescribeConfigs on the cluster
    return {"brokers": brokers, "configs": configs}


def _look(admin: Any, wanted: list[str]) -> dict[str, Any]:
    listed = admin.list_consumer_groups(request_timeout=TIMEOUT_S).result(TIMEOUT_S + 5)
    names = sorted(
        one.group_id
        for one in listed.valid
        if any(fnmatch.fnmatchcase(one.group_id, wish) for wish in wanted)
    )
    groups: dict[str, Any] = {}
    for part in _parts(names):
        described = admin.describe_consumer_groups(part, request_timeout=TIMEOUT_S)
        offsets = {
            name: admin.list_consumer_group_offsets(
                [ConsumerGroupTopicPartitions(name)], request_timeout=TIMEOUT_S
            )[name]
            for name in part
        }
        for name, future in described.items():
            try:
                groups[name] = _group(future.result(TIMEOUT_S + 5), offsets[name])
            except KafkaException as error:
                groups[name] = {"error": _words(error.args[0])}
    return {
        "at_ms": int(time.time() * 1000),
        "groups": groups,
        "topics": _topics(admin, groups),
        "errors": [_words(one) for one in listed.errors],
    }


def _parts(names: list[str]) -> Iterable[list[str]]:
    return (names[begin : begin + AT_ONCE] for begin in range(0, len(names), AT_ONCE))


def _group(about: Any, offsets: Any) -> dict[str, Any]:
    committed: dict[str, int | None] = {}
    error = None
    try:
        for one in offsets.result(TIMEOUT_S + 5).topic_partitions:
            committed[f"{one.topic}-{one.partition}"] = one.offset if one.offset >= 0 else None
    except KafkaException as refused:
        error = _words(refused.args[0])
    members = [
        {
            "id": member.member_id,
            "client": member.client_id,
            "host": member.host,
            "instance": member.group_instance_id,
            "owned": _names(member.assignment),
            "target": _names(member.target_assignment) if member.target_assignment else None,
        }
        for member in about.members
    ]
    return {
        "type": _word(about.type),
        "state": _word(about.state),
        "assignor": about.partition_assignor or None,
        "coordinator": about.coordinator.id if about.coordinator else None,
        "members": members,
        "committed": committed,
        "offsets_error": error,
    }


def _word(value: Any) -> str:
    return value.name.lower() if hasattr(value, "name") else str(value).lower()


def _names(assignment: Any) -> list[str]:
    return sorted(f"{one.topic}-{one.partition}" for one in assignment.topic_partitions)


def _topics(admin: Any, groups: Mapping[str, Any]) -> dict[str, Any]:
    """Of each topic that a group reads: how many partitions, and the first and next offset of each."""
    names = {
        name.rpartition("-")[0]
        for group in groups.values()
        for name in [
            *group.get("committed", ()),
            *(tp for m in group.get("members", ()) for tp in m["owned"]),
        ]
    }
    seen = admin.list_topics(timeout=TIMEOUT_S).topics
    asked = [
        TopicPartition(name, number)
        for name in sorted(names & seen.keys())
        for number in seen[name].partitions
    ]
    if not asked:
        return {}
    earliest, latest = OffsetSpec.earliest(), OffsetSpec.latest()  # type: ignore[no-untyped-call]
    first = admin.list_offsets(dict.fromkeys(asked, earliest), request_timeout=TIMEOUT_S)
    last = admin.list_offsets(dict.fromkeys(asked, latest), request_timeout=TIMEOUT_S)
    topics: dict[str, Any] = {}
    for one in asked:
        try:
            span = [futures[one].result(TIMEOUT_S + 5).offset for futures in (first, last)]
        except KafkaException:
            span = [None, None]  # a partition without a leader, or one that may not be described
        topics.setdefault(one.topic, {})[str(one.partition)] = span
    return topics


if __name__ == "__main__":
    sys.exit(main())
