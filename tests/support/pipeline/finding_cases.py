"""Small logs in Kafka's exact words: for each kind of finding one in which it shows, and one that nearly does.

A case is ``(who, hit, near miss)``; hit and miss are files (name to text) or the name of a recorded run.
"""

from __future__ import annotations

from tests.support.pipeline.kafka_lines import (
    GROUP,
    adding,
    broker,
    client,
    committed,
    failing,
    finished,
    follow_up,
    joined,
    joining,
    leaving,
    member,
    native,
    plain,
    preparing,
    rebalance,
    received,
    settings,
    stabilized,
    static_join,
    topic,
    worker,
)

_REFUSED = "JoinGroup failed due to fatal error: "
_PREPARED = preparing(0, 1, adding("c2"))

LEFT_BY_ITSELF = (
    "Member c1-1 sending LeaveGroup request to coordinator b:9092 (id: 2147483646 rack: null) due to "
    "the consumer is being closed"
)

_LOST_FOR = (
    "Group coordinator b:9092 (id: 1 rack: null) is unavailable or invalid due to cause: {}. isDisconnected: false. "
    "Rediscovery will be attempted."
)
_UNHEARD = (
    "Consumer group session timed out (in join-state steady) after 26100 ms without a successful response from the group "
    "coordinator (broker 1, last error was {}): revoking assignment and rejoining group"
)
_STATIC_LOADED = (
    f"Static member MemberMetadata(memberId={member('c1')}, groupInstanceId={{}}, clientId=c1, clientHost=/10.0.0.1, "
    f"sessionTimeoutMs=10000, rebalanceTimeoutMs=60000, supportedProtocols=List(range), ).groupInstanceId of group {GROUP} "
    f"loaded with member id {member('c1')} at generation 3."
)

QUIET = {"broker.log": joining(0, 0, "c1") + joining(10, 1, "c2")}

