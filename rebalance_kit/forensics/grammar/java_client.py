"""Lines of the Java consumer from 0.10 to 4.x; those of brokers before 2.8 that differ.

Lines of the Java consumer (and Connect worker), Kafka 2.8 to 4.x, both protocols.

Sources: ``AbstractCoordinator``, ``ConsumerCoordinator``, ``ConsumerRebalanceListenerInvoker``,
``ConsumerMembershipManager``, ``ConsumerHeartbeatRequestManager``, ``CommitRequestManager``,
``CoordinatorRequestManager``, ``SubscriptionState``, ``AppInfoParser``.  The text is what follows
the ``[Consumer clientId=..., groupId=...]`` prefix, from which client, group and instance come.

Lines of brokers and Java clients before Kafka 2.8 (from 0.10), where they differ from today's.
"""

from __future__ import annotations

from rebalance_kit.forensics.grammar.template import Template

_POLL_TEXT = (
    "onsumer poll timeout has expired. This means the time between subsequent calls to poll() "
    "was longer than the configured max.poll.interval.ms, {_}"
)

_LINES: tuple[tuple[str, str], ...] = (
    # Joining, classic protocol
    ("subscribed", "Subscribed to topic(s): {detail}"),
    ("subscribed", "Subscribed to pattern: '{detail}'"),
    ("subscribed", "Subscribing to regular expression {detail}"),
    ("coordinator_found", "Discovered group coordinator {detail}"),
    ("coordinator_left", "Requesting disconnect from last known coordinator {detail}"),
    ("joining", "(Re-)joining group[[ {group}]]"),
    ("rejoin_requested", "Request joining group due to: {reason}"),
    ("rejoin_requested", "Requesting to re-join the group and trigger rebalance since {reason}"),
    (
        "joined",
        "Successfully joined group with generation "
        "Generation{generationId={generation}, memberId='{member}', protocol='{assignor}'}",
    ),
    ("joined", "Successfully joined group with generation {generation}"),
    (
        "synced",
        "Successfully synced group in generation "
        "Generation{generationId={generation}, memberId='{member}', protocol='{assignor}'}",
    ),
    ("assignment_finished", "Finished assignment for group at generation {generation}: {detail}"),
    ("assignor_notified", "Notifying assignor about the new {detail}"),
    (
        "static_leader_skipped",
        "Skipped assignment for returning static leader at generation {generation}.{_}",
    ),
    ("assignment_update", "Updating assignment with"),
    ("java_step", "Generation data was cleared by heartbeat thread{_}"),
    ("java_step", "Rebalance failed."),
    # Requests that go to the coordinator alone; from a node 2147483647 - N on the broker is N.
    *(
        (
            "java_step",
            f"Cancelled in-flight {request} request with correlation id {{_}} due to node {{_}} being disconnected{{_}}",
        )
        for request in ("HEARTBEAT", "CONSUMER_GROUP_HEARTBEAT", "JOIN_GROUP", "SYNC_GROUP", "OFFSET_COMMIT")
    ),
    ("topics_unassigned", "The following subscribed topics are not assigned to any members: {_}"),
    ("java_step", "The following not-subscribed topics are assigned, {_}"),
    ("java_step", "We received an assignment {_} that doesn't match our current subscription {_}"),
    (
        "java_step",
        "With the COOPERATIVE protocol, owned partitions cannot be reassigned to other members; {_}",
    ),
    ("java_step", "Unsubscribed all topics or patterns and assigned partitions"),
    ("java_step", "Unsubscribing all topics or patterns and assigned partitions{_}"),
    ("java_step", "LeaveGroup request {_}failed with error: {_}"),
    # The assignors that are sticky
    ("java_step", "Current number of members with more than the minQuota partitions: {_}"),
    ("java_step", "No more unfilled consumers to be assigned{_}"),
    ("java_step", "Filled the last member up to maxQuota but still had partitions remaining to assign, {_}"),
    ("java_step", "The consumer {_} is assigned more partitions than the maximum possible."),
    ("java_step", "Expected partition '{_}' to be assigned to a consumer"),
    ("java_step", "Partition '{_}' is assigned to multiple consumers following sticky assignment {_}"),
    ("java_step", "Consumer {_} in generation {_} and consumer {_} claiming the same TopicPartition {_}"),
    ("java_step", "Consumer: [{_}] should have {_} partitions, but got {_}"),
    ("java_step", "Found multiple consumers {_} claiming the same TopicPartition {_}"),
    ("java_step", "Found partition {_} still claimed as owned by consumer {_}"),
    ("java_step", "still waiting to ensure active group"),
    # Callbacks, both protocols
    ("revoked", "Revoke previously assigned partitions[[ ]]{partitions}"),
    ("lost", "Lost previously assigned partitions[[ ]]{partitions}"),
    ("assigned", "Adding newly assigned partitions:[[ ]]{partitions}"),
    ("offset_missing", "Found no committed offset for partition {topic}"),
    (
        "offset_set",
        "Setting offset for partition {topic} to the committed offset FetchPosition{offset={offset}, {_}",
    ),
    ("offset_reset", "Resetting offset for partition {topic} to position FetchPosition{offset={offset}, {_}"),
    ("offset_out_of_range", "Fetch position {_} is out of range for partition {topic}, {detail}"),
    ("pause_dropped", "The pause flag in partitions {partitions} will be removed due to revocation."),
    # Trouble, classic protocol
    ("given_away", "Giving away all assigned partitions as lost since generation/memberID has been reset{_}"),
    ("generation_reset", "Resetting generation{_} due to: {reason}"),
    (
        "heartbeat_stale",
        "Attempt to heartbeat with stale {_} and group instance id {_} failed due to {reason}, ignoring the error",
    ),
    (
        "heartbeat_failed",
        "Attempt to heartbeat with {_} and group instance id {_} failed due to {reason}, resetting generation",
    ),
    (
        "client_instance_fenced",
        "{_}Group failed: The group instance id {instance} has been fenced by another instance. Sent generation was {detail}",
    ),
    ("client_instance_fenced", "Caught fenced group.instance.id {instance} error in heartbeat thread"),
    ("join_retried", "JoinGroup failed due to non-fatal error: {reason}"),
    ("join_refused", "JoinGroup failed due to fatal error: {reason}"),
    ("join_refused", "Attempt to join group failed due to fatal error: {reason}"),
    ("join_refused", "Attempt to join group {group} failed due to fatal error: {reason}"),
    ("join_refused", "JoinGroup failed due to unexpected error: {reason}"),
    ("join_refused", "JoinGroup failed due to {reason}"),
    ("join_refused", "JoinGroup failed: Inconsistent Protocol Type, {reason}"),
    ("java_step", "SyncGroup failed due to inconsistent Protocol {_}"),
    ("join_failed", "JoinGroup failed: {reason} Need to re-join the group. Sent generation was {detail}"),
    ("sync_failed", "SyncGroup failed: {reason} Need to re-join the group. Sent generation was {detail}"),
    # As quoted, the coordinator may be left out.
    ("leaving", "Member {member} sending LeaveGroup request to coordinator{_} due to {reason}"),
    ("poll_timeout", "c" + _POLL_TEXT),
    ("poll_timeout", "C" + _POLL_TEXT),
    (
        "poll_late",
        "Time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, "
        "exceeded approximately by {over_ms} ms. Member {member} will rejoin the group now.",
    ),
    (
        "coordinator_lost",
        "Group coordinator {detail} is unavailable or invalid due to cause: {cause}.[[ isDisconnected: {_}.]][[isDisconnected: {_}.]]"
        " Rediscovery will be attempted.",
    ),
    ("close_timed_out", "Close timed out with {detail}"),
    (
        "callback_failed",
        "User provided listener {_} failed on invocation of {detail} for partitions {partitions}",
    ),
    ("join_refused", "Unexpected error in join group response: {reason}"),
    # Commits
    ("commit_stale", "OffsetCommit failed for member {member} with stale member epoch error.{_}"),
    ("commit_failed", "OffsetCommit failed with {reason}"),
    ("commit_failed", "Offset commit with offsets {_} failed[[:]][[ ]]{reason}"),
    ("commit_failed", "Offset commit with offsets {_} failed: {reason}"),
    ("commit_failed", "Offset commit with offsets {_} failed"),
    ("commit_failed", "Offset commit failed on partition {topic} at offset {offset}: {reason}"),
    ("auto_commit_failed", "Asynchronous auto-commit of offsets failed: {reason}"),
    ("auto_commit_failed", "Asynchronous auto-commit of offsets {_} failed: {reason}"),
    ("auto_commit_failed", "Synchronous auto-commit of offsets {_} failed: {reason}"),
    ("auto_commit_failed", "Auto-commit of offsets {_} failed"),
    ("commit_not_sent", "Failing OffsetCommit request since the consumer is not part of an active group"),
    # KIP-848
    ("transitioned", "Member {member} with epoch {epoch} transitioned from {state_from} to {state_to}."),
    *(
        ("fatal", f"Member {{member}} with epoch {{epoch}} transitioned to {state} state")
        for state in ("fatal", "FATAL")
    ),
    ("reconciling", "Reconciling assignment with local epoch {_}"),
    ("revoked", "Revoking previously assigned partitions {partitions} for group {group}"),
    ("revoking", "Revoking previously assigned partitions[[ ]]{partitions}"),
    *(
        ("java_step", f"onPartitions{what} callback invocation failed {{_}}")
        for what in ("Revoked", "Assigned", "Lost")
    ),
    ("java_step", "Member {member} is triggering callbacks to release assignment {_} and leave group"),
    ("java_step", "Member {member} completed callback to release assignment{_}"),
    ("java_step", "Member {member} callback to release assignment failed{_}"),
    ("java_step", "Member {member} with epoch {epoch} got fenced but it is already {_}"),
    ("java_step", "Member {member} with epoch {epoch} was leaving the group {_}"),
    ("java_step", "Member {member} with epoch {epoch} won't send leave group request {_}"),
    ("java_step", "Member {member} won't {_}"),
    (
        "java_step",
        "Member {member} with epoch {epoch} received a failed response to the heartbeat to leave the group {_}",
    ),
    ("java_step", "Heartbeat to leave group cannot be sent {_}"),
    ("java_step", "Releasing assignment and leaving group before closing consumer"),
    ("java_step", "Completed releasing assignment and sending leave group to close consumer"),
    (
        "heartbeat_fenced",
        "ConsumerGroupHeartbeatRequest failed for member {member} because epoch {epoch} is fenced.{_}",
    ),
    ("heartbeat_unknown", "ConsumerGroupHeartbeatRequest failed because member {member} is unknown.{_}"),
    (
        "client_instance_fenced",
        "ConsumerGroupHeartbeatRequest failed due to fenced instance id {instance}: {detail}",
    ),
    (
        "client_instance_refused",
        "ConsumerGroupHeartbeatRequest failed due to unreleased instance id {instance}: {reason}",
    ),
    ("heartbeat_error", "ConsumerGroupHeartbeatRequest failed due to unexpected error {reason}"),
    ("left_group", "Completed leaving the group"),
    ("leave_timed_out", "Consumer attempted to leave the group but couldn't complete it within {detail}"),
    ("network_thread_failed", "Unexpected error caught in consumer network thread"),
    # The process
    ("process_started", "Kafka version: {detail}"),
    ("process_closed", "App info kafka.consumer for {client} unregistered"),
)

