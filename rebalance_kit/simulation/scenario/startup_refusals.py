"""Refusals that can be foreseen: members whose very first request the coordinator will answer with a fatal error.

A scenario file with such a member is refused, unless it says that this is what it wants to show
(``expect: [INCONSISTENT_GROUP_PROTOCOL]``); the engine itself runs it and shows the member die.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rebalance_kit.model.config import BrokerConfig, ClientConfig
from rebalance_kit.model.kafka_errors import MESSAGES, UNSUPPORTED_CONSUMER_PROTOCOL
from rebalance_kit.simulation.learner_code.plug_ins import NOTHING, Supports
from rebalance_kit.simulation.scenario.scenario import MemberSpec, Scenario

ERRORS = (
    "INCONSISTENT_GROUP_PROTOCOL",
    "INVALID_SESSION_TIMEOUT",
    "UNSUPPORTED_ASSIGNOR",
    "UNSUPPORTED_VERSION",
)
ENDINGS = frozenset({"close", "crash", "restart", "reconfigure", "remove", "freeze"})


class Refusal(NamedTuple):
    """A foreseen fatal answer: Kafka's error and words, the member's index, the config key at fault, and the figures."""

    error: str
    message: str
    member: int
    key: str
    got: str


def foresee(scenario: Scenario, own: Supports = NOTHING) -> Iterator[Refusal]:
    """Fatal answers to members that start by themselves, as the scenario begins with them (no action considered).

    The scenario must have passed ``check``. Whether members share an assignor is asked only of classic members
    that run at the same time.
    """
    broker = BrokerConfig.of(scenario.broker, scenario.kafka_version)
    base = {"group.id": scenario.group}
    started: list[tuple[int, MemberSpec, ClientConfig]] = []
    for index, spec in enumerate(scenario.members):
        if spec.start_ms is None:
            continue
        config = ClientConfig.of(
            {**base, **spec.configs}, scenario.kafka_version, spec.name, spec.client, own
        )
        started.append((index, spec, config))
        yield from _alone(index, config, broker)
    yield from _together(scenario, started)


def _alone(index: int, config: ClientConfig, broker: BrokerConfig) -> Iterator[Refusal]:
    if config.protocol == "classic":
        if not broker.allows_session(config.session_timeout_ms):
            least, most = broker.min_session_timeout_ms, broker.max_session_timeout_ms
            got = f"session.timeout.ms={config.session_timeout_ms}, expected {least} to {most}"
            yield Refusal(
                "INVALID_SESSION_TIMEOUT",
                MESSAGES["INVALID_SESSION_TIMEOUT"],
                index,
                "session.timeout.ms",
                got,
            )
    elif "consumer" not in broker.rebalance_protocols:
        got = f"group.protocol=consumer, the broker offers group.coordinator.rebalance.protocols={','.join(broker.rebalance_protocols)}"
        yield Refusal("UNSUPPORTED_VERSION", UNSUPPORTED_CONSUMER_PROTOCOL, index, "group.protocol", got)
    elif config.remote_assignor is not None and config.remote_assignor not in broker.consumer_assignors:
        listed = ", ".join(broker.consumer_assignors)
        message = f"ServerAssignor {config.remote_assignor} is not supported. Supported assignors: {listed}."
        yield Refusal(
            "UNSUPPORTED_ASSIGNOR",
            message,
            index,
            "group.remote.assignor",
            f"group.remote.assignor={config.remote_assignor}",
        )


def _together(scenario: Scenario, started: list[tuple[int, MemberSpec, ClientConfig]]) -> Iterator[Refusal]:
    classic = [config.assignors for _, _, config in started if config.protocol == "classic"]
    if not classic or frozenset(classic[0]).intersection(*classic[1:]):
        return
    ends = _first_endings(scenario)
    present: list[tuple[int, frozenset[str], str | None, str]] = []
    for index, spec, config in sorted(started, key=lambda entry: entry[1].start_ms or 0):
        if config.protocol != "classic":
            continue
        now = spec.start_ms or 0
        others = [entry for entry in present if entry[0] > now and entry[2] == config.group_id]
        shared = frozenset(config.assignors).intersection(*(names for _, names, _, _ in others))
        if others and not shared:
            others_list = "; ".join(
                f"{name} has {','.join(sorted(names))}" for _, names, _, name in others[:3]
            )
            got = f"partition.assignment.strategy={','.join(config.assignors)}, expected one name that all members have ({others_list})"
            yield Refusal(
                "INCONSISTENT_GROUP_PROTOCOL",
                MESSAGES["INCONSISTENT_GROUP_PROTOCOL"],
                index,
                "partition.assignment.strategy",
                got,
            )
            continue
        present.append(
            (
                ends.get(spec.name, scenario.end_ms + 1),
                frozenset(config.assignors),
                config.group_id,
                spec.name,
            )
        )


def _first_endings(scenario: Scenario) -> dict[str, int]:
    """When something first happens to a member that may take it out of its group."""
    rolling = min(
        (action.at_ms for action in scenario.actions if action.do in {"rolling_restart", "scale_to"}),
        default=None,
    )
    ends: dict[str, int] = {} if rolling is None else {spec.name: rolling for spec in scenario.members}
    for action in scenario.actions:
        if action.do in ENDINGS and action.member is not None:
            ends[action.member] = min(action.at_ms, ends.get(action.member, action.at_ms))
    return ends
