"""Classic consumers as ConsumerCoordinatorTest fixes them, in scripts of our own."""

from __future__ import annotations

from typing import Any

import pytest

from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.messages import (
    Answer,
    Heartbeat,
    JoinAnswer,
    JoinMember,
    LeaveGroup,
    OffsetCommit,
    SyncAnswer,
    SyncGroup,
)
from tests.support.protocol.client_steps import answer_join, joined, rebalanced, take_join
from tests.support.protocol.driver import Client, tps
from tests.support.protocol.kafka_table import kafka

CC = "ConsumerCoordinatorTest."


@kafka(CC + "testSelectRebalanceProtocol")
def _() -> None:
    # The lists decide; the vote of the group does not (settings carry the outcome).
    eager, cooperative = joined("eager"), joined("cooperative")
    for client in (eager, cooperative):
        client.pass_ms(3_000)
        client.answer(client.take(Heartbeat), Answer("REBALANCE_IN_PROGRESS"))
    assert eager.called == [("revoked", ["t-0", "t-1"], 1)] and cooperative.called == []
    assert (
        take_join(eager).protocols[0][1].owned == ()
        and len(take_join(cooperative).protocols[0][1].owned) == 2
    )


@kafka(CC + "testNormalHeartbeat")
def _() -> None:
    client = joined()
    for _ in range(3):
        client.pass_ms(3_000)
        client.answer(client.take(Heartbeat), Answer("NONE"))
    assert client.machine.state.value == "STABLE" and client.called == []


@kafka(CC + "testCoordinatorNotAvailable")
def _() -> None:
    client = joined()
    client.pass_ms(3_000)
    client.answer(client.take(Heartbeat), Answer("COORDINATOR_NOT_AVAILABLE"))
    assert not client.machine.coordinator_known and client.machine.generation == 1
    client.pass_ms(30_000)
    assert client.sent == [] and client.fetching == set(tps("t-0", "t-1"))


@kafka(CC + "testNotCoordinator")
def _() -> None:
    client = joined()
    client.pass_ms(3_000)
    client.answer(client.take(Heartbeat), Answer("NOT_COORDINATOR"))
    client.event(fx.CoordinatorFound())
    client.pass_ms(0)
    assert client.take(Heartbeat).generation == 1


@kafka(CC + "testIllegalGeneration")
def _() -> None:
    client = joined()
    client.pass_ms(3_000)
    client.answer(client.take(Heartbeat), Answer("ILLEGAL_GENERATION"))
    assert client.called == [("lost", ["t-0", "t-1"], 1)]
    request = take_join(client)
    assert (request.member_id, client.machine.generation) == ("m-1", -1)


@kafka(CC + "testUnknownMemberId")
def _() -> None:
    client = joined()
    client.pass_ms(3_000)
    client.answer(client.take(Heartbeat), Answer("UNKNOWN_MEMBER_ID"))
    assert client.called == [("lost", ["t-0", "t-1"], 1)] and client.fetching == set()
    assert take_join(client).member_id == ""


@kafka(CC + "testCoordinatorDisconnect")
def _() -> None:
    client = joined()
    client.pass_ms(3_000)
    client.event(fx.Disconnected(client.take(Heartbeat), "coordinator unavailable"))
    assert not client.machine.coordinator_known and client.called == []


@kafka(CC + "testNormalJoinGroupLeader")
def _() -> None:
    plans = []

    def assign(name: str, counts: Any, members: Any, _racks: Any) -> Any:
        plans.append((name, dict(counts), [one.member_id for one in members]))
        return {"m-1": tps("t-0", "t-1")}

    client = Client(assign=assign)
    client.poll()
    sync = answer_join(client, leader=True)
    assert plans == [("range", {"t": 6}, ["m-1"])] and sync.assignment == {"m-1": tps("t-0", "t-1")}
    client.answer(sync, SyncAnswer("NONE", tps("t-0", "t-1")))
    assert client.called == [("assigned", ["t-0", "t-1"], 1)]


@kafka(CC + "testNormalJoinGroupFollower")
def _() -> None:
    client = Client()
    client.poll()
    sync = answer_join(client)
    assert sync.assignment is None
    client.answer(sync, SyncAnswer("NONE", tps("t-2")))
    assert client.called == [("assigned", ["t-2"], 1)] and client.fetching == set(tps("t-2"))


