"""What the lab shows at a moment, against a run whose truth is known by hand, and against the rows."""

from __future__ import annotations

import pytest

from rebalance_kit.analysis.deliveries import flows
from rebalance_kit.scenarios import load
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario, TopicSpec
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.board.boards import Boards, board
from rebalance_kit.view.words.moment import sentence


def words(boards, at_ms):
    return {one.name: (one.state.owner, one.state.word) for one in boards.at(at_ms).partitions}


@pytest.mark.parametrize(
    ("at_ms", "owner", "word"),
    [
        (3_000, None, "no owner"),
        (3_550, "consumer-1", "new"),
        (9_999, "consumer-1", "flows"),
        (10_000, "consumer-1", "stopped"),
        (53_999, "consumer-1", "stopped"),
        (54_000, None, "no owner"),
        (55_100, "consumer-2", "new"),
        (55_200, "consumer-2", "flows"),
    ],
)
def test_a_crashed_members_partition_stays_with_it_until_the_session_ends(by_hand, at_ms, owner, word):
    assert words(by_hand, at_ms)["orders-0"] == (owner, word)


def test_an_eager_revocation_is_drawn_as_giving_up_then_as_no_owner(by_hand):
    assert words(by_hand, 55_005)["orders-2"] == ("consumer-2", "give up")
    assert words(by_hand, 55_011)["orders-2"] == (None, "no owner")


def test_a_stop_is_counted_from_the_crash_on_and_not_from_the_loss_of_the_owner(by_hand):
    at = {one.name: one for one in by_hand.at(54_500).partitions}
    assert at["orders-0"].stopped_since_ms == 10_000
    assert at["orders-2"].stopped_since_ms is None


def test_the_session_of_a_crashed_member_ends_45_seconds_after_its_last_heartbeat_arrived(by_hand):
    crashed = by_hand.at(20_000).member("consumer-1")
    assert crashed.session_ends_ms == 9_000 + 45_000
    assert by_hand.at(54_000).member("consumer-1").session_ends_ms is None


def test_a_parked_join_group_holds_the_session_and_fills_a_seat(by_hand):
    waiting = by_hand.at(1_000)
    assert waiting.group.joined == ("consumer-1", "consumer-2")
    assert waiting.member("consumer-1").session_ends_ms is None
    assert waiting.member("consumer-1").state.doing == "waits in JoinGroup"


def test_a_request_counts_as_sent_until_it_arrives(by_hand):
    assert by_hand.at(501).member("consumer-1").state.doing == "sends JoinGroup"
    assert by_hand.at(502).member("consumer-1").state.doing == "waits in JoinGroup"


def test_the_lag_of_a_stopped_partition_grows_with_its_log(by_hand):
    at = {one.name: one.lag for one in by_hand.at(32_600).partitions}
    assert at["orders-0"] == 225  # half of the 450 records produced between 10.0 and 55.2 s
    assert at["orders-2"] == 0


def test_the_same_moment_gives_the_same_board_by_either_way(by_hand):
    assert board(by_hand.trace, 20_000) == by_hand.at(20_000)


def test_naming_a_member_that_is_not_there_names_those_that_are(by_hand):
    with pytest.raises(KeyError, match="expected one of consumer-1, consumer-2"):
        by_hand.at(0).member("consumer-7")


