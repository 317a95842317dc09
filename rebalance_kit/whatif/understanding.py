"""How well a night is understood: the draws of its scenario, what each cost, and the comparison with the logs.

How well a night is understood: its scenario is drawn and compared with the logs, before any counterfactual is answered.

Draws of a reconstructed night: the same seeds, moments and phases for every variant, so that differences are paired.

What one draw of a night cost, from its first deed to its end.
"""

from __future__ import annotations

import os
import random
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

from rebalance_kit.analysis.draws import Distribution
from rebalance_kit.model.collector import without_collector
from rebalance_kit.model.config import BrokerConfig
from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.scenario.expansion import drawn
from rebalance_kit.simulation.scenario.scenario import PROTOCOLS, Configs, Scenario, with_protocol
from rebalance_kit.simulation.scenario.yaml_file import read_scenario, write_scenario
from rebalance_kit.simulation.simulate import simulate_to_measure
from rebalance_kit.whatif.coordinator import gaps_in
from rebalance_kit.whatif.lives import Night

PHASE_MS = 3_000
"""What was done to the group moves by up to this much, together: where it falls between two heartbeats is luck."""
_GOLDEN = (5**0.5 - 1) / 2
START_WITHIN_MS = 1_000
"""The first processes start up to this much later."""


def placed(scenario: Scenario, seed: int) -> Scenario:
    """One draw of the night: every window drawn, and all that was done to the group later by one offset.

    The offsets of successive seeds lie evenly over ``PHASE_MS`` (multiples of the golden ratio), so that few draws have the median of many.
    """
    fixed = drawn(scenario, seed)
    offset = _offset(seed)
    since = first_deed(scenario)
    actions = tuple(
        replace(action, at_ms=action.at_ms + offset) if action.at_ms >= since else action
        for action in fixed.actions
    )
    chance = random.Random(f"{seed}/starts")
    members = tuple(
        spec
        if spec.start_ms is None
        else replace(spec, start_ms=spec.start_ms + chance.randrange(START_WITHIN_MS))
        for spec in fixed.members
    )
    return replace(fixed, members=members, actions=actions, end_ms=fixed.end_ms + offset)


def _offset(seed: int) -> int:
    return int(seed * _GOLDEN % 1 * PHASE_MS)


def first_deed(scenario: Scenario) -> int:
    """The moment from which the night counts: the first thing that is done to the group."""
    return min((action.at_ms - action.within_ms for action in scenario.actions), default=0)


def under(scenario: Scenario, protocol: str) -> Scenario:
    """The night under another protocol, with the same detection of dead members where the switch is back to the classic one.

    A KIP-848 client has no session of its own; a classic one is given the session and the heartbeat that the broker had.
    """
    switched = with_protocol(scenario, protocol)
    if PROTOCOLS[protocol]["group.protocol"] == "consumer":
        return switched
    broker = BrokerConfig.of(scenario.broker, scenario.kafka_version)
    clocks = {
        "session.timeout.ms": broker.consumer_session_timeout_ms,
        "heartbeat.interval.ms": broker.consumer_heartbeat_interval_ms,
    }

    def given(before: Configs, after: Configs) -> Configs:
        return {**after, **clocks} if str(before.get("group.protocol", "classic")) == "consumer" else after

    members = tuple(
        replace(after, configs=given(before.configs, after.configs))
        for before, after in zip(scenario.members, switched.members, strict=True)
    )
    actions = tuple(
        replace(after, args={**after.args, "configs": given(before.args["configs"], after.args["configs"])})
        if "configs" in before.args
        else after
        for before, after in zip(scenario.actions, switched.actions, strict=True)
    )
    return replace(switched, members=members, actions=actions)


_HOW = {"leave": "left", "admin": "left"}


