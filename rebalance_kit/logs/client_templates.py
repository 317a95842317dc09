"""Lines of a Java consumer, classic and KIP-848, and of librdkafka 2.16 with ``debug=cgrp,consumer``.

Java: name, then its forms (since, level, logger, text), the newest first. ``{who}`` is the client's
prefix ``[Consumer clientId=C, groupId=G] ``; three lines have none.

librdkafka: name, then syslog level, facility, thread, text, of those lines that tell of the group. Texts were taken from
recorded clients (``rdkafka_cgrp.c``, ``rdkafka_assignor.c``, ``rdkafka_assignment.c``, ``rdkafka.c``), without the dumps of lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

Forms = tuple[tuple[str, str, str, str], ...]
INTERNALS = "org.apache.kafka.clients.consumer.internals."
COORDINATOR = INTERNALS + "ConsumerCoordinator"
INVOKER = INTERNALS + "ConsumerRebalanceListenerInvoker"
MEMBERSHIP = INTERNALS + "ConsumerMembershipManager"
BEATS = INTERNALS + "ConsumerHeartbeatRequestManager"
COMMITS = INTERNALS + "CommitRequestManager"
ASYNC = INTERNALS + "AsyncKafkaConsumer"
CLASSIC_CONSUMER = INTERNALS + "ClassicKafkaConsumer"
APP_INFO = "org.apache.kafka.common.utils.AppInfoParser"
POLL_TIMEOUT = (
    "onsumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured "
    "max.poll.interval.ms, which typically implies that the poll loop is spending too much time processing messages. You can address this "
    "either by increasing max.poll.interval.ms or by reducing the maximum size of batches returned in poll() with max.poll.records."
)
STARS = "*" * 64
BLOCK = (
    "\n\tAssigned partitions:                       {assigned}\n\tCurrent owned partitions:                  {owned}"
    "\n\tAdded partitions (assigned - owned):       {added}\n\tRevoked partitions (owned - assigned):     {revoked}\n"
)
POSITION = "FetchPosition{{offset={position}, offsetEpoch={epoch}, currentLeader=LeaderAndEpoch{{leader=Optional[{leader}], epoch=0}}}}"


def _info(logger: str, text: str, since: str = "0.0") -> Forms:
    return ((since, "INFO", logger, "{who}" + text),)


def _warn(logger: str, text: str) -> Forms:
    return (("0.0", "WARN", logger, "{who}" + text),)


def _error(logger: str, text: str) -> Forms:
    return (("0.0", "ERROR", logger, "{who}" + text),)


def _callback(text: str) -> Forms:
    """Callback lines moved from the coordinator to the invoker in 3.7."""
    return (("3.7", "INFO", INVOKER, "{who}" + text), ("0.0", "INFO", COORDINATOR, "{who}" + text))


BOTH: Mapping[str, Forms] = MappingProxyType(
    {
        "subscribed_classic": (
            ("3.7", "INFO", CLASSIC_CONSUMER, "{who}Subscribed to topic(s): {topics}"),
            (
                "0.0",
                "INFO",
                "org.apache.kafka.clients.consumer.KafkaConsumer",
                "{who}Subscribed to topic(s): {topics}",
            ),
        ),
        "subscribed_pattern_classic": (
            ("3.7", "INFO", CLASSIC_CONSUMER, "{who}Subscribed to pattern: '{pattern}'"),
            (
                "0.0",
                "INFO",
                "org.apache.kafka.clients.consumer.KafkaConsumer",
                "{who}Subscribed to pattern: '{pattern}'",
            ),
        ),
        "subscribed_consumer": _info(ASYNC, "Subscribed to topic(s): {topics}"),
        "subscribed_pattern_consumer": _info(ASYNC, "Subscribed to pattern: '{pattern}'"),
        "subscribed_regex_consumer": _info(ASYNC, "Subscribing to regular expression {pattern}"),
        "assigned": _callback("Adding newly assigned partitions: {partitions}"),
        "revoked": _callback("Revoke previously assigned partitions {partitions}"),
        "lost": _callback("Lost previously assigned partitions {partitions}"),
        "no_offset_classic": _info(COORDINATOR, "Found no committed offset for partition {partition}"),
        "no_offset_consumer": _info(COMMITS, "Found no committed offset for partition {partition}"),
        "reset_offset": _info(
            INTERNALS + "SubscriptionState",
            "Resetting offset for partition {partition} to position " + POSITION + ".",
        ),
        "set_offset": (
            (
                "3.7",
                "INFO",
                INTERNALS + "ConsumerUtils",
                "Setting offset for partition {partition} to the committed offset " + POSITION,
            ),
            (
                "0.0",
                "INFO",
                COORDINATOR,
                "{who}Setting offset for partition {partition} to the committed offset " + POSITION,
            ),
        ),
    }
)

CLASSIC: Mapping[str, Forms] = MappingProxyType(
    {
        "banner": (
            (
                "4.1",
                "INFO",
                CLASSIC_CONSUMER,
                "{who}\n" + STARS + "\n* The consumer rebalance protocol (KIP-848) is production-ready!\n"
                "* Set the consumer configuration group.protocol=consumer to try it out.\n"
                "* See https://kafka.apache.org/documentation/#consumer_rebalance_protocol\n" + STARS,
            ),
        ),
        "discovered_classic": _info(COORDINATOR, "Discovered group coordinator {node}"),
        "joining": _info(COORDINATOR, "(Re-)joining group"),
        "rejoin": _info(COORDINATOR, "Request joining group due to: {reason}", "3.0"),
        "joined": _info(COORDINATOR, "Successfully joined group with generation {stamp}"),
        "final_assignment": (
            (
                "0.0",
                "INFO",
                INTERNALS + "AbstractStickyAssignor",
                "Final assignment of partitions to consumers: \n{shares}",
            ),
        ),
        "finished_assignment": _info(
            COORDINATOR, "Finished assignment for group at generation {generation}: {shares}"
        ),
        "skipped_assignment": _info(
            COORDINATOR,
            "Skipped assignment for returning static leader at generation {generation}. The static leader will continue with its existing assignment.",
            "3.2",
        ),
        "synced": _info(COORDINATOR, "Successfully synced group in generation {stamp}", "2.8"),
        "updating": _info(COORDINATOR, "Updating assignment with" + BLOCK),
        "notifying": _info(
            COORDINATOR, "Notifying assignor about the new Assignment(partitions={assigned}{user_data})"
        ),
        "giving_away": _info(
            COORDINATOR,
            "Giving away all assigned partitions as lost since generation/memberID has been reset,indicating that consumer is in old state or no longer part of the group",
        ),
        "resetting": _info(COORDINATOR, "Resetting generation {also}due to: {reason}"),
        "heartbeat_failed": _info(
            COORDINATOR,
            "Attempt to heartbeat with {stamp} and group instance id {instance} failed due to {error}, resetting generation",
        ),
        "heartbeat_stale": _info(
            COORDINATOR,
            "Attempt to heartbeat with stale {stamp} and group instance id {instance} failed due to {error}, ignoring the error",
        ),
        "heartbeat_no_coordinator": _info(
            COORDINATOR,
            "Attempt to heartbeat failed since coordinator {node} is either not started or not valid",
        ),
        "join_failed": _info(
            COORDINATOR, "JoinGroup failed: {message} Need to re-join the group. Sent generation was {stamp}"
        ),
        "join_repeated": _info(
            COORDINATOR,
            "JoinGroup failed due to non-fatal error: {error}, which could indicate a replication timeout on the broker. Will retry.",
        ),
        "join_no_coordinator": _info(
            COORDINATOR,
            "JoinGroup failed: {message} Marking coordinator unknown. Sent generation was {stamp}",
        ),
        "join_fatal": _error(COORDINATOR, "JoinGroup failed due to fatal error: {message}"),
        "join_fenced": _error(
            COORDINATOR,
            "JoinGroup failed: The group instance id {instance} has been fenced by another instance. Sent generation was {stamp}",
        ),
        "sync_failed": _info(
            COORDINATOR, "SyncGroup failed: {message} Need to re-join the group. Sent generation was {stamp}"
        ),
        "sync_no_coordinator": _info(
            COORDINATOR,
            "SyncGroup failed: {message} Marking coordinator unknown. Sent generation was {stamp}",
        ),
        "commit_failed_on": _error(
            COORDINATOR, "Offset commit failed on partition {partition} at offset {offset}: {message}"
        ),
        "commit_retried_on": _warn(
            COORDINATOR, "Offset commit failed on partition {partition} at offset {offset}: {message}"
        ),
        "commit_failed": _info(COORDINATOR, "OffsetCommit failed with {stamp}: {message}"),
        "commit_failing": _info(
            COORDINATOR, "Failing OffsetCommit request since the consumer is not part of an active group"
        ),
        "auto_commit_failed": _warn(
            COORDINATOR, "Asynchronous auto-commit of offsets {offsets} failed: {message}"
        ),
        "sync_commit_failed": _warn(
            COORDINATOR, "Synchronous auto-commit of offsets {offsets} failed: {message}"
        ),
        "auto_commit_ignored": _error(
            COORDINATOR, "Asynchronous auto-commit of offsets failed: {message}. Will continue to join group."
        ),
        "unavailable_classic": _info(
            COORDINATOR,
            "Group coordinator {node} is unavailable or invalid due to cause: {cause}. isDisconnected: {disconnected}. Rediscovery will be attempted.",
        ),
        "disconnecting": _info(
            COORDINATOR, "Requesting disconnect from last known coordinator {node}", "3.0"
        ),
        "leaving": _info(
            COORDINATOR, "Member {member} sending LeaveGroup request to coordinator {node} due to {reason}"
        ),
        "fenced_in_thread": _error(
            COORDINATOR, "Caught fenced group.instance.id {instance} error in heartbeat thread"
        ),
        "poll_expired_classic": _warn(COORDINATOR, "c" + POLL_TIMEOUT),
        "close_timed_out": _warn(
            COORDINATOR,
            "Close timed out with {count} pending requests to coordinator, terminating client connections",
        ),
    }
)

CONSUMER: Mapping[str, Forms] = MappingProxyType(
    {
        "discovered_consumer": _info(
            INTERNALS + "CoordinatorRequestManager",
            "Discovered group coordinator Coordinator(key='{group}', nodeId=1, host='127.0.0.1', port=9092, errorCode=0, errorMessage='')",
        ),
        "unavailable_consumer": _info(
            INTERNALS + "CoordinatorRequestManager",
            "Group coordinator {node} is unavailable or invalid due to cause: {cause}. Rediscovery will be attempted.",
        ),
        "transitioned": _info(
            MEMBERSHIP, "Member {member} with epoch {epoch} transitioned from {before} to {after}."
        ),
        "reconciling": _info(
            MEMBERSHIP,
            "Reconciling assignment with local epoch {local_epoch}\n\tMember:                                    {member}"
            + BLOCK,
        ),
        "revoking": _info(MEMBERSHIP, "Revoking previously assigned partitions {partitions}"),
        "interrupted": _info(
            MEMBERSHIP, "Interrupting reconciliation that is not relevant anymore because {reason}"
        ),
        "fatal": _error(MEMBERSHIP, "Member {member} with epoch {epoch} transitioned to fatal state"),
        "heartbeat_unknown": _info(
            BEATS,
            "ConsumerGroupHeartbeatRequest failed because member {member} is unknown. in {backoff_ms}ms: {message}",
        ),
        "heartbeat_fenced": _info(
            BEATS,
            "ConsumerGroupHeartbeatRequest failed for member {member} because epoch {epoch} is fenced. in 100ms: {message}",
        ),
        "heartbeat_unreleased": _error(
            BEATS, "ConsumerGroupHeartbeatRequest failed due to unreleased instance id {instance}: {message}"
        ),
        "heartbeat_fatal": _error(
            BEATS, "ConsumerGroupHeartbeatRequest failed due to unexpected error {error}: {message}"
        ),
        "epoch_dropped": _info(
            COMMITS,
            "Member {member} won't include epoch in following offset commit/fetch requests because it has left the group.",
        ),
        "commit_unknown": _error(COMMITS, "OffsetCommit failed with {error}"),
        "commit_stale": _error(
            COMMITS,
            "OffsetCommit failed for member {member} with stale member epoch error. Last epoch sent: {epoch}",
        ),
        "auto_commit_thrown": _warn(COMMITS, "Auto-commit of offsets {offsets} failed"),
        "close_commit_failed": _warn(ASYNC, "Synchronous auto-commit failed"),
        "left_the_group": _info(ASYNC, "Completed leaving the group"),
        "leave_unfinished": _warn(
            ASYNC,
            "Consumer attempted to leave the group but couldn't complete it within {limit_ms} ms. It will proceed to close.",
        ),
        "poll_expired_consumer": _warn(BEATS, "C" + POLL_TIMEOUT),
        "poll_resumed": _warn(
            BEATS,
            "Time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, exceeded approximately by {over_ms} ms. Member {member} will rejoin the group now.",
        ),
    }
)

PROCESS: Mapping[str, Forms] = MappingProxyType(
    {
        "version": (("0.0", "INFO", APP_INFO, "Kafka version: {release}"),),
        "unregistered": (("0.0", "INFO", APP_INFO, "App info kafka.consumer for {client} unregistered"),),
    }
)
"""Where a consumer's life begins and ends; they tell nothing of the group."""

