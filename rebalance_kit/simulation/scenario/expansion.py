"""From a scenario as written to one of primitive actions only, checked before anything runs.

``restart``, ``reconfigure``, ``duplicate``, ``rolling_restart`` and ``scale_to`` become starts, closes and
crashes at their times; ``check`` refuses what cannot be done.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, TypeVar

from rebalance_kit.model.config import BrokerConfig, ClientConfig
from rebalance_kit.model.errors import nearest
from rebalance_kit.model.key_types import RefusedConfig, UnknownConfig
from rebalance_kit.simulation.learner_code.plug_ins import NOTHING, Supports
from rebalance_kit.simulation.scenario import checks
from rebalance_kit.simulation.scenario.actions import argument, check_arguments, check_states
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario

# Drawn moments: when a member starts or an action happens, where the scenario gives a window instead of a time.
#
# A window is ``{about: 30s, within: 5s}``: the moment is drawn, every millisecond from 25 s to 35 s alike, from a stream
# that belongs to that member or action. One seed gives one run; another seed gives other moments.


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
            path: checks.Path = ("members", index, "start")
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
            raise checks.BadScenario(
                f"{where}: action {index + 1} ({action.do}) may happen from {first} to {last} ms, while {action.member} starts "
                f"between {start[0]} and {start[1]} ms; expected windows that cannot meet",
                ("actions", index, "at"),
            )


def _window(scenario: Scenario, about_ms: int, within_ms: int, what: str, path: checks.Path) -> Window:
    if not 0 <= within_ms <= checks.MOST_MS:
        raise checks.BadScenario(
            f"{what}: within is {within_ms!r}; expected milliseconds from 0 to {checks.MOST_MS}", path
        )
    first, last = about_ms - within_ms, about_ms + within_ms
    if within_ms and first < 0:
        raise checks.BadScenario(
            f"{what}: about {about_ms} ms within {within_ms} ms reaches to {first} ms; expected a window that begins at 0 "
            f"or later (within at most {about_ms} ms)",
            path,
        )
    if within_ms and last > scenario.end_ms:
        raise checks.BadScenario(
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
            raise checks.BadScenario(
                f"{where}: action {index + 1} ({action.do}) may happen from {first} to {last} ms and action {before[1] + 1} "
                f"({before[2].do}) from {before[0][0]} to {before[0][1]} ms; expected windows that do not overlap, because "
                "otherwise chance decides which comes first",
                ("actions", index, "at"),
            )
        if before is None or last >= before[0][1]:
            before = current


STOPS = frozenset({"close", "crash"})
SPEC_ARGS = ("topics", "configs", "replace_configs", "client", "callback", "commit")
_NUMBERED = re.compile(r"(.*?)([0-9]+)")
SERVER_PATTERN = "Subscribe to RE2/J pattern is not supported when usingthe CLASSIC protocol defined in config group.protocol"
"""``ClassicKafkaConsumer.subscribe`` as it stands in 4.3.1, missing blank included."""
Built = TypeVar("Built")
Placed = tuple[int, Action]
"""A primitive action with the index of the written one it comes from, so that a fault can be shown there."""


def check(scenario: Scenario, own: Supports = NOTHING) -> None:
    """Raise ``ScenarioError`` or ``ConfigError`` for whatever the scenario cannot mean; change nothing.

    Covers names, times, numbers, every config of members and broker, the arguments of every action, and
    whether each action can be done when its time comes (a thaw needs a freeze, a topic only grows).
    """
    expand(scenario, own)


def expand(scenario: Scenario, own: Supports = NOTHING) -> Scenario:
    """The checked scenario with primitive actions only, in order of time.

    What was written for later than ``end_ms`` is left out; ``end_ms`` grows where a macro that began before
    it goes on after it. ``own`` are assignors of the learner's with what they support. Raises like ``check``.
    """
    checks.check_things(scenario)
    check_moments(scenario)
    scenario = drawn(scenario)
    names = [spec.name for spec in scenario.members]
    names += [
        str(action.args["as"])
        for action in scenario.actions
        if action.do == "duplicate" and "as" in action.args
    ]
    scales = any(action.do == "scale_to" for action in scenario.actions)
    for index, action in enumerate(scenario.actions):
        where = place(scenario, index, action)
        check_arguments(action, index, where)
        if action.member is not None and action.member not in names and not scales:
            raise checks.BadScenario(_nobody(where, action, names), ("actions", index, "member"))
    plan = _Plan(scenario)
    for index, action in sorted(enumerate(scenario.actions), key=lambda pair: pair[1].at_ms):
        if action.at_ms <= scenario.end_ms:
            plan.add(index, action)
    whole = plan.scenario()
    checks.check_work(whole)
    check_states(whole, plan.placed(), lambda index, action: place(scenario, index, action))
    check_configs(whole, plan.placed(), own)
    return whole


def place(scenario: Scenario, index: int, action: Action) -> str:
    """How an error names an action: scenario, number, what and when."""
    who = f" {action.member}" if action.member else ""
    return f"{scenario.name}: action {index + 1} ({action.do}{who} at {action.at_ms} ms)"


def _nobody(where: str, action: Action, names: Iterable[str]) -> str:
    known = sorted(names)
    listed = ", ".join(known[:12]) + (" …" if len(known) > 12 else "")
    return f"{where}: no member is named {action.member!r}{nearest(action.member, known)} (expected one of {listed or 'none'})"


def check_configs(scenario: Scenario, placed: Iterable[Placed], own: Supports = NOTHING) -> None:
    """Raise ``ConfigError`` for any configuration that the broker or a member would be started with."""
    version, name = scenario.kafka_version, scenario.name
    _at(("broker",), lambda: BrokerConfig.of(scenario.broker, version, f"{name}: broker"))
    configs = {spec.name: {"group.id": scenario.group, **spec.configs} for spec in scenario.members}
    specs = {spec.name: spec for spec in scenario.members}
    for number, (member, given) in enumerate(configs.items()):
        _client(
            ("members", number, "configs"), given, version, f"{name}: member {member}", specs[member], own
        )
    for index, action in placed:
        member = action.member or ""
        if action.do != "start" or not {"configs", "client"} & action.args.keys():
            continue
        before = {"group.id": scenario.group} if action.args.get("replace_configs") else configs[member]
        configs[member] = {**before, **action.args.get("configs", {})}
        specs[member] = replace(specs[member], client=action.args.get("client", specs[member].client))
        where = f"{name}: member {member} started at {action.at_ms} ms"
        _client(("actions", index, "configs"), configs[member], version, where, specs[member], own)


def _client(
    path: checks.Path, configs: Mapping[str, Any], version: str, where: str, spec: MemberSpec, own: Supports
) -> None:
    config = _at(path, lambda: ClientConfig.of(configs, version, where, spec.client, own))
    if spec.server_pattern is not None and config.protocol == "classic":
        raise checks.BadScenario(
            f"{where}: {SERVER_PATTERN} (UnsupportedOperationException): server_pattern is {spec.server_pattern!r}",
            (*path[:2], "server_pattern"),
        )


def _at(path: checks.Path, build: Callable[[], Built]) -> Built:
    try:
        return build()
    except (RefusedConfig, UnknownConfig) as error:
        error.path = path
        raise


@dataclass(slots=True)
class _Plan:
    """The growing list of primitive actions and members."""

    source: Scenario
    members: dict[str, MemberSpec] = field(init=False)
    done: list[Placed] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.members = {spec.name: spec for spec in self.source.members}

    def placed(self) -> list[Placed]:
        """Primitive actions with their places, in order of time."""
        return sorted(self.done, key=lambda pair: pair[1].at_ms)

    def scenario(self) -> Scenario:
        """The scenario as planned so far."""
        actions = tuple(action for _, action in self.placed())
        end_ms = max([self.source.end_ms, *(action.at_ms for action in actions)])
        return replace(self.source, members=tuple(self.members.values()), actions=actions, end_ms=end_ms)

    def add(self, index: int, action: Action) -> None:
        """Add an action, spelled out where it is a macro."""
        if action.member is not None and action.member not in self.members:
            raise checks.BadScenario(
                _nobody(place(self.source, index, action), action, self.members), ("actions", index, "member")
            )
        macro = _MACROS.get(action.do)
        if macro is None:
            self.done.append((index, action))
        else:
            macro(self, index, action)

    def put(
        self, index: int, at_ms: int, do: str, member: str, args: Mapping[str, Any] | None = None
    ) -> None:
        """Add one primitive action."""
        self.done.append((index, Action(at_ms, do, member, MappingProxyType(dict(args or {})))))

    def living(self, at_ms: int) -> list[str]:
        """Members that run at that time, or are away for a restart, in the scenario's order."""
        alive = {
            name: spec.start_ms is not None and spec.start_ms <= at_ms for name, spec in self.members.items()
        }
        for _, action in self.placed():
            if action.do == "start":
                alive[action.member or ""] = True
            elif action.do in STOPS and action.at_ms <= at_ms:
                alive[action.member or ""] = False
        return [name for name, runs in alive.items() if runs]

    def configs(self, name: str) -> dict[str, Any]:
        """What a member was last started with."""
        configs = dict(self.members[name].configs)
        for _, action in self.placed():
            if action.do == "start" and action.member == name and "configs" in action.args:
                configs = {
                    **({} if action.args.get("replace_configs") else configs),
                    **action.args["configs"],
                }
        return configs


