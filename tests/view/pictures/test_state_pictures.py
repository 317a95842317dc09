"""The state machines of KIP-848 as pictures, and lag as a chart: each says what its run did, no more."""

from __future__ import annotations

import re
from html import unescape
from itertools import pairwise

import pytest

from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.notebook.runs import three
from rebalance_kit.protocol.consumer_client.member import EDGES, MemberState
from rebalance_kit.view.figures.comparison import describe_lag, lag_figure, lag_rows
from rebalance_kit.view.figures.state_machines import group_states, member_states, path_of, state_machine


@pytest.fixture(scope="module")
def join():
    return three("join")


@pytest.fixture(scope="module")
def crash():
    return three("crash")


def boxes(picture):
    """Name of each box by its fill."""
    found = re.findall(r'<rect x="[^>]*fill="([^"]+)"[^>]*/><text[^>]*>([^<]*)</text>', picture.svg)
    return {unescape(name): fill for fill, name in found}


def test_every_state_and_every_step_of_the_table_is_told():
    drawn = member_states()
    assert set(boxes(drawn)) == {one.value for one in MemberState}
    assert len(drawn.text.splitlines()) == sum(len(befores) for befores in EDGES.values())


def test_the_steps_of_a_member_are_counted_as_the_run_took_them(join):
    told = member_states(join["consumer"], "consumer-1").text.splitlines()
    counted = sum(int(line.rpartition("×")[2]) for line in told)
    assert counted == len([row for row in join["consumer"].of("member_state") if row.actor == "consumer-1"])


def filled(picture, among):
    """The boxes that are drawn unlike the others."""
    fills = boxes(picture)
    return {name for name, fill in fills.items() if fill != fills[among]}


def test_the_state_of_the_moment_alone_is_filled(join):
    trace = join["consumer"]
    first = next(row.at_ms for row in trace.of("member_state") if row.actor == "consumer-1") / 1000
    early, late = (member_states(trace, "consumer-1", at_s) for at_s in (first, 40))
    assert [filled(one, "FATAL") for one in (early, late)] == [{"JOINING"}, {"STABLE"}]
    assert early.text.startswith("now: JOINING\n")


def test_the_classic_group_too_shows_where_it_is(join):
    waiting = next(row.at_ms for row in join["eager"].of("group_state") if row.at_ms > 20_000) / 1000
    assert filled(state_machine(join["eager"], at_s=waiting), "Empty") == {"PreparingRebalance"}
    assert filled(state_machine(join["eager"]), "Empty") == set()


def test_a_group_of_the_new_protocol_takes_only_steps_between_its_four_states(join):
    drawn = group_states(join["consumer"], 40)
    assert set(boxes(drawn)) == {"Empty", "Assigning", "Reconciling", "Stable"}
    assert drawn.text.startswith("now: Stable\n")


def test_a_member_that_the_run_does_not_have_is_refused_with_those_it_has(join):
    with pytest.raises(ScenarioError, match=r"'nobody'.*consumer-1"):
        member_states(join["consumer"], "nobody")
    with pytest.raises(ScenarioError, match="expected one of none"):
        member_states(join["eager"], "consumer-1")


def test_a_members_path_begins_outside_and_every_step_is_in_the_table(join):
    path = path_of(join["consumer"], "consumer-3")
    assert path[0] == "UNSUBSCRIBED"
    allowed = {(before.value, after.value) for after, befores in EDGES.items() for before in befores}
    assert set(pairwise(path)) <= allowed


def test_lag_grows_while_nobody_reads_and_is_told_in_words(crash):
    rows = dict(lag_rows(crash["eager"]))
    assert rows[60.0] > rows[45.0] > rows[25.0]
    words = describe_lag(list(crash.values()))
    assert len(words.splitlines()) == 3 and "greatest lag" in words


def test_a_line_a_run_told_apart_without_colour(crash):
    lines = lag_figure(list(crash.values()))["data"]
    assert len({line["line"]["dash"] for line in lines}) == 3
    assert len({line["line"]["color"] for line in lines}) == 1


def test_one_partition_has_no_more_lag_than_all_together(crash):
    alone, together = lag_rows(crash["eager"], "orders-0"), lag_rows(crash["eager"])
    assert all(one[1] <= other[1] for one, other in zip(alone, together, strict=True))
