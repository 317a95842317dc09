"""Phrases of other clients, and of what is built on Kafka's consumers.

Phrases of other clients about joining, leaving, rebalancing and timeouts, wherever it stands in their lines.

kafka-python, aiokafka, sarama, kafka-go, franz-go, kafkajs, ruby-kafka, brod, zio-kafka.  Only what decides: these
clients are not followed step by step, and rules about Java's do not hold for them.

Lines of what is built on Kafka's consumers: Connect workers, Spring's listener container, Kafka Streams.

Sources: ``WorkerCoordinator``, ``DistributedHerder`` (Connect); ``KafkaMessageListenerContainer`` (Spring);
``StreamThread``, ``KafkaStreams`` (Streams).
"""

from __future__ import annotations

from rebalance_kit.forensics.grammar.template import Template

#: A coordinator hands out the id with which a new member asks again.
_NEW_MEMBERS: tuple[str, ...] = (
    "Received member id {member} for group {group}; will retry join-group",
    "Failed to join group {group}: [Error 79] MemberIdRequiredError{_}",
    "join returned MemberIDRequired{_}",
)

#: Kinds of line that an error of Kafka's in their reason makes lines of that error, and which errors do.
_LOST = frozenset({"other_unknown_member", "other_rebalancing", "client_instance_fenced"})
_REFUSED = _LOST | {"other_no_coordinator", "join_refused", "client_instance_refused", "join_retried"}
BY_THEIR_ERROR = {"join_retried": _LOST, "other_join_failed": _REFUSED, "other_heartbeat_failed": _REFUSED}

#: How brod's processes begin their records, of which the message stands below.
_BROD: tuple[str, ...] = (
    "Group member ({group},coor={client},cb={_},generation={generation}): ",
    "group coordinator (groupId={group},memberId={member},generation={generation},pid={client}): ",
    "group subscriber (groupId={group},memberId={member},generation={generation},pid={client}): ",
)
_BROD_MESSAGES: tuple[tuple[str, str], ...] = (
    ("join_retried", "re-joining group, reason:{reason}"),
    ("other_join_failed", "failed to join group[[ reason:{reason}]]"),
    ("other_leaving", "{_}eaving group, reason:{reason}"),
    (
        "client_instance_fenced",
        "Static member was fenced by another member using the same group_instance_id{_}",
    ),
    ("other_joined", "elected={_}"),
    ("other_step", "assignments received:[]"),
    ("other_assigned", "assignments received:{_}"),
    ("other_coordinator", "connected to group coordinator {detail}"),
    ("other_commit_failed", "failed to commit {_}reason:{reason}"),
    ("other_step", "{_}"),
)

