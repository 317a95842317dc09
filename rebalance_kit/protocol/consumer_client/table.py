"""A KIP-848 consumer's table: which rule answers which event, and in which step of the application thread."""

from __future__ import annotations

from rebalance_kit.protocol import effects, messages
from rebalance_kit.protocol.client import ClientTable, PollStep, after, answered, ignore, on, unanswered
from rebalance_kit.protocol.consumer_client import heartbeating, reconciling
from rebalance_kit.protocol.consumer_client.member import ConsumerMember

TABLE = ClientTable[ConsumerMember](
    "a consumer",
    # the application thread
    on(effects.Polled, heartbeating.unless_overdue(heartbeating.polled_idle), PollStep.IDLE),
    on(effects.Polled, heartbeating.unless_overdue(reconciling.reconcile), PollStep.RECONCILE_WAITS),
    on(effects.Polled, heartbeating.unless_overdue(reconciling.invoke_revoked), PollStep.REVOKE_WAITS),
    on(effects.Polled, heartbeating.unless_overdue(reconciling.invoke_assigned), PollStep.ASSIGN_WAITS),
    on(effects.Polled, heartbeating.unless_overdue(ignore)),
    on(effects.CallbackDone, reconciling.revoked, PollStep.REVOKING),
    on(effects.CallbackDone, reconciling.assigned, PollStep.ASSIGNING),
    on(effects.CallbackDone, heartbeating.lost, PollStep.LOSING),
    on(effects.CallbackDone, heartbeating.callback_overtaken, PollStep.IDLE),
    on(effects.CallbackDone, heartbeating.last_callback_returned, PollStep.CLOSE_CALLBACK),
    on(effects.Subscribed, reconciling.subscribed),
    on(effects.MetadataSeen, reconciling.metadata_seen),
    on(effects.RejoinEnforced, reconciling.rejoin_enforced),
    on(effects.CloseCalled, heartbeating.close_called),
    # commits
    on(effects.CommitDone, reconciling.commit_done),
    answered(messages.OffsetCommit, messages.Answer, reconciling.commit_answered),
    unanswered(messages.OffsetCommit, reconciling.commit_unanswered),
    after(effects.Timer.RETRY, reconciling.retry_commit),
    after(effects.Timer.COMMIT_LIMIT, reconciling.stop_waiting, PollStep.COMMITTING_BEFORE_REVOKE),
    after(effects.Timer.CLOSE_LIMIT, reconciling.stop_waiting, PollStep.CLOSE_COMMITTING),
    # the background thread
    after(effects.Timer.HEARTBEAT, heartbeating.heartbeat_due),
    answered(
        messages.ConsumerGroupHeartbeat,
        messages.ConsumerGroupHeartbeatAnswer,
        heartbeating.heartbeat_answered,
    ),
    unanswered(messages.ConsumerGroupHeartbeat, heartbeating.heartbeat_unanswered),
    on(effects.PollTimeout, heartbeating.poll_timeout),
    on(effects.CoordinatorFound, heartbeating.coordinator_found),
)
step = TABLE.step
