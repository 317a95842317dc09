"""``rebalance-kit beside``: the measures of recorded runs beside the engine's draws, and an issue of what lies outside."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from rebalance_kit.model.errors import DataError
from rebalance_kit.recordings.folder import RecordedRun, read_run
from rebalance_kit.recordings.replay import Cell, percentiles


def run_beside(folders: Sequence[str], draws: int, *, colour: bool, out: TextIO) -> int:
    """Print each record's measures beside the engine's draws; 1 when one lies outside, with what an issue should hold."""
    if draws < 2:
        raise DataError(f"--draws is {draws}; expected at least 2")
    outside, count = [], 0
    for folder in folders:
        run = read_run(folder)
        print(f"{run.name}: recorded, and {draws} draws of the engine", file=out)
        print(f"  {'':34} {'recorded':>9} {'5 %':>9} {'median':>9} {'95 %':>9} {'percentile':>10}", file=out)
        for cell in percentiles(run, draws):
            count += 1
            low, middle, high = (cell.drawn.quantile(share) for share in (0.05, 0.5, 0.95))
            line = f"  {cell.measure:34} {cell.recorded:9.2f} {low:9.2f} {middle:9.2f} {high:9.2f} {cell.percentile:10.0f}"
            if cell.outside:
                outside.append((run, cell))
                line = f"\x1b[31m{line}  outside\x1b[0m" if colour else f"{line}  outside"
            print(line, file=out)
    print(f"{count - len(outside)} of {count} measures lie from the 1st to the 99th percentile", file=out)
    for run, cell in outside:
        print(f"\n{_issue(run, cell)}", file=out)
    return 1 if outside else 0


def _issue(run: RecordedRun, cell: Cell) -> str:
    """What a reader of an issue needs: the run, the measure, both sides, and how to see it again."""
    low, high = (cell.drawn.quantile(share) for share in (0.01, 0.99))
    return (
        f"### {run.scenario}, {run.protocol}, Kafka {run.kafka}: {cell.measure} outside the engine's draws\n"
        f"- recorded: {cell.recorded:g}; {len(cell.drawn.values)} draws: {low:g} to {high:g} (1st to 99th percentile)\n"
        f"- again: rebalance-kit beside {run.name} --draws {len(cell.drawn.values)}\n"
        f"- the record's folder attached: run.json, truth.jsonl.gz, broker.log.gz and the members' logs\n"
        "- how busy the machine was while it was recorded:"
    )