#: At DEBUG, and only from close() and unsubscribe().
_BY_APPLICATION = (("reason", "its application closed it, or unsubscribed"),)

JAVA: tuple[Template, ...] = (
    *(Template(event, "java", text) for event, text in _LINES),
    Template(
        "leaving",
        "java",
        "Executing onLeavePrepare with generation {_} and memberId {member}",
        _BY_APPLICATION,
    ),
    Template("leaving", "java", "Executing onLeavePrepare with generation {_}", _BY_APPLICATION),
)

#: Keys of the ``ConsumerConfig values:`` block that say how a member behaves.
CONFIG_KEYS = (
    "client.id",
    "enable.auto.commit",
    "group.consumer.session.timeout.ms",
    "group.id",
    "group.instance.id",
    "group.protocol",
    "heartbeat.interval.ms",
    "max.poll.interval.ms",
    "max.poll.records",
    "partition.assignment.strategy",
    "session.timeout.ms",
)

#: Further lines of an event that began above: they carry no time and no prefix of their own.
BLOCK_LINES: tuple[Template, ...] = (
    *(Template("config", "java", f"\t{key} = {{value}}", (("key", key),)) for key in CONFIG_KEYS),
    Template("block_assigned", "java", "\tAssigned partitions: {partitions}"),
    Template("block_owned", "java", "\tCurrent owned partitions: {partitions}"),
    Template("block_added", "java", "\tAdded partitions (assigned - owned): {partitions}"),
    Template("block_revoked", "java", "\tRevoked partitions (owned - assigned): {partitions}"),
    Template("block_member", "java", "\tMember: {member}"),
)


