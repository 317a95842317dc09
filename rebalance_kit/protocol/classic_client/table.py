"""A classic consumer's table: which rule answers which event, and in which step of the application thread."""

from __future__ import annotations

from rebalance_kit.protocol.classic_client.heartbeating import (
    commit_answered,
    commit_done,
    commit_unanswered,
    coordinator_found,
    coordinator_lost,
    heartbeat_answered,
    heartbeat_due,
    poll_timeout,
    retry_commit,
    session_passed,
    stop_waiting,
)
from rebalance_kit.protocol.classic_client.joining import (
    assigned,
    join_answered,
    join_unanswered,
    revoked_after_sync,
    revoked_before_join,
    sync_answered,
)
from rebalance_kit.protocol.classic_client.member import ClassicMember
from rebalance_kit.protocol.classic_client.requests import close_called, last_callback_returned
from rebalance_kit.protocol.classic_client.subscribing import (
    deleted_lost,
    metadata_seen,
    polled,
    rejoin_enforced,
    subscribed,
)
from rebalance_kit.protocol.client import (
    ClientTable,
    PollStep,
    after,
    answered,
    ignore_answer,
    on,
    unanswered,
)
from rebalance_kit.protocol.effects import (
    CallbackDone,
    CloseCalled,
    CommitDone,
    CoordinatorFound,
    MetadataSeen,
    Polled,
    PollTimeout,
    RejoinEnforced,
    Subscribed,
    Timer,
)
from rebalance_kit.protocol.messages import (
    Answer,
    Heartbeat,
    JoinAnswer,
    JoinGroup,
    LeaveGroup,
    OffsetCommit,
    SyncAnswer,
    SyncGroup,
)

TABLE = ClientTable[ClassicMember](
    "a classic consumer",
    # the application thread
    on(Polled, polled, PollStep.IDLE),
    on(Subscribed, subscribed),
    on(RejoinEnforced, rejoin_enforced),
    on(MetadataSeen, metadata_seen),
    on(CallbackDone, revoked_before_join, PollStep.REVOKING_BEFORE_JOIN),
    on(CallbackDone, revoked_after_sync, PollStep.REVOKING),
    on(CallbackDone, assigned, PollStep.ASSIGNING),
    on(CallbackDone, deleted_lost, PollStep.LOSING),
    on(CallbackDone, last_callback_returned, PollStep.CLOSE_CALLBACK),
    on(CloseCalled, close_called),
    # joining
    answered(JoinGroup, JoinAnswer, join_answered, PollStep.JOINING),
    answered(SyncGroup, SyncAnswer, sync_answered, PollStep.SYNCING),
    unanswered(JoinGroup, join_unanswered, PollStep.JOINING, PollStep.SYNCING),
    unanswered(SyncGroup, join_unanswered, PollStep.JOINING, PollStep.SYNCING),
    unanswered(JoinGroup, coordinator_lost),
    unanswered(SyncGroup, coordinator_lost),
    # commits
    on(CommitDone, commit_done),
    answered(OffsetCommit, Answer, commit_answered),
    unanswered(OffsetCommit, commit_unanswered),
    after(Timer.RETRY, retry_commit),
    after(Timer.COMMIT_LIMIT, stop_waiting, PollStep.COMMITTING_BEFORE_JOIN),
    after(Timer.CLOSE_LIMIT, stop_waiting, PollStep.CLOSE_COMMITTING),
    # the heartbeat thread
    after(Timer.HEARTBEAT, heartbeat_due),
    answered(Heartbeat, Answer, heartbeat_answered),
    unanswered(Heartbeat, coordinator_lost),
    on(PollTimeout, poll_timeout),
    after(Timer.SESSION, session_passed),
    on(CoordinatorFound, coordinator_found),
    answered(LeaveGroup, Answer, ignore_answer),
    unanswered(LeaveGroup, coordinator_lost),
)
step = TABLE.step
