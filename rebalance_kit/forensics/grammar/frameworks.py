"""Lines of what is built on Kafka's consumers: Connect workers, Spring's listener container, Kafka Streams.

Sources: ``WorkerCoordinator``, ``DistributedHerder`` (Connect); ``KafkaMessageListenerContainer`` (Spring);
``StreamThread``, ``KafkaStreams`` (Streams).
"""

from __future__ import annotations

from rebalance_kit.forensics.grammar.template import Template

_LINES: tuple[tuple[str, str], ...] = (
    # Connect
    ("worker_rebalance", "Rebalance started"),
    (
        "worker_joined",
        "Joined group at generation {generation} with protocol version {_} and got assignment: {detail}",
    ),
    ("worker_joined", "Joined group at generation {generation} and got assignment: {detail}"),
    (
        "config_mismatch",
        "Current config state offset {_} does not match group assignment {_}. Forcing rebalance.",
    ),
    (
        "config_behind",
        "Current config state offset {_} is behind group assignment {_}, reading to end of config log",
    ),
    ("config_behind", "Catching up to assignment's config offset."),
    (
        "config_mismatch",
        "Was selected to perform assignments, but do not have latest config found in sync request. {_}",
    ),
    (
        "worker_cut_off",
        "Broker coordinator was unreachable for {over_ms}ms. Revoking previous assignment {detail}",
    ),
    ("worker_stopping", "Stopping connectors and tasks that are still assigned to this worker."),
    ("worker_step", "Finished stopping tasks in preparation for rebalance"),
    ("worker_step", "Finished flushing status backing store in preparation for rebalance"),
    (
        "worker_step",
        "Wasn't able to resume work after last rebalance, can skip stopping connectors and tasks",
    ),
    ("task_killed", "WorkerSinkTask{id={client}} Task threw an uncaught and unrecoverable exception{detail}"),
    (
        "task_killed",
        "WorkerSinkTask{id={client}} Task is being killed and will not recover until manually restarted{detail}",
    ),
    (
        "task_killed",
        "WorkerSourceTask{id={client}} Task threw an uncaught and unrecoverable exception{detail}",
    ),
    # Streams
    ("streams_step", "stream-thread [{client}] Assigned tasks to clients as {detail}"),
    ("streams_step", "stream-thread [{client}] partition assignment took {took_ms} ms{detail}"),
    ("streams_state", "stream-thread [{client}] State transition from {state_from} to {state_to}[[.]]"),
    ("streams_state", "stream-client [{client}] State transition from {state_from} to {state_to}[[.]]"),
    ("streams_state", "State transition from {state_from} to {state_to}[[.]]"),
    # Spring
    ("container_assigned", "{group}: partitions assigned: {partitions}"),
    ("container_revoked", "{group}: partitions revoked: {partitions}"),
    ("container_lost", "{group}: partitions lost: {partitions}"),
    ("container_assigned", "partitions assigned: {partitions}"),
    ("container_revoked", "partitions revoked: {partitions}"),
)

FRAMEWORKS: tuple[Template, ...] = tuple(Template(event, "java", text) for event, text in _LINES)
