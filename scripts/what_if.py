#!/usr/bin/env python
"""Write docs/what-if.md: from the logs of each recorded run alone, what the same scenario costs under another protocol.

A scenario that was recorded under several protocols with one version of Kafka gives every pair of them: the logs of the one are
read (nothing else: not what was done, not when callbacks began), its night is drawn under the protocol of the other, and the
median is held beside what was recorded there.

    python scripts/what_if.py [DRAWS]
"""

from __future__ import annotations

import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations
from pathlib import Path
from statistics import median

import yaml

from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.model.files import write_atomically
from rebalance_kit.recordings.compare import of_record, of_trace
from rebalance_kit.recordings.folder import MORE, SETTINGS, RecordedRun, read_run, unpack
from rebalance_kit.recordings.repeat import repeat
from rebalance_kit.recordings.replay import Seen, window
from rebalance_kit.recordings.trace import recorded_trace
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.whatif.alternatives import alternatives, is_consumer, with_configs
from rebalance_kit.whatif.coordinator import LEAST_MS, POLL_MS, gaps_in
from rebalance_kit.whatif.read import nights
from rebalance_kit.whatif.scenario import scenario_of
from rebalance_kit.whatif.understanding import first_deed, placed, under

HERE = Path(__file__).resolve().parent
TARGET = HERE.parent / "docs" / "what-if.md"
EXPLANATIONS = HERE / "what_if.yaml"
DRAWS = 60
PROTOCOLS = ("eager", "cooperative", "consumer", "consumer-range", "sticky", "roundrobin")
WITHIN, WITHIN_S = 0.2, 1.0
RECORD_MS = 100
"""A recorded flow goes on for so long after its last record, because the next one would have come then."""
_LOG_END = re.compile(r"Follower (\S+-\d+) starts at leader epoch \d+ from offset (\d+)")
HEAD = """# What a night would have cost under another protocol: predictions held beside recordings

Written by `make what-if` (do not edit; explanations are kept in `scripts/what_if.yaml`). A scenario that was recorded under several
protocols with one version of Kafka gives every pair of them. The logs of one run are read as `rebalance-kit what-if` reads
anybody's, without any file that says what was done, and without times of callbacks that no log line has. The night is drawn {draws} times under the protocol
of the other run, whose recording the prediction is then held beside: the most frequent number of partitions unread and of generations or
epochs, the median of the longest gap. *Near* is within {near} or {seconds:g} s. Counting begins with the first thing done to the group and ends at the shutdown; a gap
shorter than {least} ms is none, and what one poll() reads ({poll} ms) ends none, on both sides alike. A switch back from KIP-848 gives the
clients the session and the heartbeat that their broker had. A partition into which the producer of the recording wrote nothing more (the broker says at its
shutdown where each log ends) counts on neither side, nor does a topic after its deletion. librdkafka hands records over in bunches, so only the rounds of its runs are compared.
"""


SETTINGS_HEAD = """## Other settings

The same deeds were recorded anew under other settings, once each (`data/recorded/settings`): one of three members is killed at 22 s and started again at 52 s, a fourth
joins at 66 s, one is closed at 80 s, and one is closed at 110 s and started again four seconds later. *base* has a session of 10 s and a heartbeat of 3 s (KIP-848's are the broker's); the others change
one thing. From the logs of *base* alone the night is drawn {draws} times with that thing changed. The last column holds the 1st to the 99th percentile of the longest gap: how old the last heartbeat of a process is when it dies is
chance, up to a heartbeat interval, and so is when the others hear of it, so that one recording is one draw.
"""
SETTINGS_MS: Mapping[str, Mapping[str, int]] = {
    "base": {},
    "session6": {"session.timeout.ms": 6_000},
    "session20": {"session.timeout.ms": 20_000},
    "heartbeat1": {"heartbeat.interval.ms": 1_000},
    "static": {},
}


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one run from the first deed to the shutdown: partitions unread, longest gap (s), generations or epochs."""

    unread: float
    gap_s: float
    rounds: float


@dataclass(frozen=True, slots=True)
class Left:
    """Where a recording says nothing: topics by the time of their deletion, partitions into which the producer wrote no more."""

    deleted: Mapping[str, int]
    silent: frozenset[str]


@dataclass(frozen=True, slots=True)
class Row:
    """One prediction: which run's logs, which protocol, what was recorded there and what was drawn."""

    scenario: str
    version: str
    source: str
    target: str
    records: bool
    recorded: Figures
    drawn: tuple[Figures, ...] = ()
    why: str = ""

    @property
    def said(self) -> Figures:
        """The prediction: the most frequent number, and the median gap."""
        counts = [Counter(getattr(one, name) for one in self.drawn) for name in ("unread", "rounds")]
        unread, rounds = (min(each, key=lambda value: (-each[value], value)) for each in counts)
        return Figures(unread, median(one.gap_s for one in self.drawn), rounds)

    @property
    def holds(self) -> tuple[bool, bool, bool]:
        """Partitions unread exact, longest gap within a fifth or a second, rounds exact."""
        if not self.drawn:
            return False, False, False
        said, real = self.said, self.recorded
        near = abs(said.gap_s - real.gap_s) <= max(WITHIN_S, WITHIN * real.gap_s)
        return said.unread == real.unread, near, said.rounds == real.rounds


