"""How a client carries out what its machine asks for: one function per effect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.client import names
from rebalance_kit.protocol.messages import NONE, ConsumerGroupHeartbeat, Heartbeat
from rebalance_kit.simulation.client.client import Client
from rebalance_kit.simulation.client.listeners import run_listener
from rebalance_kit.simulation.kernel import jitter

# When the application is next inside poll(), by what the client machine wants it for.


def want_poll(client: Client, effect: fx.WantPoll) -> None:
    """Wake the application inside poll(): at once, after a moment, or at its next beat."""
    host, application, now_ms = client.host, client.application, client.host.now_ms
    step = effect.step
    if client.librdkafka and step not in JAVA_LIKE:
        step = fx.NextPoll.GO_ON
    delay_ms = POLL_DELAYS[step](client)
    if host.protocol == "consumer":
        if now_ms - application.first_poll_ms < host.latencies.warming_ms:
            delay_ms = delay_ms * application.warming_percent // 100
        if client.pins is not None and step in RECONCILING:
            delay_ms = client.pins.delay_to_ack_ms(
                delay_ms,
                now_ms,
                application.callback_ms,
                first=client.connection.requests_sent == 1,
                last_step=client.machine.assigns_next,
            )
    application.queue_poll(now_ms + delay_ms)


def _at_once(client: Client) -> int:
    return client.host.latencies.wake_ms


def _rejoining(client: Client) -> int:
    return client.host.draw(client.host.latencies.rejoin)


def _joining(client: Client) -> int:
    return client.host.draw(client.host.latencies.reconcile_joining)


def _first_assigning(client: Client) -> int:
    return client.host.draw(client.host.latencies.reconcile_first)


def _assigning(client: Client) -> int:
    return client.host.draw(client.host.latencies.reconcile_assign)


def _after_answer(client: Client) -> int:
    """With the next records, or with those that just came."""
    draw, latencies = client.host.draw, client.host.latencies
    since_ms = _since_records_ms(client)
    if since_ms is None:  # without records there is no common beat
        return draw(latencies.poll_wait)
    if since_ms < latencies.just_behind_ms and draw(latencies.soon_after_answer):
        return draw(latencies.rejoin)
    return latencies.poll_step_ms - since_ms


def _after_commit(client: Client) -> int:
    draw, latencies = client.host.draw, client.host.latencies
    since_ms = _since_records_ms(client)
    if since_ms is None:
        return draw(latencies.poll_wait)
    soon = draw(latencies.soon_after_commit)
    return draw(latencies.rejoin) if soon else latencies.poll_step_ms - since_ms


def _after_revoked(client: Client) -> int:
    draw, latencies = client.host.draw, client.host.latencies
    since_ms = _since_records_ms(client)
    if draw(latencies.soon_after_revoked):
        return draw(latencies.rejoin)
    return draw(latencies.poll_wait) if since_ms is None else latencies.poll_step_ms - since_ms


def _since_records_ms(client: Client) -> int | None:
    """How long ago the last records came; None where none come."""
    if not client.fetching.consumption.fetching:
        return None
    beat_ms = client.pins.beat_ms if client.pins is not None else None
    return (client.host.now_ms - (beat_ms or 0)) % client.host.latencies.poll_step_ms


POLL_DELAYS: Mapping[fx.NextPoll, Callable[[Client], int]] = MappingProxyType(
    {
        fx.NextPoll.GO_ON: _at_once,
        fx.NextPoll.REJOIN: _rejoining,
        fx.NextPoll.RECONCILE_FIRST: _joining,
        fx.NextPoll.RECONCILE: _after_answer,
        fx.NextPoll.RECONCILE_AGAIN: _after_answer,
        fx.NextPoll.CALL_AFTER_COMMIT: _after_commit,
        fx.NextPoll.ASSIGN_FIRST: _first_assigning,
        fx.NextPoll.ASSIGN_TO_NONE: _assigning,
        fx.NextPoll.ASSIGN_AFTER_REVOKE: _after_revoked,
    }
)
"""How long it takes until the application is inside poll(), by what it is wanted for."""
RECONCILING = frozenset(POLL_DELAYS) - {fx.NextPoll.GO_ON, fx.NextPoll.REJOIN}
"""Wanted polls on the way from an answer to its acknowledgement."""
JAVA_LIKE = frozenset({fx.NextPoll.REJOIN, fx.NextPoll.RECONCILE_AGAIN})
"""Wanted polls that wait for the application's next poll() in librdkafka too; its own thread does the rest at once."""


