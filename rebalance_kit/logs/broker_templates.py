"""Lines of the broker: the classic coordinator of 4.x and the Scala one up to 3.9, consumer groups, loading.

Each entry: name, then its forms (since, level, logger, text), the newest first. ``{broker}`` is the
broker's id. ``GroupMetadataManager`` and ``GroupCoordinator`` print with the prefixes P and S.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

Forms = tuple[tuple[str, str, str, str], ...]
MANAGER = "org.apache.kafka.coordinator.group.GroupMetadataManager"
CLASSIC_GROUP = "org.apache.kafka.coordinator.group.classic.ClassicGroup"
RUNTIME = "org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime"
SERVICE = "org.apache.kafka.coordinator.group.GroupCoordinatorService"
SHARD = "org.apache.kafka.coordinator.group.GroupCoordinatorShard"
SCALA = "kafka.coordinator.group.GroupCoordinator"
SCALA_MANAGER = "kafka.coordinator.group.GroupMetadataManager"
P = "[GroupCoordinator id={broker} topic=__consumer_offsets partition=0] "
R = "[GroupCoordinator id={broker}] "
S = "[GroupCoordinator {broker}]: "
M = "[GroupMetadataManager brokerId={broker}] "


def _both(new: str, old: str, *, logger: str = MANAGER, since: str = "0.0") -> Forms:
    """A line of the 4.x coordinator, and what the Scala one says instead (empty: nothing) from ``since`` on."""
    return (("4.0", "INFO", logger, P + new), (since, "INFO", SCALA, S + old if old else ""))


def _new(text: str, *, logger: str = MANAGER, level: str = "INFO", prefix: str = P) -> Forms:
    """A line that only the new coordinator prints."""
    return (("4.0", level, logger, prefix + text),)


def _consumer(text: str) -> Forms:
    """A line about a consumer group: the new coordinator's, which 3.7 to 3.9 could run as well."""
    return (("3.7", "INFO", MANAGER, P + "[GroupId {group}] " + text),)


CLASSIC: Mapping[str, Forms] = MappingProxyType(
    {
        "id_required": _both(
            "Dynamic member with unknown member id joins group {group} in {state} state. Created a new member id {member} and requesting the member to rejoin with this id.",
            "Dynamic member with unknown member id joins group {group} in {state} state. Created a new member id {member} and request the member to rejoin with this id.",
        ),
        "pending_joins": _both(
            "Pending dynamic member with id {member} joins group {group} in {state} state. Adding to the group now.",
            "",
        ),
        "static_joins": _both(
            "Static member with groupInstanceId={instance} and unknown member id joins group {group} in {state} state. Created a new member id {member} for this member and added to the group.",
            "Static member with groupInstanceId={instance} and unknown member id joins group {group} in {state} state. Created a new member id {member} for this member and add to the group.",
        ),
        "static_replaces": _both(
            "Static member with groupInstanceId={instance} and unknown member id joins group {group} in {state} state. Replacing previously mapped member {old} with this groupInstanceId.",
            "Static member with groupInstanceId={instance} and unknown member id joins group {group} in {state} state. Replacing previously mapped member {old} with this groupInstanceId.",
        ),
        "static_no_rebalance": _both(
            "Static member which joins during Stable stage and doesn't affect the selected protocol will not trigger a rebalance.",
            "Static member which joins during Stable stage and doesn't affect selectProtocol will not trigger rebalance.",
        ),
        "fenced": (
            (
                "4.0",
                "INFO",
                CLASSIC_GROUP,
                P
                + "Request memberId={member} for static member with groupInstanceId={instance} is fenced by existing memberId={holder} during operation {operation}",
            ),
            (
                "0.0",
                "INFO",
                SCALA,
                S
                + "Request memberId={member} for static member with groupInstanceId={instance} is fenced by current memberId={holder} during operation {operation}",
            ),
        ),
        "preparing": _both(
            "Preparing to rebalance group {group} in state PreparingRebalance with old generation {generation} (reason: {reason}).",
            "Preparing to rebalance group {group} in state PreparingRebalance with old generation {generation} (__consumer_offsets-0) (reason: {reason})",
        ),
        "not_joined": _both(
            "Group {group} removed dynamic members who haven't joined: [{member}]",
            "Group {group} removed dynamic members who haven't joined: Set({member})",
        ),
        "leader_replaced": (
            (
                "4.0",
                "INFO",
                CLASSIC_GROUP,
                P
                + "Group leader [memberId: {old}, groupInstanceId: {instance}] failed to join before the rebalance timeout. Member {member} was elected as the new leader.",
            ),
            (
                "0.0",
                "INFO",
                "kafka.coordinator.group.GroupMetadata",
                "[GroupCoordinator {broker}]: Group leader [member.id: {old}, group.instance.id: {some_instance}] failed to join before rebalance timeout, while new leader {metadata} was elected.",
            ),
        ),
        "stabilized": _both(
            "Stabilized group {group} generation {generation} with {members} members.",
            "Stabilized group {group} generation {generation} (__consumer_offsets-0) with {members} members",
        ),
        "empty": _both(
            "Group {group} with generation {generation} is now empty.",
            "Group {group} with generation {generation} is now empty (__consumer_offsets-0)",
        ),
        "assignment": _both(
            "Assignment received from leader {leader} for group {group} for generation {generation}. The group has {members} members, {static} of which are static.",
            "Assignment received from leader {leader} for group {group} for generation {generation}. The group has {members} members, {static} of which are static.",
        ),
        "failed": _both(
            "Member {member} in group {group} has failed, removing it from the group.",
            "Member {member} in group {group} has failed, removing it from the group",
        ),
        "pending_failed": _both(
            "Pending member {member} in group {group} has been removed after session timeout expiration.",
            "Pending member {member} in group {group} has been removed after session timeout expiration.",
        ),
        "left": (
            *_both(
                "[Group {group}] Member {member} has left group through explicit `LeaveGroup` request; client reason: {reason}",
                "Member {metadata} has left group {group} through explicit `LeaveGroup`; client reason: {reason}",
                since="3.2",
            ),
            (
                "0.0",
                "INFO",
                SCALA,
                S + "Member {metadata} has left group {group} through explicit `LeaveGroup` request",
            ),
        ),
        "pending_left": _both(
            "[Group {group}] Pending member {member} has left group through explicit `LeaveGroup` request; client reason: {reason}",
            "Pending member with memberId={member} has left group {group} through explicit `LeaveGroup` request",
        ),
    }
)

