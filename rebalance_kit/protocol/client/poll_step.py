"""What a client's application thread is in the middle of: it acts only inside poll(), one step after another."""

from __future__ import annotations

from enum import Enum


class PollStep(Enum):
    """One step of the application thread. Each client machine says which may come before which."""

    __hash__ = object.__hash__  # by identity: these are looked up all the time

    IDLE = "nothing is under way"
    # classic: from one generation to the next
    COMMITTING_BEFORE_JOIN = "commits before it re-joins"
    REVOKING_BEFORE_JOIN = "runs revoked or lost before it re-joins"
    JOINING = "waits for the answer to JoinGroup"
    SYNCING = "waits for the answer to SyncGroup"
    # KIP-848: from one assignment to the next
    RECONCILE_WAITS = "a new assignment waits for poll()"
    COMMITTING_BEFORE_REVOKE = "commits before it revokes"
    REVOKE_WAITS = "revoked waits for poll()"
    ASSIGN_WAITS = "assigned waits for poll()"
    # both
    LOSING = "runs lost"
    REVOKING = "runs revoked"
    ASSIGNING = "runs assigned"
    CLOSE_COMMITTING = "commits in close()"
    CLOSE_CALLBACK = "runs its last callback"
    CLOSED = "close() has returned"


IN_CALLBACK = frozenset(
    {PollStep.REVOKING_BEFORE_JOIN, PollStep.REVOKING, PollStep.ASSIGNING, PollStep.LOSING}
)
"""Steps in which the application's listener runs, apart from the last callback of close()."""
