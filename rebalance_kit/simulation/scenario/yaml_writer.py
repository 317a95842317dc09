"""A scenario as YAML text that reads back to the same scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any

from rebalance_kit.simulation.kernel import MEASURED
from rebalance_kit.simulation.learner_code.plug_ins import Supports, supports
from rebalance_kit.simulation.scenario.checks import foresee
from rebalance_kit.simulation.scenario.scenario import (
    PROTOCOL_KEYS,
    Action,
    MemberSpec,
    Scenario,
    with_protocol,
)
from rebalance_kit.simulation.scenario.yaml_nodes import write_time, written_latencies

TIMES = {"for_ms": "for", "after_ms": "after", "by_ms": "by", "every_ms": "every"}
_ESCAPED = frozenset("\x85\u2028\u2029\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Letters that YAML takes for ends of lines, of which reading would make spaces, and those that turn the line around for a reader."""


def write_scenario(scenario: Scenario, assignors: Mapping[str, Callable[..., Any]] | None = None) -> str:
    """YAML text of a scenario: ``read_scenario(write_scenario(s)) == s`` for every scenario that ``check`` accepts.

    ``assignors`` are those of your own that its members name; reading needs them again.
    """
    import yaml

    document = _document(scenario, supports(assignors))

    def text(*, as_it_is: bool) -> str:
        return str(
            yaml.safe_dump(
                document, sort_keys=False, allow_unicode=as_it_is, width=110, default_flow_style=None
            )
        )

    written = text(as_it_is=True)
    return text(as_it_is=False) if _ESCAPED & set(written) else written


def _document(scenario: Scenario, own: Supports) -> dict[str, Any]:
    plain = Scenario("", (), ())
    shorthand = scenario.protocol is not None and _is_switched(scenario)
    document: dict[str, Any] = {"scenario": scenario.name}
    for key in ("title", "story", "moments", "kafka_version"):
        if getattr(scenario, key) != getattr(plain, key):
            document[key] = getattr(scenario, key)
    if scenario.protocol is not None:
        document["protocol" if shorthand else "label"] = scenario.protocol
    if scenario.group != plain.group:
        document["group"] = scenario.group
    document |= {
        "seed": scenario.seed,
        "end": write_time(scenario.end_ms),
        "topics": {topic.name: _topic(topic) for topic in scenario.topics},
    }
    if scenario.broker:
        document["broker"] = _plain(scenario.broker)
    document["members"] = [_member(spec, shorthand) for spec in scenario.members]
    if scenario.actions:
        document["actions"] = [_action(action) for action in scenario.actions]
    if scenario.latencies != MEASURED:
        document["latencies"] = written_latencies(scenario.latencies)
    if not scenario.data_plane:
        document["data_plane"] = False
    if scenario.nodes:
        document["nodes"] = dict(scenario.nodes)
    expected = sorted({refusal.error for refusal in foresee(scenario, own)})
    if expected:
        document["expect"] = expected
    return document


def _is_switched(scenario: Scenario) -> bool:
    """Whether the shorthand alone would give every member its configs again."""
    from rebalance_kit.model.errors import ScenarioError

    try:
        return with_protocol(scenario, scenario.protocol or "") == scenario
    except ScenarioError:
        return False


def _topic(topic: Any) -> int | dict[str, Any]:
    if topic.rate_per_s == 10.0 and topic.topic_id is None:
        return int(topic.partitions)
    document: dict[str, Any] = {"partitions": topic.partitions}
    if topic.rate_per_s != 10.0:
        document["rate_per_s"] = topic.rate_per_s
    if topic.topic_id is not None:
        document["topic_id"] = list(topic.topic_id)
    return document


def _member(spec: MemberSpec, shorthand: bool) -> dict[str, Any]:
    plain = MemberSpec("")
    document: dict[str, Any] = {"name": spec.name}
    if spec.topics:
        document["topics"] = list(spec.topics)
    for key in ("pattern", "server_pattern"):
        if getattr(spec, key) is not None:
            document[key] = getattr(spec, key)
    if spec.start_ms != 0 or spec.start_within_ms:
        document["start"] = None if spec.start_ms is None else _moment(spec.start_ms, spec.start_within_ms)
    configs = {key: value for key, value in spec.configs.items() if not (shorthand and key in PROTOCOL_KEYS)}
    if configs:
        document["configs"] = _plain(configs)
    for key in ("client", "callback", "processing_ms", "commit"):
        if getattr(spec, key) != getattr(plain, key):
            document[key] = getattr(spec, key)
    if spec.callback_ms:
        document["callback_ms"] = spec.callback_ms
    if spec.lives:
        document["lives"] = [
            {pin.name: getattr(life, pin.name) for pin in fields(life) if getattr(life, pin.name) is not None}
            for life in spec.lives
        ]
    return document


def _moment(about_ms: int, within_ms: int) -> Any:
    if not within_ms:
        return write_time(about_ms)
    return {"about": write_time(about_ms), "within": write_time(within_ms)}


def _action(action: Action) -> dict[str, Any]:
    document: dict[str, Any] = {"at": _moment(action.at_ms, action.within_ms), "do": action.do}
    if action.member is not None:
        document["member"] = action.member
    for key, value in action.args.items():
        document[TIMES.get(key, key)] = write_time(value) if key in TIMES else _plain(value)
    return document


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    return list(value) if isinstance(value, tuple | list) else value
