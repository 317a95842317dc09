"""What could be otherwise: settings, protocols and deploys as changes of a scenario, with their keys, their price and their rollout."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

from rebalance_kit.model.broker_keys import BROKER_KEYS
from rebalance_kit.model.config import BrokerConfig, ClientConfig
from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.model.versions import has
from rebalance_kit.simulation.scenario.expansion import check
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario, left_out
from rebalance_kit.whatif.understanding import under

Change = Callable[[Scenario], Scenario]
_SESSION, _BEAT, _POLL = "session.timeout.ms", "heartbeat.interval.ms", "max.poll.interval.ms"
_BROKER_SESSION = "group.consumer.session.timeout.ms"
_STICKY = "org.apache.kafka.clients.consumer.CooperativeStickyAssignor"
PAUSE_MS = 30_000


@dataclass(frozen=True, slots=True)
class Alternative:
    """One thing to change: ``keys`` in the client's spelling, ``price`` what it costs, ``rollout`` the steps in order."""

    name: str
    change: Change
    keys: tuple[str, ...]
    price: str
    rollout: tuple[str, ...]
    parts: tuple[str, ...] = ()
    #: protocol, membership, clock, poll or deploy: of each kind one at a time.
    kind: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Its parts, or itself."""
        return self.parts or (self.name,)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of its parts."""
        return tuple(self.kind.split("+"))


def alternatives(scenario: Scenario) -> list[Alternative]:
    """What can sensibly be asked about a night; each yields a scenario that the engine accepts."""
    kinds = {
        "protocol": _protocols,
        "membership": _static,
        "clock": _clocks,
        "poll": _polls,
        "deploy": _deploys,
    }
    found = [replace(one, kind=kind) for kind, made in kinds.items() for one in made(scenario)]
    return [one for one in found if _possible(scenario, one)]


def together(
    scenario: Scenario, each: list[Alternative], given: Alternative | None = None
) -> Iterator[Alternative]:
    """Pairs of alternatives, the later one applied to what the first one made; with ``given`` each beside it that comes after its parts."""
    names = [one.name for one in each]
    later = each if given is None else each[max(map(names.index, given.parts)) + 1 :]
    for first, second in combinations(each, 2) if given is None else ((given, one) for one in later):
        kinds = {*first.kinds, second.kind}
        if second.kind in first.kinds or ("clock" in kinds and "KIP-848" in {*first.names, second.name}):
            continue  # a KIP-848 client refuses the keys of the classic one's clocks

        def both(one: Scenario, first: Alternative = first, second: Alternative = second) -> Scenario:
            return second.change(first.change(one))

        pair = Alternative(
            f"{first.name} + {second.name}",
            both,
            first.keys + second.keys,
            f"{first.price} {second.price}",
            first.rollout + second.rollout,
            (*first.names, second.name),
            "+".join((*first.kinds, second.kind)),
        )
        if _possible(scenario, pair):
            yield pair


def _possible(scenario: Scenario, one: Alternative) -> bool:
    try:
        changed = one.change(scenario)
        check(changed)
    except RebalanceKitError:
        return False
    return changed != scenario


def is_consumer(scenario: Scenario) -> bool:
    """Whether the group's members use KIP-848."""
    return any(
        str(spec.configs.get("group.protocol", "classic")).lower() == "consumer" for spec in scenario.members
    )


def mode_of(scenario: Scenario) -> str:
    """eager, cooperative or consumer, by what the members' settings mean together."""
    if is_consumer(scenario):
        return "consumer"
    modes = {
        ClientConfig.of(spec.configs, scenario.kafka_version, client=spec.client).mode
        for spec in scenario.members
    }
    return "cooperative" if modes == {"COOPERATIVE"} else "eager"


def detection(*scenarios: Scenario) -> str:
    """When a process that dies without close() is noticed, by the settings that hold (in any of these scenarios)."""
    each = [session_and_beat(one) for one in scenarios]
    low, high = min(max(0, session - beat) for session, beat in each), max(session for session, _ in each)
    return f"{low / 1000:g} to {high / 1000:g} s"


