"""One life's client: its machine, and the parts that carry out what the machine asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rebalance_kit.model.config import ClientConfig
from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.classic_client.member import SESSION
from rebalance_kit.protocol.messages import (
    ConsumerGroupHeartbeat,
    Heartbeat,
    LeaveGroup,
    OffsetCommit,
    Request,
    Response,
)
from rebalance_kit.simulation.client.application import Application, Pace
from rebalance_kit.simulation.client.commits import Commits
from rebalance_kit.simulation.client.fetching import Fetching
from rebalance_kit.simulation.client.incarnation import Incarnation
from rebalance_kit.simulation.client.machine import ClientMachine
from rebalance_kit.simulation.client.metadata import ClientMetadata
from rebalance_kit.simulation.cluster.cluster import Cluster
from rebalance_kit.simulation.cluster.connection import Connection, Faults
from rebalance_kit.simulation.scenario.replay_pins import ReplayPins
from rebalance_kit.simulation.scenario.scenario import MemberSpec

BACKGROUND = (Heartbeat, ConsumerGroupHeartbeat, LeaveGroup)
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
        self.heartbeat_sent_ms = host.now_ms
        self.connection = Connection(host, self, faults, pins)
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
    def answered(self, request: Request, response: Response) -> None:
        """An answer has reached the process; its application may have to be in poll() to see it."""
        host, application = self.host, self.application
        if application.running is None and not host.frozen and not isinstance(request, BACKGROUND):
            ready_ms = application.ready_ms()
            if ready_ms > host.now_ms:
                host.at(ready_ms, self.answered, request, response)
                return
        self._commit_over(request)
        self.apply(fx.Answered(request, response))

    def disconnected(self, request: Request, cause: str) -> None:
        """A request of this process will get no answer."""
        if self.host.alive:
            self._commit_over(request)
            self.apply(fx.Disconnected(request, cause))

    def _commit_over(self, request: Request) -> None:
        """A callback that waited for its commit may return."""
        if isinstance(request, OffsetCommit) and request.how == "revoked":
            self.application.callback_over()

    # --- what the parts ask of each other ------------------------------------------------------
    def _polled(self) -> None:
        self.metadata.tell_before_join()
        self.apply(fx.Polled())

    def _watch_polls(self, since_ms: int, for_ms: int) -> None:
        self.application.watch_polls(since_ms, for_ms)

    def _refresh_metadata(self, after_ms: int) -> None:
        self.metadata.soon(after_ms)
