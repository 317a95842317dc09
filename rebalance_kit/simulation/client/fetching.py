"""Which partitions' records reach an application, and where it stands in them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from rebalance_kit.model.config import ClientConfig
from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.protocol.messages import Partitions
from rebalance_kit.simulation.client.incarnation import ClientMachine
from rebalance_kit.simulation.cluster.broker import Cluster
from rebalance_kit.simulation.cluster.topics import DataPlane, Ledger, Log, Offsets
from rebalance_kit.simulation.kernel import Host, Spread

# One application's poll loop over the records that reach it, counted without an event per record.
#
# Nothing here is sampled: an application polls at known moments, so positions follow by arithmetic
# whenever somebody looks (``Consumption.settle``).


Source = tuple[TopicPartition, Log, Ledger]
"""A partition that is read, with its log and what the group has done with it."""
Span = tuple[TopicPartition, int, int]
"""Records of one partition, from one offset to before another."""
Records = tuple[TopicPartition, int, int, Ledger]
"""The same in a batch, with what the group has done with the partition."""


@dataclass(slots=True)
class Consumption:
    """One process's poll loop over the partitions whose records reach it.

    ``processing_ms`` a record; a poll returns at most ``max_poll_records``; without work the
    application polls again at the next record, at the latest after ``poll_step_ms``.
    """

    plane: DataPlane
    group: str
    max_poll_records: int
    processing_ms: float
    poll_step_ms: int
    on_redelivered: Callable[[TopicPartition, int, int], None]
    on_batch: Callable[[Offsets, bool], None] | None = None
    on_records: Callable[[list[Span]], None] | None = None
    """Takes what was processed, where the application is the learner's own."""
    fetching: dict[TopicPartition, None] = field(default_factory=dict)
    positions: Offsets = field(default_factory=dict)
    next_poll_ms: int = 0
    batch_ms: int = 0
    busy_until_ms: int = 0
    batch: list[Records] = field(default_factory=list)
    _sources: list[Source] | None = field(default=None, init=False)
    """What is fetched and exists, in order; None where that has to be looked up again."""
    _rate_per_s: float = field(default=0.0, init=False)
    """How many records a second come into all of it."""
    _seen_version: int = field(default=-1, init=False)
    _handling: bool = field(default=False, init=False)
    """Whether ``on_records`` runs: it asks where the application stands, and that does not move meanwhile."""

    def _read(self) -> list[Source]:
        """What the next poll reads, in order; whatever is fetched has a ledger (``start``)."""
        sources, plane = self._sources, self.plane
        if sources is None or self._seen_version != plane.version:
            logs, ledgers = plane.logs, plane.ledgers_of(self.group)
            sources = [(tp, logs[tp], ledgers[tp]) for tp in self.fetching if tp in logs]
            self._sources, self._seen_version = sources, plane.version
            self._rate_per_s = sum([log.rate_per_s for _, log, _ in sources], start=0.0)
        return sources

    def settle(self, now_ms: int) -> None:
        """Let every poll up to ``now_ms`` have happened."""
        if self._handling:
            return
        if not self.fetching:
            self.finish(now_ms)
            self.next_poll_ms = max(self.next_poll_ms, now_ms)
            return
        while self.next_poll_ms <= now_ms:
            self._poll(self.next_poll_ms)
            kept_up, first_time = self._keeps_up()
            if kept_up:
                last = first_time and not self.processing_ms and self.on_batch is None
                self._skip_to(now_ms if last else now_ms - self.poll_step_ms)
        self.finish(now_ms)

    def _keeps_up(self) -> tuple[bool, bool]:
        """Whether everything is read as it comes, and whether nobody has been handed any of what comes next."""
        next_ms, read_ms = self.next_poll_ms, self.batch_ms
        if self.busy_until_ms > next_ms or self.on_records is not None:
            return False, False
        sources, step = self._read(), self.poll_step_ms
        most = self._rate_per_s * step / 1000 + len(self.fetching)  # records of the fullest poll
        if most > self.max_poll_records or most * self.processing_ms > step:
            return False, False
        positions, first_time = self.positions, True
        known, end = None, 0
        for tp, log, ledger in sources:
            if log is not known:
                known, end = log, log.end(read_ms)
            position = positions[tp]
            if position < end:
                return False, False
            if ledger.high > position:
                first_time = False
        return True, first_time

    def _skip_to(self, until_ms: int) -> None:
        """Everything is read as it comes: of the polls up to ``until_ms`` only the last one matters."""
        skipped = (until_ms - self.next_poll_ms) // self.poll_step_ms
        if skipped <= 0:
            return
        self.finish(self.next_poll_ms)
        at_ms = self.next_poll_ms + skipped * self.poll_step_ms
        positions = self.positions
        for tp, log, ledger in self._read():
            first, end = positions[tp], log.end(at_ms)
            if end > first:
                self._deliver(tp, first, end, ledger)
                ledger.process(first, end)
        self.batch_ms = at_ms
        self.busy_until_ms = at_ms
        self.next_poll_ms = at_ms + self.poll_step_ms
        if self.on_batch is not None:
            self.on_batch({tp: positions[tp] for tp in self.fetching}, False)

    def _poll(self, at_ms: int) -> None:
        self.finish(at_ms)
        room = self.max_poll_records
        batch = []
        positions, sources = self.positions, self._read()
        known, log_end = None, 0
        for place, (tp, log, ledger) in enumerate(sources):
            if log is not known:  # partitions of one topic share theirs
                known, log_end = log, log.end(at_ms)
            first = positions[tp]
            end = log_end if log_end - first <= room else first + room
            if end > first:
                self._deliver(tp, first, end, ledger)
                batch.append((tp, first, end, ledger))
                room -= end - first
                if not room:  # the next poll begins with the others
                    self.fetching[tp] = self.fetching.pop(tp)
                    sources.append(sources.pop(place))
                    break
        self.batch, self.batch_ms = batch, at_ms
        if self.processing_ms:
            busy_until_ms = at_ms + round((self.max_poll_records - room) * self.processing_ms)
            self.busy_until_ms = busy_until_ms
            self.next_poll_ms = max(busy_until_ms, at_ms + self.poll_step_ms) if room else busy_until_ms
        else:
            self.busy_until_ms = at_ms
            self.next_poll_ms = at_ms + (self.poll_step_ms if room else 1)
        if self.on_batch is not None and batch:
            self.on_batch({tp: end for tp, _, end, _ in batch}, True)

    def _deliver(self, tp: TopicPartition, first: int, end: int, ledger: Ledger) -> None:
        again = ledger.deliver(first, end)
        self.positions[tp] = end
        if again:
            self.on_redelivered(tp, again, first)

    def finish(self, now_ms: int) -> None:
        """The batch in hand counts as processed once its time has passed."""
        if not self.batch or self.busy_until_ms > now_ms or self._handling:
            return
        batch, self.batch = self.batch, []
        self._handle(batch)
        if self.on_batch is not None:
            self.on_batch({tp: end for tp, _, end, _ in batch}, False)

    def keep(self) -> None:
        """The run ends with a batch in hand: a living process would finish it, so none of it is lost."""
        self._handle(self.batch)

    def _handle(self, batch: list[Records]) -> None:
        """These are processed, by the learner's own code where it does that."""
        for _, first, end, ledger in batch:
            ledger.process(first, end)
        if self.on_records is not None:
            self._handling = True
            try:
                self.on_records([(tp, first, end) for tp, first, end, _ in batch])
            finally:
                self._handling = False

    def abandon(self, now_ms: int) -> None:
        """The process dies: of the batch in hand only what its time allowed is processed."""
        self.finish(now_ms)
        done = int((now_ms - self.batch_ms) / self.processing_ms) if self.processing_ms else 0
        parts: list[Records] = []
        for tp, first, end, ledger in self.batch:
            part = min(end - first, max(done, 0))
            done -= part
            if part:
                parts.append((tp, first, first + part, ledger))
        self.batch = []
        if parts:
            self._handle(parts)

    def start(self, tp: TopicPartition, position: int, now_ms: int) -> None:
        """Records of ``tp`` reach the application from ``position`` on."""
        self.settle(now_ms - 1)
        ledger = self.plane.ledger(self.group, tp)
        if ledger.begun is None:
            ledger.begun = position
        self.positions[tp] = position
        self.fetching[tp], self._sources = None, None
        if self.busy_until_ms <= now_ms:
            self.next_poll_ms = min(max(self.next_poll_ms, now_ms), now_ms + self.poll_step_ms)

    def stop(self, tp: TopicPartition) -> None:
        """Records of ``tp`` reach the application no more (its position stays known)."""
        self.fetching.pop(tp, None)
        self._sources = None

    def ready_ms(self, now_ms: int) -> int:
        """When the application is next inside poll(): now, or when its batch is processed."""
        if self.processing_ms:
            self.settle(now_ms - 1)
            self.finish(now_ms)
            return max(now_ms, self.busy_until_ms)
        return now_ms


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
        latencies, first = self._host.latencies, self._starts == 1
        if self._host.protocol == "consumer":
            return latencies.first_record_consumer if first else latencies.later_record_consumer
        if self._config.mode == "COOPERATIVE":
            return latencies.first_record_cooperative if first else latencies.later_record_cooperative
        return latencies.first_record_classic if first else latencies.later_record_classic

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
