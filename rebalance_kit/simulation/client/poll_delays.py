"""When the application is next inside poll(), by what the client machine wants it for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from rebalance_kit.protocol import effects as fx
from rebalance_kit.simulation.client.client import Client


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
