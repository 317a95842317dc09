"""The three protocols of a group as the lab names them, and which of them the members of a run speak."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.config import CLIENTS, ClientConfig
from rebalance_kit.model.errors import ConfigError
from rebalance_kit.model.versions import PREFERRED
from rebalance_kit.view.board.boards import Boards

PROTOCOL_WORDS: Mapping[str, str] = MappingProxyType(
    {"eager": "Eager", "cooperative": "Cooperative", "consumer": "Consumer"}
)
PROTOCOL_SAYS: Mapping[str, str] = MappingProxyType(
    {
        "eager": "The classic protocol, eager: every member gives up all its partitions before it joins again.",
        "cooperative": "The classic protocol, cooperative (KIP-429): members keep what they own, and give up only what has to move.",
        "consumer": "The consumer group protocol (KIP-848): the coordinator assigns, and each member follows with its heartbeats.",
    }
)


def own_protocols(boards: Boards) -> list[str]:
    """The protocols that the members of a run are configured for, in the order of ``PROTOCOL_WORDS``.

    >>> from rebalance_kit.scenarios import load
    >>> from rebalance_kit.simulation.simulate import simulate
    >>> [own_protocols(Boards(simulate(load(name)))) for name in ("wrong-librdkafka-callback", "migration")]
    [['cooperative'], ['eager', 'consumer']]
    """
    version = str(boards.trace.meta.get("kafka_version", PREFERRED))
    spoken = {
        _spoken(row.detail, version)
        for row in boards.trace.of("process_started")
        if row.detail.get("group", boards.group_name) == boards.group_name
    }
    return [name for name in PROTOCOL_WORDS if name in spoken]


def _spoken(started: Mapping[str, Any], version: str) -> str:
    """The protocol of one process; empty for a configuration that Kafka refuses."""
    configs, client = started.get("configs", {}), str(started.get("client", CLIENTS[0]))
    try:
        config = ClientConfig.of({"group.id": "group", **configs}, version, client=client)
    except ConfigError:
        return ""
    return "consumer" if config.protocol == "consumer" else config.mode.lower()
