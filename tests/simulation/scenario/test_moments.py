"""Windows in place of times: what they draw, that they repeat, and which ones are refused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.simulation.scenario.expansion import drawn
from rebalance_kit.simulation.scenario.yaml_file import read_scenario, write_scenario
from rebalance_kit.simulation.simulate import simulate

SCENARIO = """\
scenario: drawn
end: 60s
topics: {orders: 4}
members:
  - {name: a, topics: [orders], start: {about: 3s, within: 3s}}
  - {name: b, topics: [orders], start: {about: 3s, within: 3s}}
actions:
  - {at: {about: 30s, within: 4s}, do: crash, member: a}
  - {at: 50s, do: start, member: a}
"""


def moments(seed):
    fixed = drawn(read_scenario(SCENARIO), seed)
    return [spec.start_ms for spec in fixed.members] + [action.at_ms for action in fixed.actions]


@given(st.integers(0, 10**9))
def test_every_moment_lies_in_its_window_and_fixed_ones_stay(seed):
    a, b, crash, start = moments(seed)
    assert 0 <= a <= 6_000 and 0 <= b <= 6_000 and 26_000 <= crash <= 34_000 and start == 50_000


def test_a_hundred_seeds_fill_the_window():
    crashes = sorted(moments(seed)[2] for seed in range(100))
    assert crashes[10] < 28_000 and crashes[90] > 32_000


def test_a_seed_gives_the_same_run_byte_for_byte_and_another_seed_another():
    scenario = read_scenario(SCENARIO)
    once, again, other = (list(simulate(scenario, seed).jsonl()) for seed in (1, 1, 2))
    assert once == again != other


def test_one_more_action_shifts_no_other_moment():
    scenario = read_scenario(SCENARIO)
    more = replace(
        scenario, actions=(*scenario.actions, replace(scenario.actions[1], at_ms=55_000, do="close"))
    )
    assert [one.at_ms for one in drawn(more, 7).actions[:2]] == [
        one.at_ms for one in drawn(scenario, 7).actions
    ]


def test_a_run_happens_at_the_drawn_moments():
    trace = simulate(read_scenario(SCENARIO), 5)
    starts = [row.at_ms for row in trace.of("process_started")]
    assert [*sorted(moments(5)[:2]), 50_000] == starts
    assert [row.at_ms for row in trace.of("action")] == moments(5)[2:]


def test_a_scenario_with_windows_is_written_and_read_back():
    scenario = read_scenario(SCENARIO)
    assert read_scenario(write_scenario(scenario)) == scenario
    assert "{about: 30s, within: 4s}" in write_scenario(scenario)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "{about: 30s, within: 4s}",
            "{about: 30s, within: 31s}",
            ":8: drawn: action 1 (crash): about 30000 ms within 31000 ms reaches to -1000 ms; expected a window that begins at 0",
        ),
        (
            "{about: 30s, within: 4s}",
            "{about: 58s, within: 4s}",
            "reaches to 62000 ms; expected a window that ends by the run's end, 60000 ms",
        ),
        (
            "{about: 30s, within: 4s}",
            "{about: 30s, within: 0s}",
            ":8: actions[0].at.within: got 0; expected at least 1 ms, or a plain time",
        ),
        (
            "{about: 30s, within: 4s}",
            "{about: 30s}",
            ":8: actions[0].at: has no within; expected a time such as 30s, or {about: 30s, within: 5s}",
        ),
        ("{about: 30s, within: 4s}", "{within: 4s}", "has no about"),
        ("{about: 30s, within: 4s}", "{about: 30s, within: 4s, until: 40s}", "until"),
        (
            "at: {about: 30s, within: 4s}",
            "at: 30s, at_ms: {about: 30s, within: 4s}",
            "both at and at_ms are given",
        ),
        (
            "at: 50s",
            "at: {about: 33s, within: 2s}",
            ":9: drawn: action 2 (start) may happen from 31000 to 35000 ms and action 1 (crash) from 26000 to 34000 ms; expected windows that do not overlap",
        ),
        ("at: 50s", "at: 33s", "expected windows that do not overlap"),
        (
            "start: {about: 3s, within: 3s}}\n  - {name: b",
            "start: {about: 28s, within: 3s}}\n  - {name: b",
            "while a starts between 25000 and 31000 ms; expected windows that cannot meet",
        ),
    ],
)
def test_a_window_that_cannot_be_is_refused_with_line_value_and_expectation(old, new, expected):
    assert old in SCENARIO
    with pytest.raises(ScenarioError) as refused:
        read_scenario(SCENARIO.replace(old, new), "my.yaml")
    assert expected in str(refused.value)
