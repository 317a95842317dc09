"""Search for a scenario that breaks something: draw, simulate, ask, and shrink what was found.

To shrink, tried in turn, again and again until nothing gets smaller: leave actions out (halves first, then one by one),
members, topics, partitions; write round times; end earlier; drop configs. Whatever cannot be is skipped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from time import perf_counter
from types import MappingProxyType
from typing import Any, TextIO

from rebalance_kit.analysis.invariants import check
from rebalance_kit.analysis.scenario_space import Space, draw
from rebalance_kit.model.collector import without_collector
from rebalance_kit.model.errors import ConfigError, ScenarioError
from rebalance_kit.model.files import write_atomically
from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.permalink import Link, write_link
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario
from rebalance_kit.simulation.scenario.yaml_file import write_scenario
from rebalance_kit.simulation.simulate import simulate

Shows = Callable[[Scenario], bool]
ROUND_MS = (5_000, 1_000, 500, 100)
TIMES = ("for_ms", "after_ms", "every_ms", "by_ms", "callback_ms")


def shrink(scenario: Scenario, shows: Shows, budget: int = 3_000) -> tuple[Scenario, int]:
    """The smallest scenario found for which ``shows`` is still true, and how many were tried.

    ``shows`` must be false for a scenario that cannot mean anything. At most ``budget`` are tried.
    """
    tried = 0
    best = scenario
    shrinking = True
    while shrinking:
        shrinking = False
        for step in (
            _fewer_actions,
            _fewer_members,
            _fewer_topics,
            _fewer_partitions,
            _plainer,
            _rounder,
            _shorter,
        ):
            at = 0
            while True:  # go on where the last success was: what was refused before it is refused again
                smaller = None
                for number, candidate in enumerate(step(best)):
                    if number < at or candidate == best:
                        continue
                    if tried >= budget:
                        return best, tried
                    tried += 1
                    if shows(candidate):
                        smaller, at = candidate, number
                        break
                if smaller is None:
                    break
                best, shrinking = smaller, True
    return best, tried


def _fewer_actions(scenario: Scenario) -> Iterator[Scenario]:
    actions = scenario.actions
    size = len(actions) // 2
    while size > 1:
        for first in range(0, len(actions), size):
            yield replace(scenario, actions=actions[:first] + actions[first + size :])
        size //= 2
    for index in range(len(actions)):
        yield replace(scenario, actions=actions[:index] + actions[index + 1 :])
    for first in range(len(actions)):  # a freeze without its thaw, a broker that is down without being up
        for second in range(first + 1, len(actions)):
            yield replace(
                scenario, actions=actions[:first] + actions[first + 1 : second] + actions[second + 1 :]
            )


def _fewer_members(scenario: Scenario) -> Iterator[Scenario]:
    for spec in scenario.members:
        if len(scenario.members) > 1:
            others = tuple(other for other in scenario.members if other.name != spec.name)
            yield replace(
                scenario,
                members=others,
                actions=tuple(other for other in scenario.actions if other.member != spec.name),
            )


def _fewer_topics(scenario: Scenario) -> Iterator[Scenario]:
    for topic in scenario.topics:
        if len(scenario.topics) > 1:
            yield replace(
                scenario,
                topics=tuple(other for other in scenario.topics if other.name != topic.name),
                members=tuple(
                    replace(other, topics=_without(other.topics, topic.name)) for other in scenario.members
                ),
                actions=tuple(
                    _without_topic(other, topic.name)
                    for other in scenario.actions
                    if other.args.get("topic") != topic.name
                ),
            )


def _without(topics: tuple[str, ...], gone: str) -> tuple[str, ...]:
    return tuple(name for name in topics if name != gone)


def _without_topic(action: Action, gone: str) -> Action:
    if "topics" not in action.args:
        return action
    return replace(action, args={**action.args, "topics": _without(tuple(action.args["topics"]), gone)})


def _fewer_partitions(scenario: Scenario) -> Iterator[Scenario]:
    for index, topic in enumerate(scenario.topics):
        for count in sorted({1, 2, topic.partitions // 2, topic.partitions - 1}):
            if 0 < count < topic.partitions:
                fewer = replace(topic, partitions=count)
                yield replace(
                    scenario, topics=(*scenario.topics[:index], fewer, *scenario.topics[index + 1 :])
                )


def _plainer(scenario: Scenario) -> Iterator[Scenario]:
    """Members and broker with fewer settings, and all started at once."""
    if scenario.seed != 1:
        yield replace(scenario, seed=1)
    if scenario.data_plane:
        yield replace(scenario, data_plane=False)
    for key in scenario.broker:
        yield replace(scenario, broker=_drop(scenario.broker, key))
    keys = dict.fromkeys(key for spec in scenario.members for key in spec.configs)
    for key in keys:  # of all members at once, then of one
        yield replace(
            scenario,
            members=tuple(replace(member, configs=_drop(member.configs, key)) for member in scenario.members),
        )
    for index, spec in enumerate(scenario.members):
        for plain in chain(
            _plainer_member(spec), (replace(spec, configs=_drop(spec.configs, key)) for key in spec.configs)
        ):
            yield replace(
                scenario, members=(*scenario.members[:index], plain, *scenario.members[index + 1 :])
            )


def _plainer_member(spec: MemberSpec) -> Iterator[MemberSpec]:
    plain = MemberSpec(spec.name)
    for field in ("callback_ms", "processing_ms", "commit", "start_ms"):
        if getattr(spec, field) != getattr(plain, field):
            yield replace(spec, **{field: getattr(plain, field)})


def _drop(configs: Any, key: str) -> Any:
    return MappingProxyType({name: value for name, value in configs.items() if name != key})


def _rounder(scenario: Scenario) -> Iterator[Scenario]:
    for step in ROUND_MS:
        actions = tuple(
            replace(action, at_ms=max(action.at_ms // step, 1) * step) for action in scenario.actions
        )
        if actions == tuple(sorted(actions, key=lambda action: action.at_ms)):
            yield replace(scenario, actions=actions)
    for index, action in enumerate(scenario.actions):
        for plain in _rounder_action(action):
            earlier, later = scenario.actions[:index], scenario.actions[index + 1 :]
            if (not earlier or earlier[-1].at_ms <= plain.at_ms) and (
                not later or plain.at_ms <= later[0].at_ms
            ):
                yield replace(scenario, actions=(*earlier, plain, *later))
    for index, spec in enumerate(scenario.members):
        for step in ROUND_MS:
            if spec.start_ms and spec.start_ms % step:
                round_spec = replace(spec, start_ms=spec.start_ms // step * step)
                yield replace(
                    scenario, members=(*scenario.members[:index], round_spec, *scenario.members[index + 1 :])
                )


def _rounder_action(action: Action) -> Iterator[Action]:
    for step in ROUND_MS:
        for at_ms in (action.at_ms // step * step, (action.at_ms // step + 1) * step):
            if action.at_ms % step:
                yield replace(action, at_ms=at_ms)
        for key in TIMES:
            value = action.args.get(key)
            if isinstance(value, int) and value % step and value > step:
                yield replace(action, args={**action.args, key: value // step * step})


def _shorter(scenario: Scenario) -> Iterator[Scenario]:
    last = max(
        [
            1_000,
            *(action.at_ms for action in scenario.actions),
            *(spec.start_ms or 0 for spec in scenario.members),
        ]
    )
    for end_ms in sorted({last, last + 1_000, last + 5_000, (last + scenario.end_ms) // 2 // 1_000 * 1_000}):
        if last <= end_ms < scenario.end_ms:
            yield replace(scenario, end_ms=end_ms)


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
