"""Consumers by the clock: callbacks and their order, heartbeats, poll timeout, closing, re-join reasons."""

from __future__ import annotations

import pytest

from rebalance_kit.model.errors import ProtocolViolation
from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.classic_client.member import EDGES as CLASSIC_EDGES
from rebalance_kit.protocol.classic_client.member import MemberState
from rebalance_kit.protocol.messages import (
    Answer,
    Heartbeat,
    JoinAnswer,
    JoinGroup,
    LeaveGroup,
    OffsetCommit,
    SyncAnswer,
)
from tests.support.protocol.client_steps import answer_join, joined, rebalanced
from tests.support.protocol.driver import Client, tps


# --- the classic client -----------------------------------------------------------------------------------
def test_a_first_join_calls_nothing_before_its_answer():
    client = Client("eager")
    client.poll()
    assert client.called == [] and client.commits == []
    client.answer(answer_join(client), SyncAnswer("NONE", ()))
    assert client.called == [("assigned", [], 1)], "assigned runs even with nothing"


def test_eager_gives_everything_up_and_is_told_all_it_gets():
    client = joined("eager")
    rebalanced(client, "t-1 t-2", 2)
    assert client.commits == ["join"]
    assert client.called == [("revoked", ["t-0", "t-1"], 1), ("assigned", ["t-1", "t-2"], 2)]


def test_eager_runs_revoked_even_when_it_owns_nothing():
    client = joined("eager", held="")
    rebalanced(client, "t-0", 2)
    assert client.called == [("revoked", [], 1), ("assigned", ["t-0"], 2)]


def test_eager_stops_fetching_before_it_commits():
    client = joined("eager")
    client.hold_commits = True
    client.event(fx.RejoinEnforced())
    assert client.fetching == set() and client.called == [] and client.commits == ["join"]


def test_cooperative_keeps_fetching_through_join_and_sync_and_is_told_only_additions():
    client = joined("cooperative")
    client.event(fx.RejoinEnforced())
    assert client.fetching == set(tps("t-0", "t-1")) and client.called == []
    sync = answer_join(client, 2)
    assert client.fetching == set(tps("t-0", "t-1"))
    client.answer(sync, SyncAnswer("NONE", tps("t-0", "t-1", "t-2")))
    assert client.called == [("assigned", ["t-2"], 2)] and client.sent == []


def test_cooperative_that_revokes_joins_once_more_and_the_new_generation_is_shown():
    client = joined("cooperative")
    rebalanced(client, "t-0", 2)
    assert client.called == [("revoked", ["t-1"], 2), ("assigned", [], 2)]
    request = client.take(JoinGroup)
    assert request.reason.text == "need to revoke partitions and re-join"
    assert request.protocols[0][1].owned == tps("t-0") and request.protocols[0][1].generation == 2


def test_cooperative_that_revokes_nothing_does_not_join_again():
    client = joined("cooperative")
    rebalanced(client, "t-0 t-1", 2)
    assert client.called == [("assigned", [], 2)] and client.sent == []


def test_cooperative_gives_up_a_topic_it_no_longer_subscribes_before_it_joins():
    client = joined("cooperative", held="t-0 u-0", topics=("t", "u"))
    client.event(fx.Subscribed(("t",)))
    assert client.called == [("revoked", ["u-0"], 1)] and client.fetching == set(tps("t-0"))
    assert client.take(JoinGroup).protocols[0][1].owned == tps("t-0")


@pytest.mark.parametrize("protocol", ["eager", "cooperative"])
def test_whoever_is_unknown_has_lost_everything_and_joins_without_an_id(protocol):
    client = joined(protocol)
    client.pass_ms(3_000)
    client.answer(client.take(Heartbeat), Answer("UNKNOWN_MEMBER_ID"))
    assert client.called == [("lost", ["t-0", "t-1"], 1)]
    request = client.take(JoinGroup)
    assert (request.member_id, request.protocols[0][1].owned) == ("", ())
    assert client.noted("generation_reset") == [
        {"reason": "encountered UNKNOWN_MEMBER_ID from HEARTBEAT response", "member_id_kept": False}
    ]


