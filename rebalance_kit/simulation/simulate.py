"""``simulate``: a scenario and a seed in, a trace out; the same trace every time. ``World`` is everything of one run wired together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from numbers import Integral
from types import MappingProxyType, NoneType
from typing import Any

from rebalance_kit.model.errors import ScenarioError, require_kind
from rebalance_kit.model.trace import Trace
from rebalance_kit.protocol import effects as fx
from rebalance_kit.simulation.client.process import Process
from rebalance_kit.simulation.cluster.broker import Cluster
from rebalance_kit.simulation.cluster.network import Faults
from rebalance_kit.simulation.kernel import Agenda, RunHost
from rebalance_kit.simulation.learner_code.plug_ins import (
    NO_PLUG_INS,
    NOTHING,
    PlugIns,
    Supports,
    check_listeners,
    supports,
)
from rebalance_kit.simulation.scenario.expansion import check_moments, drawn, expand
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario, with_protocol


class World:
    """One run in progress."""

    __slots__ = ("cluster", "host", "processes", "scenario")

    def __init__(
        self,
        scenario: Scenario,
        seed: int,
        plug_ins: PlugIns = NO_PLUG_INS,
        agenda: Agenda | None = None,
        *,
        tells_messages: bool = True,
    ) -> None:
        self.scenario = scenario
        self.host = RunHost(seed, scenario.latencies, agenda, tells_messages=tells_messages)
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
    """The coordinators' broker stops; where the scenario names brokers, what it leads needs another leader or waits."""
    world.cluster.broker.stop()
    world.cluster.replicas.stop_first()


def _broker_up(world: World, action: Action) -> None:
    world.cluster.broker.start()
    world.cluster.replicas.start_first()


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


def simulate_to_measure(scenario: Scenario, seed: int, protocol: str | None = None) -> Trace:
    """The same run, only without the rows of requests, answers and commits: who counts no messages has it sooner."""
    if protocol is not None:
        scenario = with_protocol(scenario, protocol)
    return Run(scenario, seed, tells_messages=False).finish()


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
        tells_messages: bool = True,
    ) -> None:
        _require_scenario(scenario)
        require_kind(seed, (Integral, NoneType), "the seed", "a whole number, or None for the scenario's own")
        self.seed = scenario.seed if seed is None else int(seed)
        planned = plan(scenario, self.seed, supports(assignors))
        check_listeners(listeners, (spec.name for spec in planned.members))
        self.scenario, self._planned = drawn(scenario, self.seed), planned
        plug_ins = PlugIns(listeners or {}, assignors or {})
        self._world = world = World(planned, self.seed, plug_ins, agenda, tells_messages=tells_messages)
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
