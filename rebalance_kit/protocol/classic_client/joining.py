"""The answers to JoinGroup and SyncGroup: one generation is reached, or the member tries again, or it fails for good."""

from __future__ import annotations

from collections.abc import Mapping

from rebalance_kit.model.errors import COORDINATOR_MOVED, FATAL_JOIN, MESSAGES, AssignorError
from rebalance_kit.protocol import client, effects, messages
from rebalance_kit.protocol.classic_client import requests
from rebalance_kit.protocol.classic_client.member import EXCEPTIONS, ClassicMember, MemberState

# The leader's work: compute everyone's assignment from the members that its JoinGroup answer lists.


def on_leader_elected(member: ClassicMember, answer: messages.JoinAnswer) -> effects.Effects:
    """Assign, after fresh metadata where a topic of the group is unknown or not the leader's own.

    ConsumerCoordinator.updateGroupSubscription asks for it and waits (ensureFreshMetadata).
    """
    topics = _topics_of_group(answer)
    foreign = not topics <= set(member.topics)
    member.enter(client.PollStep.SYNCING)
    if not member.librdkafka and (foreign or not topics <= set(member.metadata)):
        member.elected = answer
        yield effects.FreshMetadata(foreign)
    else:
        yield from assign(member, answer)


def assign(member: ClassicMember, answer: messages.JoinAnswer) -> effects.Effects:
    """Assign by the metadata at hand, and hand the assignment in with SyncGroup."""
    member.elected = assignment = None
    known = {topic: member.metadata.get(topic, 0) for topic in sorted(_topics_of_group(answer))}
    member.assigned_metadata, member.assigned_racks = known, member.racks
    if not answer.skip_assignment:
        try:
            computed = member.settings.assign(answer.protocol or "", known, answer.members, member.racks)
        except AssignorError as error:
            yield from requests.die(member, getattr(error, "java_exception", "AssignorError"), str(error))
            return
        assignment = {member_id: tuple(partitions) for member_id, partitions in computed.items()}
        printed: Mapping[str, messages.Partitions] = getattr(computed, "printed", {})
        yield member.note(
            "assignment_computed",
            assignor=answer.protocol,
            assignment={member_id: client.names(partitions) for member_id, partitions in assignment.items()},
            senders={other.member_id: other.client for other in answer.members},
            lists=client.in_order(assignment),
            printed=client.in_order(printed),
        )
    yield from requests.send_sync(member, answer, assignment)


def _topics_of_group(answer: messages.JoinAnswer) -> set[str]:
    return {topic for other in answer.members for topic in other.subscription.topics}


LEAST_BETWEEN_JOINS_MS = 1_000
"""rkcg_join_intvl: a callback, a new subscription and a member id that was asked for skip it, a refused SyncGroup does not."""

# What a classic consumer gives up and takes: before JoinGroup, and after SyncGroup.
#
# EAGER revokes everything before it joins. COOPERATIVE compares what it is assigned with what it owns,
# revokes the difference afterwards, and asks for a follow-up rebalance, in which others get it.


# --- before JoinGroup -------------------------------------------------------------------------
def on_join_prepare(member: ClassicMember) -> effects.Effects:
    """First step of a re-join: commit, then callbacks, then JoinGroup (onJoinPrepare)."""
    if not member.prepare_needed:
        yield from requests.send_join(member)
        return
    valid = not member.was_reset
    eager = not member.settings.cooperative
    yield member.note("join_prepared", revokes=eager and valid)
    if valid and member.owned and eager:
        yield effects.StopFetching(member.owned, "revoke")
    if valid and not member.librdkafka and _commits(member):
        yield from _commit(member)
    else:
        yield from revoke_before_join(member)


def revoke_before_join(member: ClassicMember) -> effects.Effects:
    """Second step: lost after a reset, revoked(all) in EAGER, revoked(left topics) in COOPERATIVE."""
    member.enter(client.PollStep.REVOKING_BEFORE_JOIN)
    yield effects.CancelTimer(client.COMMIT_LIMIT)
    if member.was_reset:
        if member.owned:
            yield effects.StopFetching(member.owned, "lost")
            yield member.callback("lost", member.owned)
            return
    elif not member.settings.cooperative:
        yield member.callback("revoked", member.owned)
        return
    else:
        dropped = tuple(tp for tp in member.owned if tp.topic not in member.topics)
        if dropped:
            yield effects.StopFetching(dropped, "revoke")
            yield member.callback("revoked", dropped)
            return
    yield from requests.send_join(member)


def _commits(member: ClassicMember) -> bool:
    return bool(member.owned) and member.settings.auto_commit


def _commit(member: ClassicMember) -> effects.Effects:
    member.enter(client.PollStep.COMMITTING_BEFORE_JOIN)
    yield from JOIN_COMMIT.begin(member, member.settings.max_poll_interval_ms)


def _committed(member: ClassicMember) -> effects.Effects:
    """Java revokes after its commit; librdkafka has revoked before it, and goes on (rd_kafka_assignment_serve_removals)."""
    if not member.librdkafka:
        yield from revoke_before_join(member)
    elif member.settings.cooperative:
        yield from invoke_assigned(member)
    else:
        yield member.own(())
        yield from requests.send_join(member)


