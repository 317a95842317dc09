"""Rules for findings about members: one rule per kind of finding (see ``rule``).

Findings that need more than one line are collected in the other files of this room.
"""

from __future__ import annotations

from rebalance_kit.forensics.findings.rules.group_rules import GROUP_RULES
from rebalance_kit.forensics.findings.rules.rule import LineRule, RebalanceRule, Rule, says, says_none_of

_POLL_DOC = "KIP-62; consumer config max.poll.interval.ms"
_STATIC_DOC = "KIP-345 (static membership)"
_KIP848 = "KIP-848"
_EXPIRED = "the coordinator heard no heartbeat from {who} in time and removed it"
_FIND_OUT = (
    "Find out whether the process stopped or stood still (killed, out of memory, long GC pause, network): its own log, its container's last "
    "state, the host's journal at that moment."
)
_SESSIONS = "consumer config session.timeout.ms (classic), group.consumer.session.timeout.ms (KIP-848)"

_REFUSED = says(
    *(
        "not aware of this member",
        "UNKNOWN_MEMBER_ID",
        "not part of an active group",
        "has already rebalanced",
    )
)

_MEMBER_RULES: tuple[Rule, ...] = (
    LineRule(
        "poll_timeout_exceeded",
        ("poll_timeout", "rd_poll_timeout", "leaving"),
        when=lambda event: event.event != "leaving" or "poll timeout" in (event.reason or ""),
        sentence="{who} let more than max.poll.interval.ms pass between two calls of poll(){how}",
        do=(
            "Make a batch smaller (max.poll.records) or hand slow work to other threads with the partitions paused; "
            "raise max.poll.interval.ms above the worst batch. The session timeout has nothing to do with it."
        ),
        source=_POLL_DOC,
    ),
    LineRule(
        "session_expired",
        ("member_failed", "session_expired"),
        sentence=_EXPIRED,
        do=_FIND_OUT,
        source=_SESSIONS,
    ),
    # Where only the reason of the rebalance says so.
    RebalanceRule(
        "session_expired",
        lambda row: row.trigger == "session_expired",
        sentence=_EXPIRED,
        do=_FIND_OUT,
        source=_SESSIONS,
    ),
    RebalanceRule(
        "member_frozen",
        lambda row: row.fate == "frozen",
        sentence="{who} was removed while its process lived: its log goes on after that",
        do=(
            "Look for long garbage collections, CPU throttling, a suspended machine or a broken network; make processing "
            "idempotent, since what it had read and not committed is read again."
        ),
        source="KIP-62",
    ),
    LineRule(
        "zombie_commit",
        ("commit_failed", "auto_commit_failed", "commit_not_sent"),
        when=lambda event: event.event == "commit_not_sent" or _REFUSED(event),
        sentence="{who} tried to commit{how}; the commit was refused",
        do="The records since its last accepted commit may come twice. Do not commit in onPartitionsLost.",
        source="KIP-429; ConsumerRebalanceListener",
    ),
    LineRule(
        "stream_thread_fenced",
        ("stream_thread_fenced",),
        sentence="{who} found that it had missed a rebalance: it closes its tasks and joins again",
        do="Look at what held it up before: a slow batch (max.poll.interval.ms), a transaction that was aborted "
        "(transaction.timeout.ms), a pause of the process or of the network.",
        source="TaskMigratedException; KIP-447",
    ),
    LineRule(
        "consumer_crashed",
        ("consumer_crashed",),
        sentence="{who} crashed with an exception ({reason})",
        do="Read the exception, and catch it if the handler throws it: a record that cannot be read comes back after every restart. If nothing starts the consumer again, it stays away. kafkajs starts a "
        "consumer again only after what it takes for retriable (restartOnFailure); spring-kafka's container stays stopped after an Error.",
        source="kafkajs: consumer.events.CRASH; spring-kafka: ConsumerStoppedEvent",
    ),
    LineRule(
        "consumer_restarts",
        ("consumer_restarts",),
        sentence="{who} crashed with an exception ({reason}) and starts again by itself",
        do="Read the exception: kafkajs starts a consumer again after an error that it takes for retriable; each time may cost a rebalance.",
        source="kafkajs: consumer.events.CRASH; restartOnFailure",
    ),
    LineRule(
        "instance_id_refused",
        ("client_instance_refused", "instance_refused"),
        sentence="{who} uses group.instance.id {instance}, which another member owns: it was refused",
        do=(
            "Give every process its own group.instance.id. Under the consumer protocol the newcomer is refused, "
            "under the classic one the older member is fenced."
        ),
        source=f"{_STATIC_DOC}; {_KIP848} UNRELEASED_INSTANCE_ID",
    ),
    LineRule(
        "instance_id_fenced",
        ("client_instance_fenced", "rd_heartbeat_error"),
        when=lambda event: event.event == "client_instance_fenced" or "enced by" in (event.reason or ""),
        sentence="{who} was fenced: another consumer came with the same group.instance.id {instance} and took its place",
        do="Give every consumer its own group.instance.id; look for two replicas with one configuration, or two consumers in one process.",
        source=f"{_STATIC_DOC}; FENCED_INSTANCE_ID",
    ),
    LineRule(
        "protocol_refused",
        ("join_refused",),
        when=says("protocols are incompatible", "INCONSISTENT_GROUP_PROTOCOL"),
        sentence="{who} could not join: its protocols (their type, or its assignors) are incompatible with those of the members, or it named none",
        do="Look who else uses this group.id: Kafka Streams, Connect and a plain consumer cannot share one. Change assignors in two rolling bounces: first list the new one beside the old, then drop the old.",
        source="KIP-429 (upgrade path); INCONSISTENT_GROUP_PROTOCOL",
    ),
    LineRule(
        "join_refused",
        ("join_refused",),
        when=says_none_of(
            *("protocols are incompatible", "INCONSISTENT_GROUP_PROTOCOL", "max size", "GROUP_MAX_SIZE"),
            *("session timeout is not within", "INVALID_SESSION_TIMEOUT", "uthoriz", "AUTHORIZ"),
        ),
        sentence="{who} could not join the group: {reason}",
        do="Read the error. Where the line calls it fatal, correct that consumer's configuration or its rights and start it again.",
        source="AbstractCoordinator.JoinGroupResponseHandler",
    ),
    LineRule(
        "strategy_refused",
        ("rd_strategy_refused",),
        sentence="{who} did not start: librdkafka refuses a list that mixes eager and cooperative assignors ({detail})",
        do=(
            "librdkafka has no online way from eager to cooperative: stop all members, or use a new group.id, or move to "
            "group.protocol=consumer."
        ),
        source="librdkafka CONFIGURATION: partition.assignment.strategy",
    ),
    LineRule(
        "wrong_callback",
        ("rd_wrong_call",),
        sentence="a call of assign() or unassign() in the application of {who} failed: {reason}",
        do=(
            "Ask rebalance_protocol() in the callback: COOPERATIVE needs incremental_assign/incremental_unassign "
            "(always so under group.protocol=consumer), EAGER needs assign/unassign. Until the right call is made it reads nothing, and its group may wait for it. Or register no callback."
        ),
        source="librdkafka INTRODUCTION: rebalance callback",
    ),
    LineRule(
        "reconciliation_stuck",
        ("rd_postponed",),
        sentence="{who} had not finished one change of its assignment when it was told the next",
        do="Where that goes on, look at its rebalance callback: it must make the incremental (un)assign call and return.",
        source=_KIP848,
    ),
    LineRule(
        "coordinator_error",
        ("operation_failed", "heartbeat_error"),
        sentence="{how} ({reason})",
        do=(
            "Read the exception in the coordinator's log; a client that is answered UNKNOWN_SERVER_ERROR stops. In Kafka 4.x a consumer-protocol "
            "member that joins a classic group before its first generation is done may trigger this: start it again once the group is stable."
        ),
        source="GroupCoordinatorService.handleOperationException; ConsumerGroup.fromClassicGroup",
    ),
    LineRule(
        "fatal_error",
        ("fatal",),
        sentence="{who} met a fatal error",
        do="Restart it after the cause is gone, and alert on this line: a consumer in this state does nothing and may look alive.",
        source="ConsumerMembershipManager",
    ),
    LineRule(
        "member_fenced",
        ("heartbeat_fenced", "heartbeat_unknown", "heartbeat_failed"),
        sentence="{who} was refused its heartbeat: {how}",
        do="In onPartitionsLost drop the work in hand and commit nothing; look for what kept it from its heartbeats.",
        source="KIP-429; KIP-848",
    ),
    LineRule(
        "coordinator_lost",
        ("coordinator_lost", "other_coordinator_lost"),
        when=lambda event: (
            not (event.cause or "").startswith(("session timed out", "Heartbeat session expired"))
        ),
        sentence="{who} lost its coordinator{where} ({cause}){again}; that alone is no rebalance{end}",
        do="Look at the broker: restart, overload or network. A member keeps what it owns while it looks, until its session ends.",
        source="AbstractCoordinator.markCoordinatorUnknown",
    ),
    LineRule(
        "coordinator_moved",
        ("loaded",),
        sentence="a coordinator loaded the group",
        do="Expected after a broker restart or a leader election; sessions start anew there.",
        source="GroupMetadataManager.onLoaded",
    ),
    LineRule(
        "deleted_topic_commit",
        ("commit_failed",),
        when=says("does not host this topic-partition"),
        sentence="{who} could not commit offsets of {topic}: a broker answers that it does not host it",
        do="If its topic was deleted: unsubscribe before that, or close the members first: a commit that is tried again as a rebalance begins holds it up.",
        source="ConsumerCoordinator.onJoinPrepare",
    ),
    LineRule(
        "sync_race",
        ("sync_failed", "rd_sync_failed"),
        when=lambda event: event.event != "rd_sync_failed" or "rebalance in progress" in (event.reason or ""),
        sentence="{who} asked for its assignment and was refused: {how}",
        do="Harmless once; where it repeats, rebalances may chase each other.",
        source="AbstractCoordinator.SyncGroupResponseHandler",
    ),
    LineRule(
        "transition_timeout",
        ("transition_expired",),
        sentence="{who} did not give up revoked partitions in time and was removed",
        do="Shorten its revoke callback; the limit is max.poll.interval.ms.",
        source=_KIP848,
    ),
    LineRule(
        "static_return",
        ("static_replaced", "static_rejoins"),
        sentence="static member {instance} came back before its session was over",
        do="Nothing to do where no rebalance follows: that is what static membership is for (unless two processes share the id).",
        source=_STATIC_DOC,
    ),
    LineRule(
        "group_upgraded",
        ("upgraded",),
        sentence="the group moved from the classic to the consumer protocol",
        do="Expected in an online migration (group.consumer.migration.policy).",
        source=f"{_KIP848}: online migration",
    ),
    LineRule(
        "group_downgraded",
        ("downgraded",),
        sentence="the group moved from the consumer to the classic protocol",
        do="Unwanted? Keep one member on the consumer protocol, or set group.consumer.migration.policy=upgrade.",
        source=f"{_KIP848}: online migration",
    ),
    LineRule(
        "callback_failed",
        ("callback_failed", "other_callback_failed"),
        sentence="the rebalance callback {detail} of {who} threw an exception",
        do="Look at the exception below that line; Java's poll() throws it on. The application may not have taken its partitions up, or not given them up.",
        source="ConsumerRebalanceListenerInvoker; ConsumerCoordinator.onJoinComplete",
    ),
    LineRule(
        "leave_timed_out",
        ("leave_timed_out", "rd_leave_timed_out", "close_timed_out"),
        # A Connect worker of 2.x says so at every stop.
        when=lambda event: event.event != "close_timed_out" or "[Worker " not in event.text,
        sentence="{who} got no answer in time when it left its group or closed{where}; if its coordinator never had that, it counts as a member until its session ends",
        do="Give close() more time, and look for what held it (a parked JoinGroup, a commit that cannot succeed).",
        source="Consumer.close(CloseOptions)",
    ),
    RebalanceRule(
        "admin_removal",
        lambda row: row.trigger == "admin_removal",
        sentence="{who} was removed by an administrator",
        do="Expected after kafka-consumer-groups --delete or AdminClient.removeMembersFromConsumerGroup.",
        source="KIP-345; AdminClient.removeMembersFromConsumerGroup",
    ),
    RebalanceRule(
        "rebalance_enforced",
        lambda row: row.trigger == "enforced",
        sentence="{who} asked for a rebalance ({said})",
        do="If its application calls enforceRebalance(), ask why: it is rarely needed.",
        source="KIP-568",
    ),
    RebalanceRule(
        "topic_changed",
        lambda row: row.trigger in {"metadata_changed", "regex_changed"},
        sentence="the group rebalanced because the metadata of its topics changed ({topics})",
        do="Expected after partitions are added or topics come and go; plan it like a deployment.",
        source="ConsumerCoordinator; KIP-848 metadata hash",
    ),
)

#: All rules; their order does not matter.
RULES: tuple[Rule, ...] = _MEMBER_RULES + GROUP_RULES
