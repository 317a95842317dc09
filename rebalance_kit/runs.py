"""``rebalance-kit run``: simulate a scenario under one protocol or several, say what it cost, keep the evidence."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import TextIO

from rebalance_kit import scenarios
from rebalance_kit.analysis.draws import (
    SECONDS,
    DrawProgress,
    Draws,
    check_draws,
    default_draws,
    draw,
    draws_as_json,
    draws_head,
    draws_sentences,
    draws_table,
    strips,
)
from rebalance_kit.analysis.invariants import check
from rebalance_kit.analysis.metrics import UNPLANNED, Comparison, compare, metrics, sentences, table
from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.model.files import draft_folder, scratch_for, write_atomically
from rebalance_kit.model.trace import Trace
from rebalance_kit.pipeline.output import note_written, refuse_foreign
from rebalance_kit.simulation.scenario.scenario import (
    PROTOCOLS,
    THREE_PROTOCOLS,
    Scenario,
    carry_timeouts,
    left_out,
)
from rebalance_kit.simulation.simulate import simulate

MOST_SECONDS = 3_600
CLASSIC_HEARTBEAT_MS = 3_000
HEARTBEAT_KEYS = ("group.consumer.heartbeat.interval.ms", "group.consumer.min.heartbeat.interval.ms")


@dataclass(frozen=True, slots=True)
class Wanted:
    """How often to draw: ``draws`` None takes ``default_draws`` where several protocols are compared."""

    draws: int | None = None
    seconds: float = SECONDS
    one_run: bool = False
    carry_timeouts: bool = False
    """Whether KIP-848 is also simulated on a broker that was given the clients' timeouts, in a column of its own."""

    def count(self, scenario: Scenario, protocols: Mapping[str, str | None]) -> int | None:
        """Draws to make, None for none. Raises ``ScenarioError`` for a count or a bound that cannot be."""
        if self.one_run and self.draws is not None:
            raise ScenarioError(f"--one-run and --draws {self.draws} are given; expected one of them")
        if not 0 < self.seconds <= MOST_SECONDS:
            raise ScenarioError(
                f"--seconds is {self.seconds:g}; expected more than 0 and at most {MOST_SECONDS}"
            )
        if self.draws is not None:
            return check_draws(self.draws)
        return default_draws(scenario) if len(protocols) > 1 and not self.one_run else None


def run_scenario(
    name: str,
    protocol: str | None,
    seed: int | None,
    out_dir: Path | None,
    wanted: Wanted | None = None,
    *,
    as_json: bool,
    out: TextIO,
) -> int:
    """Run a scenario by name or file and print the comparison; 1 when an invariant is broken.

    ``protocol`` is a name, ``all`` for the three, or None for what the scenario says (all three when it
    says nothing). ``wanted`` says how often the scenario is drawn for its distribution (None: not at all), and which columns there are. With ``out_dir`` the traces (JSONL) and one report (HTML) are written there. Nothing
    is written when the scenario cannot mean anything.
    """
    wanted = wanted or Wanted(one_run=True)
    scenario = scenarios.scenario(name)
    columns = _columns(scenario, protocol, carry=wanted.carry_timeouts)
    names = _file_names(scenario, columns.protocols)
    if out_dir is not None:
        refuse_foreign(out_dir, names)
    count = wanted.count(scenario, columns.protocols)
    traces = columns.traces(scenario, seed)
    comparison = compare(traces)
    broken = {label: [asdict(violation) for violation in check(trace)] for label, trace in traces.items()}
    if not as_json:
        _print(scenario, comparison, columns.notes, broken, out)
    draws = (
        None if count is None else _draw(scenario, columns, count, wanted.seconds, None if as_json else out)
    )
    if out_dir is not None:
        _write(out_dir, names, traces, scenario, columns.notes, draws)
    if as_json:
        print(json.dumps(_as_json(comparison, columns.notes, broken, draws), ensure_ascii=False), file=out)
    elif out_dir is not None:
        print(f"\nwritten to {out_dir}: {', '.join(sorted(names))}", file=out)
    return 1 if any(broken.values()) else 0


