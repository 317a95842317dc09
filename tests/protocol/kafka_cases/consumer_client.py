"""KIP-848 consumers as ConsumerMembershipManagerTest and ConsumerHeartbeatRequestManagerTest fix them."""

from __future__ import annotations

from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.messages import ConsumerGroupHeartbeat, ConsumerGroupHeartbeatAnswer
from tests.support.protocol.client_steps import heard, refused, stable, told
from tests.support.protocol.driver import Client, tps
from tests.support.protocol.kafka_table import kafka

CMM, HRM = "ConsumerMembershipManagerTest.", "ConsumerHeartbeatRequestManagerTest."


# --- ConsumerMembershipManagerTest ------------------------------------------------------------------------------
@kafka(CMM + "testTransitionToReconcilingIfEmptyAssignmentReceived")
def _() -> None:
    client = Client("consumer")
    client.hold_polls = True
    client.poll()
    heard(client, 2, "")
    assert client.machine.state.value == "RECONCILING"


@kafka(CMM + "testMemberJoiningCallsRebalanceListenerWhenReceivingEmptyAssignment")
def _() -> None:
    client = Client("consumer")
    client.poll()
    heard(client, 2, "")
    assert client.called == [("assigned", [], 2)]


@kafka(CMM + "testMemberIdAndEpochResetOnFencedMembers")
def _() -> None:
    client = stable()
    client.pass_ms(5_000)
    refused(client, "FENCED_MEMBER_EPOCH")
    assert client.called == [("lost", ["t-0", "t-1"], 2)]
    request = client.take(ConsumerGroupHeartbeat)
    assert (request.member_id, request.member_epoch, request.owned) == ("id-1", 0, ())


@kafka(CMM + "testTransitionToFatal")
def _() -> None:
    client = stable()
    client.pass_ms(5_000)
    refused(client, "GROUP_AUTHORIZATION_FAILED")
    assert client.machine.state.value == "FATAL" and client.ended.error == "GROUP_AUTHORIZATION_FAILED"
    assert client.called == [("lost", ["t-0", "t-1"], 2)]


@kafka(CMM + "testTransitionToFailedWhenTryingToJoin")
def _() -> None:
    client = Client("consumer", instance_id="i")
    client.poll()
    refused(client, "UNRELEASED_INSTANCE_ID", "the instance id is owned by another member")
    assert client.machine.state.value == "FATAL" and client.called == []
    assert client.ended.message == "the instance id is owned by another member"


@kafka(CMM + "testFencingWhenStateIsReconciling")
def _() -> None:
    client = stable()
    client.hold_polls = True
    told(client, "t-0")
    assert client.machine.state.value == "RECONCILING"
    client.pass_ms(5_000)
    refused(client, "UNKNOWN_MEMBER_ID")
    client.hold_polls = False
    client.poll()
    assert client.called == [("lost", ["t-0", "t-1"], 3)]
    assert client.take(ConsumerGroupHeartbeat).member_epoch == 0


@kafka(CMM + "testLeaveGroupEpochOnClose")
def _() -> None:
    dynamic, static = stable(), stable(instance_id="i")
    for client in (dynamic, static):
        client.event(fx.CloseCalled())
    assert [client.take(ConsumerGroupHeartbeat).member_epoch for client in (dynamic, static)] == [-1, -2]
    assert dynamic.called == static.called == [("revoked", ["t-0", "t-1"], 2)]


@kafka(CMM + "testDelayedReconciliationResultDiscardedAfterPartitionsRevokedCallbackIfMemberRejoins")
def _() -> None:
    client = stable()
    client.hold_callbacks = True
    told(client, "t-0")
    assert client.called == [("revoked", ["t-1"], 3)]
    client.pass_ms(5_000)
    refused(client, "FENCED_MEMBER_EPOCH")
    client.hold_callbacks = False
    client.event(fx.CallbackDone())
    assert client.called[1:] == [("lost", ["t-0"], 3)], "no assigned of the assignment that is gone"
    assert client.take(ConsumerGroupHeartbeat).member_epoch == 0


@kafka(CMM + "testDelayedReconciliationResultAppliedWhenTargetChangedWithNewAssignment")
def _() -> None:
    # A newer target waits until the reconciliation under way is acknowledged.
    client = stable()
    client.hold_callbacks = True
    told(client, "t-0")
    client.pass_ms(5_000)
    heard(client, 4, "t-0 t-5")
    client.hold_callbacks = False
    client.event(fx.CallbackDone())
    assert client.called[0] == ("revoked", ["t-1"], 3)
    assert ("assigned", [], 4) in client.called or ("assigned", [], 3) in client.called
    heard(client, 4, None)
    assert client.called[-1] == ("assigned", ["t-5"], 4)


@kafka(CMM + "testSameAssignmentReconciledAgainWhenFenced")
def _() -> None:
    client = stable()
    client.pass_ms(5_000)
    refused(client, "FENCED_MEMBER_EPOCH")
    heard(client, 5, "t-0 t-1")
    assert client.called == [("lost", ["t-0", "t-1"], 2), ("assigned", ["t-0", "t-1"], 5)]


