"""State that librdkafka's lines need beyond their own row: its states, what it owns, responses in flight."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from rebalance_kit.logs.client_templates import ERRORS, LIBRDKAFKA
from rebalance_kit.logs.lines import Said
from rebalance_kit.model.config import ClientConfig
from rebalance_kit.model.topology import parse_partition
from rebalance_kit.model.trace import TraceRow


class Marks(NamedTuple):
    """Callbacks told apart by what follows them (their ``seq``)."""

    wrong: frozenset[int]
    """Ends after which librdkafka said that the wrong call was made: nothing was done, the join state goes on waiting."""
    closing: frozenset[int]
    """Beginnings of close()'s own revocation."""


class NativeState:
    """Follows one life of a librdkafka consumer; renderers read it and print through ``say``."""

    def __init__(self, name: str, row: TraceRow, meta: Mapping[str, Any], marks: Marks) -> None:
        self.marks = marks
        held = row.detail
        self.group = str(held["group"])
        version = str(meta.get("kafka_version", "4.3.1"))
        configs = {"client.id": name, "group.id": self.group, **held["configs"]}
        self.config = ClientConfig.of(configs, version, name, str(held["client"]))
        self.client = str(self.config.get("client.id") or name)
        self.topics: tuple[str, ...] = tuple(held["topics"])
        self.way = "COOPERATIVE" if row.protocol == "consumer" else self.config.mode
        self.topic_ids: Mapping[str, Any] = dict(meta.get("topic_ids", {}))
        self.join_state, self.state = "init", "init"
        self.member = ""
        self.owned: tuple[str, ...] = ()
        self.has_joined = row.protocol == "consumer"
        self.spoke = self.after_revoke = self.closing = self.acknowledges = False
        self.sent: dict[int, TraceRow] = {}
        self.gives_up: TraceRow | None = None
        """The commit of partitions that are about to be given up."""
        self.commit_error = "Success"
        self.rejoin: tuple[Said, ...] = ()
        self.reason = "rebalance in progress"

    @property
    def mode(self) -> str:
        """The rebalance protocol as it prints: NONE before the first assignment."""
        return self.way if self.has_joined else "NONE"

    def say(self, name: str, **values: object) -> tuple[Said, ...]:
        """A line of this client."""
        form = LIBRDKAFKA[name]
        given = {
            "group": self.group,
            "client": self.client,
            "state": self.state,
            "join_state": self.join_state,
            **values,
        }
        text = form.text.format_map(given)
        return (
            Said(form.level, f"{form.facility}|{self.client}#consumer-1", f"[thrd:{form.thread}]: {text}"),
        )

    def go(self, to: str) -> tuple[Said, ...]:
        """The join state changes."""
        before, self.join_state = self.join_state, to
        return self.say("join_state", before=before, after=to) if before != to else ()

    def turn(self, *states: str) -> tuple[Said, ...]:
        """The group handle's own state changes, step by step."""
        said: tuple[Said, ...] = ()
        for to in states:
            said = (*said, *self.say("state", before=self.state, after=to))
            self.state = to
        return said

    def named(self, member_id: str) -> tuple[Said, ...]:
        """The member id changes."""
        before, self.member = self.member, member_id
        return self.say("member_id", old=before, new=member_id) if before != member_id else ()

    def printed(self, partitions: Iterable[object], *, named: bool = True) -> str:
        """Partitions of a KIP-848 member as librdkafka prints them: topic (``(null)`` before it is looked up), its id, number."""
        found = [parse_partition(str(partition)) for partition in partitions]
        return ", ".join(
            f"{tp.topic if named else '(null)'}({self._topic_id(tp.topic)})[{tp.partition}]" for tp in found
        )

    def _topic_id(self, topic: str) -> str:
        halves = self.topic_ids.get(topic)
        if halves is None:
            return "(null)"
        raw = b"".join(int(half).to_bytes(8, "big", signed=True) for half in halves)
        return base64.b64encode(raw).decode().rstrip("=")


# Log lines of librdkafka about responses: JoinGroup, SyncGroup, heartbeats, commits.


AUTO = "cgrp auto commit timer"