@dataclass(frozen=True, slots=True)
class Columns:
    """What stands beside each other: the protocol of each column, and those columns that have a scenario of their own.

    ``notes`` say which keys of the clients a column leaves out, and what a variant's broker was given.
    """

    protocols: Mapping[str, str | None]
    variants: Mapping[str, Scenario]
    notes: tuple[str, ...]

    def traces(self, scenario: Scenario, seed: int | None) -> dict[str, Trace]:
        """One run of each column."""
        return {
            label: replace(simulate(self.variants[label], seed, chosen), label=label)
            if label in self.variants
            else simulate(scenario, seed, chosen)
            for label, chosen in self.protocols.items()
        }


def _columns(scenario: Scenario, protocol: str | None, *, carry: bool) -> Columns:
    """Raises ``ScenarioError`` for an unknown protocol, and where there is nothing to carry."""
    protocols = dict(_protocols(scenario, protocol))
    notes = [f"{label}: {key.words}" for label, name in protocols.items() for key in left_out(scenario, name)]
    if not carry:
        return Columns(protocols, {}, tuple(notes))
    made, label = carry_timeouts(scenario), "consumer with carried timeouts"
    if "consumer" not in protocols.values() or made == scenario:
        raise ScenarioError(
            "--carry-timeouts has nothing to carry; expected a member with session.timeout.ms or heartbeat.interval.ms "
            "that the broker is not given already, and --protocol consumer or all"
        )
    given = (f"{key}={value}" for key, value in made.broker.items() if scenario.broker.get(key) != value)
    notes.append(f"{label}: on a broker with {', '.join(given)}.")
    return Columns({**protocols, label: "consumer"}, {label: made}, tuple(notes))


def _draw(scenario: Scenario, columns: Columns, count: int, seconds: float, out: TextIO | None) -> Draws:
    """Draw with progress on a terminal's stderr; print the table and its sentences to ``out`` at the end."""
    progress = DrawProgress(sys.stderr) if sys.stderr is not None and sys.stderr.isatty() else None
    equal = equal_heartbeats(scenario) if set(THREE_PROTOCOLS) <= set(columns.protocols) else {}
    drawn = {**columns.protocols, **dict.fromkeys(equal, "consumer")}
    variants = {**columns.variants, **equal}
    draws = draw(scenario, drawn, count, seconds=seconds, on_progress=progress, variants=variants)
    if progress is not None:
        progress.clear()
    if out is not None:
        print(f"\n{draws_head(scenario, draws)}\n\n{draws_table(draws)}\n", file=out)
        for sentence in draws_sentences(draws):
            print(sentence, file=out)
        if equal:
            print(
                f"{', '.join(equal)}: KIP-848 with heartbeats as often as classic members send them.",
                file=out,
            )
            for line in _beside_recordings(draws, recorded_gaps(scenario.name), next(iter(equal))):
                print(line, file=out)
    return draws


def equal_heartbeats(scenario: Scenario) -> Mapping[str, Scenario]:
    """KIP-848 with the heartbeats of a classic group, by its label, where heartbeats decide the gaps and are left at defaults.

    They do where nothing fails: what must move waits for its owner's next heartbeat.
    """
    fails = any(action.do in UNPLANNED for action in scenario.actions)
    keys = {*scenario.broker, *(key for spec in scenario.members for key in spec.configs)}
    if fails or keys & {*HEARTBEAT_KEYS, "heartbeat.interval.ms"}:
        return {}
    broker = {**scenario.broker, **dict.fromkeys(HEARTBEAT_KEYS, CLASSIC_HEARTBEAT_MS)}
    return {f"consumer at {CLASSIC_HEARTBEAT_MS // 1000} s": replace(scenario, broker=broker)}


def _beside_recordings(draws: Draws, gaps: Mapping[str, Sequence[float]], at_3_s: str) -> list[str]:
    """The longest gap drawn and recorded, as a picture and in a sentence; nothing without recordings."""
    told = [
        f"{protocol} {min(found):.2f} to {max(found):.2f} s ({len(found)} runs)"
        for protocol, found in gaps.items()
        if found
    ]
    if not told:
        return []
    marks = {at_3_s if protocol == "consumer" else protocol: found for protocol, found in gaps.items()}
    return [
        "",
        *strips(draws, attrgetter("longest_gap_s"), "longest gap of a partition, s", marks),
        "",
        f"Recorded on real clusters, heartbeats of 3 s: longest gap of a partition {', '.join(told)}.",
    ]


