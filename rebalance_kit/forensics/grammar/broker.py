"""Lines of the group coordinator, Kafka 2.8 to 4.x, classic and consumer groups.

Sources: ``GroupMetadataManager``, ``ClassicGroup``, ``GroupCoordinatorService`` and
``CoordinatorRuntime`` (4.x); ``kafka.coordinator.group.GroupCoordinator`` and
``GroupMetadataManager`` in Scala (up to 3.9, which print no final period and name the offsets
partition).  The text is what follows the ``[GroupCoordinator id=...]`` prefix.
"""

from __future__ import annotations

from rebalance_kit.forensics.grammar.template import Template

_OFFSETS = "[[ (__consumer_offsets-{_})]]"
_UNKNOWN = "and unknown member id joins group {group} in {state} state."

#: Event name and text; every one is printed by a broker.
_LINES: tuple[tuple[str, str], ...] = (
    # Classic groups
    (
        "member_id_given",
        "Dynamic member with unknown member id joins group {group} in {state} state. "
        "Created a new member id {member} and request[[ing]] the member to rejoin with this id.",
    ),
    (
        "member_added",
        "Pending dynamic member with id {member} joins group {group} in {state} state. Adding to the group now.",
    ),
    (
        "member_added",
        "Dynamic member with unknown member id joins group {group} in state {state}. "
        "Created a new member id {member} and added the member to the group.",
    ),
    (
        "static_replaced",
        f"Static member with groupInstanceId={{instance}} {_UNKNOWN} "
        "Replacing previously mapped member {other} with this groupInstanceId.",
    ),
    (
        "static_added",
        f"Static member with groupInstanceId={{instance}} {_UNKNOWN} "
        "Created a new member id {member} for this member and add[[ed]] to the group.",
    ),
    ("static_kept", "Static member which joins during Stable stage and doesn't affect {_} rebalance."),
    (
        "instance_fenced",
        "Request memberId={other} for static member with groupInstanceId={instance} "
        "is fenced by existing memberId={member} during operation {detail}",
    ),
    (
        "preparing",
        "Preparing to rebalance group {group} in state {state} with old generation {generation}"
        f"{_OFFSETS} (reason: {{reason}})[[.]]",
    ),
    ("not_rejoined", "Group {group} remove[[d]] dynamic members who haven't joined: {detail}"),
    (
        "leader_replaced",
        "Group leader [memberId: {other}, groupInstanceId: {_}] failed to join before the rebalance timeout. "
        "Member {member} was elected as the new leader[[.]]",
    ),
    ("nobody_rejoined", "Group {group} could not complete rebalance because no members rejoined[[.]]"),
    (
        "stabilized",
        f"Stabilized group {{group}} generation {{generation}}{_OFFSETS}[[ with {{members}} members]][[.]]",
    ),
    ("emptied", f"Group {{group}} with generation {{generation}} is now empty{_OFFSETS}[[.]]"),
    (
        "assignment_received",
        "Assignment received from leader[[ {leader}]] for group {group} for generation {generation}[[.]]"
        "[[ The group has {members} members, {static} of which are static.]]",
    ),
    (
        "empty_assignments",
        "Setting empty assignments for members {detail} of {group} for generation {generation}[[.]]",
    ),
    ("member_failed", "Member {member} in group {group} has failed, removing it from the group[[.]]"),
    (
        "pending_failed",
        "Pending member {member} in group {group} has been removed after session timeout expiration[[.]]",
    ),
    (
        "pending_left",
        "[Group {group}] Pending member {member} has left group through explicit `LeaveGroup` request; "
        "client reason: {reason}",
    ),
    (
        "pending_left",
        "Pending member with memberId={member} has left group {group} through explicit `LeaveGroup` request"
        "[[; client reason: {reason}]]",
    ),
    (
        "left",
        "[Group {group}] Dynamic Member {member} has left group through explicit `LeaveGroup` request; client reason: {reason}",
    ),
    (
        "left",
        "[Group {group}] Static Member {member} with instance id {instance} has left group through explicit "
        "`LeaveGroup` request; client reason: {reason}",
    ),
    (
        "left",
        "[Group {group}] Member {member} has left group through explicit `LeaveGroup` request; client reason: {reason}",
    ),
    (
        "left",
        "Member MemberMetadata(memberId={member}, groupInstanceId={instance}, clientId={client}, clientHost={_}) "
        "has left group {group} through explicit `LeaveGroup`[[ request]][[; client reason: {reason}]]",
    ),
    # Consumer groups (KIP-848)
    ("joins", "[GroupId {group}] Member {member} joins the consumer group using the {protocol} protocol."),
    (
        "joins",
        "[GroupId {group}] Static member {member} with instance id {instance} "
        "joins the consumer group using the {protocol} protocol.",
    ),
    (
        "static_rejoins",
        "[GroupId {group}] Static member with instance id {instance} re-joins the consumer group using the "
        "{protocol} protocol. Created a new member {member} to replace the existing member {other}.",
    ),
    ("bumped", "[GroupId {group}] Bumped [[streams ]]group epoch to {epoch}[[ with metadata hash {hash}]]."),
    (
        "computed",
        "[GroupId {group}] Computed a new target assignment for epoch {epoch} with '{assignor}' assignor "
        "in {took_ms}ms{detail}",
    ),
    (
        "member_state",
        "[GroupId {group}] Member {member} new assignment state: epoch={epoch}, {_}state={state},{detail}",
    ),
    ("member_subscribed", "[GroupId {group}] Member {member} updated its subscribed topics to: {detail}"),
    ("epoch_left", "[GroupId {group}] Member {member} left the consumer group."),
    (
        "static_away",
        "[GroupId {group}] Static member {member} with instance id {instance} temporarily left the consumer group.",
    ),
    *(
        (
            event,
            f"[GroupId {{group}}] Static {word} {{member}} with instance id {{instance}} {left} the consumer group.",
        )
        for event, word, left in (
            ("static_away", "Member", "temporarily left"),
            ("epoch_left", "member", "left"),
            ("epoch_left", "Member", "left"),
        )
    ),
    (
        "epoch_left",
        "[GroupId {group}] Dynamic member {member} has left group through explicit `LeaveGroup` request; "
        "client reason: {reason}",
    ),
    (
        "epoch_left",
        "[GroupId {group}] Static member {member} with instance id {instance} has left group through explicit "
        "`LeaveGroup` request; client reason: {reason}",
    ),
    (
        "member_id_given",
        "[GroupId {group}] Dynamic member with unknown member id joins the consumer group. "
        "Created a new member id {member} and requesting the member to rejoin with this id.",
    ),
    (
        "transition_expired",
        "[GroupId {group}] Member {member} fenced from the group because "
        "it failed to transition from epoch {epoch} within {limit_ms}ms.",
    ),
    (
        "session_expired",
        "[GroupId {group}] Member {member} fenced from the group because the member session expired.",
    ),
    ("fenced", "[GroupId {group}] Member {member} fenced from the group because {reason}"),
    (
        "instance_refused",
        "[GroupId {group}] Static member {member} with instance id {instance} cannot join the group "
        "because the instance id is [[is ]]owned by member {other}.",
    ),
    (
        "instance_fenced",
        "[GroupId {group}] Static member {other} with instance id {instance} is fenced by existing member {member}.",
    ),
    ("upgrade_refused", "Cannot upgrade classic group {group} to consumer group because {reason}"),
    ("downgrade_refused", "Cannot downgrade consumer group {group} to classic group because {reason}"),
    ("upgrade_refused", "Cannot upgrade the classic group {group} to consumer group because {reason}"),
    ("downgrade_refused", "Cannot downgrade the consumer group {group}: {reason}"),
    ("upgraded", "[GroupId {group}] Converted the[[ empty]] classic group to a consumer group."),
    ("downgraded", "[GroupId {group}] Converted the[[ empty]] consumer group to a classic group."),
    (
        "regex_scanned",
        "[GroupId {group}] Scanned {_} topics to refresh regular expressions {detail} in {took_ms}ms.",
    ),
    (
        "target_failed",
        "[GroupId {group}] Failed to compute a new target assignment for epoch {epoch}: {reason}",
    ),
    # Both kinds of group
    ("operation_failed", "Operation {detail} with {_} hit an unexpected exception: {reason}"),
    *(
        ("operation_failed", f"{detail} request {{_}} hit an unexpected exception: {{reason}}")
        for detail in ("JoinGroup", "SyncGroup", "Heartbeat", "LeaveGroup")
    ),
    ("broker_line", "ConsumerGroupDescribe request {_} hit an unexpected exception: {_}"),
    ("broker_line", "Group {group} is dead, skipping rebalance stage[[.]]"),
    ("broker_line", "Creating simple consumer group {group} via manual offset commit."),
    ("broker_line", "Failed to parse Consumer Protocol {_} of group {group}. {_}"),
    ("broker_line", "Cannot load coordinator {_} in state {_}"),
    ("broker_line", "The coordinator {_} is already {_}"),
    ("broker_line", "The state machine of the coordinator {_} is out of sync with the underlying log. {_}"),
    ("broker_line", "Group coordinator is already running."),
    ("broker_line", "DescribeGroups request {_} hit an unexpected exception: {_}"),
    ("broker_line", "The write event {_} for the timer {_} failed due to {_}"),
    ("broker_line", "Failed to enqueue write event {_} for timer {_}"),
    ("broker_line", "Ignored load completion from {_} because context is in {_} state."),
    ("broker_line", "Ignoring load completion from {_} because context is in {_} state."),
    ("broker_line", "Replaying record {_} failed due to: {_}"),
    (
        "broker_line",
        "Received unexpected notification of sync expiration after group {group} already transitioned to {_}",
    ),
    ("broker_line", "Failed to invoke join callback for {_}"),
    ("broker_line", "Failed to invoke sync callback for {_}"),
    ("broker_line", "Removed {_} offsets associated with deleted partitions: {_}"),
    ("broker_line", "Could not delete offsets for deleted partitions {_}"),
    ("broker_line", "The following groups were deleted: {_}"),
    ("broker_line", "Already loading offsets and group metadata from {_}"),
    ("broker_line", "Attempted to load offsets and group metadata from {_}, but found no log"),
    ("broker_line", "Loaded offsets and group metadata from {_} with buffer larger {_}"),
    ("broker_line", "Unknown message key with version {_} while loading offsets and group metadata from {_}"),
    ("broker_line", "Loaded group {_} with an unknown group type {_}"),
    ("broker_line", "Removed group {_} with an unknown group type {_}"),
    ("broker_line", "onUnloaded group with an unknown group type {_}"),
    ("broker_line", "Group {_} has moved away from {_} after transaction marker was written {_}"),
    ("broker_line", "Creating persisted streams group {_}"),
    ("broker_line", "Creating streams group {_}"),
    ("loaded", "Loaded {protocol} group {group} with {members} members[[.]]"),
    ("unloaded", "[GroupId={group}] Unloading group metadata for generation {generation}."),
    ("unloaded", "[GroupId={group}] Unloaded group metadata for group epoch {epoch}."),
    ("unloaded", "Unloading group metadata for {group} with generation {generation}"),
    ("coordinator_resigned", "Scheduling unloading of metadata for {detail} with epoch {_}"),
    ("coordinator_resigned", "Scheduling unloading of offsets and group metadata from {detail}"),
    (
        "coordinator_resigned",
        "Finished unloading {detail}. Removed {_} cached offsets and {_} cached groups.",
    ),
    ("coordinator_resigned", "Finished unloading metadata for {detail} with epoch {_}."),
    (
        "member_loaded",
        "Loaded member MemberMetadata(memberId={member}, groupInstanceId={instance}, clientId={client}, clientHost={_}, "
        "sessionTimeoutMs={limit_ms}, rebalanceTimeoutMs={_}) in group {group} with generation {generation}[[.]]",
    ),
    (
        "member_loaded",
        "Static member MemberMetadata(memberId={member}, groupInstanceId={instance}, clientId={client}, clientHost={_}, "
        "sessionTimeoutMs={limit_ms}, rebalanceTimeoutMs={_})[[.groupInstanceId]] of group {group} loaded with member id {_} at generation {generation}[[.]]",
    ),
    ("metadata_loaded", "Finished loading of metadata from {detail}"),
    ("coordinator_load_failed", "Failed to load metadata from {detail} with epoch {_} due to {reason}"),
    ("coordinator_load_failed", "Failed to unload metadata for {detail} with epoch {_} due to {reason}"),
    ("coordinator_load_failed", "Error loading offsets from {detail}"),
    ("coordinator_writes_refused", "Writing records to {detail} failed due to: {reason}"),
    ("coordinator_writes_refused", "Execution of {detail} failed due to {reason}"),
    ("metadata_loaded", "Finished loading offsets and group metadata from {detail}"),
    ("offsets_deleted", "Generated {_} while deleting offsets for topics {detail}"),
    *(
        (
            "offsets_append_failed",
            f"{who}Error processing append operation on partition __consumer_offsets-{{detail}}",
        )
        for who in ("[ReplicaManager broker={_}] ", "[Replica Manager on Broker {_}]: ")
    ),
    # The broker itself and its topics
    ("broker_started", "[KafkaRaftServer nodeId={_}] Kafka Server started"),
    ("broker_started", "[KafkaServer id={_}] started"),
    ("broker_stopping", "[BrokerServer id={_}] shutting down"),
    ("broker_stopping", "[KafkaServer id={_}] shutting down"),
    (
        "topic_created",
        "[QuorumController {_}] Replayed TopicRecord for topic {topic} with topic ID {detail}.",
    ),
    (
        "topic_deleted",
        "[QuorumController {_}] Replayed RemoveTopicRecord for topic {topic} with ID {detail}.",
    ),
    (
        "partition_created",
        "[QuorumController {_}] Replayed PartitionRecord for new partition {topic} with topic ID {detail}",
    ),
)

BROKER: tuple[Template, ...] = tuple(Template(event, "broker", text) for event, text in _LINES)