def test_lost_is_never_called_with_nothing():
    client = joined("eager", held="")
    client.pass_ms(3_000)
    client.answer(client.take(Heartbeat), Answer("UNKNOWN_MEMBER_ID"))
    assert client.called == []


def test_the_heartbeat_thread_rests_while_joingroup_is_parked():
    client = joined("cooperative")
    client.event(fx.RejoinEnforced())
    client.take(JoinGroup)
    client.pass_ms(60_000)
    assert client.sent == []


def test_heartbeats_go_on_while_the_revoke_callback_runs_and_each_is_told_to_rejoin():
    client = joined("eager")
    client.hold_callbacks = True
    client.pass_ms(3_000)
    client.answer(client.take(Heartbeat), Answer("REBALANCE_IN_PROGRESS"))
    for _ in range(2):
        client.pass_ms(3_000)
        client.answer(client.take(Heartbeat), Answer("REBALANCE_IN_PROGRESS"))
    assert [one["reason"] for one in client.noted("rejoin_requested")][-3:] == [
        "group is already rebalancing"
    ] * 3
    client.event(fx.CallbackDone())
    client.take(JoinGroup)


def test_the_first_heartbeat_comes_one_interval_after_the_join_answer():
    client = Client(heartbeat_interval_ms=3_000)
    client.poll()
    sync = answer_join(client)
    client.pass_ms(1_000)
    client.answer(sync, SyncAnswer("NONE", ()))
    client.pass_ms(1_999)
    assert client.sent == []
    client.pass_ms(1)
    client.take(Heartbeat)


def test_without_an_answer_for_a_session_only_the_coordinator_is_doubted():
    client = joined(session_timeout_ms=10_000)
    for _ in range(3):
        client.pass_ms(3_000)
        client.take(Heartbeat)
    client.pass_ms(1_000)
    assert client.noted("coordinator_lost") == [
        {"cause": "session timed out without receiving a heartbeat response"}
    ]
    assert (
        client.called == [] and client.fetching == set(tps("t-0", "t-1")) and client.machine.generation == 1
    )


def test_an_answered_heartbeat_restarts_the_clients_own_session_clock():
    client = joined(session_timeout_ms=10_000)
    for _ in range(10):
        client.pass_ms(3_000)
        client.answer(client.take(Heartbeat), Answer("NONE"))
    assert client.noted("coordinator_lost") == []


def test_a_poll_timeout_leaves_at_once_and_calls_lost_at_the_next_poll():
    client = joined()
    client.hold_polls = True
    client.event(fx.PollTimeout())
    leave = client.take(LeaveGroup)
    assert (leave.reason, leave.member_id) == ("consumer poll timeout has expired.", "m-1")
    client.pass_ms(60_000)
    assert client.sent == [] and client.called == []
    client.hold_polls = False
    client.poll()
    assert client.called == [("lost", ["t-0", "t-1"], 1)] and client.take(JoinGroup).member_id == ""


def test_librdkafka_names_no_reason_when_it_leaves_on_a_poll_timeout_and_its_assignment_is_lost():
    # Semantics 7.3: max.poll.interval.ms exceeded makes assignment_lost() true; 2.5: it sends no reason.
    client = joined(client="librdkafka", callback="right")
    client.event(fx.PollTimeout())
    assert client.take(LeaveGroup).reason == "not provided"
    assert client.called == [("lost", ["t-0", "t-1"], 1)]


def test_librdkafka_serves_the_queued_assignment_of_a_group_it_has_left_and_hears_of_it_later():
    # rd_kafka_cgrp_revoke_all_rejoin_maybe skips while a callback waits; rd_kafka_cgrp_heartbeat rests after the poll timeout.
    client = joined("cooperative", client="librdkafka", callback="right", session_timeout_ms=10_000)
    client.hold_callbacks = True
    rebalanced(client, "t-0 t-1 t-2", 2)
    client.event(fx.PollTimeout())
    assert client.take(LeaveGroup).member_id == "m-1" and client.machine.member_id == ""
    client.event(fx.CallbackDone())
    client.pass_ms(9_999)
    assert client.sent == [] and client.called == [("assigned", ["t-2"], 2)]
    client.pass_ms(1)
    assert client.called[1:] == [("lost", ["t-0", "t-1", "t-2"], 2)]


