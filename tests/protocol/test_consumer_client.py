"""The KIP-848 consumer by the clock: states, reconciliation, acknowledgements, fencing."""

from __future__ import annotations

import pytest

from rebalance_kit.model.errors import ProtocolViolation
from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.consumer_client.member import EDGES, MemberState
from rebalance_kit.protocol.messages import ConsumerGroupHeartbeat, ConsumerGroupHeartbeatAnswer
from tests.support.protocol.client_steps import heard, stable, told
from tests.support.protocol.driver import Client, tps


# --- the KIP-848 client ---------------------------------------------------------------------------------------
def test_joining_leads_through_the_states_of_the_log():
    client = Client("consumer")
    client.poll()
    heard(client, 2, "t-0")
    moves = [(one["from"], one["to"]) for one in client.noted("member_state")]
    assert moves == [
        ("UNSUBSCRIBED", "JOINING"),
        ("JOINING", "RECONCILING"),
        ("RECONCILING", "ACKNOWLEDGING"),
        ("ACKNOWLEDGING", "STABLE"),
    ]
    assert client.take(ConsumerGroupHeartbeat).owned == tps("t-0")


def test_a_revocation_runs_commit_revoked_assigned_and_acknowledges_at_once():
    client = stable()
    told(client, "t-0")
    assert client.commits == ["reconcile"]
    assert client.called == [("revoked", ["t-1"], 3), ("assigned", [], 3)]
    assert client.take(ConsumerGroupHeartbeat).owned == tps("t-0")


def test_what_must_go_is_not_fetched_while_the_commit_runs():
    client = stable()
    client.hold_commits = True
    told(client, "t-0")
    assert client.fetching == set(tps("t-0")) and client.called == []


def test_revoked_and_assigned_of_one_reconciliation_show_the_epoch_before_the_ack():
    client = stable()
    told(client, "t-0", epoch=2)
    heard(client, 3, None)
    assert client.called == [("revoked", ["t-1"], 2), ("assigned", [], 2)] and client.machine.generation == 3


def test_a_higher_epoch_alone_calls_nothing():
    client = stable()
    told(client, None, epoch=7)
    assert client.called == [] and client.machine.generation == 7 and client.sent == []


def test_every_heartbeat_restarts_the_interval_also_an_ack():
    client = stable()
    client.pass_ms(2_000)
    client.hold_polls = True
    client.pass_ms(3_000)
    heard(client, 3, "t-0 t-1 t-2")
    client.pass_ms(1_500)
    client.hold_polls = False
    client.poll()
    heard(client, 3, None)
    client.pass_ms(4_999)
    assert client.sent == []
    client.pass_ms(1)
    client.take(ConsumerGroupHeartbeat)


def test_heartbeats_go_on_during_callbacks():
    client = stable()
    client.hold_callbacks = True
    told(client, "t-0")
    for _ in range(3):
        client.pass_ms(5_000)
        assert heard(client, 3, None).owned is None, "nothing is acknowledged yet"


def test_an_answer_to_the_ack_may_bring_the_next_assignment():
    client = stable()
    told(client, "t-0 t-1 t-2")
    heard(client, 4, "t-0 t-1")
    assert client.called == [("assigned", ["t-2"], 3), ("revoked", ["t-2"], 4), ("assigned", [], 4)]


@pytest.mark.parametrize(
    "error",
    [
        "UNRELEASED_INSTANCE_ID",
        "FENCED_INSTANCE_ID",
        "INVALID_REQUEST",
        "UNSUPPORTED_ASSIGNOR",
        "GROUP_MAX_SIZE_REACHED",
        "UNSUPPORTED_VERSION",
        "UNKNOWN_SERVER_ERROR",
    ],
)
def test_these_answers_are_fatal(error):
    client = stable()
    client.pass_ms(5_000)
    request = client.take(ConsumerGroupHeartbeat)
    client.answer(request, ConsumerGroupHeartbeatAnswer(error, "id-1", message="why"))
    assert client.ended == fx.Die(error, "why") and client.called == [("lost", ["t-0", "t-1"], 2)]


def test_a_lost_coordinator_costs_nothing_and_the_next_heartbeat_says_everything():
    client = stable()
    client.pass_ms(5_000)
    request = client.take(ConsumerGroupHeartbeat)
    client.answer(request, ConsumerGroupHeartbeatAnswer("NOT_COORDINATOR", "id-1"))
    assert client.called == [] and client.fetching == set(tps("t-0", "t-1"))
    client.event(fx.CoordinatorFound())
    full = client.take(ConsumerGroupHeartbeat)
    assert (full.member_epoch, full.topics, full.owned, full.rebalance_timeout_ms) == (
        2,
        ("t",),
        tps("t-0", "t-1"),
        300_000,
    )


def test_close_of_a_fenced_member_calls_lost_and_leaves_nobody():
    client = stable()
    client.hold_polls = True
    client.pass_ms(5_000)
    request = client.take(ConsumerGroupHeartbeat)
    client.answer(request, ConsumerGroupHeartbeatAnswer("FENCED_MEMBER_EPOCH", "id-1"))
    client.event(fx.CloseCalled())
    assert client.called == [("lost", ["t-0", "t-1"], 2)] and client.sent == []


@pytest.mark.parametrize(("instance_id", "epoch"), [(None, -1), ("i", -2)])
def test_close_leaves_by_a_heartbeat_of_epoch_minus_one_and_a_static_member_of_minus_two(instance_id, epoch):
    client = stable(instance_id=instance_id)
    client.event(fx.CloseCalled())
    assert client.called == [("revoked", ["t-0", "t-1"], 2)]
    assert client.take(ConsumerGroupHeartbeat).member_epoch == epoch


@pytest.mark.parametrize("before", MemberState)
@pytest.mark.parametrize("after", MemberState)
def test_a_consumer_moves_along_its_edges_only(before, after):
    machine = Client("consumer").machine
    machine.state = before
    if before in EDGES[after] or before is after:
        machine.move(after)
        assert machine.state is after
    else:
        with pytest.raises(ProtocolViolation, match=f"{before.value} may not become {after.value}"):
            machine.move(after)


@pytest.mark.parametrize("protocol", ["eager", "consumer"])
def test_an_event_that_no_driver_may_send_is_refused(protocol):
    with pytest.raises(ProtocolViolation, match="is never sent Load"):
        Client(protocol).event(fx.Load())
