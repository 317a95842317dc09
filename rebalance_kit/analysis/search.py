"""Search for a scenario that breaks something: draw, simulate, ask, and shrink what was found.

What may not be is a *predicate*: a function of the trace that says in words what is wrong, or None. The
default one asks the invariants. ``find(Space(), predicate, seed=1, budget=1000)`` gives the same finding
every time, unless the learner's own code remembers something from one run to the next.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any, TextIO

from rebalance_kit.analysis.collector import without_collector
from rebalance_kit.analysis.invariants import check
from rebalance_kit.analysis.scenario_space import Space, draw
from rebalance_kit.analysis.shrinking import shrink
from rebalance_kit.model.errors import ConfigError, ScenarioError
from rebalance_kit.model.files import write_atomically
from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.permalink import Link, write_link
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.simulation.scenario.yaml_file import write_scenario
from rebalance_kit.simulation.simulate import simulate

Predicate = Callable[[Trace], str | None]
Run = Callable[[Scenario], Trace]
SHRINKING = 3_000
"""Most scenarios tried to make a finding shorter."""
LOOK_FROM_MS = 1_000
"""A link opens the lab this long before what was seen."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A scenario that broke something.

    ``scenario`` is the shortest one found, ``seen`` what the predicate said of it; ``drawn`` the one it was
    shrunk from, number ``number`` of its seed. ``searched`` and ``shrunk`` count the scenarios tried.
    """

    scenario: Scenario
    seen: str
    drawn: Scenario
    number: int
    searched: int
    shrunk: int

    def yaml(self, assignors: Mapping[str, Callable[..., Any]] | None = None) -> str:
        """The scenario as a file that ``read_scenario`` reads."""
        return write_scenario(self.scenario, assignors)

    def save(self, path: str | Path, assignors: Mapping[str, Callable[..., Any]] | None = None) -> None:
        """Write the scenario's file, whole or not at all."""
        write_atomically(path, self.yaml(assignors))

    def link(self) -> str | None:
        """The token that opens the finding in the lab, a second before what was seen (`rebalance-kit lab TOKEN`).

        The moment is the one that the predicate names as ``at N ms``, or the last action's. None where a
        token cannot hold the scenario: an assignor of the learner's own, or a scenario too long.
        """
        named = re.search(r"\bat (\d+) ms", self.seen)
        last = max((action.at_ms for action in self.scenario.actions), default=0)
        moment = max(0, (int(named[1]) if named else last) - LOOK_FROM_MS)
        try:
            return write_link(Link(self.scenario, at_ms=moment))
        except (ConfigError, ScenarioError):  # LinkError is one
            return None


def broken_invariant(trace: Trace) -> str | None:
    """The first invariant that the trace breaks, as ``name: what was seen``; None also for Kafka's own defect."""
    violations = check(trace)
    if violations and all(one.invariant in _OF_STALE_LEADERS for one in violations) and gave_twice(trace):
        return None
    return (
        f"{violations[0].invariant}: {violations[0].seen} (at {violations[0].at_ms} ms)"
        if violations
        else None
    )


def gave_twice(trace: Trace) -> bool:
    """Whether a sticky leader with older metadata than a member's gave a partition away twice, as Kafka's does.

    The claim of the member names partitions that the leader does not know (AbstractStickyAssignor,
    GeneralAssignmentBuilder.getUnassignedPartitions); the scenario ``defect-sticky-stale-leader`` teaches it.
    """
    changes = (
        row.at_ms
        for row in trace.of("topic_changed", "action")
        if row.kind == "topic_changed" or row.detail["do"] == "see_metadata"
    )
    changed_ms = min(changes, default=None)
    for row in trace.of("assignment") if changed_ms is not None else ():
        given = [partition for shares in row.detail["assignment"].values() for partition in shares]
        sticky = row.detail.get("assignor") in {"sticky", "cooperative-sticky"}
        if sticky and row.at_ms >= (changed_ms or 0) and len(given) != len(set(given)):
            return True
    return False


_OF_STALE_LEADERS = frozenset({"one_owner", "whole_target", "converges"})
"""What breaks when a partition was given away twice."""


def find(
    space: Space | Scenario,
    predicate: Predicate = broken_invariant,
    seed: int = 1,
    budget: int = 1_000,
    *,
    listeners: Mapping[str, Any] | None = None,
    assignors: Mapping[str, Callable[..., Any]] | None = None,
) -> Finding | None:
    """Try ``budget`` scenarios and return the first that breaks ``predicate``, shrunk; None when none does.

    With a scenario in place of a space its members stay and other actions are drawn. While it shrinks, the
    finding keeps what it is: the word before the first colon of what the predicate says. A scenario that
    cannot be run is none; an error in the engine or in the predicate is not caught.
    """

    def run(scenario: Scenario) -> Trace:
        return simulate(scenario, listeners=listeners, assignors=assignors)

    where = Space(base=space, data_plane=space.data_plane) if isinstance(space, Scenario) else space
    with without_collector() as tick:
        for number in range(budget):
            tick()
            drawn = draw(where, seed, number)
            seen = _ask(drawn, run, predicate)
            if seen is not None:
                return _shrunk(drawn, seen, number, run, predicate)
    return None


def _ask(scenario: Scenario, run: Run, predicate: Predicate) -> str | None:
    try:
        trace = run(scenario)
    except (ScenarioError, ConfigError):
        return None
    return predicate(trace)


def _shrunk(drawn: Scenario, seen: str, number: int, run: Run, predicate: Predicate) -> Finding:
    what = seen.partition(":")[0]

    def shows(scenario: Scenario) -> bool:
        problem = _ask(scenario, run, predicate)
        return problem is not None and problem.partition(":")[0] == what

    small, tried = shrink(drawn, shows, SHRINKING)
    problem = _ask(small, run, predicate) or seen
    small = replace(small, title="Found by search", story=f"{problem}.")
    return Finding(small, problem, drawn, number, number + 1, tried)


def run_search(scenario: Scenario | None, seed: int, count: int, path: Path | None, out: TextIO) -> int:
    """Search from the command line: say what was found, write it to ``path`` or print it; 1 when something broke."""
    if count < 1:
        raise ScenarioError(f"--count is {count}; expected at least 1 scenario")
    began = perf_counter()
    finding = find(scenario or Space(), seed=seed, budget=count)
    seconds = perf_counter() - began
    if finding is None:
        print(
            f"{count:,} scenarios of seed {seed} in {seconds:.1f} s: no invariant broken\n"
            "(what a sticky leader with old metadata does is Kafka's own: defect-sticky-stale-leader)",
            file=out,
        )
        return 0
    small = finding.scenario
    print(f"scenario {finding.number} of seed {seed} breaks {finding.seen}", file=out)
    print(
        f"shortened from {len(finding.drawn.actions)} actions to {len(small.actions)}, {len(small.members)} members, "
        f"{sum(topic.partitions for topic in small.topics)} partitions ({finding.shrunk} tries, {seconds:.1f} s)",
        file=out,
    )
    if path is None:
        print(f"\n{finding.yaml()}", file=out, end="")
    else:
        finding.save(path)
        print(f"written to {path}", file=out)
    token = finding.link()
    if token is not None:
        print(f"open it in the lab: rebalance-kit lab {token}", file=out)
    return 1
