"""One life's client: its machine, and the parts that carry out what the machine asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rebalance_kit.model.config import ClientConfig
from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol import messages
from rebalance_kit.protocol.classic_client.member import SESSION
from rebalance_kit.simulation.client.application import Application, Pace
from rebalance_kit.simulation.client.fetching import Fetching
from rebalance_kit.simulation.client.incarnation import ClientMachine, ClientMetadata, Incarnation
from rebalance_kit.simulation.cluster.broker import Cluster
from rebalance_kit.simulation.cluster.network import Connection, Faults
from rebalance_kit.simulation.cluster.topics import Offsets
from rebalance_kit.simulation.kernel import Host
from rebalance_kit.simulation.scenario.scenario import MemberSpec, ReplayPins

# Offset commits of one incarnation: periodic, around batches, before it gives partitions up.


AUTO_COMMIT = ("auto-commit",)


class Commits:
    """The commit policy of one life: auto, per_batch, before_processing, revoked, none."""

    __slots__ = (
        "_apply",
        "_cluster",
        "_config",
        "_connection",
        "_created_ms",
        "_fetching",
        "_host",
        "_machine",
        "_overdue",
        "_policy",
        "_ready_ms",
        "_refused",
        "_sent",
    )

    def __init__(
        self,
        connection: Connection,
        machine: ClientMachine,
        cluster: Cluster,
        config: ClientConfig,
        policy: str,
        fetching: Fetching,
        ready_ms: Callable[[], int],
        apply: Callable[[Any], None],
    ) -> None:
        """``ready_ms`` is when the application is next inside poll(), ``apply`` hands an event to the machine."""
        self._host: Host = connection.host
        self._connection, self._machine, self._cluster = connection, machine, cluster
        self._config, self._policy, self._fetching = config, policy, fetching
        self._ready_ms, self._apply = ready_ms, apply
        self._created_ms = self._host.now_ms
        self._sent: Offsets = {}
        self._overdue = self._refused = False
        if policy in {"per_batch", "before_processing"}:
            fetching.consumption.on_batch = self._batch

    def request(self, how: str, offsets: Offsets) -> messages.OffsetCommit:
        """The request that commits these offsets as the member that this process is now."""
        host, machine = self._host, self._machine
        return messages.OffsetCommit(
            host.name,
            machine.member_id,
            self._config.instance_id,
            machine.generation,
            offsets,
            how,
            host.group_id,
        )

    def send(self, how: str, offsets: Offsets) -> None:
        """Commit these offsets."""
        self._cluster.network.send(self._connection, self.request(how, offsets))

    def send_consumed(self, how: str, partitions: messages.Partitions | None = None) -> bool:
        """Commit the consumed positions; False when there is nothing to send or the client may not."""
        if not self._cluster.counts_records or not self._machine.may_commit:
            return False
        offsets = self.consumed()
        if partitions is not None:
            offsets = {tp: offset for tp, offset in offsets.items() if tp in partitions}
        if not offsets:
            return False
        self.send(how, offsets)
        return True

    def send_for_machine(self, how: str) -> bool:
        """Commit as the client machine asks, where the policy has it so."""
        wanted = self._policy == "auto" or (how == "close" and self._policy == "per_batch")
        return wanted and self.send_consumed(how)

    def send_revoked(self, callback: str, partitions: messages.Partitions) -> bool:
        """Commit in onPartitionsRevoked, where the policy has it so."""
        revoked = callback == "revoked" and self._policy == "revoked"
        return revoked and self.send_consumed("revoked", partitions)

    def consumed(self) -> Offsets:
        """Positions of everything consumed so far, sorted."""
        self._fetching.settle()
        return dict(sorted(self._fetching.consumption.positions.items()))

    # --- periodically ----------------------------------------------------------------------------
    def restart_auto_commit(self) -> None:
        """The next periodic commit comes one interval from now; librdkafka's timer runs on from its creation (rd_kafka_cgrp_new)."""
        if self._policy == "auto" and self._config.auto_commit and self._cluster.counts_records:
            interval_ms = self._config.auto_commit_interval_ms
            past_ms = (self._host.now_ms - self._created_ms) % interval_ms if self._machine.librdkafka else 0
            self._auto_commit_at(self._host.now_ms - past_ms + interval_ms)

    def _auto_commit_at(self, at_ms: int) -> None:
        self._host.set_timer(AUTO_COMMIT, at_ms, self._auto_commit)

    def _auto_commit(self) -> None:
        host, machine = self._host, self._machine
        self._overdue = self._overdue or host.frozen
        if machine.librdkafka and not host.frozen:
            self._commit_handed_over()
            return
        ready_ms = self._ready_ms()
        if host.frozen or not machine.idle or not machine.may_commit:
            self._auto_commit_at(max(ready_ms, host.now_ms + host.latencies.commit_retry_ms))
            return
        if (
            ready_ms > host.now_ms
        ):  # a batch is in work: the next poll() commits, at the moment that it is called
            self._auto_commit_at(ready_ms)
            return
        self._overdue = False
        self.send_consumed("auto")
        if self._cluster.counts_records:
            self._fetching.progress()
        self._auto_commit_at(host.now_ms + self._config.auto_commit_interval_ms)

    def _commit_handed_over(self) -> None:
        """Librdkafka commits in a thread of its own, whether the application polls or not: what is new, while no rebalance is under way."""
        self._overdue = False
        offsets = self.consumed()
        if self._machine.idle and offsets != self._sent and self.send_consumed("auto"):
            self._sent = offsets
            self._fetching.progress()
        self.restart_auto_commit()

    def catch_up(self) -> None:
        """A commit that fell due while the process was frozen is sent as soon as it can be."""
        if self._overdue and not self._host.frozen:
            self._auto_commit()

    # --- around batches --------------------------------------------------------------------------
    def _batch(self, offsets: Offsets, before: bool) -> None:
        """Commit (as commitSync) around each batch, stored without a message each: its answer is known at once."""
        if before == (self._policy == "before_processing"):
            self.sync(offsets)

    def sync(self, offsets: Offsets) -> str:
        """Commit as commitSync between two polls; returns the error, ``NONE`` when the offsets are stored."""
        host, broker = self._host, self._cluster.broker
        request = self.request("sync", offsets)
        error = broker.commit_error(request)
        if error == messages.NONE:
            self._cluster.store(request.group, offsets)
            self._refused = False
        elif not self._refused:
            self._refused = True
            broker.store_offsets(request.group, request, error)
            host.at(host.now_ms, self._apply, fx.Answered(request, messages.Answer(error)))
        return error