@kafka(CC + "testOnLeaderElectedShouldSkipAssignment")
def _() -> None:
    client = Client(
        instance_id="i", assign=lambda *_: pytest.fail("a returning static leader must not assign")
    )
    client.poll()
    request = take_join(client)
    members = (JoinMember("m-1", "i", request.protocols[0][1], "c"),)
    client.answer(request, JoinAnswer("NONE", "m-1", 1, "range", "m-1", members, skip_assignment=True))
    assert client.take(SyncGroup).assignment is None and client.machine.leader


@kafka(CC + "testStaticLeaderRejoinsGroupAndCanTriggersRebalance")
def _() -> None:
    client = Client(instance_id="i")
    client.poll()
    request = take_join(client)
    members = (JoinMember("m-1", "i", request.protocols[0][1], "c"),)
    client.answer(request, JoinAnswer("NONE", "m-1", 1, "range", "m-1", members, skip_assignment=True))
    client.answer(client.take(SyncGroup), SyncAnswer("NONE", tps("t-0")))
    client.event(fx.MetadataSeen({"t": 7}))
    assert take_join(client).reason.text == "cached metadata has changed"


@kafka(CC + "testOutdatedCoordinatorAssignment")
def _() -> None:
    # The topics were changed while SyncGroup was under way: the stale assignment is not taken over.
    for protocol in ("eager", "cooperative"):
        client = Client(protocol, topics=("u",))
        client.poll()
        sync = answer_join(client)
        client.event(fx.Subscribed(("t",)))
        client.answer(sync, SyncAnswer("NONE", tps("u-0")))
        assert client.machine.owned == () and client.fetching == set()
        assert client.called == ([("revoked", [], -1)] if protocol == "eager" else [])
        request = client.sent[0]
        assert request.reason.text == "received assignment does not match the current subscription"
        client.answer(answer_join(client, 2), SyncAnswer("NONE", tps("t-0")))
        assert client.called[-1] == ("assigned", ["t-0"], 2) and client.sent == []


@kafka(CC + "testMetadataChangeTriggersRebalance")
def _() -> None:
    leader, follower = joined(leader=True), joined()
    for client in (leader, follower):
        client.event(fx.MetadataSeen({"t": 7}))
    assert take_join(leader).reason.text == "cached metadata has changed" and follower.sent == []


@kafka(CC + "testRejoinGroup")
def _() -> None:
    client = joined("eager", topics=("t", "u"))
    client.event(fx.Subscribed(("t",)))
    assert client.called == [("revoked", ["t-0", "t-1"], 1)]
    assert take_join(client).reason.text == "subscription has changed"


@kafka(CC + "testDisconnectInJoin")
def _() -> None:
    client = Client()
    client.poll()
    client.event(fx.Disconnected(take_join(client), "coordinator unavailable"))
    client.event(fx.CoordinatorFound())
    client.answer(answer_join(client), SyncAnswer("NONE", tps("t-0")))
    assert client.called == [("assigned", ["t-0"], 1)]


@kafka(CC + "testInvalidSessionTimeout")
def _() -> None:
    client = Client()
    client.poll()
    client.answer(take_join(client), JoinAnswer("INVALID_SESSION_TIMEOUT"))
    assert client.ended.error == "INVALID_SESSION_TIMEOUT"


@kafka(CC + "testUnknownMemberIdOnSyncGroup")
def _() -> None:
    client = Client()
    client.poll()
    client.answer(answer_join(client), SyncAnswer("UNKNOWN_MEMBER_ID"))
    request = take_join(client)
    assert (
        request.member_id == "" and request.reason.text == "rebalance failed due to UnknownMemberIdException"
    )


@kafka(CC + "testRebalanceInProgressOnSyncGroup")
def _() -> None:
    client = Client()
    client.poll()
    client.answer(answer_join(client, 3), SyncAnswer("REBALANCE_IN_PROGRESS"))
    request = take_join(client)
    assert request.member_id == "m-1" and client.machine.generation == 3
    assert request.reason.text == "rebalance failed due to RebalanceInProgressException"


@kafka(CC + "testIllegalGenerationOnSyncGroup")
def _() -> None:
    client = Client()
    client.poll()
    client.answer(answer_join(client), SyncAnswer("ILLEGAL_GENERATION"))
    assert take_join(client).member_id == "m-1" and client.machine.generation == -1


