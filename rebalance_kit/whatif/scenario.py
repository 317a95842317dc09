"""A night as a scenario: the ordinary kind, with a comment on every part that says which line it comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rebalance_kit.model.broker_keys import BROKER_KEYS
from rebalance_kit.model.client_keys import CLIENT_KEYS
from rebalance_kit.model.config import BrokerConfig, ClientConfig
from rebalance_kit.model.errors import ConfigError
from rebalance_kit.model.html import visible
from rebalance_kit.model.key_types import UnknownConfig
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario, TopicSpec
from rebalance_kit.simulation.scenario.yaml_writer import write_scenario
from rebalance_kit.whatif.inferred import strategies
from rebalance_kit.whatif.lives import Deed, Ground, Member, Night
from rebalance_kit.whatif.read import BEGINNING_MS, WHOLE

_EARLIEST = {"auto.offset.reset": "earliest"}
_NAME = re.compile(r"[^A-Za-z0-9_.-]+")


def scenario_of(night: Night) -> Scenario:
    """The scenario of a night. Its clock starts with the night; what cannot be repeated is left out and said in ``night.outside``."""
    begin_ms = night.begin_ms
    starts = {
        member: min(deed.at_ms for deed in night.deeds if deed.member == member and deed.do == "start")
        for member in {deed.member for deed in night.deeds if deed.do == "start"}
    }
    members = []
    for member in night.members.values():
        start_ms = starts.get(member.name)
        at_ms = None if start_ms is None else max(0, start_ms - begin_ms)
        if member.before:
            at_ms = 0
        elif at_ms is not None and at_ms > BEGINNING_MS:
            at_ms = None
            starts.pop(member.name)
        members.append(_spec(night, member, at_ms))
    topics = tuple(
        TopicSpec(name, count, night.rate_per_s.get(name, 10.0)) for name, (count, _) in night.topics.items()
    )
    end_ms = max(1_000, night.end_ms - begin_ms)
    stops = any(deed.do == "broker_down" for deed in night.deeds)
    return Scenario(
        _NAME.sub("-", f"night-of-{night.group}"),
        topics,
        tuple(members),
        _actions(night, starts, end_ms),
        end_ms,
        1,
        title=f"The night of {night.group}",
        kafka_version=night.kafka_version,
        group=night.group,
        broker=_broker(night),
        nodes={} if night.only_node is None or not stops else {night.only_node: None},
    )


def scenarios_of(night: Night) -> tuple[Scenario, ...]:
    """The scenarios between which the draws of a night go round; where the defaults fit, they are every second one."""
    first, *others = [scenario_of(one) for one in (night, *night.also)]
    if not others or not night.plain:
        return (first, *others)
    return tuple(one for other in others for one in (first, other))


def _spec(night: Night, member: Member, start_ms: int | None) -> MemberSpec:
    configs = _configs(night, member, member.configs)
    return MemberSpec(
        member.name, member.topics, configs, pattern=member.pattern, start_ms=start_ms, client=member.client
    )


def _configs(night: Night, member: Member, printed: Mapping[str, tuple[str, Ground]]) -> dict[str, Any]:
    configs: dict[str, Any] = dict(_EARLIEST)
    if member.instance:
        configs["group.instance.id"] = member.instance
    for key, (value, _) in printed.items():
        parsed: Any = strategies(value) if key == "partition.assignment.strategy" else value
        kind = CLIENT_KEYS[key].kind
        if kind in {"INT", "LONG"}:
            parsed = int(value)
        elif kind == "BOOLEAN":
            parsed = value == "true"
        if key == "group.protocol":
            parsed = value.lower()
        if key == "auto.offset.reset" or _is_default(key, parsed, night.kafka_version):
            continue
        if not _accepted({**configs, key: parsed}, night.kafka_version, member.client):
            sentence = (
                f"{key} ({value}) of {member.name}: the engine has no such setting and takes the default"
            )
            if sentence not in night.outside:
                night.outside.append(sentence)
            continue
        configs[key] = parsed
    return configs


def _is_default(key: str, value: Any, version: str) -> bool:
    default = CLIENT_KEYS[key].default(version)
    if isinstance(default, tuple):
        return tuple(str(item).rpartition(".")[2] for item in value) in {
            tuple(default),
            ("RangeAssignor", "CooperativeStickyAssignor")[: len(default)],
        }
    return bool(value == default)


def _accepted(configs: Mapping[str, Any], version: str, client: str) -> bool:
    try:
        ClientConfig.of(configs, version, client=client)
    except ConfigError:
        return False
    return True


def _broker(night: Night) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, (value, _) in night.broker.items():
        parsed: Any = int(value) if BROKER_KEYS[key].kind in WHOLE else value.strip("[]")
        found[key] = parsed
    found = {key: value for key, value in found.items() if _known(key, value, night.kafka_version)}
    try:
        BrokerConfig.of(found, night.kafka_version)
    except ConfigError as error:
        night.outside.append(f"the broker's settings: {error}")
        return {}
    return found


def _known(key: str, value: Any, version: str) -> bool:
    """Whether a broker of that version has the key, with a value that is no fault by itself."""
    try:
        BrokerConfig.of({key: value}, version)
    except UnknownConfig:
        return False
    except ConfigError:
        return True
    return True


def _actions(night: Night, starts: Mapping[str | None, int], end_ms: int) -> tuple[Action, ...]:
    actions: list[Action] = []
    busy: dict[str | None, int] = {}
    for deed in sorted(night.deeds, key=lambda one: one.at_ms):
        if (
            deed.do == "start"
            and starts.get(deed.member) == deed.at_ms
            and not night.members[deed.member or ""].before
        ):
            continue
        at_ms = max(1, deed.at_ms - night.begin_ms)
        if at_ms >= end_ms:
            continue
        within = min(deed.within_ms, at_ms - busy.get(deed.member, 0) - 1, end_ms - at_ms - 1)
        within = max(0, within)
        busy[deed.member] = at_ms + within
        actions.append(Action(at_ms, deed.do, deed.member, _args(night, deed), within))
    return tuple(_without_clashes(actions))


def _args(night: Night, deed: Deed) -> dict[str, Any]:
    printed = deed.args.get("printed")
    if not isinstance(printed, dict) or deed.member is None:
        return dict(deed.args)
    return {"configs": _configs(night, night.members[deed.member], printed), "replace_configs": True}


def _without_clashes(actions: list[Action]) -> list[Action]:
    """Windows that would let chance decide the order of one member's actions are narrowed."""
    by_place = list(actions)
    for place, action in enumerate(by_place):
        later = next((one for one in by_place[place + 1 :] if one.member == action.member), None)
        if (
            later is not None
            and action.within_ms
            and action.at_ms + action.within_ms >= later.at_ms - later.within_ms
        ):
            room = max(0, (later.at_ms - later.within_ms - action.at_ms) - 1)
            by_place[place] = replace(action, within_ms=min(action.within_ms, room))
    return by_place


