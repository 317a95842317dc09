"""The runs that exercises read: simulated by the engine or recorded from real clusters, as folders of logs."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rebalance_kit import scenarios
from rebalance_kit.logs.lines import EPOCH
from rebalance_kit.logs.write import write_logs
from rebalance_kit.model.trace import Trace
from rebalance_kit.recordings.runs import pack
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.simulation.scenario.yaml_file import read_scenario
from rebalance_kit.simulation.simulate import simulate

_DRAFT = ".draft-"
BEGIN_MS = int(EPOCH.timestamp() * 1000)
"""When a simulated run begins, in ms since 1970, as its logs have it."""


@dataclass(frozen=True, slots=True)
class CaseRun:
    """One folder of logs, called ``name``; ``source`` is a scenario (name or YAML text), or None for a recorded run."""

    name: str
    source: str | None = None
    protocol: str | None = None
    seed: int | None = None

    @property
    def recorded(self) -> bool:
        """Whether it comes from a real cluster."""
        return self.source is None


def simulated(name: str, source: str, protocol: str | None = None, seed: int | None = None) -> CaseRun:
    """A run of the engine, under a name that tells a learner nothing it should find out."""
    return CaseRun(name, source, protocol, seed)


def recorded(*names: str) -> tuple[CaseRun, ...]:
    """Runs recorded from real clusters, by their names in the pack."""
    return tuple(CaseRun(name) for name in names)


@lru_cache(maxsize=64)
def trace_of(run: CaseRun) -> Trace:
    """The trace of a simulated run."""
    return simulate(scenario_of(run), run.seed, run.protocol)


def scenario_of(run: CaseRun) -> Scenario:
    """The scenario of a simulated run."""
    source = run.source or ""
    return read_scenario(source, run.name + ".yaml") if "\n" in source else scenarios.load(source)


def place_logs(runs: tuple[CaseRun, ...], folder: Path) -> None:
    """Write the logs of the runs into ``folder/<name>``, where they are not there yet.

    A run is made beside and renamed: its folder is whole or not there, and what a killed process left is removed.
    """
    missing = [run for run in runs if not (folder / run.name).exists()]
    for leftover in folder.glob(f"{_DRAFT}*"):
        shutil.rmtree(leftover, ignore_errors=True)
    if not missing:
        return
    folder.mkdir(parents=True, exist_ok=True)
    draft = Path(tempfile.mkdtemp(prefix=_DRAFT, dir=folder))
    try:
        for run in missing:
            if not run.recorded:
                write_logs(trace_of(run), draft / run.name)
        if any(run.recorded for run in missing):
            pack.unpack(draft, [run.name for run in missing if run.recorded])
        for run in missing:
            (draft / run.name).rename(folder / run.name)
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def table_row(run: CaseRun) -> Mapping[str, Any]:
    """Counts of the record's own table for a recorded run with one group."""
    return next(row for row in pack.table() if row["run"] == run.name)


@lru_cache(maxsize=64)
def steps_of(run: CaseRun) -> tuple[Mapping[str, Any], ...]:
    """Actions of a recorded run, step by step (``run.json``)."""
    return tuple(json.loads(pack.read_file(run.name, "run.json"))["steps"])


@lru_cache(maxsize=64)
def facts_of(run: CaseRun) -> tuple[Mapping[str, Any], ...]:
    """Events of a recorded run, as its members and its watcher wrote them (``truth.jsonl``)."""
    lines = pack.read_file(run.name, "truth.jsonl").decode("utf-8").splitlines()
    return tuple(json.loads(line) for line in lines)
