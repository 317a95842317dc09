"""Latencies fitted to records, the error of gaps before and after, and records beside the engine's draws."""

from __future__ import annotations

import io
import json
import re
from statistics import median

import pytest

from rebalance_kit.analysis.draws import Distribution
from rebalance_kit.cli import main
from rebalance_kit.model.errors import DataError
from rebalance_kit.recordings import calibrate as calibration
from rebalance_kit.recordings import replay as placed
from rebalance_kit.recordings.calibrate import (
    LEAST_SEEN,
    Line,
    _between,
    calibrate,
    errors,
    observations,
    table,
    windows,
)
from rebalance_kit.recordings.folder import read_run
from rebalance_kit.recordings.repeat import repeat
from rebalance_kit.recordings.replay import Cell, window

CRASHES = ("crash.eager.4.3.1", "crash.cooperative.4.3.1", "crash.consumer.4.3.1")


@pytest.fixture
def crashes(recorded_folders):
    return [read_run(recorded_folders[name]) for name in CRASHES]


def test_the_gap_of_a_crash_is_within_a_tenth_in_every_protocol(crashes):
    done = calibrate(crashes, 3)
    of_crashes = [gap for gap in done.gaps if gap.event == "crash"]
    assert {gap.protocol for gap in of_crashes} == {"eager", "cooperative", "consumer"}
    assert errors(of_crashes)[0] <= 0.1
    assert all(count >= LEAST_SEEN for name, count in done.seen.items() if name in done.spreads)
    said = list(table(done.gaps))
    assert len(said) == 1 + len({(gap.protocol, gap.event) for gap in done.gaps})


def test_what_a_record_tells_of_a_latency_is_between_the_callback_and_the_record(crashes):
    seen = [value for name, value in observations(crashes[0]) if name == "first_record_classic"]
    assert seen
    assert 0 < median(seen) < 1_000
    assert {name for run in crashes for name, _ in observations(run)} >= {
        "first_record_classic",
        "first_record_cooperative",
        "first_record_consumer",
        "start_classic",
        "heartbeat_late",
        "background_late",
        "rejoin",
        "log_append",
        "reconcile_joining",
    }


def test_a_start_is_told_by_client_and_protocol(recorded_folders):
    names = ("rd-leave.eager.4.3.1", "rd-freeze.consumer.4.3.1", "crash.consumer.4.3.1", "crash.eager.4.3.1")
    starts = [
        {name: value for name, value in observations(read_run(recorded_folders[run])) if "start" in name}
        for run in names
    ]
    assert [set(found) for found in starts] == [
        {"start_librdkafka"},
        {"start_librdkafka"},
        {"start_consumer"},
        {"start_classic"},
    ]
    assert all(0 < value < 2_000 for found in starts for value in found.values())


def test_a_heartbeat_is_as_late_as_its_interval_was_passed(crashes):
    for run in crashes:
        late = [value for name, value in observations(run) if name in {"heartbeat_late", "background_late"}]
        assert late and 0 <= median(late) < 100


@pytest.mark.parametrize(("mine", "others", "longer"), [(4_000, 80, False), (80, 4_000, True)])
def test_a_run_is_measured_with_what_the_others_tell(crashes, monkeypatch, mine, others, longer):
    eager = crashes[0].name
    monkeypatch.setattr(
        calibration,
        "observations",
        lambda run: [("later_record_classic", mine if run.name == eager else others)] * LEAST_SEEN,
    )
    gaps = [gap for gap in calibrate(crashes, 2).gaps if gap.run == eager and gap.event == "crash"]
    assert all((gap.after_ms - gap.before_ms > 3_000) is longer for gap in gaps) and gaps


def test_what_takes_long_is_shared_between_the_latencies_on_its_way():
    lines = [
        Line(at, "INFO", text)
        for at, text in ((0, "end"), (10, "begin"), (40, "x"), (70, "end"), (90, "end"))
    ]
    found = list(_between(lines, re.compile("begin"), re.compile("end"), ("a", "b")))
    assert found == [("a", 30.0), ("b", 30.0)]


def test_windows_go_from_deed_to_deed(crashes):
    found = list(windows(repeat(crashes[0]).scenario))
    assert found[0][0] == "crash"
    assert len(found) > 1
    assert all(since < until for _, since, until in found)
    assert [since for _, since, _ in found][1:] == [until for _, _, until in found][:-1]


def test_too_little_is_told(crashes):
    with pytest.raises(DataError, match="expected one at least"):
        calibrate([])
    from dataclasses import replace

    with pytest.raises(DataError, match="fewer than 8 observations"):
        calibrate([replace(crashes[0], truth=())], 1)


def test_the_command_prints_latencies_that_a_scenario_takes(recorded_folders):
    out = io.StringIO()
    folders = [str(recorded_folders[name]) for name in CRASHES]
    assert main(["calibrate", *folders, "--draws", "1", "--json"], out) == 0
    said = json.loads(out.getvalue())
    for marks in said["latencies"].values():
        assert marks == sorted(marks)
        assert len(marks) == 5


def test_a_value_outside_the_draws_is_said_and_becomes_an_issue(recorded_folders, monkeypatch):
    inside = Cell("generations or epochs", 3, Distribution((3.0, 3.0, 3.0)))
    outside = Cell("longest gap, s", 9, Distribution((1.0, 2.0, 3.0)))
    monkeypatch.setattr(placed, "percentiles", lambda run, draws: (inside, outside))
    out = io.StringIO()
    assert main(["beside", str(recorded_folders["crash.eager.4.3.1"])], out) == 1
    said = out.getvalue()
    assert "1 of 2 measures lie from the 1st to the 99th percentile" in said
    assert "### crash, eager, Kafka 4.3.1: longest gap, s outside the engine's draws" in said
    assert said.count("outside\n") == 1


def test_a_record_that_stops_before_its_own_closes_counts_to_its_end(crashes):
    from dataclasses import replace

    run = crashes[0]
    own = [step for step in run.steps if step.get("line") == "close"]
    begin = min(int(step["t"]) for step in own)
    stop = {"t": begin, "do": "admin", "line": "stop"}
    kept = [step for step in run.steps if step not in own and step.get("line") != "stop"]
    moved = repeat(replace(run, steps=(*kept, stop, *own))).scenario
    assert moved.end_ms == begin - run.begin
    assert not [action for action in moved.actions if action.do == "close"]
    assert window(moved)[1] == moved.end_ms
    assert abs(window(repeat(run).scenario)[1] - moved.end_ms) < 200
