"""The runs behind the items: simulated once, asked often.

A ``RunBook`` keeps the facts of every run it has made, so that a bank whose items share scenarios costs
one simulation a scenario, protocol and seed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rebalance_kit.model.errors import DataError, RebalanceKitError
from rebalance_kit.model.trace import Trace
from rebalance_kit.quiz.items.item import NOTHING, RunSpec
from rebalance_kit.quiz.proof.expressions import HELPERS, evaluate
from rebalance_kit.quiz.proof.run_facts import RunFacts, ask
from rebalance_kit.simulation.scenario.checks import check_work
from rebalance_kit.simulation.scenario.scenario import Scenario

MOMENTS = frozenset({"removed_ms", "first_ms", "last_ms"})
"""Facts whose value is a moment of the run."""


MOST_WORK_S = 10.0
"""Seconds of simulation that the run of an item may need: a bank has hundreds."""


class RunBook:
    """Simulates what is asked for and remembers it."""

    def __init__(self) -> None:
        self._facts: dict[str, RunFacts] = {}
        self._traces: dict[str, Trace] = {}
        self._answers: dict[str, Any] = {}

    def facts(self, spec: RunSpec, seed: int) -> RunFacts:
        """The facts of one run; raises ``DataError`` when its scenario does not run."""
        name = run_name(spec, seed)
        if name not in self._facts:
            self._facts[name] = RunFacts(self.trace(spec, seed))
        return self._facts[name]

    def trace(self, spec: RunSpec, seed: int) -> Trace:
        """The trace of one run; raises ``DataError`` when its scenario does not run."""
        name = run_name(spec, seed)
        if name not in self._traces:
            try:
                scenario = self._scenario(spec)
                check_work(scenario, MOST_WORK_S)
                self._traces[name] = self._simulated(scenario, seed, spec.protocol)
            except RebalanceKitError as error:
                raise DataError(f"the run {_spell(spec)} cannot be made: {error}") from error
        return self._traces[name]

    def _scenario(self, spec: RunSpec) -> Scenario:
        return scenario_of(spec)

    def _simulated(self, scenario: Scenario, seed: int, protocol: str | None) -> Trace:
        from rebalance_kit.simulation.simulate import simulate

        return simulate(scenario, seed, protocol)

    def refusal(self, spec: RunSpec, seed: int) -> str | None:
        """Why a scenario is refused before it runs, in Kafka's words where Kafka has some; None when it runs.

        A scenario that does not exist is no refusal: it raises ``DataError``.
        """
        if isinstance(spec.scenario, str):
            _known(spec.scenario)
        try:
            self.facts(spec, seed)
        except DataError as error:
            return str(error.__cause__)
        return None

    def work_out(
        self, expression: Any, runs: Mapping[str, RunSpec], seed: int, names: Mapping[str, Any] = NOTHING
    ) -> Any:
        """The value of an expression over these runs, all simulated with ``seed``."""

        def call(name: str, arguments: list[Any], named: dict[str, Any]) -> Any:
            return self._answer(name, arguments, named, runs, seed)

        return evaluate(expression, names, call)

    def moments(
        self, expression: Any, runs: Mapping[str, RunSpec], seed: int, names: Mapping[str, Any] = NOTHING
    ) -> list[tuple[str, int]]:
        """The moments that an expression speaks of (``at=30s``, ``removed_ms(...)``), each with its run's name, in order."""
        named_moments: list[tuple[str, int]] = []

        def call(name: str, arguments: list[Any], named: dict[str, Any]) -> Any:
            value = self._answer(name, arguments, named, runs, seed)
            run, _, fact = name.rpartition(".")
            at = named.get("at", value if fact in MOMENTS else None)
            if runs and isinstance(at, (int, float)) and not isinstance(at, bool):
                named_moments.append((run or next(iter(runs)), int(at)))
            return value

        evaluate(expression, names, call)
        return named_moments

    def _answer(
        self,
        name: str,
        arguments: list[Any],
        named: Mapping[str, Any],
        runs: Mapping[str, RunSpec],
        seed: int,
    ) -> Any:
        """Ask a helper, or a fact of one of the runs; answers of facts are remembered."""
        run, dot, fact = name.rpartition(".")
        if not dot and name in HELPERS:
            try:
                return HELPERS[name](*arguments, **named)
            except (TypeError, IndexError, ValueError, OverflowError) as error:
                raise DataError(f"{name}(...): {error}; expected: {HELPERS[name].__doc__}") from error
        spec = _run_named(run, name, runs)
        if fact == "refusal" and not arguments and not named:
            return self.refusal(spec, seed)
        key = f"{run_name(spec, seed)} {fact} {arguments!r} {named!r}"
        if key not in self._answers:
            self._answers[key] = ask(self.facts(spec, seed), fact, arguments, named)
        return self._answers[key]


def _run_named(run: str, fact: str, runs: Mapping[str, RunSpec]) -> RunSpec:
    """The run that a fact is asked of; the only one needs no name."""
    if not run and len(runs) != 1:
        raise DataError(
            f"{fact}(...) names no run; expected one of {', '.join(f'{name}.{fact}' for name in runs) or ', '.join(HELPERS)}"
        )
    if run and run not in runs:
        raise DataError(f"run {run!r} is unknown; expected one of {', '.join(runs) or 'none'}")
    return runs[run] if run else next(iter(runs.values()))


def run_name(spec: RunSpec, seed: int) -> str:
    """What tells a run from all others."""
    return json.dumps([spec.scenario, spec.protocol, spec.kafka_version, seed], sort_keys=True, default=str)


def scenario_of(spec: RunSpec) -> Scenario:
    """The scenario of a run; raises what reading it raises."""
    scenario = _by_name(spec.scenario) if isinstance(spec.scenario, str) else _written_out(spec.scenario)
    return scenario if spec.kafka_version is None else replace(scenario, kafka_version=spec.kafka_version)


def _known(name: str) -> None:
    try:
        _by_name(name)
    except RebalanceKitError as error:
        raise DataError(f"the run {name} cannot be made: {error}") from error


def _by_name(name: str) -> Scenario:
    from rebalance_kit.scenarios import load

    return load(name)


def _written_out(mapping: Mapping[str, Any]) -> Scenario:
    import yaml

    from rebalance_kit.simulation.scenario.yaml_file import read_scenario

    name = str(mapping.get("name", "written out"))
    keys = {key: entry for key, entry in mapping.items() if key != "name"}
    return read_scenario(yaml.safe_dump({"scenario": name, **keys}, sort_keys=False), f"scenario {name}")


def _spell(spec: RunSpec) -> str:
    name = spec.scenario if isinstance(spec.scenario, str) else str(spec.scenario.get("name", "written out"))
    return f"{name} ({spec.protocol})" if spec.protocol else name