CONSUMER: Mapping[str, Forms] = MappingProxyType(
    {
        "consumer_joins": _consumer(
            "Member {member} joins the consumer group using the {protocol} protocol."
        ),
        "consumer_static_joins": _consumer(
            "Static member {member} with instance id {instance} joins the consumer group using the {protocol} protocol."
        ),
        "consumer_static_returns": _consumer(
            "Static member with instance id {instance} re-joins the consumer group using the {protocol} protocol. Created a new member {member} to replace the existing member {old}."
        ),
        "consumer_id_required": _consumer(
            "Dynamic member with unknown member id joins the consumer group. Created a new member id {member} and requesting the member to rejoin with this id."
        ),
        "bumped": (
            (
                "4.1",
                "INFO",
                MANAGER,
                P + "[GroupId {group}] Bumped group epoch to {epoch} with metadata hash {hash}.",
            ),
            ("3.7", "INFO", MANAGER, P + "[GroupId {group}] Bumped group epoch to {epoch}."),
        ),
        "computed": _consumer(
            "Computed a new target assignment for epoch {epoch} with '{assignor}' assignor in {took_ms}ms."
        ),
        "consumer_left": _consumer("Member {member} left the consumer group."),
        "consumer_static_left": _consumer(
            "Static member {member} with instance id {instance} left the consumer group."
        ),
        "consumer_static_away": _consumer(
            "Static member {member} with instance id {instance} temporarily left the consumer group."
        ),
        "consumer_left_classic": _consumer(
            "Dynamic member {member} has left group through explicit `LeaveGroup` request; client reason: {reason}"
        ),
        "consumer_static_left_classic": _consumer(
            "Static member {member} with instance id {instance} has left group through explicit `LeaveGroup` request; client reason: {reason}"
        ),
        "consumer_fenced": _consumer("Member {member} fenced from the group because {reason}."),
        "consumer_unreleased": _consumer(
            "Static member {member} with instance id {instance} cannot join the group because the instance id is owned by member {holder}."
        ),
        "consumer_instance_fenced": _consumer(
            "Static member {member} with instance id {instance} is fenced by existing member {holder}."
        ),
        "converted": _consumer("Converted the {kind} group to a {to} group."),
        "scanned": _consumer(
            "Scanned {topics} topics to refresh regular expressions {regexes} in {took_ms}ms."
        ),
        "unexpected": _new(
            "Operation consumer-group-heartbeat with ConsumerGroupHeartbeatRequestData(groupId='{group}', memberId='{member}', memberEpoch=0, instanceId={instance}, rackId=null, "
            "rebalanceTimeoutMs={rebalance_ms}, subscribedTopicNames={topics}, subscribedTopicRegex=null, serverAssignor=null, topicPartitions=[]) hit an unexpected exception: {message}.",
            logger=SERVICE,
            level="ERROR",
            prefix=R,
        ),
    }
)