BACKGROUND = frozenset({messages.Heartbeat, messages.ConsumerGroupHeartbeat, messages.LeaveGroup})
"""Requests whose answers the background thread handles; all others wait until the application is inside poll()."""


class Client:
    """The machine decides; the parts carry out, by the table of handlers that is given."""

    __slots__ = (
        "_handlers",
        "application",
        "cluster",
        "commits",
        "config",
        "connection",
        "end",
        "fetching",
        "heartbeat_sent_ms",
        "host",
        "join_sent_ms",
        "librdkafka",
        "listener",
        "machine",
        "metadata",
        "pins",
    )

    def __init__(
        self,
        host: Incarnation,
        spec: MemberSpec,
        config: ClientConfig,
        machine: ClientMachine,
        cluster: Cluster,
        faults: Faults,
        pins: ReplayPins | None,
        pace: Pace,
        listener: Any | None,
        handlers: Mapping[type, Callable[[Client, Any], None]],
        end: Callable[[str, str | None], None],
    ) -> None:
        """``end`` ends the process, with how and by which error."""
        self.host, self.config, self.machine, self.cluster = host, config, machine, cluster
        self.pins, self.listener, self._handlers, self.end = pins, listener, handlers, end
        self.librdkafka = spec.client == "librdkafka"
        self.heartbeat_sent_ms: int | None = None
        self.join_sent_ms = 0
        self.connection = Connection(host, self, faults, pins, librdkafka=self.librdkafka)
        self.fetching = Fetching(
            host, machine, cluster, config, pace.processing_ms, self._watch_polls, self._refresh_metadata
        )
        self.application = Application(
            host, machine, pace, config.max_poll_interval_ms, self.fetching, self.apply, self._polled
        )
        self.commits = Commits(
            self.connection,
            machine,
            cluster,
            config,
            spec.commit,
            self.fetching,
            self.application.ready_ms,
            self.apply,
        )
        named = spec.pattern is None and spec.server_pattern is None
        self.metadata = ClientMetadata(
            host, machine, cluster, config.metadata_max_age_ms, self.apply, named=named
        )

    def close(self) -> None:
        """The run is over: let go of the parts, which refer back to their client."""
        self.host.forget()
        self.fetching.close()
        del self.application, self.commits, self.connection, self.fetching, self.metadata

    def start(self) -> None:
        """The application is inside poll() for the first time."""
        self.application.start()
        self.metadata.read()
        self.application.queue_poll(self.host.now_ms)

    def apply(self, event: Any) -> None:
        """Give an event to the client machine and carry out what it asks for."""
        host = self.host
        if not host.alive:
            return
        if host.frozen:  # overdue session checks come first when it is thawed
            first = isinstance(event, fx.TimerFired) and event.key == SESSION
            host.postpone(self.apply, event, first=first)
            return
        handlers = self._handlers
        for effect in self.machine.step(event):
            handlers[type(effect)](self, effect)

    # --- answers -----------------------------------------------------------------------------
    def answered(self, request: messages.Request, response: messages.Response) -> None:
        """An answer has reached the process; its application may have to be in poll() to see it."""
        host, application = self.host, self.application
        if type(request) not in BACKGROUND and application.running is None and not host.frozen:
            ready_ms = application.ready_ms()
            if ready_ms > host.now_ms and not self.librdkafka:
                host.at(ready_ms, self.answered, request, response)
                return
        self._commit_over(request)
        self.apply(fx.Answered(request, response))

    def disconnected(self, request: messages.Request, cause: str) -> None:
        """A request of this process will get no answer."""
        if self.host.alive:
            self._commit_over(request)
            self.apply(fx.Disconnected(request, cause))

    def _commit_over(self, request: messages.Request) -> None:
        """A callback that waited for its commit may return."""
        if isinstance(request, messages.OffsetCommit) and request.how == "revoked":
            self.application.callback_over()

    # --- what the parts ask of each other ------------------------------------------------------
    def _polled(self) -> None:
        self.metadata.tell_before_join()
        self.apply(fx.Polled())

    def _watch_polls(self, since_ms: int, for_ms: int) -> None:
        self.application.watch_polls(since_ms, for_ms)

    def _refresh_metadata(self, after_ms: int) -> None:
        self.metadata.soon(after_ms)
