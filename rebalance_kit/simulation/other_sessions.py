"""Other session timeouts for a run under way: nothing of it changes before the first session that ends otherwise.

A session timeout is read in one place only, where a session's clock is started; so a run whose clocks were watched
is also the run of a scenario with other session timeouts, up to the first clock that would have ended otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from rebalance_kit.model.client_keys import CLIENT_KEYS
from rebalance_kit.model.config import BrokerConfig
from rebalance_kit.model.trace import Trace, TraceRow
from rebalance_kit.protocol.effects import Timer
from rebalance_kit.simulation.kernel import WatchedAgenda
from rebalance_kit.simulation.scenario.scenario import MemberSpec, Scenario
from rebalance_kit.simulation.simulate import Run, plan

OF_A_CLIENT = "session.timeout.ms"
OF_THE_BROKER = "group.consumer.session.timeout.ms"
CLOCKS = frozenset({Timer.SESSION, Timer.PENDING})
"""Timers that are started with a session timeout."""


def watched_agenda() -> WatchedAgenda:
    """What a run has to keep its time by, so that ``retold`` can ask about it."""
    return WatchedAgenda(CLOCKS)


def retold(run: Run, agenda: WatchedAgenda, so_far: Trace, scenario: Scenario) -> Trace | None:
    """``so_far``, the trace of a run under way, as that of ``scenario``; None where that may have gone another way by now.

    ``agenda`` is the one that the run keeps its time by. Raises as ``Run`` does for a scenario that cannot mean
    anything.
    """
    planned = plan(scenario, run.seed)
    lengths = _lengths(run.planned, planned, run.now_ms)
    if lengths is None or agenda.parting_ms(lengths) is not None:
        return None
    rows = list(_started_otherwise(so_far, run.planned, planned))
    if None in rows:
        return None
    meta = {**so_far.meta, "broker": dict(scenario.broker)}
    return so_far.rewritten([row for row in rows if row is not None], meta)


def _lengths(before: Scenario, after: Scenario, until_ms: int) -> Mapping[int, int] | None:
    """Each session timeout that is another one now, by its former length; None where more than that differs by then.

    Where one length becomes several, the shortest counts.
    """
    same = replace(
        after, members=before.members, actions=before.actions, broker=before.broker, end_ms=before.end_ms
    )
    if same != before or _by(until_ms, before) != _by(until_ms, after):
        return None
    if len(before.members) != len(after.members) or _rest(before.broker) != _rest(after.broker):
        return None
    lengths: dict[int, int] = {}
    for one, other in zip(before.members, after.members, strict=True):
        if one == other:
            continue
        if replace(other, configs=one.configs) != one or _rest(one.configs) != _rest(other.configs):
            return None
        _change(lengths, _session_ms(one, before), _session_ms(other, after))
    if before.broker != after.broker:
        _change(lengths, _brokers_ms(before), _brokers_ms(after))
    return lengths


def _by(until_ms: int, scenario: Scenario) -> list[Any]:
    return [action for action in scenario.actions if action.at_ms <= until_ms]


def _rest(configs: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in configs.items() if key not in {OF_A_CLIENT, OF_THE_BROKER}}


def _session_ms(spec: MemberSpec, scenario: Scenario) -> int:
    return int(spec.configs.get(OF_A_CLIENT, CLIENT_KEYS[OF_A_CLIENT].default(scenario.kafka_version)))


def _brokers_ms(scenario: Scenario) -> int:
    return BrokerConfig.of(scenario.broker, scenario.kafka_version).consumer_session_timeout_ms


def _change(lengths: dict[int, int], before_ms: int, after_ms: int) -> None:
    if before_ms != after_ms:
        lengths[before_ms] = min(after_ms, lengths.get(before_ms, after_ms))


def _started_otherwise(so_far: Trace, before: Scenario, after: Scenario) -> Iterator[TraceRow | None]:
    """Rows of processes that start with other configs; None for one whose configs an action has given anew."""
    known = {
        one.name: (dict(one.configs), dict(other.configs))
        for one, other in zip(before.members, after.members, strict=True)
    }
    for row in so_far.of("process_started"):
        configs, others = known[row.actor]
        if row.detail["configs"] != configs:
            yield None
        elif others != configs:
            yield row._replace(detail={**row.detail, "configs": others})