def _bounce(plan: _Plan, index: int, action: Action, name: str, at_ms: int) -> None:
    stop = "crash" if action.args.get("crash") else "close"
    plan.put(index, at_ms, stop, name)
    given = {key: action.args[key] for key in SPEC_ARGS if key in action.args}
    plan.put(index, at_ms + int(argument(action, "after_ms")), "start", name, given)


def _restart(plan: _Plan, index: int, action: Action) -> None:
    _bounce(plan, index, action, action.member or "", action.at_ms)


def _rolling_restart(plan: _Plan, index: int, action: Action) -> None:
    every = int(argument(action, "every_ms"))
    for turn, name in enumerate(plan.living(action.at_ms)):
        _bounce(plan, index, action, name, action.at_ms + turn * every)


def _duplicate(plan: _Plan, index: int, action: Action) -> None:
    """Another process with the same ``group.instance.id``, as when a pod is copied with its settings."""
    original, name = action.member or "", str(action.args["as"])
    where = place(plan.source, index, action)
    if name in plan.members:
        raise checks.BadScenario(
            f"{where}: member {name!r} is named twice; expected a new name", ("actions", index, "as")
        )
    configs = {**plan.configs(original), **action.args.get("configs", {})}
    if not configs.get("group.instance.id"):
        raise checks.BadScenario(
            f"{where}: {original} has no group.instance.id; expected a static member to duplicate",
            ("actions", index, "member"),
        )
    spec = plan.members[original]
    topics = tuple(action.args.get("topics", spec.topics))
    plan.members[name] = replace(
        spec, name=name, topics=topics, configs=MappingProxyType(configs), start_ms=None, lives=()
    )
    plan.put(index, action.at_ms, "start", name)


