"""What follows from an action, and the setting that decides how long it lasts, with the value that holds in the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from rebalance_kit.model.configs.client_keys import CLIENT_KEYS
from rebalance_kit.model.trace import TraceRow
from rebalance_kit.model.versions import PREFERRED
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.words.phrases import seconds

Rule = Callable[[Boards, TraceRow], tuple[str, str]]
ELSE = ("This was done to the group; everything else follows from it.", "the scenario")
EXPIRY = "GroupMetadataManager.expireClassicGroupMemberHeartbeat, scheduleConsumerGroupSessionTimeout"


def action_rule(boards: Boards, row: TraceRow) -> tuple[str, str]:
    """The rule that decides what follows from an action and when, and where it stands."""
    rule = RULES.get(row.detail["do"])
    return ELSE if rule is None else rule(boards, row)


def _setting(boards: Boards, member: str | None, key: str) -> str:
    """``key (45.0 s)``: the member's value, else the default of its version."""
    version = str(boards.trace.meta.get("kafka_version", PREFERRED))
    value = CLIENT_KEYS[key].default(version)
    for row in boards.trace.of("process_started"):
        if member in {None, row.actor}:
            value = row.detail.get("configs", {}).get(key, value)
    return f"{key} ({seconds(int(value))})"


def _session(boards: Boards, row: TraceRow) -> str:
    name = row.detail["member"]
    protocol = boards.members[name].at(row.at_ms).protocol if name in boards.members else "classic"
    key = "group.consumer.session.timeout.ms" if protocol == "consumer" else "session.timeout.ms"
    return f"{key} ({seconds(boards.session_ms(name, protocol))})"


def _renewing(boards: Boards, row: TraceRow) -> str:
    """Requests of the member that renew its session."""
    name = row.detail["member"]
    consumer = name in boards.members and boards.members[name].at(row.at_ms).protocol == "consumer"
    return "heartbeat" if consumer else "heartbeat, JoinGroup, SyncGroup or commit"


def _silent(boards: Boards, row: TraceRow) -> tuple[str, str]:
    return (
        f"The coordinator is told nothing. It keeps the member and its partitions until {_session(boards, row)} has passed "
        f"since the last {_renewing(boards, row)} that arrived; that is how long this lasts.",
        EXPIRY,
    )


def _closed(boards: Boards, row: TraceRow) -> tuple[str, str]:
    state = (
        boards.members[row.detail["member"]].at(row.at_ms) if row.detail["member"] in boards.members else None
    )
    if state is not None and state.instance_id is not None:
        return (
            f"A static member is expected back, so its partitions wait for it until {_session(boards, row)} has passed.",
            "KIP-345",
        )
    return (
        "close() commits, runs the callback and tells the coordinator (LeaveGroup, or a heartbeat with epoch -1), so no "
        "session has to end; the others hear of it with their next heartbeat.",
        "AbstractCoordinator.maybeLeaveGroup, KIP-848",
    )


def _stalled(boards: Boards, row: TraceRow) -> tuple[str, str]:
    limit = _setting(boards, row.detail["member"], "max.poll.interval.ms")
    return (
        f"Heartbeats go on from a thread of their own. The member leaves once it has not called poll() for {limit}; a "
        "rebalance meanwhile waits for it.",
        "KIP-62; AbstractCoordinator.HeartbeatThread",
    )


def _metadata(boards: Boards, _row: TraceRow) -> tuple[str, str]:
    age = _setting(boards, None, "metadata.max.age.ms")
    return (
        f"Members of a classic group see it with their next metadata, at the latest after {age}; the coordinator of a "
        "KIP-848 group sees it at once.",
        "Metadata.timeToNextUpdate; GroupMetadataManager.onMetadataUpdate",
    )


def _started(boards: Boards, row: TraceRow) -> tuple[str, str]:
    beat = _setting(boards, row.detail["member"], "heartbeat.interval.ms")
    return (
        f"A process that starts has no member id and asks for one. The others hear of the rebalance with their next "
        f"heartbeat, at the latest after {beat}.",
        "KIP-394; AbstractCoordinator.sendHeartbeatRequest",
    )


def _later(boards: Boards, row: TraceRow) -> tuple[str, str]:
    limit = _setting(boards, row.detail["member"], "max.poll.interval.ms")
    return (
        f"Callbacks run inside poll() and only in a rebalance; a join phase waits for them for at most {limit}.",
        "ConsumerRebalanceListenerInvoker; ClassicGroup.rebalanceTimeoutMs",
    )


RULES: Mapping[str, Rule] = MappingProxyType(
    {
        **dict.fromkeys(("crash", "freeze", "cut_network"), _silent),
        "close": _closed,
        **dict.fromkeys(("stall", "slow_down"), _stalled),
        **dict.fromkeys(("add_partitions", "create_topic", "delete_topic"), _metadata),
        **dict.fromkeys(("start", "restart", "reconfigure", "scale_to", "rolling_restart"), _started),
        "slow_callback": _later,
    }
)