def test_a_refused_commit_tells_librdkafka_that_it_has_lost_what_it_was_assigned_after_its_poll_timeout():
    client = joined("cooperative", client="librdkafka", callback="right")
    client.hold_callbacks = True
    rebalanced(client, "t-0 t-1 t-2", 2)
    client.event(fx.PollTimeout())
    client.take(LeaveGroup)
    client.event(fx.CallbackDone())
    commit = OffsetCommit("c", "", None, 2, {}, "auto", "g")
    client.event(fx.Answered(commit, Answer("UNKNOWN_MEMBER_ID")))
    assert client.called[1:] == [("lost", ["t-0", "t-1", "t-2"], 2)]


def test_librdkafka_hears_of_no_other_rebalance_while_a_callback_waits():
    # "skipping COOPERATIVE rebalance": the first heartbeat after the callback says it again.
    client = joined("cooperative", client="librdkafka", callback="right")
    client.hold_callbacks = True
    rebalanced(client, "t-0 t-1 t-2", 2)
    client.pass_ms(3_000)
    client.answer(client.take(Heartbeat), Answer("REBALANCE_IN_PROGRESS"))
    client.event(fx.CallbackDone())
    assert client.sent == []
    client.pass_ms(3_000)
    client.answer(client.take(Heartbeat), Answer("REBALANCE_IN_PROGRESS"))
    client.take(JoinGroup)


@pytest.mark.parametrize(
    ("protocol", "wanted"),
    [("eager", [("revoked", ["t-0", "t-1"], 1)]), ("cooperative", [("revoked", ["t-1"], 2)])],
)
def test_librdkafka_commits_what_it_has_revoked_before_it_goes_on(protocol, wanted):
    # rd_kafka_assignment_serve_removals: after the callback; Java's commit comes before it. A refused one delays nothing.
    client = joined(protocol, client="librdkafka", callback="right", auto_commit=True)
    client.hold_commits = True
    client.pass_ms(3_000)
    client.answer(client.take(Heartbeat), Answer("REBALANCE_IN_PROGRESS"))
    if protocol == "cooperative":
        client.answer(answer_join(client, 2), SyncAnswer("NONE", tps("t-0")))
    assert (client.called, client.commits, client.sent) == (wanted, ["join"], [])
    client.event(fx.CommitDone("UNKNOWN_TOPIC_OR_PARTITION", "join"))
    client.take(JoinGroup)
    assert (
        client.called == [*wanted, ("assigned", [], 2)]
        if protocol == "cooperative"
        else client.called == wanted
    )


def test_librdkafka_counts_polls_from_an_assignment_that_was_served_until_the_first_timeout():
    # rd_kafka_cgrp_start_max_poll_interval_timer: by assign(); the timer that fires is stopped.
    client = joined(client="librdkafka", callback="right")
    client.event(fx.PollTimeout())
    client.take(LeaveGroup)
    client.hold_callbacks = True
    client.answer(answer_join(client, 2), SyncAnswer("NONE", tps("t-0")))
    client.event(fx.PollTimeout())
    assert client.sent == [] and client.machine.member_id == "m-1", "nothing was served since"
    client.event(fx.CallbackDone())
    client.event(fx.PollTimeout())
    client.take(LeaveGroup)


def test_librdkafka_leaves_while_its_joingroup_is_parked_and_joins_again_when_it_is_polled():
    client = joined("cooperative", client="librdkafka", callback="right")
    client.pass_ms(3_000)
    client.answer(client.take(Heartbeat), Answer("REBALANCE_IN_PROGRESS"))
    parked = client.take(JoinGroup)
    client.event(fx.PollTimeout())
    client.take(LeaveGroup)
    client.hold_polls = True
    client.answer(parked, JoinAnswer("UNKNOWN_MEMBER_ID", "", -1, None, "", ()))
    assert client.sent == [] and client.called == []
    client.hold_polls = False
    client.poll()
    assert client.called == [("lost", ["t-0", "t-1"], 1)] and client.take(JoinGroup).member_id == ""