@kafka(CC + "testLeaveGroupOnClose")
def _() -> None:
    client = joined()
    client.event(fx.CloseCalled())
    assert client.commits == ["close"] and client.called == [("revoked", ["t-0", "t-1"], 1)]
    assert client.take(LeaveGroup).member_id == "m-1"


@kafka(CC + "testPendingMemberShouldLeaveGroup")
def _() -> None:
    client = Client()
    client.poll()
    client.answer(take_join(client), JoinAnswer("MEMBER_ID_REQUIRED", "m-1"))
    take_join(client)
    client.event(fx.CloseCalled())
    assert client.take(LeaveGroup).member_id == "m-1" and client.called == []


@kafka(CC + "testUnsubscribeWithInvalidGeneration")
def _() -> None:
    # close() while the generation is reset: lost, and nothing to leave.
    client = joined()
    client.hold_polls = True
    client.pass_ms(3_000)
    client.answer(client.take(Heartbeat), Answer("UNKNOWN_MEMBER_ID"))
    client.event(fx.CloseCalled())
    assert client.called == [("lost", ["t-0", "t-1"], 1)] and client.sent == []


@kafka(CC + "testOnJoinPrepareWithOffsetCommitShouldSuccessAfterRetry")
def _() -> None:
    client = joined()
    client.commit_error = "COORDINATOR_LOAD_IN_PROGRESS"
    client.event(fx.RejoinEnforced())
    assert client.called == [] and client.sent == []
    client.commit_error = "NONE"
    client.pass_ms(100)
    assert client.commits == ["join", "join"] and client.called == [("revoked", ["t-0", "t-1"], 1)]
    take_join(client)


@kafka(CC + "testOnJoinPrepareWithOffsetCommitShouldKeepJoinAfterNonRetryableException")
def _() -> None:
    client = joined()
    client.commit_error = "GROUP_AUTHORIZATION_FAILED"
    client.event(fx.RejoinEnforced())
    assert client.called == [("revoked", ["t-0", "t-1"], 1)] and take_join(client)


@kafka(CC + "testOnJoinPrepareWithOffsetCommitShouldKeepJoinAfterRebalanceTimeout")
def _() -> None:
    client = joined(max_poll_interval_ms=20_000)
    client.commit_error = "UNKNOWN_TOPIC_OR_PARTITION"
    client.event(fx.RejoinEnforced())
    client.pass_ms(19_999)
    assert client.called == [] and client.fetching == set()
    client.pass_ms(1)
    assert client.called == [("revoked", ["t-0", "t-1"], 1)]


@kafka(CC + "testJoinPrepareWithDisableAutoCommit")
def _() -> None:
    client = joined(auto_commit=False)
    client.event(fx.RejoinEnforced())
    assert client.commits == [] and client.called == [("revoked", ["t-0", "t-1"], 1)]


@kafka(CC + "testJoinPrepareAndCommitCompleted")
def _() -> None:
    client = joined()
    client.event(fx.RejoinEnforced())
    assert client.commits == ["join"] and client.called == [("revoked", ["t-0", "t-1"], 1)]


@kafka(CC + "testJoinPrepareAndCommitWithUnknownMemberId")
def _() -> None:
    # The heartbeat thread loses the membership while the commit is under way: lost, not revoked.
    client = joined()
    client.hold_commits = True
    client.pass_ms(3_000)
    client.answer(client.take(Heartbeat), Answer("REBALANCE_IN_PROGRESS"))
    request = OffsetCommit("c", "m-1", None, 1, {}, "join", "g")
    client.answer(request, Answer("UNKNOWN_MEMBER_ID"))
    assert client.called == [("lost", ["t-0", "t-1"], 1)]
    assert take_join(client).member_id == ""


@kafka(CC + "testCommitOffsetIllegalGenerationWithNewGeneration")
def _() -> None:
    client = joined()
    client.event(fx.RejoinEnforced())
    client.answer(answer_join(client, 2), SyncAnswer("NONE", tps("t-0")))
    client.answer(OffsetCommit("c", "m-1", None, 1, {}, "auto", "g"), Answer("ILLEGAL_GENERATION"))
    assert client.machine.generation == 2 and client.machine.state.value == "STABLE"


