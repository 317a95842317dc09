"""From a scenario as written to one that only starts, closes and crashes: checks, and macro actions spelled out.

``restart``, ``reconfigure``, ``duplicate``, ``rolling_restart`` and ``scale_to`` become primitive actions at
their times; ``check`` refuses what cannot be done before anything runs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.config import BrokerConfig, ClientConfig
from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.simulation.action_args import MOST_MEMBERS, BadAction, argument, check_arguments
from rebalance_kit.simulation.action_states import check_states
from rebalance_kit.simulation.scenario import Action, MemberSpec, Scenario
from rebalance_kit.simulation.scenario_check import check_things

STOPS = frozenset({"close", "crash"})
SPEC_ARGS = ("topics", "configs", "replace_configs", "client", "callback", "commit")
_NUMBERED = re.compile(r"(.*?)([0-9]+)")
Placed = tuple[int, Action]
"""An action with the index it has in the scenario as written, so that a fault can be shown there."""


def check(scenario: Scenario) -> None:
    """Raise ``ScenarioError`` or ``ConfigError`` for whatever the scenario cannot mean; change nothing.

    Covers names, times, numbers, every config of members and broker, the arguments of every action, and
    whether each action can be done when its time comes (a thaw needs a freeze, a topic only grows).
    """
    expand(scenario)


def expand(scenario: Scenario) -> Scenario:
    """The checked scenario with primitive actions only, in order of time.

    ``end_ms`` grows where a macro goes on after it. Raises like ``check``.
    """
    check_things(scenario)
    names = frozenset(spec.name for spec in scenario.members)
    for index, action in enumerate(scenario.actions):
        check_arguments(action, index, place(scenario, index, action))
        if action.member is not None and action.member not in names and not _made(scenario, action.member):
            known = ", ".join(sorted(names)[:12])
            raise BadAction(f"{place(scenario, index, action)}: no member is named {action.member!r}; expected one of {known}", index, "member")
    plan = _Plan(scenario)
    for index, action in sorted(enumerate(scenario.actions), key=lambda pair: pair[1].at_ms):
        plan.add(index, action)
    whole = plan.scenario()
    check_states(whole, plan.placed(), lambda index, action: place(scenario, index, action))
    check_configs(whole)
    return whole


def place(scenario: Scenario, index: int, action: Action) -> str:
    """How an error names an action: scenario, number, what and when."""
    who = f" {action.member}" if action.member else ""
    return f"{scenario.name}: action {index + 1} ({action.do}{who} at {action.at_ms} ms)"


def _made(scenario: Scenario, name: str) -> bool:
    """Whether a macro may make a member of that name (``duplicate`` as, ``scale_to``)."""
    made = any(one.do == "duplicate" and one.args.get("as") == name for one in scenario.actions)
    return made or any(one.do == "scale_to" for one in scenario.actions)


def check_configs(scenario: Scenario) -> None:
    """Raise ``ConfigError`` for any configuration that a member or the broker would be started with."""
    BrokerConfig.of(scenario.broker, scenario.kafka_version, f"{scenario.name}: broker")
    configs = {spec.name: dict(spec.configs) for spec in scenario.members}
    clients = {spec.name: spec.client for spec in scenario.members}
    base = {"group.id": scenario.group}
    for name, given in configs.items():
        ClientConfig.of({**base, **given}, scenario.kafka_version, f"{scenario.name}: member {name}", clients[name])
    for action in scenario.actions:
        if action.do != "start" or action.member is None or not {"configs", "client"} & action.args.keys():
            continue
        name = action.member
        fresh = action.args.get("configs", {})
        configs[name] = dict(fresh) if action.args.get("replace_configs") else {**configs[name], **fresh}
        clients[name] = action.args.get("client", clients[name])
        where = f"{scenario.name}: member {name} started at {action.at_ms} ms"
        ClientConfig.of({**base, **configs[name]}, scenario.kafka_version, where, clients[name])


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
        macro = _MACROS.get(action.do)
        if macro is None:
            self.done.append((index, action))
        else:
            macro(self, index, action)

    def put(self, index: int, at_ms: int, do: str, member: str, args: Mapping[str, Any] | None = None) -> None:
        """Add one primitive action."""
        self.done.append((index, Action(at_ms, do, member, MappingProxyType(dict(args or {})))))

    def living(self, at_ms: int) -> list[str]:
        """Names of members that run, or are about to be back, at a time: what each was last told."""
        alive = {name: spec.start_ms is not None and spec.start_ms <= at_ms for name, spec in self.members.items()}
        for _, action in self.placed():
            if action.member in alive and (action.do in STOPS or action.do == "start"):
                alive[action.member] = action.do == "start" and (alive[action.member] or action.at_ms <= at_ms or self._bounced(action))
                if action.do in STOPS and action.at_ms > at_ms:
                    alive[action.member] = True
        return [name for name, runs in alive.items() if runs]

    def _bounced(self, start: Action) -> bool:
        return any(one.member == start.member and one.do in STOPS and one.at_ms <= start.at_ms for _, one in self.done)

    def fail(self, index: int, action: Action, message: str, key: str | None = None) -> BadAction:
        """A fault of a macro."""
        return BadAction(f"{place(self.source, index, action)}: {message}", index, key)
