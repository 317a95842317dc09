"""``rebalance-kit calibrate``: fit the engine's latencies to recorded runs, and say how far its gaps are off before and after.

A gap is how long nobody reads a partition that changes hands, or comes back to its owner, from one thing done to the group to the
next. What a record tells of a latency itself is taken from it: an assigned callback to the first record, a built consumer to its
first request, how late heartbeats are. The fitted spreads are the 5th percentile, the quartiles and the 95th percentile of what was seen. The engine repeats
each run with the run's own first requests and phases, with its own latencies and with the fitted ones.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from statistics import median, quantiles
from typing import TextIO

from rebalance_kit.analysis.deliveries import gaps
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.trace import Trace
from rebalance_kit.recordings.arrivals import arrivals
from rebalance_kit.recordings.folder import Line, RecordedRun, read_run
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
BEAT_MS = 100
"""So long after a deed the last records were read that its partitions' gap still begins with it."""
_BEGUN = {
    "classic": re.compile("Successfully joined group with generation"),
    "consumer": re.compile("transitioned from ACKNOWLEDGING to STABLE"),
}
_HEARD = {
    "classic": re.compile("due to: group is already rebalancing"),
    "consumer": re.compile("transitioned from STABLE to RECONCILING"),
}
"""Where a member begins to count heartbeat intervals, and where the answer to a heartbeat tells it something."""
_STEPS = (
    (re.compile("due to: group is already rebalancing"), re.compile(r"\(Re-\)joining group"), ("rejoin", "commit")),
    (re.compile(r"\(Re-\)joining group"), re.compile("due to: need to re-join with the given member-id"), ("first_request",)),
    (re.compile("Finished assignment for group at"), re.compile("Successfully synced group"), ("log_append",)),
    (re.compile("transitioned from JOINING to RECONCILING"), re.compile("Reconciling assignment with"), ("reconcile_joining",)),
)  # fmt: skip
"""From one line of a member's log to the next of another: what takes so long, in equal shares."""


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
    seen = [list(observations(run)) for run in runs]
    observed = _by_name(chain.from_iterable(seen))
    spreads = _spreads(observed)
    if not spreads:
        raise DataError(
            f"the records hold fewer than {LEAST_SEEN} observations of any latency; expected runs with Java members that were given partitions"
        )
    compared: list[ComparedGap] = []
    for place, run in enumerate(runs):
        others = chain.from_iterable(seen[:place] + seen[place + 1 :]) if len(runs) > 1 else iter(seen[0])
        compared += _gaps(run, _spreads(_by_name(others)), draws)
    return Calibration(spreads, {name: len(values) for name, values in observed.items()}, tuple(compared))


def _by_name(pairs: Iterable[tuple[str, float]]) -> dict[str, list[float]]:
    observed: dict[str, list[float]] = defaultdict(list)
    for name, value_ms in pairs:
        observed[name].append(value_ms)
    return observed


def _spreads(observed: Mapping[str, list[float]]) -> dict[str, Spread]:
    return {name: _spread(values) for name, values in observed.items() if len(values) >= LEAST_SEEN}


def observations(run: RecordedRun) -> Iterator[tuple[str, float]]:
    """What the record tells of single latencies: the name of the engine's latency, and milliseconds."""
    native = {str(step["member"]) for step in run.steps if step.get("client", "java") != "java"}
    protocol = _protocols(run)
    since_ms = _together(run)
    waiting: dict[str, tuple[int, set[str]]] = {}
    assigned: set[str] = set()
    for row in run.truth:
        name, at_ms = str(row["by"]), int(row["t"])
        if name in native or at_ms >= run.stop:
            continue
        if row["kind"] == "assigned" and row["partitions"]:
            waiting[name] = (at_ms, set(row["partitions"]))
        elif row["kind"] in {"revoked", "lost", "start"}:
            waiting.pop(name, None)
            if row["kind"] == "start":
                assigned.discard(name)
        elif row["kind"] == "records" and name in waiting:
            since, wanted = waiting[name]
            if wanted & set(row["records"]):
                if since >= since_ms:
                    yield f"{'later' if name in assigned else 'first'}_record_{protocol[name]}", at_ms - since
                waiting.pop(name)
                assigned.add(name)
    yield from _starts(run, native, protocol)
    yield from _late(run, native, protocol)
    for name, lines in run.members.items():
        if name not in native:
            for begins, ends, names in _STEPS:
                yield from _between(lines, begins, ends, names)


def _between(
    lines: Iterable[Line], begins: re.Pattern[str], ends: re.Pattern[str], names: tuple[str, ...]
) -> Iterator[tuple[str, float]]:
    since = None
    for line in lines:
        if begins.search(line.text):
            since = line.t
        elif since is not None and ends.search(line.text):
            yield from ((name, (line.t - since) / len(names)) for name in names)
            since = None


