"""A run under way as that of other session timeouts: the same rows as a fresh run of them, or no answer."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rebalance_kit.model.errors import ConfigError
from rebalance_kit.scenarios import load, names
from rebalance_kit.simulation.other_sessions import OF_A_CLIENT, OF_THE_BROKER, retold, watched_agenda
from rebalance_kit.simulation.scenario.scenario import Action, with_protocol
from rebalance_kit.simulation.simulate import Run
from tests.support.simulation.runs import THREE

LARGE = "fifty-by-five-hundred"
SESSIONS = (6_000, 20_000, 44_000, 60_000)
MOMENTS = (9_000, 33_000, 66_000)


def with_sessions(scenario, length):
    """The scenario with a session timeout for every member, by the name that its protocol reads."""
    if scenario.protocol == "consumer":
        wide = {
            "group.consumer.min.session.timeout.ms": 1_000,
            "group.consumer.max.session.timeout.ms": 100_000,
        }
        return replace(scenario, broker={**wide, **scenario.broker, OF_THE_BROKER: length})
    members = (replace(spec, configs={**spec.configs, OF_A_CLIENT: length}) for spec in scenario.members)
    return replace(scenario, members=tuple(members))


def answers(scenario, before, lengths):
    """At each moment and for each length: what is retold, and the trace of a fresh run."""
    agenda = watched_agenda()
    run = Run(with_sessions(scenario, before), agenda=agenda)
    for at_ms in (at_ms for at_ms in MOMENTS if at_ms <= scenario.end_ms):
        run.until(at_ms)
        for length in lengths:
            try:
                fresh = Run(with_sessions(scenario, length))
            except ConfigError:
                continue
            fresh.until(at_ms)
            yield retold(run, agenda, run.so_far(), with_sessions(scenario, length)), fresh.so_far()


@pytest.mark.parametrize("protocol", THREE)
def test_what_is_retold_is_what_a_fresh_run_of_those_sessions_does(protocol):
    told = missed = parted = 0
    for name in names():
        scenario = load(name)
        if name == LARGE or scenario.chooses_protocol():
            continue
        scenario = with_protocol(scenario, protocol)
        for answer, fresh in answers(scenario, 45_000, SESSIONS):
            if answer is not None:
                told += 1
                assert answer == fresh, name
            elif agree(fresh, answers_of(scenario, 45_000, fresh.end_ms)):
                missed += 1
            else:
                parted += 1
    assert told > 100
    assert parted > 10
    assert missed < parted + told / 10


def answers_of(scenario, length, at_ms):
    run = Run(with_sessions(scenario, length))
    run.until(at_ms)
    return run.so_far()


def agree(one, other):
    """Whether two traces tell the same but for configurations."""
    rows = [[row for row in trace.rows if row.kind != "process_started"] for trace in (one, other)]
    return rows[0] == rows[1]


@pytest.mark.parametrize(
    "change",
    [
        lambda scenario: scenario.with_action(Action(20_000, "crash", scenario.members[0].name)),
        lambda scenario: replace(scenario, members=scenario.members[:-1]),
        lambda scenario: replace(scenario, broker={"group.initial.rebalance.delay.ms": 0}),
        lambda scenario: replace(
            scenario,
            members=(
                replace(scenario.members[0], configs={**scenario.members[0].configs, "max.poll.records": 7}),
                *scenario.members[1:],
            ),
        ),
        lambda scenario: replace(scenario, kafka_version="3.9.0"),
    ],
)
def test_a_scenario_that_differs_in_more_than_sessions_is_not_retold(change):
    scenario = with_sessions(with_protocol(load("crash"), "eager"), 45_000)
    agenda = watched_agenda()
    run = Run(scenario, agenda=agenda)
    run.until(30_000)
    assert retold(run, agenda, run.so_far(), with_sessions(scenario, 44_000)) is not None
    assert retold(run, agenda, run.so_far(), change(with_sessions(scenario, 44_000))) is None


def test_a_later_action_does_not_count():
    scenario = with_sessions(with_protocol(load("crash"), "eager"), 45_000)
    agenda = watched_agenda()
    run = Run(scenario, agenda=agenda)
    run.until(30_000)
    later = with_sessions(scenario, 44_000).with_action(Action(31_000, "broker_down"))
    assert retold(run, agenda, run.so_far(), later) is not None