def commented(night: Night, scenario: Scenario) -> str:
    """The scenario as YAML; above it what is assumed and missing, and beside each action the line it comes from."""
    head = [f"# The night of {night.group}, reconstructed from its logs; edit it and run it again."]
    head += [f"# assumed: {sentence}" for sentence in night.assumed]
    head += [f"# missing: {sentence}" for sentence in night.missing]
    head += [f"# left out: {sentence}" for sentence in night.outside]
    for name, (count, place) in night.topics.items():
        head.append(f"# topic {name}, {count} partitions: {place}")
    for member in night.members.values():
        for key, (value, place) in member.configs.items():
            if key in {
                "session.timeout.ms",
                "heartbeat.interval.ms",
                "max.poll.interval.ms",
                "group.protocol",
                "max.poll.records",
            }:
                head.append(f"# {member.name}: {key} {value}: {place}")
    for key, (value, place) in night.broker.items():
        head.append(f"# broker: {key} {value}: {place}")
    begin = night.begin_ms
    for deed in night.deeds:
        who = f" {deed.member}" if deed.member else ""
        give = f" (give or take {deed.within_ms / 1000:.1f} s)" if deed.within_ms else ""
        head.append(f"# {(deed.at_ms - begin) / 1000:.1f} s{give}: {deed.do}{who}: {deed.ground}")
    return "\n".join(map(visible, head)) + "\n" + write_scenario(scenario)
