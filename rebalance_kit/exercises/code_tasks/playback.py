"""A listener that plays recorded orders back: the run is repeated with them, and its trace is the judge's own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rebalance_kit.analysis.deliveries import SKIPPED, TWICE, deliveries
from rebalance_kit.exercises.asking import UNREADABLE
from rebalance_kit.exercises.code_tasks.task import CodeCase, Failed
from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.model.trace import Trace
from rebalance_kit.simulation.client.listeners import CommitFailed
from rebalance_kit.simulation.permalink import Link
from rebalance_kit.simulation.scenario.yaml_file import read_scenario
from rebalance_kit.simulation.simulate import simulate

_MOST_ORDERS = 20_000


class _RaisedThere(Exception):
    """The learner's callback raised; its text is what it raised."""


def listening_case(
    title: str, scenario: str, seed: int, protocol: str, points: int = 2, **facts: Any
) -> CodeCase:
    """A run of a scenario (YAML text) in which every member has the learner's listener."""
    planned = read_scenario(scenario, title)
    data = {
        "scenario": scenario, "seed": seed, "protocol": protocol,
        "members": [member.name for member in planned.members],
    }  # fmt: skip
    return CodeCase(title, data, facts, Link(planned, 0, protocol=protocol, seed=seed), points)


def played_back(case: CodeCase, output: Any) -> Trace:
    """The run of a case with the orders that the answer gave; raises ``Failed`` where its callback raised or they are none."""
    data = case.data
    listeners = {name: _player(_calls(output, name)) for name in data["members"]}
    trace = simulate(
        read_scenario(data["scenario"], case.title), data["seed"], data["protocol"], listeners=listeners
    )
    for row in trace.of("own_code_fault"):
        seen = str(row.detail["seen"]).removeprefix("_RaisedThere: ")
        raise Failed(
            f"{row.detail['name']} of member {row.actor} {row.detail['fault']} at {row.at_ms / 1000:.1f} s: {seen}. "
            "What a callback raises leaves poll(), and the consumer ends.",
            row.at_ms,
        )
    return trace


def _calls(output: Any, member: str) -> list[list[list[Any]]]:
    calls = output.get(member) if isinstance(output, Mapping) else None
    if not isinstance(calls, list) or sum(map(len, calls)) > _MOST_ORDERS:
        raise Failed(UNREADABLE)
    return calls


def _player(calls: list[list[list[Any]]]) -> type:
    left = iter(calls)

    class Player:
        def on_assigned(self, _partitions: Any, consumer: Any) -> None:
            for what, argument in next(left, []):
                _do(consumer, what, argument)

        on_revoked = on_lost = on_assigned

    return Player


def _do(consumer: Any, what: str, argument: Any) -> None:
    """One order; a refused commit counts only if the answer let it out, which is an order of its own."""
    if what == "commit":
        try:
            consumer.commit(None if argument is None else {TopicPartition(t, n): o for t, n, o in argument})
        except CommitFailed:
            return
    elif what == "seek":
        topic, number, offset = argument
        consumer.seek(TopicPartition(topic, number), offset)
    elif what in {"pause", "resume"}:
        getattr(consumer, what)([TopicPartition(*pair) for pair in argument])
    else:
        raise _RaisedThere(argument)


def records_twice(trace: Trace) -> int:
    """Records that a member read although they had been read before."""
    return sum(each.records for each in deliveries(trace) if each.kind == TWICE)


def first_skip(trace: Trace) -> tuple[int, str, int, str, int] | None:
    """The first time that a reader passed records over: moment, partition, how many, who, and how many in all of the run.

    The first read of a partition counts, too: whatever lies before it was never read by anybody.
    """
    begun: dict[TopicPartition, tuple[int, str, int, str]] = {}
    for row in trace.of("fetch_resumed"):
        if row.detail.get("position") is not None:
            tp = TopicPartition(row.topic or "", row.partition or 0)
            begun.setdefault(tp, (row.at_ms, str(tp), int(row.detail["position"]), row.actor))
    skips = [
        (each.at_ms, each.partition, each.records, each.member)
        for each in deliveries(trace)
        if each.kind == SKIPPED
    ]
    skips = sorted([*skips, *(first for first in begun.values() if first[2] > 0)])
    return (*skips[0], sum(skip[2] for skip in skips)) if skips else None


def run_with(case: CodeCase, listener: type) -> Trace:
    """The run of a case with a listener of the judge's own in every member."""
    data = case.data
    scenario = read_scenario(data["scenario"], case.title)
    return simulate(
        scenario, data["seed"], data["protocol"], listeners=dict.fromkeys(data["members"], listener)
    )