def _figures(seen: Seen, left: Left, poll_ms: int = POLL_MS) -> Figures:
    lengths = gaps_in(seen.trace, seen.since_ms, seen.until_ms, poll_ms)
    for topic, at_ms in left.deleted.items():
        before = gaps_in(seen.trace, seen.since_ms, min(at_ms, seen.until_ms), poll_ms)
        of_it = {name for name in lengths if name.rpartition("-")[0] == topic}
        lengths = {name: each for name, each in lengths.items() if name not in of_it}
        lengths |= {name: before[name] for name in of_it if name in before}
    each = [length for name, lengths in lengths.items() if name not in left.silent for length in lengths]
    unread = len(lengths.keys() - left.silent)
    return Figures(unread, max(each, default=0) / 1000, len(seen.rounds))


@lru_cache
def _recorded(folder: Path) -> tuple[Figures, bool, frozenset[str]]:
    """What was recorded, whether by the Java client alone, and the partitions that neither side counts."""
    run = read_run(folder)
    native = any(step.get("client", "java") != "java" for step in run.steps)
    seen = Seen(of_record(run), recorded_trace(run), *window(repeat(run).scenario))
    left = _left(run, seen.until_ms)
    return _figures(seen, left, POLL_MS + RECORD_MS), not native, left.silent


def _left(run: RecordedRun, until_ms: int) -> Left:
    """Partitions in which nothing was left to read: at its shutdown the broker says where each log ends."""
    read: dict[str, tuple[int, int]] = {}
    for row in run.truth:
        for partition, (_, last) in (row["records"] if row["kind"] == "records" else {}).items():
            if last > read.get(partition, (-1, 0))[0]:
                read[partition] = int(last), int(row["t"]) - run.begin
    ends = {found[1]: int(found[2]) for line in run.broker if (found := _LOG_END.search(line.text))}
    silent = {
        name
        for name, (last, at_ms) in read.items()
        if name in ends and last + 1 >= ends[name] and at_ms < until_ms - 1_000
    }
    words = ((int(step["t"]) - run.begin, str(step.get("line", "")).split()) for step in run.steps)
    return Left({said[1]: at_ms for at_ms, said in words if said[:1] == ["delete-topic"]}, frozenset(silent))


@lru_cache
def _night(source: Path) -> Scenario:
    return scenario_of(nights(sorted(source.glob("*.log.gz")))[0])


def _predicted(source: Path, protocol: str, draws: int, silent: frozenset[str]) -> tuple[Figures, ...]:
    return _drawn(under(_night(source), protocol), draws, silent)


def _set(scenario: Scenario, name: str) -> Scenario:
    """The night under one of the recorded settings."""
    if name == "static":
        return next(one for one in alternatives(scenario) if one.name == "static members").change(scenario)
    if not is_consumer(scenario):
        return with_configs(scenario, SETTINGS_MS[name])
    given = {f"group.consumer.{key}": value for key, value in SETTINGS_MS[name].items()}
    return replace(scenario, broker={**scenario.broker, **given})


def _set_row(asked: tuple[str, str, str, int]) -> Row:
    source, target, name, draws = Path(asked[0]), Path(asked[1]), asked[2], asked[3]
    recorded, records, silent = _recorded(target)
    drawn = _drawn(_set(_night(source), name), draws, silent)
    _, protocol, version = source.name.split(".", 2)
    return Row(name, version, protocol, name, records, recorded, drawn)


