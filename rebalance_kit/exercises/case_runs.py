"""The runs that exercises read: simulated by the engine or recorded from real clusters, as folders of logs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rebalance_kit import scenarios
from rebalance_kit.logs.lines import EPOCH
from rebalance_kit.logs.write import write_logs
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import draft_folder
from rebalance_kit.model.trace import Trace
from rebalance_kit.recordings.runs import pack
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.simulation.scenario.yaml_file import read_scenario
from rebalance_kit.simulation.simulate import simulate

BEGIN_MS = int(EPOCH.timestamp() * 1000)
"""When a simulated run begins, in ms since 1970, as its logs have it."""


@dataclass(frozen=True, slots=True)
class CaseRun:
    """One folder of logs, called ``name``: of a scenario (``source``, its name or YAML text), or of a recorded run.

    ``record`` is the recorded run's name in the pack; it may tell what was done to the cluster, ``name`` need not.
    """

    name: str
    source: str | None = None
    protocol: str | None = None
    seed: int | None = None
    record: str = ""

    @property
    def recorded(self) -> bool:
        """Whether it comes from a real cluster."""
        return self.source is None


def simulated(name: str, source: str, protocol: str | None = None, seed: int | None = None) -> CaseRun:
    """A run of the engine, under a name that tells a learner nothing it should find out."""
    return CaseRun(name, source, protocol, seed)


def recorded(*names: str) -> tuple[CaseRun, ...]:
    """Runs recorded from real clusters, by their names in the pack."""
    return tuple(CaseRun(name, record=name) for name in names)


def recorded_nights(*names: str) -> tuple[CaseRun, ...]:
    """Recorded runs under names that do not tell what was done: night-1, night-2, ..."""
    return tuple(CaseRun(f"night-{number}", record=name) for number, name in enumerate(names, start=1))


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

    A run is made beside and renamed: its folder is whole or not there, what a killed process left is removed, and of
    two processes that place one run at once the first does.
    """
    with draft_folder(folder) as draft:
        missing = [run for run in runs if not (folder / run.name).exists()]
        for run in missing:
            if not run.recorded:
                write_logs(trace_of(run), draft / run.name)
        _place_records([run for run in missing if run.recorded], draft)
        for run in missing:
            with suppress(OSError):  # another process was first
                (draft / run.name).rename(folder / run.name)
            if not (folder / run.name).is_dir():
                raise DataError(f"{folder / run.name}: cannot be written; expected a folder that can be")


def _place_records(runs: Sequence[CaseRun], folder: Path) -> None:
    """Unpack the logs of recorded runs, and nothing else: neither what was done nor what the watcher saw."""
    if not runs:
        return
    packed = folder / "packed"
    pack.unpack(packed, {run.record for run in runs})
    for run in runs:
        (folder / run.name).mkdir()
        for file in sorted((packed / run.record).glob("*.log*")):
            shutil.copyfile(file, folder / run.name / file.name)
    shutil.rmtree(packed)


def table_row(run: CaseRun) -> Mapping[str, Any]:
    """Counts of the record's own table for a recorded run with one group."""
    return next(row for row in pack.table() if row["run"] == run.record)


@lru_cache(maxsize=64)
def steps_of(run: CaseRun) -> tuple[Mapping[str, Any], ...]:
    """Actions of a recorded run, step by step (``run.json``)."""
    return tuple(json.loads(pack.read_file(run.record, "run.json"))["steps"])


@lru_cache(maxsize=64)
def facts_of(run: CaseRun) -> tuple[Mapping[str, Any], ...]:
    """Events of a recorded run, as its members and its watcher wrote them (``truth.jsonl``)."""
    lines = pack.read_file(run.record, "truth.jsonl").decode("utf-8").splitlines()
    return tuple(json.loads(line) for line in lines)
