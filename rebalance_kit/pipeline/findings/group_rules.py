"""Rules about what a coordinator refuses, loses or waits for, and about commits and offsets.

As ``finding_rules``, of which this is the second half.
"""

from __future__ import annotations

from rebalance_kit.pipeline.findings.rule import Rule

_KIP345 = "KIP-345 (static membership)"
_POLL_DOC = "KIP-62; consumer config max.poll.interval.ms"

GROUP_RULES: tuple[Rule, ...] = (
    Rule(
        "ghost_member_id",
        "events",
        "event = 'pending_failed'",
        "the join phase waited a whole session for {who}, a member id that had been handed out and was never used",
        "The client asked twice for an id and used the second only (a lost answer, or a librdkafka of 2026 after a "
        "coordinator change): update the client; a shorter session shortens the wait.",
        "KIP-394 (MEMBER_ID_REQUIRED); confluentinc/librdkafka#5569",
    ),
    Rule(
        "silent_member",
        "events",
        "event = 'not_rejoined'",
        "everybody waited for members that sent heartbeats but did not poll; the coordinator went on without them: {detail}",
        "Poll always (also while paused) or close what is idle; the wait is the largest max.poll.interval.ms of the group.",
        f"{_POLL_DOC}; ClassicGroup",
    ),
    Rule(
        "silent_leader",
        "events",
        "event = 'leader_replaced'",
        "the group's leader did not come back in time and another member ({who}) had to lead",
        "Take a thread dump of the old leader: heartbeats go on while its polling thread hangs.",
        "ClassicGroup.maybeElectNewJoinedLeader",
    ),
    Rule(
        "nobody_rejoined",
        "events",
        "event = 'nobody_rejoined'",
        "not one member came back for the rebalance within the largest max.poll.interval.ms",
        "All are static and silent: look at what they have in common (a shared dependency, a deployment).",
        "GroupMetadataManager.completeClassicGroupJoin",
    ),
    Rule(
        "forgotten_members",
        "events",
        "event = 'empty_assignments'",
        "the leader left members out of its assignment, so they got nothing: {detail}",
        "The assignor that the leader ran does not treat all members: look at a custom assignor, or at mixed clients.",
        "GroupMetadataManager.classicGroupSync",
    ),
    Rule(
        "assignment_never_fetched",
        "rebalances",
        "trigger = 'sync_timeout'",
        "{who} joined but never asked for its assignment (SyncGroup) and was removed",
        "Its polling thread hangs between the two requests: take a thread dump; brokers before 2.8.1 wait for ever.",
        "KAFKA-12890; AbstractCoordinator",
    ),
    Rule(
        "offsets_topic_ailing",
        "rebalances",
        "trigger = 'store_failed'",
        "the coordinator could not write the assignment to __consumer_offsets and began again ({said})",
        "Repair the topic, not the consumers: its partition is under min.insync.replicas or its leader is gone. "
        "Replication factor 3 for __consumer_offsets.",
        "offsets.topic.replication.factor; GroupMetadataManager.classicGroupSyncToStable",
    ),
    Rule(
        "assignor_failed",
        "events",
        "event = 'target_failed'",
        "the coordinator could not compute an assignment: {reason}",
        "Members go on with what they have. Look at a custom server-side assignor, or change group.remote.assignor.",
        "KIP-848; PartitionAssignorException",
    ),
    Rule(
        "group_over_capacity",
        "rebalances",
        "trigger = 'over_capacity'",
        "the group was larger than group.max.size when its coordinator loaded it, so it was made to rebalance",
        "Raise group.max.size above the largest surge of a deployment.",
        "KIP-389; group.max.size",
    ),
    Rule(
        "group_full",
        "events",
        "event = 'join_refused' and reason like '%max size%'",
        "{who} was refused: the group already has group.max.size members",
        "Raise group.max.size above the number of members plus the surge of a deployment.",
        "KIP-389; GROUP_MAX_SIZE_REACHED",
    ),
    Rule(
        "session_out_of_range",
        "events",
        "event = 'join_refused' and reason like '%session timeout is not within%'",
        "{who} was refused: its session.timeout.ms is outside of what the broker allows",
        "Keep it between group.min.session.timeout.ms (6 s) and group.max.session.timeout.ms (30 min).",
        "INVALID_SESSION_TIMEOUT; group.min.session.timeout.ms",
    ),
    Rule(
        "not_authorised",
        "events",
        "event = 'join_refused' and reason like '%uthoriz%'",
        "{who} was refused: it has no right to use this group",
        "Grant READ on the group and on its topics (and DESCRIBE, without which a pattern matches nothing).",
        "GROUP_AUTHORIZATION_FAILED; Kafka documentation, Authorization and ACLs",
    ),
    Rule(
        "migration_refused",
        "events",
        "event in ('upgrade_refused', 'downgrade_refused')",
        "the coordinator refused to change the group's protocol: {reason}",
        "Set group.consumer.migration.policy on the brokers (disabled by default before 4.0), drop custom assignors "
        "first, or stop all members and start them anew.",
        "KIP-848; group.consumer.migration.policy",
    ),
    Rule(
        "instance_id_shared",
        "events",
        "event = 'instance_fenced'",
        "a process went on using group.instance.id {instance} after another one had taken it over: two processes share it",
        "Give every process its own group.instance.id; look for two replicas with one configuration.",
        f"{_KIP345}; FENCED_INSTANCE_ID",
    ),
    Rule(
        "died_without_goodbye",
        "rebalances",
        "fate = 'restarted'",
        "{who} was killed and started again without having left: its old partitions waited for the session to end",
        "Let the process close its consumer on SIGTERM (wakeup, then close), and give it the time; or use static "
        "membership with a session longer than a restart.",
        "KafkaConsumer.close; KIP-345",
    ),
    Rule(
        "static_member_stayed_away",
        "rebalances",
        "fate = 'closed'",
        "{who} closed and did not return within its session: nobody read its partitions until then",
        "A static member that stops for good is removed at once by AdminClient.removeMembersFromConsumerGroup; "
        "a session slightly longer than the slowest restart bounds the rest.",
        _KIP345,
    ),
    Rule(
        "metadata_not_whole",
        "rebalances",
        "trigger = 'metadata_changed' and cause like '%a broker was starting%'",
        "{who} led a rebalance because its view of the topics changed while a broker was starting; no topic had changed",
        "Harmless, but it stops an eager group: clients with client.rack before 4.4 do so at every broker restart.",
        "KAFKA-20778; ConsumerCoordinator.MetadataSnapshot",
    ),
    Rule(
        "stale_epoch_commit",
        "events",
        "event = 'commit_stale'",
        "{who} committed with a member epoch that had just moved on; the commit was refused ({n} time(s))",
        "The next commit carries the offsets: treat it as retriable, lose nothing. Brokers from 4.3 accept it.",
        "KIP-848; KIP-1251; STALE_MEMBER_EPOCH",
    ),
    Rule(
        "commit_during_rebalance",
        "events",
        "event in ('commit_failed', 'auto_commit_failed') and reason like '%undergoing a rebalance%'",
        "{who} tried to commit while its group was rebalancing; the commit waits until that is over ({n} time(s))",
        "Retriable: call poll() and commit again. Never restart a process for it, that is another rebalance.",
        "RebalanceInProgressException; KIP-429",
    ),
    Rule(
        "assignment_lost",
        "events",
        "event = 'given_away' or (event = 'lost' and size(partitions) > 0)",
        "{who} lost its partitions without being asked to give them up: others may have read them already",
        "Implement onPartitionsLost: drop what is in work and commit nothing (its default calls onPartitionsRevoked).",
        "ConsumerRebalanceListener.onPartitionsLost; KIP-429",
    ),
    Rule(
        "pause_forgotten",
        "events",
        "event = 'pause_dropped'",
        "the rebalance removed the pause that {who} had put on partitions {partitions}",
        "Pause belongs to an assignment: pause again in onPartitionsAssigned, from your own book of what is paused.",
        "KafkaConsumer.pause; ConsumerRebalanceListenerInvoker",
    ),
    Rule(
        "offset_out_of_range",
        "events",
        "event = 'offset_out_of_range'",
        "{who} stood at an offset of {topic} that does not exist (any more): it jumped to where auto.offset.reset points",
        "Retention overtook a slow or stopped consumer, or the topic was deleted and made again: compare committed "
        "offsets with the log's start; stop a group before its topic is recreated.",
        "auto.offset.reset; OffsetOutOfRangeException",
    ),
    Rule(
        "poll_overrun",
        "events",
        "event = 'poll_late'",
        "{who} called poll() {over_ms} ms too late; until then its partitions were read by nobody or by others",
        "That figure is what the limit lacks: make batches smaller by as much, or raise max.poll.interval.ms above it.",
        _POLL_DOC,
    ),
    Rule(
        "native_session_lost",
        "events",
        "event = 'rd_session_timeout'",
        "{who} (librdkafka) heard nothing from the coordinator for a session and gave its partitions up by itself",
        "Look at the broker and the network first; librdkafka revokes at once, the Java client goes on.",
        "librdkafka: session.timeout.ms; rdkafka_cgrp.c",
    ),
)
