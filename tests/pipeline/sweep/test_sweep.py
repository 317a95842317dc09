"""A sweep gives one row per run, the same as the engine alone would; a run that fails is a row that says why."""

from __future__ import annotations

import io
from dataclasses import fields

import pytest

from rebalance_kit import scenarios
from rebalance_kit.analysis.metrics import Metrics, metrics
from rebalance_kit.analysis.rebalances import rebalances
from rebalance_kit.cli import main
from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.pipeline.sweep.command import describe_sweep, read_spec, read_words
from rebalance_kit.pipeline.sweep.grid import (
    crash_detected,
    draw_nights,
    false_alarms,
    make_grid,
    measured,
    sweep,
    sweep_tables,
    varied,
)
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.figures.comparison import (
    describe_trade_off,
    detection_figure,
    gap_figure,
    points,
    sweep_figures,
)
from rebalance_kit.whatif.understanding import costs_of, under

CRASH = scenarios.load("crash")


@pytest.mark.spark
def test_every_row_is_what_the_engine_gives_for_the_same_values_and_seed(spark):
    rows = (
        sweep(
            spark,
            CRASH,
            {"session.timeout.ms": [6_000, 45_000], "carry_timeouts": [True]},
            [3, 7],
            ["eager", "consumer"],
        )
        .orderBy("run")
        .collect()
    )
    assert [(row.session_timeout_ms, row.protocol, row.seed) for row in rows] == [
        (value, protocol, seed)
        for value in (6_000, 45_000)
        for protocol in ("eager", "consumer")
        for seed in (3, 7)
    ]
    for row in rows:
        trace = simulate(
            varied(CRASH, {"session.timeout.ms": row.session_timeout_ms, "carry_timeouts": True}, row.seed),
            row.seed,
            row.protocol,
        )
        alone = metrics(trace)
        for name in (one.name for one in fields(Metrics) if one.name != "label"):
            assert row[name] == getattr(alone, name), name
        assert [one.trigger for one in row.by_rebalance] == [one.trigger for one in rebalances(trace)]
        assert row.error is None
        age_of_heartbeat_s = row.session_timeout_ms / 1000 - row.crash_detect_s
        assert -0.5 < age_of_heartbeat_s < 5.5  # at most the longer heartbeat interval


@pytest.mark.spark
def test_a_run_that_fails_is_a_row_and_the_others_are_measured(spark):
    runs = sweep(spark, CRASH, {"members": [1, 3]}, 2, ["eager"])
    tables = sweep_tables(runs)
    rows = tables["runs"].collect()
    assert ["no member is named 'consumer-2'" in (row.error or "") for row in rows] == [
        True,
        True,
        False,
        False,
    ]
    assert [row.rebalances for row in rows[:2]] == [None, None] and all(row.rebalances for row in rows[2:])
    told = tables["rebalances"].filter("trigger = 'session_expired'").collect()
    assert [(row.run, row.seed, row.culprit) for row in told] == [(2, 1, "consumer-2"), (3, 2, "consumer-2")]


@pytest.mark.spark
def test_the_command_writes_tables_and_a_page_and_tells_the_medians(spark, tmp_path):
    out = io.StringIO()
    command = [
        "sweep",
        "--scenario",
        "crash",
        "--set",
        "session.timeout.ms=6000,45000",
        "--protocol",
        "eager",
        "--seeds",
        "2",
        "--out",
        str(tmp_path),
    ]
    assert main(command, out) == 0
    assert out.getvalue().startswith("4 runs. 2 draws of each setting")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".rebalance-kit.json",
        "rebalances",
        "runs",
        "sweep.html",
    ]
    assert spark.read.parquet(str(tmp_path / "runs")).count() == 4
    assert "Session timeout: detection against false alarms" in (tmp_path / "sweep.html").read_text("utf-8")


def test_a_frozen_member_taken_out_is_a_false_alarm_and_a_dead_one_is_not():
    frozen, dead = simulate(scenarios.load("freeze"), 1, "eager"), simulate(CRASH, 1, "eager")
    assert (false_alarms(frozen), crash_detected(frozen)) == (1, None)
    assert false_alarms(dead) == 0
    assert 42 < crash_detected(dead) <= 45


def test_the_same_pauses_are_drawn_for_a_seed_whatever_else_is_set():
    drawn = [
        varied(CRASH, {"session.timeout.ms": value, "freezes": 5}, 4).actions for value in (6_000, 45_000)
    ]
    assert drawn[0] == drawn[1] != varied(CRASH, {"freezes": 5}, 5).actions
    assert not [action for action in drawn[0] if action.do == "freeze" and action.member == "consumer-2"]