def test_what_flows_on_the_board_is_what_the_analysis_calls_available(crash_run):
    boards = Boards(crash_run)
    for partition, stretches in flows(crash_run).items():
        for stretch in stretches:
            for at_ms in (stretch.from_ms, (stretch.from_ms + stretch.to_ms) // 2, stretch.to_ms - 1):
                state = boards.partitions[str(partition)].at(at_ms)
                assert (state.flows, state.owner) == (True, stretch.member), (str(partition), at_ms)
            after = boards.partitions[str(partition)].at(stretch.to_ms)
            assert not after.flows or stretch.to_ms == crash_run.end_ms


def test_a_walk_through_all_moments_says_what_each_board_says(make_group):
    scenario = (
        make_group(4, 8, 90_000)
        .with_action(Action(12_000, "crash", "consumer-2"))
        .with_action(Action(20_000, "close", "consumer-3"))
    )
    for protocol in ("eager", "cooperative", "consumer"):
        boards = Boards(simulate(scenario, protocol=protocol))
        for one in boards.walk(boards.change_times):
            assert sentence(one) == sentence(boards.at(one.at_ms)), (protocol, one.at_ms)


def test_a_frozen_member_that_was_removed_loses_its_lane_to_the_new_owner(make_group):
    scenario = (
        make_group(2, 4, 120_000)
        .with_action(Action(12_000, "freeze", "consumer-1"))
        .with_action(Action(90_000, "thaw", "consumer-1"))
    )
    boards = Boards(simulate(scenario, protocol="eager"))
    frozen = boards.at(80_000)
    assert frozen.member("consumer-1").state.doing == "frozen, removed"
    assert {one.state.owner for one in frozen.partitions} == {"consumer-2"}
    assert frozen.flowing == 4


def test_a_group_of_the_consumer_protocol_shows_epochs_and_a_target_that_waits(make_group):
    scenario = make_group(2, 4, 60_000)
    boards = Boards(simulate(scenario, protocol="consumer"))
    waiting = [
        at_ms for at_ms in boards.change_times if any(one.state.target for one in boards.at(at_ms).partitions)
    ]
    assert waiting
    assert boards.at(60_000).group.protocol == "consumer"
    assert {one.state.group_epoch for one in boards.at(60_000).members} == {
        boards.at(60_000).group.generation
    }


def test_a_classic_group_never_shows_a_target(make_group):
    boards = Boards(simulate(make_group(3, 6, 60_000), protocol="cooperative"))
    assert all(state.target is None for track in boards.partitions.values() for state in track.states)


def test_whoever_loses_its_instance_id_to_another_process_is_out_of_the_group():
    boards = Boards(simulate(load("duplicate-instance")))
    after = boards.at(boards.end_ms)
    assert (after.member("consumer-2").state.doing, after.member("consumer-2").state.standing) == (
        "died",
        "removed",
    )
    assert sentence(after).cause == "All 4 partitions flow."


def test_a_member_outside_the_group_that_still_reads_is_a_zombie_and_does_not_move_the_groups_position():
    boards = Boards(simulate(load("freeze")))
    thawed = next(row.at_ms for row in boards.trace.of("process_thawed"))
    board = boards.at(thawed)
    also = [one.name for one in board.partitions if "consumer-2" in one.state.also]
    assert also
    assert board.member("consumer-2").state.doing == "removed, still works"
    assert max(one.lag for one in board.partitions) < 60


@pytest.mark.parametrize(
    ("name", "late"),
    [
        ("partitions-added", ["orders-4", "orders-5"]),
        ("regex-surprise", ["orders-retry-0", "orders-retry-1"]),
    ],
)
def test_a_partition_is_on_the_board_from_the_moment_it_exists(name, late):
    trace = simulate(load(name))
    made_ms = next(row.at_ms for row in trace.of("action"))
    boards = Boards(trace)
    before, after, end = (boards.at(at_ms) for at_ms in (made_ms - 1, made_ms + 1, boards.end_ms))
    assert not {one.name for one in before.partitions} & set(late)
    assert before.flowing == len(before.partitions)
    assert [one.state.word for one in after.partitions if one.name in late] == ["no owner"] * 2
    assert all(one.state.owner for one in end.partitions if one.name in late)


def test_a_deleted_topic_leaves_the_board_at_once_although_members_still_hold_its_partitions():
    scenario = load("regex-surprise").with_action(
        Action(50_000, "delete_topic", None, {"topic": "orders-retry"})
    )
    boards = Boards(simulate(scenario, protocol="consumer"))

    def held(at_ms):
        return [one.state.owner for one in boards.at(at_ms).partitions if "retry" in one.name]

    assert len(held(49_999)) == 2
    assert held(50_001) == held(boards.end_ms) == []


@pytest.mark.parametrize(
    ("protocol", "broker", "version", "expected_ms"),
    [
        ("eager", {}, "4.3.1", 45_000),
        ("eager", {}, "2.8.2", 10_000),
        ("consumer", {}, "4.3.1", 45_000),
        ("consumer", {"group.consumer.session.timeout.ms": 60_000}, "4.3.1", 60_000),
        ("consumer", {"consumer.session.timeout.ms": 50_000}, "4.3.1", 50_000),
    ],
)
def test_sessions_last_as_long_as_the_run_itself_says(protocol, broker, version, expected_ms):
    scenario = Scenario(
        "sessions",
        (TopicSpec("orders", 2),),
        (MemberSpec("consumer-1", ("orders",)),),
        broker=broker,
        kafka_version=version,
    )
    boards = Boards(simulate(scenario, protocol=protocol))
    last = boards.beats["consumer-1"][-1]
    assert boards.session_ends_ms("consumer-1", boards.end_ms) == last + expected_ms
