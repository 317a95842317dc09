"""The runs behind exercises: recorded, simulated, drawn by a seed; and the truth about them.

The runs that exercises read: simulated by the engine or recorded from real clusters, as folders of logs.

Incidents with a hidden truth as runs of an exercise, drawn by a seed (``records.incidents``).

The truth about a simulated run, from its trace: answers are compared with it.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

from rebalance_kit import scenarios
from rebalance_kit.analysis.ownership import last_owners
from rebalance_kit.logs.lines import EPOCH
from rebalance_kit.logs.write import write_logs
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import draft_folder
from rebalance_kit.model.trace import Trace, TraceRow
from rebalance_kit.recordings import folder as recorded_runs
from rebalance_kit.recordings.families import Incident, draw_incident
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.simulation.scenario.yaml_file import read_scenario
from rebalance_kit.simulation.scenario.yaml_writer import write_scenario
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
    recorded_runs.unpack(packed, {run.record for run in runs})
    for run in runs:
        (folder / run.name).mkdir()
        for file in sorted((packed / run.record).glob("*.log*")):
            shutil.copyfile(file, folder / run.name / file.name)
    shutil.rmtree(packed)


def table_row(run: CaseRun) -> Mapping[str, Any]:
    """Counts of the record's own table for a recorded run with one group."""
    return next(row for row in recorded_runs.table() if row["run"] == run.record)


@lru_cache(maxsize=64)
def steps_of(run: CaseRun) -> tuple[Mapping[str, Any], ...]:
    """Actions of a recorded run, step by step (``run.json``)."""
    return tuple(json.loads(recorded_runs.read_file(run.record, "run.json"))["steps"])


@lru_cache(maxsize=64)
def facts_of(run: CaseRun) -> tuple[Mapping[str, Any], ...]:
    """Events of a recorded run, as its members and its watcher wrote them (``truth.jsonl``)."""
    lines = recorded_runs.read_file(run.record, "truth.jsonl").decode("utf-8").splitlines()
    return tuple(json.loads(line) for line in lines)


#: So many draws find a protocol for every family that knows it.
_MOST_DRAWS = 200


def incidents(
    seed: int, families: Sequence[str], protocol: str | Mapping[str, str] | None = None
) -> tuple[CaseRun, ...]:
    """One incident of every family, in an order drawn too, as runs called night-1, night-2, ...; of one protocol, or of one by family, if asked."""
    of = protocol if isinstance(protocol, Mapping) else dict.fromkeys(families, protocol)
    order = list(families)
    random.Random(f"order/{seed}").shuffle(order)
    drawn = [_one(f"{seed}/{number}", family, of.get(family)) for number, family in enumerate(order)]
    runs = tuple(
        CaseRun(f"night-{number}", write_scenario(incident.scenario), None, None)
        for number, incident in enumerate(drawn, start=1)
    )
    _TRUTH.update(zip(runs, drawn, strict=True))
    return runs


def incident_of(run: CaseRun) -> Incident:
    """The truth of a run that ``incidents`` made."""
    return _TRUTH[run]


#: Truth of the runs drawn in this process; it never reaches a file that a learner gets.
_TRUTH: dict[CaseRun, Incident] = {}


@lru_cache(maxsize=256)
def _one(seed: str, family: str, protocol: str | None) -> Incident:
    for attempt in range(_MOST_DRAWS):
        incident = draw_incident(f"{seed}/{attempt}", (family,))
        if protocol in {None, incident.protocol}:
            return incident
    raise DataError(
        f"no incident of the family {family!r} under protocol {protocol!r}; expected one the family knows"
    )


SETTLED_MS = BEGIN_MS + 25_000
"""09:00:25: by then every group of the exercises has settled, and its incident is still to come."""

_JUST_BEFORE_MS = 1_000
"""A member that leaves this soon after its poll timeout leaves because of it."""


@dataclass(frozen=True, slots=True)
class Begin:
    """One rebalance as it begins: when (ms since 1970), the generation or epoch before, why, and whose doing."""

    at_ms: int
    before: int | None
    trigger: str
    culprit: str | None


def wall(at_ms: int) -> int:
    """A moment of a run as ms since 1970."""
    return BEGIN_MS + at_ms


def begins(run: CaseRun) -> tuple[Begin, ...]:
    """Every rebalance of a run: the group entered PreparingRebalance, or bumped its epoch."""
    beginnings = []
    stalls = {(row.actor, row.at_ms) for row in trace_of(run).of("poll_timeout")}
    for row in trace_of(run).of("group_state", "epoch_bump"):
        if row.kind == "group_state" and row.detail["to"] != "PreparingRebalance":
            continue
        trigger, culprit = row.detail["trigger"], row.detail["culprit"]
        if any(name == culprit and 0 <= row.at_ms - at < _JUST_BEFORE_MS for name, at in stalls):
            trigger = "poll_timeout"
        beginnings.append(Begin(wall(row.at_ms), row.generation, trigger, culprit))
    return tuple(beginnings)


