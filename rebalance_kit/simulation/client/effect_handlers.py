"""How a process carries out what its client machine asks for: one function an effect."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.client import names
from rebalance_kit.protocol.messages import NONE, ConsumerGroupHeartbeat, Heartbeat
from rebalance_kit.simulation.learner_code.listeners import hear

if TYPE_CHECKING:
    from rebalance_kit.simulation.client.process import Process


def _timer(argument: tuple[Process, int, tuple[str, ...]]) -> None:
    process, life, key = argument
    if life == process.life:
        process.apply(fx.TimerFired(key))


def set_timer(process: Process, effect: fx.SetTimer) -> None:
    """Arm a timer of the machine; heartbeats come a little late, as Java's threads sleep in steps."""
    agenda = process.world.agenda
    after = effect.after_ms
    if effect.key[0] == "heartbeat" and after > 0:
        spreads = process.world.scenario.latencies
        if process.spec.client == "librdkafka":
            # counted from the last one sent, to the millisecond
            after = max(process.heartbeat_sent_ms + after - agenda.now_ms, 0) + spreads.native_late.draw(
                process.stream
            )
        else:
            late = spreads.heartbeat_late if process.protocol == "classic" else spreads.background_late
            after += late.draw(process.stream)
    agenda.set_timer(
        (process.name, effect.key), agenda.now_ms + after, _timer, (process, process.life, effect.key)
    )


def cancel_timer(process: Process, effect: fx.CancelTimer) -> None:
    """Disarm a timer of the machine."""
    process.world.agenda.cancel_timer((process.name, effect.key))


def note(process: Process, effect: fx.Note) -> None:
    """Write a row of the machine's."""
    process.world.row(
        process.name, effect.kind, process.protocol, effect.generation, effect.member_id, effect.detail
    )


def send(process: Process, effect: fx.Send) -> None:
    """Send a request."""
    if isinstance(effect.request, Heartbeat | ConsumerGroupHeartbeat):
        process.heartbeat_sent_ms = process.world.agenda.now_ms
    process.world.network.send(process, effect.request)


