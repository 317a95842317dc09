"""Lines of brokers and Java clients before Kafka 2.8 (from 0.10), where they differ from today's."""

from __future__ import annotations

from rebalance_kit.forensics.grammar.template import Template

_BROKER_LINES: tuple[tuple[str, str], ...] = (
    (
        "left",
        "Member[group.instance.id {instance}, member.id {member}] in group {group} has left, removing it from the group[[.]]",
    ),
    ("left", "Member {member} in group {group} has left, removing it from the group[[.]]"),
    (
        "member_added",
        "Dynamic Member with unknown member id joins group {group} in {state} state. "
        "Created a new member id {member} for this member and add to the group[[.]]",
    ),
    (
        "static_replaced",
        "Static member {instance} of group {group} with unknown member id rejoins, assigning new member id {member}, "
        "while old member {other} will be removed[[.]]",
    ),
    ("loaded", "Loading group metadata for {group} with generation {generation}"),
    ("preparing", "Preparing to restabilize group {group} with old generation {generation}"),
    ("emptied", "Group {group} generation {generation} is dead and removed"),
    ("died", "Group {group} transitioned to Dead in generation {generation}"),
)

_POLL_TEXT = (
    "consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer"
)

_JAVA_LINES: tuple[tuple[str, str], ...] = (
    ("joined", "Successfully joined group {group} with generation {generation}"),
    ("assigned", "Setting newly assigned partitions[[:]] {partitions} for group {group}"),
    ("assigned", "Setting newly assigned partitions[[:]] {partitions}"),
    ("coordinator_found", "Discovered coordinator {_} for group {group}[[.]]"),
    ("coordinator_lost", "Marking the coordinator {_} dead for group {group}"),
    ("coordinator_lost", "Marking the coordinator {_} dead"),
    ("coordinator_lost", "Group coordinator {_} is unavailable or invalid, will attempt rediscovery"),
    ("poll_timeout", f"This member will leave the group because {_POLL_TEXT}{{_}}"),
    ("leaving", "Member {member} sending LeaveGroup request to coordinator {_}"),
    ("leaving", "Sending LeaveGroup request to coordinator {_}"),
    ("given_away", "Giving away all assigned partitions as lost since generation has been reset,{_}"),
    ("join_retried", "Join group failed with {reason}"),
    ("join_retried", "Attempt to join group failed due to {reason}"),
    ("heartbeat_failed", "Attempt to heartbeat failed for since member id {member} is not valid[[.]]"),
    ("heartbeat_failed", "Attempt to heartbeat failed since member id {member} is not valid[[.]]"),
    ("heartbeat_failed", "Attempt to heartbeat failed since generation {_} is not current"),
)

OLDER_BROKER: tuple[Template, ...] = tuple(Template(event, "broker", text) for event, text in _BROKER_LINES)

OLDER_JAVA: tuple[Template, ...] = (
    *(Template(event, "java", text) for event, text in _JAVA_LINES),
    Template(
        "rejoin_requested",
        "java",
        "Attempt to heartbeat failed since group is rebalancing[[.]]",
        (("reason", "group is already rebalancing"),),
    ),
)
