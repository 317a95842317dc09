"""Lines of librdkafka 2.16 with ``debug=cgrp,consumer``: those that tell of the group, out of several hundred.

Each entry: name, then syslog level, facility, thread, text. Texts were taken from recorded clients
(``rdkafka_cgrp.c``, ``rdkafka_assignor.c``, ``rdkafka_assignment.c``, ``rdkafka.c``). The dumps of lists that follow
some of them are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class NativeForm(NamedTuple):
    """One kind of line; values stand in ``{braces}``."""

    level: str
    facility: str
    thread: str
    text: str


G = 'Group "{group}"'
BROKER = "127.0.0.1:9092/1"
COORDINATOR = "GroupCoordinator/1"


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
            "HEARTBEAT", COORDINATOR + ': Heartbeat for group "{group}" generation id {generation}'
        ),
        "heartbeat_error": _main(
            "HEARTBEAT",
            G
            + " heartbeat error response in state {state} (join-state {join_state}, {count} partition(s) assigned): {error}",
        ),
        "epoch_heartbeat": _main(
            "HEARTBEAT",
            COORDINATOR
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
            COORDINATOR
            + ": Committing offsets for {count} partition(s) with generation-id {generation} in join-state {join_state}: {reason}",
        ),
        "committed": _main(
            "COMMIT",
            COORDINATOR
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