@pytest.mark.parametrize(("kind", "waits_ms"), [("librdkafka", 1_000), ("java", 0)])
def test_librdkafka_joins_a_second_after_its_last_join_when_its_syncgroup_was_refused(kind, waits_ms):
    """rkcg_join_intvl: 1.499 s after the last JoinGroup in a recorded rolling restart, at once where that was 13 s ago."""
    client = joined("cooperative", client=kind, callback="right")
    client.pass_ms(3_000)
    client.answer(client.take(Heartbeat), Answer("REBALANCE_IN_PROGRESS"))
    client.answer(answer_join(client, 2), SyncAnswer("REBALANCE_IN_PROGRESS", ()))
    if waits_ms:
        client.pass_ms(waits_ms - 1)
        assert client.sent == []
        client.pass_ms(1)
    assert client.take(JoinGroup).member_id
    assert client.called == [], "it keeps what it owns meanwhile"


@pytest.mark.parametrize("leads", [True, False])
def test_librdkafka_loses_partitions_of_a_deleted_topic_and_only_a_leader_joins_again_by_itself(leads):
    # rd_kafka_cgrp_metadata_update_check, COOPERATIVE: "subscribed topic(s) no longer exist" sets assignment_lost().
    client = joined(
        "cooperative", held="t-0 u-0", topics=("t", "u"), leader=leads, client="librdkafka", callback="right"
    )
    client.event(fx.MetadataSeen({"t": 6}))
    assert client.called == [("lost", ["u-0"], 1)] and client.fetching == set(tps("t-0"))
    joins = [request for request in client.sent if isinstance(request, JoinGroup)]
    assert [request.protocols[0][1].topics for request in joins] == ([("t",)] if leads else [])


def test_eager_librdkafka_revokes_everything_when_a_topic_is_deleted_leader_or_not():
    # The same function, EAGER: rd_kafka_cgrp_revoke_rejoin, which is "not lost".
    client = joined(held="t-0 u-0", topics=("t", "u"), client="librdkafka", callback="right")
    client.event(fx.MetadataSeen({"t": 6}))
    assert client.called == [("revoked", ["t-0", "u-0"], 1)]
    assert client.take(JoinGroup).protocols[0][1].topics == ("t",)


def test_a_follower_of_librdkafka_joins_again_for_new_partitions_and_one_of_java_does_not():
    # Semantics 7.4: "non-leader sees metadata change: re-joins too (regex/topic set)".
    for kind, joins in (("librdkafka", 1), ("java", 0)):
        client = joined("cooperative", client=kind, callback="right")
        client.event(fx.MetadataSeen({"t": 8}))
        assert sum(isinstance(request, JoinGroup) for request in client.sent) == joins


def test_librdkafka_does_not_wait_for_the_commit_of_a_deleted_topic():
    client = joined(
        topics=("t", "u"), held="t-0 u-0", client="librdkafka", callback="right", auto_commit=True
    )
    client.event(fx.MetadataSeen({"t": 6}))
    client.event(fx.CommitDone("UNKNOWN_TOPIC_OR_PARTITION", "join"))
    assert client.called == [("revoked", ["t-0", "u-0"], 1)]


@pytest.mark.parametrize("stage", ["STABLE", "PREPARING_REBALANCE"])
def test_close_of_librdkafka_revokes_also_while_the_group_rebalances(stage):
    # Semantics 7.3: a rebalance under way is none of the causes that make assignment_lost() true.
    client = joined("cooperative", client="librdkafka", callback="right")
    if stage != "STABLE":
        client.pass_ms(3_000)
        client.answer(client.take(Heartbeat), Answer("REBALANCE_IN_PROGRESS"))
    assert client.machine.state.value == stage
    client.event(fx.CloseCalled())
    assert client.called == [("revoked", ["t-0", "t-1"], 1)]


def test_a_static_member_does_not_leave_on_a_poll_timeout_but_resets_all_the_same():
    client = joined(instance_id="i")
    client.event(fx.PollTimeout())
    assert client.called == [("lost", ["t-0", "t-1"], 1)]
    request = client.take(JoinGroup)
    assert (request.member_id, request.instance_id) == ("", "i")


def test_a_poll_timeout_is_not_noticed_while_joingroup_is_parked():
    # The heartbeat thread, which watches the poll timer, rests in PREPARING_REBALANCE.
    client = joined("cooperative")
    client.event(fx.RejoinEnforced())
    client.take(JoinGroup)
    client.event(fx.PollTimeout())
    assert client.sent == [] and client.noted("poll_timeout") == []


