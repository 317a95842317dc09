"""The leader's work: compute everyone's assignment from the members that its JoinGroup answer lists."""

from __future__ import annotations

from collections.abc import Mapping

from rebalance_kit.model.errors import AssignorError
from rebalance_kit.protocol.classic_client.closing import die
from rebalance_kit.protocol.classic_client.member import ClassicMember
from rebalance_kit.protocol.classic_client.requests import send_sync
from rebalance_kit.protocol.client.partitions import in_order, names
from rebalance_kit.protocol.client.poll_step import PollStep
from rebalance_kit.protocol.effects import Effects, FreshMetadata
from rebalance_kit.protocol.messages import JoinAnswer, Partitions


def on_leader_elected(member: ClassicMember, answer: JoinAnswer) -> Effects:
    """Assign, after fresh metadata where a topic of the group is unknown or not the leader's own.

    ConsumerCoordinator.updateGroupSubscription asks for it and waits (ensureFreshMetadata).
    """
    topics = _topics_of_group(answer)
    foreign = not topics <= set(member.topics)
    member.enter(PollStep.SYNCING)
    if not member.librdkafka and (foreign or not topics <= set(member.metadata)):
        member.elected = answer
        yield FreshMetadata(foreign)
    else:
        yield from assign(member, answer)


def assign(member: ClassicMember, answer: JoinAnswer) -> Effects:
    """Assign by the metadata at hand, and hand the assignment in with SyncGroup."""
    member.elected = assignment = None
    known = {topic: member.metadata.get(topic, 0) for topic in sorted(_topics_of_group(answer))}
    member.assigned_metadata, member.assigned_racks = known, member.racks
    if not answer.skip_assignment:
        try:
            computed = member.settings.assign(answer.protocol or "", known, answer.members, member.racks)
        except AssignorError as error:
            yield from die(member, getattr(error, "java_exception", "AssignorError"), str(error))
            return
        assignment = {member_id: tuple(partitions) for member_id, partitions in computed.items()}
        printed: Mapping[str, Partitions] = getattr(computed, "printed", {})
        yield member.note(
            "assignment_computed",
            assignor=answer.protocol,
            assignment={member_id: names(partitions) for member_id, partitions in assignment.items()},
            senders={other.member_id: other.client for other in answer.members},
            lists=in_order(assignment),
            printed=in_order(printed),
        )
    yield from send_sync(member, answer, assignment)


def _topics_of_group(answer: JoinAnswer) -> set[str]:
    return {topic for other in answer.members for topic in other.subscription.topics}