def _late(run: RecordedRun, native: set[str], protocol: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    """How late a heartbeat is against its interval: over all that a member sent until one's answer told it something."""
    for name, lines in run.members.items():
        if name in native or name not in protocol:
            continue
        kind = "consumer" if protocol[name] == "consumer" else "classic"
        latency = "background_late" if kind == "consumer" else "heartbeat_late"
        interval_ms = _interval_ms(run, name, kind)
        since = None
        for line in lines:
            if _BEGUN[kind].search(line.text):
                since = line.t
            elif since is not None and _HEARD[kind].search(line.text):
                beats, since = round((line.t - since) / interval_ms), line.t - since
                if beats:
                    yield latency, max(0.0, since / beats - interval_ms)
                since = None


def _interval_ms(run: RecordedRun, name: str, kind: str) -> int:
    """The heartbeat interval of a member: its own, or the broker's under KIP-848."""
    if kind == "consumer":
        return int(run.broker_configs.get("group.consumer.heartbeat.interval.ms", 5_000))
    steps = (step for step in run.steps if step["do"] == "start" and step["member"] == name)
    return int(next(steps)["configs"].get("heartbeat.interval.ms", 3_000))


def _starts(run: RecordedRun, native: set[str], protocol: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    """From a consumer that is built to its first request at the broker; of a life whose log names its id."""
    first = arrivals(run).first
    lives = {spec.name: iter(spec.lives) for spec in repeat(run).scenario.members}
    for row in run.truth:
        name = str(row["by"])
        if row["kind"] != "start" or name not in lives:
            continue
        life = next(lives[name], None)
        at_ms = None if life is None or life.member_id is None else first.get(life.member_id)
        if at_ms is not None:
            kind = "consumer" if protocol[name] == "consumer" else "classic"
            yield f"start_{'librdkafka' if name in native else kind}", at_ms - int(row["t"])


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
    scenario = _foretold(repeat(run).scenario, _first(run))
    fitted: Latencies = replace(scenario.latencies, **dict(spreads))  # type: ignore[arg-type]
    recorded = recorded_trace(run)
    sides = [
        [simulate(one, seed) for seed in range(1, draws + 1)]
        for one in (scenario, replace(scenario, latencies=fitted))
    ]
    ends = [one.at_ms for one in scenario.actions if one.do in {"crash", "close"}]
    for event, since_ms, until_ms in windows(scenario, _first(run)):
        theirs = _unread(recorded, since_ms, until_ms, ends)
        given = _given(run, since_ms, until_ms)
        drawn = [[_unread(trace, since_ms, until_ms) for trace in side] for side in sides]
        for partition, length_ms in theirs.items():
            if length_ms >= SHORTEST_MS and partition in given:
                before, after = (median(one.get(partition, 0) for one in side) for side in drawn)
                yield ComparedGap(
                    run.name, run.protocol, event, since_ms, partition, length_ms, before, after
                )  # fmt: skip


def _together(run: RecordedRun) -> int:
    """When the first thing was done to the group; before that a new group looks up where its topics begin, which takes longer."""
    done = [int(step["t"]) for step in run.steps if step["do"] != "admin"][_first(run) :]
    return min(done, default=run.begin)


def _first(run: RecordedRun) -> int:
    """How many processes were told to start as the group's beginning."""
    told = [int(step["t"]) for step in run.steps if step["do"] == "start"]
    return sum(at_ms <= told[0] + TOGETHER_MS for at_ms in told)


def _foretold(scenario: Scenario, first: int) -> Scenario:
    """The repetition without acknowledgements and news from the first deed on, which would tell how long its gaps are."""
    first_ms = min((since_ms for _, since_ms, _ in windows(scenario, first)), default=scenario.end_ms)
    members = tuple(
        replace(
            spec,
            lives=tuple(
                replace(
                    life,
                    acks_ms=tuple(at_ms for at_ms in life.acks_ms if at_ms < first_ms),
                    news_ms=tuple(at_ms for at_ms in life.news_ms if at_ms < first_ms),
                )
                for life in spec.lives
            ),
        )
        for spec in scenario.members
    )
    return replace(scenario, members=members)


def _given(run: RecordedRun, since_ms: int, until_ms: int) -> set[str]:
    """The partitions that a callback assigned in the window: the others stood still because the machine did."""
    return {
        str(partition)
        for row in run.truth
        if row["kind"] == "assigned" and since_ms <= int(row["t"]) - run.begin < until_ms
        for partition in row["partitions"]
    }


def _unread(trace: Trace, since_ms: int, until_ms: int, ends: Sequence[int] = ()) -> dict[str, int]:
    """How long each partition was unread; of a record, a gap that begins with a member's end begins with that deed, not with the beat after it."""
    found: dict[str, int] = defaultdict(int)
    for gap in gaps(trace, since_ms):
        length_ms = gap.within(since_ms, until_ms)
        if length_ms > 0:
            found[str(gap.partition)] += length_ms + max(
                (gap.from_ms - at_ms for at_ms in ends if 0 < gap.from_ms - at_ms <= BEAT_MS), default=0
            )
    return found


def windows(scenario: Scenario, first: int = 1) -> Iterator[tuple[str, int, int]]:
    """What was done to the group that had come together, from each deed to the next; those of a rolling restart go by its name.

    ``first`` processes, at least, were started as the group's beginning, however long each took.
    """
    starts = sorted(action.at_ms for action in scenario.actions if action.do == "start")
    together = max([at_ms + TOGETHER_MS for at_ms in starts[:1]] + starts[:first], default=0)
    deeds = [one for one in scenario.actions if one.do in DONE and together < one.at_ms < scenario.end_ms]
    if not deeds:
        return
    rolling = "rolling" in scenario.name
    for one, until_ms in zip(deeds, [*(one.at_ms for one in deeds[1:]), scenario.end_ms], strict=True):
        yield ROLLING if rolling else DONE[one.do], one.at_ms, until_ms


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