CLIENT: Mapping[str, Forms] = MappingProxyType({**BOTH, **CLASSIC, **CONSUMER})


class NativeForm(NamedTuple):
    """One kind of line; values stand in ``{braces}``."""

    level: str
    facility: str
    thread: str
    text: str


G = 'Group "{group}"'
BROKER = "127.0.0.1:9092/1"
NATIVE_COORDINATOR = "GroupCoordinator/1"


def _main(facility: str, text: str, level: str = "7") -> NativeForm:
    return NativeForm(level, facility, "main", text)


LIBRDKAFKA: Mapping[str, NativeForm] = MappingProxyType(
    {
        # the client
        "initialized": NativeForm(
            "7",
            "INIT",
            "app",
            "librdkafka v2.16.0 (0x21000ff) {client}#consumer-1 initialized (builtin.features gzip,snappy,ssl,sasl,regex,lz4,sasl_plain,sasl_scram,plugins,zstd,sasl_oauthbearer,http,oidc, "
            "STRIP STATIC_LINKING GCC GXX PKGCONFIG INSTALL GNULD LDS C11THREADS LIBDL PLUGINS ZLIB SSL ZSTD CURL HDRHISTOGRAM SYSLOG SNAPPY SOCKEM SASL_SCRAM SASL_OAUTHBEARER OAUTHBEARER_OIDC CRC32C_HW, debug 0x2100)",
        ),
        "member_id_app": NativeForm("7", "MEMBERID", "app", G + ': updating member id "{old}" -> "{new}"'),
        "member_id": _main("MEMBERID", G + ': updating member id "{old}" -> "{new}"'),
        "state": _main("CGRPSTATE", G + " changed state {before} -> {after} (join-state {join_state})"),
        "join_state": _main("CGRPJOINSTATE", G + " changed join state {before} -> {after} (state {state})"),
        "subscribe": _main(
            "SUBSCRIBE", G + ": subscribe to new subscription of {topics} topics (join-state {join_state})"
        ),
        "closing": NativeForm("7", "CLOSE", "app", "Closing consumer"),
        "close_waits": NativeForm("7", "CLOSE", "app", "Waiting for close events"),
        "closed": NativeForm("7", "CLOSE", "app", "Consumer closed"),
        "unsubscribe": _main(
            "UNSUBSCRIBE",
            G
            + ": unsubscribe from current subscription of size {topics} (leave group=true, has joined=true, {member}, join-state {join_state})",
        ),
        "leave": _main("LEAVE", G + ": leave (in state {state})"),
        "leaving": _main("LEAVE", BROKER + ": Leaving group"),
        # joining, classic
        "join": _main("JOIN", G + ": join with {topics} subscribed topic(s)"),
        "joining": _main(
            "JOIN",
            BROKER + ': Joining group "{group}" with {topics} subscribed topic(s) and member id "{member}"',
        ),
        "join_response": _main(
            "JOINGROUP",
            "JoinGroup response: GenerationId {generation}, Protocol {assignor}, LeaderId {leader}{me}, my MemberId {member}, member metadata count {members}: {error}",
        ),
        "elected": _main("JOINGROUP", 'I am elected leader for group "{group}" with {members} member(s)'),
        "assignor_runs": _main(
            "ASSIGN",
            G
            + " running {assignor} assignor for {members} member(s) and {topics} eligible subscribed topic(s):",
        ),
        "assignor_ran": _main(
            "ASSIGN", G + " {assignor} assignment for {members} member(s) finished in 0.000ms:"
        ),
        "member_assigned": _main("ASSIGN", ' Member "{member}"{me} assigned {count} partition(s):'),
        "partition_assigned": _main("ASSIGN", "  {topic} [{partition}]"),
        "assignor": _main("ASSIGNOR", G + ': "{assignor}" assignor run for {members} member(s)'),
        "sync_response": _main("SYNCGROUP", "SyncGroup response: {error} ({size} bytes of MemberState data)"),
        "rejoining": _main("REJOIN", G + ": Rejoining group {how}: {reason}"),
        "rejoining_all": _main(
            "REJOIN",
            G + " (re)joining in join-state {join_state} with {count} assigned partition(s): {reason}",
        ),
        "metadata_updated": _main(
            "REJOIN", G + ": subscription updated from metadata change: rejoining group in state {join_state}"
        ),
        # giving up and taking over
        "rebalance": _main(
            "REBALANCE",
            G
            + " {who} ({mode}) in state {state} (join-state {join_state}) with {count} assigned partition(s){lost}: {reason}",
        ),
        "revoking_all": _main("REBALANCE", G + ": revoking all {count} partition(s) ({why})"),
        "assignment_lost": _main("LOST", G + ": current assignment of {count} partition(s) lost: {reason}"),
        "delegating": _main(
            "ASSIGN",
            G
            + ": delegating {incremental}{what} of {count} partition(s) to application on queue {queue}: {reason}",
        ),
        "new_assignment": _main(
            "ASSIGN", G + ": new assignment of {count} partition(s) in join-state {join_state}"
        ),
        "closing_unassign": _main("ASSIGN", G + ": Consumer is terminating: treating assign as unassign"),
        "wrong_call": _main(
            "ASSIGN",
            G
            + ": application *assign() call failed: Changes to the current assignment must be made using incremental_assign() or incremental_unassign() when rebalance protocol type is COOPERATIVE",
            "4",
        ),
        "incremental": _main(
            "COOPASSIGN",
            G
            + ": incremental assignment: {added} newly added, {revoked} revoked partitions based on assignment of {count} partitions",
        ),
        "pausing": _main("PAUSE", "Pausing fetchers for {count} assigned partition(s): {reason}"),
        "resuming": _main("PAUSE", "Resuming fetchers for {count} assigned partition(s): {reason}"),
        "done": _main(
            "ASSIGNDONE",
            G + ": assignment operations done in join-state {join_state} (rebalance rejoin=false)",
        ),
        # heartbeats and commits
        "heartbeat": _main(
            "HEARTBEAT", NATIVE_COORDINATOR + ': Heartbeat for group "{group}" generation id {generation}'
        ),
        "heartbeat_error": _main(
            "HEARTBEAT",
            G
            + " heartbeat error response in state {state} (join-state {join_state}, {count} partition(s) assigned): {error}",
        ),
        "epoch_heartbeat": _main(
            "HEARTBEAT",
            NATIVE_COORDINATOR
            + ': ConsumerGroupHeartbeat of member id "{member}", group id "{group}", generation id {epoch}, group instance id "{instance}", current assignment "{owned}", '
            'subscribed topics "{topics}", subscribed topic regex "{regex}", remote assignor "{assignor}"',
        ),
        "epoch_response": _main(
            "HEARTBEAT",
            'ConsumerGroupHeartbeat response received for member id "{member}" with epoch {epoch}',
        ),
        "target": _main("HEARTBEAT", 'ConsumerGroupHeartbeat received target assignment "{target}"'),
        "reconciling": _main(
            "HEARTBEAT",
            'Reconciliation starts with new target assignment "{target}". Next assignment cleared',
        ),
        "postponed": _main("HEARTBEAT", "Reconciliation in progress, postponing next one"),
        "acknowledging": _main("HEARTBEAT", 'Acknowledging target assignment "{target}"'),
        "acknowledged": _main("HEARTBEAT", 'Target assignment acked, new current assignment  "{target}"'),
        "committing": _main(
            "COMMIT",
            NATIVE_COORDINATOR
            + ": Committing offsets for {count} partition(s) with generation-id {generation} in join-state {join_state}: {reason}",
        ),
        "committed": _main(
            "COMMIT",
            NATIVE_COORDINATOR
            + ": OffsetCommit for {count} partition(s) in join-state {join_state}: {reason}: returned: {error}",
        ),
        "poll_exceeded": _main(
            "MAXPOLL",
            "Application maximum poll interval ({limit_ms}ms) exceeded by {over_ms}ms (adjust max.poll.interval.ms for long-running message processing): leaving group",
            "4",
        ),
        "session_over": _main(
            "SESSTMOUT",
            "Consumer group session timed out (in join-state {join_state}) after {after_ms} ms without a successful response from the group coordinator (broker 1, last error was {error}): revoking assignment and rejoining group",
            "4",
        ),
    }
)
"""Every line by its name."""

