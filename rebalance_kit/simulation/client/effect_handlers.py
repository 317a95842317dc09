"""How a client carries out what its machine asks for: one function per effect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.client import names
from rebalance_kit.protocol.messages import NONE, ConsumerGroupHeartbeat, Heartbeat, JoinGroup
from rebalance_kit.simulation.client.client import Client
from rebalance_kit.simulation.client.fetching import Span
from rebalance_kit.simulation.kernel import jitter
from rebalance_kit.simulation.learner_code.plug_ins import CallTimedOut, as_partition, call_with_timeout
from rebalance_kit.simulation.scenario.checks import MOST_MS, whole

# Rebalance listeners of the learner's own: what they are handed, and what becomes of what they do.
#
# A listener is any object with some of ``on_assigned``, ``on_revoked``, ``on_lost``, each called with
# ``(partitions, consumer)``; without ``on_lost``, ``on_revoked`` hears of lost partitions too
# (``ConsumerRebalanceListener.onPartitionsLost``). No simulated time passes inside, but for the commits: the
# callback lasts until the coordinator has answered them.
#
# With ``on_records(records, consumer)`` the object is the whole application: it is handed each batch, as ``Record``, when
# the time to process it has passed. Of a batch that a crash cuts off, it is handed what it had time for. A commit in it is
# stored at once, as in the commit policy ``per_batch``.


class CommitFailed(Exception):
    """commit() was refused: ``error`` is Kafka's name for why (CommitFailedException, RebalanceInProgressException).

    ``sent`` False: the client knows that it is no member, refuses the commit itself and asks nobody (CommitFailedException).
    """

    def __init__(self, error: str, *, sent: bool = True) -> None:
        self.error = error
        why = error if sent else "the client sends nothing, since it is not part of an active group"
        super().__init__(f"commit refused: {why}")


class IllegalState(Exception):
    """The consumer is asked for a partition that it does not have (IllegalStateException)."""


class Record(NamedTuple):
    """A record, by the place that is its identity in the log."""

    partition: TopicPartition
    offset: int


class ListeningConsumer:
    """What a listener may ask of its consumer, while its callback runs."""

    def __init__(self, client: Client, *, between_polls: bool = False) -> None:
        """``between_polls`` is where records are processed: no callback runs, and a commit is answered at once."""
        self._client, self._between_polls = client, between_polls
        self._closed = False
        self.wants: dict[TopicPartition, int] | None = None

    def _get(self) -> Client:
        if self._closed:
            raise IllegalState("this callback is over; its consumer cannot be used any more")
        return self._client

    def close(self) -> None:
        """The callback is over."""
        self._closed = True

    # --- facts -----------------------------------------------------------------------------
    @property
    def name(self) -> str:
        """The member's name in the scenario."""
        return self._get().host.name

    @property
    def group(self) -> str:
        """group.id."""
        return self._get().host.group_id

    @property
    def member_id(self) -> str:
        """The member id, empty before the group gave one."""
        return self._get().machine.member_id

    @property
    def instance_id(self) -> str | None:
        """group.instance.id, None for a dynamic member."""
        return self._get().config.instance_id

    @property
    def generation(self) -> int:
        """What groupMetadata().generationId() shows in this callback; -1 without one."""
        client = self._get()
        callback = client.application.running
        if self._between_polls:
            return client.machine.generation
        return -1 if callback is None else callback.generation

    @property
    def assignment(self) -> tuple[TopicPartition, ...]:
        """The owned partitions, sorted; those that are being revoked are still among them."""
        return tuple(sorted(self._get().machine.owned))

    @property
    def now_ms(self) -> int:
        """The time of the run."""
        return self._get().host.now_ms

    def position(self, partition: TopicPartition | str) -> int | None:
        """Offset of the next record; None before the first fetch."""
        return self._get().fetching.position(self._own(partition))

    def committed(self, partition: TopicPartition | str) -> int | None:
        """The group's committed offset, None where there is none."""
        client = self._get()
        return client.cluster.committed(client.host.group_id, as_partition(partition))

    # --- orders ----------------------------------------------------------------------------
    def commit(self, offsets: Mapping[TopicPartition | str, int] | None = None) -> None:
        """commitSync(): everything consumed so far, or these offsets; raises ``CommitFailed`` when it is refused.

        Whether it is refused is asked of the coordinator as it stands now; the request itself takes its way.
        """
        client = self._get()
        if offsets is None:
            wanted = client.commits.consumed()
        else:
            wanted = {as_partition(tp): offset for tp, offset in offsets.items()}
        if not wanted or not client.cluster.counts_records:
            return
        if not client.machine.may_commit:
            if client.machine.generation >= 0:
                raise CommitFailed("REBALANCE_IN_PROGRESS")
            raise CommitFailed("UNKNOWN_MEMBER_ID", sent=False)
        if self._between_polls:
            error = client.commits.sync(wanted)
            if error != NONE:
                raise CommitFailed(error)
            return
        error = client.cluster.broker.commit_error(client.commits.request("revoked", wanted))
        if error != NONE:
            raise CommitFailed(error)
        self.wants = {**(self.wants or {}), **wanted}

    def seek(self, partition: TopicPartition | str, offset: int) -> None:
        """Read on from this offset; one that the log does not have falls back to auto.offset.reset."""
        if not whole(offset) or offset < 0:
            raise ValueError(f"seek offset must not be a negative number, got {offset!r}")
        self._get().fetching.seek(self._own(partition), offset)

    def pause(self, partitions: Iterable[TopicPartition | str]) -> None:
        """Return no records of these until resume(); the pause ends with the ownership."""
        self._get().fetching.pause([self._own(partition) for partition in partitions])

    def resume(self, partitions: Iterable[TopicPartition | str]) -> None:
        """Return records of these again."""
        self._get().fetching.resume([self._own(partition) for partition in partitions])

    def _own(self, partition: TopicPartition | str) -> TopicPartition:
        tp = as_partition(partition)
        if tp not in self._get().machine.owned:
            raise IllegalState(f"No current assignment for partition {tp}")
        return tp


