"""Everything of one run wired together: the run's host, the cluster, the processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.protocol import effects as fx
from rebalance_kit.simulation.client.process import Process
from rebalance_kit.simulation.cluster.cluster import Cluster
from rebalance_kit.simulation.cluster.network import Faults
from rebalance_kit.simulation.kernel.agenda import Agenda
from rebalance_kit.simulation.kernel.host import RunHost
from rebalance_kit.simulation.learner_code.plug_ins import NO_PLUG_INS, PlugIns, supports
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario


class World:
    """One run in progress."""

    __slots__ = ("cluster", "host", "processes", "scenario")

    def __init__(
        self, scenario: Scenario, seed: int, plug_ins: PlugIns = NO_PLUG_INS, agenda: Agenda | None = None
    ) -> None:
        self.scenario = scenario
        self.host = RunHost(seed, scenario.latencies, agenda)
        self.processes: dict[str, Process] = {}
        self.cluster = Cluster(self.host, scenario, self.processes)
        own_assignors = supports(plug_ins.assignors)
        for spec in scenario.members:
            self.processes[spec.name] = Process(
                self.host, self.cluster, plug_ins, own_assignors, scenario.group, spec
            )

    def close(self) -> None:
        """The run is over: break reference cycles, so that memory is freed without the garbage collector."""
        self.host.agenda.clear()
        self.cluster.close()
        for process in self.processes.values():
            process.close()
        self.processes.clear()


# How the primitive actions of a scenario are done to a world (macros are expanded beforehand).


ActionHandler = Callable[[World, Action], None]


def perform(world: World, action: Action) -> None:
    """Carry one action out and write its row."""
    world.host.row(
        action.member or "admin",
        "action",
        None,
        None,
        None,
        {"do": action.do, "member": action.member, **{k: _plain(v) for k, v in action.args.items()}},
    )
    run = ACTION_HANDLERS.get(action.do)
    if run is None:
        raise ScenarioError(
            f"{world.scenario.name}: action {action.do!r} at {action.at_ms} ms is unknown; expected one of {', '.join(ACTION_HANDLERS)}"
        )
    run(world, action)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, tuple) else value


def _process(world: World, action: Action) -> Process:
    process = world.processes.get(action.member or "")
    if process is None:
        raise ScenarioError(
            f"{world.scenario.name}: action {action.do} at {action.at_ms} ms: no member is named {action.member!r}; "
            f"expected one of {', '.join(world.processes)}"
        )
    return process


def _start(world: World, action: Action) -> None:
    process = _process(world, action)
    process.start(started_spec(process.spec, action.args))


def started_spec(spec: MemberSpec, args: Mapping[str, Any]) -> MemberSpec:
    """The member as a start action changes it: topics, configs and commit policy may be given anew."""
    changes: dict[str, Any] = {key: args[key] for key in ("client", "callback", "commit") if key in args}
    if "topics" in args:
        changes["topics"] = tuple(args["topics"])
        if args["topics"]:
            changes["pattern"] = changes["server_pattern"] = None
    if "configs" in args:
        changes["configs"] = (
            {**spec.configs, **args["configs"]} if not args.get("replace_configs") else dict(args["configs"])
        )
    return replace(spec, **changes)


def _close(world: World, action: Action) -> None:
    _process(world, action).order(fx.CloseCalled(int(action.args.get("timeout_ms", 30_000))))


def _crash(world: World, action: Action) -> None:
    _process(world, action).end("crash")


def _stall(world: World, action: Action) -> None:
    _process(world, action).stall(int(action.args["for_ms"]))


def _slow_down(world: World, action: Action) -> None:
    _process(world, action).set_processing(float(action.args["processing_ms"]))


def _slow_callback(world: World, action: Action) -> None:
    _process(world, action).pace.callback_ms = int(action.args["callback_ms"])


def _subscribe(world: World, action: Action) -> None:
    process = _process(world, action)
    process.subscribe(replace(process.spec, topics=tuple(sorted(action.args["topics"]))))


def _enforce(world: World, action: Action) -> None:
    reason = str(action.args.get("reason") or "rebalance enforced by user")
    _process(world, action).order(fx.RejoinEnforced(reason))


def _see_metadata(world: World, action: Action) -> None:
    """A replay pins what one client's metadata said (a broker that is still starting may say too little)."""
    _process(world, action).see_metadata(dict(action.args["topics"]))


