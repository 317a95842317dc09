"""Other words under which people look for a lesson: what operators and other tools call the same thing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType

ALSO_CALLED: Mapping[str, str] = MappingProxyType(
    {
        "two-consumers-crash": "kill -9, OOMKilled, pod killed, failover",
        "crash": "kill -9, OOMKilled, pod killed, failover",
        "join": "new consumer, add a pod",
        "leave": "shutdown, close(), SIGTERM, scale in, pod stopped",
        "scale-out": "autoscaling, HPA, KEDA, replicas",
        "storm": "rebalance storm, rebalance loop, again and again",
        "poll-timeout": "max.poll.interval.ms exceeded, slow processing, kicked out",
        "slow-consumer": "max.poll.interval.ms, slow processing, lag",
        "freeze": "GC pause, stop the world, CPU throttling, zombie",
        "network-cut": "network partition, firewall, disconnect, zombie",
        "recovered-member": "restart after a crash, pod restarted, new member id",
        "crash-in-hand-over": "crash during a rebalance, stuck rebalance",
        "lost-records": "auto.offset.reset, missing messages",
        "slow-callback": "onPartitionsRevoked, listener, flush",
        "wrong-librdkafka-callback": "rebalance_cb, confluent-kafka, Python, Go, C",
        "duplicate-instance": "FENCED_INSTANCE_ID, two pods with one id",
        "static-restart-in-time": "static membership, StatefulSet, group.instance.id, pod restarted",
        "static-restart-too-late": "static membership, StatefulSet, group.instance.id, session.timeout.ms",
        "rolling-restart-static": "static membership, StatefulSet, deploy, rollout, rolling update",
        "rolling-restart": "deploy, deployment, rollout, rolling update, release",
        "two-bounces": "upgrade to cooperative-sticky, KIP-429",
        "migration": "upgrade to KIP-848, group.protocol=consumer, new protocol",
        "skewed-range": "uneven assignment, hot consumer, lag",
        "partitions-added": "more partitions, resize a topic",
        "regex-surprise": "pattern subscription, topic created",
        "broker-restart": "broker down, upgrade of brokers",
        "coordinator-failover": "broker down, NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS",
    }
)
"""Other words under which people look for a lesson."""
ON_KUBERNETES = re.compile(r"\bpods?\b|HPA|StatefulSet|rollout|CPU throttling")


def also_called(name: str) -> str:
    """Words for the lesson of a scenario's name; empty where its own say it all.

    >>> also_called("join")
    'new consumer, add a pod, Kubernetes, k8s'
    """
    words = ALSO_CALLED.get(name, "")
    return f"{words}, Kubernetes, k8s" if ON_KUBERNETES.search(words) else words