def test_more_members_are_like_the_last_one_under_names_of_their_own():
    many = varied(
        CRASH,
        {"members": 6, "topic_partitions": 30, "group.initial.rebalance.delay.ms": 0, "fetch.min.bytes": 7},
        1,
    )
    assert [spec.name for spec in many.members] == [f"consumer-{number}" for number in range(1, 7)]
    assert {topic.partitions for topic in many.topics} == {30}
    assert many.broker["group.initial.rebalance.delay.ms"] == 0
    assert all(spec.configs["fetch.min.bytes"] == 7 for spec in many.members)


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        (["session.timeout.mss=1"], "'session.timeout.mss' cannot be varied"),
        (["members"], "--set members: expected KEY=VALUE"),
    ],
)
def test_what_cannot_be_varied_is_refused_before_anything_runs(settings, told):
    with pytest.raises(ScenarioError, match=told):
        read_words(["crash"], settings, "all", 1)


def test_a_file_and_the_words_of_a_command_ask_for_the_same_grid(tmp_path):
    (tmp_path / "sweep.yaml").write_text(
        "scenarios: crash\nset: {session.timeout.ms: [6000, 10000], members: 4}\nseeds: 3\n"
    )
    words = read_words(["crash"], ["session.timeout.ms=6000,10000", "members=4"], "all", 3)
    assert read_spec(tmp_path / "sweep.yaml") == words
    assert words.runs == 2 * 3 * 3
    (tmp_path / "sweep.yaml").write_text("scenarios: crash\nseed: 3\n")
    with pytest.raises(
        ScenarioError, match=r"sweep\.yaml: unknown key 'seed'; expected one of scenarios, set"
    ):
        read_spec(tmp_path / "sweep.yaml")
    with pytest.raises(ScenarioError, match="is no list of values"):
        make_grid(CRASH, {"members": "345"}, 1, None)


@pytest.fixture(scope="module")
def rows():
    """Rows as a sweep collects them, made without Spark."""
    asked = [
        (timeout, freezes, protocol, seed)
        for timeout in (6_000, 45_000)
        for freezes in (0, 3)
        for protocol in ("eager", "consumer")
        for seed in (1, 2)
    ]
    return [
        {
            "error": None,
            **measured(
                CRASH,
                protocol,
                seed,
                {"session.timeout.ms": timeout, "freezes": freezes, "carry_timeouts": True},
            ),
            "run": run,
            "scenario": "crash",
            "protocol": protocol,
            "seed": seed,
            "session_timeout_ms": timeout,
            "freezes": freezes,
        }
        for run, (timeout, freezes, protocol, seed) in enumerate(asked)
    ]


def test_a_longer_session_finds_a_crash_later_and_raises_fewer_false_alarms(rows):
    for protocol in ("eager", "consumer"):
        short, long = (
            point
            for point in points(rows, "session_timeout_ms", "crash_detect_s")
            if point.protocol == protocol
        )
        assert short.middle < 6.1
        assert 39.5 < long.middle < 45.1
        few, none = (
            point
            for point in points(rows, "session_timeout_ms", "false_alarms")
            if point.protocol == protocol
        )
        assert few.middle > none.middle


def test_a_clients_session_timeout_means_nothing_under_kip_848_unless_the_broker_is_given_it():
    values = {"session.timeout.ms": 6_000}
    alone = measured(CRASH, "consumer", 1, values)
    carried = measured(CRASH, "consumer", 1, {**values, "carry_timeouts": True})
    assert 40 < alone["crash_detect_s"] < 45 and carried["crash_detect_s"] < 6


def test_figures_hold_a_line_a_protocol_in_each_panel_and_say_it_in_words(rows):
    figure = detection_figure(rows)
    assert [(line["name"], line["yaxis"]) for line in figure["data"]] == [
        ("eager", "y"),
        ("KIP-848", "y"),
        ("eager", "y2"),
        ("KIP-848", "y2"),
    ]
    text = figure["layout"]["meta"]["text"]
    assert text == describe_trade_off(
        rows, "session_timeout_ms", ("crash_detect_s", "false_alarms"), figure["layout"]["title"]["text"]
    )
    for line in figure["data"]:
        assert all(
            f"{at}: {middle:.{2 if line['yaxis'] == 'y2' else 1}f}" in text
            for at, middle in zip(line["x"], line["y"], strict=True)
        )
    assert sweep_figures(rows, ["session_timeout_ms", "freezes"])[0] == figure
    with pytest.raises(ValueError, match="no run has"):
        gap_figure([{**row, "error": "stopped"} for row in rows], "freezes")


def test_the_summary_counts_failed_runs_by_their_error(rows):
    text = describe_sweep(
        [*rows, {**rows[0], "error": "ScenarioError: bad", "run": 99}], ["session_timeout_ms", "freezes"]
    )
    assert text.splitlines()[-1] == "1 runs failed: ScenarioError: bad"
    assert len(text.splitlines()) == 1 + 8 + 1


@pytest.mark.spark
def test_nights_of_what_if_cost_the_same_on_spark_and_here(spark):
    nights = [CRASH, under(CRASH, "consumer"), (under(CRASH, "cooperative"), CRASH)]
    assert draw_nights(spark, nights, 3) == [list(costs_of(night, 3)) for night in nights]
