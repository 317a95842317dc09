#!/usr/bin/env python
"""Write docs/fidelity.md: every recorded run of the repository repeated in the engine, and where they part.

The runs come from the packs in data/recorded and data/recorded/more. What explains a remaining difference is kept by hand in
scripts/fidelity.yaml, by run; a difference without an explanation is written down as such, an explanation
without a difference is reported and left out.

    python scripts/fidelity.py [DRAWS]
"""

from __future__ import annotations

import ast
import json
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields
from pathlib import Path
from statistics import median, quantiles

import yaml

from rebalance_kit.model.files import write_atomically
from rebalance_kit.recordings.folder import MORE, read_run, unpack
from rebalance_kit.recordings.replay import (
    MEASURES,
    RULES,
    SHIFT_MS,
    START_WITHIN_MS,
    Cell,
    Outcome,
    percentiles,
    replay_all,
)
from rebalance_kit.simulation import kernel

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "docs" / "fidelity.md"
EXPLANATIONS = HERE / "fidelity.yaml"
FEW_RECORDS = 50
DRAWN = 200
"""Draws per recorded run of the table of percentiles."""
IN_SEVERAL_PROTOCOLS = (
    *("crash", "crash-2x4", "join", "leave", "freeze", "poll-timeout", "slow-callback"),
    *("rolling-mixed", "static-restart", "rd-crash", "rd-leave", "rd-poll-timeout"),
)
"""Recorded scenarios that exist in several protocols and are told apart by them alone."""
OUTSIDE = "outside"
AGAIN = "delivered again"
HEAD = """# What the engine reproduces of real Kafka

Written by `make fidelity` (do not edit; explanations are kept in `scripts/fidelity.yaml`). Each run recorded from a real
broker (`data/recorded` and `data/recorded/more`, see their READMEs) is repeated in the engine {draws} times with different seeded latencies, and compared
in (a) generations, or group epochs and target assignments; (b) callbacks with their sets; (c) who was fenced, failed, left or
was replaced; (d) the lines of the broker's log and of every Java member's, ids, times and offsets masked.

{rules}

(d) holds when one of the draws with (a) to (c) equal has every compared line as well, file by file: the same masked lines equally
often, and none out of order unless within 0.3 s of each other on both sides. Where partitions begin (committed offset found or not) has no
order, since it follows hash maps; a rebalance caused by several leaving within 0.3 s may name any of them; a client that finds its
coordinator in both of its threads says it once; a commit that is refused and sent again counts once. A run of librdkafka members is compared in its broker's lines only.
Timing is |simulated - recorded| of each matched event in the nearest draw; *bias* is the median of simulated - recorded. It is
reported, not asserted: a machine's latencies are facts of that machine.
"""

PLACED = """The repetitions above take facts from each record. Here nothing is taken but the scenario: its members, configurations, and what was
done to the group. Each run is drawn {draws} times, with processes that start up to {start:g} s later, everything done to the group moved by one offset
of up to {shift:g} s (so that the phases of heartbeats, polls and auto-commits are drawn), and drawn latencies and ids. A cell says: recorded value (5th to
95th percentile of the draws): percentile of the recorded value, draws equal to it counted by half; *all* means that every draw has the recorded value.
Counted is from the first thing done to the group up to the recorder's own shutdown. *Moved* are partitions that another member reads at the end.
Scenarios that were recorded in several protocols, each run with its own configuration and version; a rolling restart was recorded in the mixed
form alone (two static and two dynamic members). librdkafka hands records over in bunches of up to 1 s, so its runs show no gaps.
"""


