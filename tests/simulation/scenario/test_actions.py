"""Macros become starts, closes and crashes; what cannot be done is refused before anything runs."""

from dataclasses import replace

import pytest

from rebalance_kit.model.errors import ConfigError, ScenarioError
from rebalance_kit.simulation.scenario.actions import ARGUMENTS, MEMBERLESS
from rebalance_kit.simulation.scenario.expansion import check, expand
from rebalance_kit.simulation.scenario.scenario import ACTIONS, Action, MemberSpec, Scenario, TopicSpec

MACROS = {"restart", "reconfigure", "duplicate", "rolling_restart", "scale_to"}


def scenario(*actions, members=3, **changes):
    specs = tuple(
        MemberSpec(f"c{number}", ("orders",), {"group.instance.id": f"pod-{number}"})
        for number in range(1, members + 1)
    )
    return replace(Scenario("s", (TopicSpec("orders", 6),), specs, tuple(actions)), **changes)


def told(planned):
    return [(one.at_ms, one.do, one.member) for one in planned.actions]


def test_every_action_of_the_contract_has_its_arguments_and_nothing_else_has():
    assert set(ARGUMENTS) == set(ACTIONS) and set(ACTIONS) >= MEMBERLESS


def test_primitive_actions_are_kept_and_put_in_order_of_time():
    planned = expand(scenario(Action(9_000, "close", "c2"), Action(2_000, "crash", "c1")))
    assert told(planned) == [(2_000, "crash", "c1"), (9_000, "close", "c2")]


def test_a_restart_is_a_close_and_a_start_with_what_was_given():
    planned = expand(scenario(Action(1_000, "restart", "c1", {"after_ms": 700, "topics": ["orders"]})))
    assert told(planned) == [(1_000, "close", "c1"), (1_700, "start", "c1")]
    assert planned.actions[1].args == {"topics": ["orders"]}


def test_a_restart_may_be_a_crash():
    planned = expand(scenario(Action(1_000, "restart", "c1", {"after_ms": 700, "crash": True})))
    assert told(planned) == [(1_000, "crash", "c1"), (1_700, "start", "c1")]


def test_reconfigure_starts_the_member_with_its_new_configs():
    planned = expand(
        scenario(Action(0, "reconfigure", "c1", {"configs": {"session.timeout.ms": 9_000}, "after_ms": 10}))
    )
    assert planned.actions[1] == Action(10, "start", "c1", {"configs": {"session.timeout.ms": 9_000}})


def test_a_rolling_restart_takes_the_running_members_in_turn():
    planned = expand(
        scenario(
            Action(500, "close", "c2"),
            Action(1_000, "rolling_restart", None, {"every_ms": 100, "after_ms": 30}),
        )
    )
    assert told(planned)[1:] == [
        (1_000, "close", "c1"),
        (1_030, "start", "c1"),
        (1_100, "close", "c3"),
        (1_130, "start", "c3"),
    ]


def test_a_member_away_for_a_restart_has_its_turn_too():
    planned = expand(
        scenario(
            Action(900, "restart", "c1", {"after_ms": 5_000}),
            Action(1_000, "rolling_restart", None, {"every_ms": 100, "after_ms": 30}),
        )
    )
    assert (1_000, "close", "c1") in told(planned)


def test_scaling_in_closes_the_last_ones():
    assert told(expand(scenario(Action(1_000, "scale_to", None, {"members": 1, "every_ms": 50})))) == [
        (1_000, "close", "c3"),
        (1_050, "close", "c2"),
    ]


def test_a_member_whose_close_is_still_to_come_counts_as_running():
    slowly = Action(1_000, "scale_to", None, {"members": 1, "every_ms": 1_000})
    planned = expand(scenario(slowly, Action(1_500, "scale_to", None, {"members": 2})))
    assert told(planned) == [(1_000, "close", "c3"), (2_000, "close", "c2")]