ERRORS: Mapping[str, str] = MappingProxyType(
    {
        "NONE": "Success",
        "MEMBER_ID_REQUIRED": "Broker: Group member needs a valid member ID",
        "REBALANCE_IN_PROGRESS": "Broker: Group rebalance in progress",
        "UNKNOWN_MEMBER_ID": "Broker: Unknown member",
        "ILLEGAL_GENERATION": "Broker: Specified group generation id is not valid",
        "INCONSISTENT_GROUP_PROTOCOL": "Broker: Inconsistent group protocol",
        "FENCED_INSTANCE_ID": "Broker: Static consumer fenced by other consumer with same group.instance.id",
        "NOT_COORDINATOR": "Broker: Not coordinator",
        "COORDINATOR_NOT_AVAILABLE": "Broker: Coordinator not available",
        "GROUP_MAX_SIZE_REACHED": "Broker: Consumer group has reached maximum size",
        "STALE_MEMBER_EPOCH": "Broker: The member epoch is stale",
        "FENCED_MEMBER_EPOCH": "Broker: The member epoch is fenced by the group coordinator",
        "UNRELEASED_INSTANCE_ID": "Broker: The instance ID is still used by another member in the consumer group",
    }
)
"""How librdkafka words Kafka's errors (``rd_kafka_err2str``)."""
