"""Many random scenarios, all of them: how many break an invariant, and which of those breaks are Kafka's own.

    python scripts/random_runs.py 100000 2026      # count and seed; two processes

Starts and actions have windows as wide as their order allows, so every phase is drawn; the protocols and versions of
Kafka are mixed. Unlike ``rebalance-kit search`` it does not stop at the first break. One kind of break is known to be Kafka's own
and is kept as the scenario ``defect-sticky-stale-leader``: a sticky assignor whose leader has metadata older than
what its members own (AbstractStickyAssignor, GeneralAssignmentBuilder.getUnassignedPartitions). A run is counted
there only if the very call that made the broken assignment was handed such a claim.
"""

from __future__ import annotations

import gc
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing import Pool
from time import perf_counter
from typing import Any

from rebalance_kit.analysis.invariants import Violation, check
from rebalance_kit.analysis.scenario_space import MIXED, Space, draw
from rebalance_kit.model.versions import at_least
from rebalance_kit.protocol.messages import JoinMember
from rebalance_kit.simulation.learner_code.own_assignors import LeaderAssignor
from rebalance_kit.simulation.scenario.scenario import PROTOCOLS, Action, MemberSpec, Scenario
from rebalance_kit.simulation.simulate import simulate

SLICE = 500
KNOWN = "a sticky leader with old metadata (defect-sticky-stale-leader)"

VERSIONS = ("2.4", "2.8", "3.1", "3.5", "3.7", "3.9", "4.0", "4.1", "4.2", "4.3", "4.3.1", "4.4", "4.5")
CONSUMER_SINCE = "3.7"
LATEST_START_MS = 3_000
"""A member that starts with the run may start as late as this."""


def scenario_of(seed: int, number: int) -> Scenario:
    """Scenario ``number`` of a seed, of one of the versions in turn, with windows for all its moments."""
    version = VERSIONS[number % len(VERSIONS)]
    known = at_least(CONSUMER_SINCE, version)
    classic = tuple(name for name, keys in PROTOCOLS.items() if keys["group.protocol"] == "classic")
    space = Space(kafka_version=version, protocols=(*PROTOCOLS, MIXED) if known else classic)
    return with_windows(draw(space, seed, number))


def with_windows(scenario: Scenario) -> Scenario:
    """The scenario with a window for every start and action, where its neighbours in time leave room for one.

    No two windows meet, so the actions of every draw come in the same order.
    """
    times = [0, *(action.at_ms for action in scenario.actions), scenario.end_ms]
    actions = tuple(
        replace(action, within_ms=max(0, (min(at - before, after - at) - 1) // 2))
        for before, at, after, action in zip(times, times[1:], times[2:], scenario.actions, strict=False)
    )
    return replace(
        scenario, actions=actions, members=tuple(_drawn_start(spec, actions) for spec in scenario.members)
    )


def _drawn_start(spec: MemberSpec, actions: tuple[Action, ...]) -> MemberSpec:
    if spec.start_ms is None:
        return spec
    first = min(
        (action.at_ms - action.within_ms for action in actions if action.member == spec.name),
        default=LATEST_START_MS,
    )
    middle_ms = min(LATEST_START_MS, first - 1) // 2
    return replace(spec, start_ms=middle_ms, start_within_ms=middle_ms)


def look(job: tuple[int, int, int]) -> tuple[int, int, list[tuple[int, str]]]:
    """Run scenarios ``first`` to ``first + count`` of a seed: actions, rows, and what broke by number."""
    seed, first, count = job
    actions = rows = 0
    broken = []
    gc.disable()
    for number in range(first, first + count):
        scenario = scenario_of(seed, number)
        try:
            trace = simulate(scenario)
        except Exception as error:  # noqa: BLE001 - one that cannot be run must not end the others
            broken.append((number, f"{type(error).__name__}: {error}"))
            continue
        actions, rows = actions + len(scenario.actions), rows + len(trace.rows)
        found = check(trace)
        if found:
            broken.append(
                (
                    number,
                    KNOWN
                    if _is_known(scenario, found)
                    else f"{found[0].invariant}: {found[0].seen} (at {found[0].at_ms} ms)",
                )
            )
    gc.collect()
    return actions, rows, broken


def _is_known(scenario: Scenario, found: tuple[Violation, ...]) -> bool:
    with _stale_calls() as stale:
        simulate(scenario)
    return bool(stale) and all(one.invariant in ("one_owner", "whole_target", "converges") for one in found)


@contextmanager
def _stale_calls() -> Iterator[list[str]]:
    """Names of sticky assignors that were called with an owned partition that their leader does not know."""
    stale: list[str] = []
    plain = LeaderAssignor.__call__

    def noted(
        self: LeaderAssignor,
        name: str,
        partitions: Mapping[str, int],
        members: Sequence[JoinMember],
        *rest: Any,
    ) -> Any:
        for one in members:
            held = one.subscription.user_owned if name == "sticky" else one.subscription.owned
            if "sticky" in name and any(
                tp.partition >= partitions.get(tp.topic, 0) and tp.topic in partitions for tp in held or ()
            ):
                stale.append(name)
        return plain(self, name, partitions, members, *rest)

    LeaderAssignor.__call__ = noted  # type: ignore[method-assign]
    try:
        yield stale
    finally:
        LeaderAssignor.__call__ = plain  # type: ignore[method-assign]


def main(count: int, seed: int) -> int:
    """Run them all, say how far it is, and what broke; 1 when a break is not known to be Kafka's own."""
    began, done, actions, rows = perf_counter(), 0, 0, 0
    kinds: Counter[str] = Counter()
    jobs = [(seed, first, min(SLICE, count - first)) for first in range(0, count, SLICE)]
    with Pool(2) as pool:
        for more_actions, more_rows, broken in pool.imap_unordered(look, jobs):
            done, actions, rows = done + 1, actions + more_actions, rows + more_rows
            for number, what in broken:
                kinds[KNOWN if what == KNOWN else what.partition(":")[0]] += 1
                print(f"\nscenario {number} of seed {seed}: {what}", flush=True)
            print(f"\r{min(count, done * SLICE):,} of {count:,}", end="", file=sys.stderr, flush=True)
    print(
        f"\n{count:,} scenarios of seed {seed}: {actions:,} actions, {rows:,} trace rows, {perf_counter() - began:.0f} s in two processes"
    )
    for what, times in sorted(kinds.items()):
        print(f"  {times} x {what}")
    print(
        f"  {sum(times for what, times in kinds.items() if what != KNOWN)} breaks that are not known to be Kafka's own"
    )
    return int(any(what != KNOWN for what in kinds))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
