"""From a scenario that shows something to the shortest one that still does.

Tried in turn, again and again until nothing gets smaller: leave actions out (halves first, then one by one),
members, topics, partitions; write round times; end earlier; drop configs. Whatever cannot be is skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from types import MappingProxyType
from typing import Any

from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario

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
