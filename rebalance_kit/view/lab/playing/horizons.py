"""How long a run goes on after a deed, so that its effect is seen; and why none comes, with what to change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.client_keys import CLIENT_KEYS
from rebalance_kit.simulation.scenario.scenario import Action, Scenario
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.board.states import PartitionState
from rebalance_kit.view.board.track import Track
from rebalance_kit.view.words.phrases import seconds

AFTER_MS = 25_000
"""How long the run goes on after the effect."""
BROKER_SESSION_MS = 45_000
"""group.consumer.session.timeout.ms unless it is set (GroupCoordinatorConfig)."""
BROKER_BEAT_MS = 5_000
"""group.consumer.heartbeat.interval.ms unless it is set (GroupCoordinatorConfig)."""
SILENT = frozenset({"crash", "freeze", "cut_network"})
"""After these the coordinator hears of the member no more, and waits for its session."""
METADATA = frozenset({"add_partitions", "create_topic", "delete_topic"})
"""What members of a classic group learn from their next metadata."""


def horizon_ms(scenario: Scenario, action: Action) -> int:
    """How long after a deed the run has to go on."""
    return _effect_ms(scenario, action) + AFTER_MS


def _effect_ms(scenario: Scenario, action: Action) -> int:
    static = action.do == "close" and "group.instance.id" in _configs(scenario, action.member)
    if action.do in SILENT or static:
        broker = scenario.broker.get("group.consumer.session.timeout.ms", BROKER_SESSION_MS)
        return max(longest(scenario, "session.timeout.ms"), int(broker))
    if action.do in METADATA:
        return longest(scenario, "metadata.max.age.ms")
    if action.do in {"drop_next", "delay_next"}:
        return longest(scenario, "request.timeout.ms") + int(action.args.get("by_ms", 0))
    if action.do == "rolling_restart":
        return len(scenario.members) * int(action.args.get("every_ms", 0))
    return int(action.args.get("for_ms", 0)) + int(action.args.get("after_ms", 0))


def _configs(scenario: Scenario, member: str | None) -> Mapping[str, Any]:
    return next((spec.configs for spec in scenario.members if spec.name == member), {})


def longest(scenario: Scenario, key: str) -> int:
    """The greatest value of a client's setting among the members, at least its default."""
    default = int(CLIENT_KEYS[key].default(scenario.kafka_version))
    return max((int(spec.configs.get(key, default)) for spec in scenario.members), default=default)


def _value(scenario: Scenario, member: str | None, key: str) -> int:
    return int(_configs(scenario, member).get(key, CLIENT_KEYS[key].default(scenario.kafka_version)))


# --- why nothing comes ---------------------------------------------------------------------------
def nothing_follows(scenario: Scenario, boards: Boards, action: Action) -> str:
    """Why the group does not react to a deed, and what to change; empty where it does."""
    reason = REASONS.get(action.do)
    if reason is None or any(at_ms > action.at_ms for at_ms in _changes(boards)):
        return ""
    return reason(scenario, action)


def _changes(boards: Boards) -> list[int]:
    """When the group changed, and when partitions changed hands."""
    hands = [at_ms for track in boards.partitions.values() for at_ms in _handed_over(track)]
    return [*boards.group.times, *hands]


def _handed_over(track: Track[PartitionState]) -> list[int]:
    pairs = zip(track.states, track.states[1:], track.times[1:], strict=False)
    return [at_ms for before, after, at_ms in pairs if before.owner != after.owner]


def _slow_callback(_scenario: Scenario, action: Action) -> str:
    return f"The callbacks of {action.member} run only in a rebalance. Add a member (M) to begin one."


def _slow_down(scenario: Scenario, action: Action) -> str:
    batch = int(action.args.get("processing_ms", 0)) * _value(scenario, action.member, "max.poll.records")
    limit = _value(scenario, action.member, "max.poll.interval.ms")
    return (
        f"The group does not notice: a full batch takes {seconds(batch)}, and max.poll.interval.ms is {seconds(limit)}. "
        "Lower it in Settings."
    )


def _stall(scenario: Scenario, action: Action) -> str:
    limit = _value(scenario, action.member, "max.poll.interval.ms")
    return (
        f"The group does not notice, because max.poll.interval.ms is {seconds(limit)}. "
        "Lower it in Settings, or add a member meanwhile."
    )


def _one_message(scenario: Scenario, action: Action) -> str:
    session = _value(scenario, action.member, "session.timeout.ms")
    return (
        f"The group does not notice: the next heartbeat comes before the session of {seconds(session)} ends."
    )


def _create_topic(_scenario: Scenario, action: Action) -> str:
    return f"No member subscribes to {action.args.get('topic')}. Choose More, “Subscribe it to all topics”."


REASONS: Mapping[str, Callable[[Scenario, Action], str]] = MappingProxyType(
    {
        "slow_callback": _slow_callback,
        "slow_down": _slow_down,
        "stall": _stall,
        "drop_next": _one_message,
        "delay_next": _one_message,
        "create_topic": _create_topic,
    }
)
