"""``rebalance-kit calibrate``: fit the engine's latencies to recorded runs, and say how far its gaps are off before and after.

A gap is how long nobody reads a partition that changes hands, or comes back to its owner, from one thing done to the group to the
next. What a record tells of a latency itself is taken from it: an assigned callback to the first record, a built consumer to its
first request. The fitted spreads are the 5th percentile, the quartiles and the 95th percentile of what was seen. The engine repeats
each run with the run's own first requests and phases, with its own latencies and with the fitted ones.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median, quantiles
from typing import TextIO

from rebalance_kit.analysis.deliveries import gap_lengths
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.trace import Trace
from rebalance_kit.recordings.arrivals import arrivals
from rebalance_kit.recordings.folder import RecordedRun, read_run
from rebalance_kit.recordings.repeat import repeat
from rebalance_kit.recordings.trace import recorded_trace
from rebalance_kit.simulation.kernel import Latencies, Spread
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.simulation.simulate import simulate

LEAST_SEEN = 8
"""So many observations, at least, decide a spread; with fewer the measured one stays."""
SHORTEST_MS = 500
"""A shorter one is not told from the 100 ms beat of records."""
DONE = {"crash": "crash", "close": "leave", "start": "join"}
TOGETHER_MS = 6_500
"""Processes that start within so long of the first one are the group's beginning."""
ROLLING = "rolling restart"


@dataclass(frozen=True, slots=True)
class ComparedGap:
    """One partition's time unread after one thing done to the group: recorded, and the median of the draws before and after."""

    run: str
    protocol: str
    event: str
    at_ms: int
    partition: str
    recorded_ms: int
    before_ms: float
    after_ms: float


@dataclass(frozen=True, slots=True)
class Calibration:
    """The fitted spreads by the name of the latency, how many observations each had, and the gaps.

    ``nearer`` says whether the gaps come nearer with them: on the machine whose records the engine's own spreads were
    measured on they do not.
    """

    spreads: Mapping[str, Spread]
    seen: Mapping[str, int]
    gaps: tuple[ComparedGap, ...]

    @property
    def nearer(self) -> bool:
        """The median error over all gaps is less after than before."""
        before, after = errors(self.gaps)
        return after < before


def calibrate(runs: Sequence[RecordedRun], draws: int = 10) -> Calibration:
    """Fit and compare; raises ``DataError`` without a run, or when none of them has a Java member's first record."""
    if not runs:
        raise DataError("no recorded run is given; expected one at least")
    observed: dict[str, list[float]] = defaultdict(list)
    for run in runs:
        for name, value_ms in observations(run):
            observed[name].append(value_ms)
    spreads = {name: _spread(values) for name, values in observed.items() if len(values) >= LEAST_SEEN}
    if not spreads:
        raise DataError(
            f"the records hold fewer than {LEAST_SEEN} observations of any latency; expected runs with Java members that were given partitions"
        )
    gaps = [gap for run in runs for gap in _gaps(run, spreads, draws)]
    return Calibration(spreads, {name: len(values) for name, values in observed.items()}, tuple(gaps))


def observations(run: RecordedRun) -> Iterator[tuple[str, float]]:
    """What the record tells of single latencies: the name of the engine's latency, and milliseconds."""
    native = {str(step["member"]) for step in run.steps if step.get("client", "java") != "java"}
    protocol = _protocols(run)
    waiting: dict[str, tuple[int, set[str]]] = {}
    for row in run.truth:
        name, at_ms = str(row["by"]), int(row["t"])
        if name in native or at_ms >= run.stop:
            continue
        if row["kind"] == "assigned" and row["partitions"]:
            waiting[name] = (at_ms, set(row["partitions"]))
        elif row["kind"] in {"revoked", "lost", "start"}:
            waiting.pop(name, None)
        elif row["kind"] == "records" and name in waiting:
            since, wanted = waiting[name]
            if wanted & set(row["records"]):
                yield f"first_record_{protocol[name]}", at_ms - since
                waiting.pop(name)
    yield from _starts(run, native, protocol)


