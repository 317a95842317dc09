"""Rebalance listeners of the learner's own: what they are handed, and what becomes of what they do.

A listener is any object with some of ``on_assigned``, ``on_revoked``, ``on_lost``, each called with
``(partitions, consumer)``; without ``on_lost``, ``on_revoked`` hears of lost partitions too
(``ConsumerRebalanceListener.onPartitionsLost``). No simulated time passes inside, but for the commits: the
callback lasts until the coordinator has answered them.

With ``on_records(records, consumer)`` the object is the whole application: it is handed each batch, as ``Record``, when
the time to process it has passed. Of a batch that a crash cuts off, it is handed what it had time for. A commit in it is
stored at once, as in the commit policy ``per_batch``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.messages import NONE
from rebalance_kit.simulation.client.client import Client
from rebalance_kit.simulation.client.consumption import Span
from rebalance_kit.simulation.learner_code.plug_ins import CallTimedOut, as_partition, call_with_timeout
from rebalance_kit.simulation.scenario.checks import MOST_MS, whole


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
