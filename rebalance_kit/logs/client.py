"""A Java client's log of a trace, classic and KIP-848, in Kafka's own words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from rebalance_kit.logs.lines import CLIENT, LogLine, at_least, listed
from rebalance_kit.model.trace import Trace, TraceRow

COORDINATOR = CLIENT + "ConsumerCoordinator"
INVOKER = CLIENT + "ConsumerRebalanceListenerInvoker"
MEMBERSHIP = CLIENT + "ConsumerMembershipManager"
BEATS = CLIENT + "ConsumerHeartbeatRequestManager"
NODE = "127.0.0.1:9092 (id: 2147483646 rack: null isFenced: false)"
POLL_TIMEOUT = (
    "onsumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured "
    "max.poll.interval.ms, which typically implies that the poll loop is spending too much time processing messages. You can address this "
    "either by increasing max.poll.interval.ms or by reducing the maximum size of batches returned in poll() with max.poll.records."
)
LOST = "Giving away all assigned partitions as lost since generation/memberID has been reset,indicating that consumer is in old state or no longer part of the group"
STICKY = frozenset({"sticky", "cooperative-sticky"})
Said = Iterator[tuple[str, str, str]]
"""(level, logger, message without the client's prefix); a message that begins with a bare ``\\0`` gets none."""
BARE = "\0"


def member_lines(trace: Trace, name: str, version: str | None = None) -> Iterator[LogLine]:
    """Lines about the group that a member's process writes, over all its lives."""
    release = version or str(trace.meta.get("kafka_version", "4.3.1"))
    group, instance = "", None
    answers = _answers(trace, name)
    for row in trace.rows:
        if row.actor != name:
            continue
        if row.kind == "process_started":
            group, instance = row.detail["group"], row.detail["configs"].get("group.instance.id")
        render = (_CONSUMER if row.protocol == "consumer" else _CLASSIC).get(row.kind)
        if render is None:
            continue
        who = f"instanceId={instance}, " if instance else ""
        prefix = f"[Consumer {who}clientId={name}, groupId={group}] "
        for level, logger, message in render(row, release, answers):
            bare = message.startswith(BARE)
            yield LogLine(row.at_ms, level, logger, message[1:] if bare else prefix + message)


def _answers(trace: Trace, name: str) -> Mapping[str, str]:
    """Assignor by generation, for the lines that print it."""
    return {
        str(row.generation): str(row.detail["assignor"]) for row in trace.of("joined") if row.actor == name
    }


Render = Callable[[TraceRow, str, Mapping[str, str]], Said]


def _info(logger: str, message: str) -> tuple[str, str, str]:
    return "INFO", logger, message


# --- both protocols ----------------------------------------------------------------------------
def _started(row: TraceRow, version: str, answers: Mapping[str, str]) -> Said:
    logger = CLIENT + ("ClassicKafkaConsumer" if row.protocol == "classic" else "AsyncKafkaConsumer")
    yield _info(logger, f"Subscribed to topic(s): {', '.join(row.detail['topics'])}")


def _callback(row: TraceRow, version: str, answers: Mapping[str, str]) -> Said:
    partitions, kind = row.detail["partitions"], row.detail["callback"]
    shown = listed(partitions, version)
    if kind == "lost":
        if row.protocol == "classic":
            yield _info(COORDINATOR, LOST)
        yield _info(INVOKER, f"Lost previously assigned partitions {shown}")
    elif kind == "revoked":
        yield _info(INVOKER, f"Revoke previously assigned partitions {shown}")
    else:
        yield _info(INVOKER, f"Adding newly assigned partitions: {shown}")


def _fetched(row: TraceRow, version: str, answers: Mapping[str, str]) -> Said:
    tp, position = f"{row.topic}-{row.partition}", row.detail["position"]
    leader = f"currentLeader=LeaderAndEpoch{{leader=Optional[127.0.0.1:9092 (id: 1 rack: null{' isFenced: false' if at_least(version, '4.0') else ''})], epoch=0}}"
    if row.detail["committed"] is None:
        yield _info(COORDINATOR, f"Found no committed offset for partition {tp}")
        yield _info(
            CLIENT + "SubscriptionState",
            f"Resetting offset for partition {tp} to position FetchPosition{{offset={position}, offsetEpoch=Optional.empty, {leader}}}.",
        )
    else:
        yield _info(
            CLIENT + "ConsumerUtils",
            f"{BARE}Setting offset for partition {tp} to the committed offset FetchPosition{{offset={position}, offsetEpoch=Optional[0], {leader}}}",
        )


def _died(row: TraceRow, version: str, answers: Mapping[str, str]) -> Said:
    error, message = row.detail["error"], row.detail["message"]
    if row.protocol == "consumer":
        if error == "UNRELEASED_INSTANCE_ID":
            yield (
                "ERROR",
                BEATS,
                f"ConsumerGroupHeartbeatRequest failed due to unreleased instance id: {message}",
            )
        else:
            yield (
                "ERROR",
                BEATS,
                f"ConsumerGroupHeartbeatRequest failed due to unexpected error {error}: {message}",
            )
    elif error == "FENCED_INSTANCE_ID":
        yield "ERROR", COORDINATOR, "Caught fenced group.instance.id error in heartbeat thread"
    else:
        yield "ERROR", COORDINATOR, f"JoinGroup failed due to fatal error: {message}"


# --- classic -----------------------------------------------------------------------------------
def _sent(row: TraceRow, version: str, answers: Mapping[str, str]) -> Said:
    api = row.detail["api"]
    if api == "JoinGroup":
        yield _info(COORDINATOR, "(Re-)joining group")
    elif api == "LeaveGroup":
        yield _info(
            COORDINATOR,
            f"Member {row.member_id} sending LeaveGroup request to coordinator {NODE} due to {row.detail['reason']}",
        )


def _requested(row: TraceRow, version: str, answers: Mapping[str, str]) -> Said:
    yield _info(COORDINATOR, f"Request joining group due to: {row.detail['reason']}")


def _stamp(row: TraceRow, answers: Mapping[str, str]) -> str:
    return f"Generation{{generationId={row.generation}, memberId='{row.member_id}', protocol='{answers.get(str(row.generation), 'null')}'}}"


def _joined(row: TraceRow, version: str, answers: Mapping[str, str]) -> Said:
    yield _info(COORDINATOR, f"Successfully joined group with generation {_stamp(row, answers)}")


def _computed(row: TraceRow, version: str, answers: Mapping[str, str]) -> Said:
    shares = row.detail["assignment"]
    if row.detail["assignor"] in STICKY:
        inside = ", ".join(f"{who}=[{', '.join(given)}]" for who, given in shares.items())
        yield _info(
            CLIENT + "AbstractStickyAssignor",
            f"{BARE}Final assignment of partitions to consumers: \n{{{inside}}}",
        )
    inside = ", ".join(f"{who}=Assignment(partitions=[{', '.join(given)}])" for who, given in shares.items())
    yield _info(COORDINATOR, f"Finished assignment for group at generation {row.generation}: {{{inside}}}")


def _synced(row: TraceRow, version: str, answers: Mapping[str, str]) -> Said:
    held = row.detail
    yield _info(COORDINATOR, f"Successfully synced group in generation {_stamp(row, answers)}")
    if held["cooperative"]:
        block = _block("Updating assignment with", held)
        yield _info(COORDINATOR, block)
    yield _info(
        COORDINATOR,
        f"Notifying assignor about the new Assignment(partitions=[{', '.join(held['assigned'])}])",
    )


def _block(head: str, held: Mapping[str, object]) -> str:
    rows = (
        ("Assigned partitions:", "assigned"),
        ("Current owned partitions:", "owned"),
        ("Added partitions (assigned - owned):", "added"),
        ("Revoked partitions (owned - assigned):", "revoked"),
    )
    inside = "".join(f"\n\t{label:<43}[{', '.join(_strings(held[key]))}]" for label, key in rows)
    return f"{head}{inside}\n"


def _strings(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list | tuple) else []


def _reset(row: TraceRow, version: str, answers: Mapping[str, str]) -> Said:
    kept = "" if row.detail["member_id_kept"] else "and member id "
    yield _info(COORDINATOR, f"Resetting generation {kept}due to: {row.detail['reason']}")


def _lost(row: TraceRow, version: str, answers: Mapping[str, str]) -> Said:
    cause = row.detail["cause"]
    if row.protocol == "consumer":
        yield _info(
            CLIENT + "CoordinatorRequestManager",
            f"Group coordinator {NODE} is unavailable or invalid due to cause: {cause}. Rediscovery will be attempted.",
        )
    else:
        yield _info(
            COORDINATOR,
            f"Group coordinator {NODE} is unavailable or invalid due to cause: {cause}. isDisconnected: false. Rediscovery will be attempted.",
        )


def _found(row: TraceRow, version: str, answers: Mapping[str, str]) -> Said:
    yield _info(COORDINATOR, f"Discovered group coordinator {NODE}")


def _overdue(row: TraceRow, version: str, answers: Mapping[str, str]) -> Said:
    yield (
        ("WARN", BEATS, "C" + POLL_TIMEOUT)
        if row.protocol == "consumer"
        else ("WARN", COORDINATOR, "c" + POLL_TIMEOUT)
    )


# --- KIP-848 ------------------------------------------------------------------------------------
def _moved(row: TraceRow, version: str, answers: Mapping[str, str]) -> Said:
    held = row.detail
    epoch = row.generation if row.generation is not None else 0
    yield _info(
        MEMBERSHIP,
        f"Member {row.member_id} with epoch {epoch} transitioned from {held['from']} to {held['to']}.",
    )


def _reconciling(row: TraceRow, version: str, answers: Mapping[str, str]) -> Said:
    held = row.detail
    head = f"Reconciling assignment with local epoch {held['local_epoch']}\n\t{'Member:':<43}{row.member_id}"
    yield _info(MEMBERSHIP, _block(head, held))
    if held["revoked"]:
        yield _info(
            MEMBERSHIP, f"Revoking previously assigned partitions {listed(list(held['revoked']), version)}"
        )


_BOTH: Mapping[str, Render] = MappingProxyType(
    {
        "process_started": _started, "callback_begin": _callback, "fetch_resumed": _fetched, "died": _died, "coordinator_lost": _lost,
        "coordinator_found": _found, "poll_timeout": _overdue,
    }
)  # fmt: skip
_CLASSIC: Mapping[str, Render] = MappingProxyType(
    {
        **_BOTH,
        "request": _sent,
        "rejoin_requested": _requested,
        "joined": _joined,
        "assignment_computed": _computed,
        "synced": _synced,
        "generation_reset": _reset,
    }
)
_CONSUMER: Mapping[str, Render] = MappingProxyType(
    {**_BOTH, "member_state": _moved, "reconciling": _reconciling}
)
