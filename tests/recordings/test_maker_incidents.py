"""Drawn incidents: each learner's own, the same whenever asked for, with a fault that shows in the logs and a truth that does not."""

from __future__ import annotations

import re

import pytest

from rebalance_kit.analysis.invariants import check
from rebalance_kit.analysis.rebalances import rebalances
from rebalance_kit.exercises.workspace import Identity
from rebalance_kit.logs.broker import broker_lines
from rebalance_kit.logs.write import member_lines
from rebalance_kit.model.errors import DataError
from rebalance_kit.recordings.families import FAMILIES, draw_incident
from rebalance_kit.recordings.maker import make_logs
from rebalance_kit.simulation.simulate import simulate

FIRST = {
    "long_batch": "poll_timeout",
    "frozen_process": "session_expired",
    "killed_process": "session_expired",
    "rolling_restart": "leave",
    "slow_callback": "leave",
    "static_too_late": "session_expired",
    "network_cut": "session_expired",
    "partitions_added": "metadata_changed",
    "autoscaler": "join",
    "silent_member": "leave",
    "admin_removal": "admin_removal",
    "poll_storm": "poll_timeout",
    "assignor_mismatch": "leave",
}
"""The trigger of the first rebalance after the fault; the other families show in other ways."""


@pytest.mark.parametrize("family", FAMILIES)
def test_the_fault_is_what_the_group_feels_first(family):
    for seed in range(6):
        incident = draw_incident(seed, [family])
        trace = simulate(incident.scenario)
        after = [one for one in rebalances(trace) if one.start_ms >= incident.fault_ms]
        if family in FIRST:
            assert after[0].trigger == FIRST[family], (seed, after[:2])
            named = (
                incident.culprit if family not in {"slow_callback", "silent_member", "poll_storm"} else None
            )
            assert named is None or after[0].culprit == named
        assert not check(trace)


def test_a_duplicate_instance_shows_as_a_refusal_or_a_fenced_member():
    for seed in range(4):
        incident = draw_incident(seed, ["duplicate_instance"])
        trace = simulate(incident.scenario)
        died = [(row.at_ms >= incident.fault_ms, row.detail["error"]) for row in trace.of("died")]
        assert died in ([(True, "UNRELEASED_INSTANCE_ID")], [(True, "FENCED_INSTANCE_ID")])


def test_a_moved_coordinator_shows_in_the_clients_logs():
    incident = draw_incident(3, ["coordinator_moved"])
    trace = simulate(incident.scenario)
    told = [
        line
        for spec in incident.scenario.members
        for line in member_lines(trace, spec.name)
        if line.at_ms >= incident.fault_ms
    ]
    assert any("is unavailable or invalid due to cause" in line.message for line in told)


def test_an_incident_is_the_same_whenever_asked_for_and_another_for_another_learner():
    seeds = [
        Identity(learner, "course").seed("spark-14") for learner in ("ann", "bob", "eve", "joe", "kim", "leo")
    ]
    assert draw_incident(seeds[0]) == draw_incident(seeds[0])
    assert len({(one.family, one.scenario.seed) for one in map(draw_incident, seeds)}) == len(seeds)
    assert Identity("bc", "a").seed("d") != Identity("c", "ab").seed("d")


def test_all_families_are_drawn():
    assert {draw_incident(seed).family for seed in range(200)} == set(FAMILIES)


def test_no_log_holds_a_word_of_the_truth(tmp_path):
    for seed in range(5):
        incident = draw_incident(seed)
        made = make_logs(incident.scenario, tmp_path / str(seed), truth=tmp_path / f"{seed}.jsonl")
        text = "".join(path.read_text() for path in made.files)
        assert incident.cause not in text
        assert incident.family not in text
        assert "incident" not in text
        assert (tmp_path / f"{seed}.jsonl").is_file()


def test_a_family_that_does_not_exist_is_refused():
    with pytest.raises(
        DataError, match=r"no family of incidents is called 'gremlins'; expected some of long_batch"
    ):
        draw_incident(1, ["gremlins"])


def test_every_brokers_log_of_an_incident_tells_of_one_group_with_a_rebalance_in_it():
    groups = set()
    for seed in range(12):
        incident = draw_incident(seed)
        lines = [line.message for line in broker_lines(simulate(incident.scenario))]
        groups.add(incident.scenario.group)
        assert any(re.search(r"Stabilized group|Bumped group epoch", line) for line in lines)
    assert len(groups) > 2
