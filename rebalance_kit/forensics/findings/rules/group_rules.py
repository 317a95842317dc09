"""Rules about what a coordinator refuses, loses or waits for, and about commits and offsets.

As ``member_rules``, of which this is the second half.
"""

from __future__ import annotations

import re

from rebalance_kit.forensics.findings.rules.rule import LineRule, RebalanceRule, Rule, says
from rebalance_kit.forensics.words import FIRST_ANSWER

_KIP345 = "KIP-345 (static membership)"
_POLL_DOC = "KIP-62; consumer config max.poll.interval.ms"

_UNKNOWN = re.compile(r"unknown[_ ]?member|not known in the current generation", re.IGNORECASE)

_NOT_READY = says(
    *("NotCoordinator", "NOT_COORDINATOR", "not the correct coordinator", "obsolete coordinator"),
    "Broker: Not coordinator",
    *("oordinator is loading", "CoordinatorLoadInProgress", "COORDINATOR_LOAD_IN_PROGRESS"),
    *("CoordinatorNotAvailable", "COORDINATOR_NOT_AVAILABLE", "oordinator is not available"),
)

_OVER = says(
    *("UnknownMember", "UNKNOWN_MEMBER", "IllegalGeneration", "ILLEGAL_GENERATION"),
    *(
        "RebalanceInProgress",
        " CommitFailed",
        ".CommitFailed",
        "not aware of this member",
        "group has already rebalanced",
        "group membership out of date",
    ),
)
#: Errors of a commit that tell nothing of its member.
_UNANSWERED = says("Retriable", "imed out", "imeout", "loading", "transport failure", "isconnect")
_UNDER_WAY = says("undergoing a rebalance")
#: Errors of a commit that other rules tell of.
_KNOWN_OTHERWISE = says(
    *(
        "uthoriz",
        "AUTHORIZ",
        "does not host this topic-partition",
        "UNKNOWN_MEMBER_ID",
        "not part of an active group",
    ),
    *(
        "has already rebalanced",
        "ebalance in progress",
        "REBALANCE_IN_PROGRESS",
        "STALE_MEMBER",
        "stale member",
        "enced",
    ),
)

#: A rebalance that failed in a member's own code, not by an answer of the coordinator.
_FAILED_IN_CODE = re.compile(
    r"rebalance failed due to '.*' \((?!MemberIdRequired|RebalanceInProgress|NotCoordinator|Coordinator|UnknownMember|IllegalGeneration|FencedInstance"
    r"|GroupMaxSize|Inconsistent|InvalidSession|Disconnect|Timeout|Network|Wakeup|Interrupt|UnknownServer|\w*Authoriz|\w*Retriable)\w+Exception\)",
    re.DOTALL,
)

#: Lines of Kafka's own classes about a group.
_OF_KAFKA = re.compile(
    r"\[(?:Consumer|Worker|Schema registry) (?:instanceId|clientId)=|\[Group(?:Coordinator|MetadataManager|Id)\b|stream-thread \["
)

#: A generation from which on a group is said to have been rebalanced all the time.
_MANY = 10_000