def run_listener(client: Client, effect: fx.Callback) -> bool:
    """Run the member's own listener, if it has one; True when the callback waits for its commit, or for ever.

    What it raised stands in ``application.callback_error`` until the callback is over.
    """
    method = _method(client.listener, effect.callback)
    if method is None:
        return False
    consumer = ListeningConsumer(client)
    try:
        answer = call_with_timeout(lambda: method(tuple(sorted(effect.partitions)), consumer))
    except CallTimedOut as timed_out:
        consumer.close()
        _fault(client, effect.callback, "blocks", str(timed_out))
        client.application.never_return(MOST_MS)
        return True
    except Exception as error:  # noqa: BLE001 - a listener may raise anything
        client.application.callback_error = f"{type(error).__name__}: {error}"
        _fault(client, effect.callback, "raises", client.application.callback_error)
    else:
        if answer is not None:
            _fault(client, effect.callback, "returns nonsense", f"{answer!r:.80}; expected nothing")
    consumer.close()
    if not consumer.wants:
        return False
    client.commits.send("revoked", consumer.wants)
    return True


RECORDS = ("records",)
RECORDS_MS = 200
"""How often the engine lets an application of the learner's own catch up: two members that share a store act in nearly their order."""


def hand_over(client: Client) -> None:
    """Give the records that this life processes to the learner's own ``on_records``, if there is one."""
    method = getattr(client.listener, "on_records", None)
    if method is None:
        return

    def handle(spans: list[Span]) -> None:
        records = [Record(tp, offset) for tp, first, end in spans for offset in range(first, end)]
        consumer = ListeningConsumer(client, between_polls=True)
        try:
            answer = call_with_timeout(lambda: method(records, consumer))
        except CallTimedOut as timed_out:
            _fault(client, "records", "blocks", str(timed_out))
            client.application.never_return(MOST_MS)
        except Exception as error:  # noqa: BLE001 - an application may raise anything
            _fault(client, "records", "raises", f"{type(error).__name__}: {error}")
        else:
            if answer is not None:
                _fault(client, "records", "returns nonsense", f"{answer!r:.80}; expected nothing")
        consumer.close()

    def catch_up() -> None:
        if client.host.alive:
            client.fetching.settle()
            client.host.set_timer(RECORDS, client.host.now_ms + RECORDS_MS, catch_up)

    client.fetching.consumption.on_records = handle
    client.host.set_timer(RECORDS, client.host.now_ms + RECORDS_MS, catch_up)


def _method(listener: Any, callback: str) -> Any:
    method = getattr(listener, f"on_{callback}", None)
    return getattr(listener, "on_revoked", None) if method is None and callback == "lost" else method


def _fault(client: Client, callback: str, fault: str, seen: str) -> None:
    detail = {"part": "listener", "name": f"on_{callback}", "fault": fault, "seen": seen}
    client.host.row("own_code_fault", detail, None, client.machine.member_id or None)


# When the application is next inside poll(), by what the client machine wants it for.


def want_poll(client: Client, effect: fx.WantPoll) -> None:
    """Wake the application inside poll(): at once, after a moment, or at its next beat."""
    host, application, now_ms = client.host, client.application, client.host.now_ms
    step = effect.step
    if client.machine.serves_itself or (client.librdkafka and step not in JAVA_LIKE):
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
        if (
            client.librdkafka
        ):  # counted from the last one sent, to the millisecond; the first goes out at once
            sent_ms = client.heartbeat_sent_ms
            after_ms = 0 if sent_ms is None else max(sent_ms + after_ms - host.now_ms, 0)
            after_ms += host.draw(latencies.librdkafka_late)
        else:
            classic = host.protocol == "classic"
            sent_ms = None if client.pins is None else client.pins.beats_at_ms(host.now_ms + after_ms)
            if sent_ms is not None:
                after_ms = max(sent_ms - host.now_ms, 0)
            else:
                after_ms += host.draw(latencies.heartbeat_late if classic else latencies.background_late)
    elif effect.key[0] == "join-again":  # counted from the last JoinGroup; the main thread looks now and then
        after_ms = max(client.join_sent_ms + after_ms - host.now_ms, 0)
        after_ms += host.draw(host.latencies.librdkafka_overdue_noticed) if after_ms else 0
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
    elif isinstance(effect.request, JoinGroup):
        client.join_sent_ms = client.host.now_ms
    client.cluster.network.send(client.connection, effect.request)


def run_callback(client: Client, effect: fx.Callback) -> None:
    """Run a listener callback on the application thread; one that commits waits for the answer.

    librdkafka queues it until the application polls.
    """
    host, application = client.host, client.application
    if host.frozen:
        host.postpone(run_callback, client, effect)
        return
    if client.librdkafka and application.ready_ms() > host.now_ms:
        host.at(application.ready_ms(), run_callback, client, effect)
        return
    application.begin_callback(effect)
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
