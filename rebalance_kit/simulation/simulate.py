"""``simulate``: a scenario and a seed in, a trace out; the same trace every time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral
from types import NoneType
from typing import Any

from rebalance_kit.model.errors import require_kind
from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.kernel.agenda import Agenda
from rebalance_kit.simulation.learner_code.plug_ins import (
    NOTHING,
    PlugIns,
    Supports,
    check_listeners,
    supports,
)
from rebalance_kit.simulation.scenario.expansion import check_moments, drawn, expand
from rebalance_kit.simulation.scenario.scenario import Action, Scenario, with_protocol
from rebalance_kit.simulation.world import World, perform


def simulate(
    scenario: Scenario,
    seed: int | None = None,
    protocol: str | None = None,
    *,
    listeners: Mapping[str, Any] | None = None,
    assignors: Mapping[str, Callable[..., Any]] | None = None,
) -> Trace:
    """Run a scenario to its end and return all that happened; ``rebalance_kit.scenarios.simulate`` tells the arguments.

    What code of your own does wrong while it runs stands in the trace (``own_code_fault``).
    """
    _require_scenario(scenario)
    if protocol is not None:
        scenario = with_protocol(scenario, protocol)
    return Run(scenario, seed, listeners=listeners, assignors=assignors).finish()


def plan(scenario: Scenario, seed: int, own: Supports = NOTHING) -> Scenario:
    """The checked scenario with its moments drawn and its macros spelled out; raises as ``simulate`` does.

    ``own`` are assignors of the learner's with what they support.
    """
    check_moments(scenario)
    return expand(drawn(scenario, seed), own)


def _require_scenario(value: object) -> None:
    require_kind(value, Scenario, "the scenario", 'a Scenario, for instance rebalance_kit.scenario("crash")')


class Run:
    """A simulation under way: ``until`` lets time pass, ``act`` does something now, ``finish`` gives the trace.

    What ``act`` does belongs to the scenario from then on: the trace is the one that ``simulate`` gives for the
    scenario with that action. It keeps its time by ``agenda`` (default: one of its own). Raises as ``simulate`` does.
    """

    def __init__(
        self,
        scenario: Scenario,
        seed: int | None = None,
        *,
        listeners: Mapping[str, Any] | None = None,
        assignors: Mapping[str, Callable[..., Any]] | None = None,
        agenda: Agenda | None = None,
    ) -> None:
        _require_scenario(scenario)
        require_kind(seed, (Integral, NoneType), "the seed", "a whole number, or None for the scenario's own")
        self.seed = scenario.seed if seed is None else int(seed)
        planned = plan(scenario, self.seed, supports(assignors))
        check_listeners(listeners, (spec.name for spec in planned.members))
        self.scenario, self._planned = drawn(scenario, self.seed), planned
        self._world = world = World(planned, self.seed, PlugIns(listeners or {}, assignors or {}), agenda)
        for spec in planned.members:
            if spec.start_ms is not None:
                world.host.at(spec.start_ms, world.processes[spec.name].start, spec)
        for action in sorted(planned.actions, key=lambda action: action.at_ms):
            world.host.at(action.at_ms, _do, (world, action))

    @property
    def planned(self) -> Scenario:
        """The scenario with its moments drawn and its macros spelled out."""
        return self._planned

    @property
    def now_ms(self) -> int:
        """Everything up to and including this moment has happened."""
        return self._world.host.now_ms

    def until(self, at_ms: int) -> None:
        """Let time pass up to and including that moment."""
        self._world.host.agenda.run(at_ms)

    def act(self, scenario: Scenario, action: Action) -> bool:
        """Do a plain action one millisecond from now, as ``scenario`` (the one with it) says; it comes first there.

        False, and nothing done, where the rest of the scenario would not go on as planned: another action of that
        millisecond, or a later one (``rolling_restart``, ``scale_to``) that means something else now. Raises as
        ``simulate`` does when the scenario cannot mean anything.
        """
        planned = plan(scenario, self.seed)
        left = list(planned.actions)
        if action not in left or any(
            planned_action.at_ms == action.at_ms for planned_action in self._planned.actions
        ):
            return False
        left.remove(action)
        if left != list(self._planned.actions) or action.at_ms != self.now_ms + 1:
            return False
        self._planned, self.scenario = planned, scenario
        self._world.host.agenda.now_ms += 1
        _do((self._world, action))
        return True

    def finish(self) -> Trace:
        """Let the rest happen and close the books; the run cannot be used afterwards."""
        world = self._world
        world.host.agenda.run(self._planned.end_ms)
        _close_books(world)
        trace = self._trace(self._planned.end_ms)
        world.close()
        return trace

    def so_far(self) -> Trace:
        """What has happened until now, as a trace that ends now; its accounts are not closed."""
        return self._trace(self.now_ms)

    def _trace(self, end_ms: int) -> Trace:
        world, planned, scenario = self._world, self._planned, self.scenario
        label = scenario.protocol or _label(scenario)
        meta = {
            "scenario": scenario.name,
            "title": scenario.title,
            "kafka_version": scenario.kafka_version,
            "group": scenario.group,
            "broker": dict(scenario.broker),
            "topics": {topic.name: topic.partitions for topic in scenario.topics},
            "members": [spec.name for spec in planned.members],
            "topic_ids": {
                name: list(topic_id) for name, topic_id in sorted(world.cluster.topics.ids.items())
            },
        }
        return Trace(
            f"{scenario.name}-{label}-{self.seed}",
            label,
            self.seed,
            end_ms,
            tuple(world.host.rows),
            meta=meta,
        )


def _do(argument: tuple[World, Action]) -> None:
    perform(*argument)


def _label(scenario: Scenario) -> str:
    kinds = {str(spec.configs.get("group.protocol", "classic")).lower() for spec in scenario.members}
    return kinds.pop() if len(kinds) == 1 else "mixed"


def _close_books(world: World) -> None:
    """Final counts a partition, then the last row."""
    end = world.host.now_ms
    for process in world.processes.values():
        process.close_books()
    if world.scenario.data_plane:
        groups = sorted(
            {process.group_id for process in world.processes.values() if process.client is not None}
        )
        for group in groups:
            for tp in sorted(world.cluster.plane.logs):
                ledger = world.cluster.plane.ledger(group, tp)
                detail = {
                    "group": group,
                    "produced": world.cluster.plane.end(tp, end),
                    "delivered": ledger.delivered,
                    "redelivered": ledger.redelivered,
                    "lost": ledger.lost(),
                    "committed": ledger.committed,
                    "read": ledger.high,
                }
                world.host.row(
                    "run", "account", None, None, None, detail, topic=tp.topic, partition=tp.partition
                )
    world.host.row("run", "run_end", None, None, None, {"reason": "end of the scenario"})