_BROKER_LINES: tuple[tuple[str, str], ...] = (
    (
        "left",
        "Member[group.instance.id {instance}, member.id {member}] in group {group} has left, removing it from the group[[.]]",
    ),
    ("left", "Member {member} in group {group} has left, removing it from the group[[.]]"),
    (
        "member_added",
        "Dynamic Member with unknown member id joins group {group} in {state} state. "
        "Created a new member id {member} for this member and add to the group[[.]]",
    ),
    (
        "static_replaced",
        "Static member {instance}[[ of group {group}]] with unknown member id rejoins, assigning new member id {member}, "
        "while old member {other} will be removed[[.]]",
    ),
    ("loaded", "Loading group metadata for {group} with generation {generation}"),
    ("preparing", "Preparing to restabilize group {group} with old generation {generation}"),
    ("emptied", "Group {group} generation {generation} is dead and removed"),
    ("died", "Group {group} transitioned to Dead in generation {generation}"),
    (
        "instance_fenced",
        "Request memberId={other} for static member with groupInstanceId={instance} "
        "is fenced by current memberId={member} during operation {detail}",
    ),
    (
        "leader_replaced",
        "Group leader [member.id: {other}, group.instance.id: {_}] failed to join before rebalance timeout, "
        "while new leader {member} was elected.",
    ),
    (
        "static_added",
        "Static Member with unknown member id joins group {group} in {state} state. "
        "Created a new member id {member} for this member and add to the group[[.]]",
    ),
    ("static_kept", "Static member joins during {_} stage will not trigger rebalance."),
)

