"""Runs that a notebook asks for in one word, and small changes of a scenario."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rebalance_kit import scenarios
from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.model.trace import Trace
from rebalance_kit.notebook.text import Text, in_lines
from rebalance_kit.simulation.scenario.scenario import THREE_PROTOCOLS, Action, Scenario
from rebalance_kit.simulation.simulate import simulate

_NAMES = {"consumer": "KIP-848", "consumer-range": "KIP-848 (range)", "cooperative": "cooperative"}


def named(protocol: str) -> str:
    """A protocol as prose calls it.

    >>> named("consumer"), named("eager")
    ('KIP-848', 'eager')
    """
    return _NAMES.get(protocol, protocol)


def three(
    scenario: Scenario | str, protocols: Sequence[str] = THREE_PROTOCOLS, seed: int | None = None
) -> dict[str, Trace]:
    """Run a scenario (or one by its name or file) once under each protocol; runs by protocol."""
    wanted = scenarios.scenario(scenario) if isinstance(scenario, str) else scenario
    return {protocol: simulate(wanted, seed, protocol) for protocol in protocols}


def run(scenario: Scenario | str, protocol: str | None = None, seed: int | None = None) -> Trace:
    """Run a scenario (or one by its name, file or text) once; ``protocol`` None: as its members are configured."""
    wanted = scenarios.scenario(scenario) if isinstance(scenario, str) else scenario
    return simulate(wanted, seed, protocol)


def with_broker(
    scenario: Scenario | str, configs: Mapping[str, object], end_s: float | None = None
) -> Scenario:
    """The scenario on a broker with these Kafka configs; longer if ``end_s`` says so."""
    wanted = scenarios.scenario(scenario) if isinstance(scenario, str) else scenario
    changed = replace(wanted, broker={**wanted.broker, **configs})
    return changed if end_s is None else replace(changed, end_ms=round(end_s * 1000))


def with_version(scenario: Scenario | str, kafka_version: str) -> Scenario:
    """The scenario on another version of Kafka."""
    wanted = scenarios.scenario(scenario) if isinstance(scenario, str) else scenario
    return replace(wanted, kafka_version=kafka_version)


def with_configs(scenario: Scenario | str, configs: Mapping[str, object]) -> Scenario:
    """The scenario with these Kafka configs given to every member."""
    wanted = scenarios.scenario(scenario) if isinstance(scenario, str) else scenario
    members = tuple(replace(spec, configs={**spec.configs, **configs}) for spec in wanted.members)
    return replace(wanted, members=members)


def refusal(text: str) -> Text:
    """What the kit, in Kafka's words, says against a scenario; the scenario is refused for what is wrong in it."""
    try:
        scenarios.scenario(text)
    except RebalanceKitError as error:
        return in_lines(str(error))
    return Text("accepted")


def quiet(scenario: Scenario | str) -> Scenario:
    """The scenario with nothing happening in it: its members start, and that is all."""
    wanted = scenarios.scenario(scenario) if isinstance(scenario, str) else scenario
    return replace(wanted, actions=())


def stall(
    scenario: Scenario | str, member: str, *, at_s: float, for_s: float, end_s: float | None = None
) -> Scenario:
    """The scenario with a member that is busy, and does not call poll(), from ``at_s`` for ``for_s`` seconds."""
    wanted = scenarios.scenario(scenario) if isinstance(scenario, str) else scenario
    busy = wanted.with_action(Action(round(at_s * 1000), "stall", member, {"for_ms": round(for_s * 1000)}))
    return busy if end_s is None else replace(busy, end_ms=round(end_s * 1000))