def set_timer(client: Client, effect: fx.SetTimer) -> None:
    """Arm a timer of the machine; heartbeats come a little late, as Java's threads sleep in steps."""
    host, after_ms = client.host, effect.after_ms
    if effect.key[0] == "heartbeat" and after_ms > 0:
        latencies = host.latencies
        if client.librdkafka:  # counted from the last one sent, to the millisecond
            after_ms = max(client.heartbeat_sent_ms + after_ms - host.now_ms, 0)
            after_ms += host.draw(latencies.librdkafka_late)
        else:
            classic = host.protocol == "classic"
            after_ms += host.draw(latencies.heartbeat_late if classic else latencies.background_late)
    host.set_timer(effect.key, host.now_ms + after_ms, client.apply, fx.TimerFired(effect.key))


def cancel_timer(client: Client, effect: fx.CancelTimer) -> None:
    """Disarm a timer of the machine."""
    client.host.cancel_timer(effect.key)


def note(client: Client, effect: fx.Note) -> None:
    """Write a row of the machine's."""
    client.host.row(effect.kind, effect.detail, effect.generation, effect.member_id)


def send(client: Client, effect: fx.Send) -> None:
    """Send a request."""
    if isinstance(effect.request, Heartbeat | ConsumerGroupHeartbeat):
        client.heartbeat_sent_ms = client.host.now_ms
    client.cluster.network.send(client.connection, effect.request)


def run_callback(client: Client, effect: fx.Callback) -> None:
    """Run a listener callback on the application thread; one that commits waits for the answer."""
    client.application.begin_callback(effect)
    waits = client.commits.send_revoked(effect.callback, effect.partitions)
    waits = run_listener(client, effect) or waits
    if not waits:
        client.application.return_later()


def commit(client: Client, effect: fx.Commit) -> None:
    """Commit all consumed positions; without any, the machine goes on at once."""
    if not client.commits.send_for_machine(effect.how):
        client.host.at(client.host.now_ms, client.apply, fx.CommitDone(NONE, effect.how))


def find_coordinator(client: Client, effect: fx.FindCoordinator) -> None:
    """Drop the old connection, then look the coordinator up, again and again, until it answers."""
    host = client.host
    host.at(host.now_ms + host.latencies.coordinator_retry_ms, _look_up, client, 1)


def _look_up(client: Client, attempt: int) -> None:
    host, latencies = client.host, client.host.latencies
    round_trip_ms = 2 * host.draw(latencies.one_way)
    if client.cluster.broker.up and not client.connection.faults.cut and not host.frozen:
        host.at(host.now_ms + round_trip_ms, _found, client)
        return
    # ExponentialBackoff of ClusterConnectionStates: doubled up to its maximum, with jitter
    wait_ms = min(
        latencies.coordinator_retry_ms * 2 ** min(attempt - 1, 4), latencies.reconnect_backoff_max_ms
    )
    host.at(host.now_ms + round(wait_ms * jitter(host.chance())), _look_up, client, attempt + 1)


def _found(client: Client) -> None:
    client.apply(fx.CoordinatorFound())
    host = client.host
    if host.draw(host.latencies.heartbeat_before_commit):
        host.at(host.now_ms + 1, client.commits.catch_up)
    else:
        client.commits.catch_up()


def fresh_metadata(client: Client, effect: fx.FreshMetadata) -> None:
    """A leader waits for metadata of the group's topics."""
    client.metadata.refresh(new=effect.new)


def own(client: Client, effect: fx.Own) -> None:
    """The client's assignment changed."""
    client.fetching.own(effect.partitions)
    client.host.row("owned", {"partitions": names(effect.partitions)}, *client.machine.shown_as)
    if effect.fetch:
        client.fetching.start(effect.fetch)


def die(client: Client, effect: fx.Die) -> None:
    """A fatal error left poll()."""
    client.host.row("died", {"error": effect.error, "message": effect.message})
    client.end("died", effect.error)


def _restart_auto_commit(client: Client, effect: fx.RestartAutoCommit) -> None:
    client.commits.restart_auto_commit()


def _start_fetching(client: Client, effect: fx.StartFetching) -> None:
    client.fetching.start(effect.partitions)


def _stop_fetching(client: Client, effect: fx.StopFetching) -> None:
    client.fetching.stop(effect.partitions, effect.reason)


def _closed(client: Client, effect: fx.Closed) -> None:
    client.end("closed", None)


EFFECT_HANDLERS: Mapping[type, Callable[[Client, Any], None]] = MappingProxyType(
    {
        fx.SetTimer: set_timer,
        fx.CancelTimer: cancel_timer,
        fx.Note: note,
        fx.Send: send,
        fx.WantPoll: want_poll,
        fx.Callback: run_callback,
        fx.Commit: commit,
        fx.FindCoordinator: find_coordinator,
        fx.FreshMetadata: fresh_metadata,
        fx.RestartAutoCommit: _restart_auto_commit,
        fx.Own: own,
        fx.StartFetching: _start_fetching,
        fx.StopFetching: _stop_fetching,
        fx.Die: die,
        fx.Closed: _closed,
    }
)
"""One handler per kind of effect."""