def answered(row: TraceRow, state: NativeState) -> tuple[Said, ...]:
    """Lines of an answer that has reached the client."""
    held = row.detail
    request, error = state.sent.get(int(held["corr"])), str(held["error"])
    worded = ERRORS.get(error, f"Broker: {error}")
    api = held["api"]
    if api == "JoinGroup":
        return _join_answered(row, state, worded)
    if api == "SyncGroup":
        size = _size([str(one) for one in held["assignment"]]) if error == "NONE" else 0
        return state.say("sync_response", error=worded, size=size)
    if api == "OffsetCommit" and request is not None:
        if request.detail["how"] != "auto":
            state.commit_error = worded
            return ()
        return (
            *state.say("committed", count=len(request.detail["offsets"]), reason=AUTO, error=worded),
            *state.say("done"),
        )
    if api == "Heartbeat" and error != "NONE":
        return state.say("heartbeat_error", count=len(state.owned), error=worded)
    if api == "ConsumerGroupHeartbeat":
        return _epoch_answered(row, state, worded)
    return ()


def _join_answered(row: TraceRow, state: NativeState, worded: str) -> tuple[Said, ...]:
    held = row.detail
    member, fine = row.member_id or "", held["error"] == "NONE"
    me = " (me)" if fine and held["leader"] == member else ""
    said = state.say(
        "join_response",
        generation=row.generation if fine else -1,
        assignor=held["assignor"] or "",
        leader=held["leader"],
        me=me,
        member=member,
        members=held["members"],
        error="(no error)" if fine else worded,
    )
    if fine:
        elected = state.say("elected", members=held["members"]) if me else ()
        return (*said, *elected, *state.go("wait-metadata" if me else "wait-sync"))
    named = state.named(member) if held["error"] == "MEMBER_ID_REQUIRED" else state.named("")
    return (
        *said,
        *named,
        *state.say("rejoining", how="without an assignment", reason=f"JoinGroup error: {worded}"),
    )


def _size(partitions: list[str]) -> int:
    """Bytes of a ``ConsumerProtocolAssignment``: version, topics with their partitions, no user data."""
    topics: dict[str, int] = {}
    for partition in partitions:
        topic = parse_partition(partition).topic
        topics[topic] = topics.get(topic, 0) + 1
    return 2 + 4 + sum(2 + len(topic.encode()) + 4 + 4 * count for topic, count in topics.items()) + 4


def _epoch_answered(row: TraceRow, state: NativeState, worded: str) -> tuple[Said, ...]:
    held = row.detail
    if held["error"] != "NONE":
        return state.say("heartbeat_error", count=len(state.owned), error=worded)
    said = state.say("epoch_response", member=row.member_id, epoch=held["epoch"])
    if state.join_state in {"wait-assign-call", "wait-unassign-call"}:
        return (*said, *state.say("postponed"))
    if state.acknowledges:
        state.acknowledges = False
        said = (*said, *state.say("acknowledged", target=state.printed(state.owned)))
    if held["assignment"] is None:
        return said
    return (*said, *state.say("target", target=state.printed(held["assignment"], named=False)))


# Log lines of librdkafka while the application's rebalance callback runs and calls an assign function.
#
# EAGER delegates ``assign`` and ``revoke``, COOPERATIVE and KIP-848 their incremental forms; what is delegated, and
# why, is in the line, and the join state waits for the call.


QUEUE = "rd_kafka_cgrp_new"
CLOSE_QUEUE = "rd_kafka_consumer_close0"


def begun(row: TraceRow, state: NativeState) -> tuple[Said, ...]:
    """The callback is handed its partitions."""
    count = len(row.detail["partitions"])
    if row.detail["callback"] == "assigned":
        return _assigning(state, count)
    if row.seq in state.marks.closing:
        head = closing(state, count)
        return (*head, *_revoking(state, count), *state.say("done"), *state.say("close_waits"))
    if row.detail["callback"] == "lost" and not state.reason:
        return (*_topics_gone(state, count), *_revoking(state, count, "topics not available"))
    return _revoking(state, count)


def _topics_gone(state: NativeState, count: int) -> tuple[Said, ...]:
    """A COOPERATIVE member has found that topics it reads are deleted: ``rd_kafka_cgrp_metadata_update_check``."""
    why = f"{count} subscribed topic(s) no longer exist"  # its count is that of partitions
    return (*state.say("metadata_updated"), *state.say("assignment_lost", count=len(state.owned), reason=why))


