"""``simulate``: a scenario and a seed in, a trace out; the same trace every time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.actions import expand
from rebalance_kit.simulation.doing import do
from rebalance_kit.simulation.plug_ins import PlugIns, check_listeners, supports
from rebalance_kit.simulation.scenario import Action, Scenario, with_protocol
from rebalance_kit.simulation.world import World


def simulate(
    scenario: Scenario,
    seed: int | None = None,
    protocol: str | None = None,
    *,
    listeners: Mapping[str, Any] | None = None,
    assignors: Mapping[str, Callable[..., Any]] | None = None,
) -> Trace:
    """Run a scenario to its end and return all that happened.

    ``seed`` replaces the scenario's own, ``protocol`` (eager, cooperative, consumer, ...) switches
    every member first. ``listeners`` are rebalance listeners of your own by member, ``assignors`` functions
    ``(partition_counts, members) -> {member_id: partitions}`` by the name that
    ``partition.assignment.strategy`` may then list. Raises ``ScenarioError`` or ``ConfigError`` before
    anything runs when the scenario cannot mean anything; what your code does wrong later stands in the
    trace (``own_code_fault``).
    """
    if protocol is not None:
        scenario = with_protocol(scenario, protocol)
    planned = expand(scenario, supports(assignors))
    check_listeners(listeners, (spec.name for spec in planned.members))
    drawn = scenario.seed if seed is None else seed
    world = World(planned, drawn, PlugIns(listeners or {}, assignors or {}))
    for spec in planned.members:
        if spec.start_ms is not None:
            world.agenda.at(spec.start_ms, world.processes[spec.name].start, spec)
    for action in sorted(planned.actions, key=lambda one: one.at_ms):
        world.agenda.at(action.at_ms, _do, (world, action))
    world.agenda.run(planned.end_ms)
    _close_books(world)
    label = scenario.protocol or _label(scenario)
    meta = {
        "scenario": scenario.name, "title": scenario.title, "kafka_version": scenario.kafka_version, "group": scenario.group, "broker": dict(scenario.broker),
        "topics": {topic.name: topic.partitions for topic in scenario.topics}, "members": [spec.name for spec in planned.members],
        "topic_ids": {name: list(held) for name, held in sorted(world.broker.topic_ids.items())},
    }  # fmt: skip
    rows = tuple(world.rows)
    world.close()
    return Trace(f"{scenario.name}-{label}-{drawn}", label, drawn, planned.end_ms, rows, meta=meta)


def _do(argument: tuple[World, Action]) -> None:
    do(*argument)


def _label(scenario: Scenario) -> str:
    kinds = {str(spec.configs.get("group.protocol", "classic")).lower() for spec in scenario.members}
    return kinds.pop() if len(kinds) == 1 else "mixed"


def _close_books(world: World) -> None:
    """Final counts a partition, then the last row."""
    end = world.agenda.now_ms
    for process in world.processes.values():
        if process.alive:
            process.fetching.settle()
    if world.scenario.data_plane:
        groups = sorted({process.group_id for process in world.processes.values() if process.life})
        for group in groups:
            for tp in sorted(world.plane.logs):
                ledger = world.plane.ledger(group, tp)
                detail = {"group": group, "produced": world.plane.end(tp, end), "delivered": ledger.delivered, "redelivered": ledger.redelivered,
                          "lost": ledger.lost(), "committed": ledger.committed, "read": ledger.high}  # fmt: skip
                world.row(
                    "run", "account", "classic", None, None, detail, topic=tp.topic, partition=tp.partition
                )
    world.row("run", "run_end", "classic", None, None, {"reason": "end of the scenario"})
