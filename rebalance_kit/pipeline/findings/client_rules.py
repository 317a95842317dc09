"""What deserves a sentence: one rule a kind of finding, as data (see ``rule``).

Findings that need more than one line are made in ``findings`` and ``finding_steps``.
"""

from __future__ import annotations

from rebalance_kit.pipeline.findings.group_rules import GROUP_RULES
from rebalance_kit.pipeline.findings.rule import Rule

_POLL_DOC = "KIP-62; consumer config max.poll.interval.ms"
_STATIC_DOC = "KIP-345 (static membership)"
_KIP848 = "KIP-848"

_MEMBER_RULES: tuple[Rule, ...] = (
    Rule(
        "poll_timeout_exceeded",
        "events",
        "event in ('poll_timeout', 'rd_poll_timeout')",
        "{who} let more than max.poll.interval.ms pass between two calls of poll() and left the group by itself",
        "Make a batch smaller (max.poll.records) or hand slow work to other threads with the partitions unread; "
        "raise max.poll.interval.ms above the worst batch. The session timeout has nothing to do with it.",
        _POLL_DOC,
    ),
    Rule(
        "session_expired",
        "events",
        "event in ('member_failed', 'session_expired')",
        "the coordinator heard no heartbeat from {who} for a whole session and removed it",
        "Find out why the process stopped (killed, out of memory, long pause, network); its partitions rested until then. "
        "A shorter session finds it sooner and raises more false alarms.",
        "consumer config session.timeout.ms (classic), group.consumer.session.timeout.ms (KIP-848)",
    ),
    Rule(
        "member_frozen",
        "rebalances",
        "fate = 'frozen'",
        "{who} was removed as dead while its process lived: it was silent and came back as a zombie",
        "Look for long garbage collections, CPU throttling, a suspended machine or a broken network; make processing "
        "idempotent, since what it had read and not committed was read again.",
        "KIP-62",
    ),
    Rule(
        "zombie_commit",
        "events",
        "event in ('commit_failed', 'auto_commit_failed') and "
        "(reason like '%not aware of this member%' or reason like '%UNKNOWN_MEMBER_ID%' "
        "or reason like '%not part of an active group%' or reason like '%has already rebalanced%')",
        "{who} tried to commit after it had been removed from the group or its generation was over; the commit was refused",
        "Expect the records since its last accepted commit twice; do not commit in onPartitionsLost.",
        "KIP-429; ConsumerRebalanceListener",
    ),
    Rule(
        "instance_id_refused",
        "events",
        "event = 'client_instance_refused' or (event = 'instance_refused')",
        "{who} uses group.instance.id {instance}, which a living member owns: it was refused and stopped",
        "Give every process its own group.instance.id. Under the consumer protocol the newcomer is refused, "
        "under the classic one the older member is fenced.",
        f"{_STATIC_DOC}; {_KIP848} UNRELEASED_INSTANCE_ID",
    ),
    Rule(
        "instance_id_fenced",
        "events",
        "event = 'client_instance_fenced'",
        "{who} was fenced: another process came with the same group.instance.id {instance} and took its place",
        "Give every process its own group.instance.id; look for two replicas with one configuration.",
        f"{_STATIC_DOC}; FENCED_INSTANCE_ID",
    ),
    Rule(
        "protocol_refused",
        "events",
        "event = 'join_refused' and reason like '%protocols are incompatible%'",
        "{who} could not join: it supports no assignor that all members of the group support",
        "Change assignors in two rolling bounces: first list the new one beside the old, then drop the old.",
        "KIP-429 (upgrade path); INCONSISTENT_GROUP_PROTOCOL",
    ),
    Rule(
        "join_refused",
        "events",
        "event = 'join_refused' and not coalesce(reason like '%protocols are incompatible%' or reason like '%max size%' "
        "or reason like '%session timeout is not within%' or reason like '%uthoriz%', false)",
        "{who} could not join the group: {reason}",
        "The error is final for that consumer: correct its configuration or its rights and start it again.",
        "AbstractCoordinator.JoinGroupResponseHandler",
    ),
    Rule(
        "strategy_refused",
        "events",
        "event = 'rd_strategy_refused'",
        "{who} did not start: librdkafka refuses a list that mixes eager and cooperative assignors ({detail})",
        "librdkafka has no online way from eager to cooperative: stop all members, or use a new group.id, or move to "
        "group.protocol=consumer.",
        "librdkafka CONFIGURATION: partition.assignment.strategy",
    ),
    Rule(
        "wrong_callback",
        "events",
        "event = 'rd_wrong_call'",
        "{who} answered a cooperative rebalance with assign()/unassign(): the call failed, it reads nothing and holds the group",
        "Ask rebalance_protocol() in the callback: COOPERATIVE needs incremental_assign/incremental_unassign "
        "(always so under group.protocol=consumer), EAGER needs assign/unassign. Or register no callback.",
        "librdkafka INTRODUCTION: rebalance callback",
    ),
    Rule(
        "reconciliation_stuck",
        "events",
        "event = 'rd_postponed'",
        "{who} did not finish the assignment it was told ({n} heartbeats later it still had not)",
        "Look at its rebalance callback: it must make the incremental (un)assign call and return.",
        _KIP848,
    ),
    Rule(
        "coordinator_error",
        "events",
        "event = 'operation_failed' or event = 'heartbeat_error'",
        "the coordinator met an unexpected error ({reason}); the client concerned stops with UNKNOWN_SERVER_ERROR",
        "A consumer-protocol member that joins a classic group before its first generation is done triggers this in "
        "Kafka 4.x: start it again once the group is stable, and look for a fixed release.",
        "ConsumerGroup.fromClassicGroup",
    ),
    Rule(
        "fatal_error",
        "events",
        "event = 'fatal'",
        "{who} stopped for good after a fatal error",
        "Restart it after the cause is gone; alert on this line, a consumer in this state looks alive.",
        "ConsumerMembershipManager",
    ),
    Rule(
        "member_fenced",
        "events",
        "event in ('heartbeat_fenced', 'heartbeat_unknown', 'heartbeat_failed')",
        "{who} learnt from its heartbeat that it is no member any more ({reason}); what it owned is lost to it",
        "Treat onPartitionsLost as: drop what is in work, commit nothing; look for what kept it from its heartbeats.",
        "KIP-429; KIP-848",
    ),
    Rule(
        "coordinator_lost",
        "events",
        "event = 'coordinator_lost' and coalesce(cause, '') not like 'session timed out%'",
        "{who} lost its coordinator ({cause}) and looked for it again; that alone is no rebalance",
        "Look at the broker: restart, overload or network. Members keep their partitions meanwhile.",
        "AbstractCoordinator.markCoordinatorUnknown",
    ),
    Rule(
        "coordinator_moved",
        "events",
        "event = 'loaded'",
        "a coordinator that had just taken the group over loaded it, {n} time(s)",
        "Expected after a broker restart or a leader election; sessions start anew, and nobody is expelled for it.",
        "GroupMetadataManager.onLoaded",
    ),
    Rule(
        "deleted_topic_commit",
        "events",
        "event = 'commit_failed' and (reason like '%does not host this topic-partition%')",
        "{who} tried {n} times to commit offsets of a topic that is gone; until that gives up, the rebalance cannot begin",
        "Unsubscribe before a topic is deleted, or close the members first: an eager member stands still meanwhile.",
        "ConsumerCoordinator.onJoinPrepare",
    ),
    Rule(
        "sync_race",
        "events",
        "event = 'sync_failed'",
        "{who} asked for its assignment too late: the group had begun another rebalance",
        "Harmless once; often a sign of rebalances that chase each other.",
        "AbstractCoordinator.SyncGroupResponseHandler",
    ),
    Rule(
        "transition_timeout",
        "events",
        "event = 'transition_expired'",
        "{who} did not give up revoked partitions in time and was removed",
        "Shorten its revoke callback; the limit is max.poll.interval.ms.",
        _KIP848,
    ),
    Rule(
        "static_return",
        "events",
        "event in ('static_replaced', 'static_rejoins')",
        "static member {instance} came back within its session: no rebalance was needed",
        "Nothing to do: this is what static membership is for (unless two processes share the id).",
        _STATIC_DOC,
    ),
    Rule(
        "group_upgraded",
        "events",
        "event = 'upgraded'",
        "the group moved from the classic to the consumer protocol while running",
        "Expected in an online migration (group.consumer.migration.policy).",
        f"{_KIP848}: online migration",
    ),
    Rule(
        "group_downgraded",
        "events",
        "event = 'downgraded'",
        "the group fell back to the classic protocol when its last consumer-protocol member had gone",
        "Unwanted? Keep one member on the consumer protocol, or set group.consumer.migration.policy=upgrade.",
        f"{_KIP848}: online migration",
    ),
    Rule(
        "leave_timed_out",
        "events",
        "event in ('leave_timed_out', 'rd_leave_timed_out', 'close_timed_out')",
        "{who} closed but could not say goodbye in time; it counts as a member until its session ends",
        "Give close() more time, and look for what held it (a parked JoinGroup, a commit that cannot succeed).",
        "Consumer.close(CloseOptions)",
    ),
    Rule(
        "admin_removal",
        "rebalances",
        "trigger = 'admin_removal'",
        "{who} was removed by an administrator",
        "Expected after kafka-consumer-groups --delete or AdminClient.removeMembersFromConsumerGroup.",
        "KIP-345; AdminClient.removeMembersFromConsumerGroup",
    ),
    Rule(
        "rebalance_enforced",
        "rebalances",
        "trigger = 'enforced'",
        "{who} asked for a rebalance ({said}); the members stopped for it",
        "Look for enforceRebalance() in that application; it is rarely needed.",
        "KIP-568",
    ),
    Rule(
        "topic_changed",
        "rebalances",
        "trigger in ('metadata_changed', 'regex_changed')",
        "the group rebalanced because its topics changed ({topics})",
        "Expected after partitions are added or topics come and go; plan it like a deployment.",
        "ConsumerCoordinator; KIP-848 metadata hash",
    ),
)

#: All rules; their order does not matter.
RULES: tuple[Rule, ...] = _MEMBER_RULES + GROUP_RULES