def _starts(run: RecordedRun, native: set[str], protocol: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    """From a consumer that is built to its first request at the broker."""
    first = sorted(arrivals(run).first.items(), key=lambda pair: pair[1])
    for row in run.truth:
        name = str(row["by"])
        if row["kind"] != "start" or name in native:
            continue
        mine = [at_ms for member, at_ms in first if at_ms >= int(row["t"]) and member.startswith(f"{name}-")]
        if mine and protocol[name] != "consumer":
            yield "start_classic", mine[0] - int(row["t"])


def _protocols(run: RecordedRun) -> dict[str, str]:
    """Of each member, how the engine's latencies call its protocol."""
    found = {}
    for step in run.steps:
        if step["do"] == "start":
            configs = step["configs"]
            if str(configs.get("group.protocol", "classic")).lower() == "consumer":
                word = "consumer"
            else:
                given = str(configs.get("partition.assignment.strategy", ""))
                word = "cooperative" if given.rpartition(".")[2].startswith("Cooperative") else "classic"
            found[str(step["member"])] = word
    return found


def _spread(values: Sequence[float]) -> Spread:
    """Least and greatest are the 5th and 95th percentile: one stall of the machine is no latency of Kafka."""
    marks = quantiles(values, n=20, method="inclusive")
    return Spread(*(marks[place] for place in (0, 4, 9, 14, 18)))


def _gaps(run: RecordedRun, spreads: Mapping[str, Spread], draws: int) -> Iterator[ComparedGap]:
    scenario = repeat(run).scenario
    fitted: Latencies = replace(scenario.latencies, **dict(spreads))  # type: ignore[arg-type]
    recorded = recorded_trace(run)
    sides = [
        [simulate(one, seed) for seed in range(1, draws + 1)]
        for one in (scenario, replace(scenario, latencies=fitted))
    ]
    for event, since_ms, until_ms in windows(scenario):
        theirs = _unread(recorded, since_ms, until_ms)
        given = _given(run, since_ms, until_ms)
        drawn = [[_unread(trace, since_ms, until_ms) for trace in side] for side in sides]
        for partition, length_ms in theirs.items():
            if length_ms >= SHORTEST_MS and partition in given:
                before, after = (median(one.get(partition, 0) for one in side) for side in drawn)
                yield ComparedGap(
                    run.name, run.protocol, event, since_ms, partition, length_ms, before, after
                )  # fmt: skip


def _given(run: RecordedRun, since_ms: int, until_ms: int) -> set[str]:
    """The partitions that a callback assigned in the window: the others stood still because the machine did."""
    return {
        str(partition)
        for row in run.truth
        if row["kind"] == "assigned" and since_ms <= int(row["t"]) - run.begin < until_ms
        for partition in row["partitions"]
    }


def _unread(trace: Trace, since_ms: int, until_ms: int) -> dict[str, int]:
    return {str(tp): sum(lengths) for tp, lengths in gap_lengths(trace, since_ms, until_ms).items()}


def windows(scenario: Scenario) -> Iterator[tuple[str, int, int]]:
    """What was done to the group that had come together, from each deed to the next; a rolling restart is one."""
    starts = [action.at_ms for action in scenario.actions if action.do == "start"]
    together = min(starts, default=0) + TOGETHER_MS
    deeds = [one for one in scenario.actions if one.do in DONE and together < one.at_ms < scenario.end_ms]
    if not deeds:
        return
    closed = [one.member for one in deeds if one.do == "close"]
    back = [one.member for one in deeds if one.do == "start"]
    if "rolling" in scenario.name and closed == back:
        yield ROLLING, deeds[0].at_ms, scenario.end_ms
        return
    for one, until_ms in zip(deeds, [*(one.at_ms for one in deeds[1:]), scenario.end_ms], strict=True):
        yield DONE[one.do], one.at_ms, until_ms


def table(gaps: Iterable[ComparedGap]) -> Iterator[str]:
    """By protocol and event: how many gaps, their median, and the median error before and after."""
    held: dict[tuple[str, str], list[ComparedGap]] = defaultdict(list)
    for gap in gaps:
        held[gap.protocol, gap.event].append(gap)
    yield f"{'protocol':14} {'event':16} {'deeds':>5} {'gaps':>6} {'median':>9} {'error before':>12} {'after':>7}"
    for (protocol, event), found in sorted(held.items()):
        deeds = len({(one.run, one.at_ms) for one in found})
        length = median(one.recorded_ms for one in found) / 1000
        before, after = errors(found)
        yield f"{protocol:14} {event:16} {deeds:5} {len(found):6} {length:7.2f} s {before:12.1%} {after:7.1%}"


def errors(gaps: Sequence[ComparedGap]) -> tuple[float, float]:
    """The median of |simulated - recorded| / recorded, before and after; zeros without a gap."""
    if not gaps:
        return 0.0, 0.0
    before = median(abs(one.before_ms - one.recorded_ms) / one.recorded_ms for one in gaps)
    return before, median(abs(one.after_ms - one.recorded_ms) / one.recorded_ms for one in gaps)


def run_calibrate(folders: Sequence[str], draws: int, *, as_json: bool, out: TextIO) -> int:
    """Print the table, and the fitted latencies as a scenario file takes them."""
    if draws < 1:
        raise DataError(f"--draws is {draws}; expected at least 1")
    done = calibrate([read_run(folder) for folder in folders], draws)
    if as_json:
        spreads = {name: list(asdict(spread).values()) for name, spread in done.spreads.items()}
        gaps = [asdict(one) for one in done.gaps]
        print(json.dumps({"latencies": spreads, "seen": done.seen, "gaps": gaps}), file=out)
        return 0
    for line in table(done.gaps):
        print(line, file=out)
    if not done.nearer:
        print("\nThe fitted latencies bring the gaps no nearer: keep the engine's own.", file=out)
    print("\nlatencies:  # for a scenario file; ms: least, quartiles, greatest", file=out)
    for name, spread in sorted(done.spreads.items()):
        values = ", ".join(f"{value:.0f}" for value in asdict(spread).values())
        print(f"  {name}: [{values}]  # {done.seen[name]} observations", file=out)
    return 0