@kafka(CC + "testCommitOffsetIllegalGenerationShouldResetGenerationId")
def _() -> None:
    client = joined()
    client.answer(OffsetCommit("c", "m-1", None, 1, {}, "auto", "g"), Answer("ILLEGAL_GENERATION"))
    assert client.machine.generation == -1 and client.machine.member_id == "m-1"


@kafka(CC + "testCommitOffsetUnknownMemberShouldResetToNoGeneration")
def _() -> None:
    client = joined()
    client.answer(OffsetCommit("c", "m-1", None, 1, {}, "auto", "g"), Answer("UNKNOWN_MEMBER_ID"))
    assert (client.machine.generation, client.machine.member_id) == (-1, "")
    assert client.called == [("lost", ["t-0", "t-1"], 1)]


@kafka(CC + "testCommitOffsetRebalanceInProgress")
def _() -> None:
    client = joined()
    client.answer(OffsetCommit("c", "m-1", None, 1, {}, "auto", "g"), Answer("REBALANCE_IN_PROGRESS"))
    request = take_join(client)
    assert request.reason.text == "offset commit failed since group is already rebalancing"
    assert (request.member_id, client.machine.generation) == ("m-1", 1)


@kafka(CC + "testCommitOffsetRequestSyncWithFencedInstanceIdException")
def _() -> None:
    client = joined(instance_id="i")
    client.answer(OffsetCommit("c", "m-1", "i", 1, {}, "auto", "g"), Answer("FENCED_INSTANCE_ID"))
    assert client.ended.error == "FENCED_INSTANCE_ID"


@kafka(CC + "testCommitOffsetFencedInstanceWithNewGeneration")
def _() -> None:
    client = joined(instance_id="i")
    client.event(fx.RejoinEnforced())
    client.answer(answer_join(client, 2), SyncAnswer("NONE", tps("t-0")))
    client.answer(OffsetCommit("c", "m-1", "i", 1, {}, "auto", "g"), Answer("FENCED_INSTANCE_ID"))
    assert client.ended is None and client.machine.generation == 2


@kafka(CC + "shouldUpdateConsumerGroupMetadataBeforeCallbacks")
def _() -> None:
    # groupMetadata() shows the finished generation in revoked, the new one in assigned.
    client = joined("eager")
    rebalanced(client, "t-0", 2)
    assert client.called == [("revoked", ["t-0", "t-1"], 1), ("assigned", ["t-0"], 2)]


@kafka(CC + "testPrepareJoinAndRejoinAfterFailedRebalance")
def _() -> None:
    for protocol in ("eager", "cooperative"):
        client = joined(protocol)
        client.event(fx.RejoinEnforced())
        client.answer(answer_join(client, 2), SyncAnswer("REBALANCE_IN_PROGRESS"))
        client.answer(answer_join(client, 3), SyncAnswer("NONE", tps("t-0", "t-1")))
        # onJoinPrepare ran once, for the first of the two JoinGroups.
        assert client.commits == ["join"]
        once = [("revoked", ["t-0", "t-1"], 1), ("assigned", ["t-0", "t-1"], 3)]
        assert client.called == (once if protocol == "eager" else [("assigned", [], 3)])


@kafka(CC + "shouldLoseAllOwnedPartitionsBeforeRejoiningAfterDroppingOutOfTheGroup")
def _() -> None:
    for protocol in ("eager", "cooperative"):
        client = joined(protocol)
        client.event(fx.RejoinEnforced())
        client.called.clear()
        sync = answer_join(client, 2)
        client.answer(sync, SyncAnswer("UNKNOWN_MEMBER_ID"))
        assert client.called == ([("lost", ["t-0", "t-1"], 1)] if protocol == "cooperative" else [])
        assert take_join(client).protocols[0][1].owned == ()


@kafka(CC + "shouldLoseAllOwnedPartitionsBeforeRejoiningAfterResettingGenerationId")
def _() -> None:
    client = joined("cooperative")
    client.event(fx.RejoinEnforced())
    client.answer(answer_join(client, 2), SyncAnswer("ILLEGAL_GENERATION"))
    assert client.called == [("lost", ["t-0", "t-1"], 1)] and client.machine.owned == ()
    assert take_join(client).member_id == "m-1"
