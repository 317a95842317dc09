"""What quizzes ask of a run is what the analysis says of it."""

from __future__ import annotations

from functools import cache

import pytest

from rebalance_kit import scenarios
from rebalance_kit.analysis.metrics import metrics
from rebalance_kit.analysis.ownership import owners_at
from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.model.trace import Trace
from rebalance_kit.quiz.proof.run_book import RunFacts
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario, TopicSpec
from rebalance_kit.simulation.simulate import simulate

QUICK = {"session.timeout.ms": 10_000, "heartbeat.interval.ms": 3_000}
LARGE = "fifty-by-five-hundred"
"""Too large for every protocol; one run of it is compared."""
RUNS = [
    (name, protocol)
    for name in scenarios.names()
    for protocol in (None, "eager", "cooperative", "consumer")
    if name != LARGE or protocol == "consumer"
]
REFUSED = {("bounce-gone-wrong", "consumer"), ("migration", "cooperative"), ("two-bounces", "consumer")}
"""Scenarios that fix a member's assignors cannot be switched to these protocols."""


@cache
def run(name: str, protocol: str | None) -> Trace:
    return simulate(scenarios.load(name), protocol=protocol)


def agree(trace: Trace) -> None:
    """Every fact that has a counterpart in the metrics equals it, from the same moment on."""
    facts, figures = RunFacts(trace), metrics(trace)
    since, members = figures.since_ms, {row.actor for row in trace.of("process_started")}
    apis = set(figures.requests)
    asked = {
        "longest_gap_s": facts.longest_gap(since) / 1000,
        "partitions_unread": len(facts.unread(since)),
        "partitions_moved": len(facts.moved(since)),
        "rebalances": facts.epochs(since) + facts.states(since).count("PreparingRebalance"),
        "generations": facts.generations(since),
        "epochs": facts.epochs(since),
        "targets": facts.targets(since),
        "requests": {api: sum(facts.requests(name, api, since) for name in members) for api in apis},
        "records_redelivered": facts.redelivered(since=since),
        "records_lost": facts.lost(),
    }
    assert asked == {name: getattr(figures, name) for name in asked}
    assert all(facts.gap(name, since) > 0 for name in facts.unread(since))
    assert facts.gaps_over(0, since) == facts.unread(since)
    assert {str(tp): owner for tp, owner in owners_at(trace).items()} == {
        name: facts.owner(name) for name in map(str, owners_at(trace))
    }


@pytest.mark.parametrize(("name", "protocol"), [one for one in RUNS if one not in REFUSED])
def test_on_every_scenario_facts_and_metrics_are_the_same_figures(name, protocol):
    agree(run(name, protocol))


@pytest.mark.parametrize(("name", "protocol"), sorted(REFUSED))
def test_the_runs_that_are_left_out_cannot_be_simulated(name, protocol):
    with pytest.raises(RebalanceKitError, match=r"cannot be set when group\.protocol=CONSUMER"):
        simulate(scenarios.load(name), protocol=protocol)


def test_a_member_of_another_group_that_reads_on_does_not_hide_a_gap():
    trace = simulate(
        Scenario(
            "two-groups",
            (TopicSpec("orders", 2),),
            (
                MemberSpec("a1", ("orders",), QUICK),
                MemberSpec("a2", ("orders",), QUICK),
                MemberSpec("b1", ("orders",), {**QUICK, "group.id": "other"}),
            ),
            actions=(Action(20_000, "crash", "a1"),),
            end_ms=60_000,
        ),
        1,
        "eager",
    )
    agree(trace)
    facts = RunFacts(trace)
    assert facts.longest_gap() > 8_000 and len(facts.unread()) == 2
    assert facts.owner("orders-0") == facts.owner("orders-1") == "a2"
    assert facts.owned("b1") == ["orders-0", "orders-1"]


def test_a_gap_ends_when_its_topic_is_deleted():
    trace = run("defect-deleted-topic-hangs", None)
    (deleted,) = (row for row in trace.of("topic_changed") if row.detail["partitions"] == 0)
    facts = RunFacts(trace)
    assert not [name for name in facts.unread(deleted.at_ms) if name.startswith(f"{deleted.topic}-")]
    assert facts.gap(f"{deleted.topic}-0") == 0
