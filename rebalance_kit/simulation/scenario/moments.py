"""Drawn moments: when a member starts or an action happens, where the scenario gives a window instead of a time.

A window is ``{about: 30s, within: 5s}``: the moment is drawn, every millisecond from 25 s to 35 s alike, from a stream
that belongs to that member or action. One seed gives one run; another seed gives other moments.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from rebalance_kit.simulation.scenario.checks import MOST_MS, BadScenario, Path
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario

Window = tuple[int, int]


def drawn(scenario: Scenario, seed: int | None = None) -> Scenario:
    """The scenario with a fixed time in place of every window; the same for the same seed.

    ``seed`` replaces the scenario's own. A scenario without windows is returned as it is.
    """
    if not has_windows(scenario):
        return scenario
    chosen = scenario.seed if seed is None else seed
    seen: Counter[tuple[str, str | None]] = Counter()
    actions = []
    for action in scenario.actions:
        number = seen[action.do, action.member]
        seen[action.do, action.member] += 1
        actions.append(_drawn_action(action, f"{chosen}/moment/{action.do}/{action.member}/{number}"))
    return replace(
        scenario,
        members=tuple(
            _drawn_start(spec, f"{chosen}/moment/start of {spec.name}") for spec in scenario.members
        ),
        actions=tuple(sorted(actions, key=lambda action: action.at_ms)),
    )


def has_windows(scenario: Scenario) -> bool:
    """Whether any moment of the scenario is drawn."""
    return any(spec.start_within_ms for spec in scenario.members) or any(
        action.within_ms for action in scenario.actions
    )


def _drawn_start(spec: MemberSpec, stream: str) -> MemberSpec:
    if spec.start_ms is None or not spec.start_within_ms:
        return spec
    return replace(spec, start_ms=_draw(spec.start_ms, spec.start_within_ms, stream), start_within_ms=0)


def _drawn_action(action: Action, stream: str) -> Action:
    if not action.within_ms:
        return action
    return replace(action, at_ms=_draw(action.at_ms, action.within_ms, stream), within_ms=0)


def _draw(about_ms: int, within_ms: int, stream: str) -> int:
    return about_ms + random.Random(stream).randint(-within_ms, within_ms)


def check_moments(scenario: Scenario) -> None:
    """Raise ``BadScenario`` for windows that leave the run, or that could change the order of what is done."""
    where = scenario.name
    starts: dict[str, Window] = {}
    for index, spec in enumerate(scenario.members):
        if spec.start_ms is not None:
            path: Path = ("members", index, "start")
            starts[spec.name] = _window(
                scenario, spec.start_ms, spec.start_within_ms, f"{where}: member {spec.name}: start", path
            )
    windows = [
        (
            _window(
                scenario,
                action.at_ms,
                action.within_ms,
                f"{where}: action {index + 1} ({action.do})",
                ("actions", index, "at"),
            ),
            index,
            action,
        )
        for index, action in enumerate(scenario.actions)
    ]
    for member in {action.member for _, _, action in windows}:
        _check_order(where, [entry for entry in windows if entry[2].member == member])
    for (first, last), index, action in windows:
        start = starts.get(action.member or "")
        drawn_together = start is not None and (action.within_ms or start[0] < start[1])
        if start is not None and drawn_together and first <= start[1] and start[0] <= last:
            raise BadScenario(
                f"{where}: action {index + 1} ({action.do}) may happen from {first} to {last} ms, while {action.member} starts "
                f"between {start[0]} and {start[1]} ms; expected windows that cannot meet",
                ("actions", index, "at"),
            )


def _window(scenario: Scenario, about_ms: int, within_ms: int, what: str, path: Path) -> Window:
    if not 0 <= within_ms <= MOST_MS:
        raise BadScenario(f"{what}: within is {within_ms!r}; expected milliseconds from 0 to {MOST_MS}", path)
    first, last = about_ms - within_ms, about_ms + within_ms
    if within_ms and first < 0:
        raise BadScenario(
            f"{what}: about {about_ms} ms within {within_ms} ms reaches to {first} ms; expected a window that begins at 0 "
            f"or later (within at most {about_ms} ms)",
            path,
        )
    if within_ms and last > scenario.end_ms:
        raise BadScenario(
            f"{what}: about {about_ms} ms within {within_ms} ms reaches to {last} ms; expected a window that ends by the "
            f"run's end, {scenario.end_ms} ms",
            path,
        )
    return first, last


def _check_order(where: str, windows: Iterable[tuple[Window, int, Action]]) -> None:
    """Refuse windows of one member (or of the cluster) that overlap: chance would decide which action comes first."""
    before: tuple[Window, int, Action] | None = None
    for current in sorted(windows, key=lambda entry: entry[0]):
        (first, last), index, action = current
        if before is not None and (action.within_ms or before[2].within_ms) and first <= before[0][1]:
            raise BadScenario(
                f"{where}: action {index + 1} ({action.do}) may happen from {first} to {last} ms and action {before[1] + 1} "
                f"({before[2].do}) from {before[0][0]} to {before[0][1]} ms; expected windows that do not overlap, because "
                "otherwise chance decides which comes first",
                ("actions", index, "at"),
            )
        if before is None or last >= before[0][1]:
            before = current
