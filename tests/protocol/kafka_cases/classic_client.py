"""Classic consumers as AbstractCoordinatorTest fixes them, in scripts of our own."""

from __future__ import annotations

from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.messages import Answer, Heartbeat, JoinAnswer, LeaveGroup, SyncAnswer
from tests.support.protocol.client_steps import answer_join, joined, take_join
from tests.support.protocol.driver import Client, tps
from tests.support.protocol.kafka_table import kafka

AC = "AbstractCoordinatorTest."


@kafka(AC + "testJoinGroupRequestWithMemberIdRequired")
def _() -> None:
    client = Client()
    client.poll()
    request = take_join(client)
    client.answer(request, JoinAnswer("MEMBER_ID_REQUIRED", "m-1"))
    again = take_join(client)
    assert (request.member_id, again.member_id) == ("", "m-1")
    assert again.reason.text == "need to re-join with the given member-id: m-1"
    assert client.machine.state.value == "PREPARING_REBALANCE"


@kafka(AC + "testGroupMaxSizeExceptionIsFatal")
def _() -> None:
    client = Client()
    client.poll()
    client.answer(take_join(client), JoinAnswer("GROUP_MAX_SIZE_REACHED"))
    assert isinstance(client.ended, fx.Die) and client.ended.error == "GROUP_MAX_SIZE_REACHED"


@kafka(AC + "testJoinGroupRequestWithFencedInstanceIdException")
def _() -> None:
    client = Client(instance_id="i")
    client.poll()
    client.answer(take_join(client), JoinAnswer("FENCED_INSTANCE_ID"))
    assert client.ended.error == "FENCED_INSTANCE_ID"


@kafka(AC + "testRetainMemberIdAfterJoinGroupDisconnect")
def _() -> None:
    client = Client()
    client.poll()
    client.answer(take_join(client), JoinAnswer("MEMBER_ID_REQUIRED", "m-1"))
    client.event(fx.Disconnected(take_join(client), "coordinator unavailable"))
    client.event(fx.CoordinatorFound())
    assert take_join(client).member_id == "m-1"


@kafka(AC + "testRetainMemberIdAfterSyncGroupDisconnect")
def _() -> None:
    client = Client()
    client.poll()
    sync = answer_join(client, generation=4)
    client.event(fx.Disconnected(sync, "coordinator unavailable"))
    client.event(fx.CoordinatorFound())
    assert take_join(client).member_id == "m-1" and client.machine.generation == 4


@kafka(AC + "testRejoinReason")
def _() -> None:
    client = Client()
    client.poll()
    request = take_join(client)
    assert request.reason is None
    client.answer(request, JoinAnswer("MEMBER_ID_REQUIRED", "m-1"))
    request = take_join(client)
    assert request.reason.text == "need to re-join with the given member-id: m-1"
    client.event(fx.Disconnected(request, "coordinator unavailable"))
    client.event(fx.CoordinatorFound())
    assert client.sent[0].reason.text == "rebalance failed due to DisconnectException"
    client.answer(answer_join(client), SyncAnswer("NONE", ()))
    client.event(fx.RejoinEnforced("rebalance enforced by user"))
    assert take_join(client).reason.text == "rebalance enforced by user"


@kafka(AC + "testSyncGroupRequestWithFencedInstanceIdException")
def _() -> None:
    client = Client(instance_id="i")
    client.poll()
    client.answer(answer_join(client), SyncAnswer("FENCED_INSTANCE_ID"))
    assert client.ended.error == "FENCED_INSTANCE_ID"


@kafka(AC + "testJoinGroupUnknownMemberResponseWithOldGeneration")
def _() -> None:
    # An answer to a JoinGroup that nobody waits for any more changes nothing.
    client = joined()
    client.event(fx.RejoinEnforced())
    request = take_join(client)
    client.answer(request, JoinAnswer("NONE", "m-1", 2, "range", "other-1"))
    client.answer(request, JoinAnswer("UNKNOWN_MEMBER_ID"))
    assert (client.machine.generation, client.machine.member_id) == (2, "m-1")


@kafka(AC + "testHeartbeatSentWhenCompletingRebalance")
def _() -> None:
    client = Client()
    client.poll()
    answer_join(client)
    assert client.machine.state.value == "COMPLETING_REBALANCE"
    client.pass_ms(3_000)
    assert client.take(Heartbeat).generation == 1


@kafka(AC + "testHeartbeatIllegalGenerationResponseWithOldGeneration")
def _() -> None:
    client = joined()
    client.pass_ms(3_000)
    late = client.take(Heartbeat)
    client.event(fx.RejoinEnforced())
    client.answer(answer_join(client, 2), SyncAnswer("NONE", tps("t-0")))
    client.answer(late, Answer("ILLEGAL_GENERATION"))
    assert client.machine.generation == 2 and client.machine.state.value == "STABLE"


@kafka(AC + "testHeartbeatUnknownMemberResponseWithOldGeneration")
def _() -> None:
    client = joined()
    client.pass_ms(3_000)
    late = client.take(Heartbeat)
    client.event(fx.RejoinEnforced())
    client.answer(answer_join(client, 2), SyncAnswer("NONE", tps("t-0")))
    client.answer(late, Answer("UNKNOWN_MEMBER_ID"))
    assert (client.machine.member_id, client.machine.generation) == ("m-1", 2)


@kafka(AC + "testHeartbeatRebalanceInProgressResponseDuringRebalancing")
def _() -> None:
    client = joined()
    client.pass_ms(3_000)
    first = client.take(Heartbeat)
    client.event(fx.RejoinEnforced())
    join = take_join(client)
    asked = len(client.noted("rejoin_requested"))
    client.answer(first, Answer("REBALANCE_IN_PROGRESS"))
    assert len(client.noted("rejoin_requested")) == asked and not client.sent
    client.answer(join, JoinAnswer("NONE", "m-1", 2, "range", "other-1"))
    assert client.machine.state.value == "COMPLETING_REBALANCE"


@kafka(AC + "testHeartbeatRequestWithFencedInstanceIdException")
def _() -> None:
    client = joined(instance_id="i")
    client.pass_ms(3_000)
    client.answer(client.take(Heartbeat), Answer("FENCED_INSTANCE_ID"))
    assert client.ended.error == "FENCED_INSTANCE_ID" and client.called == [("lost", ["t-0", "t-1"], 1)]
    assert not client.sent, "no LeaveGroup"


@kafka(AC + "testJoinGroupRequestWithRebalanceInProgress")
def _() -> None:
    client = Client()
    client.poll()
    client.answer(take_join(client), JoinAnswer("REBALANCE_IN_PROGRESS"))
    assert take_join(client).reason.text == "rebalance failed due to RebalanceInProgressException"


@kafka(AC + "testLeaveGroupSentWithGroupInstanceIdUnSet")
def _() -> None:
    dynamic, static = joined(), joined(instance_id="i")
    for client in (dynamic, static):
        client.event(fx.CloseCalled())
    assert isinstance(dynamic.ended, fx.Closed) and isinstance(static.ended, fx.Closed)
    assert dynamic.take(LeaveGroup).reason == "the consumer is being closed" and static.sent == []
