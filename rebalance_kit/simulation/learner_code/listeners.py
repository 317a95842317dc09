"""Rebalance listeners of the learner's own: what they are handed, and what becomes of what they do.

A listener is any object with some of ``on_assigned``, ``on_revoked``, ``on_lost``, each called with
``(partitions, consumer)``; without ``on_lost``, ``on_revoked`` hears of lost partitions too
(``ConsumerRebalanceListener.onPartitionsLost``). No simulated time passes inside, but for the commits: the
callback lasts until the coordinator has answered them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from rebalance_kit.model.topology import TopicPartition, parse_partition
from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.messages import NONE
from rebalance_kit.simulation.learner_code.call_with_timeout import CallTimedOut, call_with_timeout
from rebalance_kit.simulation.scenario.checks import MOST_MS, whole

if TYPE_CHECKING:
    from rebalance_kit.simulation.client.process import Process


class CommitFailed(Exception):
    """commit() was refused: ``error`` is Kafka's name for why (CommitFailedException, RebalanceInProgressException)."""

    def __init__(self, error: str) -> None:
        self.error = error
        super().__init__(f"commit refused: {error}")


class IllegalState(Exception):
    """The consumer is asked for a partition that it does not have (IllegalStateException)."""


class ListeningConsumer:
    """What a listener may ask of its consumer, while its callback runs."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self._closed = False
        self.wants: dict[TopicPartition, int] | None = None

    def _get(self) -> Process:
        if self._closed:
            raise IllegalState("this callback is over; its consumer cannot be used any more")
        return self._process

    def close(self) -> None:
        """The callback is over."""
        self._closed = True

    # --- facts -----------------------------------------------------------------------------
    @property
    def name(self) -> str:
        """The member's name in the scenario."""
        return self._get().name

    @property
    def group(self) -> str:
        """group.id."""
        return self._get().group_id

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
        running = self._get().running
        return -1 if running is None else running.generation

    @property
    def assignment(self) -> tuple[TopicPartition, ...]:
        """The owned partitions, sorted; those that are being revoked are still among them."""
        return tuple(sorted(self._get().machine.owned))

    @property
    def now_ms(self) -> int:
        """The time of the run."""
        return self._get().world.agenda.now_ms

    def position(self, partition: TopicPartition | str) -> int | None:
        """Offset of the next record; None before the first fetch."""
        process = self._get()
        return process.fetching.position(self._own(partition))

    def committed(self, partition: TopicPartition | str) -> int | None:
        """The group's committed offset, None where there is none."""
        process = self._get()
        return process.world.plane.ledger(process.group_id, as_partition(partition)).committed

    # --- orders ----------------------------------------------------------------------------
    def commit(self, offsets: Mapping[TopicPartition | str, int] | None = None) -> None:
        """commitSync(): everything consumed so far, or these offsets; raises ``CommitFailed`` when it is refused.

        Whether it is refused is asked of the coordinator as it stands now; the request itself takes its way.
        """
        process = self._get()
        if offsets is None:
            process.fetching.settle()
            held = process.fetching.consumption.positions
            wanted = {tp: held[tp] for tp in sorted(held)}
        else:
            wanted = {as_partition(tp): offset for tp, offset in offsets.items()}
        if not wanted or not process.world.scenario.data_plane:
            return
        if not process.may_commit():
            raise CommitFailed(
                "REBALANCE_IN_PROGRESS" if process.machine.generation >= 0 else "UNKNOWN_MEMBER_ID"
            )
        error = process.world.broker.commit_error(process.fetching.ask_commit("revoked", wanted))
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
        self._get().fetching.pause([self._own(one) for one in partitions])

    def resume(self, partitions: Iterable[TopicPartition | str]) -> None:
        """Return records of these again."""
        self._get().fetching.resume([self._own(one) for one in partitions])

    def _own(self, partition: TopicPartition | str) -> TopicPartition:
        tp = as_partition(partition)
        if tp not in self._get().machine.owned:
            raise IllegalState(f"No current assignment for partition {tp}")
        return tp


def as_partition(value: Any) -> TopicPartition:
    """A partition as the kit has it, from one, from a pair, or from Kafka's way to print it (``orders-4``)."""
    if isinstance(value, str):
        return parse_partition(value)
    topic, number = value
    if not isinstance(topic, str) or isinstance(number, bool) or not isinstance(number, int):
        raise TypeError(f"{value!r} is not a partition: expected (topic, number) or 'orders-4'")
    return TopicPartition(topic, number)


def hear(process: Process, effect: fx.Callback) -> bool:
    """Run the member's own listener, if it has one; True when the callback waits for its commit.

    What it raised stands in ``process.callback_error`` until the callback is over.
    """
    process.callback_error = None
    method = _method(process.listener, effect.callback)
    if method is None:
        return False
    consumer = ListeningConsumer(process)
    try:
        answer = call_with_timeout(lambda: method(tuple(sorted(effect.partitions)), consumer))
    except CallTimedOut as blocked:
        consumer.close()
        _fault(process, effect.callback, "blocks", str(blocked))
        _stand_still(process)
        return True
    except Exception as error:  # noqa: BLE001 - a listener may raise anything
        process.callback_error = f"{type(error).__name__}: {error}"
        _fault(process, effect.callback, "raises", process.callback_error)
    else:
        if answer is not None:
            _fault(process, effect.callback, "returns nonsense", f"{answer!r:.80}; expected nothing")
    consumer.close()
    if not consumer.wants:
        return False
    process.world.network.send(process, process.fetching.ask_commit("revoked", consumer.wants))
    return True


def _method(listener: Any, callback: str) -> Any:
    found = getattr(listener, f"on_{callback}", None)
    return getattr(listener, "on_revoked", None) if found is None and callback == "lost" else found


def _fault(process: Process, callback: str, fault: str, seen: str) -> None:
    detail = {"part": "listener", "name": f"on_{callback}", "fault": fault, "seen": seen}
    process.world.row(
        process.name, "own_code_fault", process.protocol, None, process.machine.member_id or None, detail
    )


def _stand_still(process: Process) -> None:
    """A callback that never returns keeps the application thread for good: max.poll.interval.ms will tell."""
    now = process.world.agenda.now_ms
    process.callback_until_ms = now + MOST_MS
    process.fetching.suspend("callback")
    process.watch_polls(now, MOST_MS)
