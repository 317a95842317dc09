"""A recorded run as a trace: its rows are written as those of a simulated one."""

from __future__ import annotations

from itertools import pairwise

import pytest

from rebalance_kit.model.schema_text import problems
from rebalance_kit.recordings.folder import read_run
from rebalance_kit.recordings.trace import recorded_trace
from rebalance_kit.view.board.boards import Boards
from tests.support.recordings.repeated_runs import REPEATED, REPEATED_LATER


@pytest.mark.parametrize("name", [*REPEATED, *REPEATED_LATER])
def test_the_trace_of_a_recorded_run_is_written_as_the_schema_says(recorded_folders, name):
    trace = recorded_trace(read_run(recorded_folders[name]))
    assert trace.source == "recorded" and trace.rows and list(problems(trace)) == []


@pytest.mark.parametrize("name", [name for name in REPEATED if ".consumer." in name])
def test_a_recorded_consumer_group_speaks_its_protocol_in_every_row_but_actions(recorded_folders, name):
    trace = recorded_trace(read_run(recorded_folders[name]))
    assert {row.protocol for row in trace.rows if row.kind != "action"} == {"consumer"}


def test_the_readers_of_a_recorded_run_are_no_zombies_for_want_of_coordinator_rows(recorded_folders):
    boards = Boards(recorded_trace(read_run(recorded_folders["crash.cooperative.4.3.1"])))
    words = {state.word for track in boards.partitions.values() for state in track.states}
    assert "flows" in words and "zombie" not in words


def test_the_reader_of_a_partition_in_a_recorded_run_polls(recorded_folders):
    boards = Boards(recorded_trace(read_run(recorded_folders["crash.cooperative.4.3.1"])))
    doing = {
        boards.members[state.owner].at(at_ms).doing
        for track in boards.partitions.values()
        for at_ms, state in zip(track.times, track.states, strict=True)
        if state.word == "flows" and state.owner
    }
    assert doing == {"polls"}


def test_a_description_that_repeats_a_state_begins_no_rebalance(recorded_folders):
    trace = recorded_trace(read_run(recorded_folders["crash.cooperative.4.3.1"]))
    states = [row.detail["to"] for row in trace.of("group_state")]
    assert states.count("PreparingRebalance") == 3  # the first join, the removal of c3, its return
    assert all(before != after for before, after in pairwise(states))


def test_a_process_that_starts_again_owns_nothing_of_its_earlier_life(recorded_folders):
    trace = recorded_trace(read_run(recorded_folders["crash.cooperative.4.3.1"]))
    of_c3 = [row.detail["partitions"] for row in trace.of("owned") if row.actor == "c3"]
    assert of_c3[:2] == [["orders-2", "orders-5", "orders-8"], ["orders-6", "orders-7", "orders-8"]]