def _join_retry_ms(member: ClassicMember) -> int:
    """An EAGER member waits inside poll() and sleeps retry.backoff.ms (ConsumerCoordinator.onJoinPrepare)."""
    return client.backoff_ms(member) if member.settings.cooperative else client.RETRY_MS


JOIN_COMMIT: client.AwaitedCommit[ClassicMember] = client.AwaitedCommit(
    "join", client.COMMIT_LIMIT, client.retriable, _join_retry_ms, _committed
)


def revoked_before_join(member: ClassicMember, event: effects.CallbackDone) -> effects.Effects:
    """The callback before JoinGroup has returned; an error leaves poll() first, and is not run again."""
    member.first_error = member.first_error or event.error
    eager = not member.settings.cooperative
    if member.librdkafka and eager and not member.was_reset and not event.error and _commits(member):
        yield from _commit(member)
        return
    if member.was_reset or eager:
        yield member.own(())
    else:
        yield member.own(tuple(tp for tp in member.owned if tp.topic in member.topics))
    if member.death is not None:
        yield from requests.last_callback(member)
        return
    thrown = member.throw()
    if thrown is None:
        yield from requests.send_join(member)
        return
    yield thrown
    member.prepare_needed = False
    member.enter(client.PollStep.IDLE)
    yield effects.WantPoll(effects.NextPoll.GO_ON)


# --- after SyncGroup --------------------------------------------------------------------------
def on_join_complete(member: ClassicMember, assignment: messages.Partitions) -> effects.Effects:
    """The synced assignment becomes the member's own, with its callbacks (onJoinComplete)."""
    cooperative = member.settings.cooperative
    member.prepare_needed = True
    member.metadata_generation, member.metadata_member_id = member.generation, member.member_id
    member.sticky_memory = (assignment, member.generation)
    yield effects.RestartAutoCommit()
    added = client.minus(assignment, member.owned) if cooperative else assignment
    revoked = client.minus(member.owned, assignment) if cooperative else ()
    yield member.note(
        "synced",
        assigned=client.names(assignment),
        owned=client.names(member.owned),
        added=client.names(added),
        revoked=client.names(revoked),
        cooperative=cooperative,
        listed=[str(tp) for tp in assignment],
    )
    member.pending_assignment = assignment
    if revoked:
        member.enter(client.PollStep.REVOKING)
        yield effects.StopFetching(revoked, "revoke")
        yield member.callback("revoked", revoked)
    else:
        yield from invoke_assigned(member)


def revoked_after_sync(member: ClassicMember, event: effects.CallbackDone) -> effects.Effects:
    """A COOPERATIVE member has revoked: it asks for the follow-up rebalance, which gives that to others."""
    member.first_error = member.first_error or event.error
    revoked = client.minus(member.owned, member.pending_assignment)
    member.owned = client.both(member.owned, member.pending_assignment)
    yield member.request_rejoin(
        f"need to revoke partitions [{', '.join(client.names(revoked))}] as indicated by the current assignment and re-join",
        "need to revoke partitions and re-join",
        messages.Trigger.REVOCATION,
    )
    if member.death is not None:
        yield from requests.last_callback(member)
    elif member.librdkafka and not member.was_reset and member.settings.auto_commit:
        yield from _commit(member)
    else:
        yield from invoke_assigned(member)


def invoke_assigned(member: ClassicMember) -> effects.Effects:
    """Apply the new assignment and run onPartitionsAssigned, always, even with nothing."""
    added = client.minus(member.pending_assignment, member.owned)
    member.enter(client.PollStep.ASSIGNING)
    yield member.own(member.pending_assignment)
    yield member.callback("assigned", added)


def assigned(member: ClassicMember, event: effects.CallbackDone) -> effects.Effects:
    """The assigned callback has returned: records may reach the application."""
    if member.settings.calls_wrong_family(incremental=member.settings.cooperative):
        member.stuck = True  # nothing is changed on the error: heartbeats go on, nothing is read
        yield member.note("wrong_call", call="assign")
        return
    member.first_error = member.first_error or event.error
    member.polls_watched = True
    if member.death is not None:
        yield from requests.last_callback(member)
        return
    member.enter(client.PollStep.IDLE)
    yield effects.StartFetching(member.owned)
    thrown = member.throw()
    if thrown is not None:
        yield thrown
    # the next poll() completes the same join again, because its future was not taken (joinGroupIfNeeded)
    member.completes_again = thrown is not None
    if member.closing:
        yield from requests.begin_close(member)
    else:
        yield effects.WantPoll(effects.NextPoll.GO_ON)