def _scale_to(plan: _Plan, index: int, action: Action) -> None:
    """Close the last ones, or start those that are down and then new ones made like the last member."""
    wanted, every = int(action.args["members"]), int(argument(action, "every_ms"))
    living = plan.living(action.at_ms)
    if wanted <= len(living):
        for turn, name in enumerate(reversed(living[wanted:])):
            plan.put(index, action.at_ms + turn * every, "close", name)
        return
    due = {
        name
        for name, spec in plan.members.items()
        if spec.start_ms is not None and spec.start_ms > action.at_ms
    }
    waiting = [name for name in plan.members if name not in living and name not in due]
    for turn in range(wanted - len(living)):
        name = waiting[turn] if turn < len(waiting) else _another(plan, index, action)
        plan.put(index, action.at_ms + turn * every, "start", name)


def _another(plan: _Plan, index: int, action: Action) -> str:
    """Make a member like the last one, numbered on; a static one gets an instance id of its own."""
    where = place(plan.source, index, action)
    if not plan.members or len(plan.members) >= checks.MOST_MEMBERS:
        message = f"{where}: cannot make a member like the last of {len(plan.members)}; expected 1 to {checks.MOST_MEMBERS - 1}"
        raise checks.BadScenario(message, ("actions", index, "members"))
    last = list(plan.members.values())[-1]
    numbered = _NUMBERED.fullmatch(last.name)
    stem, number = (numbered[1], int(numbered[2])) if numbered else (f"{last.name}-", 1)
    while f"{stem}{number}" in plan.members:
        number += 1
    name = f"{stem}{number}"
    own = {key: name for key in ("client.id", "group.instance.id") if key in last.configs}
    plan.members[name] = replace(
        last, name=name, configs=MappingProxyType({**last.configs, **own}), start_ms=None, lives=()
    )
    return name


_MACROS: Mapping[str, Callable[[_Plan, int, Action], None]] = MappingProxyType(
    {
        "restart": _restart,
        "reconfigure": _restart,
        "duplicate": _duplicate,
        "rolling_restart": _rolling_restart,
        "scale_to": _scale_to,
    }
)
