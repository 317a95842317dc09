"""Recorded values beside what the engine draws: what is drawn, what is counted, and where the recorded value falls."""

from __future__ import annotations

import io
import json
import shutil
from dataclasses import replace

import pytest

from rebalance_kit.analysis.draws import Distribution
from rebalance_kit.recordings.folder import read_run
from rebalance_kit.recordings.repeat import repeat
from rebalance_kit.recordings.replay import (
    SHIFT_MS,
    START_WITHIN_MS,
    Cell,
    apart,
    percentiles,
    run_beside,
    shifted,
    unpinned,
    window,
)


@pytest.fixture
def crash(recorded_folders):
    return repeat(read_run(recorded_folders["crash.eager.4.3.1"])).scenario


def test_nothing_that_a_record_says_of_single_lives_is_kept(crash):
    assert any(spec.lives for spec in crash.members)
    assert not any(spec.lives for spec in unpinned(crash).members)


def test_what_is_done_to_the_group_moves_together_and_starts_move_one_by_one(crash):
    since, until = window(crash)
    moved = [shifted(crash, seed) for seed in range(1, 21)]
    offsets = [window(one)[0] - since for one in moved]
    assert len(set(offsets)) > 15 and all(0 <= offset < SHIFT_MS for offset in offsets)
    assert [window(one)[1] - until for one in moved] == offsets
    assert [one.end_ms - crash.end_ms for one in moved] == offsets
    for one in moved:
        begun = [(old, new) for old, new in zip(crash.actions, one.actions, strict=True) if old.at_ms < since]
        assert sorted(new.member for _, new in begun) == sorted(old.member for old, _ in begun)
        late = sum(new.at_ms for _, new in begun) - sum(old.at_ms for old, _ in begun)
        assert 0 <= late < START_WITHIN_MS * len(begun)
    assert shifted(crash, 3) == shifted(crash, 3)


def test_the_recorders_own_shutdown_does_not_count(crash, recorded_folders):
    since, until = window(crash)
    (killed,) = (action.at_ms for action in crash.actions if action.do == "crash")
    closes = [action.at_ms for action in crash.actions if action.do == "close"]
    assert since == killed and until == min(closes)
    cells = {cell.measure: cell for cell in percentiles(read_run(recorded_folders["crash.eager.4.3.1"]), 4)}
    assert cells["generations or epochs"].recorded == 2, "one without the dead member, one with the new one"
    assert cells["delivered again"].recorded == 129


def test_a_crash_lies_where_the_engine_draws_it(recorded_folders):
    cells = percentiles(read_run(recorded_folders["crash.eager.4.3.1"]), 20)
    assert [cell.measure for cell in cells if cell.outside] == []
    assert {cell.measure for cell in cells if not cell.varies} == {
        "moved",
        "generations or epochs",
        "callbacks",
    }


def test_librdkafkas_bunches_of_records_are_not_measured_as_gaps(recorded_folders):
    measures = {cell.measure for cell in percentiles(read_run(recorded_folders["rd-leave.eager.4.3.1"]), 2)}
    assert "longest gap, s" not in measures and "delivered again" in measures


@pytest.mark.parametrize(("recorded", "outside"), [(0.0, True), (2.0, False), (99.0, False), (101.0, True)])
def test_a_value_beyond_the_first_or_last_percent_of_the_draws_lies_outside(recorded, outside):
    assert Cell("x", recorded, Distribution(tuple(map(float, range(1, 101))))).outside == outside


def test_a_value_that_all_draws_share_lies_in_the_middle():
    cell = Cell("x", 2.0, Distribution((2.0, 2.0)))
    assert (cell.percentile, cell.outside, cell.varies) == (50.0, False, False)


def test_a_record_whose_group_was_not_together_at_the_first_deed_is_said_and_not_measured(
    recorded_folders, tmp_path
):
    run = read_run(recorded_folders["crash.eager.4.3.1"])
    assert apart(run) is None
    first = min(int(step["t"]) for step in run.steps if step["do"] == "kill")
    late = [dict(row, state="PreparingRebalance") if row["kind"] == "describe" else row for row in run.truth]
    said = apart(replace(run, truth=tuple(late)))
    assert said is not None and "(PreparingRebalance, 3 of 3 members)" in said and first > run.begin
    folder = tmp_path / "crash"
    shutil.copytree(recorded_folders["crash.eager.4.3.1"], folder)
    for old in folder.glob("truth.jsonl*"):
        old.unlink()
    (folder / "truth.jsonl").write_text("".join(json.dumps(dict(row)) + "\n" for row in late), "utf-8")
    out = io.StringIO()
    assert run_beside([str(folder)], 2, colour=False, out=out) == 0
    assert "1 of 1 records not measured" in out.getvalue()
