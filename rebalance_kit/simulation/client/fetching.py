"""Which partitions' records reach an application, and where it stands in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rebalance_kit.model.config import ClientConfig
from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.protocol.messages import Partitions
from rebalance_kit.simulation.client.consumption import Consumption
from rebalance_kit.simulation.client.incarnation import ClientMachine
from rebalance_kit.simulation.cluster.cluster import Cluster
from rebalance_kit.simulation.cluster.topics import Offsets
from rebalance_kit.simulation.kernel import Host, Spread

BATCH = ("batch",)
LEADERS = ("leaders",)
LEAST_LOOK_MS, MOST_LOOK_MS = 200, 5_000
"""How often the engine looks whether a batch takes too long: every tenth of max.poll.interval.ms within these."""


class Fetching:
    """One life's fetch state. Suspended means that the application does not run (stall, freeze, callback)."""

    __slots__ = (
        "_answered",
        "_cluster",
        "_config",
        "_counts",
        "_host",
        "_leaderless",
        "_ledgers",
        "_machine",
        "_paused",
        "_plane",
        "_refresh_metadata",
        "_sought",
        "_starting",
        "_starts",
        "_suspended",
        "_wanted",
        "_watch_polls",
        "_watched_ms",
        "consumption",
    )

    def __init__(
        self,
        host: Host,
        machine: ClientMachine,
        cluster: Cluster,
        config: ClientConfig,
        processing_ms: float,
        watch_polls: Callable[[int, int], None],
        refresh_metadata: Callable[[int], None],
    ) -> None:
        """``watch_polls`` is told of a batch that takes long, ``refresh_metadata`` of a fetch that fails."""
        self._host, self._machine, self._cluster, self._config = host, machine, cluster, config
        self._watch_polls, self._refresh_metadata = watch_polls, refresh_metadata
        self._counts, self._plane = cluster.counts_records, cluster.plane
        self._ledgers = cluster.plane.ledgers_of(host.group_id)
        self._suspended: set[str] = set()
        self._paused: dict[TopicPartition, None] = {}
        self._leaderless: dict[TopicPartition, None] = {}
        self._sought: Offsets = {}
        self._wanted: dict[TopicPartition, int] = {}
        self._starting: dict[TopicPartition, tuple[int, int]] = {}
        self._starts = 0
        self._answered: list[int] = []
        self._watched_ms = -1
        self.consumption = Consumption(
            self._plane,
            host.group_id,
            config.max_poll_records,
            processing_ms if self._counts else 0.0,
            host.latencies.poll_step_ms,
            self._redelivered,
            next_poll_ms=host.now_ms,
        )

    @property
    def fetched(self) -> tuple[TopicPartition, ...]:
        """Partitions whose records are to reach the application, sorted."""
        return tuple(sorted(self._wanted))

    def _row(self, kind: str, tp: TopicPartition, **detail: object) -> None:
        self._host.row(kind, detail, *self._machine.shown_as, topic=tp.topic, partition=tp.partition)

    def watch_batches(self) -> None:
        """Look from time to time whether a batch takes longer than max.poll.interval.ms, if one could."""
        limit_ms = self._config.max_poll_interval_ms
        if self._counts and self.consumption.processing_ms * self.consumption.max_poll_records > limit_ms:
            look_ms = max(LEAST_LOOK_MS, min(limit_ms // 10, MOST_LOOK_MS))
            self._host.set_timer(BATCH, self._host.now_ms + look_ms, self._look_at_batch)

    def _look_at_batch(self) -> None:
        self.settle()
        began_ms, busy_until_ms = self.consumption.batch_ms, self.consumption.busy_until_ms
        for_ms = busy_until_ms - began_ms
        if for_ms > self._config.max_poll_interval_ms and began_ms != self._watched_ms:
            self._watched_ms = began_ms
            self._watch_polls(began_ms, for_ms)
        self.watch_batches()

    def progress(self) -> None:
        """A row for each partition: where the application and its commits are."""
        row, (generation, member_id) = self._host.row, self._machine.shown_as
        if not self._counts:
            for tp in self.fetched:
                row("progress", self._standing(tp), generation, member_id, topic=tp[0], partition=tp[1])
            return
        positions, logs, ledgers, now_ms = (
            self.consumption.positions,
            self._plane.logs,
            self._ledgers,
            self._host.now_ms,
        )
        known, end = None, 0
        for tp, wanted in sorted(self._wanted.items()):
            log = logs.get(tp)
            if log is not known or log is None:  # partitions of one topic share theirs
                known, end = log, self._plane.end(tp, now_ms)
            ledger = ledgers.get(tp) or self._plane.ledger(self._host.group_id, tp)
            detail = {"position": positions.get(tp, wanted), "log_end": end, "committed": ledger.committed}
            row("progress", detail, generation, member_id, topic=tp[0], partition=tp[1])

    def _standing(self, tp: TopicPartition) -> dict[str, int | None]:
        if not self._counts:
            return {"position": None, "log_end": None, "committed": None}
        position = self.consumption.positions.get(tp)
        ledger = self._ledgers.get(tp) or self._plane.ledger(self._host.group_id, tp)
        return {
            "position": self._wanted.get(tp) if position is None else position,
            "log_end": self._plane.end(tp, self._host.now_ms),
            "committed": ledger.committed,
        }

    def settle(self) -> None:
        """Let every poll before now have happened; one at this very moment first does what the group asks for."""
        if self._counts:
            self.consumption.settle(self._host.now_ms - 1)
            self.consumption.finish(self._host.now_ms)

    def close_books(self) -> None:
        """Every poll before now has happened, and the batch in hand will be processed."""
        self.settle()
        if self._counts:
            self.consumption.keep()

    def polled_at_ms(self) -> int:
        """When the application last called poll()."""
        self.settle()
        busy = self.consumption.busy_until_ms > self._host.now_ms
        return self.consumption.batch_ms if busy else self._host.now_ms

    # --- assignment --------------------------------------------------------------------------
    def own(self, partitions: Partitions) -> None:
        """Forget what is not owned any more."""
        owned = frozenset(partitions)
        self.stop([tp for tp in [*self._wanted, *self._starting] if tp not in owned], "unassigned")
        for known in (self.consumption.positions, self._paused, self._leaderless, self._sought):
            for tp in [tp for tp in known if tp not in owned]:
                del known[tp]

    def keep_topics(self, topics: tuple[str, ...]) -> None:
        """subscribe() with other topics: records of dropped topics stop at the call (KIP-848 client)."""
        if self._host.protocol == "consumer":
            self.stop(
                [tp for tp in [*self._wanted, *self._starting] if tp.topic not in topics], "unsubscribed"
            )

    def start(self, partitions: Iterable[TopicPartition]) -> None:
        """Fetch these as soon as their offsets are known and the first fetch is answered."""
        fresh = [tp for tp in partitions if tp not in self._wanted and tp not in self._starting]
        if not fresh:
            return
        host = self._host
        self._starts += 1
        for tp in fresh:
            self._starting[tp] = self._starts, self._begin_at(tp)
        self.watch_batches()
        host.at(host.now_ms + host.draw(self._first_record()), self._begin, self._starts)

    def _first_record(self) -> Spread:
        latencies = self._host.latencies
        if self._host.protocol == "consumer":
            return latencies.first_record_consumer
        if self._config.mode == "COOPERATIVE":
            return latencies.first_record_cooperative
        return latencies.first_record_classic

    def _begin_at(self, tp: TopicPartition) -> int:
        if tp in self._sought:
            return self._sought.pop(tp)
        committed = self._cluster.committed(self._host.group_id, tp)
        return self._reset(tp) if committed is None else committed

    def _reset(self, tp: TopicPartition) -> int:
        return 0 if self._config.auto_offset_reset == "earliest" else self._cluster.log_end(tp)

    def _begin(self, number: int) -> None:
        if self._suspended and self._host.protocol == "classic":
            self._answered.append(number)  # a classic client takes answers inside poll() only
            return
        for tp, (begun, position) in list(self._starting.items()):
            if begun != number:
                continue
            del self._starting[tp]
            self._wanted[tp] = position
            if self._counts:
                self.consumption.positions[tp] = position
            if not self._suspended:
                self._resume(tp)

    def _resume(self, tp: TopicPartition) -> None:
        if tp in self._paused or tp in self._leaderless:
            return
        if not self._cluster.replicas.leads(tp):
            self._leaderless[tp] = None
            return
        if self._counts:
            self.consumption.start(
                tp, self.consumption.positions.get(tp, self._wanted[tp]), self._host.now_ms
            )
        else:
            self.consumption.fetching[tp] = None
        self._row("fetch_resumed", tp, **self._standing(tp))

    def stop(self, partitions: Iterable[TopicPartition], reason: str) -> None:
        """No record of these reaches the application any more."""
        gone = list(partitions)
        if not gone:
            return
        self.settle()
        for tp in gone:
            self._starting.pop(tp, None)
            if self._wanted.pop(tp, None) is None:
                continue
            if tp in self.consumption.fetching:
                self.consumption.stop(tp)
                self._row("fetch_stopped", tp, reason=reason, **self._standing(tp))

    # --- what a listener asks for ---------------------------------------------------------------
    def position(self, tp: TopicPartition) -> int | None:
        """Offset of the next record of this partition, None before it is known."""
        self.settle()
        return self._sought.get(tp, self.consumption.positions.get(tp, self._wanted.get(tp)))

    def seek(self, tp: TopicPartition, offset: int) -> None:
        """Go on from there; where the log has no such offset, from where auto.offset.reset says."""
        self.settle()
        at = offset if offset <= self._cluster.log_end(tp) else self._reset(tp)
        if tp in self._wanted:
            self._wanted[tp] = at
            if self._counts:
                self.consumption.positions[tp] = at
        else:
            self._starting.pop(tp, None)
            self._sought[tp] = at

    def pause(self, partitions: Iterable[TopicPartition]) -> None:
        """No records of these until ``resume``; they stay owned."""
        self.settle()
        for tp in partitions:
            self._paused[tp] = None
            if tp in self.consumption.fetching:
                self.consumption.stop(tp)
                self._row("fetch_stopped", tp, reason="paused", **self._standing(tp))

    def resume(self, partitions: Iterable[TopicPartition]) -> None:
        """Records of these again."""
        self.settle()
        for tp in partitions:
            if self._paused.pop(tp, tp) is None and tp in self._wanted and not self._suspended:
                self._resume(tp)

    # --- whose broker is gone --------------------------------------------------------------------
    def lose_leaders(self, gone: frozenset[TopicPartition]) -> None:
        """Fetches of these fail: nothing of them arrives until the client's metadata names another leader."""
        self.settle()
        lost = [tp for tp in sorted(self._wanted) if tp in gone and tp not in self._leaderless]
        for tp in lost:
            self._leaderless[tp] = None
            if tp in self.consumption.fetching:
                self.consumption.stop(tp)
                self._row("fetch_stopped", tp, reason="leader", **self._standing(tp))
        if lost:
            self._ask_for_leaders()

    def _ask_for_leaders(self) -> None:
        host = self._host
        wait_ms = host.latencies.coordinator_retry_ms + host.draw(host.latencies.metadata_round)
        host.set_timer(LEADERS, host.now_ms + wait_ms, self._leaders_asked)

    def _leaders_asked(self) -> None:
        self._refresh_metadata(0)
        self.find_leaders()

    def find_leaders(self) -> None:
        """Fetch again what has a leader; ask again, after retry.backoff.ms, while something has none."""
        leads = self._cluster.replicas.leads
        self.settle()
        for tp in [tp for tp in self._leaderless if leads(tp)]:
            del self._leaderless[tp]
            if tp in self._wanted and not self._suspended:
                self._resume(tp)
        if self._leaderless:
            self._ask_for_leaders()

    # --- the application stands still -----------------------------------------------------------
    def suspend(self, reason: str) -> None:
        """Nothing reaches the application until ``go_on`` with the same reason."""
        self.settle()
        if reason == "stall" and self._counts and self._host.protocol == "classic":
            for tp, (_, position) in sorted(self._starting.items()):  # known, but nothing is fetched yet
                self._row("progress", tp, **{**self._standing(tp), "position": position})
        self._suspended.add(reason)
        for tp in sorted(self.consumption.fetching):
            self.consumption.stop(tp)
            self._row("fetch_stopped", tp, reason=reason, **self._standing(tp))

    def go_on(self, reason: str) -> None:
        """That hindrance is over; records flow again unless another one remains."""
        self._suspended.discard(reason)
        if self._suspended:
            return
        host = self._host
        wait_ms = host.latencies.first_poll_after_thaw_ms if reason == "frozen" else 0
        self.consumption.next_poll_ms = max(self.consumption.next_poll_ms, host.now_ms + wait_ms)
        for tp in self.fetched:
            self._resume(tp)
        answered, self._answered = self._answered, []
        for number in answered:  # poll() first does what the group asks for
            host.at(host.now_ms + 1, self._begin, number)

    def die(self, reason: str) -> None:
        """The process is killed: the batch in hand is cut off where its time ended."""
        self.settle()
        if self._counts:
            self.consumption.abandon(self._host.now_ms)
        for tp in sorted(self.consumption.fetching):
            self._row("fetch_stopped", tp, reason=reason, **self._standing(tp))
        self.consumption.fetching.clear()
        self._wanted.clear()
        self._starting.clear()

    def set_processing(self, processing_ms: float) -> None:
        """Processing takes this long a record from now on."""
        self.settle()
        self.consumption.processing_ms = processing_ms if self._counts else 0.0  # no records, no work
        self.watch_batches()

    def close(self) -> None:
        """The run is over: let go of the poll loop, which refers back."""
        del self.consumption

    def _redelivered(self, tp: TopicPartition, count: int, first: int) -> None:
        self._row("redelivered", tp, count=count, first_offset=first)
