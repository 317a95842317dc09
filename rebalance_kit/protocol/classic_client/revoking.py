"""What a classic consumer gives up and takes: before JoinGroup, and after SyncGroup.

EAGER revokes everything before it joins. COOPERATIVE compares what it is assigned with what it owns,
revokes the difference afterwards, and asks for a follow-up rebalance, in which others get it.
"""

from __future__ import annotations

from rebalance_kit.protocol.classic_client.closing import begin_close, last_callback
from rebalance_kit.protocol.classic_client.member import ClassicMember
from rebalance_kit.protocol.classic_client.requests import send_join
from rebalance_kit.protocol.client.commits import COMMIT_LIMIT, RETRY_MS, AwaitedCommit, backoff_ms, retriable
from rebalance_kit.protocol.client.partitions import both, minus, names
from rebalance_kit.protocol.client.poll_step import PollStep
from rebalance_kit.protocol.effects import (
    CallbackDone,
    CancelTimer,
    Effects,
    NextPoll,
    RestartAutoCommit,
    StartFetching,
    StopFetching,
    WantPoll,
)
from rebalance_kit.protocol.messages import Partitions
from rebalance_kit.protocol.triggers import Trigger


# --- before JoinGroup -------------------------------------------------------------------------
def on_join_prepare(member: ClassicMember) -> Effects:
    """First step of a re-join: commit, then callbacks, then JoinGroup (onJoinPrepare)."""
    if not member.prepare_needed:
        yield from send_join(member)
        return
    valid = not member.was_reset
    eager = not member.settings.cooperative
    yield member.note("join_prepared", revokes=eager and valid)
    if valid and member.owned and eager:
        yield StopFetching(member.owned, "revoke")
    if valid and member.owned and member.settings.auto_commit:
        member.enter(PollStep.COMMITTING_BEFORE_JOIN)
        yield from JOIN_COMMIT.begin(member, member.settings.max_poll_interval_ms)
    else:
        yield from revoke_before_join(member)


def revoke_before_join(member: ClassicMember) -> Effects:
    """Second step: lost after a reset, revoked(all) in EAGER, revoked(left topics) in COOPERATIVE."""
    member.enter(PollStep.REVOKING_BEFORE_JOIN)
    yield CancelTimer(COMMIT_LIMIT)
    if member.was_reset:
        if member.owned:
            yield StopFetching(member.owned, "lost")
            yield member.callback("lost", member.owned)
            return
    elif not member.settings.cooperative:
        yield member.callback("revoked", member.owned)
        return
    else:
        dropped = tuple(tp for tp in member.owned if tp.topic not in member.topics)
        if dropped:
            yield StopFetching(dropped, "revoke")
            yield member.callback("revoked", dropped)
            return
    yield from send_join(member)


def _join_retry_ms(member: ClassicMember) -> int:
    """An EAGER member waits inside poll() and sleeps retry.backoff.ms (ConsumerCoordinator.onJoinPrepare)."""
    return backoff_ms(member) if member.settings.cooperative else RETRY_MS


JOIN_COMMIT: AwaitedCommit[ClassicMember] = AwaitedCommit(
    "join", COMMIT_LIMIT, retriable, _join_retry_ms, revoke_before_join
)


def revoked_before_join(member: ClassicMember, event: CallbackDone) -> Effects:
    """The callback before JoinGroup has returned; an error leaves poll() first, and is not run again."""
    member.first_error = member.first_error or event.error
    if member.was_reset or not member.settings.cooperative:
        yield member.own(())
    else:
        yield member.own(tuple(tp for tp in member.owned if tp.topic in member.topics))
    if member.death is not None:
        yield from last_callback(member)
        return
    thrown = member.throw()
    if thrown is None:
        yield from send_join(member)
        return
    yield thrown
    member.prepare_needed = False
    member.enter(PollStep.IDLE)
    yield WantPoll(NextPoll.GO_ON)


# --- after SyncGroup --------------------------------------------------------------------------
def on_join_complete(member: ClassicMember, assignment: Partitions) -> Effects:
    """The synced assignment becomes the member's own, with its callbacks (onJoinComplete)."""
    cooperative = member.settings.cooperative
    member.prepare_needed = True
    member.metadata_generation, member.metadata_member_id = member.generation, member.member_id
    member.sticky_memory = (assignment, member.generation)
    yield RestartAutoCommit()
    added = minus(assignment, member.owned) if cooperative else assignment
    revoked = minus(member.owned, assignment) if cooperative else ()
    yield member.note(
        "synced",
        assigned=names(assignment),
        owned=names(member.owned),
        added=names(added),
        revoked=names(revoked),
        cooperative=cooperative,
        listed=[str(tp) for tp in assignment],
    )
    member.pending_assignment = assignment
    if revoked:
        member.enter(PollStep.REVOKING)
        yield StopFetching(revoked, "revoke")
        yield member.callback("revoked", revoked)
    else:
        yield from invoke_assigned(member)


def revoked_after_sync(member: ClassicMember, event: CallbackDone) -> Effects:
    """A COOPERATIVE member has revoked: it asks for the follow-up rebalance, which gives that to others."""
    member.first_error = member.first_error or event.error
    revoked = minus(member.owned, member.pending_assignment)
    member.owned = both(member.owned, member.pending_assignment)
    yield member.request_rejoin(
        f"need to revoke partitions [{', '.join(names(revoked))}] as indicated by the current assignment and re-join",
        "need to revoke partitions and re-join",
        Trigger.REVOCATION,
    )
    if member.death is not None:
        yield from last_callback(member)
    else:
        yield from invoke_assigned(member)


def invoke_assigned(member: ClassicMember) -> Effects:
    """Apply the new assignment and run onPartitionsAssigned, always, even with nothing."""
    added = minus(member.pending_assignment, member.owned)
    member.enter(PollStep.ASSIGNING)
    yield member.own(member.pending_assignment)
    yield member.callback("assigned", added)


def assigned(member: ClassicMember, event: CallbackDone) -> Effects:
    """The assigned callback has returned: records may reach the application."""
    if member.settings.calls_wrong_family(incremental=member.settings.cooperative):
        member.stuck = True  # nothing is changed on the error: heartbeats go on, nothing is read
        yield member.note("wrong_call", call="assign")
        return
    member.first_error = member.first_error or event.error
    if member.death is not None:
        yield from last_callback(member)
        return
    member.enter(PollStep.IDLE)
    yield StartFetching(member.owned)
    thrown = member.throw()
    if thrown is not None:
        yield thrown
    # the next poll() completes the same join again, because its future was not taken (joinGroupIfNeeded)
    member.completes_again = thrown is not None
    if member.closing:
        yield from begin_close(member)
    else:
        yield WantPoll(NextPoll.GO_ON)