@kafka(CMM + "testReconciliationSkippedWhenSameAssignmentReceived")
def _() -> None:
    client = stable()
    told(client, "t-1 t-0", 3)
    assert client.called == [] and client.machine.state.value == "STABLE" and not client.sent


@kafka(CMM + "testReconcileNewPartitionsAssignedWhenOtherPartitionsOwned")
def _() -> None:
    client = stable()
    told(client, "t-0 t-1 t-2")
    assert client.called == [("assigned", ["t-2"], 3)]
    assert client.take(ConsumerGroupHeartbeat).owned == tps("t-0", "t-1", "t-2")


@kafka(CMM + "testReconcilePartitionsRevokedNoAutoCommitNoCallbacks")
def _() -> None:
    client = stable(auto_commit=False)
    told(client, "")
    assert client.commits == [] and client.called == [("revoked", ["t-0", "t-1"], 3), ("assigned", [], 3)]


@kafka(CMM + "testReconcilePartitionsRevokedWithFailedAutoCommitCompletesRevocationAnyway")
def _() -> None:
    client = stable()
    client.commit_error = "GROUP_AUTHORIZATION_FAILED"
    told(client, "t-0")
    assert client.commits == ["reconcile"] and client.called[0] == ("revoked", ["t-1"], 3)


@kafka(CMM + "testReconcileNewPartitionsAssignedAndRevoked")
def _() -> None:
    client = stable()
    told(client, "t-1 t-2", 2)
    assert client.called == [("revoked", ["t-0"], 2), ("assigned", ["t-2"], 2)]


@kafka(CMM + "testListenerCallbacksBasic")
def _() -> None:
    client = stable("")
    told(client, "t-0 t-1")
    heard(client, 3, None)
    told(client, "", 3)
    assert client.called == [
        ("assigned", ["t-0", "t-1"], 3),
        ("revoked", ["t-0", "t-1"], 3),
        ("assigned", [], 3),
    ]
    assert client.machine.state.value == "STABLE"


@kafka(CMM + "testAddedPartitionsTemporarilyDisabledAwaitingOnPartitionsAssignedCallback")
def _() -> None:
    client = stable()
    client.hold_callbacks = True
    told(client, "t-0 t-1 t-2")
    assert client.called == [("assigned", ["t-2"], 3)] and client.fetching == set(tps("t-0", "t-1"))
    client.event(fx.CallbackDone())
    assert client.fetching == set(tps("t-0", "t-1", "t-2"))


@kafka(CMM + "testTransitionToLeavingWhileStableDueToStaleMember")
def _() -> None:
    client = stable()
    client.hold_polls = True
    client.event(fx.PollTimeout())
    client.pass_ms(5_000)
    assert client.take(ConsumerGroupHeartbeat).member_epoch == -1
    assert client.machine.state.value == "STALE" and client.called == []


@kafka(CMM + "testTransitionToLeavingWhileReconcilingDueToStaleMember")
def _() -> None:
    client = stable()
    client.hold_polls = True
    told(client, "t-0")
    client.event(fx.PollTimeout())
    client.pass_ms(5_000)
    assert client.take(ConsumerGroupHeartbeat).member_epoch == -1 and client.machine.state.value == "STALE"


@kafka(CMM + "testStaleMemberDoesNotSendHeartbeatAndAllowsTransitionToJoiningToRecover")
def _() -> None:
    client = stable()
    client.hold_polls = True
    client.event(fx.PollTimeout())
    client.pass_ms(5_000)
    leave = client.take(ConsumerGroupHeartbeat)
    client.answer(leave, ConsumerGroupHeartbeatAnswer("NONE", "id-1", -1))
    client.pass_ms(60_000)
    assert client.sent == []
    client.hold_polls = False
    client.poll()
    assert client.called == [("lost", ["t-0", "t-1"], 2)]
    request = client.take(ConsumerGroupHeartbeat)
    assert (request.member_epoch, request.member_id) == (0, "id-1")


@kafka(CMM + "testStaleMemberWaitsForCallbackToRejoinWhenTimerReset")
def _() -> None:
    client = stable()
    client.hold_polls = client.hold_callbacks = True
    client.event(fx.PollTimeout())
    client.pass_ms(5_000)
    leave = client.take(ConsumerGroupHeartbeat)
    client.answer(leave, ConsumerGroupHeartbeatAnswer("NONE", "id-1", -1))
    client.poll()
    assert client.called == [("lost", ["t-0", "t-1"], 2)] and client.sent == []
    client.event(fx.CallbackDone())
    assert client.take(ConsumerGroupHeartbeat).member_epoch == 0


@kafka(CMM + "testIgnoreHeartbeatResponseWhenNotInGroup")
def _() -> None:
    client = stable()
    client.hold_polls = True
    client.pass_ms(5_000)
    late = client.take(ConsumerGroupHeartbeat)
    client.answer(late, ConsumerGroupHeartbeatAnswer("FENCED_MEMBER_EPOCH", "id-1"))
    client.answer(late, ConsumerGroupHeartbeatAnswer("NONE", "id-1", 9, 5_000, tps("t-5")))
    assert client.machine.state.value == "FENCED" and client.machine.generation == 0