def want_poll(process: Process, effect: fx.WantPoll) -> None:
    """Wake the application inside poll(): at once, after a moment, or at its next beat."""
    now = process.world.agenda.now_ms
    latencies = process.world.scenario.latencies
    delay = POLL_DELAYS[effect.step](process)
    if process.protocol == "consumer" and now - process.first_poll_ms < latencies.warming_ms:
        delay = delay * process.warming_percent // 100
    acked = process.pin().first_ack_ms
    if acked is not None and process.requests_sent == 1 and process.protocol == "consumer":
        left = (
            acked - now
        )  # the acknowledgement leaves when onPartitionsAssigned, called by this poll(), has returned
        delay = max(min(delay, left // 2) if effect.step == "joining" else left - process.callback_ms, 1)
    process.queue_poll(now + delay)


def _at_once(process: Process) -> int:
    return process.world.scenario.latencies.wake_ms


def _rejoining(process: Process) -> int:
    return process.world.scenario.latencies.rejoin.draw(process.stream)


def _joining(process: Process) -> int:
    return process.world.scenario.latencies.reconcile_joining.draw(process.stream)


def _first_assigning(process: Process) -> int:
    return process.world.scenario.latencies.reconcile_first.draw(process.stream)


def _assigning(process: Process) -> int:
    return process.world.scenario.latencies.reconcile_assign.draw(process.stream)


def _after_answer(process: Process) -> int:
    """With the next records, or with those that just came."""
    latencies = process.world.scenario.latencies
    since = _since_beat_ms(process)
    if since is None:  # without records there is no common beat
        return latencies.poll_wait.draw(process.stream)
    if since < latencies.just_behind_ms and latencies.soon_after_answer.draw(process.stream):
        return latencies.rejoin.draw(process.stream)
    return latencies.poll_step_ms - since


def _after_commit(process: Process) -> int:
    latencies = process.world.scenario.latencies
    since = _since_beat_ms(process)
    if since is None:
        return latencies.poll_wait.draw(process.stream)
    soon = latencies.soon_after_commit.draw(process.stream)
    return latencies.rejoin.draw(process.stream) if soon else latencies.poll_step_ms - since


def _after_revoked(process: Process) -> int:
    latencies = process.world.scenario.latencies
    since = _since_beat_ms(process)
    if latencies.soon_after_revoked.draw(process.stream):
        return latencies.rejoin.draw(process.stream)
    return latencies.poll_wait.draw(process.stream) if since is None else latencies.poll_step_ms - since


def _since_beat_ms(process: Process) -> int | None:
    """How long ago the last records came; None where none come."""
    if not process.fetching.consumption.fetching:
        return None
    now = process.world.agenda.now_ms
    return (now - process.fetching.beat_ms) % process.world.scenario.latencies.poll_step_ms


POLL_DELAYS: Mapping[str, Callable[[Process], int]] = MappingProxyType(
    {
        "wake": _at_once,
        "settled": _at_once,
        "rejoin": _rejoining,
        "joining": _joining,
        "first-assign": _first_assigning,
        "assign": _assigning,
        "beat": _after_answer,
        "committed": _after_commit,
        "either": _after_revoked,
    }
)
"""How long it takes until the application is inside poll(), by what it is wanted for."""


def run_callback(process: Process, effect: fx.Callback) -> None:
    """Run a listener callback on the application thread."""
    now = process.world.agenda.now_ms
    shown = effect.generation if effect.generation >= 0 else None
    process.world.row(
        process.name,
        "callback_begin",
        process.protocol,
        shown,
        effect.member_id or None,
        {"callback": effect.callback, "partitions": names(effect.partitions)},
    )
    process.running = effect
    process.callback_from_ms, process.callback_until_ms = now, now + process.callback_ms
    if process.callback_ms:
        process.fetching.suspend("callback")
        process.watch_polls(now, process.callback_ms)
    waits = (
        effect.callback == "revoked"
        and process.spec.commit == "revoked"
        and process.fetching.commit("revoked", effect.partitions)
    )
    if process.listener is not None:
        waits = hear(process, effect) or waits
    if not waits:
        process.world.agenda.at(process.callback_until_ms, process.callback_over, process.life)


def commit(process: Process, effect: fx.Commit) -> None:
    """Commit all consumed positions; without any, the machine goes on at once."""
    policy = process.spec.commit
    wanted = policy == "auto" or (effect.how == "close" and policy == "per_batch")
    if not wanted or not process.fetching.commit(effect.how):
        process.world.agenda.at(
            process.world.agenda.now_ms, _commit_skipped, (process, process.life, effect.how)
        )


def _commit_skipped(argument: tuple[Process, int, str]) -> None:
    process, life, how = argument
    if life == process.life:
        process.apply(fx.CommitDone(NONE, how))


def find_coordinator(process: Process, effect: fx.FindCoordinator) -> None:
    """Drop the old connection, then look the coordinator up, again and again, until it answers."""
    agenda = process.world.agenda
    wait = process.world.scenario.latencies.coordinator_retry_ms
    agenda.at(agenda.now_ms + wait, _look_up, (process, process.life, 1))


def _look_up(argument: tuple[Process, int, int]) -> None:
    process, life, attempt = argument
    if life != process.life or not process.alive:
        return
    world = process.world
    spreads = world.scenario.latencies
    round_trip = 2 * spreads.one_way.draw(process.stream)
    faults = world.network.faults.get(process.name)
    reachable = world.broker.up and not (faults is not None and faults.cut) and not process.frozen
    if reachable:
        world.agenda.at(world.agenda.now_ms + round_trip, _found, (process, life))
    else:
        # ExponentialBackoff of ClusterConnectionStates: doubled up to reconnect.backoff.max.ms, give or take a fifth
        wait = min(spreads.coordinator_retry_ms * 2 ** min(attempt - 1, 4), spreads.reconnect_backoff_max_ms)
        wait = round(wait * (0.8 + 0.4 * process.stream.random()))
        world.agenda.at(world.agenda.now_ms + wait, _look_up, (process, life, attempt + 1))


def _found(argument: tuple[Process, int]) -> None:
    process, life = argument
    if life == process.life:
        process.apply(fx.CoordinatorFound())
        if process.world.scenario.latencies.heartbeat_before_commit.draw(process.stream):
            process.world.agenda.at(process.world.agenda.now_ms + 1, _catch_up, argument)
        else:
            _catch_up(argument)


def _catch_up(argument: tuple[Process, int]) -> None:
    process, life = argument
    if life == process.life:
        process.fetching.catch_up()


def fresh_metadata(process: Process, effect: fx.FreshMetadata) -> None:
    """A leader waits for metadata of the group's topics."""
    process.metadata.refresh(new=effect.new)


def own(process: Process, effect: fx.Own) -> None:
    """The client's assignment changed."""
    process.fetching.own(effect.partitions)
    generation = process.machine.generation
    process.world.row(
        process.name,
        "owned",
        process.protocol,
        generation if generation >= 0 else None,
        process.machine.member_id or None,
        {"partitions": names(effect.partitions)},
    )
    if effect.fetch:
        process.fetching.start(effect.fetch)


def die(process: Process, effect: fx.Die) -> None:
    """A fatal error left poll()."""
    process.world.row(
        process.name, "died", process.protocol, None, None, {"error": effect.error, "message": effect.message}
    )
    process.end("died", effect.error)


def _restart_auto_commit(process: Process, effect: fx.RestartAutoCommit) -> None:
    process.fetching.restart_auto_commit()


def _start_fetching(process: Process, effect: fx.StartFetching) -> None:
    process.fetching.start(effect.partitions)


def _stop_fetching(process: Process, effect: fx.StopFetching) -> None:
    process.fetching.stop(effect.partitions, effect.reason)


def _closed(process: Process, effect: fx.Closed) -> None:
    process.end("closed")


EFFECT_HANDLERS: Mapping[type, Callable[[Process, Any], None]] = MappingProxyType(
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
"""What is done for each kind of effect."""
