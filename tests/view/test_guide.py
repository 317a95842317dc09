"""Guided playing: the beats of every lesson under every protocol are moments of its run, told with a rule of Why."""

from __future__ import annotations

from functools import cache

import pytest

from rebalance_kit.scenarios import load
from rebalance_kit.view.lab.guide import (
    FIRST,
    PHASES,
    beats,
    guide_of,
    lesson_beats,
    own_steps,
    story_start_ms,
)
from rebalance_kit.view.lab.lessons import lessons
from rebalance_kit.view.lab.state import first_lesson, known_scenario, opened, own_protocol
from rebalance_kit.view.lab.tabs.why import STEP_KINDS, steps

NAMES = (FIRST, *(preset.name for preset in lessons()))


def scenario_of(name):
    return first_lesson() if name == FIRST else load(name)


def protocols_of(name):
    return (None,) if own_protocol(scenario_of(name)) is None else ("eager", "cooperative", "consumer")


def run_of(name, protocol):
    return opened(known_scenario(scenario_of(name)), protocol, None, None)


@cache
def told_of(name, protocol):
    """The account of a run, its beats, and where its story begins and the run ends."""
    state = run_of(name, protocol)
    start_ms = story_start_ms(state.scenario)
    return steps(state.boards), beats(state.boards, state.scenario), start_ms, state.boards.end_ms


RUNS = [(name, protocol) for name in NAMES for protocol in protocols_of(name)]


@pytest.mark.parametrize(("name", "protocol"), RUNS)
def test_each_beat_is_a_step_of_why_in_order_of_time_and_the_lesson_says_one_itself(name, protocol):
    account, told, start_ms, end_ms = told_of(name, protocol)
    assert told == sorted(told, key=lambda beat: (beat.at_ms, beat.step))
    assert len({beat.step for beat in told}) == len(told)
    assert {step.kind for step in account} <= set(STEP_KINDS)
    for beat in told:
        step = account[beat.step]
        assert beat.at_ms == step.at_ms
        assert start_ms <= beat.at_ms <= end_ms
        assert step.rule
        assert step.source
        assert beat.words.endswith(".")
    assert set(own_steps(account, lesson_beats(scenario_of(name)), start_ms)) & {beat.step for beat in told}
    assert 3 <= len(told) <= 19, (
        f"{name} under {protocol} has {len(told)} beats, a lesson 3 to 19: add beats to the lesson: block of "
        f"scenarios/{name}.yaml, of kinds that its run has: {sorted({step.kind for step in account})}"
    )


@pytest.mark.parametrize("name", NAMES)
def test_each_sentence_of_a_lesson_is_said_under_one_protocol_at_least(name):
    said = set()
    for protocol in protocols_of(name):
        said |= {beat.words for beat in told_of(name, protocol)[1]}
    unsaid = {beat.words: beat.kind for beat in lesson_beats(scenario_of(name)) if beat.words not in said}
    kinds = {step.kind for protocol in protocols_of(name) for step in told_of(name, protocol)[0]}
    assert not unsaid, f"scenarios/{name}.yaml: no run has these steps; it has {sorted(kinds)}: {unsaid}"


def test_a_phase_belongs_to_kinds_of_steps_that_exist():
    assert set(PHASES) - {"action", "removed"} <= set(STEP_KINDS)


@pytest.mark.parametrize("protocol", ["eager", "cooperative", "consumer"])
def test_the_beats_of_a_crash_go_through_its_phases(protocol):
    state = run_of("two-consumers-crash", protocol)
    account = steps(state.boards)
    phases = [
        PHASES.get(account[beat.step].kind) or PHASES[account[beat.step].kind.partition(" ")[0]]
        for beat in beats(state.boards, state.scenario)
    ]
    wanted = {
        "eager": ["cause", "detection", "rebalance", "hearing", "revocation", "plan", "assignment"],
        "cooperative": ["cause", "detection", "rebalance", "hearing", "join", "plan", "assignment"],
        "consumer": ["cause", "detection", "rebalance", "plan", "assignment"],
    }[protocol]
    assert phases == [*wanted, "records", "end"]


@pytest.mark.parametrize("change", ["deed", "seed", "none"])
def test_a_lesson_speaks_in_its_own_words_only_of_the_run_as_it_was_written(change):
    state = run_of("two-consumers-crash", "eager")
    if change == "deed":
        state = state.acted("crash", "consumer-2", 50_000)
    if change == "seed":
        state = state.with_seed(7)
    words = {words for _, words, _ in guide_of(state)["beats"]}
    own = {beat.words for beat in lesson_beats(state.scenario)}
    assert bool(words & own) == (change == "none")


def test_what_a_learner_does_becomes_a_beat():
    state = opened(first_lesson(), "eager", None, None).acted("crash", "consumer-1", 20_000)
    told = beats(state.boards, state.scenario)
    assert (told[0].at_ms, told[0].words) == (20_000, "consumer-1 crashes.")
    assert told[1].words == "consumer-1 was removed: its session ended."