_LINES: tuple[tuple[str, str], ...] = (
    # kafka-python, aiokafka
    ("joined", "Successfully joined group {group} with generation {generation}[[, {_}]]"),
    (
        "joined",
        "Successfully joined group {group} <Generation {generation} (member_id: {member}, protocol: {_}",
    ),
    ("other_no_metadata", "No partition metadata for topic {topic}"),
    ("other_assigned", "on_partitions_assigned: {partitions}"),
    ("other_revoked", "on_partitions_revoked: {partitions}"),
    ("joined", "Joined group '{group}' (generation {generation}) with member_id {member}"),
    ("joining", "(Re-)joining group {group}[[, {_}]]"),
    (
        "other_coordinator_lost",
        "Marking the coordinator dead (node {_}){_}for group {group}[[.]][[: {cause}]]",
    ),
    ("other_session_expired", "Heartbeat session expired{_}"),
    ("other_step", "Skipping heartbeat: no auto-assignment or waiting on rebalance{_}"),
    ("other_step", "Skipping heartbeat: no active group{_}"),
    ("other_poll_timeout", "Heartbeat poll expired, leaving group{_}"),
    ("other_leaving", "Leaving consumer group {group} (member {member}){_}"),
    ("other_leaving", "Leaving consumer group ({reason} has expired){_}"),
    ("other_leaving", "Leaving consumer group ({group}){_}"),
    ("other_leaving", "Leaving consumer group{_}"),
    ("left_group", "LeaveGroup request for group {group} returned successfully"),
    ("left_group", "LeaveGroup request succeeded"),
    ("other_step", "LeaveGroup request failed: {reason}"),
    ("other_step", "LeaveGroup request for group {group} failed with error: {reason}"),
    (
        "other_poll_timeout",
        "Consumer poll timeout has expired. This means the time between subsequent calls{_}",
    ),
    ("other_rebalancing", "Heartbeat failed for group {group} because it is rebalancing"),
    ("other_rebalancing", "Group {group} is rebalancing; rejoining."),
    ("other_unknown_member", "Heartbeat failed for group {group}: generation id is not {_}"),
    ("client_instance_fenced", "Heartbeat failed for group {group} due to fenced id error: {instance}"),
    ("client_instance_fenced", "SyncGroup for group {group} failed due to fenced id error: {instance}"),
    ("client_instance_fenced", "OffsetCommit for group {group} failed due to fenced id error: {instance}"),
    ("client_instance_fenced", "Heartbeat thread caught fenced group_instance_id {instance} error"),
    ("other_unknown_member", "Heartbeat failed: local member_id was not recognized{_}"),
    ("other_unknown_member", "Heartbeat: local member_id was not recognized{_}"),
    ("other_step", "Heartbeat: {group}[{generation}] {member}"),
    ("other_heartbeat_failed", "Heartbeat failed for group {group}[[: {reason}]]"),
    ("other_heartbeat_failed", "Heartbeat failed ({reason}); retrying"),
    ("other_heartbeat_failed", "Heartbeat failed; retrying"),
    ("other_step", "Heartbeat success{_}"),
    ("other_heartbeat_failed", "Heartbeat failed: {reason}"),
    ("other_heartbeat_failed", "Heartbeat send request failed: {reason}"),
    ("join_refused", "Attempt to join group failed due to fatal error: {reason}"),
    ("join_refused", "Attempt to join group {group} failed due to fatal error: {reason}"),
    ("other_join_failed", "Attempt to join group {group} failed due to {reason}"),
    ("other_join_failed", "Attempt to join group {group} rejected since {reason}"),
    ("other_rebalancing", "SyncGroup for group {group} failed due to coordinator rebalance"),
    ("other_rebalancing", "SyncGroup for group {group} failed due to group rebalance"),
    ("other_join_failed", "SyncGroup for group {group} failed due to {reason}"),
    ("other_join_failed", "Unexpected error from SyncGroup: {reason}"),
    ("other_join_failed", "Unexpected error in join group '{group}' response: {reason}"),
    ("other_no_coordinator", "Group Coordinator Request failed: {reason}"),
    ("join_retried", "Assignment rejected: {reason} Requesting re-join."),
    ("join_retried", "Cooperative assignment rejected: {reason} Requesting re-join."),
    ("other_metadata_changed", "Metadata for topic has changed from {_}"),
    ("other_step", "Cooperative rebalance complete for group {group}: {_}"),
    ("other_lost", "Group {group} lost membership; forcibly revoking {partitions}"),
    (
        "other_revoked",
        "Cooperative pre-rebalance for group {group}: revoking {partitions} (no longer in subscription)",
    ),
    *(
        ("other_callback_failed", f"User provided {what} {{_}} for group {{group}} failed {{detail}}")
        for what in (
            "rebalance listener",
            "subscription rebalance listener",
            "subscription listener",
            "listener",
        )
    ),
    ("other_commit_failed", "OffsetCommit failed for group {group} on partition {_} due to {reason}"),
    (
        "other_commit_failed",
        "OffsetCommit failed for group {group} on partition {_} with offset {_}: {reason}",
    ),
    ("other_commit_failed", "OffsetCommit failed for group {group} due to {reason}"),
    ("other_commit_failed", "OffsetCommit failed for group {group} because {reason}"),
    ("other_commit_failed", "OffsetCommit failed for group {group} - {reason}"),
    ("other_commit_failed", "OffsetCommit for group {group} failed: {reason}"),
    ("other_commit_failed", "Group {group} failed to commit partition {_} at offset {_}: {reason}"),
    ("other_commit_failed", "Pre-rebalance offset commit failed: {reason}"),
    ("other_commit_failed", "Offset commit failed: {reason}"),
    ("other_assigned", "Setting newly assigned partitions {partitions} for group {group}[[, {_}]]"),
    ("other_assigned", "Updated partition assignment: {partitions}"),
    ("other_revoked", "Revoking previously assigned partitions {partitions} for group {group}[[, {_}]]"),
    ("other_leader", "Elected group leader -- performing partition assignments using {assignor}"),
    ("other_joined", "Successfully synced group {group} with generation {generation}"),
    # sarama, and sarama-cluster
    ("other_stops_reading", "closed dead subscription to {topic}[[ {_}]]"),
    ("other_reads", "added subscription to {topic}[[ {_}]]"),
    ("subscription_abandoned", "abandoned subscription to {topic} because consuming was taking too long"),
    ("other_lost", "consumergroup/{group}: lost ownership of {partitions} due to {reason}"),
    ("client_instance_fenced", "JoinGroup failed: group instance id {instance} has been fenced"),
    (
        "other_metadata_changed",
        "consumergroup/{group} loop check partition number {_}outine find partitions in {detail}",
    ),
    ("other_session_ended", "consumergroup/{group} loop check partition number {_}outine will exit{_}"),
    ("other_session_ended", "loop check partition number coroutine will exit{_}"),
    ("joining", "cluster/consumer {member} rebalance"),
    ("other_rebalancing", "Rebalanced: &{Type:rebalance start {_}"),
    ("other_join_failed", "Rebalanced: &{Type:rebalance error {_}"),
    ("other_joined", "Rebalanced: &{Type:rebalance OK {_}"),
    # In 2016 the word was misspelled.
    *(
        line
        for word in ("consumergoup ", "[[consumergroup ]]")
        for line in (
            ("other_step", f"client/coordinator requesting coordinator for {word}{{group}} from {{_}}"),
            ("other_coordinator", f"client/coordinator coordinator for {word}{{group}} is {{detail}}"),
        )
    ),
    ("other_no_coordinator", "client/coordinator request to broker {_} failed: {reason}"),
    ("other_rebalancing", "consumergroup/{group} rebalance triggered{_}"),
    ("other_session_ended", "consumergroup/session/{member}/{generation} heartbeat loop{_}"),
    ("other_session_ended", "consumergroup/session/{member}/{generation} released{_}"),
    ("other_unknown_member", "kafka server: The provided member is not known in the current generation{_}"),
    ("other_rebalancing", "kafka server: A rebalance for the group is in progress{_}"),
    # kafka-go
    ("other_joined", "joined group {group} as member {member} in generation {generation}"),
    ("other_joined", "Joined group {group} as member {member} in generation {generation}"),
    (
        "other_joined",
        "joinGroup succeeded for response, {group}.  generationID={generation}, memberID={member}",
    ),
    ("other_step", "Syncing {_} assignments for generation {generation} as member {member}"),
    ("other_planned", "assigned member/topic/partitions {detail}"),
    ("other_leaving", "Leaving group {group}, member {member}"),
    ("other_step", "stopped heartbeat for group {group}"),
    *(
        (
            "other_no_coordinator",
            f"Unable to establish connection to consumer group coordinator for group {{group}}: [{number}] {{reason}}: {{_}}",
        )
        for number in (14, 15, 16)
    ),
    ("other_join_failed", "Failed to join group {group}: {reason}"),
    ("other_join_failed", "Failed to sync group {group}: {reason}"),
    ("other_step", "Failed to fetch offsets for group {group}: {reason}"),
    ("other_step", "leave group failed for group, {group}, and member, {member}: {reason}"),
    (
        "other_no_coordinator",
        "Unable to establish connection to consumer group coordinator for group {group}: {reason}",
    ),
    ("other_step", "entering loop for consumer group, {group}"),
    ("other_leader", "selected as leader for group, {group}"),
    ("other_step", "using {_} balancer to assign group, {group}"),
    ("other_step", "found member: {other}/[]byte{_}"),
    ("other_step", "found member: {member}/{_}"),
    ("other_step", "sync group finished for group, {group}"),
    (
        "other_step",
        "received empty assignments for group, {group} as member {member} for generation {generation}",
    ),
    ("other_assigned", "subscribed to topics and partitions: {partitions}"),
    ("other_step", "started heartbeat for group, {group}[[ {_}]]"),
    ("other_step", "started commit for group {group}"),
    ("other_step", "stopped commit for group {group}"),
    ("other_step", "started partition watcher for group, {group}, topic {topic}[[ {_}]]"),
    ("other_step", "stopped partition watcher for group, {group}, topic {topic}"),
    # Spelled in two ways.
    ("other_metadata_changed", "Partition changes found, {_}ing group: {group}[[.]]"),
    ("subscription_empty", "Problem getting partitions during startup, [3] {reason}"),
    ("other_step", "Problem getting partitions {reason}"),
    ("other_rebalancing", "Rebalance In Progress: the coordinator has begun rebalancing the group{_}"),
    # franz-go
    ("other_step", "beginning to manage the {_}group lifecycle{_}"),
    ("other_heartbeat_failed", "heartbeat errored{_}"),
    ("other_heartbeat_failed", "heartbeat hit retryable error{_}"),
    ("other_unknown_member", "consumer group heartbeat error, abandoning assignment and rejoining{_}"),
    ("other_join_failed", "group manage loop errored{_}"),
    ("other_join_failed", "join and sync loop errored{_}"),
    ("other_join_failed", "join group failed{_}"),
    ("other_join_failed", "sync group failed{_}"),
    ("other_rebalancing", "sync failed with RebalanceInProgress, rejoining{_}"),
    ("other_unknown_member", "join returned UnknownMemberID, rejoining without a member id{_}"),
    ("other_rejoins", "forced rejoin quitting heartbeat loop{_}"),
    ("other_assigns", "assigning partitions{_}"),
    ("other_revoked", "eager consumer revoking prior assigned partitions{_}"),
    ("other_revoked", "cooperative consumer revoking prior assigned partitions because leaving group{_}"),
    ("other_step", "tried to leave group but we have no member ID yet, returning early{_}"),
    ("other_step", "syncing; group: {group}, {_}"),
    ("other_step", "default revoke: committing{_}"),
    ("other_leader", "balancing group as leader{_}"),
    ("other_step", "balance group member; id: {other}, {_}"),
    ("other_commit_failed", "default commit failed{_}"),
    ("other_commit_failed", "in default commit: unable to commit offsets for topic partition{_}"),
    ("other_step", "calling onRevoke at the end of a session; consumer did not change{_}"),
    ("other_revoked", "calling onRevoke at the end of a session{_}"),
    ("other_step", "received an OffsetCommitResponse after our group session has ended, {_}"),
    ("other_assigned", "new group session begun{_}"),
    ("other_joined", "joined, balancing group{_}"),
    ("other_joined", 'joined"{_}"generation":{generation},{_}'),
    (
        "other_joined",
        "joined; group: {group}, member_id: {member}, instance_id: {_}, generation: {generation},{_}",
    ),
    ("joining", "joining group; group: {group}"),
    ("joining", 'joining group"{_}'),
    ("other_leaving", 'leaving group"{_}'),
    ("other_step", 'synced"{_}'),
    ("other_step", 'syncing"{_}'),
    ("other_step", "beginning heartbeat loop{_}"),
    ("other_step", 'balance group member"{_}'),
    ("other_step", "synced; group: {group}, assigned: {_}"),
    ("other_session_ended", "prior group session ended{_}"),
    ("other_leaving", "leaving group; group: {group}, member_id: {member}"),
    ("other_leaving", "leaving next-gen group{_}"),
    # kafkajs
    (
        "other_joined",
        'Consumer has joined the group{_}"memberId":"{member}",{_}"memberAssignment":{detail},"groupProtocol"{_}',
    ),
    ("other_restarting", "Restarting the consumer in {_}"),
    ("other_step", "Consumer is not aware of all assigned partitions{_}"),
    ("other_leader", "Chosen as group leader{_}"),
    ("process_closed", 'Consumer] Stopped"{_}'),
    ("other_step", 'Consumer] Starting"{_}'),
    ("other_joined", "Consumer has joined the group{_}"),
    ("other_rebalancing", "The group is rebalancing{_}"),
    ("other_unknown_member", "The coordinator is not aware of this member{_}"),
    # zio-kafka, ruby-kafka, brod
    ("other_revoked", "Group {group} rebalance: {partitions} revoked"),
    ("other_assigned", "Group {group} rebalance: {partitions} assigned"),
    ("other_joined", "Joined group `{group}` with member id `{member}[[`]]"),
    ("joining", "Joining group `{group}[[`]]"),
    ("other_leaving", "Leaving group `{group}[[`]]"),
    ("other_leader", "Chosen as leader of group `{group}[[`]]"),
    ("other_no_coordinator", "Coordinator broker {reason}, retrying in {_}"),
    ("other_step", "Getting group coordinator for `{group}[[`]]"),
    ("other_coordinator", "Coordinator for `{group}` is {detail}. Connecting{_}"),
    ("other_heartbeat_failed", "Error sending heartbeat: {reason}"),
    *((event, head + text) for head in _BROD for event, text in _BROD_MESSAGES),
    ("other_revoked", "partitions are revoked{_}"),
    ("other_assigned", "partitions are assigned{_}"),
    ("other_rebalancing", "Group is rebalancing{_}"),
    *_BROD_MESSAGES[:2],
)

