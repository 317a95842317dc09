"""Recorded runs, hand-written cases, random runs, one run in every layout, pieces of logs and damaged lines."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rebalance_kit import scenarios
from rebalance_kit.logs.blocks import PRINTERS
from rebalance_kit.recordings.maker import Recipe, make_logs
from tests.support.pipeline import finding_cases, pieces, round_trip
from tests.support.pipeline.damage import damaged_files


@dataclass
class ManyLogs:
    """Where they are, the traces of the random runs, the lines of the damaged files, and what a look told."""

    paths: list[Path]
    traces: dict[str, Any]
    damaged: dict[str, int]
    result: Any = None
    records: list[Any] = field(default_factory=list)


def write(mktemp, runs_folder):
    """Write them into new folders."""
    places = {name: mktemp(name) for name in ("cases", "random", "layouts", "pieces", "damaged")}
    finding_cases.write(places["cases"])
    traces = round_trip.write_all(places["random"])
    for layout in PRINTERS:
        make_logs(
            scenarios.load("crash"), places["layouts"] / layout, protocol="eager", recipe=Recipe(layout)
        )
    pieces.write(places["pieces"], runs_folder)
    damaged = damaged_files(places["damaged"], 20_000, random.Random(7))
    return ManyLogs([runs_folder, *places.values()], traces, damaged)