def recorded_gaps(name: str) -> Mapping[str, Sequence[float]]:
    """The longest gap of a partition in each recorded run of a scenario of this name, by protocol; seconds."""
    from rebalance_kit.recordings import folder as recorded_runs
    from rebalance_kit.recordings.folder import read_run
    from rebalance_kit.recordings.trace import recorded_trace

    gaps: dict[str, list[float]] = {protocol: [] for protocol in THREE_PROTOCOLS}
    if not recorded_runs.RECORDED.is_dir():
        return gaps
    wanted = [
        run for run in recorded_runs.run_names() if run.split(".")[0] == name and run.split(".")[1] in gaps
    ]
    with scratch_for("recorded") as folder:
        for path in recorded_runs.unpack(folder, wanted) if wanted else ():
            gaps[path.name.split(".")[1]].append(metrics(recorded_trace(read_run(path))).longest_gap_s)
    return gaps


def _protocols(scenario: Scenario, protocol: str | None) -> list[tuple[str, str | None]]:
    if protocol == "all" or (protocol is None and not scenario.chooses_protocol()):
        return [(name, name) for name in THREE_PROTOCOLS]
    if protocol is None:
        return [(scenario.protocol or "as written", None)]
    if protocol not in PROTOCOLS:
        raise ScenarioError(
            f"--protocol {protocol!r} is unknown; expected all or one of {', '.join(PROTOCOLS)}"
        )
    return [(protocol, protocol)]


def _file_names(scenario: Scenario, protocols: Mapping[str, str | None]) -> tuple[str, ...]:
    """What ``run --out`` writes: a trace for each protocol, and the page."""
    traces = (f"{scenario.name}.{label.replace(' ', '-')}.jsonl" for label in protocols)
    return (*traces, f"{scenario.name}.html")


def _write(
    folder: Path,
    names: Sequence[str],
    traces: Mapping[str, Trace],
    scenario: Scenario,
    notes: Sequence[str],
    draws: Draws | None,
) -> None:
    """Write the whole set beside its place, then rename file by file: an interrupt leaves the former set."""
    from rebalance_kit.view.lab.run_report import Drawn, write_report

    with draft_folder(folder) as draft:
        for name, trace in zip(names, traces.values(), strict=False):
            write_atomically(draft / name, (line + "\n" for line in trace.jsonl()))
        drawn = Drawn(notes, "" if draws is None else draws_head(scenario, draws), draws)
        write_report(draft / names[-1], list(traces.values()), drawn=drawn)
        note_written(folder, names, draft)
        for name in names:
            os.replace(draft / name, folder / name)


def _as_json(
    comparison: Comparison,
    notes: Sequence[str],
    broken: Mapping[str, list[dict[str, object]]],
    draws: Draws | None,
) -> dict[str, object]:
    return {
        "draws": None if draws is None else draws_as_json(draws),
        "scenario": comparison.scenario,
        "metrics": {
            label: {**asdict(metrics), "requests_total": metrics.requests_total}
            for label, metrics in comparison.metrics.items()
        },
        "notes": list(notes),
        "sentences": list(sentences(comparison)),
        "violations": broken,
    }


def _print(
    scenario: Scenario,
    comparison: Comparison,
    notes: Sequence[str],
    broken: Mapping[str, list[dict[str, object]]],
    out: TextIO,
) -> None:
    since = min(metrics.since_ms for metrics in comparison.metrics.values()) / 1000
    print(f"{scenario.title or scenario.name}\n", file=out)
    if scenario.story:
        print(f"{scenario.story.strip()}\n", file=out)
    print(f"One run, from second {since:.1f} on:\n", file=out)
    print(table(comparison), file=out)
    print(file=out)
    for note in notes:
        print(note, file=out)
    for sentence in sentences(comparison):
        print(sentence, file=out)
    for label, violations in broken.items():
        for violation in violations:
            print(
                f"BROKEN under {label}: {violation['invariant']} at {violation['at_ms']} ms: {violation['seen']}",
                file=out,
            )