#: Java's clients of 0.10 had no prefix.
_OLD_JAVA: tuple[tuple[str, str], ...] = (
    ("coordinator_lost", "Marking the coordinator {_} dead for group {group}"),
    ("coordinator_found", "Discovered coordinator {_} for group {group}[[.]]"),
)

#: The telling sentences of librdkafka and Java, wherever an application or a person has put them.
_NATIVE: tuple[tuple[str, str, str], ...] = (
    (
        "rd_poll_timeout",
        "librdkafka",
        "Application maximum poll interval ({limit_ms}ms) exceeded by {over_ms}ms{_}",
    ),
    (
        "rd_session_timeout",
        "librdkafka",
        "Consumer group session timed out (in join-state {state}) after {over_ms} ms without a successful response "
        "from the group coordinator {reason}",
    ),
    (
        "poll_timeout",
        "java",
        "consumer poll timeout has expired. This means the time between subsequent calls{_}",
    ),
    ("leaving", "java", "sending LeaveGroup request to coordinator {_} due to {reason}"),
    *(
        ("streams_state", "java", f"State transition from {state} to {{state_to}}[[ {{_}}]]")
        for state in ("RUNNING", "REBALANCING", "PARTITIONS_REVOKED", "PARTITIONS_ASSIGNED")
    ),
)