def test_scaling_out_starts_who_is_down_and_then_makes_new_members_with_ids_of_their_own():
    planned = expand(scenario(Action(100, "crash", "c1"), Action(1_000, "scale_to", None, {"members": 5})))
    assert told(planned)[1:] == [(1_000, "start", "c1"), (1_000, "start", "c4"), (1_000, "start", "c5")]
    assert [(one.name, one.configs["group.instance.id"], one.start_ms) for one in planned.members[3:]] == [
        ("c4", "c4", None),
        ("c5", "c5", None),
    ]


def test_a_member_made_by_scaling_can_be_told_something_later():
    planned = expand(scenario(Action(1_000, "scale_to", None, {"members": 4}), Action(2_000, "crash", "c4")))
    assert told(planned)[-1] == (2_000, "crash", "c4")


def test_a_duplicate_shares_the_instance_id_it_was_last_started_with():
    planned = expand(
        scenario(
            Action(1_000, "reconfigure", "c1", {"configs": {"group.instance.id": "other"}}),
            Action(9_000, "duplicate", "c1", {"as": "twin"}),
        )
    )
    twin = planned.member("twin")
    assert twin.configs["group.instance.id"] == "other" and twin.start_ms is None
    assert told(planned)[-1] == (9_000, "start", "twin")


def test_the_run_grows_to_the_end_of_a_macro_and_not_for_what_was_written_after_it():
    assert expand(scenario(Action(900, "restart", "c1", {"after_ms": 500}), end_ms=1_000)).end_ms == 1_400
    planned = expand(scenario(Action(5_000, "crash", "c1"), end_ms=1_000))
    assert planned.end_ms == 1_000 and planned.actions == ()


def test_expanding_twice_changes_nothing_more():
    once = expand(
        scenario(
            Action(1_000, "rolling_restart", None, {}),
            Action(3_000, "scale_to", None, {"members": 6}),
            Action(50_000, "duplicate", "c2", {"as": "t"}),
        )
    )
    assert expand(once) == once and not {one.do for one in once.actions} & MACROS


REFUSED = [
    ([Action(1, "crahs", "c1")], "did you mean 'crash'"),
    ([Action(1, "crash", "c9")], "no member is named 'c9'"),
    ([Action(1, "crash")], "crash needs a member"),
    ([Action(1, "broker_down", "c1")], "concerns no single member"),
    ([Action(-1, "crash", "c1")], "at is -1"),
    ([Action(1.5, "crash", "c1")], "at is 1.5"),
    ([Action(1, "crash", "c1", {"why": "x"})], "no argument 'why'"),
    ([Action(1, "stall", "c1")], "stall needs for_ms"),
    ([Action(1, "stall", "c1", {"for_ms": "long"})], "for_ms is 'long'"),
    ([Action(1, "stall", "c1", {"for_ms": True})], "for_ms is True"),
    ([Action(1, "slow_down", "c1", {"processing_ms": float("nan")})], "processing_ms is nan"),
    ([Action(1, "drop_next", "c1", {"api": "Fetch"})], "api is 'Fetch'"),
    ([Action(1, "start", "c1", {"client": "go"})], "client is 'go'"),
    ([Action(1, "start", "c1", {"topics": "orders"})], "a list of names"),
    ([Action(1, "subscribe", "c1", {"topics": ["oders"]})], "did you mean 'orders'"),
    ([Action(1, "thaw", "c1")], "not frozen"),
    ([Action(1, "freeze", "c1"), Action(2, "crash", "c1"), Action(3, "thaw", "c1")], "not frozen"),
    ([Action(1, "heal_network", "c1")], "not cut"),
    ([Action(1, "broker_up")], "the broker is up"),
    ([Action(1, "broker_down"), Action(2, "coordinator_failover")], "down already"),
    ([Action(1, "create_topic", None, {"topic": "orders", "partitions": 1})], "exists already"),
    ([Action(1, "add_partitions", None, {"topic": "audits", "partitions": 1})], "does not exist then"),
    (
        [
            Action(1, "delete_topic", None, {"topic": "orders"}),
            Action(2, "add_partitions", None, {"topic": "orders", "partitions": 9}),
        ],
        "does not exist then",
    ),
    ([Action(1, "add_partitions", None, {"topic": "orders", "partitions": 6})], "only grows"),
    ([Action(1, "duplicate", "c1", {"as": "c2"})], "named twice"),
    ([Action(1, "scale_to", None, {"members": 10**9})], "members is 1000000000"),
]