def settings(draws: int) -> Iterator[str]:
    """The recordings under other settings beside what the logs of the base let expect."""
    with tempfile.TemporaryDirectory() as place, ProcessPoolExecutor(2) as pool:
        folders = {folder.name: folder for folder in unpack(Path(place), folder=SETTINGS)}
        asked = [
            (
                str(folders[f"settings-base.{protocol}.4.3.1"]),
                str(folders[f"settings-{name}.{protocol}.4.3.1"]),
                name,
                draws,
            )
            for protocol in ("eager", "cooperative", "consumer")
            for name in SETTINGS_MS
        ]
        found = list(pool.map(_set_row, asked))
    yield SETTINGS_HEAD.format(draws=draws)
    changed = [one for one in found if one.target != "base"]
    yield "| measure | predictions | hold |\n|---|---|---|"
    for words, share, count in _shares(changed):
        yield f"| {words} | {count} | {share:.0%} |"
    yield "\n| protocol | setting | unread: recorded, predicted | longest gap, s: recorded, predicted | rounds: recorded, predicted | holds | gaps drawn, s |"
    yield "|---|---|---|---|---|---|---|"
    for one in found:
        cells = _line(one).split("|")[4:8]
        gaps = sorted(each.gap_s for each in one.drawn)
        least, most = gaps[len(gaps) // 100], gaps[-1 - len(gaps) // 100]
        yield f"| {one.source} | {one.target} |{'|'.join(cells)}| {least:.1f} to {most:.1f} |"


def _drawn(scenario: Scenario, draws: int, silent: frozenset[str]) -> tuple[Figures, ...]:
    found = []
    for seed in range(1, draws + 1):
        moved = placed(scenario, seed)
        trace = simulate(moved, seed)
        seen = Seen(of_trace(trace), trace, first_deed(moved), moved.end_ms)
        found.append(_figures(seen, Left({}, silent)))
    return tuple(found)


def _row(asked: tuple[str, str, int]) -> Row:
    source, target, draws = Path(asked[0]), Path(asked[1]), asked[2]
    scenario, protocol, version = source.name.split(".", 2)
    wanted = target.name.split(".", 2)[1]
    recorded, records, silent = _recorded(target)
    try:
        drawn, why = _predicted(source, wanted, draws, silent), ""
    except RebalanceKitError as error:
        drawn, why = (), str(error)
    return Row(scenario, version, protocol, wanted, records, recorded, drawn, why)


def rows(folders: Sequence[Path], draws: int) -> list[Row]:
    """Every pair of protocols in which a scenario was recorded with one version."""
    groups: dict[tuple[str, str], list[Path]] = defaultdict(list)
    for folder in folders:
        name, protocol, version = folder.name.split(".", 2)
        if protocol in PROTOCOLS:
            groups[name, version].append(folder)
    asked = [
        (str(source), str(target), draws)
        for _, each in sorted(groups.items())
        for source, target in permutations(sorted(each), 2)
    ]
    with ProcessPoolExecutor(2) as pool:
        return list(pool.map(_row, asked))


def main(draws: int = DRAWS) -> int:
    """Write the page; 0 whatever it says, as it is a report."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        found = rows([*unpack(Path(place)), *unpack(Path(place), folder=MORE)], draws)
    explained: dict[str, str] = yaml.safe_load(EXPLANATIONS.read_text("utf-8")) or {}
    write_atomically(TARGET, "\n".join(_page(found, explained, draws)) + "\n")
    print(f"{TARGET.name} written ({time.monotonic() - begun:.0f} s)")
    return 0


def _page(found: Sequence[Row], explained: Mapping[str, str], draws: int) -> Iterator[str]:
    yield HEAD.format(draws=draws, near=f"{WITHIN:.0%}", seconds=WITHIN_S, least=LEAST_MS, poll=POLL_MS)
    yield "| measure | predictions | hold |"
    yield "|---|---|---|"
    for words, share, count in _shares(found):
        yield f"| {words} | {count} | {share:.0%} |"
    yield "\n## By direction\n"
    yield "| from the logs of | to | predictions | unread exact | gap near | rounds exact |"
    yield "|---|---|---|---|---|---|"
    directions: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for one in found:
        directions[one.source, one.target].append(one)
    for (source, target), each in sorted(directions.items()):
        held = [f"{share:.0%}" if count else "–" for _, share, count in _shares(each)]
        yield f"| {source} | {target} | {len(each)} | {' | '.join(held)} |"
    yield "\n## Run by run\n"
    yield "| scenario | logs of | predicted for | unread: recorded, predicted | longest gap, s: recorded, predicted | rounds: recorded, predicted | holds |"
    yield "|---|---|---|---|---|---|---|"
    for one in found:
        yield _line(one)
    yield "\n## Where it does not hold, and why\n"
    names = {one.scenario for one in found if not all(one.holds)}
    for name, text in explained.items():
        if name in names:
            yield f"**{name}.** {text.strip()}\n"
    yield f"## Three incidents from public threads\n\n{explained['incidents']}"
    yield from settings(draws)


def _line(one: Row) -> str:
    head = f"| {one.scenario} {one.version} | {one.source} | {one.target}"
    if not one.drawn:
        return f"{head} | – | – | – | {one.why} |"
    said, real = one.said, one.recorded
    names = ("unread", "gap", "rounds") if one.records else ("", "", "rounds")
    held = [name for name, holds in zip(names, one.holds, strict=True) if holds and name]
    gaps = (
        (f"{real.unread:g}, {said.unread:g}", f"{real.gap_s:.1f}, {said.gap_s:.1f}")
        if one.records
        else ("–", "–")
    )
    return (
        f"{head} | {gaps[0]} | {gaps[1]} | {real.rounds:g}, {said.rounds:g} | {', '.join(held) or 'none'} |"
    )


def _shares(found: Sequence[Row]) -> Iterator[tuple[str, float, int]]:
    for place, words in enumerate(
        ("partitions unread exact", "longest gap within 20 % or 1 s", "generations or epochs exact")
    ):
        counted = [one.holds[place] for one in found if one.records or place == 2]
        yield words, sum(counted) / max(1, len(counted)), len(counted)


if __name__ == "__main__":
    sys.exit(main(*(int(text) for text in sys.argv[1:2])))