_OLD_POLL_TEXT = (
    "consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer"
)

_JAVA_LINES: tuple[tuple[str, str], ...] = (
    ("joined", "Successfully joined group {group} with generation {generation}"),
    ("assigned", "Setting newly assigned partitions[[:]] {partitions} for group {group}"),
    ("assigned", "Setting newly assigned partitions[[:]] {partitions}"),
    ("coordinator_found", "Discovered coordinator {_} for group {group}[[.]]"),
    ("coordinator_lost", "Marking the coordinator {detail} dead for group {group}"),
    ("coordinator_lost", "Marking the coordinator {detail} dead"),
    ("coordinator_lost", "Group coordinator {detail} is unavailable or invalid, will attempt rediscovery"),
    ("client_instance_fenced", "Received fatal exception: group.instance.id[[ {instance}]] gets fenced"),
    ("poll_timeout", f"This member will leave the group because {_OLD_POLL_TEXT}{{_}}"),
    ("leaving", "Member {member} sending LeaveGroup request to coordinator {_}"),
    ("leaving", "Sending LeaveGroup request to coordinator {_}"),
    ("given_away", "Giving away all assigned partitions as lost since generation has been reset{_}"),
    ("join_retried", "Join group failed with {reason}"),
    ("join_retried", "Attempt to join group failed due to {reason}"),
    ("heartbeat_failed", "Attempt to heartbeat failed for since member id {member} is not valid[[.]]"),
    ("heartbeat_failed", "Attempt to heartbeat failed since member id {member} is not valid[[.]]"),
    ("heartbeat_failed", "Attempt to heartbeat failed since generation {_} is not current"),
)

OLDER_BROKER: tuple[Template, ...] = tuple(Template(event, "broker", text) for event, text in _BROKER_LINES)

OLDER_JAVA: tuple[Template, ...] = (
    *(Template(event, "java", text) for event, text in _JAVA_LINES),
    Template(
        "rejoin_requested",
        "java",
        "Attempt to heartbeat failed since group is rebalancing[[.]]",
        (("reason", "group is already rebalancing"),),
    ),
)