LOADING: Mapping[str, Forms] = MappingProxyType(
    {
        "loaded": _new("Loaded {kind} group {group} with {members} members."),
        "unloading_classic": (
            (
                "4.0",
                "INFO",
                MANAGER,
                P + "[GroupId={group}] Unloading group metadata for generation {generation}.",
            ),
            ("0.0", "INFO", SCALA, S + "Unloading group metadata for {group} with generation {generation}"),
        ),
        "unloaded_consumer": _new("[GroupId={group}] Unloaded group metadata for group epoch {generation}."),
        "schedule_unload": (
            (
                "4.0",
                "INFO",
                RUNTIME,
                R
                + "Scheduling unloading of metadata for __consumer_offsets-0 with epoch OptionalInt[{epoch}]",
            ),
            (
                "0.0",
                "INFO",
                SCALA,
                S + "Resigned as the group coordinator for partition 0 in epoch OptionalInt[{epoch}]",
            ),
        ),
        "start_unload": (
            (
                "4.0",
                "INFO",
                RUNTIME,
                R + "Started unloading metadata for __consumer_offsets-0 with epoch OptionalInt[{epoch}].",
            ),
            (
                "0.0",
                "INFO",
                SCALA_MANAGER,
                M + "Scheduling unloading of offsets and group metadata from __consumer_offsets-0",
            ),
        ),
        "finish_unload": (
            (
                "4.0",
                "INFO",
                RUNTIME,
                R + "Finished unloading metadata for __consumer_offsets-0 with epoch OptionalInt[{epoch}].",
            ),
            (
                "0.0",
                "INFO",
                SCALA_MANAGER,
                M
                + "Finished unloading __consumer_offsets-0 for coordinator epoch OptionalInt[{epoch}]. Removed {offsets} cached offsets and {groups} cached groups.",
            ),
        ),
        "schedule_unload_early": (
            (
                "4.0",
                "INFO",
                RUNTIME,
                R
                + "Scheduling unloading of metadata for __consumer_offsets-0 with epoch OptionalInt[{epoch}]",
            ),
        ),
        "ignored_unload": (
            (
                "4.0",
                "INFO",
                RUNTIME,
                R
                + "Ignored unloading metadata for __consumer_offsets-0 in epoch OptionalInt[{epoch}] since metadata was never loaded.",
            ),
        ),
        "schedule_load": (
            (
                "4.0",
                "INFO",
                RUNTIME,
                R + "Scheduling loading of metadata from __consumer_offsets-0 with epoch {epoch}",
            ),
            ("0.0", "INFO", SCALA, S + "Elected as the group coordinator for partition 0 in epoch {epoch}"),
        ),
        "finish_load": (
            (
                "4.0",
                "INFO",
                RUNTIME,
                R
                + "Finished loading of metadata from __consumer_offsets-0 with epoch {epoch} in {took_ms}ms where {waited_ms}ms was spent in the scheduler. Loaded {records} records which total to {bytes} bytes.",
            ),
            (
                "0.0",
                "INFO",
                SCALA_MANAGER,
                M
                + "Finished loading offsets and group metadata from __consumer_offsets-0 in {took_ms} milliseconds for epoch {epoch}, of which {waited_ms} milliseconds was spent in the scheduler.",
            ),
        ),
        "tombstones": (
            (
                "4.3",
                "INFO",
                SHARD,
                P
                + "Generated {count} tombstone records in {took_ms} milliseconds while deleting offsets for topics [DeletedTopic[id={id}, name={topic}]].",
            ),
            (
                "4.0",
                "INFO",
                SHARD,
                P
                + "Generated {count} tombstone records in {took_ms} milliseconds while deleting offsets for partitions [{partitions}].",
            ),
        ),
    }
)

BROKER: Mapping[str, Forms] = MappingProxyType({**CLASSIC, **CONSUMER, **LOADING})