@kafka(CMM + "testOnSubscriptionUpdatedTransitionsToJoiningOnPollIfNotInGroup")
def _() -> None:
    client = Client("consumer")
    assert client.machine.state.value == "UNSUBSCRIBED" and client.sent == []
    client.poll()
    assert client.machine.state.value == "JOINING" and client.take(ConsumerGroupHeartbeat).member_epoch == 0


@kafka(CMM + "testOnSubscriptionUpdatedDoesNotTransitionToJoiningIfInGroup")
def _() -> None:
    client = stable()
    client.event(fx.Subscribed(("t", "u")))
    assert client.machine.state.value == "STABLE" and client.sent == []
    client.pass_ms(5_000)
    assert client.take(ConsumerGroupHeartbeat).topics == ("t", "u")


# --- ConsumerHeartbeatRequestManagerTest ------------------------------------------------------------------------
@kafka(HRM + "testFirstHeartbeatIncludesRequiredInfoToJoinGroupAndGetAssignments")
def _() -> None:
    client = Client(
        "consumer", max_poll_interval_ms=10_000, remote_assignor="range", rack="r1", instance_id="i"
    )
    client.poll()
    request = client.take(ConsumerGroupHeartbeat)
    assert (request.member_epoch, request.rebalance_timeout_ms, request.topics, request.owned) == (
        0,
        10_000,
        ("t",),
        (),
    )
    assert (request.server_assignor, request.rack, request.instance_id) == ("range", "r1", "i")


@kafka(HRM + "testHeartbeatNotSentIfAnotherOneInFlight")
def _() -> None:
    client = stable()
    client.pass_ms(5_000)
    client.take(ConsumerGroupHeartbeat)
    client.pass_ms(20_000)
    assert client.sent == []


@kafka(HRM + "testHeartbeatState")
def _() -> None:
    # Regular heartbeats say only who sends them; what changed is told once.
    client = stable()
    client.pass_ms(5_000)
    request = heard(client, 2, None)
    assert (request.topics, request.owned, request.rebalance_timeout_ms, request.server_assignor) == (
        None,
        None,
        None,
        None,
    )
    client.event(fx.Subscribed(("t", "u")))
    client.pass_ms(5_000)
    assert heard(client, 3, None).topics == ("t", "u")
    client.pass_ms(5_000)
    assert heard(client, 3, None).topics is None


@kafka(HRM + "testValidateConsumerGroupHeartbeatRequestAssignmentSentWhenLocalEpochChanges")
def _() -> None:
    client = Client("consumer")
    client.poll()
    heard(client, 2, "t-0")
    assert heard(client, 2, None).owned == tps("t-0")
    client.pass_ms(5_000)
    assert heard(client, 2, None).owned is None


@kafka(HRM + "testDisconnect")
def _() -> None:
    client = stable()
    client.pass_ms(5_000)
    client.event(fx.Disconnected(client.take(ConsumerGroupHeartbeat), "null"))
    assert not client.machine.coordinator_known and client.called == []
    client.event(fx.CoordinatorFound())
    request = client.take(ConsumerGroupHeartbeat)
    assert (request.member_epoch, request.topics, request.owned) == (2, ("t",), tps("t-0", "t-1"))


@kafka(HRM + "testPollTimerExpiration")
def _() -> None:
    # The leave goes out at the next heartbeat time; nothing is sent until poll() is called again.
    client = stable()
    client.hold_polls = True
    client.pass_ms(2_000)
    client.event(fx.PollTimeout())
    assert client.sent == []
    client.pass_ms(3_000)
    assert client.take(ConsumerGroupHeartbeat).member_epoch == -1
    client.pass_ms(30_000)
    assert client.sent == []


@kafka(HRM + "testFencedMemberStopHeartbeatUntilItReleasesAssignmentToRejoin")
def _() -> None:
    client = stable()
    client.hold_callbacks = True
    client.pass_ms(5_000)
    refused(client, "FENCED_MEMBER_EPOCH")
    client.pass_ms(20_000)
    assert client.called == [("lost", ["t-0", "t-1"], 2)] and client.sent == []
    client.event(fx.CallbackDone())
    assert client.take(ConsumerGroupHeartbeat).member_epoch == 0


@kafka(HRM + "testConsumerAcksReconciledAssignmentAfterAckLost")
def _() -> None:
    client = stable()
    told(client, "t-0 t-1 t-2")
    ack = client.take(ConsumerGroupHeartbeat)
    assert ack.owned == tps("t-0", "t-1", "t-2")
    client.event(fx.Disconnected(ack, "null"))
    client.event(fx.CoordinatorFound())
    assert client.take(ConsumerGroupHeartbeat).owned == tps("t-0", "t-1", "t-2")
