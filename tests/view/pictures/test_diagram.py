"""The two drawn diagrams: the state machine says what the engine's table says, the ladder what was sent."""

from __future__ import annotations

import re
from html import unescape

import pytest

from rebalance_kit.notebook.runs import three
from rebalance_kit.protocol.classic_group.group import PREDECESSORS, ClassicGroupState
from rebalance_kit.view.figures.message_diagram import messages
from rebalance_kit.view.figures.state_machines import edges, state_machine


@pytest.fixture(scope="module")
def join():
    return three("join")


def words(picture):
    return [unescape(found) for found in re.findall(r"<text[^>]*>([^<]*)</text>", picture.svg)]


def test_every_step_that_kafka_allows_between_living_states_is_drawn():
    allowed = {
        (before, after)
        for after, befores in PREDECESSORS.items()
        for before in befores
        if ClassicGroupState.DEAD not in {before, after}
    }
    assert set(edges()) == allowed


def test_the_steps_counted_are_those_the_run_took(join):
    taken = [(row.detail["from"], row.detail["to"]) for row in join["eager"].of("group_state")]
    counted = sum(int(line.rpartition("×")[2]) for line in state_machine(join["eager"]).text.splitlines())
    assert counted == len(taken)


def test_the_picture_of_the_states_names_all_four(join):
    assert {"Empty", "PreparingRebalance", "CompletingRebalance", "Stable"} <= set(
        words(state_machine(join["eager"]))
    )


def test_one_sync_group_alone_carries_the_shares(join):
    talk = messages(join["eager"], 30, 36)
    sent = [line for line in talk.text.splitlines() if "-> coordinator  SyncGroup" in line]
    assert len(sent) == 4
    assert sum(line.endswith("with everybody's shares") for line in sent) == 1


def test_each_line_of_the_text_is_in_the_picture(join):
    talk = messages(join["consumer"], 30, 33)
    drawn = words(talk)
    lines = talk.text.splitlines()
    assert lines
    assert all(line.partition("coordinator  ")[2] in drawn for line in lines)


def test_heartbeats_without_news_are_left_out_unless_asked_for(join):
    assert "heartbeat: no news" not in messages(join["eager"], 20, 36).text
    assert "heartbeat: no news" in messages(join["eager"], 20, 36, apis=("Heartbeat",)).text


def test_a_second_run_draws_the_same_picture(join):
    assert messages(three("join")["consumer"], 30, 33).svg == messages(join["consumer"], 30, 33).svg
