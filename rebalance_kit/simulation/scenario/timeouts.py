"""What becomes of the classic clients' timeouts when a scenario is switched to KIP-848.

A client with ``group.protocol=consumer`` refuses ``session.timeout.ms``, ``heartbeat.interval.ms`` and
``partition.assignment.strategy`` (``ConsumerConfig.CLASSIC_PROTOCOL_UNSUPPORTED_CONFIGS``; up to 3.9 it ignored
them). The broker's values hold, whatever the clients had.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rebalance_kit.model.config import BrokerConfig
from rebalance_kit.model.versions import has
from rebalance_kit.simulation.scenario.scenario import CLASSIC_ONLY, PROTOCOLS, Scenario


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A client key that a switch to KIP-848 leaves out: its values, and what the broker has instead."""

    key: str
    values: tuple[Any, ...]
    broker_key: str
    broker_value: Any
    refused: bool
    """True: the client is not built with it (since 4.0). False: it is ignored."""

    @property
    def words(self) -> str:
        """The key, what the client makes of it and what holds in its place, as a sentence."""
        listed = ", ".join(map(_shown, self.values))
        does = "refuses" if self.refused else "ignores"
        return (
            f"{self.key} ({listed}) is left out, because a client with group.protocol=consumer {does} it; "
            f"the broker's {self.broker_key} holds: {_shown(self.broker_value)}."
        )


def left_out(scenario: Scenario, protocol: str | None) -> tuple[LeftOut, ...]:
    """Keys in the clients' configs that ``with_protocol(scenario, protocol)`` leaves out; empty for a classic protocol."""
    if protocol is None or PROTOCOLS[protocol]["group.protocol"] != "consumer":
        return ()
    given = [spec.configs for spec in scenario.members]
    given += [action.args["configs"] for action in scenario.actions if "configs" in action.args]
    found = {
        key: list(dict.fromkeys(_hashable(configs[key]) for configs in given if key in configs))
        for key in CLASSIC_ONLY
    }
    broker = BrokerConfig.of(scenario.broker, scenario.kafka_version)
    holds = {
        "session.timeout.ms": broker.consumer_session_timeout_ms,
        "heartbeat.interval.ms": broker.consumer_heartbeat_interval_ms,
        "partition.assignment.strategy": broker.consumer_assignors,
    }
    refused = has("consumer-refuses-classic-configs", scenario.kafka_version)
    return tuple(
        LeftOut(key, tuple(values), _decides(key, broker), holds[key], refused)
        for key, values in found.items()
        if values
    )


def _decides(key: str, broker: BrokerConfig) -> str:
    """The key of the broker, or of the group where it has settings of its own, that holds in place of a client's."""
    if key == "partition.assignment.strategy":
        return "group.consumer.assignors"
    own = f"consumer.{key}"
    return own if own in broker.given else f"group.{own}"


def carry_timeouts(scenario: Scenario) -> Scenario:
    """The scenario on a broker that was given the clients' longest session timeout and heartbeat interval.

    That is what an operator would have to do for a fair comparison of the protocols: set ``group.consumer.session.timeout.ms``
    and ``group.consumer.heartbeat.interval.ms``, and move the broker's limits where these forbid the values. Keys
    that the broker has already stay. The same scenario where no client sets either.
    """
    broker = dict(scenario.broker)
    limits = BrokerConfig.of(scenario.broker, scenario.kafka_version).values
    for name in ("session.timeout.ms", "heartbeat.interval.ms"):
        values = [int(spec.configs[name]) for spec in scenario.members if name in spec.configs]
        key, least, most = (f"group.consumer.{limit}{name}" for limit in ("", "min.", "max."))
        if not values or key in broker:
            continue
        broker[key] = max(values)
        if broker[key] < limits[least]:
            broker[least] = broker[key]
        if broker[key] > limits[most]:
            broker[most] = broker[key]
    return replace(scenario, broker=broker) if broker != dict(scenario.broker) else scenario


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return f"{value} ms" if isinstance(value, int) else str(value)