def test_a_request_to_rejoin_while_joining_is_swallowed_by_the_sync_under_way():
    client = joined("cooperative")
    client.event(fx.RejoinEnforced())
    join = client.take(JoinGroup)
    client.event(fx.RejoinEnforced())
    client.answer(join, JoinAnswer("NONE", "m-1", 2, "range", "other-1"))
    client.answer(client.sent.pop(0), SyncAnswer("NONE", tps("t-0", "t-1")))
    assert client.sent == []


def test_a_change_of_subscription_while_joining_survives_it():
    client = joined("cooperative")
    client.event(fx.RejoinEnforced())
    join = client.take(JoinGroup)
    client.event(fx.Subscribed(("t", "u")))
    client.answer(join, JoinAnswer("NONE", "m-1", 2, "range", "other-1"))
    client.answer(client.sent.pop(0), SyncAnswer("NONE", tps("t-0", "t-1")))
    assert client.take(JoinGroup).reason.text == "subscription has changed"


def test_the_long_reason_of_changed_metadata_is_for_the_log_and_the_short_one_is_sent():
    client = joined(leader=True)
    client.event(fx.MetadataSeen({"t": 7}))
    said = client.noted("rejoin_requested")[-1]
    assert said["sent"] == "cached metadata has changed"
    assert (
        said["reason"].startswith("cached metadata has changed from (version")
        and said["reason"].count("NO_RACKS") == 13
    )


@pytest.mark.parametrize(
    ("stage", "callback"),
    [("STABLE", "revoked"), ("PREPARING_REBALANCE", "lost"), ("COMPLETING_REBALANCE", "lost")],
)
def test_close_calls_revoked_or_lost_by_the_state_it_finds(stage, callback):
    client = joined("cooperative")
    if stage != "STABLE":
        client.event(fx.RejoinEnforced())
    if stage == "COMPLETING_REBALANCE":
        answer_join(client, 2)
    client.called.clear()
    client.sent.clear()
    assert client.machine.state.value == stage
    client.event(fx.CloseCalled())
    assert client.called == [(callback, ["t-0", "t-1"], 1)]
    assert client.take(LeaveGroup).reason == "the consumer is being closed"


def test_close_calls_nothing_when_nothing_is_owned():
    client = joined(held="")
    client.event(fx.CloseCalled())
    assert client.called == [] and client.commits == [] and isinstance(client.ended, fx.Closed)


@pytest.mark.parametrize(("instance_id", "leaves"), [(None, 1), ("i", 0)])
def test_close_of_a_static_member_sends_no_leavegroup(instance_id, leaves):
    client = joined(instance_id=instance_id)
    client.event(fx.CloseCalled())
    assert client.called == [("revoked", ["t-0", "t-1"], 1)]
    assert sum(isinstance(request, LeaveGroup) for request in client.sent) == leaves


def test_librdkafka_gives_its_partitions_up_as_lost_when_nobody_answers_for_a_session():
    client = joined(session_timeout_ms=10_000, client="librdkafka", callback="right")
    for _ in range(3):
        client.pass_ms(3_000)
        client.take(Heartbeat)
    client.pass_ms(1_000)
    assert client.called == [("lost", ["t-0", "t-1"], 1)] and client.machine.generation == -1


def test_close_waits_for_its_commit_only_so_long():
    client = joined()
    client.commit_error = "DISCONNECTED"
    client.event(fx.CloseCalled(5_000))
    client.pass_ms(4_999)
    assert client.ended is None
    client.pass_ms(1)
    assert isinstance(client.ended, fx.Closed)


@pytest.mark.parametrize("before", MemberState)
@pytest.mark.parametrize("after", MemberState)
def test_a_classic_client_moves_along_its_edges_only(before, after):
    machine = Client().machine
    machine.state = before
    if before is after or before in CLASSIC_EDGES[after]:
        machine.move(after)
        assert machine.state is after
    else:
        with pytest.raises(ProtocolViolation, match=f"{before.value} may not become {after.value}"):
            machine.move(after)