GROUP_RULES: tuple[Rule, ...] = (
    LineRule(
        "connect_configs_differ",
        ("config_mismatch",),
        sentence="{who} does not have the configuration that its group's assignment is based on{how}",
        do="Look at config.storage.topic of all workers with this group.id: two Connect clusters that share a group.id with "
        "different config topics, a config topic that was deleted or is compacted wrongly, or one that a worker cannot read.",
        source="Connect: DistributedHerder.handleRebalanceCompleted; WorkerCoordinator",
    ),
    LineRule(
        "instance_id_null",
        ("member_loaded",),
        when=lambda event: "groupInstanceId=Some(null)" in event.text,
        sentence="the coordinator loaded {who} as a static member with no group.instance.id (Some(null)), as brokers before 2.8 do with dynamic members",
        do="Upgrade the brokers to 2.8 or later: after a change of coordinator such a member stays in the group through a rebalance that it "
        "misses, until its session ends. If the client itself sends the text null, give each process a group.instance.id of its own.",
        source="GroupMetadataManager.readGroupMessageValue before KAFKA-10497; KIP-345",
    ),
    LineRule(
        "coordinator_not_loaded",
        ("coordinator_load_failed",),
        sentence="a coordinator could not {how} {detail}",
        do="Read the exception of that line at its broker; move the leader of that partition of __consumer_offsets to another replica, or "
        "restart the broker. Where it could not be loaded, clients of the groups stored there cannot join or commit meanwhile.",
        source="CoordinatorRuntime.CoordinatorContext; GroupMetadataManager.doLoadGroupsAndOffsets",
    ),
    LineRule(
        "coordinator_writes_refused",
        ("coordinator_writes_refused",),
        sentence="a coordinator {how} ({reason})",
        do="Where the broker is not the leader any more the coordinator has moved, and clients look for the new one. Otherwise look at the "
        "replicas of __consumer_offsets (min.insync.replicas) and the disk.",
        source="CoordinatorRuntime; KAFKA-20635",
    ),
    LineRule(
        "offsets_not_appended",
        ("offsets_append_failed",),
        sentence="a broker could not write to __consumer_offsets-{detail}, where groups are stored",
        do="Read the exception below that line. Of too few in-sync replicas: bring the other replicas of __consumer_offsets back, or compare "
        "its min.insync.replicas with its replication factor. A group whose assignment cannot be stored begins its rebalance again.",
        source="ReplicaManager.appendToLocalLog; offsets.topic.replication.factor; min.insync.replicas",
    ),
    LineRule(
        "error_logged",
        ("java_step", "other_step", "broker_line", "broker_step", "worker_step", "streams_step"),
        when=lambda event: event.level == "ERROR" and _OF_KAFKA.search(event.text) is not None,
        sentence="{how}",
        do="Read the lines around it, and the exception below it if there is one: no rule tells what it means for the group.",
        source="the class of Kafka that is named behind the line",
    ),
    LineRule(
        "stream_thread_died",
        ("streams_state", "stream_thread_replaced", "stream_thread_failed", "stream_thread_dead"),
        when=lambda event: event.event != "streams_state" or event.state_to in {"ERROR", "PENDING_ERROR"},
        sentence="{who} {how}",
        do="Look for the exception beside that line. Since 4.0 a thread that is replaced does not leave the group: if it had tasks, nobody takes them over before "
        "session.timeout.ms has passed.",
        source="StreamsUncaughtExceptionHandler; KIP-671; KIP-1092",
    ),
    LineRule(
        "worker_died",
        ("worker_died",),
        sentence="the herder thread of {who} met an exception that nothing caught, and exits",
        do="Read the exception below that line, mend its cause and start the worker again. If it was in a group and ran "
        "connectors or tasks, these may stand still until scheduled.rebalance.max.delay.ms has passed.",
        source="Connect: DistributedHerder.run",
    ),
    LineRule(
        "connector_not_started",
        ("connector_not_started",),
        sentence="connector {who} could not be started",
        do="Read the exception below that line; if the configuration is wrong, correct it. That alone is no rebalance of the workers.",
        source="Connect: DistributedHerder.startConnector",
    ),
    LineRule(
        "offsets_of_others",
        ("task_offsets_foreign",),
        sentence="{who} offers offsets of {topic}, which is not assigned to it: they are not committed",
        do="Once, after a rebalance, it is harmless. Again and again: perhaps the task keeps offsets of partitions that it gave up (it must drop them in "
        "close()), or a transformation renames the topic (preCommit needs the original one).",
        source="Connect: WorkerSinkTask.commitOffsets",
    ),
    LineRule(
        "partition_not_owned",
        ("partition_foreign",),
        sentence="{who} touched a partition that it does not own (any more)",
        do="Drop what is kept per partition (positions, buffers, seeks) in the callback that revokes, and look up the assignment before a seek.",
        source="SubscriptionState.assignedState; KIP-429",
    ),
    LineRule(
        "task_failed",
        ("task_killed",),
        sentence="task {who} failed with an exception; until it is restarted it does no work",
        do="Read the exception below that line, mend its cause (often a record: errors.tolerance, a dead letter queue), then restart the "
        "task: POST /connectors/NAME/tasks/N/restart. When a sink's task fails, its consumer leaves its group.",
        source="Connect: WorkerTask.doRun; KIP-298",
    ),
    LineRule(
        "config_unread",
        ("config_unread",),
        sentence="{who} had read nothing of its config topic when the group's assignment was based on it (offset {detail}, the first time)",
        do="Harmless while a worker starts. Where the offset stays -1 compare config.storage.topic and the clusters of all workers with "
        "this group.id: its config topic may be empty, or another one than theirs.",
        source="Connect: DistributedHerder.handleRebalanceCompleted",
    ),
    LineRule(
        "many_generations",
        ("stabilized", "member_loaded", "preparing", "joined", "worker_joined", "other_joined", "other_step"),
        when=lambda event: (event.generation or 0) >= _MANY,
        sentence="the group is at generation {generation}: it has been rebalanced that often since its generations began",
        do="See whether it goes on: two describes of the group a minute apart. Look for members that join anew all the time "
        "(ids that are not kept, restarts, two clusters of workers in one group).",
        source="ClassicGroup.initNextGeneration",
    ),
    LineRule(
        "connector_unresponsive",
        ("connector_unresponsive",),
        sentence="{who} did not stop in time when its worker told it to",
        do="If it goes on reading or writing beside a successor, restart that worker. Look for what its stop() waits for (a poll or a put that hangs), and compare with "
        "task.shutdown.graceful.timeout.ms.",
        source="Connect: WorkerConnector.awaitShutdown; Worker.awaitStopTask",
    ),
    LineRule(
        "share_group",
        ("share_step",),
        sentence="{who} is a share consumer: members of a share group read the same partitions, and nothing is said here of its assignment",
        do="Use kafka-share-groups.sh --describe; share groups are neither followed nor simulated by the kit.",
        source="KIP-932",
    ),
    LineRule(
        "worker_cut_off",
        ("worker_cut_off",),
        sentence="{who} could not reach its coordinator for {over_ms} ms and gives up its assignment",
        do="Look at the broker and the network; what the worker ran stands still until it has joined again.",
        source="Connect: WorkerCoordinator.poll; scheduled.rebalance.max.delay.ms",
    ),
    LineRule(
        "client_lost_session",
        (
            *("other_session_expired", "other_unknown_member", "other_rebalancing", "other_join_failed"),
            *("other_lost", "rd_heartbeat_error"),
        ),
        when=lambda event: (
            event.event in {"other_session_expired", "other_unknown_member"}
            or _UNKNOWN.search(event.reason or "") is not None
        ),
        sentence="{who} {how}",
        do="Look at what it did before: clients that heartbeat from their own processing loop (kafkajs, older kafka-python, "
        "ruby-kafka) lose their session in a long handler; otherwise at the broker and the network.",
        source="session.timeout.ms of that client",
    ),
    LineRule(
        "coordinator_changed",
        ("rd_coordinator",),
        when=lambda event: (event.state_from or "").isdigit() and event.state_to != "-1",
        sentence="{who} went from one coordinator to another (broker {state_from} to {state_to})",
        do="Expected after a broker restart, or when the partition of __consumer_offsets in which the group is stored gets another leader. Look at the brokers where it repeats.",
        source="NOT_COORDINATOR; rdkafka_cgrp.c",
    ),
    LineRule(
        "coordinator_not_ready",
        (
            *(
                "rejoin_requested",
                "join_retried",
                "commit_failed",
                "auto_commit_failed",
                "other_commit_failed",
            ),
            "other_no_coordinator",
            "rd_heartbeat_error",
        ),
        when=lambda event: event.event == "other_no_coordinator" or _NOT_READY(event),
        sentence="{who} {how}: {reason}{again}",
        do="Expected for seconds after a broker restart, or when a leader of __consumer_offsets moves: clients look for the coordinator again. "
        "A host that cannot be resolved is one of advertised.listeners. "
        "Look at the brokers where it goes on for longer.",
        source="NOT_COORDINATOR; COORDINATOR_LOAD_IN_PROGRESS",
    ),
    LineRule(
        "heartbeats_unanswered",
        ("coordinator_lost",),
        when=lambda event: (event.cause or "").startswith("session timed out"),
        sentence="{who} got no answer to its heartbeats for a whole session and gave its coordinator{where} up",
        do="Look at the client and its broker: a broker that is overloaded or gone, a network that drops packets, a process that was frozen.",
        source="AbstractCoordinator.HeartbeatThread; session.timeout.ms",
    ),
    LineRule(
        "client_join_failed",
        ("other_join_failed",),
        forgiven=3,
        when=lambda event: (
            _UNKNOWN.search(event.reason or "") is None and not FIRST_ANSWER.search(event.reason or "")
        ),
        sentence="{who} tried to join its group and failed ({reason})",
        do="Read the error. Of a timeout: the coordinator answers a JoinGroup when all members have come, which may take as long as the longest "
        "poll or rebalance timeout in the group. Of a connection: look at the broker and the network. Of the client's own code: look at its configuration.",
        source="JoinGroup: rebalance timeout",
    ),
    LineRule(
        "client_commit_refused",
        ("other_commit_failed",),
        when=lambda event: _OVER(event) and not _UNDER_WAY(event),
        sentence="{who} was refused a commit{how}",
        do="The records of that commit may come twice. Look whether the group went on without it, or it had given its partitions up before it committed, and at what it did just before.",
        source="UNKNOWN_MEMBER_ID; ILLEGAL_GENERATION",
    ),
    LineRule(
        "commit_unanswered",
        ("other_commit_failed", "commit_failed", "auto_commit_failed"),
        when=lambda event: _UNANSWERED(event) and not _OVER(event) and not _UNDER_WAY(event),
        sentence="{who} could not commit its offsets ({reason}); that says nothing of its membership",
        do="Look at the coordinator's broker and the network. If no later commit succeeds before the client stops, what it read since its "
        "last one is read twice.",
        source="RetriableCommitFailedException",
    ),
    LineRule(
        "commit_error",
        ("other_commit_failed", "commit_failed", "auto_commit_failed"),
        when=lambda event: (
            (bool(event.reason) or event.event == "commit_failed")
            and not any(
                known(event) for known in (_OVER, _UNDER_WAY, _UNANSWERED, _NOT_READY, _KNOWN_OTHERWISE)
            )
        ),
        sentence="{who} could not commit its offsets: {reason}",
        do="Look up the error. What it read since its last commit is read twice if it stops before one succeeds.",
        source="OffsetCommit",
    ),
    LineRule(
        "client_poll_timeout",
        ("other_poll_timeout",),
        sentence="{who} did not poll within its limit{how}",
        do="Do less between two calls of poll(), or raise the limit above the slowest batch.",
        source=_POLL_DOC,
    ),
    LineRule(
        "subscription_abandoned",
        ("subscription_abandoned",),
        sentence="{who} took longer than Consumer.MaxProcessingTime over a record: sarama gave its subscription to {topic} up, "
        "which alone is no rebalance",
        do="Raise Consumer.MaxProcessingTime above the slowest record, or hand slow work to other goroutines.",
        source="sarama: partitionConsumer.responseFeeder",
    ),
    LineRule(
        "subscription_empty",
        ("subscription_empty",),
        sentence="{who} subscribes to topics that it does not see",
        do="Compare the names with kafka-topics.sh --list, and its rights (DESCRIBE on the topics); a pattern finds a new topic with the next "
        "refresh of the metadata (metadata.max.age.ms, topic.metadata.refresh.interval.ms).",
        source="UNKNOWN_TOPIC_OR_PARTITION; librdkafka rd_kafka_cgrp_metadata_update_check",
    ),
    LineRule(
        "ghost_member_id",
        ("pending_failed",),
        sentence="the coordinator had handed out {who}, a member id with which nobody joined, and removed it when its session was over",
        do=(
            "Perhaps the client asked twice for an id and used the second only (a lost answer, or a librdkafka of 2026 after a "
            "coordinator change): update the client. A join phase waits for such an id; a shorter session shortens that."
        ),
        source="KIP-394 (MEMBER_ID_REQUIRED); confluentinc/librdkafka#5569",
    ),
    LineRule(
        "silent_member",
        ("not_rejoined",),
        sentence="the coordinator removed members that had not joined when its rebalance went on: {detail}",
        do="A member that sends heartbeats and does not poll is waited for, up to the largest max.poll.interval.ms of the group. Poll always (also while paused) "
        "or close what is idle.",
        source=f"{_POLL_DOC}; ClassicGroup",
    ),
    LineRule(
        "silent_leader",
        ("leader_replaced",),
        sentence="the group's leader did not come back in time and another member ({who}) had to lead",
        do="If the old leader still runs, take a thread dump of it: heartbeats go on where a polling thread hangs.",
        source="ClassicGroup.maybeElectNewJoinedLeader",
    ),
    LineRule(
        "nobody_rejoined",
        ("nobody_rejoined",),
        sentence="the coordinator could not complete a rebalance, because no member came back for it",
        do="Static members stay in a group to which they do not come back: look at what they have in common (a shared dependency, a deployment).",
        source="GroupMetadataManager.completeClassicGroupJoin",
    ),
    LineRule(
        "forgotten_members",
        ("empty_assignments",),
        sentence="the leader left members out of its assignment, so they got nothing: {detail}",
        do="Look at the assignor that the leader ran: a custom one, or mixed clients.",
        source="GroupMetadataManager.classicGroupSync",
    ),
    RebalanceRule(
        "assignment_never_fetched",
        lambda row: row.trigger == "sync_timeout",
        sentence="{who} joined but never asked for its assignment (SyncGroup) and was removed",
        do="If it still runs, take a thread dump: its polling thread may hang between the two requests. Brokers before 2.8.1 wait for ever.",
        source="KAFKA-12890; AbstractCoordinator",
    ),
    RebalanceRule(
        "offsets_topic_ailing",
        lambda row: row.trigger == "store_failed",
        sentence="the coordinator could not write the assignment to __consumer_offsets and began again{where}",
        do=(
            "NOT_COORDINATOR and NOT_LEADER: the leader of that partition has moved, and the group goes on at another broker. Otherwise repair "
            "the topic, not the consumers: its partition may be under min.insync.replicas. Replication factor 3 for __consumer_offsets."
        ),
        source="offsets.topic.replication.factor; GroupMetadataManager.classicGroupSyncToStable",
    ),
    LineRule(
        "assignment_failed",
        ("rejoin_requested",),
        when=lambda event: _FAILED_IN_CODE.search(event.reason or "") is not None,
        sentence="a rebalance failed in {who}: {how}",
        do="Mend what the exception names. If it was thrown where the leader computes the assignment, nobody is given anything until that succeeds; Kafka "
        "Streams may shut the client down.",
        source="ConsumerCoordinator.onLeaderElected; AbstractCoordinator.joinGroupIfNeeded",
    ),
    LineRule(
        "assignor_failed",
        ("target_failed",),
        sentence="the coordinator could not compute an assignment: {reason}",
        do="Members go on with what they have. Look at a custom server-side assignor, or change group.remote.assignor.",
        source="KIP-848; PartitionAssignorException",
    ),
    RebalanceRule(
        "group_over_capacity",
        lambda row: row.trigger == "over_capacity",
        sentence="the group was larger than group.max.size when its coordinator loaded it, so it was made to rebalance",
        do="Raise group.max.size above the largest surge of a deployment.",
        source="KIP-389; group.max.size",
    ),
    LineRule(
        "group_full",
        ("join_refused",),
        when=says("max size", "GROUP_MAX_SIZE"),
        sentence="{who} was refused: the group already has group.max.size members",
        do="Raise group.max.size above the number of members plus the surge of a deployment.",
        source="KIP-389; GROUP_MAX_SIZE_REACHED",
    ),
    LineRule(
        "session_out_of_range",
        ("join_refused",),
        when=says("session timeout is not within", "INVALID_SESSION_TIMEOUT"),
        sentence="{who} was refused: its session.timeout.ms is outside of what the broker allows",
        do="Keep it between group.min.session.timeout.ms (6 s) and group.max.session.timeout.ms (30 min).",
        source="INVALID_SESSION_TIMEOUT; group.min.session.timeout.ms",
    ),
    LineRule(
        "not_authorised",
        ("join_refused", "commit_failed", "auto_commit_failed", "other_commit_failed"),
        when=says("uthoriz", "AUTHORIZ"),
        sentence="{who} was refused: it has no right to use {how}",
        do="Grant READ on the group and on its topics (and DESCRIBE, without which a pattern matches nothing).",
        source="GROUP_AUTHORIZATION_FAILED; Kafka documentation, Authorization and ACLs",
    ),
    LineRule(
        "migration_refused",
        ("upgrade_refused", "downgrade_refused"),
        sentence="the coordinator refused to change the group's protocol: {reason}",
        do=(
            "Set group.consumer.migration.policy on the brokers (disabled by default before 4.0), drop custom assignors "
            "first, or stop all members and start them anew."
        ),
        source="KIP-848; group.consumer.migration.policy",
    ),
    LineRule(
        "instance_id_shared",
        ("instance_fenced",),
        sentence="the coordinator refused a request with group.instance.id {instance}: its member id is not the one that has it now",
        do="A process that was replaced may have sent it. If two go on side by side, give each its own group.instance.id; look for two replicas with one configuration.",
        source=f"{_KIP345}; FENCED_INSTANCE_ID",
    ),
    RebalanceRule(
        "died_without_goodbye",
        lambda row: row.fate == "restarted",
        sentence="{who} ended and was started again without having left the group: its old member id stayed until its session was over",
        do=(
            "Let the process close its consumer on SIGTERM (wakeup, then close), and give it the time; or use static "
            "membership with a session longer than a restart."
        ),
        source="KafkaConsumer.close; KIP-345",
    ),
    RebalanceRule(
        "static_member_stayed_away",
        lambda row: row.fate == "closed",
        sentence="{who} closed and did not return before its session was over",
        do=(
            "Until its session is over a static member keeps its partitions. One that stops for good is removed at once by AdminClient.removeMembersFromConsumerGroup; "
            "a session slightly longer than the slowest restart bounds the rest."
        ),
        source=_KIP345,
    ),
    RebalanceRule(
        "metadata_not_whole",
        lambda row: row.trigger == "metadata_changed" and "a broker was starting" in row.cause,
        sentence="{who} led a rebalance because its view of the topics changed while a broker was starting; no line tells that a topic was changed",
        do="Harmless, but it stops an eager group: clients with client.rack before 4.4 do so at every broker restart.",
        source="KAFKA-20778; ConsumerCoordinator.MetadataSnapshot",
    ),
    LineRule(
        "stale_epoch_commit",
        ("commit_stale",),
        sentence="{who} committed with a member epoch that was over; the commit was refused",
        do="Treat it as retriable: a later commit carries the offsets too. Brokers from 4.3 accept it.",
        source="KIP-848; KIP-1251; STALE_MEMBER_EPOCH",
    ),
    LineRule(
        "commit_during_rebalance",
        ("commit_failed", "auto_commit_failed", "other_commit_failed"),
        when=_UNDER_WAY,
        sentence="{who} tried to commit while its group was rebalancing; the commit failed",
        do="Retriable: call poll() and commit again. Never restart a process for it, that is another rebalance.",
        source="RebalanceInProgressException; KIP-429",
    ),
    LineRule(
        "assignment_lost",
        ("given_away", "lost"),
        when=lambda event: event.event == "given_away" or bool(event.partitions),
        sentence="{who} lost its partitions without being asked to give them up: others may have read them already",
        do="Implement onPartitionsLost: drop the work in hand and commit nothing (its default calls onPartitionsRevoked).",
        source="ConsumerRebalanceListener.onPartitionsLost; KIP-429",
    ),
    LineRule(
        "pause_forgotten",
        ("pause_dropped",),
        sentence="the rebalance removed the pause that {who} had put on partitions {partitions}",
        do="Pause belongs to an assignment: pause again in onPartitionsAssigned, from your own book of what is paused.",
        source="KafkaConsumer.pause; ConsumerRebalanceListenerInvoker",
    ),
    LineRule(
        "offset_out_of_range",
        ("offset_out_of_range",),
        sentence="{who} stood at an offset of {topic} that does not exist (any more): {detail}",
        do=(
            "Perhaps retention overtook a slow or stopped consumer, or the topic was deleted and made again: compare committed "
            "offsets with the log's start; stop a group before its topic is recreated."
        ),
        source="auto.offset.reset; OffsetOutOfRangeException",
    ),
    LineRule(
        "network_thread_failed",
        ("network_thread_failed",),
        sentence="the network thread of {who}, which heartbeats under KIP-848, met an error that Kafka did not expect",
        do="Read the exception below that line. The thread goes on with its loop, but what it was doing was not done: "
        "where heartbeats fail again and again, the session ends.",
        source="ConsumerNetworkThread.run; KIP-848",
    ),
    LineRule(
        "poll_overrun",
        ("poll_late",),
        sentence="{who} called poll() about {over_ms} ms too late",
        do="That figure is what the limit lacks: make batches smaller by as much, or raise max.poll.interval.ms above it.",
        source=_POLL_DOC,
    ),
    LineRule(
        "rebalance_unattended",
        ("rd_session_timeout",),
        when=lambda event: "ebalance in progress" in (event.reason or ""),
        sentence="{who} (librdkafka) was told of a rebalance, had no successful answer for {over_ms} ms, and its session ended",
        do="The coordinator answered, so look at the application first: it must call poll() (consume) while it works, within the session as long as a "
        "rebalance waits. Shorter batches, or work in another thread with the partitions paused.",
        source="librdkafka: rdkafka_cgrp.c; session.timeout.ms",
    ),
    LineRule(
        "sync_refused",
        ("rd_sync_failed",),
        when=lambda event: "rebalance in progress" not in (event.reason or ""),
        sentence="{who} was refused its assignment ({reason}) and joins again",
        do="Look at the coordinator's log at that moment: where that repeats, the group does not settle. An assignment that is larger than a record of __consumer_offsets may be "
        "(message.max.bytes, offsets.topic segment) is refused with an unknown error: fewer partitions per group, or a larger limit.",
        source="SyncGroup; librdkafka rd_kafka_cgrp_handle_SyncGroup",
    ),
    LineRule(
        "native_session_lost",
        ("rd_session_timeout",),
        when=lambda event: "ebalance in progress" not in (event.reason or ""),
        sentence="{who} (librdkafka) had no successful answer from the coordinator{where} for {over_ms} ms, and its session ended",
        do="Was the process or its machine frozen? Several clients at the same moment may say so; one alone: look at the broker and the network.",
        source="librdkafka: session.timeout.ms; rdkafka_cgrp.c",
    ),
)
