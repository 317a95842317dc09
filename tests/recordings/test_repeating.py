"""Recorded runs of real clusters, repeated in the engine: the same generations, callbacks and removals."""

from __future__ import annotations

import io
import json
import re
import shutil
from dataclasses import replace

import pytest

from rebalance_kit.model.errors import DataError
from rebalance_kit.recordings.arrivals import of_draw
from rebalance_kit.recordings.compare import compare, of_record, of_trace
from rebalance_kit.recordings.folder import read_run
from rebalance_kit.recordings.repeat import repeat
from rebalance_kit.recordings.replay import replay, run_replay
from rebalance_kit.simulation.simulate import simulate
from tests.support.recordings.repeated_runs import RACES, REPEATED, REPEATED_LATER

DRAWS = 12


@pytest.mark.parametrize("name", [*REPEATED, *REPEATED_LATER])
def test_a_recorded_run_is_repeated_event_by_event(recorded_folders, name):
    run = read_run(recorded_folders[name])
    recorded, scenario = of_record(run), repeat(run).scenario
    nearest = None
    for seed in range(1, DRAWS + 1):
        found = compare(recorded, of_trace(simulate(scenario, seed)))
        if found.equal:
            assert len(found.deltas_ms) >= len(recorded.rounds) + len(recorded.calls)
            return
        nearest = max((nearest, found), key=lambda one: -1 if one is None else one.agreed)
    pytest.fail(f"no draw of {DRAWS} is equal: {nearest.first}")


@pytest.mark.parametrize(("name", "seed"), RACES.items())
def test_a_recorded_run_with_several_races_is_repeated_by_one_of_many_draws(recorded_folders, name, seed):
    run = read_run(recorded_folders[name])
    scenario = of_draw(repeat(run).scenario, seed)
    assert compare(of_record(run), of_trace(simulate(scenario, seed))).equal


def test_a_coordinator_that_learns_of_its_topics_late_bumps_once_more(recorded_folders):
    again = repeat(read_run(recorded_folders["rd-freeze.consumer.4.3.1"]))
    assert "moment from which the coordinator knew the topics" in again.pinned and again.scenario.topics == ()
    prompt = repeat(read_run(recorded_folders["crash.consumer.4.3.1"]))
    assert len(prompt.pinned) < len(again.pinned) and prompt.scenario.topics


def test_the_facts_of_a_record_are_what_was_recorded(recorded_folders):
    facts = of_record(read_run(recorded_folders["crash.eager.4.3.1"]))
    assert [(one.kind, one.number, one.assignor) for one in facts.rounds] == [
        ("generation", 1, "range"),
        ("generation", 2, "range"),
        ("generation", 3, "range"),
        ("empty", 4, None),
    ]
    first, *others = [(one.member, one.how) for one in facts.removals]
    assert first == ("c3", "failed") and sorted(others) == [("c1", "left"), ("c2", "left"), ("c3", "left")], (
        "all are closed at the end"
    )
    shares = facts.rounds[0].shares
    assert [name for name, _ in shares] == ["c1", "c2", "c3"]
    assert sorted(partition for _, given in shares for partition in given) == [
        f"orders-{number}" for number in range(9)
    ]
    assert {(call.member, call.kind) for call in facts.calls} == {
        (name, kind) for name in ("c1", "c2", "c3") for kind in ("assigned", "revoked")
    }


def test_the_same_draw_gives_the_same_outcome(recorded_folders):
    first, second = (replay(recorded_folders["leave.eager.4.0.0"], draws=2) for _ in range(2))
    assert first == second and first.draws == 2


def test_a_damaged_run_is_repeated_as_far_as_it_goes_and_says_what_it_lacks(recorded_folders, tmp_path):
    folder = shutil.copytree(recorded_folders["crash.eager.4.3.1"], tmp_path / "damaged")
    (folder / "c2.log.gz").write_bytes(b"")
    outcome = replay(folder, draws=1)
    assert outcome.left_out == () or "c2.log.gz" in outcome.left_out[0]
    (folder / "broker.log.gz").unlink()
    outcome = replay(folder, draws=1)
    assert any("broker.log" in note for note in outcome.left_out) and not outcome.equal
    assert outcome.comparison.first is not None


def test_json_says_of_every_run_what_is_equal_and_what_was_pinned(recorded_folders):
    out = io.StringIO()
    assert run_replay([str(recorded_folders["leave.eager.4.0.0"])], None, as_json=True, draws=4, out=out) == 0
    told = json.loads(out.getvalue())
    assert (
        told["run"] == "leave.eager.4.0.0"
        and told["generations_equal"]
        and told["callbacks_equal"]
        and told["fencing_equal"]
    )
    assert "member ids" in told["pinned"] and told["timing_ms"]["median"] < 100


def test_a_folder_of_runs_is_replayed_run_by_run_and_what_is_no_run_is_said(recorded_folders, tmp_path):
    shutil.copytree(recorded_folders["leave.eager.4.0.0"], tmp_path / "good")
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "run.json").write_text("{}", "utf-8")
    out = io.StringIO()
    assert run_replay([str(tmp_path)], None, as_json=False, draws=4, out=out) == 1
    first, second, last = out.getvalue().splitlines()
    assert (
        first.startswith("bad: not read:")
        and second.startswith("good: equal (")
        and last.startswith("1 of 2 runs equal, 1 of them line by line")
    )


def test_no_draws_and_no_folder_are_refused(recorded_folders):
    with pytest.raises(DataError, match="expected at least 1"):
        run_replay(
            [str(recorded_folders["leave.eager.4.0.0"])], None, as_json=False, draws=0, out=io.StringIO()
        )
    with pytest.raises(DataError, match="no such folder"):
        run_replay(["nowhere"], None, as_json=False, draws=1, out=io.StringIO())


def test_a_member_that_was_closed_before_its_first_request_never_sends_one(recorded_folders):
    run = read_run(recorded_folders["crash.eager.4.3.1"])
    asked = re.compile(r"joining group|joined group|synced group|re-join")
    silent = tuple(line for line in run.members["c2"] if not asked.search(line.text))
    changed = replace(run, members={**run.members, "c2": silent})
    lives = {spec.name: spec.lives for spec in repeat(changed).scenario.members}
    assert lives["c2"][0].first_request_ms >= run.stop - run.begin
    assert lives["c1"][0].first_request_ms < 10_000