@dataclass(frozen=True, slots=True)
class Cost:
    """One draw: partitions unread at all, unread partition-seconds, the longest gap (s), rebalances, records delivered again."""

    partitions_unread: int
    unread_partition_s: float
    longest_gap_s: float
    rebalances: int
    delivered_again: int
    removals: tuple[tuple[str, str], ...] = ()
    #: When each session ended and each rebalance began, in seconds of the night (without the draw's offset).
    expired_s: tuple[float, ...] = ()
    began_s: tuple[float, ...] = ()

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> Cost:
        """One from its fields as JSON gives them."""
        lists = {key: tuple(map(float, told[key])) for key in ("expired_s", "began_s")}
        return cls(**{**told, **lists, "removals": tuple((who, how) for who, how in told["removals"])})


class Measure(NamedTuple):
    """A row of the tables: its words, its value, how many digits are shown."""

    words: str
    of: Callable[[Cost], float]
    digits: int


MEASURES = (
    Measure("unread partition-seconds", lambda cost: cost.unread_partition_s, 1),
    Measure("longest gap, s", lambda cost: cost.longest_gap_s, 1),
    Measure("partitions unread", lambda cost: cost.partitions_unread, 0),
    Measure("rebalances", lambda cost: cost.rebalances, 0),
    Measure("records delivered again", lambda cost: cost.delivered_again, 0),
)


Drawn = Scenario | Sequence[Scenario]
"""A night as one scenario, or as several between which its draws go round: clocks of which no line tells."""


def likeliest(drawn: Drawn) -> Scenario:
    """The scenario that stands for a night, the first one."""
    return drawn if isinstance(drawn, Scenario) else drawn[0]


def each_changed(drawn: Drawn, change: Callable[[Scenario], Scenario]) -> Drawn:
    """A change to a night, whichever scenario it is."""
    return change(drawn) if isinstance(drawn, Scenario) else tuple(change(one) for one in drawn)


def of_draw(drawn: Drawn, seed: int) -> Scenario:
    """The scenario of one draw."""
    return drawn if isinstance(drawn, Scenario) else drawn[(seed - 1) % len(drawn)]


def cost_of(drawn: Drawn, seed: int) -> Cost:
    """Draw a night once and measure it."""
    moved = placed(of_draw(drawn, seed), seed)
    return cost_in(simulate_to_measure(moved, seed), first_deed(moved), moved.end_ms, _offset(seed))


Workers = Executor | None
"""Processes that draw, or None where this process does."""
_CHUNK, _WORTH = 10, 50
"""Draws that a worker is given at once, and how many make it worth while to start workers."""


def workers(draws: int) -> AbstractContextManager[Workers]:
    """A process for each core, where there are several and many draws are asked for."""
    cores = os.cpu_count() or 1
    if cores < 2 or draws < _WORTH:
        return nullcontext()
    from concurrent.futures import ProcessPoolExecutor  # a browser has no processes

    return ProcessPoolExecutor(cores)


