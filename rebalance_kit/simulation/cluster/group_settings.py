"""Inputs of the machines of groups: the broker's configuration, ids to hand out, topics, assignors."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Protocol

from rebalance_kit.assignors import java_order
from rebalance_kit.model.config import BrokerConfig
from rebalance_kit.model.versions import has
from rebalance_kit.protocol.classic_group.group import GroupSettings
from rebalance_kit.protocol.consumer_group.group import ConsumerGroupSettings
from rebalance_kit.simulation.cluster.server_assignors import server_assignor
from rebalance_kit.simulation.cluster.topics import Topics
from rebalance_kit.simulation.kernel.host import RunHost
from rebalance_kit.simulation.kernel.streams import draw_kafka_uuid, draw_uuid


class Sender(Protocol):
    """A process that sends requests, as its broker knows it."""

    @property
    def protocol(self) -> str:
        """The group protocol that it speaks."""

    def given_id(self, prefix: str, draw: Callable[[random.Random], str]) -> str:
        """A member id for it, drawn unless a replay pins it."""


class GroupsSettings:
    """Makes the settings of each group from the broker's."""

    __slots__ = ("_config", "_host", "_senders", "_topics", "_version")

    def __init__(
        self,
        host: RunHost,
        config: BrokerConfig,
        kafka_version: str,
        topics: Topics,
        senders: Mapping[str, Sender],
    ) -> None:
        self._host, self._config, self._version = host, config, kafka_version
        self._topics, self._senders = topics, senders

    def classic(self, group: str) -> GroupSettings:
        """Settings of a classic group."""
        config, scala = self._config, not has("new-coordinator", self._version)
        return GroupSettings(
            group=group,
            initial_delay_ms=config.initial_rebalance_delay_ms,
            min_session_ms=config.min_session_timeout_ms,
            max_session_ms=config.max_session_timeout_ms,
            max_size=config.max_size,
            new_id=self._classic_id,
            map_order=java_order.scala_map_order if scala else java_order.hash_map_order,
            consumer_order=java_order.timeline_order,
            skips_assignment=has("static-skip-assignment", self._version),
        )

    def consumer(self, group: str) -> ConsumerGroupSettings:
        """Settings of a KIP-848 group."""
        config, topics, host = self._config, self._topics, self._host
        return ConsumerGroupSettings(
            group=group,
            kafka_version=self._version,
            session_timeout_ms=config.consumer_session_timeout_ms,
            heartbeat_interval_ms=config.consumer_heartbeat_interval_ms,
            assignment_interval_ms=config.consumer_assignment_interval_ms,
            assignors=tuple(config.consumer_assignors),
            max_size=config.consumer_max_size,
            topics=lambda: dict(topics.counts),
            topic_ids=lambda: dict(topics.ids),
            now_ms=lambda: host.now_ms,
            assign=server_assignor(self._version),
            new_id=self._bare_id,
            migration_policy=str(config.migration_policy).lower(),
            classic_session_range=(config.min_session_timeout_ms, config.max_session_timeout_ms),
            regex_refresh_ms=config.regex_refresh_interval_ms,
        )

    def _classic_id(self, sender: str, prefix: str) -> str:
        return self._senders[sender].given_id(prefix, lambda stream: f"{prefix}-{draw_uuid(stream)}")

    def _bare_id(self, sender: str) -> str:
        return self._senders[sender].given_id("bare", draw_kafka_uuid)