@pytest.mark.parametrize(("actions", "words"), REFUSED, ids=lambda value: str(value)[:70])
def test_what_cannot_be_done_is_refused_before_anything_runs(actions, words):
    with pytest.raises(ScenarioError, match=words) as caught:
        check(scenario(*actions))
    assert caught.value.path[0] == "actions" and str(caught.value).startswith("s: action ")


def test_what_can_be_done_in_its_order_is_accepted_whatever_the_order_of_writing():
    check(
        scenario(
            Action(9, "thaw", "c1"),
            Action(2, "freeze", "c1"),
            Action(5, "broker_up"),
            Action(4, "broker_down"),
            Action(7, "add_partitions", None, {"topic": "audits", "partitions": 3}),
            Action(6, "create_topic", None, {"topic": "audits", "partitions": 2}),
        )
    )


def test_configs_a_member_will_be_started_with_are_refused_before_anything_runs():
    with pytest.raises(ConfigError, match="Heartbeat must be set lower"):
        check(scenario(Action(1, "reconfigure", "c1", {"configs": {"heartbeat.interval.ms": 60_000}})))
    with pytest.raises(ConfigError, match="member c1"):
        check(replace(scenario(), members=(MemberSpec("c1", ("orders",), {"nonsense": 1}),)))
    with pytest.raises(ConfigError, match="broker"):
        check(scenario(broker={"group.consumer.session.timeout.ms": 1}))


def test_configs_given_at_a_start_add_up_unless_they_replace():
    low = Action(1, "start", "c1", {"configs": {"session.timeout.ms": 9_000}})
    check(scenario(low, Action(2, "start", "c1", {"configs": {"heartbeat.interval.ms": 8_000}})))
    with pytest.raises(ConfigError, match="Heartbeat"):
        check(scenario(low, Action(2, "start", "c1", {"configs": {"heartbeat.interval.ms": 9_000}})))
    check(
        scenario(
            low,
            Action(2, "start", "c1", {"configs": {"heartbeat.interval.ms": 9_000}, "replace_configs": True}),
        )
    )


THINGS = [
    ({"name": ""}, "needs a name"),
    ({"end_ms": 0}, "end is 0"),
    ({"end_ms": True}, "end is True"),
    ({"seed": 1.5}, "seed is 1.5"),
    ({"group": ""}, "group is ''"),
    ({"kafka_version": "banana"}, "'banana' is no Kafka version"),
    ({"topics": (TopicSpec("a", 1), TopicSpec("a", 1))}, "'a' is named twice"),
    ({"topics": (TopicSpec("a", 2.5),)}, "partitions 2.5"),
    ({"members": (MemberSpec("a", ("orders",)), MemberSpec("a"))}, "'a' is named twice"),
    ({"members": (MemberSpec("a", start_ms=-1),)}, "start is -1"),
    ({"members": (MemberSpec("a", ("orders",), start_ms=99_999),)}, "at most the end"),
    ({"members": (MemberSpec("a"),)}, "member a subscribes to nothing; expected topics"),
    ({"members": (MemberSpec("a", commit="often"),)}, "commit is 'often'"),
    ({"members": (MemberSpec("a", pattern="("),)}, "no regular expression"),
    ({"members": (MemberSpec("a", ("orders",), pattern="x"),)}, "expected one of them"),
    ({"members": (MemberSpec("a", processing_ms=float("inf")),)}, "processing_ms is inf"),
    ({"members": (MemberSpec("a", server_pattern="x"),)}, "Subscribe to RE2/J pattern is not supported"),
]


@pytest.mark.parametrize(("changes", "words"), THINGS, ids=lambda value: str(value)[:60])
def test_things_that_cannot_be_are_refused(changes, words):
    with pytest.raises(ScenarioError, match=words.replace("(", r"\(")):
        check(replace(scenario(), **changes))
