"""What Why says of each kind of row of a trace: a sentence, the rule of Kafka behind it, and where that rule stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from rebalance_kit.model.trace import TraceRow
from rebalance_kit.view.words.phrases import partitions_in_words

_ID = re.compile(r"-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
"""What a client adds to its name to make a member id; the log shows it."""
Say = Callable[[TraceRow], str | None]


class Account(NamedTuple):
    """How one kind of row is told: a sentence (None: not worth one), the rule, its source."""

    say: Say
    rule: str
    source: str


REMOVED: Mapping[str, tuple[str, str, str]] = MappingProxyType(
    {
        "leave": (
            "{who} left",
            "A consumer that is closed says so (LeaveGroup, or a heartbeat with epoch -1), so nobody waits for its session.",
            "AbstractCoordinator.maybeLeaveGroup, KIP-848",
        ),
        "session": (
            "{who} was removed: its session ended",
            "Without {renewing} for {timeout} the coordinator removes a member. Only this tells the group of one that is silent.",
            "GroupMetadataManager.scheduleConsumerGroupSessionTimeout, expireClassicGroupMemberHeartbeat",
        ),
        "rebalance_timeout": (
            "{who} was removed: it did not give up its partitions in time",
            "A member may take its rebalance timeout (max.poll.interval.ms) to give up what it was told to give up.",
            "KIP-848; GroupMetadataManager.scheduleConsumerGroupRebalanceTimeout",
        ),
        "sync_timeout": (
            "{who} was removed: it did not send SyncGroup in time",
            "Who has joined must sync within the rebalance timeout.",
            "GroupMetadataManager.expirePendingSync",
        ),
        "admin": (
            "{who} was removed by an administrator",
            "removeMembersFromConsumerGroup takes a member out at once.",
            "KIP-345, KafkaAdminClient",
        ),
        "late": (
            "{who} was removed: {reason}",
            "The join phase lasts at most the longest rebalance timeout (max.poll.interval.ms) of the members, and a group holds at most group.max.size.",
            "GroupMetadataManager.completeClassicGroupJoin, acceptJoiningMember",
        ),
    }
)
RECORDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "twice": (
            "Reading goes on at the last committed offset: what was read after it comes twice. "
            "auto.commit.interval.ms decides how much that is.",
            "ConsumerCoordinator.initWithCommittedOffsetsIfNeeded",
        ),
        "twice: start": (
            "Where there is no committed offset, auto.offset.reset decides: earliest begins at the start of the log, and what "
            "was read before comes twice.",
            "SubscriptionState.maybeSeekUnvalidated, OffsetFetcher.resetPositionsIfNeeded",
        ),
        "twice: own": (
            "A process that wakes up reads on at its own position. It learns with its next answer from the coordinator that "
            "its partitions belong to others, which have read from the committed offset meanwhile.",
            "Fetcher.collectFetch, AbstractCoordinator.resetStateOnResponseError",
        ),
        "twice: beside": (
            "Two members read the same partition: the coordinator cannot stop a member that it does not reach. It reads on "
            "until it learns that the group has given its partitions away, and its commits are refused.",
            "Fetcher.collectFetch, ConsumerCoordinator.OffsetCommitResponseHandler",
        ),
        "skipped": (
            "Where there is no committed offset, auto.offset.reset decides: latest begins at the end of the log, and what "
            "came before is read by nobody.",
            "SubscriptionState.maybeSeekUnvalidated, OffsetFetcher.resetPositionsIfNeeded",
        ),
    }
)
FLOWS_AGAIN = (
    "A new owner asks for the committed offset and fetches from there; with the first records that it processes a partition "
    "is read again.",
    "ConsumerCoordinator.initWithCommittedOffsetsIfNeeded, Fetcher.collectFetch",
)
ACKNOWLEDGES = (
    "With enable.auto.commit it has committed first. Its heartbeat acknowledges only when the listener has returned, and no other "
    "member gets these partitions before."
)
"""What a KIP-848 member does before and after onPartitionsRevoked."""
TRIGGERS: Mapping[str, str] = MappingProxyType(
    {
        "join": "a member joins",
        "leave": "a member left",
        "session": "a member's session ended",
        "metadata": "topics or partitions changed",
        "subscription": "a member subscribes to other topics",
    }
)


def who_of(row: TraceRow) -> str:
    """The member that a row is about."""
    return str(row.detail.get("name") or row.actor)


def _moved(row: TraceRow) -> str | None:
    if row.detail["to"] != "PreparingRebalance":
        return None
    cause = TRIGGERS.get(row.detail.get("trigger", ""), "")
    reason = _ID.sub("", str(row.detail.get("reason") or "no reason given"))
    return f"A rebalance begins{': ' + cause if cause else ''} ({reason})"


def _rejoins(row: TraceRow) -> str | None:
    why = str(row.detail.get("sent") or row.detail.get("reason"))
    return None if "member-id" in why else f"{row.actor} will re-join: {why}"


def _prepares(row: TraceRow) -> str | None:
    if row.generation is None or row.generation < 0:
        return None  # it has nothing to give up yet
    return (
        f"{row.actor} gives up everything before it joins"
        if row.detail.get("revokes")
        else f"{row.actor} joins and keeps what it has"
    )


def _callback(row: TraceRow) -> str:
    name = {
        "assigned": "onPartitionsAssigned",
        "revoked": "onPartitionsRevoked",
        "lost": "onPartitionsLost",
    }.get(row.detail["callback"], row.detail["callback"])
    return f"{row.actor} runs {name} with {partitions_in_words(row.detail['partitions'])}"


def _reconciled(row: TraceRow) -> str | None:
    waits = row.detail.get("pending_revocation")
    if waits:
        return f"The coordinator asks {who_of(row)} to give up {partitions_in_words(waits)}"
    return f"{who_of(row)} is at epoch {row.detail.get('epoch')} with {partitions_in_words(row.detail.get('assigned', ()))}"


def _refused(row: TraceRow) -> str | None:
    error = row.detail.get("error", "NONE")
    return (
        None
        if error in {"NONE", "MEMBER_ID_REQUIRED"}
        else f"The coordinator refuses {row.detail['api']} of {who_of(row)}: {error}"
    )


ACCOUNTS: Mapping[str, Account] = MappingProxyType(
    {
        "member_pending": Account(
            lambda row: f"{who_of(row)} is given an id and must join again with it",
            "A new dynamic member is first told its id (MEMBER_ID_REQUIRED), so that a lost answer leaves no ghost in the group.",
            "KIP-394; GroupMetadataManager.classicGroupJoinNewDynamicMember",
        ),
        "member_added": Account(
            lambda row: f"{who_of(row)} is a member now",
            "The coordinator adds who joins; the group must then share its partitions anew.",
            "GroupMetadataManager",
        ),
        "group_state": Account(
            _moved,
            "All members must send JoinGroup again, and the coordinator waits for every one of them, at most the longest rebalance timeout (max.poll.interval.ms).",
            "GroupMetadataManager.prepareRebalance",
        ),
        "rejoin_requested": Account(
            _rejoins,
            "A member hears of a rebalance with its next heartbeat answer (REBALANCE_IN_PROGRESS), so at the latest heartbeat.interval.ms after it began.",
            "AbstractCoordinator.requestRejoin",
        ),
        "join_prepared": Account(
            _prepares,
            "Eager members revoke all before JoinGroup; cooperative ones keep reading and give up afterwards only what moves.",
            "ConsumerCoordinator.onJoinPrepare, KIP-429",
        ),
        "generation": Account(
            lambda row: (
                f"Generation {row.generation} is complete; {_named_leader(row)} computes the assignment with {row.detail.get('assignor')}"
            ),
            "When all have joined, the coordinator chooses an assignor that every member supports and the leader computes.",
            "ClassicGroup.selectProtocol, AbstractCoordinator.onLeaderElected",
        ),
        "assignment": Account(
            lambda _row: "The leader's assignment is stored and handed out",
            "Each member's SyncGroup is answered with its share.",
            "GroupMetadataManager.classicGroupSync",
        ),
        "epoch_bump": Account(
            lambda row: f"Group epoch {row.generation}: {row.detail.get('reason') or 'the group changed'}",
            "Whatever changes members, subscriptions or partitions raises the group epoch; nobody has to stop for it.",
            "KIP-848; GroupMetadataManager",
        ),
        "target": Account(
            lambda row: (
                f"The coordinator computes the target of epoch {row.generation} with {row.detail.get('assignor')}"
            ),
            "The broker assigns; members move to the target one by one, each with its own heartbeat.",
            "KIP-848; TargetAssignmentBuilder",
        ),
        "member_reconciled": Account(
            _reconciled,
            "A member gets a partition only when its old owner has acknowledged giving it up.",
            "KIP-848; CurrentAssignmentBuilder",
        ),
        "callback_begin": Account(
            _callback,
            "Listeners run inside poll(): meanwhile this consumer processes nothing.",
            "ConsumerRebalanceListenerInvoker",
        ),
        "wrong_call": Account(
            lambda row: (
                f"{row.actor} called {row.detail['call']}() and is refused: it reads none of its partitions"
            ),
            "A cooperative or KIP-848 client takes an assignment as changes only: its callback has to call incremental_assign() or "
            "incremental_unassign(). librdkafka refuses the other call with _STATE, changes nothing, and waits for the right one; "
            "its heartbeats go on, so the group keeps the member.",
            "librdkafka rd_kafka_assign, rd_kafka_rebalance_protocol",
        ),
        "member_replaced": Account(
            lambda row: f"{who_of(row)} takes the place of group.instance.id {row.detail.get('instance_id')}",
            "A static member that comes back keeps its share; the older process with the same id is fenced.",
            "KIP-345",
        ),
        "static_kept": Account(
            lambda row: f"{who_of(row)} is back under its group.instance.id, without a rebalance",
            "A static member that returns within its session timeout gets its old assignment.",
            "KIP-345; GroupMetadataManager.updateStaticMemberThenRebalanceOrCompleteJoin",
        ),
        "member_away": Account(
            lambda row: f"{who_of(row)} has left for a while; its partitions wait for it",
            "A static member leaves with epoch -2 and is expected back within its session timeout.",
            "KIP-848, KIP-345",
        ),
        "member_refused": Account(
            _refused,
            "The coordinator checks member id, generation or epoch, and group.instance.id of each request.",
            "GroupMetadataManager",
        ),
        "poll_timeout": Account(
            lambda row: (
                f"{row.actor} gives up its membership: it did not call poll() for max.poll.interval.ms"
            ),
            "Heartbeats come from a thread of their own, so only this limit tells that the application is stuck. A dynamic member says goodbye; a static one only stops its heartbeats (classic) or leaves for a while (epoch -2).",
            "KIP-62; AbstractCoordinator.HeartbeatThread",
        ),
        "generation_reset": Account(
            lambda row: f"{row.actor} gives up its generation: {row.detail.get('reason')}",
            "A member that is no longer known loses its id or its generation and starts anew.",
            "AbstractCoordinator.resetStateAndGeneration",
        ),
        "process_ended": Account(
            lambda row: (
                None if row.detail.get("how") != "died" else f"{row.actor} dies of {row.detail.get('error')}"
            ),
            "An error that leaves poll() ends an application that does not catch it.",
            "KafkaConsumer.poll",
        ),
        "coordinator_down": Account(
            lambda _row: "The coordinator is gone",
            "The group lives on one broker: the leader of its partition of __consumer_offsets.",
            "GroupCoordinatorService",
        ),
        "coordinator_up": Account(
            lambda _row: "A coordinator has read the group from its log",
            "Members, generation and committed offsets are in __consumer_offsets; sessions begin anew.",
            "GroupMetadataManager.onLoaded",
        ),
        "group_converted": Account(
            lambda row: f"The group is a {row.detail.get('to')} group now",
            "group.consumer.migration.policy decides whether a group may change its protocol while it lives.",
            "KIP-848; GroupMetadataManager.convertToConsumerGroup",
        ),
    }
)


FOLLOW_UP = Account(
    _rejoins,
    "A cooperative member that gave partitions up joins once more, so that they can be handed to their new owners.",
    "ConsumerCoordinator.onJoinComplete, KIP-429",
)


def follows_up(row: TraceRow) -> bool:
    """Whether a member joins once more because it gave partitions up."""
    return row.kind == "rejoin_requested" and "revoke" in str(row.detail.get("reason"))


def _named_leader(row: TraceRow) -> str:
    leader = row.detail.get("leader")
    return str(dict(row.detail.get("members", {})).get(leader, leader))
