"""A classic consumer's table: which rule answers which event, and in which step of the application thread."""

from __future__ import annotations

from rebalance_kit.protocol import client, effects, messages
from rebalance_kit.protocol.classic_client import heartbeating, joining
from rebalance_kit.protocol.classic_client.member import ClassicMember
from rebalance_kit.protocol.classic_client.requests import close_called, last_callback_returned

TABLE = client.ClientTable[ClassicMember](
    "a classic consumer",
    # the application thread
    client.on(effects.Polled, heartbeating.polled, client.PollStep.IDLE),
    client.on(effects.Subscribed, heartbeating.subscribed),
    client.on(effects.RejoinEnforced, heartbeating.rejoin_enforced),
    client.on(effects.MetadataSeen, heartbeating.metadata_seen),
    client.on(effects.CallbackDone, joining.revoked_before_join, client.PollStep.REVOKING_BEFORE_JOIN),
    client.on(effects.CallbackDone, joining.revoked_after_sync, client.PollStep.REVOKING),
    client.on(effects.CallbackDone, joining.assigned, client.PollStep.ASSIGNING),
    client.on(effects.CallbackDone, heartbeating.deleted_lost, client.PollStep.LOSING),
    client.on(effects.CallbackDone, last_callback_returned, client.PollStep.CLOSE_CALLBACK),
    client.on(effects.CloseCalled, close_called),
    # joining
    client.answered(messages.JoinGroup, messages.JoinAnswer, joining.join_answered, client.PollStep.JOINING),
    client.answered(messages.SyncGroup, messages.SyncAnswer, joining.sync_answered, client.PollStep.SYNCING),
    client.unanswered(
        messages.JoinGroup, joining.join_unanswered, client.PollStep.JOINING, client.PollStep.SYNCING
    ),
    client.unanswered(
        messages.SyncGroup, joining.join_unanswered, client.PollStep.JOINING, client.PollStep.SYNCING
    ),
    client.unanswered(messages.JoinGroup, heartbeating.coordinator_lost),
    client.unanswered(messages.SyncGroup, heartbeating.coordinator_lost),
    client.after(effects.Timer.JOIN_AGAIN, joining.join_again, client.PollStep.JOINING),
    # commits
    client.on(effects.CommitDone, heartbeating.COMMITS.done),
    client.answered(messages.OffsetCommit, messages.Answer, heartbeating.commit_answered),
    client.unanswered(messages.OffsetCommit, heartbeating.COMMITS.unanswered),
    client.after(effects.Timer.RETRY, heartbeating.retry_commit),
    client.after(
        effects.Timer.COMMIT_LIMIT, heartbeating.COMMITS.stop_waiting, client.PollStep.COMMITTING_BEFORE_JOIN
    ),
    client.after(
        effects.Timer.CLOSE_LIMIT, heartbeating.COMMITS.stop_waiting, client.PollStep.CLOSE_COMMITTING
    ),
    # the heartbeat thread
    client.after(effects.Timer.HEARTBEAT, heartbeating.heartbeat_due),
    client.answered(messages.Heartbeat, messages.Answer, heartbeating.heartbeat_answered),
    client.unanswered(messages.Heartbeat, heartbeating.coordinator_lost),
    client.on(effects.PollTimeout, heartbeating.poll_timeout),
    client.after(effects.Timer.SESSION, heartbeating.session_passed),
    client.on(effects.CoordinatorFound, heartbeating.coordinator_found),
    client.answered(messages.LeaveGroup, messages.Answer, client.ignore_answer),
    client.unanswered(messages.LeaveGroup, heartbeating.coordinator_lost),
)
step = TABLE.step
