"""The runs behind the items: simulated once, asked often.

A ``RunBook`` keeps the facts of every run it has made, so that a bank whose items share scenarios costs
one simulation a scenario, protocol and seed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

from rebalance_kit.analysis.deliveries import gap_lengths
from rebalance_kit.analysis.metrics import metrics
from rebalance_kit.analysis.ownership import moves, owned_at, owners_at
from rebalance_kit.model.errors import DataError, RebalanceKitError
from rebalance_kit.model.topology import parse_partition
from rebalance_kit.model.trace import KINDS, Trace, TraceRow
from rebalance_kit.quiz.items.item import NOTHING, RunSpec
from rebalance_kit.quiz.proof.expressions import HELPERS, evaluate
from rebalance_kit.simulation.scenario.checks import check_work
from rebalance_kit.simulation.scenario.scenario import Scenario

# What an expression may ask of a run: each fact is one method, computed from the trace's rows.
#
# Times are milliseconds of the run. A window that is not given begins with the scenario's first action
# and ends with the run, so ``unread()`` is "which partitions did nobody read at some time since then".
# Partitions are written as Kafka prints them (``orders-0``), members by their names.


class RunFacts:
    """The facts of one run. Public methods are what the language offers (``FACTS``)."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace

    @cached_property
    def _event_ms(self) -> int:
        return next((row.at_ms for row in self._trace.of("action")), 0)

    def _between(self, since: int | None, until: int | None, *kinds: str) -> Iterator[TraceRow]:
        first, last = self._window(since, until)
        return (row for row in self._trace.of(*kinds) if first <= row.at_ms <= last)

    @cached_property
    def _names(self) -> dict[str, str]:
        """Member ids to names, from every row in which a member speaks for itself."""
        inside = set(self._trace.meta.get("members", ())) | {
            row.actor for row in self._trace.of("process_started")
        }
        return {row.member_id: row.actor for row in self._trace.rows if row.member_id and row.actor in inside}

    def _last(self, at: int | None, *kinds: str) -> TraceRow | None:
        last = None
        for row in self._trace.of(*kinds):
            if at is not None and row.at_ms > at:
                break
            last = row
        return last

    def _window(self, since: int | None, until: int | None) -> tuple[int, int]:
        first = self._event_ms if since is None else since
        return (
            first if first > 0 else min(first, self._trace.rows[0].at_ms),  # a draw counts from its phase
            self._trace.end_ms if until is None else until,
        )

    # --- records stop and come again ------------------------------------------------------------
    def unread(self, since: int | None = None, until: int | None = None) -> list[str]:
        """Partitions that nobody read for some time in the window."""
        return sorted(self._gaps(since, until))

    def gap(self, partition: str, since: int | None = None, until: int | None = None) -> int:
        """The longest time in the window during which the partition's records reached nobody."""
        return self._gaps(since, until).get(partition, 0)

    def longest_gap(self, since: int | None = None, until: int | None = None) -> int:
        """The longest such time of any partition."""
        return max(self._gaps(since, until).values(), default=0)

    def gaps_over(self, limit: int, since: int | None = None, until: int | None = None) -> list[str]:
        """Partitions whose records reached nobody for longer than ``limit`` at a stretch."""
        return sorted(name for name, longest in self._gaps(since, until).items() if longest > limit)

    def _gaps(self, since: int | None, until: int | None) -> dict[str, int]:
        """Each partition with its longest gap in the window."""
        lengths = gap_lengths(self._trace, *self._window(since, until))
        return {str(tp): max(lengths[tp]) for tp in lengths}

    # --- who has what ---------------------------------------------------------------------------
    def owner(self, partition: str, at: int | None = None) -> str | None:
        """The member that owns the partition (the latest to get it, where two believe so)."""
        return owners_at(self._trace, at).get(parse_partition(partition))

    def owned(self, member: str, at: int | None = None) -> list[str]:
        """The partitions a member has in its assignment."""
        return owned_at(self._trace, at).get(member, [])

    def idle(self, at: int | None = None) -> list[str]:
        """Members that have been told their assignment and own nothing."""
        return [member for member, partitions in owned_at(self._trace, at).items() if not partitions]

    def moved(self, since: int | None = None, until: int | None = None) -> list[str]:
        """Partitions that one member read when the window began and another one at its end."""
        return sorted(map(str, moves(self._trace, *self._window(since, until))))

    # --- the group ------------------------------------------------------------------------------
    def generations(self, since: int | None = None, until: int | None = None) -> int:
        """Join phases completed (classic protocol)."""
        return sum(1 for _ in self._between(since, until, "generation"))

    def epochs(self, since: int | None = None, until: int | None = None) -> int:
        """Rises of the group epoch (consumer protocol)."""
        return sum(1 for _ in self._between(since, until, "epoch_bump"))

    def targets(self, since: int | None = None, until: int | None = None) -> int:
        """Target assignments computed by the coordinator (consumer protocol)."""
        return sum(1 for _ in self._between(since, until, "target"))

    def generation(self, at: int | None = None) -> int | None:
        """The group's generation or epoch at that time."""
        row = self._last(at, "generation", "epoch_bump")
        return row.generation if row else None

    def state(self, at: int | None = None) -> str | None:
        """The group's state at that time, in Kafka's word."""
        row = self._last(at, "group_state")
        return row.detail["to"] if row else None

    def states(self, since: int | None = None, until: int | None = None) -> list[str]:
        """The states the group entered, in order."""
        return [row.detail["to"] for row in self._between(since, until, "group_state")]

    def reasons(self, since: int | None = None, until: int | None = None) -> list[str]:
        """Kafka's reasons for state changes and epochs, in order."""
        return [
            row.detail["reason"]
            for row in self._between(since, until, "group_state", "epoch_bump")
            if row.detail.get("reason")
        ]

    def said(self, text: str, since: int | None = None, until: int | None = None) -> bool:
        """Whether one of those reasons contains the text."""
        return any(text in reason for reason in self.reasons(since, until))

    def leader(self, at: int | None = None) -> str | None:
        """The member that led the last generation."""
        row = self._last(at, "generation")
        return self._names.get(row.detail["leader"], row.detail["leader"]) if row else None

    def assignor(self, at: int | None = None) -> str | None:
        """The assignor of the last generation or target."""
        row = self._last(at, "generation", "target")
        return row.detail["assignor"] if row else None

    # --- a member -------------------------------------------------------------------------------
    def callbacks(self, member: str, which: str, since: int | None = None, until: int | None = None) -> int:
        """How often the member's listener was called: assigned, revoked or lost."""
        return len(self._calls(member, which, since, until))

    def told(
        self, member: str, which: str, nth: int = 1, since: int | None = None, until: int | None = None
    ) -> list[str] | None:
        """The partitions its n-th such call was given; none when there was no such call."""
        calls = self._calls(member, which, since, until)
        return sorted(calls[nth - 1].detail["partitions"]) if 0 < nth <= len(calls) else None

    def _calls(self, member: str, which: str, since: int | None, until: int | None) -> list[TraceRow]:
        if which not in {"assigned", "revoked", "lost"}:
            raise DataError(f"callback {which!r} is unknown; expected assigned, revoked or lost")
        return [
            row
            for row in self._between(since, until, "callback_begin")
            if row.actor == member and row.detail["callback"] == which
        ]

    def removed(self, member: str, since: int | None = None, until: int | None = None) -> str | None:
        """How the coordinator removed the member (leave, session, rebalance_timeout, ...), none if it did not."""
        row = self._removal(member, since, until)
        return row.detail["how"] if row else None

    def removed_ms(self, member: str, since: int | None = None, until: int | None = None) -> int | None:
        """When it did."""
        row = self._removal(member, since, until)
        return row.at_ms if row else None

    def _removal(self, member: str, since: int | None, until: int | None) -> TraceRow | None:
        return next(
            (row for row in self._between(since, until, "member_removed") if row.detail["name"] == member),
            None,
        )

    def died(self, member: str) -> str | None:
        """The error that ended the member's application, none if none did."""
        return next((row.detail["error"] for row in self._trace.of("died") if row.actor == member), None)

    def requests(self, member: str, api: str, since: int | None = None, until: int | None = None) -> int:
        """Requests of that kind (JoinGroup, SyncGroup, Heartbeat, ...) the member sent."""
        return sum(
            row.actor == member and row.detail["api"] == api for row in self._between(since, until, "request")
        )

    def errors(
        self, member: str, api: str | None = None, since: int | None = None, until: int | None = None
    ) -> list[str]:
        """Errors answered to the member, each once, in order of first appearance."""
        errors_seen: dict[str, None] = {}
        for row in self._between(since, until, "response"):
            error = row.detail.get("error", "NONE")
            if row.detail["to"] == member and error != "NONE" and api in {None, row.detail["api"]}:
                errors_seen[error] = None
        return list(errors_seen)

    # --- records --------------------------------------------------------------------------------
    def redelivered(
        self, partition: str | None = None, since: int | None = None, until: int | None = None
    ) -> int:
        """Records delivered again in the window, of one partition or of all."""
        rows = self._between(since, until, "redelivered")
        return sum(row.detail["count"] for row in rows if partition in {None, f"{row.topic}-{row.partition}"})

    def lost(self) -> int:
        """Records committed in the run that nobody processed."""
        return sum(row.detail["lost"] for row in self._trace.of("account"))

    # --- anything -------------------------------------------------------------------------------
    def rows(
        self,
        kind: str,
        member: str | None = None,
        since: int | None = None,
        until: int | None = None,
        **detail: Any,
    ) -> int:
        """How many rows of a kind (model.trace.KINDS), of one actor, with these values in their detail."""
        return sum(1 for _ in self._matching(kind, member, since, until, detail))

    def first_ms(
        self,
        kind: str,
        member: str | None = None,
        since: int | None = None,
        until: int | None = None,
        **detail: Any,
    ) -> int | None:
        """When the first of those rows was written, none if none was."""
        return next((row.at_ms for row in self._matching(kind, member, since, until, detail)), None)

    def last_ms(
        self,
        kind: str,
        member: str | None = None,
        since: int | None = None,
        until: int | None = None,
        **detail: Any,
    ) -> int | None:
        """When the last of them was."""
        times = [row.at_ms for row in self._matching(kind, member, since, until, detail)]
        return times[-1] if times else None

    def _matching(
        self, kind: str, member: str | None, since: int | None, until: int | None, detail: Mapping[str, Any]
    ) -> Iterator[TraceRow]:
        if kind not in KINDS:
            raise DataError(f"{kind!r} is no kind of trace row; expected one of {', '.join(KINDS)}")
        wanted = [(name, value) for name, value in detail.items()]
        for row in self._between(since, until, kind):
            if member in {None, row.actor} and all(row.detail.get(name) == value for name, value in wanted):
                yield row

    def metric(self, name: str) -> Any:
        """A figure of the run's metrics by its name there."""
        figures = asdict(metrics(self._trace))
        if name not in figures:
            raise DataError(f"metric {name!r} is unknown; expected one of {', '.join(figures)}")
        return figures[name]


FACTS: Mapping[str, Callable[..., Any]] = MappingProxyType(
    {name: getattr(RunFacts, name) for name in sorted(vars(RunFacts)) if not name.startswith("_")}
)
"""The facts by name, with their docstrings."""


def ask(facts: RunFacts, name: str, arguments: list[Any], named: Mapping[str, Any]) -> Any:
    """Answer one fact; raises ``DataError`` for an unknown one or arguments that do not fit."""
    from difflib import get_close_matches

    if name not in FACTS:
        close = get_close_matches(name, FACTS, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise DataError(f"{name!r} is no fact; expected one of {', '.join(FACTS)}{hint}")
    try:
        return FACTS[name](facts, *arguments, **named)
    except (TypeError, ValueError, OverflowError, LookupError, AttributeError) as error:
        raise DataError(f"{name}(...): {error}; expected: {FACTS[name].__doc__}") from error


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