OTHER_CLIENTS: tuple[Template, ...] = (
    *(Template(event, side, text) for event, side, text in _NATIVE),
    Template(
        "join_refused",
        "java",
        "Unexpected error in join group response: {_}",
        (("reason", "an answer to JoinGroup that this version of the client does not expect"),),
    ),
    Template(
        "stream_thread_replaced", "java", "Replacing thread in the streams uncaught exception handler{_}"
    ),
    *(Template("join_retried", "other", text, (("reason", "MemberIdRequired"),)) for text in _NEW_MEMBERS),
    *(
        Template(event, "other", text, (("reason", reason),))
        for event, text, reason in (
            (
                "other_no_coordinator",
                "Coordinator unknown during heartbeat{_}",
                "the coordinator is unknown to it when a heartbeat is due",
            ),
            (
                "other_no_coordinator",
                "Heartbeat failed for group {group}: coordinator {_} is either not started or not valid",
                "the one it asked is either not started or not valid",
            ),
            (
                "other_no_coordinator",
                "client/coordinator coordinator for [[consumer group ]]{group} is not available",
                "none is available",
            ),
            (
                "other_no_coordinator",
                "client/coordinator no available broker to send consumer metadata request to",
                "no broker is there to ask",
            ),
            (
                "other_no_coordinator",
                "client/coordinator the __consumer_offsets topic is not initialized completely yet. {_}",
                "the topic __consumer_offsets is being made",
            ),
            (
                "other_commit_failed",
                "Not authorized to commit offsets for group {group}",
                "not authorized to use this group",
            ),
            (
                "other_commit_failed",
                "Not authorized to commit to topics {topic} for group {group}",
                "not authorized to commit to topics",
            ),
        )
    ),
    *(Template(event, "other", text) for event, text in _LINES),
    *(Template(event, "java", text) for event, text in _OLD_JAVA),
)


