"""The application thread of one life: it polls, stalls, runs callbacks, and takes orders when it is free."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.client import names
from rebalance_kit.simulation.client.fetching import Fetching
from rebalance_kit.simulation.client.incarnation import ClientMachine, Incarnation


@dataclass(slots=True)
class Pace:
    """How fast an application works, over all its lives."""

    processing_ms: float
    callback_ms: int


class Application:
    """One thread: it is inside poll(), in a callback, at work on a batch, or stalled."""

    __slots__ = (
        "_apply",
        "_callback_from_ms",
        "_callback_until_ms",
        "_fetching",
        "_host",
        "_machine",
        "_max_poll_interval_ms",
        "_pace",
        "_poll_queued",
        "_polled",
        "_stalled_from_ms",
        "_stalled_until_ms",
        "callback_error",
        "first_poll_ms",
        "running",
        "warming_percent",
    )

    def __init__(
        self,
        host: Incarnation,
        machine: ClientMachine,
        pace: Pace,
        max_poll_interval_ms: int,
        fetching: Fetching,
        apply: Callable[[Any], None],
        polled: Callable[[], None],
    ) -> None:
        """``apply`` hands an event to the client machine, ``polled`` is called inside each poll() that it wants."""
        self._host, self._machine, self._pace, self._fetching = host, machine, pace, fetching
        self._apply, self._polled = apply, polled
        self._max_poll_interval_ms = max_poll_interval_ms
        self._stalled_from_ms = self._stalled_until_ms = 0
        self._callback_from_ms = self._callback_until_ms = 0
        self._poll_queued = False
        self.first_poll_ms = 0
        self.warming_percent = 100
        self.running: fx.Callback | None = None
        self.callback_error: str | None = None
        """What the listener raised, until its callback is over."""

    @property
    def callback_ms(self) -> int:
        """How long a callback takes."""
        return self._pace.callback_ms

    # --- poll ----------------------------------------------------------------------------------
    def start(self) -> None:
        """The application is inside poll() for the first time."""
        host = self._host
        self.first_poll_ms = host.now_ms
        self.warming_percent = host.draw(host.latencies.warming_percent)

    def ready_ms(self) -> int:
        """When the application is next inside poll() and nothing keeps it."""
        now_ms = self._host.now_ms
        return max(
            now_ms,
            self._stalled_until_ms,
            self._callback_until_ms,
            self._fetching.consumption.ready_ms(now_ms),
        )

    def queue_poll(self, at_ms: int) -> None:
        """Be inside poll() at that moment, unless that is due already."""
        if not self._poll_queued:
            self._poll_queued = True
            self._host.at(at_ms, self._poll)

    def _poll(self) -> None:
        self._poll_queued = False
        if self._host.frozen:
            self._host.postpone(self._poll)
            return
        ready_ms = self.ready_ms()
        if ready_ms > self._host.now_ms and not self._machine.serves_itself:
            self.queue_poll(ready_ms)
        else:
            self._polled()

    def watch_polls(self, since_ms: int, for_ms: int, called_ms: int | None = None) -> None:
        """The application is busy from then on: see whether that is longer than max.poll.interval.ms.

        The limit counts from ``called_ms``, the last call of poll(), or from the moment it got busy.
        """
        if for_ms > self._max_poll_interval_ms:
            host = self._host
            latencies = host.latencies
            late_ms = host.draw(
                latencies.librdkafka_overdue_noticed
                if self._machine.librdkafka
                else latencies.poll_overdue_noticed
            )
            begins_ms = since_ms if called_ms is None else called_ms
            host.at(begins_ms + self._max_poll_interval_ms + late_ms, self._poll_overdue, since_ms, late_ms)

    def _called_ms(self) -> int:
        """When the poll() was called that has just returned: Java counts from its call, librdkafka from its return.

        It lasted a poll step, unless a callback ran in it or the process was not there yet; Java's poll() counts
        anew after each callback.
        """
        now_ms = self._host.now_ms
        if self._machine.librdkafka:
            return now_ms
        step_ms = self._host.latencies.poll_step_ms
        return max(now_ms - step_ms, self.first_poll_ms, self._callback_until_ms, self._stalled_until_ms)

    def _poll_overdue(self, since_ms: int, over_ms: int) -> None:
        busy = (
            since_ms in {self._stalled_from_ms, self._callback_from_ms}
            and max(self._stalled_until_ms, self._callback_until_ms) > self._host.now_ms
        )
        if busy or self._fetching.polled_at_ms() <= since_ms:
            self._apply(fx.PollTimeout(over_ms))
            self._polled_again()

    def _polled_again(self) -> None:
        """Tell the machine as soon as the application, which was late, is inside poll() again."""
        host, ready_ms = self._host, self.ready_ms()
        if not self._machine.poll_overdue:
            return
        if host.frozen:
            host.postpone(self._polled_again)
        elif ready_ms > host.now_ms:
            host.at(ready_ms, self._polled_again)
        else:
            self._apply(fx.PolledAgain(host.draw(host.latencies.poll_timeout_seen_first)))

    # --- stall -----------------------------------------------------------------------------------
    def stall(self, for_ms: int) -> None:
        """Do not call poll() for that long (a callback is finished first)."""
        host = self._host
        now_ms = host.now_ms
        if self._callback_until_ms > now_ms:
            host.at(self._callback_until_ms, self.stall, for_ms)
            return
        called_ms = self._called_ms()
        self._stalled_from_ms, self._stalled_until_ms = now_ms, now_ms + for_ms
        self._fetching.suspend("stall")
        host.row("stall_begin", {"until_ms": self._stalled_until_ms})
        self.watch_polls(now_ms, for_ms, called_ms)
        host.at(self._stalled_until_ms, self._stall_over)

    def _stall_over(self) -> None:
        host = self._host
        if self._stalled_until_ms > host.now_ms:
            return
        if host.frozen:
            host.postpone(self._stall_over)
            return
        host.row("stall_end", {})
        self._fetching.go_on("stall")
        self.queue_poll(host.now_ms)

    # --- callbacks ---------------------------------------------------------------------------------
    def begin_callback(self, callback: fx.Callback) -> None:
        """Enter a listener callback; it takes ``callback_ms`` and what it waits for."""
        host, for_ms = self._host, self.callback_ms
        host.row(
            "callback_begin",
            {"callback": callback.callback, "partitions": names(callback.partitions)},
            callback.generation if callback.generation >= 0 else None,
            callback.member_id or None,
        )
        self.running, self.callback_error = callback, None
        self._callback_from_ms, self._callback_until_ms = host.now_ms, host.now_ms + for_ms
        if for_ms:
            self._fetching.suspend("callback")
            self.watch_polls(host.now_ms, for_ms)

    def return_later(self) -> None:
        """The callback waits for nothing: it returns when its time has passed."""
        self._host.at(self._callback_until_ms, self.callback_over)

    def never_return(self, for_ms: int) -> None:
        """The callback does not return: max.poll.interval.ms will tell."""
        now_ms = self._host.now_ms
        self._callback_until_ms = now_ms + for_ms
        self._fetching.suspend("callback")
        self.watch_polls(now_ms, for_ms)

    def callback_over(self) -> None:
        """The callback has taken its time, and its commit is answered: the machine goes on."""
        host = self._host
        if self.running is None:
            return
        if host.frozen:
            host.postpone(self.callback_over)
            return
        if self._callback_until_ms > host.now_ms:
            host.at(self._callback_until_ms, self.callback_over)
            return
        callback, self.running = self.running, None
        host.row(
            "callback_end",
            {
                "callback": callback.callback,
                "partitions": names(callback.partitions),
                "error": self.callback_error,
            },
            callback.generation if callback.generation >= 0 else None,
            callback.member_id or None,
        )
        if self._callback_until_ms > self._callback_from_ms:  # not callback_ms: it may have changed meanwhile
            self._fetching.go_on("callback")
        self._apply(fx.CallbackDone(self.callback_error))
        if self._machine.withholds_records:
            self._fetching.suspend("callback")

    # --- orders --------------------------------------------------------------------------------
    def order(self, event: Any) -> None:
        """Call a method of the consumer (``event`` says which) as soon as the thread is free."""
        host = self._host
        if host.frozen:
            host.postpone(self.order, event)
            return
        ready_ms = self.ready_ms()
        if ready_ms > host.now_ms or self.running is not None:
            host.at(max(ready_ms, host.now_ms + 1), self.order, event)
            return
        if isinstance(event, fx.Subscribed):
            self._fetching.keep_topics(event.topics)
        self._apply(event)