def calls(run: CaseRun) -> tuple[TraceRow, ...]:
    """Every rebalance callback, as it begins."""
    return tuple(trace_of(run).of("callback_begin"))


def assigned_at(run: CaseRun, since_ms: int, until_ms: int) -> int | None:
    """When the leader's assignment was stored, first after one moment and before another (ms since 1970)."""
    times = (wall(row.at_ms) for row in trace_of(run).of("assignment"))
    return next((at for at in times if since_ms <= at < until_ms), None)


def owners(run: CaseRun, until_ms: int | None = None) -> dict[str, str]:
    """Who was last given each partition, up to a moment (ms since 1970; None: the end)."""
    at_ms = None if until_ms is None else until_ms - BEGIN_MS
    return {str(tp): member for tp, member in last_owners(trace_of(run), at_ms).items()}


def gaps(run: CaseRun, since_ms: int) -> dict[str, list[int]]:
    """How long each partition went unread (ms), gap by gap: from revoked or lost to the next assigned."""
    last: dict[str, tuple[str, int]] = {}
    spans: dict[str, list[int]] = {}
    for row in calls(run):
        kind = row.detail["callback"]
        for partition in row.detail["partitions"]:
            before = last.get(partition)
            if (
                kind == "assigned"
                and before is not None
                and before[0] != "assigned"
                and wall(before[1]) >= since_ms
            ):
                spans.setdefault(partition, []).append(row.at_ms - before[1])
            last[partition] = (kind, row.at_ms)
    return spans


# What an exercise gives its answer, as a description: paths of logs, rows, batches. Spark makes DataFrames of it behind the wall.


Made: TypeAlias = Mapping[str, Any]
"""One input: ``make`` names the method of ``child.inputs.Inputs`` that makes it, the rest are its arguments, as JSON has them."""


class Given:
    """Inputs of answers, described; logs and batches lie in a folder that the wall lets be read."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def events(self, runs: Sequence[CaseRun]) -> Made:
        """The events of these runs."""
        self._unpack(runs)
        return {"make": "events", "folders": [str(self.logs(run)) for run in runs]}

    def lines(self, runs: Sequence[CaseRun], files: Sequence[str]) -> Made:
        """The lines of some log files of these runs: run, file, line (from 1), text."""
        self._unpack(runs)
        paths = [
            path for run in runs for name in files for path in sorted(self.logs(run).glob(f"{name}.log*"))
        ]
        return {"make": "lines", "files": [str(path) for path in paths], "root": str(self.folder)}

    def table(self, rows: Iterable[Sequence[Any]], schema: str) -> Made:
        """A small table of plain values."""
        return {"make": "table", "rows": [list(row) for row in rows], "schema": schema}

    def stream(self, batches: Sequence[Sequence[Mapping[str, Any]]], schema: str) -> Made:
        """A stream that receives these batches of rows one after another, a file each."""
        texts = ["".join(json.dumps(row) + "\n" for row in batch) for batch in batches]
        source = self.folder / f"stream-{hashlib.sha256(json.dumps(texts).encode()).hexdigest()[:12]}"
        if not source.exists():
            source.mkdir()
            for number, text in enumerate(texts):
                file = source / f"{number:04}.json"
                file.write_text(text, "utf-8")
                # files are taken in the order of their times
                os.utime(file, (1_700_000_000 + number, 1_700_000_000 + number))
        return {"make": "stream", "folder": str(source), "schema": schema}

    def logs(self, run: CaseRun) -> Path:
        """The folder of a run's logs; runs of one name that differ lie apart."""
        place_logs((run,), self._place(run))
        return self._place(run) / run.name

    def _place(self, run: CaseRun) -> Path:
        return self.folder / "logs" / hashlib.sha256(repr(run).encode()).hexdigest()[:12]

    def _unpack(self, runs: Iterable[CaseRun]) -> None:
        """Unpack all recorded runs together: each unpacking goes through the whole pack."""
        wanted = [run for run in dict.fromkeys(runs) if run.recorded and not self._place(run).exists()]
        if len(wanted) > 1:
            at_once = self.folder / "unpacked"
            place_logs(tuple(dict.fromkeys(replace(run, name=run.record) for run in wanted)), at_once)
            for run in wanted:
                shutil.copytree(at_once / run.record, self._place(run) / run.name)
            shutil.rmtree(at_once)