def _remove(world: World, action: Action) -> None:
    process = _process(world, action)
    membership = process.membership()
    if membership is not None:
        world.cluster.broker.remove_member(process.group_id, *membership)


def _faults(world: World, action: Action) -> Faults:
    return _process(world, action).faults


def _cut(world: World, action: Action) -> None:
    _faults(world, action).cut = True


def _heal(world: World, action: Action) -> None:
    world.cluster.network.heal(_faults(world, action))


def _drop_next(world: World, action: Action) -> None:
    _faults(world, action).drop.append(str(action.args["api"]))


def _delay_next(world: World, action: Action) -> None:
    _faults(world, action).delay[str(action.args["api"])] = int(action.args["by_ms"])


def _add_partitions(world: World, action: Action) -> None:
    topic, partitions = str(action.args["topic"]), int(action.args["partitions"])
    before = world.cluster.topics.counts.get(topic, 0)
    if partitions <= before:
        raise ScenarioError(
            f"{world.scenario.name}: topic {topic!r} has {before} partitions at {action.at_ms} ms; a topic only grows, got {partitions}"
        )
    world.cluster.broker.set_topic(topic, partitions, _rate(world, topic, action))


def _create_topic(world: World, action: Action) -> None:
    topic = str(action.args["topic"])
    if topic in world.cluster.topics.counts:
        raise ScenarioError(f"{world.scenario.name}: topic {topic!r} exists already at {action.at_ms} ms")
    world.cluster.broker.set_topic(topic, int(action.args["partitions"]), _rate(world, topic, action))


def _rate(world: World, topic: str, action: Action) -> float:
    known = {spec.name: spec.rate_per_s for spec in world.scenario.topics}
    return float(action.args.get("rate_per_s", known.get(topic, 10.0)))


def _delete_topic(world: World, action: Action) -> None:
    """Delete it; who fetches from it hears so at once, anybody else when its metadata is read again."""
    topic = str(action.args["topic"])
    processes = world.processes.values()
    for process in processes:
        process.lose_topic(topic)
    world.cluster.broker.delete_topic(topic)
    for process in processes:
        process.notice_deletion(topic)


def _broker_down(world: World, action: Action) -> None:
    world.cluster.broker.stop()


def _broker_up(world: World, action: Action) -> None:
    world.cluster.broker.start()


def _failover(world: World, action: Action) -> None:
    world.cluster.broker.stop()
    world.host.at(
        world.host.now_ms + int(action.args.get("for_ms", 200)), lambda _: world.cluster.broker.start(), None
    )


def _node_down(world: World, action: Action) -> None:
    world.cluster.replicas.stop(int(action.args["node"]), crash=bool(action.args.get("crash")))


def _node_up(world: World, action: Action) -> None:
    world.cluster.replicas.start(int(action.args["node"]))


ACTION_HANDLERS: Mapping[str, ActionHandler] = MappingProxyType(
    {
        "start": _start,
        "close": _close,
        "crash": _crash,
        "freeze": lambda world, action: _process(world, action).freeze(),
        "thaw": lambda world, action: _process(world, action).thaw(),
        "stall": _stall,
        "slow_down": _slow_down,
        "slow_callback": _slow_callback,
        "subscribe": _subscribe,
        "enforce_rebalance": _enforce,
        "remove": _remove,
        "see_metadata": _see_metadata,
        "cut_network": _cut,
        "heal_network": _heal,
        "drop_next": _drop_next,
        "delay_next": _delay_next,
        "add_partitions": _add_partitions,
        "create_topic": _create_topic,
        "delete_topic": _delete_topic,
        "broker_down": _broker_down,
        "broker_up": _broker_up,
        "node_down": _node_down,
        "node_up": _node_up,
        "coordinator_failover": _failover,
    }
)