def session_and_beat(scenario: Scenario) -> tuple[int, int]:
    """The longest session and heartbeat interval (ms) that hold: the broker's for KIP-848, else the members'."""
    if is_consumer(scenario):
        broker = BrokerConfig.of(scenario.broker, scenario.kafka_version)
        return broker.consumer_session_timeout_ms, broker.consumer_heartbeat_interval_ms
    configs = [
        ClientConfig.of(one.configs, scenario.kafka_version, client=one.client) for one in scenario.members
    ]
    return max(one.session_timeout_ms for one in configs), max(one.heartbeat_interval_ms for one in configs)


def with_configs(scenario: Scenario, given: Mapping[str, Any]) -> Scenario:
    """The scenario with keys set in every member's configuration (None removes one), later starts included."""

    def merged(configs: Mapping[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in {**configs, **given}.items() if value is not None}

    members = tuple(replace(spec, configs=merged(spec.configs)) for spec in scenario.members)
    actions = tuple(
        replace(action, args={**action.args, "configs": merged(action.args["configs"])})
        if "configs" in action.args
        else action
        for action in scenario.actions
    )
    return replace(scenario, members=members, actions=actions)


def with_clocks(scenario: Scenario, session_ms: int, beat_ms: int) -> Scenario:
    """The scenario with another session and heartbeat interval, where its protocol has them."""
    if not is_consumer(scenario):
        return with_configs(scenario, {_SESSION: session_ms, _BEAT: beat_ms})
    given: dict[str, Any] = {}
    for key, value in (("session.timeout", session_ms), ("heartbeat.interval", beat_ms)):
        given[f"group.consumer.{key}.ms"] = value
        least, most = f"group.consumer.min.{key}.ms", f"group.consumer.max.{key}.ms"
        given[least] = min(
            value, int(scenario.broker.get(least, BROKER_KEYS[least].default(scenario.kafka_version)))
        )
        given[most] = max(
            value, int(scenario.broker.get(most, BROKER_KEYS[most].default(scenario.kafka_version)))
        )
    return _broker_with(scenario, given)


def static_members(scenario: Scenario, static: bool = True) -> Scenario:
    """The scenario with members that have instance ids of their own, or none."""

    def named(configs: Mapping[str, Any], name: object) -> dict[str, Any]:
        rest = {key: value for key, value in configs.items() if key != "group.instance.id"}
        return {**rest, "group.instance.id": name} if static else rest

    members = tuple(replace(spec, configs=named(spec.configs, spec.name)) for spec in scenario.members)
    actions = tuple(
        replace(action, args={**action.args, "configs": named(action.args["configs"], action.member)})
        if "configs" in action.args
        else action
        for action in scenario.actions
    )
    return replace(scenario, members=members, actions=actions)


def _broker_with(scenario: Scenario, given: Mapping[str, Any]) -> Scenario:
    return replace(scenario, broker={**scenario.broker, **given})


def _protocols(scenario: Scenario) -> Iterator[Alternative]:
    mode = mode_of(scenario)
    if mode == "eager":
        yield Alternative(
            "cooperative",
            lambda one: under(one, "cooperative"),
            _cooperative_keys(scenario),
            "A rebalance in which partitions change hands takes two generations.",
            _cooperative_rollout(scenario),
        )
    if mode != "consumer" and has("consumer-protocol", scenario.kafka_version):
        gone = left_out(scenario, "consumer")
        broker = BrokerConfig.of(scenario.broker, scenario.kafka_version)
        now, then = detection(scenario), broker.consumer_session_timeout_ms / 1000
        yield Alternative(
            "KIP-848",
            lambda one: under(one, "consumer"),
            ("group.protocol=consumer", *(f"remove {each.key}" for each in gone)),
            f"A dead member is noticed after up to {then:g} s (now {now}), because the broker's "
            f"{_BROKER_SESSION} holds. " + " ".join(each.words for each in gone if each.refused),
            (
                "brokers on 4.0 or later, group.version=1, group.consumer.migration.policy=bidirectional (the default)",
                "remove the keys that the client refuses, set group.protocol=consumer, bounce member by member",
                "the group is a consumer group from the first of them on; the way back is the same bounce, and the last one makes it classic",
            ),
        )


def _clients(scenario: Scenario) -> set[str]:
    return {spec.client for spec in scenario.members}


def _cooperative_keys(scenario: Scenario) -> tuple[str, ...]:
    value = {"java": _STICKY, "librdkafka": "cooperative-sticky"}
    clients = sorted(_clients(scenario))
    return tuple(
        f"partition.assignment.strategy={value[client]}{f' ({client})' if len(clients) > 1 else ''}"
        for client in clients
    )


def _cooperative_rollout(scenario: Scenario) -> tuple[str, ...]:
    if "librdkafka" in _clients(scenario):
        return (
            "stop all members, change the key, start them: librdkafka refuses a list that mixes eager and cooperative assignors",
        )
    return (
        f"1st bounce, member by member: partition.assignment.strategy={_STICKY},<the present assignor> "
        "(not needed where the default list [range, cooperative-sticky] holds)",
        f"2nd bounce, member by member: partition.assignment.strategy={_STICKY} alone",
    )


def _static(scenario: Scenario) -> Iterator[Alternative]:
    if any("group.instance.id" in spec.configs for spec in scenario.members):
        return
    yield Alternative(
        "static members",
        static_members,
        ("group.instance.id=<one stable name per process, such as the pod's of a StatefulSet>",),
        f"A member that is closed for good keeps its partitions unread until its session ends ({detection(scenario)}).",
        ("give each process its own name, bounce member by member",),
    )


def _clocks(scenario: Scenario) -> Iterator[Alternative]:
    if is_consumer(scenario):
        broker = BrokerConfig.of(scenario.broker, scenario.kafka_version)
        session = broker.consumer_session_timeout_ms
        for wanted in sorted({max(6_000, session // 3), min(60_000, session * 3)} - {session}):
            least = min(wanted, int(scenario.broker.get("group.consumer.min.session.timeout.ms", 45_000)))
            given = {_BROKER_SESSION: wanted, "group.consumer.min.session.timeout.ms": least}
            yield Alternative(
                f"session {wanted / 1000:g} s",
                lambda one, given=given: _broker_with(one, given),  # type: ignore[misc]
                tuple(f"broker: {key}={value}" for key, value in given.items()),
                _session_price(wanted, session),
                (
                    "brokers: set the keys and restart one after the other (they are not dynamic); no client is bounced",
                    f"or, within the brokers' bounds, for this group alone and at once: kafka-configs --alter --entity-type groups "
                    f"--entity-name <group> --add-config consumer.session.timeout.ms={wanted}",
                ),
            )
        return
    sessions = [
        ClientConfig.of(spec.configs, scenario.kafka_version, client=spec.client).session_timeout_ms
        for spec in scenario.members
    ]
    session = max(sessions, default=45_000)
    for wanted in sorted(
        {max(6_000, session // 3), session * 3 if session <= 20_000 else 45_000} - {session}
    ):
        beat = min(3_000, wanted // 3)
        yield Alternative(
            f"session {wanted / 1000:g} s",
            lambda one, wanted=wanted, beat=beat: with_configs(one, {_SESSION: wanted, _BEAT: beat}),  # type: ignore[misc]
            (f"{_SESSION}={wanted}", f"{_BEAT}={beat}"),
            _session_price(wanted, session),
            ("bounce member by member",),
        )
    slowest = max((int(spec.configs.get(_BEAT, 3_000)) for spec in scenario.members), default=0)
    if slowest > 1_000:
        yield Alternative(
            "heartbeat 1 s",
            lambda one: with_configs(one, {_BEAT: 1_000}),
            (f"{_BEAT}=1000",),
            f"{slowest / 1_000:g} times the heartbeats.",
            ("bounce member by member",),
        )


def _session_price(wanted: int, before: int) -> str:
    if wanted < before:
        return f"A pause (GC, a slow disk) of more than {wanted / 1000:g} s, not {before / 1000:g} s, costs a member its place."
    return f"A dead member is noticed up to {wanted / 1000:g} s late, not {before / 1000:g} s."


def _polls(scenario: Scenario) -> Iterator[Alternative]:
    stalls = [int(action.args["for_ms"]) for action in scenario.actions if action.do == "stall"]
    limits = [
        ClientConfig.of(spec.configs, scenario.kafka_version, client=spec.client).max_poll_interval_ms
        for spec in scenario.members
    ]
    if not stalls or max(stalls) <= min(limits):
        return
    wanted = -(-max(stalls) * 3 // 2 // 10_000) * 10_000
    yield Alternative(
        f"poll limit {wanted / 1000:g} s",
        lambda one: with_configs(one, {_POLL: wanted}),
        (f"{_POLL}={wanted}",),
        f"A handler that hangs is noticed after {wanted / 1000:g} s, and a classic rebalance waits as long for a member that does not poll.",
        ("bounce member by member",),
    )
    if "librdkafka" in _clients(scenario):
        return  # it has no max.poll.records
    yield Alternative(
        "records per poll halved",
        lambda one: replace(
            one,
            actions=tuple(
                replace(action, args={**action.args, "for_ms": max(1, int(action.args["for_ms"]) // 2)})
                if action.do == "stall"
                else action
                for action in one.actions
            ),
        ),
        (f"max.poll.records={_records(scenario) // 2}",),
        "More polls for the same records. It helps only if the handler's time grows with the number of records, which is assumed here.",
        ("bounce member by member",),
    )


def _records(scenario: Scenario) -> int:
    return min(
        ClientConfig.of(spec.configs, scenario.kafka_version, client=spec.client).max_poll_records
        for spec in scenario.members
    )


def _deploys(scenario: Scenario) -> Iterator[Alternative]:
    """Restarts of several members, one after the other with a pause."""
    restarts = _restarts(scenario)
    if len({close.member for close, _ in restarts}) < 2:
        return
    yield Alternative(
        f"pause {PAUSE_MS // 1000} s",
        _paced,
        (f"minReadySeconds: {PAUSE_MS // 1000}", "maxUnavailable: 1", "maxSurge: 0 (Deployment)"),
        f"The deploy takes {len(restarts) * PAUSE_MS / 1000:g} s and more.",
        ("the Deployment's or StatefulSet's strategy; the consumers keep their settings",),
    )
    yield Alternative(
        "surge",
        _surged,
        ("maxSurge: 1", "maxUnavailable: 0"),
        "For a moment there is one member more than usual; it needs a place on a node.",
        ("a Deployment's strategy (a StatefulSet has no surge)",),
    )


def _restarts(scenario: Scenario) -> list[tuple[Action, Action]]:
    found = []
    for place, action in enumerate(scenario.actions):
        if action.do != "close":
            continue
        back = next(
            (
                one
                for one in scenario.actions[place + 1 :]
                if one.member == action.member and one.do == "start"
            ),
            None,
        )
        if back is not None:
            found.append((action, back))
    return found


def _paced(scenario: Scenario) -> Scenario:
    moved: dict[int, Action] = {}
    until_ms = 0
    for close, start in _restarts(scenario):
        at_ms = max(close.at_ms, until_ms)
        by_ms = at_ms - close.at_ms
        moved[id(close)] = replace(close, at_ms=at_ms, within_ms=0)
        moved[id(start)] = replace(start, at_ms=start.at_ms + by_ms, within_ms=0)
        until_ms = start.at_ms + by_ms + PAUSE_MS
    actions = tuple(sorted((moved.get(id(one), one) for one in scenario.actions), key=lambda one: one.at_ms))
    return replace(scenario, actions=actions, end_ms=max(scenario.end_ms, until_ms))


def _surged(scenario: Scenario) -> Scenario:
    """Each restart becomes a new member that starts first; the old one closes when the new one has had its time to join."""
    specs = {spec.name: spec for spec in scenario.members}
    members: list[MemberSpec] = list(scenario.members)
    actions = [
        one
        for one in scenario.actions
        if not any(one is each for pair in _restarts(scenario) for each in pair)
    ]
    now: dict[str, str] = {}
    for number, (close, start) in enumerate(_restarts(scenario), 1):
        name, old = f"{close.member}-new-{number}", now.get(str(close.member), str(close.member))
        now[str(close.member)] = name
        configs = {**specs[str(close.member)].configs, **start.args.get("configs", {})}
        if "group.instance.id" in configs:
            configs["group.instance.id"] = name
        members.append(replace(specs[str(close.member)], name=name, configs=configs, start_ms=None))
        away_ms = start.at_ms - close.at_ms
        actions.append(Action(close.at_ms, "start", name))
        actions.append(replace(close, member=old, at_ms=close.at_ms + away_ms, within_ms=0))
    return replace(
        scenario, members=tuple(members), actions=tuple(sorted(actions, key=lambda one: one.at_ms))
    )