# --- JoinGroup --------------------------------------------------------------------------------
def join_answered(
    member: ClassicMember, request: messages.JoinGroup, answer: messages.JoinAnswer
) -> effects.Effects:
    """A generation, an id to join with, or an error."""
    error = answer.error
    if error == messages.NONE:
        yield from _joined(member, answer)
    elif error == "MEMBER_ID_REQUIRED":
        member.member_id = answer.member_id
        yield member.request_rejoin(f"need to re-join with the given member-id: {answer.member_id}")
        yield from requests.send_join(member)
    elif error == "UNKNOWN_MEMBER_ID":
        yield from _reset(member, error, "JOIN_GROUP")
        if member.max_poll_exceeded:
            member.enter(client.PollStep.IDLE)
            yield effects.WantPoll(effects.NextPoll.GO_ON)
        else:
            yield from on_join_prepare(member)
    elif error == "REBALANCE_IN_PROGRESS":
        yield _rebalance_failed(member, error)
        yield from requests.send_join(member)
    elif error == "FENCED_INSTANCE_ID" or error in FATAL_JOIN:
        yield _rebalance_failed(member, error, answer.message)
        yield from requests.die(member, error, answer.message or MESSAGES.get(error, error))
    else:
        yield from _interrupted(member, error)


def _joined(member: ClassicMember, answer: messages.JoinAnswer) -> effects.Effects:
    member.generation, member.member_id = answer.generation, answer.member_id
    member.protocol = answer.protocol
    yield from member.move(MemberState.COMPLETING)
    member.leader = answer.leader == answer.member_id
    yield member.note("joined", leader=member.leader, assignor=answer.protocol)
    if not member.librdkafka:  # librdkafka is silent until it has synced
        yield member.start_heartbeats()
    yield member.session_timer()
    member.elected = None
    if member.leader:
        yield from on_leader_elected(member, answer)
    else:
        member.assigned_metadata = None
        yield from requests.send_sync(member, answer, None)


# --- SyncGroup --------------------------------------------------------------------------------
def sync_answered(
    member: ClassicMember, request: messages.SyncGroup, answer: messages.SyncAnswer
) -> effects.Effects:
    """The member's share, or an error."""
    error = answer.error
    if error == messages.NONE:
        yield from _synced(member, answer)
    elif error == "REBALANCE_IN_PROGRESS":
        yield from member.move(MemberState.UNJOINED)
        yield _rebalance_failed(member, error)
        if member.librdkafka:
            member.enter(client.PollStep.JOINING)
            yield effects.SetTimer((effects.Timer.JOIN_AGAIN,), LEAST_BETWEEN_JOINS_MS)
        else:
            yield from on_join_prepare(member)
    elif error in {"UNKNOWN_MEMBER_ID", "ILLEGAL_GENERATION"}:
        yield from _reset(member, error, "SYNC_GROUP")
        yield from on_join_prepare(member)
    elif error == "FENCED_INSTANCE_ID":
        yield _rebalance_failed(member, error)
        yield from requests.die(member, error, MESSAGES[error])
    else:
        yield from _interrupted(member, error)


def join_again(member: ClassicMember, fired: effects.TimerFired) -> effects.Effects:
    """The second since librdkafka's last JoinGroup is over."""
    yield from on_join_prepare(member)


def _synced(member: ClassicMember, answer: messages.SyncAnswer) -> effects.Effects:
    member.rejoin_needed = False
    member.rejoin_reason = None
    yield from member.move(MemberState.STABLE)
    if member.librdkafka:
        yield member.start_heartbeats()
    if any(tp.topic not in member.topics for tp in answer.assignment):
        member.enter(client.PollStep.IDLE)
        member.prepare_needed = True
        yield member.request_rejoin("received assignment does not match the current subscription")
        yield effects.WantPoll(effects.NextPoll.GO_ON)
    else:
        yield from on_join_complete(member, answer.assignment)


# --- failures ---------------------------------------------------------------------------------
def join_unanswered(
    member: ClassicMember, request: messages.JoinGroup | messages.SyncGroup, cause: str
) -> effects.Effects:
    """No answer will come: the member looks for its coordinator and joins again."""
    yield from member.lose_coordinator(cause)
    member.enter(client.PollStep.IDLE)
    yield from member.move(MemberState.UNJOINED)
    yield _rebalance_failed(member, "DISCONNECTED")
    yield from member.stop_heartbeats()


def _reset(member: ClassicMember, error: str, api: str) -> effects.Effects:
    """The coordinator does not know the member, or not in this generation; the id is kept in the second case."""
    why = f"encountered {error} from {api} response"
    yield from member.reset(why, keep_id=error == "ILLEGAL_GENERATION")
    yield member.request_rejoin(why)
    yield _rebalance_failed(member, error)


def _interrupted(member: ClassicMember, error: str) -> effects.Effects:
    member.enter(client.PollStep.IDLE)
    yield from member.move(MemberState.UNJOINED)
    yield from member.lose_coordinator("coordinator unavailable" if error in COORDINATOR_MOVED else error)
    yield _rebalance_failed(member, error)


def _rebalance_failed(member: ClassicMember, error: str, message: str | None = None) -> effects.Effect:
    """The reason that joinGroupIfNeeded gives the next JoinGroup, also when the error is thrown afterwards."""
    exception = EXCEPTIONS.get(error, error)
    printed = message or MESSAGES.get(error, error)
    return member.request_rejoin(
        f"rebalance failed due to '{printed}' ({exception})", f"rebalance failed due to {exception}"
    )
