"""Distributions over draws: quantiles, what differs and what does not, interrupted and bounded draws."""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter

import pytest

from rebalance_kit import scenarios
from rebalance_kit.analysis.draws import (
    Distribution,
    Draws,
    check_draws,
    default_draws,
    draw,
    draws_as_json,
    draws_sentences,
    draws_table,
    strips,
    verdict,
)
from rebalance_kit.analysis.metrics import MEASURES, metrics
from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.runs import equal_heartbeats
from rebalance_kit.simulation.scenario.yaml_file import read_scenario
from rebalance_kit.simulation.simulate import simulate

SCENARIO = read_scenario("""\
scenario: small-crash
end: 110s
topics: {orders: 12}
configs: {auto.offset.reset: earliest}
members: {count: 3, prefix: consumer-, topics: [orders], start: {about: 3s, within: 3s}}
actions:
  - {at: {about: 34s, within: 4s}, do: crash, member: consumer-2}
""")
THREE = {name: name for name in ("eager", "cooperative", "consumer")}
BY_WORDS = {each.words: each for each in MEASURES}


@pytest.fixture(scope="module")
def draws():
    return draw(SCENARIO, THREE, 30)


def test_quantiles_lie_on_straight_lines_between_the_draws():
    found = Distribution((0.0, 10.0, 20.0, 30.0, 40.0))
    assert (found.median, found.middle_half, found.quantile(0.1)) == (20.0, (10.0, 30.0), 4.0)
    assert found.percentile_of(-1) == 0 and found.percentile_of(40.0) == 90 and found.percentile_of(41) == 100


def test_each_draw_is_the_run_of_its_seed(draws):
    trace = simulate(SCENARIO, 7, "eager")
    assert draws.metrics["eager"][6] == metrics(trace, draws.metrics["eager"][6].since_ms)


def test_a_drawn_crash_shows_no_difference_in_redelivered_records(draws):
    assert verdict(draws, BY_WORDS["records redelivered"]).words == "no difference"
    assert any("records redelivered" in said and "No difference" in said for said in draws_sentences(draws))
    spread = draws.distribution(BY_WORDS["records redelivered"].of, "eager")
    assert (
        spread.values[-1] > 100 and spread.values[0] < 60
    )  # from nearly no commit interval to nearly a whole one


def test_a_difference_that_the_draws_support_is_named(draws):
    assert verdict(draws, BY_WORDS["partitions unread"]).words == "cooperative, consumer < eager"


def test_generations_are_no_measure_of_a_kip_848_group(draws):
    assert draws.distribution(BY_WORDS["generations"].of, "consumer") is None


def test_rebalances_are_not_compared_with_epochs(draws):
    assert "consumer" not in {
        label for group in verdict(draws, BY_WORDS["rebalances (or group epochs)"]).groups for label in group
    }


def test_medians_of_one_group_stand_beside_their_labels():
    healthy = scenarios.load("join")
    (label, variant), *_ = equal_heartbeats(healthy).items()
    drawn = draw(healthy, {**THREE, label: "consumer"}, 12, variants={label: variant})
    gap = BY_WORDS["longest gap of a partition, s"]
    medians = {name: drawn.distribution(gap.of, name).median for name in drawn.labels}
    assert label == "consumer at 3 s" and medians[label] < medians["consumer"]
    said = next(line for line in draws_sentences(drawn) if line.startswith(gap.words))
    assert all(f"{name} {gap.shown(medians[name])}" in said for name in ("eager", "consumer", label))


def test_heartbeats_are_made_equal_only_where_nothing_fails_and_nobody_set_them():
    assert equal_heartbeats(scenarios.load("crash")) == {}
    healthy = scenarios.load("join")
    assert equal_heartbeats(replace(healthy, broker={"group.consumer.heartbeat.interval.ms": 5000})) == {}


def test_groups_follow_from_overlapping_middle_halves():
    class Fake:
        def __init__(self, value):
            self.value = value

    each = BY_WORDS["records lost"]._replace(of=lambda one: one.value)
    made = Draws(
        "x",
        4,
        {
            label: tuple(map(Fake, values))
            for label, values in {
                "a": (1, 2, 3, 4),
                "b": (10, 11, 12, 13),
                "c": (3, 3, 3, 3),
                "d": (None,) * 4,
            }.items()
        },
    )
    assert verdict(made, each).groups == (("a", "c"), ("b",))


def test_the_table_and_json_hold_the_same_numbers(draws):
    told = draws_as_json(draws)
    unread = told["measures"]["partitions unread"]
    assert (told["count"], told["wanted"]) == (30, 30)
    assert unread["eager"]["median"] == 12 and unread["which differ"] == "cooperative, consumer < eager"
    row = next(line for line in draws_table(draws).splitlines() if line.startswith("partitions unread"))
    assert row.split()[2] == "12"


def test_an_interrupt_returns_what_is_known():
    def interrupt(so_far):
        if so_far.count == 3:
            raise KeyboardInterrupt

    found = draw(SCENARIO, {"eager": "eager"}, 50, on_progress=interrupt)
    assert (found.count, found.wanted) == (3, 50)
    assert "3 of 50 draws were made." in draws_sentences(found)[0]


def test_an_interrupt_before_two_draws_stays_an_interrupt():
    def interrupt(so_far):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        draw(SCENARIO, {"eager": "eager"}, 50, on_progress=interrupt)


def test_no_draw_begins_after_the_bound():
    assert draw(SCENARIO, {"eager": "eager"}, 500, seconds=0.000001).count == 2


@pytest.mark.parametrize("count", [-1, 0, 1, 1_000_000])
def test_a_number_of_draws_that_cannot_be_is_refused(count):
    with pytest.raises(ScenarioError, match=f"{count} draws received; expected 2 to 10000"):
        check_draws(count)


def test_a_large_scenario_is_drawn_less_often():
    large = read_scenario(
        "scenario: large\nend: 120s\ntopics: {orders: 500}\nmembers: {count: 50, topics: [orders]}\n"
    )
    assert default_draws(SCENARIO) == 200 and default_draws(large) == 20


def test_recorded_values_stand_in_the_strips_of_the_draws():
    drawn = draw(scenarios.scenario("join"), {"eager": "eager", "cooperative": "cooperative"}, 8)
    recorded = {"cooperative": [drawn.distribution(attrgetter("longest_gap_s"), "cooperative").values[-1]]}
    head, eager, cooperative, scale = strips(drawn, attrgetter("longest_gap_s"), "gap", recorded)
    assert "R recorded" in head
    assert "R" not in eager and cooperative.endswith("R")
    assert cooperative.index("R") > max(eager.index(sign) for sign in "|=" if sign in eager)
    assert scale.strip().startswith("0") and scale.endswith(" s")
