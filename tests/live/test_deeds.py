"""What a scenario becomes on a real group, and what is refused with its name."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from rebalance_kit import scenarios
from rebalance_kit.live.deeds import native_configs, plan
from rebalance_kit.live.jars import LiveError
from rebalance_kit.live.recorder import _rows, record
from rebalance_kit.recordings.folder import STEPS
from rebalance_kit.simulation.scenario.scenario import Action, with_protocol
from rebalance_kit.simulation.simulate import plan as engine_plan

RECORDABLE = (
    "a-to-b-move", "bounce-gone-wrong", "broker-restart", "crash", "duplicate-instance", "freeze", "join", "leave",
    "partitions-added", "recovered-member", "rolling-restart", "rolling-restart-static", "scale-out", "slow-callback",
    "static-restart-in-time", "storm", "subscription-change", "two-bounces", "two-consumers-crash", "wrong-librdkafka-callback",
)  # fmt: skip


@pytest.mark.parametrize("name", RECORDABLE)
def test_a_scenario_becomes_steps_of_a_recorded_run_at_the_engines_moments(name):
    scenario = scenarios.load(name)
    made = plan(scenario)
    assert {deed.do for deed in made.deeds} <= set(STEPS)
    assert sum(deed.do == "start" for deed in made.deeds) == len(made.starts)
    engine = engine_plan(scenario, scenario.seed)
    begun = sorted(spec.start_ms for spec in engine.members if spec.start_ms is not None)
    begun += [action.at_ms for action in engine.actions if action.do == "start"]
    assert sorted(begun) == [at_ms for at_ms, _ in made.starts]


def test_every_start_says_the_timeouts_that_a_repetition_would_otherwise_take_from_elsewhere():
    classic = plan(with_protocol(scenarios.load("crash"), "cooperative"))
    consumer = plan(with_protocol(scenarios.load("crash"), "consumer"))
    assert {start.configs["session.timeout.ms"] for _, start in classic.starts} == {45_000}
    assert all("session.timeout.ms" not in start.configs for _, start in consumer.starts)
    assert consumer.broker["group.consumer.session.timeout.ms"] == 45_000


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("skewed-range", "processing_ms"),
        ("broker-bounce-racks", "expected one broker"),
        ("coordinator-failover", "coordinator_failover is not among the deeds"),
    ],
)
def test_what_cannot_be_done_for_real_is_refused_before_anything_starts(name, words, tmp_path):
    with pytest.raises(LiveError, match=words):
        record(name, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_slow_callback_from_the_start_is_an_order_that_the_record_says():
    made = plan(scenarios.load("slow-callback"))
    told = [(deed.member, deed.line) for deed in made.deeds if deed.do == "tell"]
    slow = {spec.name: spec.callback_ms for spec in made.scenario.members if spec.callback_ms}
    assert told == [(name, f"slow {ms}") for name, ms in slow.items()] != []


def test_one_member_is_removed_by_its_instance_id_alone():
    leave = scenarios.load("leave")
    with pytest.raises(LiveError, match=r"has no group\.instance\.id"):
        plan(replace(leave, actions=(Action(20_000, "remove", "consumer-1"),)))


def test_librdkafka_cannot_enforce_a_rebalance():
    leave = scenarios.load("leave")
    members = tuple(replace(spec, client="librdkafka") for spec in leave.members)
    enforced = Action(20_000, "enforce_rebalance", "consumer-1")
    assert [deed.line for deed in plan(replace(leave, actions=(enforced,))).deeds][-1] == "enforce"
    with pytest.raises(LiveError, match=r"librdkafka has no enforceRebalance\(\); expected a Java member"):
        plan(replace(leave, members=members, actions=(enforced,)))


def test_a_record_never_overwrites(tmp_path):
    (tmp_path / "run.json").write_text(json.dumps({}), "utf-8")
    with pytest.raises(LiveError, match="not empty"):
        record("leave", tmp_path)


@pytest.mark.parametrize(
    ("wish", "words"), [({"protocol": "eagre"}, "eagre"), ({"client": "kafka-python"}, "kafka-python")]
)
def test_unknown_wishes_are_named(wish, words, tmp_path):
    with pytest.raises(LiveError, match=words):
        record("leave", tmp_path / "run", **wish)


def test_librdkafkas_members_are_started_with_the_names_they_know():
    leave = with_protocol(scenarios.load("leave"), "cooperative")
    native = replace(leave, members=tuple(replace(spec, client="librdkafka") for spec in leave.members))
    made = plan(native)
    assert {start.configs["partition.assignment.strategy"] for _, start in made.starts} == {
        "cooperative-sticky"
    }
    assert {start.callback for _, start in made.starts} == {"right"}


def test_librdkafka_gets_its_own_names_of_assignors():
    java = "org.apache.kafka.clients.consumer."
    assert native_configs(
        {"partition.assignment.strategy": f"{java}RangeAssignor,{java}CooperativeStickyAssignor"}
    ) == {"partition.assignment.strategy": "range,cooperative-sticky"}
    with pytest.raises(LiveError, match="StickyAssignor"):
        native_configs({"partition.assignment.strategy": f"{java}StickyAssignor"})


def test_half_a_row_of_a_killed_process_is_left_out(tmp_path):
    (tmp_path / "truth.jsonl").write_text('{"by":"c1","t":1,"kind":"start"}\n{"by":"c1","t":2,"ki\n', "utf-8")
    assert _rows(tmp_path / "truth.jsonl") == [{"by": "c1", "t": 1, "kind": "start"}]
    assert _rows(tmp_path / "none") == []
