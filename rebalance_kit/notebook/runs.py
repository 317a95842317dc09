"""Runs that a notebook asks for in one word, small changes of a scenario, and what a rebalance costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING

from rebalance_kit import scenarios
from rebalance_kit.analysis.draws import Distribution, Draws, draw, verdict
from rebalance_kit.analysis.metrics import ABSENT, MEASURES, Measure, measure
from rebalance_kit.model.errors import DataError, RebalanceKitError
from rebalance_kit.model.trace import Trace
from rebalance_kit.notebook.text import Table, Text, in_lines
from rebalance_kit.simulation.scenario.scenario import THREE_PROTOCOLS, Action, Scenario
from rebalance_kit.simulation.simulate import simulate

if TYPE_CHECKING:
    from rebalance_kit.recordings.folder import RecordedRun

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


def real_run(
    scenario: Scenario | str,
    instead: str,
    folder: Path,
    protocol: str | None = None,
    client: str | None = None,
) -> RecordedRun:
    """A scenario recorded on a real Kafka, in real time, where the parts are there (``live.ready``); else the recorded run ``instead``. Says which."""
    from rebalance_kit import live
    from rebalance_kit.recordings.folder import read_run, unpack

    say: Callable[[str], None] = print
    if live.ready():
        say("a real Kafka runs it now, in real time")
        return read_run(live.record(scenario, folder / "real", protocol, client=client, say=say))
    say(f"no real Kafka is installed here (docs/live.md), so this was recorded before: {instead}")
    return read_run(unpack(folder, (instead,))[0])


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


def draws(scenario: Scenario | str, count: int = 100, protocols: Sequence[str] = THREE_PROTOCOLS) -> Draws:
    """The scenario drawn ``count`` times under each protocol, with the seeds 1, 2, 3 and so on.

    Notebooks compare their outputs strictly, so all draws are made however long they take.
    """
    wanted = scenarios.scenario(scenario) if isinstance(scenario, str) else scenario
    return draw(wanted, {named(protocol): protocol for protocol in protocols}, count, seconds=math.inf)


def costs(runs: Mapping[str, Trace] | Draws, *first: str) -> Table:
    """The cost table: one row per measure, a column per protocol; the rows whose names begin with ``first`` lead.

    Of draws, a cell is the median with the middle half of the draws in brackets, and the last column says which
    protocols differ. Without ``first``: partitions unread, unread partition-seconds, and the two longest gaps.
    """
    ordered = _ordered(first)
    if isinstance(runs, Draws):
        rows = [[f"{runs.count} draws: median (middle half)", *runs.labels, "which differ"]]
        rows += [_drawn(each, runs) for each in ordered]
    else:
        measured = measure(list(runs.values()))
        rows = [["", *map(named, runs)]]
        rows += [[each.words, *(_value(each, each.of(figures)) for figures in measured)] for each in ordered]
    told = [row for row in rows if set(row[1:]) != {ABSENT}]
    return Table(told, shown=len(first) or 4)


def _ordered(first: Sequence[str]) -> list[Measure]:
    leading = []
    for name in first:
        found = next((each for each in MEASURES if each.words.startswith(name)), None)
        if found is None:
            raise DataError(
                f"{name!r} is no measure; expected the beginning of {[m.words for m in MEASURES]}"
            )
        leading.append(found)
    return [*leading, *(each for each in MEASURES if each not in leading)]


def _value(each: Measure, value: float | None) -> str:
    return ABSENT if value is None else each.shown(value)


def _drawn(each: Measure, runs: Draws) -> list[str]:
    cells = [_cell(each, runs.distribution(each.of, label)) for label in runs.labels]
    differ = ABSENT if set(cells) == {ABSENT} else verdict(runs, each).words
    return [each.words, *cells, differ]


def _cell(each: Measure, found: Distribution | None) -> str:
    if found is None:
        return ABSENT
    low, high = map(each.shown, found.middle_half)
    middle = each.shown(found.median)
    return middle if low == high == middle else f"{middle} ({low}–{high})"


def across(names: Sequence[str], measure_name: str, count: int = 40) -> Table:
    """One measure, by the beginning of its row's name, for several scenarios: the median and the middle half of draws."""
    (each, *_) = _ordered([measure_name])
    rows: list[list[str]] = []
    for name in names:
        drawn = draws(name, count)
        rows = rows or [
            [f"{each.words}: median (middle half) of {count} draws", *drawn.labels, "which differ"]
        ]
        rows.append([name, *_drawn(each, drawn)[1:]])
    return Table(rows, shown=len(rows))


def spread(drawn: Draws, measure_name: str) -> Table:
    """One measure (a name of ``Metrics``, as ``longest_gap_s``) over the draws: minimum, quartiles, maximum."""
    rows = [[f"{drawn.count} draws", "minimum", "lower quartile", "median", "upper quartile", "maximum"]]
    for label in drawn.labels:
        found = drawn.distribution(attrgetter(measure_name), label)
        shown = [ABSENT] * 5 if found is None else [_number(found.quantile(q / 4), found) for q in range(5)]
        rows.append([label, *shown])
    return Table(rows)


def median(drawn: Draws, measure_name: str) -> dict[str, float]:
    """The median of a measure over the draws, by protocol."""
    found = {label: drawn.distribution(attrgetter(measure_name), label) for label in drawn.labels}
    return {label: 0.0 if one is None else one.median for label, one in found.items()}


def _number(value: float, found: Distribution) -> str:
    whole = all(float(each).is_integer() for each in found.values)
    return f"{value:,.0f}" if whole else f"{value:,.2f}"


def more(drawn: Draws, measure_name: str) -> str:
    """The protocol with most of a measure, or ``no difference`` where the middle halves of the draws overlap."""
    groups = _groups(drawn, measure_name)
    return "no difference" if len(groups) < 2 else " and ".join(groups[-1])


def fewest(drawn: Draws, measure_name: str) -> str:
    """The protocol with clearly least of a measure, or ``no difference`` where the middle halves of the draws overlap."""
    groups = _groups(drawn, measure_name)
    return "no difference" if len(groups) < 2 else " and ".join(groups[0])


def _groups(drawn: Draws, measure_name: str) -> tuple[tuple[str, ...], ...]:
    return verdict(drawn, Measure(measure_name, attrgetter(measure_name), str)).groups