#: What a stream thread's assignor and its threads say of a rebalance.
_STREAMS_STEPS: tuple[str, ...] = (
    "Assigned tasks {_}",
    "partition assignment took {took_ms} ms{_}",
    "partition revocation took {took_ms} ms{_}",
    "All members participating in this rebalance:{_}",
    "{_} client nodes and {_} consumers participating in this rebalance:{_}",
    "Assigned {_} total tasks including {_} to {_} client nodes.",
    "Assignment of tasks to nodes: {_}",
    "Finished stable assignment of tasks{_}",
    "Finished unstable assignment of tasks{_}",
    "No followup rebalance {_}",
    "Requested to schedule {_}rebalance{_}",
    "Requesting followup rebalance be scheduled {_}",
    "Client {_} per-consumer assignment:{_}",
    "Triggering the followup rebalance{_}",
    "Processing new assignment {_}",
    "Handle new assignment with:{_}",
    "Version probing detected. {_}",
    "Sent a version {_} subscription and {_}",
    "Received a future (version probing) subscription {_}",
    "Leader sent back a{_}",
    "Removing task {_} active assignment until it is safely revoked in followup rebalance",
    "Adding removed stateful active task {_} followup rebalance",
    "Failed to fetch end offsets for changelogs, will return previous assignment {_}",
    "Caught an error in the task assignment. Returning an error assignment.",
    "Rebalance failed due to task assignor returning assignment with error {_}",
    "Decided on assignment: {_}",
    "Partition {_} is assigned to more than one tasks: {_}",
    "Partition {_} is not assigned to any tasks: {_}",
    "The previous assignment contains a partition more than once. {_}",
    "{_} is unknown yet during rebalance, please make sure they have been pre-created {_}",
    "Missing source topic {_} during assignment. {_}",
    "at state {_}: partitions {_} lost due to missed rebalance.{_}",
    "Error caught during partition{_}, will abort the current process and re-throw at the end of rebalance{_}",
    "Active task(s) got corrupted. Triggering a rebalance.",
    "StreamThread has detected an update to the topology, triggering a rebalance {_}",
    "Stream task {_} is already closed, probably because it got unexpectedly migrated to another thread already. {_}",
    "Standby task {_} is already closed, probably because it got unexpectedly migrated to another thread already. {_}",
    "Failed to process stream task {_} since it got migrated to another thread already. {_}",
    "Failed to punctuate stream task {_} since it got migrated to another thread already. {_}",
    "Streams rebalance protocol enabled",
    "StreamsGroupHeartbeat{_} failed {_}",
    "Membership is in the following statuses: {_}",
    "Received error code {_}",
    "Received unknown error code {_}",
    "Received version probing code {_}",
    "partitions lost took {took_ms} ms.",
    "Cooperative rebalancing {_}enabled now",
    "Eager rebalancing {_}enabled now for upgrade from {_}",
    "The eager rebalancing protocol is deprecated {_}",
    "No custom task assignors found, {_}",
    "Caught the following exception while trying to suspend revoked task {_}",
    "Exception caught while committing those revoked tasks {_}",
    "Cannot create the assigned task {_}",
    "We were planning on closing task {_} because we lost one of its partitions.{_}",
    "Expected the current consumer assignment {_} to contain the input partitions {_}",
    "Task {_} owned partitions {_} are not contained in the assignment {_}",
    "The following partitions {_} are missing from the task partitions. {_}",
)

