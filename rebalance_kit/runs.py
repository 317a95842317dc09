"""``rebalance-kit run``: simulate a scenario under one protocol or several, say what it cost, keep the evidence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

from rebalance_kit import scenarios
from rebalance_kit.analysis.comparison import Comparison, compare, sentences, table
from rebalance_kit.analysis.invariants import check
from rebalance_kit.model.errors import EnvironmentProblem, ScenarioError
from rebalance_kit.model.files import write_atomically
from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.scenario.scenario import PROTOCOLS, THREE_PROTOCOLS, Scenario
from rebalance_kit.simulation.simulate import simulate


def run_scenario(
    name: str, protocol: str | None, seed: int | None, out_dir: Path | None, *, as_json: bool, out: TextIO
) -> int:
    """Run a scenario by name or file and print the comparison; 1 when an invariant is broken.

    ``protocol`` is a name, ``all`` for the three, or None for what the scenario says (all three when it
    says nothing). With ``out_dir`` the traces (JSONL) and one report (HTML) are written there. Nothing
    is written when the scenario cannot mean anything.
    """
    scenario = scenarios.scenario(name)
    traces = {label: simulate(scenario, seed, chosen) for label, chosen in _protocols(scenario, protocol)}
    comparison = compare(traces)
    broken = {label: [asdict(one) for one in check(trace)] for label, trace in traces.items()}
    if out_dir is not None:
        _write(out_dir, traces)
    if as_json:
        print(json.dumps(_as_json(comparison, broken), ensure_ascii=False), file=out)
    else:
        _print(scenario, comparison, broken, out)
        if out_dir is not None:
            print(
                f"\nwritten to {out_dir}: {', '.join(sorted(file.name for file in out_dir.iterdir()))}",
                file=out,
            )
    return 1 if any(broken.values()) else 0


def _protocols(scenario: Scenario, protocol: str | None) -> list[tuple[str, str | None]]:
    if protocol == "all" or (protocol is None and scenario.protocol is None and names_no_protocol(scenario)):
        return [(one, one) for one in THREE_PROTOCOLS]
    if protocol is None:
        return [(scenario.protocol or "as written", None)]
    if protocol not in PROTOCOLS:
        raise ScenarioError(
            f"--protocol {protocol!r} is unknown; expected all or one of {', '.join(PROTOCOLS)}"
        )
    return [(protocol, protocol)]


def names_no_protocol(scenario: Scenario) -> bool:
    """No member and no action says which protocol or assignor it wants."""
    keys = {"group.protocol", "partition.assignment.strategy", "group.remote.assignor"}
    named = [spec.configs for spec in scenario.members] + [
        one.args.get("configs", {}) for one in scenario.actions
    ]
    return not any(keys & set(configs) for configs in named)


def _write(folder: Path, traces: Mapping[str, Trace]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for label, trace in traces.items():
        target = folder / f"{trace.meta['scenario']}.{label.replace(' ', '-')}.jsonl"
        write_atomically(target, (line + "\n" for line in trace.jsonl()))
    try:
        from rebalance_kit.view.reports.run_report import write_report
    except ImportError as error:
        raise EnvironmentProblem(
            f"the report needs plotly ({error}); install the lab extra: pip install 'rebalance-kit[lab]'"
        ) from error
    first = next(iter(traces.values()))
    write_report(folder / f"{first.meta['scenario']}.html", list(traces.values()))


def _as_json(comparison: Comparison, broken: Mapping[str, list[dict[str, object]]]) -> dict[str, object]:
    return {
        "scenario": comparison.scenario,
        "metrics": {
            label: {**asdict(one), "requests_total": one.requests_total}
            for label, one in comparison.metrics.items()
        },
        "sentences": list(sentences(comparison)),
        "violations": broken,
    }


def _print(
    scenario: Scenario, comparison: Comparison, broken: Mapping[str, list[dict[str, object]]], out: TextIO
) -> None:
    since = min(one.since_ms for one in comparison.metrics.values()) / 1000
    print(f"{scenario.title or scenario.name}\n", file=out)
    if scenario.story:
        print(f"{scenario.story.strip()}\n", file=out)
    print(f"From second {since:.1f} on:\n", file=out)
    print(table(comparison), file=out)
    print(file=out)
    for sentence in sentences(comparison):
        print(sentence, file=out)
    for label, found in broken.items():
        for one in found:
            print(f"BROKEN under {label}: {one['invariant']} at {one['at_ms']} ms: {one['seen']}", file=out)