def closing(state: NativeState, count: int) -> tuple[Said, ...]:
    """close() unsubscribes, which is a rebalance of its own, also with nothing owned."""
    state.closing = True
    state.reason = "unsubscribe"
    asked = state.say(
        "rebalance", who="initiating rebalance", mode=state.mode, count=count, lost="", reason="unsubscribe"
    )
    all_of_them = (
        state.say("revoking_all", count=count, why="terminating")
        if state.way == "COOPERATIVE" and count
        else ()
    )
    gone = state.say("unsubscribe", topics=len(state.topics), member=state.member)
    return (*state.say("closing"), *gone, *asked, *all_of_them)


def _incremental(state: NativeState) -> str:
    return "incremental " if state.way == "COOPERATIVE" else ""


def _assigning(state: NativeState, count: int) -> tuple[Said, ...]:
    after = (
        state.join_state in {"wait-incr-unassign-to-complete", "wait-unassign-to-complete"}
        and state.way == "COOPERATIVE"
    )
    if state.way == "EAGER":
        reason = "new assignment"
    else:
        reason = "cooperative assign after revoke" if after else "sync group assign"
    waits = state.go("wait-assign-call")
    told = state.say(
        "delegating", incremental=_incremental(state), what="assign", count=count, queue=QUEUE, reason=reason
    )
    held = len(state.owned) - count
    return (
        *waits,
        *told,
        *(state.say("pausing", count=held, reason="incremental rebalance") if held > 0 else ()),
    )


def _revoking(state: NativeState, count: int, why: str | None = None) -> tuple[Said, ...]:
    some = state.way == "COOPERATIVE" and not state.closing and state.reason in {"", "rebalance in progress"}
    reason = why or ("sync group revoke" if some else state.reason)
    queue = CLOSE_QUEUE if state.closing else QUEUE
    waits = state.go("wait-unassign-call")
    told = state.say(
        "delegating", incremental=_incremental(state), what="revoke", count=count, queue=queue, reason=reason
    )
    return (
        *waits,
        *told,
        *state.say("pausing", count=len(state.owned), reason=f"{_incremental(state)}rebalance"),
    )


def ended(row: TraceRow, state: NativeState) -> tuple[Said, ...]:
    """The application has called what it was asked to call, and the callback has returned."""
    count = len(row.detail["partitions"])
    if row.seq in state.marks.wrong:
        return ()
    if row.detail["callback"] == "assigned":
        return _assigned(state, count)
    if state.closing:
        return (*state.say("closing_unassign"), *state.go("wait-unassign-to-complete"), *_committed(state))
    if state.way == "EAGER" or state.reason not in {"", "rebalance in progress"}:
        state.rejoin = (
            *state.rejoin,
            *state.say("rejoining", how="without an assignment", reason="Unassignment done"),
        )
        return (*state.go("wait-unassign-to-complete"), *_committed(state))
    left = len(state.owned) - count
    resumed = state.say("resuming", count=left, reason="incremental unassign called") if left else ()
    return (*resumed, *state.go("wait-incr-unassign-to-complete"), *_committed(state, count))


def _committed(state: NativeState, count: int | None = None) -> tuple[Said, ...]:
    """Offsets of what was given up are stored before anything else happens."""
    row, state.gives_up = state.gives_up, None
    if row is None:
        return ()
    told = {
        "count": len(row.detail["offsets"]) if count is None else count,
        "reason": "unassigned partitions",
    }
    asked = state.say("committing", generation=row.generation, **told)
    return (*asked, *state.say("committed", error=state.commit_error, **told), *state.say("done"))


def _assigned(state: NativeState, count: int) -> tuple[Said, ...]:
    new = state.say("new_assignment", count=count) if state.way == "EAGER" else ()
    called = "assign called" if state.way == "EAGER" else "incremental assign called"
    resumed = state.say("resuming", count=len(state.owned), reason=called) if state.owned else ()
    said = (*new, *resumed, *state.go("steady"), *state.say("done"))
    state.reason = ""
    if state.after_revoke:
        state.after_revoke = False
        why = "rejoining group to redistribute previously owned partitions to other group members"
        state.rejoin = state.say("rejoining", how=f"with {len(state.owned)} owned partition(s)", reason=why)
    return said