_FRAMEWORK_LINES: tuple[tuple[str, str], ...] = (
    # Connect
    ("worker_rebalance", "Rebalance started"),
    (
        "worker_joined",
        "Joined group at generation {generation} with protocol version {_} and got assignment: {detail}",
    ),
    ("worker_joined", "Joined group at generation {generation} and got assignment: {detail}"),
    ("worker_step", "Joined group and got assignment: {detail}"),
    ("worker_step", "Join group completed, but assignment failed and we {_}"),
    ("worker_step", "Join group completed, but assignment failed. We were up to date, so just retrying."),
    (
        "worker_step",
        "Revoking current running assignment {_} because after {_} retries the worker has not {_}",
    ),
    ("worker_configured", "Handling task config update by restarting tasks {detail}"),
    ("worker_configured", "Handling task config update by stopping tasks {detail}"),
    ("worker_configured", "Tasks {detail} configs updated"),
    ("worker_configured", "Connector {detail} config updated"),
    ("worker_configured", "Connector {detail} config removed"),
    ("worker_step", "Wasn't unable to resume work after last rebalance, {_}"),
    ("worker_step", "Unable to claim write privileges for config topic after being elected leader {_}"),
    ("worker_step", "Failed to write to config topic as leader; will rejoin group if necessary {_}"),
    ("worker_step", "Failed to alter consumer group offsets for connector {_}"),
    ("worker_step", "Failed to reset consumer group offsets for sink connector {_}"),
    ("worker_step", "Failed to retrieve consumer group offsets for sink connector {_}"),
    (
        "config_mismatch",
        "Current config state offset {state_from} does not match group assignment {state_to}. Forcing rebalance.",
    ),
    (
        "config_unread",
        "Current config state offset -1 is behind group assignment {detail}, reading to end of config log",
    ),
    (
        "config_behind",
        "Current config state offset {_} is behind group assignment {_}, reading to end of config log",
    ),
    ("config_behind", "Catching up to assignment's config offset."),
    (
        "config_mismatch",
        "Was selected to perform assignments, but do not have latest config found in sync request. {_}",
    ),
    (
        "worker_cut_off",
        "Broker coordinator was unreachable for {over_ms}ms. Revoking previous assignment {detail}",
    ),
    (
        "connector_unresponsive",
        "Connector '{client}' failed to properly shut down, has become unresponsive{detail}",
    ),
    ("connector_unresponsive", "Graceful stop of task {client} failed[[.]]"),
    ("connector_unresponsive", "Graceful stop of connector {client} failed[[.]]"),
    ("worker_stopping", "Stopping connectors and tasks that are still assigned to this worker."),
    ("worker_step", "Finished stopping tasks in preparation for rebalance"),
    ("worker_step", "Finished flushing status backing store in preparation for rebalance"),
    (
        "worker_step",
        "Wasn't able to resume work after last rebalance, can skip stopping connectors and tasks",
    ),
    ("task_killed", "WorkerSinkTask{id={client}} Task threw an uncaught and unrecoverable exception{detail}"),
    (
        "task_killed",
        "WorkerSinkTask{id={client}} Task is being killed and will not recover until manually restarted{detail}",
    ),
    ("task_killed", "Task {client} threw an uncaught and unrecoverable exception{detail}"),
    (
        "task_killed",
        "WorkerSourceTask{id={client}} Task threw an uncaught and unrecoverable exception{detail}",
    ),
    (
        "task_offsets_foreign",
        "WorkerSinkTask{id={client}} Ignoring invalid task provided offset {topic}/OffsetAndMetadata{_} -- partition not assigned{_}",
    ),
    (
        "task_offsets_foreign",
        "{_}Ignoring invalid task provided offset {topic}/OffsetAndMetadata{_} -- partition not assigned{_}",
    ),
    (
        "worker_step",
        "WorkerSinkTask{id={client}} Ignoring invalid task provided offset {_} -- not yet consumed{_}",
    ),
    ("worker_step", "Unexpectedly ran out of {_} to revoke from worker {_}"),
    ("worker_died", "Uncaught exception in herder work thread, exiting{_}"),
    ("connector_not_started", "Failed to start connector '{client}'[[ {_}]]"),
    # Streams
    (
        "join_refused",
        "stream-thread [{client}] StreamsGroupHeartbeatRequest failed due to group authorization failure: {reason}",
    ),
    *(("streams_step", f"stream-thread [{{client}}] {text}") for text in _STREAMS_STEPS),
    *(
        ("streams_step", text)
        for text in _STREAMS_STEPS
        if "followup rebalance {_}" in text and text[0] != "{"
    ),
    ("streams_step", "stream-client [{client}] Could not remove static member {_} from consumer group {_}"),
    ("streams_step", "Decided on assignment: {detail}"),
    (
        "stream_thread_fenced",
        "stream-thread [{client}] Detected that the thread is being fenced. This implies that this thread missed a rebalance and dropped{_}",
    ),
    (
        "stream_thread_fenced",
        "stream-thread [{client}] Detected task {_} that got migrated to another thread. This implies that this thread missed a rebalance{_}",
    ),
    (
        "stream_thread_failed",
        "stream-thread [{client}] Encountered the following exception during processing and the thread is going to shut down{_}",
    ),
    (
        "stream_thread_failed",
        "stream-thread [{client}] Encountered the following exception during processing and sent shutdown request{_}",
    ),
    ("stream_thread_dead", "stream-client [{client}] All stream threads have died.{_}"),
    ("streams_state", "stream-thread [{client}] State transition from {state_from} to {state_to}[[.]]"),
    ("streams_state", "stream-client [{client}] State transition from {state_from} to {state_to}[[.]]"),
    ("streams_state", "State transition from {state_from} to {state_to}[[.]]"),
    # Spring
    ("java_step", "These offsets could not be committed; partition(s) lost during rebalance: {_}"),
    ("java_step", "Enforced rebalance requested for container: {_}"),
    ("java_step", "{group}: Consumer stopped"),
    ("java_step", "Consumer stopped"),
    ("container_assigned", "{group}: partitions assigned: {partitions}"),
    ("container_revoked", "{group}: partitions revoked: {partitions}"),
    ("container_lost", "{group}: partitions lost: {partitions}"),
    ("container_assigned", "partitions assigned: {partitions}"),
    ("container_revoked", "partitions revoked: {partitions}"),
)

FRAMEWORKS: tuple[Template, ...] = (
    *(Template(event, "java", text) for event, text in _FRAMEWORK_LINES),
    Template(
        "consumer_crashed",
        "java",
        "No offset and no reset policy; stopping container",
        (("reason", "no offset and no reset policy"),),
    ),
    Template("client_instance_fenced", "java", "'group.instance.id' has been fenced"),
)
