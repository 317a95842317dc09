"""Lines of librdkafka and the clients built on it (``debug=cgrp,consumer`` for most of them).

Source: ``rdkafka_cgrp.c``, ``rdkafka_assignment.c``, ``rdkafka.c``; seen with 2.16.0.  The text is
what follows ``[thrd:...]: `` and, where there is one, the broker's name.
"""

from __future__ import annotations

from rebalance_kit.forensics.grammar.template import Template

_IN_STATE = "in state {_} (join-state {state}) with {_} assigned partition(s)"

_LINES: tuple[tuple[str, str], ...] = (
    ("rd_state", 'Group "{group}" changed join state {_} -> {state_to} (state {_})'),
    ("rd_joining", 'Joining group "{group}" with {_} subscribed topic(s) and member id "{member}"'),
    ("rd_rejoin", 'Group "{group}": Rejoining group[[ {_}]]: {reason}'),
    (
        "rd_rejoin",
        'Group "{group}" (re)joining in join-state {state} with {_} assigned partition(s): {reason}',
    ),
    ("subscribed", 'Group "{group}": subscribe to new {_}subscription of {_} topics (join{_}state {state})'),
    (
        "rd_join_answer",
        "JoinGroup response: GenerationId {generation}, Protocol {assignor}, LeaderId {leader}, "
        "my MemberId {member}, member metadata count {members}: {reason}",
    ),
    ("rd_rebalance", f'Group "{{group}}" initiating rebalance ({{mode}}) {_IN_STATE}[[ (lost)]]: {{reason}}'),
    ("rd_rebalance", f'Group "{{group}}" is rebalancing ({{mode}}) {_IN_STATE}[[ (lost)]]: {{reason}}'),
    (
        "rd_callback",
        'Group "{group}": delegating [[incremental ]]{kind} of {_} partition(s) to application on queue {_}: {reason}',
    ),
    ("rd_wrong_call", 'Group "{group}": application *assign() call failed: {reason}'),
    ("rd_steady", 'Group "{group}": assignment operations done in join-state {state} (rebalance {_})'),
    ("rd_poll_timeout", "Application maximum poll interval ({limit_ms}ms) exceeded by {over_ms}ms {_}"),
    (
        "rd_session_timeout",
        "Consumer group session timed out (in join-state {state}) after {over_ms} ms without a successful response "
        "from the group coordinator {reason}",
    ),
    ("rd_lost", 'Group "{group}": current assignment of {_} partition(s) lost: {reason}'),
    # What was asked before is under way.
    ("rd_step", 'Group "{group}": leave (in state {_}): {reason}'),
    ("rd_leave", 'Group "{group}": leave (in state {_})'),
    (
        "rd_leave_timed_out",
        "Timed out LeaveGroupRequest in flight (after {over_ms}ms[[, timeout #{_}]])[[: {detail}]]",
    ),
    ("other_join_failed", "Timed out JoinGroupRequest in flight ({reason})"),
    ("other_heartbeat_failed", "Timed out HeartbeatRequest in flight ({reason})"),
    ("rd_step", "Timed out {_}Request in flight ({reason})"),
    ("left_group", "LeaveGroup response received in state {_}"),
    ("left_group", "ConsumerGroupHeartbeat response received in state {_}"),
    ("rd_step", "Leaving group"),
    (
        "rd_heartbeat_error",
        'Group "{group}" heartbeat error response in state {_} (join-state {state}, {_} partition(s) assigned): '
        "{reason}",
    ),
    (
        "rd_heartbeat_error",
        'Group "{group}" heartbeat error response in state {_} (join state {state}, {_} partition(s) assigned): {reason}',
    ),
    (
        "rd_epoch_heartbeat",
        'ConsumerGroupHeartbeat of member id "{member}", group id "{group}", generation id {epoch}, {_}',
    ),
    (
        "rd_epoch_answer",
        'ConsumerGroupHeartbeat response received for member id "{member}" with epoch {epoch}',
    ),
    ("rd_postponed", "Reconciliation in progress, postponing next one"),
    # A client starts with no id, and forgets the one it had.
    ("rd_step", 'Group "{group}": updating member id "(not-set)" -> ""'),
    ("other_coordinator", 'Group "{group}" coordinator is {detail} id {_}'),
    ("rd_member_id", 'Group "{group}": updating member id "{other}" -> "{member}"'),
    ("process_started", "librdkafka v{_} ({_}) {_} initialized {detail}"),
    ("process_closed", "Consumer closed"),
    # 0.11 to 1.x, and what decides nothing
    (
        "rd_join_answer",
        "JoinGroup response: GenerationId {generation}, Protocol {assignor}, LeaderId {leader}[[ (me)]], "
        "my MemberId {member}, {members} members in group: {reason}",
    ),
    ("rd_state", 'Group "{group}" changed join state {_} -> {state_to}[[ ({_}]]'),
    ("rd_ended", 'Group "{group}" changed state {_} -> term ({_})'),
    ("rd_rejoin", 'Group "{group}": {reason}: rejoining group[[ in state {_}]]'),
    ("rd_rejoin", 'Group "{group}": internal {reason}: unassigning all partitions and rejoining'),
    ("rd_no_broker", 'Group "{group}": no broker available for coordinator query: {_}'),
    ("rd_rebalance", 'Group "{group}" is rebalancing in state {_} (join-state {state}) {_}: {reason}'),
    # Python's clients say the same as librdkafka, and this.
    ("other_unknown_member", "Heartbeat failed: local member_id was not recognized{_}"),
    ("rd_heartbeat_error", "Heartbeat failed: {reason}"),
    ("rd_heartbeat", 'Heartbeat for group "{group}" generation id {generation}'),
    ("rd_sync_failed", 'Group "{group}": synchronization failed: {reason}: rejoining'),
    ("subscription_empty", 'Group "{group}": no topics in metadata matched subscription'),
    ("other_no_coordinator", 'Group "{group}" GroupCoordinator response error: {reason}'),
    ("coordinator_lost", 'Group "{group}": marking the coordinator ({_}) dead: {cause}'),
    ("client_instance_fenced", "Fatal error: Broker: Static consumer fenced by {_}"),
    ("fatal", "Fatal error: {reason}: Fatal consumer error: {_}"),
    ("other_leader", 'I am elected leader for group "{group}" with {members} member(s)'),
    (
        "rd_commit_waits",
        'Deferring "{kind}" offset commit for {detail} partition(s) in state {state}: {reason}',
    ),
    (
        "other_commit_failed",
        "Offset commit ({_}) failed for {_} partition(s)[[ in join-state {state}]]: {reason}",
    ),
    ("other_no_metadata", "Subscribed topic not available: {topic}: {reason}"),
    ("other_no_coordinator", "Heartbeat failed due to coordinator {_} no longer available: {reason}"),
    ("rd_step", "ConsumerGroupHeartbeat failed due to coordinator {_} loading in progress: {reason}"),
    ("rd_step", "Revoking assignment as lost {_}"),
    ("rd_step", "LeaveGroup response error in state {_}: {reason}"),
    *(
        ("rd_step", f"{what}Request failed: {{reason}}")
        for what in (
            "SyncGroup",
            "JoinGroup",
            "LeaveGroup",
            "Heartbeat",
            "OffsetCommit",
            "OffsetFetch",
            "GroupCoordinator",
            "FindCoordinator",
        )
    ),
    ("rd_step", "SyncGroup response: {reason}"),
    ("rd_step", "Sent partial {_}Request {_}"),
    ("rd_step", "Broadcasting state change"),
    ("rd_step", 'Elected leader for group "{group}" with {members} member(s)'),
    ("rd_step", "OffsetCommit for {_} partition(s){_}: {_}: returned: Success"),
    ("rd_step", "Group {group} OffsetFetchRequest({_}) for {_} partition(s)"),
    ("rd_step", "OffsetCommit for {_} partition(s){_}: {_}: returned: Local: {_}"),
    ("other_commit_failed", "OffsetCommit for {_} partition(s){_}: {_}: returned: {reason}"),
    ("rd_step", 'Terminating group "{group}" {_}'),
    ("rd_step", "JoinGroup response: discarding {reason}"),
    ("rd_step", "Request metadata for {_} topic(s): partition assignor"),
    ("rd_step", "===== Received metadata (for {_} requested topics): partition assignor{_}"),
    ("rd_step", "Clearing current assignment of {_} partition(s)"),
    ("rd_step", "Sent JoinGroupRequest {_}"),
    ("rd_step", "Received JoinGroupResponse {_}"),
    ("rd_step", "Sent SyncGroupRequest {_}"),
    ("rd_step", "Received SyncGroupResponse {_}"),
    ("rd_step", "Sent HeartbeatRequest {_}"),
    ("rd_step", "Received HeartbeatResponse {_}"),
    (
        "rd_close_waits",
        'Group "{group}": waiting for {detail} (state {_}, join-state {state}) before terminating',
    ),
    (
        "rd_step",
        "Committing offsets for {_} partition(s) with generation-id {generation} in join-state {state}: {reason}",
    ),
    ("rd_coordinator", 'Group "{group}" changing coordinator {state_from} -> {state_to}'),
    (
        "rd_subscription",
        'Group "{group}": effective subscription list changed from {state_from} to {state_to} topic(s):',
    ),
    ("rd_step", 'Group "{group}"{_}'),
    ("coordinator_lost", "GroupCoordinator: [[{_}: ]]Connect to {detail} failed: {cause}"),
    ("coordinator_lost", "GroupCoordinator: failed: err: {cause}"),
    ("coordinator_lost", "GroupCoordinator: {_} request(s) timed out: {cause}"),
    ("coordinator_lost", "GroupCoordinator:{_}: {_} request(s) timed out: {cause}"),
    ("rd_step", "{_}: GroupCoordinator:{_} request(s) timed out: {_}"),
    ("rd_step", "Closing consumer group"),
    # kcat
    ("other_assigned", "% Group {group} rebalanced (memberid {member}): assigned: {partitions}"),
    ("other_revoked", "% Group {group} rebalanced (memberid {member}): revoked: {partitions}"),
    ("offset_out_of_range", "{topic}: offset reset ({detail}) to {_}: Broker: Offset out of range{_}"),
    ("rd_step", "GroupCoordinator: Broker changed state {_}"),
    ("rd_step", "GroupCoordinator: Delaying next reconnect by {_}"),
    ("rd_step", "Delaying next reconnect by {_}"),
)

LIBRDKAFKA: tuple[Template, ...] = (
    *(Template(event, "librdkafka", text) for event, text in _LINES),
    Template(
        "coordinator_lost",
        "librdkafka",
        "GroupCoordinator: [[{_}: ]]Disconnected ({_})",
        (("cause", "disconnected"),),
    ),
    Template(
        "other_no_coordinator",
        "librdkafka",
        "GroupCoordinator: {_}: Failed to resolve {_}",
        (("reason", "the host of the one that it was told of cannot be resolved"),),
    ),
    Template(
        "other_no_coordinator",
        "librdkafka",
        "GroupCoordinator: {_}: Connection setup timed out in state {_}",
        (("reason", "the connection to the one that it was told of timed out"),),
    ),
)

#: Text without a layout: what a binding prints when librdkafka refuses the configuration.
REFUSALS: tuple[Template, ...] = (
    Template(
        "rd_strategy_refused",
        "librdkafka",
        "{_}All partition.assignment.strategy ({detail}) assignors must have the same protocol type{_}",
    ),
)