CASES: dict[str, tuple[str | None, dict[str, str] | str, dict[str, str] | str]] = {
    # On recorded runs
    "poll_timeout_exceeded": ("c2", "poll-timeout.eager.4.3.1", "drawn-1.eager.4.3.1"),
    "session_expired": ("c3", "crash.eager.4.3.1", "leave.eager.4.3.1"),
    "member_frozen": ("c1", "freeze.cooperative.4.3.1", "rd-crash.cooperative.4.3.1"),
    "zombie_commit": ("c1", "freeze.eager.4.3.1", "leave.consumer.4.0.0"),
    "stale_epoch_commit": ("c3", "leave.consumer.4.0.0", "freeze.eager.4.3.1"),
    "instance_id_refused": ("c3", "duplicate-instance.consumer.4.3.1", "static-restart.consumer.4.3.1"),
    "instance_id_fenced": ("c2", "duplicate-instance.eager.4.3.1", "static-restart.eager.4.3.1"),
    "duplicate_instance_id": (
        "c3",
        "duplicate-instance.cooperative.4.3.1",
        "static-restart.cooperative.4.3.1",
    ),
    "static_return": ("c2", "static-restart.eager.4.3.1", "duplicate-instance.eager.4.3.1"),
    "protocol_refused": ("c3", "bounce-gone-wrong.classic.4.3.1", "two-bounces.classic.4.3.1"),
    "strategy_refused": ("c3", "rd-strategy-change.classic.4.3.1", "rd-leave.eager.4.3.1"),
    "wrong_callback": ("c1", "rd-wrong-callback.consumer.4.3.1", "rd-wrong-callback.eager.4.3.1"),
    "reconciliation_stuck": ("c1", "rd-wrong-callback.consumer.4.3.1", "rd-leave.consumer.4.3.1"),
    "coordinator_error": ("c2", "consumer-joins-too-early.mixed.4.3.1", "migrate-online.mixed.4.3.1"),
    "fatal_error": ("c2", "consumer-joins-too-early.mixed.4.3.1", "freeze.consumer.4.3.1"),
    "member_fenced": ("c1", "freeze.consumer.4.3.1", "crash.consumer.4.3.1"),
    "coordinator_lost": ("c1", "coordinator-restart.eager.4.3.1", "freeze.eager.4.3.1"),
    "coordinator_moved": (None, "coordinator-restart.consumer.4.3.1", "join.consumer.4.3.1"),
    "metadata_not_whole": ("c2", "coordinator-restart.cooperative.4.3.1", "add-partitions.cooperative.4.3.1"),
    "deleted_topic_commit": ("c1", "regex.eager.4.3.1", "add-partitions.eager.4.3.1"),
    "leave_timed_out": ("c3", "rd-wrong-callback.cooperative.4.3.1", "rd-leave.cooperative.4.3.1"),
    "sync_race": ("c3", "crash.cooperative.4.3.1", "crash.eager.4.3.1"),
    "group_upgraded": (None, "migrate-eager.mixed.4.3.1", "join.consumer.4.3.1"),
    "group_downgraded": (None, "migrate-online.mixed.4.3.1", "migrate-eager.mixed.4.3.1"),
    "admin_removal": ("c3", "admin-remove.consumer.4.3.1", "leave.consumer.4.3.1"),
    "rebalance_enforced": ("c2", "enforce.eager.4.3.1", "join.eager.4.3.1"),
    "topic_changed": ("c1", "add-partitions.cooperative.4.3.1", "join.cooperative.4.3.1"),
    "slow_callback": ("c1", "slow-callback.consumer.4.3.1", "join.consumer.4.3.1"),
    "rolling_restart": (None, "two-bounces.classic.4.3.1", "storm.eager.4.3.1"),
    "eager_by_default": (None, "join.eager.4.3.1", "join.roundrobin.4.3.1"),
    "rebalance_storm": (None, "two-bounces.classic.4.3.1", "drawn-2.eager.4.3.1"),
    "died_without_goodbye": ("c3", "rd-crash.eager.4.3.1", "freeze.eager.4.3.1"),
    "assignment_lost": ("c1", "freeze.cooperative.4.3.1", "crash.cooperative.4.3.1"),
    "poll_overrun": ("c2", "poll-timeout.consumer.4.3.1", "drawn-1.consumer.4.3.1"),
    "repeated_notice": ("c1", "slow-callback.cooperative.4.3.1", "join.cooperative.4.3.1"),
    # Hand-written
    "task_failed": (
        "sink-0",
        {
            "connect.log": plain(
                0,
                "WorkerSinkTask{id=sink-0} Task is being killed and will not recover until manually restarted",
            )
            + client(
                0.1, "c1", "Sending LeaveGroup request to coordinator b:9092 (id: 2147483646 rack: null)"
            )
        },
        {
            "connect.log": client(
                0.1, "c1", "Sending LeaveGroup request to coordinator b:9092 (id: 2147483646 rack: null)"
            )
        },
    ),
    "heartbeats_unanswered": (
        "c1",
        {
            "c1.log": client(
                0, "c1", _LOST_FOR.format("session timed out without receiving a heartbeat response")
            )
        },
        {"c1.log": client(0, "c1", _LOST_FOR.format("error response NOT_COORDINATOR"))},
    ),
    "client_join_failed": (
        "app",
        {
            "app.log": "2026-03-01 10:00:00,000 ERROR [orders-app] Connection error while trying to join group `orders-app`; retrying...\n"
        },
        {"app.log": "2026-03-01 10:00:00,000 INFO Joined group `orders-app` with member id `c1-1`\n"},
    ),
    "instance_id_null": (
        "c1",
        {"broker.log": broker(0, _STATIC_LOADED.format("Some(null)"))},
        {"broker.log": broker(0, _STATIC_LOADED.format("Some(pod-1)"))},
    ),
    "many_generations": (None, {"broker.log": stabilized(0, 138902)}, {"broker.log": stabilized(0, 902)}),
    "share_group": (
        "s1",
        {
            "app.log": "2026-03-01 10:00:00,000 INFO [ShareConsumer clientId=s1, groupId=shared] Member M1 with epoch 1 transitioned from JOINING to RECONCILING.\n"
        },
        {"app.log": client(0, "c1", "Member M1 with epoch 1 transitioned from JOINING to RECONCILING.")},
    ),
    "resubscribed": (
        "c1",
        {
            "c1.log": client(0, "c1", "Subscribed to topic(s): orders")
            + client(9, "c1", "Subscribed to topic(s): orders, stock")
        },
        {
            "c1.log": client(0, "c1", "Subscribed to topic(s): orders")
            + client(9, "c1", "Subscribed to topic(s): orders")
        },
    ),
    "topic_recreated": (
        None,
        {
            "broker.log": topic(0, "", "orders", "A")
            + topic(9, "Remove", "orders", "A")
            + topic(12, "", "orders", "B"),
            "c1.log": client(1, "c1", "Subscribed to topic(s): orders"),
        },
        {  # a broker that starts again writes the same once more
            "broker.log": 2 * (topic(0, "", "orders", "A") + topic(9, "Remove", "orders", "A")),
            "c1.log": client(1, "c1", "Subscribed to topic(s): orders"),
        },
    ),
    "transition_timeout": (
        "c2",
        {
            "broker.log": broker(
                5,
                f"[GroupId {GROUP}] Member M2 fenced from the group because it failed to transition from epoch 5 within 300000ms.",
            )
            + broker(5.001, f"[GroupId {GROUP}] Bumped group epoch to 6 with metadata hash 77."),
            "c2.log": client(1, "c2", "Member M2 with epoch 5 transitioned from STABLE to RECONCILING."),
        },
        {
            "broker.log": broker(
                5, f"[GroupId {GROUP}] Member M2 fenced from the group because the member session expired."
            )
        },
    ),
    "coordinator_not_ready": (
        "c1",
        {
            "c1.log": client(
                0,
                "c1",
                "Request joining group due to: rebalance failed due to 'This is not the correct coordinator.' "
                "(NotCoordinatorException)",
            )
        },
        {"c1.log": client(0, "c1", "Request joining group due to: group is already rebalancing")},
    ),
    "client_commit_refused": (
        "app",
        {
            "app.log": "2026-11-21 02:15:25,032 ERROR aiokafka: OffsetCommit failed for group orders-app due to "
            "group error ([Error 25] UnknownMemberIdError: orders-app), will rejoin\n"
        },
        {
            "app.log": "2026-11-21 02:15:25,032 ERROR aiokafka: OffsetCommit failed for group orders-app due to "
            "[Error 29] TopicAuthorizationFailedError\n"
        },
    ),
    "callback_failed": (
        "c1",
        {
            "c1.log": client(
                0,
                "c1",
                "User provided listener app.Listener failed on invocation of onPartitionsAssigned for partitions [orders-1]",
            )
        },
        {"c1.log": client(0, "c1", "Adding newly assigned partitions: orders-1")},
    ),
    "commit_unanswered": (
        "c1",
        {
            "c1.log": client(
                0, "c1", "Offset commit failed on partition orders-1 at offset 5: The request timed out."
            )
        },
        {
            "c1.log": client(
                0,
                "c1",
                "Offset commit failed on partition orders-1 at offset 5: The coordinator is not aware of this member.",
            )
        },
    ),
    "config_unread": (
        "w1",
        {
            "w1.log": worker(
                0,
                "w1",
                "Current config state offset -1 is behind group assignment 9, reading to end of config log",
            )
        },
        {
            "w1.log": worker(
                0,
                "w1",
                "Current config state offset 7 is behind group assignment 9, reading to end of config log",
            )
        },
    ),
    "member_left": (
        "c1",
        {"c1.log": client(0, "c1", LEFT_BY_ITSELF)},
        {"c1.log": client(0, "c1", LEFT_BY_ITSELF), "broker.log": _PREPARED},
    ),
    "lines_without_time": (
        None,
        {
            "c1.log": "[main] INFO o.a.k.ConsumerCoordinator - [Consumer clientId=c1, groupId=orders-app] (Re-)joining group\n"
        },
        {"c1.log": client(0, "c1", "(Re-)joining group")},
    ),
    "join_refused": (
        "c1",
        {"c1.log": client(0, "c1", _REFUSED + "The configured groupId is invalid.", "ERROR")},
        {"c1.log": client(0, "c1", _REFUSED + "Group authorization failed.", "ERROR")},
    ),
    "not_authorised": (
        "c1",
        {"c1.log": client(0, "c1", _REFUSED + "Group authorization failed.", "ERROR")},
        {"c1.log": client(0, "c1", _REFUSED + "The consumer group has reached its max size.", "ERROR")},
    ),
    "group_full": (
        "c1",
        {"c1.log": client(0, "c1", _REFUSED + "The consumer group has reached its max size.", "ERROR")},
        {"c1.log": client(0, "c1", _REFUSED + "Group authorization failed.", "ERROR")},
    ),
    "session_out_of_range": (
        "c1",
        {
            "c1.log": client(
                0,
                "c1",
                _REFUSED
                + "The session timeout is not within the range allowed by the broker (as configured by group.min.session.timeout.ms and group.max.session.timeout.ms).",
                "ERROR",
            )
        },
        {"c1.log": client(0, "c1", _REFUSED + "The configured groupId is invalid.", "ERROR")},
    ),
    "ghost_member_id": (
        "c1",
        {
            "broker.log": broker(
                45,
                f"Pending member {member('c1')} in group {GROUP} has been removed after session timeout expiration.",
            )
        },
        {
            "broker.log": broker(
                45, f"Member {member('c1')} in group {GROUP} has failed, removing it from the group."
            )
        },
    ),
    "silent_member": (
        None,
        {
            "broker.log": _PREPARED
            + broker(300, f"Group {GROUP} removed dynamic members who haven't joined: [{member('c1')}]")
            + stabilized(300, 2)
        },
        {"broker.log": _PREPARED + stabilized(3, 2)},
    ),
    "silent_leader": (
        "c2",
        {
            "broker.log": _PREPARED
            + broker(
                300,
                f"Group leader [memberId: {member('c1')}, groupInstanceId: pod-1] failed to join before the rebalance timeout. Member {member('c2')} was elected as the new leader.",
            )
        },
        {"broker.log": _PREPARED + stabilized(3, 2)},
    ),
    "nobody_rejoined": (
        None,
        {
            "broker.log": _PREPARED
            + broker(300, f"Group {GROUP} could not complete rebalance because no members rejoined.", "ERROR")
        },
        {"broker.log": _PREPARED + broker(300, f"Group {GROUP} with generation 2 is now empty.")},
    ),
    "forgotten_members": (
        None,
        {
            "broker.log": broker(
                1,
                f"Setting empty assignments for members {member('c2')} of {GROUP} for generation 2.",
                "WARN",
            )
        },
        {"broker.log": received(1, 2)},
    ),
    "assignment_never_fetched": (
        "c2",
        {"broker.log": rebalance(0, 1, f"Removing [{member('c2')}] on pending sync request expiration")},
        {"broker.log": failing(0, 1, "c2")},
    ),
    "offsets_topic_ailing": (
        None,
        {
            "broker.log": rebalance(
                0,
                1,
                f"Error COORDINATOR_NOT_AVAILABLE when storing group assignment during SyncGroup (member: {member('c1')}).",
            )
        },
        {"broker.log": follow_up(0, 1)},
    ),
    "assignment_failed": (
        "c1",
        {
            "c1.log": joined(0, "c1", 4)
            + client(
                1,
                "c1",
                "Request joining group due to: rebalance failed due to 'no such topic' (StreamsException)",
            )
        },
        {
            "c1.log": joined(0, "c1", 4)
            + client(
                1,
                "c1",
                "Request joining group due to: rebalance failed due to 'again' (RebalanceInProgressException)",
            )
        },
    ),
    "assignor_failed": (
        None,
        {
            "broker.log": broker(
                0,
                f"[GroupId {GROUP}] Failed to compute a new target assignment for epoch 7: No partition assignor found",
                "ERROR",
            )
        },
        {
            "broker.log": broker(
                0,
                f"[GroupId {GROUP}] Computed a new target assignment for epoch 7 with 'uniform' assignor in 3ms.",
            )
        },
    ),
    "group_over_capacity": (
        None,
        {
            "broker.log": rebalance(
                0,
                1,
                f"Freshly-loaded group {GROUP} (size 12) is over capacity 10. Rebalancing in order to give a chance for consumers to commit offsets.",
            )
        },
        {"broker.log": broker(0, f"Loaded classic group {GROUP} with 12 members.")},
    ),
    "migration_refused": (
        None,
        {
            "broker.log": broker(
                0,
                f"Cannot upgrade classic group {GROUP} to consumer group because online upgrade is disabled.",
            )
        },
        {"broker.log": broker(0, f"[GroupId {GROUP}] Converted the classic group to a consumer group.")},
    ),
    "instance_id_shared": (
        "pod-1",
        {
            "broker.log": broker(
                0,
                f"Request memberId={member('pod-1')} for static member with groupInstanceId=pod-1 is fenced by existing memberId=pod-1-99999999-0d4b-40a2-94b6-76a32dab4a9b during operation heartbeat",
            )
        },
        {"broker.log": static_join(0, "pod-1", member("pod-1"))},
    ),
    "static_member_stayed_away": (
        "c1",
        {
            "broker.log": failing(60, 1, "c1"),
            "c1.log": client(0, "c1", "Subscribed to topic(s): orders")
            + joined(1, "c1", 1)
            + plain(15, "App info kafka.consumer for c1 unregistered"),
        },
        {
            "broker.log": failing(60, 1, "c1"),
            "c1.log": client(0, "c1", "Subscribed to topic(s): orders") + joined(1, "c1", 1),
        },
    ),
    "commit_during_rebalance": (
        "c1",
        {
            "c1.log": client(
                0,
                "c1",
                "Asynchronous auto-commit of offsets {orders-0=OffsetAndMetadata{offset=5, leaderEpoch=0, metadata=''}} failed: Offset commit cannot be completed since the consumer is undergoing a rebalance for auto partition assignment. You can try completing the rebalance by calling poll() and then retry the operation.",
                "WARN",
            )
        },
        {
            "c1.log": client(
                0,
                "c1",
                "Asynchronous auto-commit of offsets {orders-0=OffsetAndMetadata{offset=5, leaderEpoch=0, metadata=''}} failed: Offset commit cannot be completed since the consumer is not part of an active group for auto partition assignment; it is likely that the consumer was kicked out of the group.",
                "WARN",
            )
        },
    ),
    "pause_forgotten": (
        "c1",
        {
            "c1.log": client(
                0, "c1", "The pause flag in partitions [orders-0] will be removed due to revocation."
            )
        },
        {"c1.log": client(0, "c1", "Revoke previously assigned partitions [orders-0]")},
    ),
    "network_thread_failed": (
        "c1",
        {"c1.log": client(0, "c1", "Unexpected error caught in consumer network thread", "ERROR")},
        {"c1.log": client(0, "c1", "Signaling the consumer network thread to close", "ERROR")},
    ),
    "offset_out_of_range": (
        "c1",
        {
            "c1.log": client(
                0,
                "c1",
                "Fetch position FetchPosition{offset=500, offsetEpoch=Optional.empty, currentLeader=LeaderAndEpoch{leader=Optional[b:9092 (id: 1 rack: null)], epoch=0}} is out of range for partition orders-0, resetting offset",
            )
        },
        {"c1.log": client(0, "c1", "Found no committed offset for partition orders-0")},
    ),
    "connector_unresponsive": (
        "a-0",
        {"w.log": worker(0, "w1", "Rebalance started") + plain(1, "Graceful stop of task a-0 failed.")},
        {"w.log": worker(0, "w1", "Rebalance started") + plain(1, "Stopping task a-0")},
    ),
    "subscription_abandoned": (
        "c1",
        {
            "c1.log": "2026/03/01 10:00:00 consumer/broker/2 abandoned subscription to orders/3 because consuming was taking too long\n"
        },
        {"c1.log": "2026/03/01 10:00:00 consumer/broker/2 added subscription to orders/3\n"},
    ),
    "subscription_empty": (
        "c1",
        {
            "c1.log": native(
                0, "c1", "SUBSCRIPTION", f'Group "{GROUP}": no topics in metadata matched subscription'
            )
        },
        {"c1.log": native(0, "c1", "SUBSCRIPTION", f'Group "{GROUP}": effective subscription list changed')},
    ),
    "stream_thread_fenced": (
        "app-StreamThread-1",
        {
            "app.log": plain(
                0,
                "stream-thread [app-StreamThread-1] Detected that the thread is being fenced. This implies that this thread missed a "
                "rebalance and dropped out of the consumer group. Will close out all assigned tasks and rejoin the consumer group.",
            )
        },
        {
            "app.log": plain(
                0, "stream-thread [app-StreamThread-1] State transition from RUNNING to PARTITIONS_REVOKED"
            )
        },
    ),
    "consumer_crashed": (
        "app",
        {
            "app.log": '{"level":"ERROR","timestamp":"2026-03-01T10:00:00.000Z","logger":"kafkajs","message":"[Consumer] Crash: '
            'KafkaJSNonRetriableError: no JSON","groupId":"orders","stack":"KafkaJSNonRetriableError"}\n'
        },
        {
            "app.log": '{"level":"INFO","timestamp":"2026-03-01T10:00:00.000Z","logger":"kafkajs","message":"[Consumer] Stopped",'
            '"groupId":"orders"}\n'
        },
    ),
    "consumer_restarts": (
        "app",
        {
            "app.log": '{"level":"ERROR","timestamp":"2026-03-01T10:00:00.000Z","logger":"kafkajs","message":"[Consumer] Crash: '
            'KafkaJSNumberOfRetriesExceeded: no JSON","groupId":"orders","retryCount":5}\n'
            '{"level":"ERROR","timestamp":"2026-03-01T10:00:00.100Z","logger":"kafkajs","message":"[Consumer] Restarting the '
            'consumer in 10059ms","groupId":"orders","retryCount":5}\n'
        },
        {
            "app.log": '{"level":"ERROR","timestamp":"2026-03-01T10:00:00.000Z","logger":"kafkajs","message":"[Consumer] Crash: '
            'KafkaJSNonRetriableError: no JSON","groupId":"orders","retryCount":5}\n'
        },
    ),
    "coordinator_changed": (
        "c1",
        {"c1.log": native(0, "c1", "CGRPCOORD", f'Group "{GROUP}" changing coordinator 1 -> 2')},
        {"c1.log": native(0, "c1", "CGRPCOORD", f'Group "{GROUP}" changing coordinator -1 -> 2')},
    ),
    "commit_error": (
        "c1",
        {
            "c1.log": client(
                0,
                "c1",
                "Offset commit failed on partition orders-1 at offset 5: The committing offset data size is not valid.",
            )
        },
        {
            "c1.log": client(
                0, "c1", "Offset commit failed on partition orders-1 at offset 5: The request timed out."
            )
        },
    ),
    "rebalance_unattended": (
        "c1",
        {"c1.log": native(0, "c1", "SESSTMOUT", _UNHEARD.format("Broker: Group rebalance in progress"), 4)},
        {"c1.log": native(0, "c1", "SESSTMOUT", _UNHEARD.format("Success"), 4)},
    ),
    "sync_refused": (
        "c1",
        {
            "c1.log": native(
                0,
                "c1",
                "GRPSYNC",
                f'Group "{GROUP}": synchronization failed: Unknown broker error: rejoining',
            )
        },
        {
            "c1.log": native(
                0,
                "c1",
                "GRPSYNC",
                f'Group "{GROUP}": synchronization failed: Broker: Group rebalance in progress: rejoining',
            )
        },
    ),
    "coordinator_not_loaded": (
        None,
        {
            "broker.log": broker(
                0,
                "Failed to load metadata from __consumer_offsets-4 with epoch 10 due to java.lang.RuntimeException: Replaying record failed.",
                "ERROR",
            )
        },
        {"broker.log": broker(0, "Finished loading of metadata from __consumer_offsets-4 with epoch 10.")},
    ),
    "error_logged": (
        "c1",
        {"c1.log": client(0, "c1", "Heartbeat thread failed due to unexpected error", "ERROR")},
        {"c1.log": client(0, "c1", "Heartbeat thread started")},
    ),
    "offsets_not_appended": (
        None,
        {
            "broker.log": plain(
                0,
                "[ReplicaManager broker=1] Error processing append operation on partition __consumer_offsets-12",
            )
        },
        {
            "broker.log": plain(
                0, "[ReplicaManager broker=1] Error processing append operation on partition orders-12"
            )
        },
    ),
    "coordinator_writes_refused": (
        None,
        {
            "broker.log": broker(
                0,
                "Writing records to __consumer_offsets-12 failed due to: For requests intended only for the leader, this "
                "error indicates that the broker is not the current leader.",
                "ERROR",
            )
        },
        {"broker.log": broker(0, "Scheduling unloading of metadata for __consumer_offsets-12")},
    ),
    "worker_died": (
        "w1",
        {"connect.log": worker(0, "w1", "Uncaught exception in herder work thread, exiting: ", "ERROR")},
        {"connect.log": worker(0, "w1", "Rebalance started")},
    ),
    "connector_not_started": (
        "jdbc-sink",
        {"connect.log": worker(0, "w1", "Failed to start connector 'jdbc-sink'", "ERROR")},
        {"connect.log": worker(0, "w1", "Starting connector jdbc-sink")},
    ),
    "offsets_of_others": (
        "sink-1",
        {
            "connect.log": plain(
                0,
                "WorkerSinkTask{id=sink-1} Ignoring invalid task provided offset orders-3/OffsetAndMetadata{offset=28, "
                "leaderEpoch=null, metadata=''} -- partition not assigned, assignment=[orders-2]",
            )
        },
        {"connect.log": plain(0, "WorkerSinkTask{id=sink-1} Committing offsets asynchronously")},
    ),
    "partition_not_owned": (
        "app",
        {
            "app.log": '2026-03-01 10:00:00,000 ERROR recovery crashed: IllegalStateError("No current assignment for partition orders-3")\n'
        },
        {"app.log": "2026-03-01 10:00:00,000 INFO current assignment of the consumer group: orders-3\n"},
    ),
    "stream_thread_died": (
        "app",
        {
            "app.log": "2026-03-01 10:00:00,000 INFO org.apache.kafka.streams.KafkaStreams: State transition from RUNNING to ERROR\n"
        },
        {
            "app.log": "2026-03-01 10:00:00,000 INFO org.apache.kafka.streams.KafkaStreams: State transition from RUNNING to REBALANCING\n"
        },
    ),
    "native_session_lost": (
        "c1",
        {
            "c1.log": native(
                0,
                "c1",
                "SESSTMOUT",
                "Consumer group session timed out (in join-state steady) after 10012 ms without a successful response from the group coordinator (broker 1, last error was Success): revoking assignment and rejoining group",
                4,
            )
        },
        {
            "c1.log": native(
                0,
                "c1",
                "MAXPOLL",
                "Application maximum poll interval (300000ms) exceeded by 88ms (adjust max.poll.interval.ms for long-running message processing): leaving group",
                4,
            )
        },
    ),
    "offset_rewound": (
        "c1",
        {
            "c1.log": client(0, "c1", "Subscribed to topic(s): orders")
            + committed(1, 500)
            + committed(60, 200)
        },
        {
            "c1.log": client(0, "c1", "Subscribed to topic(s): orders")
            + committed(1, 500)
            + committed(60, 500)
        },
    ),
    "offsets_lost": (
        "c1",
        {
            "c1.log": committed(1, 500)
            + client(900000, "c1", "Found no committed offset for partition orders-0")
        },
        {"c1.log": client(1, "c1", "Found no committed offset for partition orders-0") + committed(60, 500)},
    ),
    "idle_members": (
        None,
        {"c1.log": finished(0, 2, "orders-0", "orders-1", "")},
        {"c1.log": finished(0, 2, "orders-0, orders-1", ""), "broker.log": follow_up(1, 2)},
    ),
    "skewed_assignment": (
        None,
        {"c1.log": finished(0, 2, "a-0, b-0, c-0, d-0, e-0, f-0", "a-1", "b-1")},
        {"c1.log": finished(0, 2, "a-0, b-0, c-0", "a-1, d-0", "b-1")},
    ),
    "slow_leader": (
        "c1",
        {"c1.log": joined(0, "c1", 4) + finished(7.5, 4, "orders-0")},
        {"c1.log": joined(0, "c1", 4) + finished(0.3, 4, "orders-0")},
    ),
    "unlike_subscriptions": (
        None,
        {
            "a.log": client(0, "c1", "Subscribed to topic(s): orders"),
            "b.log": client(0, "c2", "Subscribed to topic(s): invoices"),
        },
        {
            "a.log": client(0, "c1", "Subscribed to topic(s): orders"),
            "b.log": client(0, "c2", "Subscribed to topic(s): orders, invoices"),
        },
    ),
    "heartbeat_too_slow": (
        "c1",
        {"c1.log": settings(0, "c1", 3000, 6000)},
        {"c1.log": settings(0, "c1", 2000, 6000)},
    ),
    "rebalance_held_up": (
        "c2",
        {
            "broker.log": preparing(0, 3, adding("c3")) + stabilized(40, 4) + received(40.1, 4),
            "c1.log": client(2, "c1", "(Re-)joining group"),
            "c2.log": client(39.9, "c2", "(Re-)joining group"),
        },
        {
            "broker.log": preparing(0, 3, adding("c3")) + stabilized(2.5, 4) + received(2.6, 4),
            "c1.log": client(2, "c1", "(Re-)joining group"),
            "c2.log": client(2.4, "c2", "(Re-)joining group"),
        },
    ),
    "cooperative_never_settles": (
        None,
        {"broker.log": "".join(follow_up(place * 0.5, place + 1) for place in range(6))},
        {"broker.log": joining(0, 0, "c1") + follow_up(3, 1) + joining(30, 2, "c2") + follow_up(33, 3)},
    ),
    "scaling_to_and_fro": (
        None,
        {
            "broker.log": joining(0, 0, "a")
            + joining(90, 1, "b")
            + leaving(180, 2, "b")
            + joining(270, 3, "c")
            + leaving(360, 4, "c")
            + joining(450, 5, "d")
        },
        {
            "broker.log": joining(0, 0, "a")
            + joining(90, 1, "b")
            + joining(180, 2, "c")
            + leaving(900, 3, "c")
        },
    ),
    "periodic_expiry": (
        None,
        {"broker.log": "".join(failing(place * 3600, place, f"c{place}") for place in range(1, 6))},
        {
            "broker.log": "".join(
                failing(at, place, f"c{place}") for place, at in enumerate((0, 1200, 9000, 9900, 20000), 1)
            )
        },
    ),
    "instances_take_turns": (
        "pod-1",
        {
            "broker.log": "".join(
                static_join(place * 5, "pod-1", "", f"pod-1-{place}") for place in range(1, 6)
            )
        },
        {
            "broker.log": static_join(5, "pod-1", "", "pod-1-1")
            + static_join(8000, "pod-1", "", "pod-1-2")
            + static_join(16000, "pod-1", "", "pod-1-3")
        },
    ),
    "static_ids_change": (
        None,
        {
            "broker.log": "".join(
                static_join(at, name, member(name))
                for at, name in ((0, "web-a1"), (1, "web-b2"), (60, "web-x7"), (61, "web-y8"))
            )
            + failing(95, 1, "web-a1")
            + failing(96, 2, "web-b2")
        },
        {
            "broker.log": "".join(
                static_join(at, name, member(name)) for at, name in ((0, "pod-0"), (1, "pod-1"))
            )
            + failing(95, 1, "pod-0")
            + static_join(120, "pod-0", "pod-0-99999999-0d4b-40a2-94b6-76a32dab4a9b")
        },
    ),
    "connect_configs_differ": (
        "w1",
        {
            "w.log": worker(
                0,
                "w1",
                "Current config state offset -1 does not match group assignment 1. Forcing rebalance.",
            )
        },
        {
            "w.log": worker(
                0,
                "w1",
                "Current config state offset 3 is behind group assignment 5, reading to end of config log",
            )
        },
    ),
    "worker_cut_off": (
        "w1",
        {
            "w.log": worker(
                0,
                "w1",
                "Broker coordinator was unreachable for 3000ms. Revoking previous assignment Assignment{error=0}",
            )
        },
        {
            "w.log": worker(
                0,
                "w1",
                "Group coordinator b:9092 (id: 1 rack: null) is unavailable or invalid, will attempt rediscovery",
            )
        },
    ),
    "client_lost_session": (
        "app",
        {
            "app.log": "2026-03-01 10:00:00,000 - kafka.coordinator - INFO - Successfully joined group orders-app with generation 3\n"
            "2026-03-01 10:01:00,000 - kafka.coordinator - WARNING - Heartbeat session expired, marking coordinator dead\n"
        },
        {
            "app.log": "2026-03-01 10:00:00,000 - kafka.coordinator - INFO - Successfully joined group orders-app with generation 3\n"
            "2026-03-01 10:01:00,000 - kafka.coordinator - WARNING - Heartbeat failed for group orders-app because it is rebalancing\n"
        },
    ),
    "client_poll_timeout": (
        "app",
        {
            "app.log": "2026-03-01 10:00:00,000 - kafka.coordinator - WARNING - Heartbeat poll expired, leaving group orders-app\n"
        },
        {"app.log": "2026-03-01 10:00:00,000 - kafka.coordinator - INFO - (Re-)joining group orders-app\n"},
    ),
    "clocks_disagree": (
        "c1",
        {"broker.log": joining(100, 0, "c1"), "c1.log": joined(88, "c1", 1)},
        {"broker.log": joining(100, 0, "c1"), "c1.log": joined(100.21, "c1", 1)},
    ),
    "one_name_two_groups": (
        None,
        {
            "eu.log": joining(0, 0, "c1") + joining(9, 1, "c2"),
            "us.log": joining(500, 0, "c1") + joining(509, 1, "c2"),
        },
        {
            "b1.log": joining(0, 0, "c1") + joining(9, 1, "c2"),
            "b2.log": joining(500, 2, "c3") + joining(509, 3, "c4"),
        },
    ),
    "same_log_twice": (
        None,
        {
            "broker.log": joining(0, 0, "c1") + joining(9, 1, "c2"),
            "copy.log": joining(0, 0, "c1") + joining(9, 1, "c2"),
        },
        {"broker.log": joining(0, 0, "c1"), "broker.log.1": joining(9, 1, "c2")},
    ),
    "time_goes_back": (
        "broker.log",
        {"broker.log": joining(3600, 0, "c1") + joining(9, 1, "c2")},
        {"broker.log": joining(9, 0, "c1") + joining(3600, 1, "c2")},
    ),
}


def write(top):
    """Write the hand-written logs: a folder a case, with one for what hits and one for the near miss."""
    for code, kind, files in hand_written():
        for name, text in files.items():
            place = top / code / kind / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, "utf-8")


def hand_written():
    """The cases that are no recorded runs: (code, ``hit`` or ``miss``, files)."""
    yield "quiet", "miss", QUIET
    for code, (_, *both) in CASES.items():
        for kind, files in zip(("hit", "miss"), both, strict=True):
            if not isinstance(files, str):
                yield code, kind, files