def main(draws: int = 40) -> int:
    """Replay everything and write the page; 0 whatever the outcome, as it is a report."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        folders = [str(folder) for folder in (*unpack(Path(place)), *unpack(Path(place), folder=MORE))]
        kinds = {Path(folder).name: _kind(Path(folder)) for folder in folders}
        outcomes = list(replay_all(folders, draws))
        asked = [
            folder for folder in sorted(folders) if Path(folder).name.split(".")[0] in IN_SEVERAL_PROTOCOLS
        ]
        with ProcessPoolExecutor() as pool:
            drawn = dict(zip(asked, pool.map(_drawn, asked), strict=True))
    took = time.monotonic() - begun
    explained: Mapping[str, str] = yaml.safe_load(EXPLANATIONS.read_text("utf-8")) or {}
    known = {one.run for one in outcomes if _differs(one)}
    for run in sorted(set(explained) - known - {AGAIN, OUTSIDE}):
        print(f"{EXPLANATIONS.name}: {run} is explained but does not differ any more", file=sys.stderr)
    placed = {Path(folder).name: cells for folder, cells in drawn.items()}
    text = "\n".join((*_page(outcomes, kinds, explained, draws), *_placed(placed, explained))) + "\n"
    write_atomically(TARGET, text)
    print(f"{TARGET.name} written: {_said(outcomes)} ({took:.0f} s on {os.cpu_count()} cores)")
    return 0


def _drawn(folder: str) -> tuple[Cell, ...]:
    return percentiles(read_run(folder), DRAWN)


def _kind(folder: Path) -> tuple[str, str]:
    """Protocol (with the client where it is not Java) and Kafka version of a run."""
    head = json.loads((folder / "run.json").read_text("utf-8"))
    native = any(step.get("client", "java") != "java" for step in head["steps"] if step["do"] == "start")
    return f"{head['protocol']}, librdkafka" if native else head["protocol"], head["kafka"]


def _alike(outcome: Outcome) -> bool:
    return outcome.equal and outcome.lines is not None and outcome.lines.equal


def _differs(outcome: Outcome) -> bool:
    return not _alike(outcome)


def _said(outcomes: Sequence[Outcome]) -> str:
    equal, alike = sum(one.equal for one in outcomes), sum(map(_alike, outcomes))
    return f"(a) to (c) equal in {equal} of {len(outcomes)} runs, (d) in {alike}"


def _page(
    outcomes: Sequence[Outcome],
    kinds: Mapping[str, tuple[str, str]],
    explained: Mapping[str, str],
    draws: int,
) -> Iterator[str]:
    yield HEAD.format(draws=draws, rules=RULES.format(draws=draws))
    lines = sum(one.lines.lines for one in outcomes if one.lines)
    odd = sum(one.lines.differing for one in outcomes if one.lines)
    yield f"**Result.** {_said(outcomes)}; of {lines:,} log lines compared, {odd:,} have no counterpart or stand elsewhere.\n"
    yield "## By protocol and version\n"
    yield from _table(_summary(outcomes, kinds))
    yield "\n## Run by run\n"
    yield from _table(_run_by_run(outcomes))
    yield "\n## What remains, and why\n"
    yield from _remaining(outcomes, explained)
    yield "\n## Records delivered again\n"
    yield _again(
        outcomes, explained.get(AGAIN, "Why that commit lies elsewhere in these runs is not settled.")
    )
    yield "\n## Default latencies\n"
    yield (
        "What takes time without a setting of Kafka deciding it, in milliseconds: the engine's defaults, used by every repetition above. "
        "n counts observations in recorded runs (about 75: single broker, Java clients of 3.9.1, 4.0.0 and 4.3.1; not all of them are "
        "in the pack). A row without n states no count. Where the bias above is far from 0, the defaults are off for that kind of run.\n"
    )
    yield from _table(_latencies())


def _summary(outcomes: Sequence[Outcome], kinds: Mapping[str, tuple[str, str]]) -> Iterator[Sequence[str]]:
    yield (
        "protocol",
        "Kafka",
        "runs",
        "(a)-(c) equal",
        "(d) equal",
        "median ms",
        "p95 ms",
        "bias ms",
        "delivered again: recorded",
        "simulated",
    )
    groups: dict[tuple[str, str], list[Outcome]] = defaultdict(list)
    for one in outcomes:
        groups[kinds[one.run]].append(one)
    for (protocol, version), held in sorted(groups.items()):
        yield (protocol, version, *_counted(held))
    yield ("all", "", *_counted(outcomes))


def _counted(held: Sequence[Outcome]) -> tuple[str, ...]:
    return (
        str(len(held)),
        _share(sum(one.equal for one in held), len(held)),
        _share(sum(map(_alike, held)), len(held)),
        *_timing(held),
        str(sum(one.recorded_again for one in held)),
        str(sum(one.simulated_again for one in held)),
    )


def _share(count: int, whole: int) -> str:
    return f"{count} ({100 * count / whole:.0f} %)"


def _timing(held: Iterable[Outcome]) -> tuple[str, str, str]:
    deltas = [delta for one in held if one.comparison for delta in one.comparison.deltas_ms]
    if len(deltas) < 2:
        return ("-", "-", "-")
    sizes = [abs(delta) for delta in deltas]
    return f"{median(sizes):.0f}", f"{quantiles(sizes, n=20)[-1]:.0f}", f"{median(deltas):+.0f}"


def _run_by_run(outcomes: Sequence[Outcome]) -> Iterator[Sequence[str]]:
    yield (
        "run",
        "(a) rounds",
        "(b) callbacks",
        "(c) removals",
        "draws equal",
        "(d) log lines",
        "median ms",
        "p95 ms",
        "delivered again: recorded",
        "simulated",
    )
    for one in outcomes:
        held = one.comparison
        sides = (
            ("-",) * 3
            if held is None
            else tuple(map(_mark, (held.generations, held.callbacks, held.fencing)))
        )
        yield (
            one.run,
            *sides,
            f"{one.draws_equal} of {one.draws}",
            _lines(one),
            *_timing([one])[:2],
            str(one.recorded_again),
            str(one.simulated_again),
        )


def _mark(difference: object) -> str:
    return "equal" if difference is None else "differs"


def _lines(one: Outcome) -> str:
    if one.lines is None:
        return "no logs"
    return (
        f"equal ({one.lines.lines})" if _alike(one) else f"{one.lines.differing} of {one.lines.lines} differ"
    )


def _remaining(outcomes: Sequence[Outcome], explained: Mapping[str, str]) -> Iterator[str]:
    odd = [one for one in outcomes if _differs(one)]
    if not odd:
        yield "Nothing."
    for one in odd:
        first = (
            one.comparison.first
            if one.comparison and not one.equal
            else (one.lines.first if one.lines else None)
        )
        yield f"### {one.run}\n"
        yield f"{explained.get(one.run, 'Not explained yet.').strip()}\n"
        if one.error is not None:
            yield f"Not read: {one.error}\n"
        if first is not None:
            yield f"First difference: {first.what}, {first.where}.\n\n- recorded: `{_plain(first.recorded)}`\n- simulated: `{_plain(first.simulated)}`\n"


def _again(outcomes: Sequence[Outcome], why: str) -> str:
    """Which runs have counts of another order of size; sums over runs would hide it."""
    pairs = [(one.run, one.recorded_again, one.simulated_again) for one in outcomes]
    odd = [
        f"{run} ({theirs} recorded, {ours} simulated)"
        for run, theirs, ours in pairs
        if abs(theirs - ours) > FEW_RECORDS and max(theirs, ours) > 2 * min(theirs, ours)
    ]
    if not odd:
        return f"Within a factor of two, or {FEW_RECORDS} records, in every run."
    return (
        f"Within a factor of two, or {FEW_RECORDS} records, in {len(pairs) - len(odd)} of {len(pairs)} runs. Not so in {'; '.join(odd)}. What is "
        f"delivered again after a crash is what the dead member read since its last commit. {why.strip()}"
    )


def _placed(placed: Mapping[str, Sequence[Cell]], explained: Mapping[str, str]) -> Iterator[str]:
    """The table of percentiles: every recorded value in the distribution of draws without pins."""
    cells = [cell for row in placed.values() for cell in row]
    odd, varying = [cell for cell in cells if cell.outside], [cell for cell in cells if cell.varies]
    yield "\n## Recorded values in the engine's distribution\n"
    yield PLACED.format(draws=DRAWN, start=START_WITHIN_MS / 1000, shift=SHIFT_MS / 1000)
    yield (
        f"**{len(odd)} of {len(cells)} cells ({100 * len(odd) / len(cells):.1f} %) lie outside the 1st to 99th percentile**; of the "
        f"{len(varying)} cells in which the draws vary, {sum(cell.varies for cell in odd)} do. They are printed bold. "
        f"{explained.get(OUTSIDE, '').strip()}\n"
    )
    yield from _table(_placed_rows(placed))


def _placed_rows(placed: Mapping[str, Sequence[Cell]]) -> Iterator[Sequence[str]]:
    yield ("run", *(measure.words for measure in MEASURES))
    for run, cells in placed.items():
        shown = {cell.measure: _placed_cell(cell) for cell in cells}
        yield (run, *(shown.get(measure.words, "-") for measure in MEASURES))


def _placed_cell(cell: Cell) -> str:
    if not cell.varies and not cell.outside:
        return f"{cell.recorded:g} (all)"
    low, high = (_figure(cell.drawn.quantile(share)) for share in (0.05, 0.95))
    text = f"{_figure(cell.recorded)} ({low} to {high}): {cell.percentile:.0f}"
    return f"**{text}**" if cell.outside else text


def _figure(value: float) -> str:
    return f"{value:.0f}" if value == int(value) or abs(value) >= 100 else f"{value:.2f}"


def _plain(text: str) -> str:
    return text.replace("`", "'").replace("\n", " ")


def _latencies() -> Iterator[Sequence[str]]:
    yield (
        "latency",
        "least",
        "quartile",
        "median",
        "quartile",
        "greatest",
        "what it is, and what it was measured on",
    )
    said = _documented(Path(kernel.__file__))
    for field in fields(kernel.MEASURED):
        value = getattr(kernel.MEASURED, field.name)
        yield (field.name, *map(str, _marks(value)), said.get(field.name, ""))


def _marks(value: object) -> tuple[object, ...]:
    match value:
        case kernel.Spread(least, quarter, median, three_quarters, most):
            return least, quarter, median, three_quarters, most
        case kernel.Uniform(least, most):
            return least, "", "", "", most
        case kernel.Chance(percent):
            return "", "", f"{percent} %", "", ""
    return "", "", value, "", ""


def _documented(source: Path) -> Mapping[str, str]:
    """The docstring below each field of ``Latencies``; a field without one shares the next one's."""
    found: dict[str, str] = {}
    waiting: list[str] = []
    for node in ast.walk(ast.parse(source.read_text("utf-8"))):
        if isinstance(node, ast.ClassDef) and node.name == "Latencies":
            for part in node.body:
                if isinstance(part, ast.AnnAssign) and isinstance(part.target, ast.Name):
                    waiting.append(part.target.id)
                elif isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant):
                    found.update(dict.fromkeys(waiting, str(part.value.value)))
                    waiting = []
    return found


def _table(rows: Iterable[Sequence[str]]) -> Iterator[str]:
    for number, row in enumerate(rows):
        yield f"| {' | '.join(row)} |"
        if number == 0:
            yield "|" + "---|" * len(row)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