def costs_of(scenario: Drawn, draws: int, pool: Workers = None, done: int = 0) -> Iterator[Cost]:
    """Draw a night with the seeds after ``done``: the same costs in the same order with workers and without."""
    if pool is None:
        yield from (cost_of(scenario, seed) for seed in range(done + 1, draws + 1))
        return
    texts = yaml_of(scenario)
    chunk = max(1, min(_CHUNK, (draws - done) // 2))
    chunks = [range(first, min(first + chunk, draws + 1)) for first in range(done + 1, draws + 1, chunk)]
    given = deque(pool.submit(draw_chunk, texts, seeds) for seeds in chunks)
    try:
        while given:
            yield from given.popleft().result()
    finally:
        for one in given:
            one.cancel()


def yaml_of(drawn: Drawn) -> list[str]:
    """The scenarios of a night as text, in which they travel: their mappings are read-only and cannot be pickled."""
    return [write_scenario(one) for one in ([drawn] if isinstance(drawn, Scenario) else drawn)]


def draw_chunk(texts: Sequence[str], seeds: range) -> list[Cost]:
    """In a worker: draw a night, whose scenarios come as text, with these seeds."""
    each = [_read(text) for text in texts]
    with without_collector():
        return [cost_of(each, seed) for seed in seeds]


@lru_cache(maxsize=32)
def _read(text: str) -> Scenario:
    return read_scenario(text)


def cost_in(trace: Trace, since_ms: int, until_ms: int, offset_ms: int = 0) -> Cost:
    """Measure a run in a window; ``offset_ms`` is by how much its deeds were moved."""
    lengths = gaps_in(trace, since_ms, until_ms)
    began = [row.at_ms for row in trace.of("group_state") if row.detail["to"] == "PreparingRebalance"]
    began = sorted(
        at_ms for at_ms in (*began, *(row.at_ms for row in trace.of("epoch_bump"))) if at_ms >= since_ms
    )
    again = sum(int(row.detail["count"]) for row in trace.of("redelivered") if row.at_ms >= since_ms)
    removed = [
        (str(row.detail["name"]), _HOW.get(str(row.detail["how"]), "failed"), row.at_ms)
        for row in trace.of("member_removed")
        if since_ms <= row.at_ms < until_ms and not row.detail.get("pending")
    ]
    return Cost(
        len(lengths),
        sum(map(sum, lengths.values())) / 1000,
        max(map(max, lengths.values()), default=0) / 1000,
        len(began),
        again,
        tuple(sorted((name, how) for name, how, _ in removed)),
        tuple((at_ms - offset_ms) / 1000 for _, how, at_ms in removed if how == "failed"),
        tuple((at_ms - offset_ms) / 1000 for at_ms in began),
    )


DRAWS, FIRST_DRAWS = 200, 10
"""All of them, and how many a first answer has."""
NEAR = 0.2
"""The median of a measure is near what the logs say within a fifth, one of a duration within a second too."""
MOMENT_S = 3.0
"""Moments agree that are not further apart: a heartbeat."""
BOUND = 0.75
"""Below this share of compared measures no counterfactual is answered; rebalances have to be among those that agree."""


@dataclass(frozen=True, slots=True)
class Compared:
    """One measure of the back-test: what the logs say, the median and middle half of the draws, whether they agree (None: not compared).

    Without those that are ``needed`` there is no counterfactual.
    """

    words: str
    logs: str
    drawn: str
    agrees: bool | None
    needed: bool = False


@dataclass(frozen=True, slots=True)
class Understanding:
    """The back-test of a night."""

    compared: tuple[Compared, ...]
    costs: tuple[Cost, ...]
    seconds: float
    missing: tuple[str, ...]
    unknown: str = ""
    #: Whether the draws go round clocks that no line names.
    open: bool = False

    @property
    def share(self) -> float:
        """The share of measures that agree."""
        said = [one.agrees for one in self.compared if one.agrees is not None]
        return sum(said) / max(1, len(said))

    @property
    def enough(self) -> bool:
        """Whether counterfactuals are answered."""
        needed = all(one.agrees is not False for one in self.compared if one.needed)
        return bool(self.compared) and needed and self.share >= BOUND and not self.unknown

    @property
    def sentence(self) -> str:
        """How well the night is understood, and what that allows."""
        counted = [one for one in self.compared if one.agrees is not None]
        agree, count = sum(one.agrees is True for one in counted), len(counted)
        odd = ", ".join(one.words for one in counted if not one.agrees)
        if not count or self.unknown:
            wanted = "; ".join(self.missing) or "a line that says what happened to the group"
            why = (
                f"these lines do not tell {self.unknown}"
                if self.unknown
                else "nothing could be drawn from it"
            )
            return f"The night is not understood: {why}. Missing: {wanted}."
        said = (
            f"{agree} of {count} measures of the logs are repeated by {len(self.costs)} draws of the scenario"
        )
        said += f" (not: {odd})." if odd else "."
        if self.enough:
            return f"The night is understood{', but for a clock that no line names' if self.open else ''}: {said}"
        wanted = (
            "; ".join(self.missing)
            or "nothing is known to be missing: compare the scenario's deeds with what you know, correct it, and run it"
        )
        return f"The night is not understood well enough for a counterfactual: {said} Missing: {wanted}."


def back_test(
    night: Night,
    scenario: Drawn,
    draws: int = DRAWS,
    *,
    seconds: float = 30.0,
    pool: Workers = None,
    known: Sequence[Cost] = (),
    on_draw: Callable[[int], object] = lambda _: None,
) -> Understanding:
    """Draw the reconstructed night up to ``draws`` times (at least twice; no draw begins after ``seconds``) and compare.

    ``known`` are the costs of its first draws, where these have been made.
    """
    begun = time.monotonic()
    costs = list(known)
    for cost in costs_of(scenario, draws, pool, len(costs)):
        costs.append(cost)
        on_draw(len(costs))
        if len(costs) >= 2 and time.monotonic() - begun > seconds:
            break
    return understood(night, costs, time.monotonic() - begun)


def understood(night: Night, costs: Sequence[Cost], seconds: float = 0.0) -> Understanding:
    """Compare these draws with the logs."""
    return Understanding(
        tuple(_compared(night, costs)),
        tuple(costs),
        seconds,
        tuple(night.missing),
        night.unknown,
        bool(night.also),
    )


def _compared(night: Night, costs: Sequence[Cost]) -> list[Compared]:
    seen = night.observed
    # A round in which nobody stays is told by the coordinator alone.
    rounds = _number(
        "rebalances",
        seen.rounds,
        [cost.rebalances for cost in costs],
        0,
        0.0 if night.removals_known else 1.0,
    )
    found = [replace(rounds, needed=True)]
    if night.removals_known:
        equal = sum(cost.removals == seen.removals for cost in costs) / len(costs)
        told = ", ".join(f"{who} {how}" for who, how in seen.removals) or "nobody"
        found.append(Compared("who left, who was expelled", told, f"the same in {equal:.0%}", equal >= 0.5))
        found += _moments("sessions ended, s", seen.expiries_s, [cost.expired_s for cost in costs])
    found += _moments("rebalances began, s", seen.began_s, [cost.began_s for cost in costs])
    if night.gaps_known:
        each = [seen, *(other.observed for other in night.also)]
        for words, of, digits in (
            ("partitions unread", "partitions_unread", 0),
            ("longest gap, s", "longest_gap_s", 1),
            ("unread partition-seconds", "unread_partition_s", 1),
        ):
            logs = sorted(float(getattr(one, of)) for one in each)
            row = _number(words, logs[0], [getattr(cost, of) for cost in costs], digits, min(1.0, digits))
            if logs[-1] > logs[0]:
                row = replace(row, logs=f"{logs[0]:.{digits}f} to {logs[-1]:.{digits}f}", agrees=None)
            found.append(row)
    return found


def _moments(words: str, logs: Sequence[float], drawn: Sequence[Sequence[float]]) -> Iterator[Compared]:
    """When something happened in the logs and in the draws that have as many of it; the one that is furthest off decides."""
    alike = [each for each in drawn if len(each) == len(logs)]
    if not logs or not alike:
        return
    rows = []
    for place, at_s in enumerate(logs):
        each = Distribution(tuple(sorted(one[place] for one in alike)))
        off_s = max(0.0, each.quantile(0.05) - at_s, at_s - each.quantile(0.95))
        rows.append((min(off_s, abs(each.median - at_s)), at_s, each))
    off_s, at_s, each = max(rows, key=lambda row: row[0])
    yield Compared(words, f"{at_s:.1f}", shown(each, 1), off_s <= MOMENT_S, needed=True)


def _number(words: str, logs: float, drawn: Sequence[float], digits: int, near_by: float) -> Compared:
    each = Distribution(tuple(sorted(drawn)))
    near = abs(each.median - logs) <= max(near_by, NEAR * logs)
    within = each.quantile(0.05) <= logs <= each.quantile(0.95)
    return Compared(words, f"{logs:.{digits}f}", shown(each, digits), near or within)


def shown(each: Distribution, digits: int) -> str:
    """Median and middle half, or one number where they agree.

    >>> shown(Distribution((1.0, 2.0, 3.0)), 1)
    '2.0 (1.5–2.5)'
    """
    low, high = each.middle_half
    middle, *ends = (f"{value:.{digits}f}" for value in (each.median, low, high))
    return middle if ends == [middle, middle] else f"{middle} ({ends[0]}–{ends[1]})"
