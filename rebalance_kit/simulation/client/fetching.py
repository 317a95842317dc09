"""Which partitions' records reach an application, where it stands in them, and what it commits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from rebalance_kit.model.topology import TopicPartition
from rebalance_kit.protocol import effects as fx
from rebalance_kit.protocol.messages import NONE, Answer, OffsetCommit, Partitions
from rebalance_kit.simulation.client.data_plane import Consumption, Offsets

if TYPE_CHECKING:
    from rebalance_kit.simulation.client.process import Process
    from rebalance_kit.simulation.scenario.scenario import MemberSpec

AUTO_COMMIT = ("auto-commit",)
BATCH = ("batch",)
LEADERS = ("leaders",)


class Fetching:
    """One life's fetch state. Suspended means that the application does not run (stall, freeze, callback)."""

    def __init__(self, process: Process, spec: MemberSpec) -> None:
        world = process.world
        self.process = process
        self.policy = spec.commit
        self.beat_ms = 0
        self._counts = world.scenario.data_plane
        self._overdue = False
        self._suspended: set[str] = set()
        self._paused: dict[TopicPartition, None] = {}
        self._leaderless: dict[TopicPartition, None] = {}
        self._sought: Offsets = {}
        self._wanted: dict[TopicPartition, int] = {}
        self._starting: dict[TopicPartition, int] = {}
        self._starts = 0
        self._refused = False
        self._watched_ms = -1
        per_batch = self._batch if spec.commit in {"per_batch", "before_processing"} else None
        self.consumption = Consumption(
            world.plane,
            process.group_id,
            process.config.max_poll_records,
            process.processing_ms if self._counts else 0.0,
            world.scenario.latencies.poll_step_ms,
            self._redelivered,
            per_batch,
            next_poll_ms=world.agenda.now_ms,
        )

    @property
    def _now(self) -> int:
        return self.process.world.agenda.now_ms

    def _row(self, kind: str, tp: TopicPartition, **detail: object) -> None:
        process = self.process
        generation = process.machine.generation
        process.world.row(
            process.name,
            kind,
            process.protocol,
            generation if generation >= 0 else None,
            process.machine.member_id or None,
            detail,
            topic=tp.topic,
            partition=tp.partition,
        )

    def watch_batches(self) -> None:
        """Look from time to time whether a batch takes longer than max.poll.interval.ms, if one could."""
        limit = self.process.config.max_poll_interval_ms
        if self._counts and self.consumption.processing_ms * self.consumption.max_poll_records > limit:
            agenda = self.process.world.agenda
            look_ms = max(200, min(limit // 10, 5_000))
            agenda.set_timer(
                (self.process.name, BATCH), self._now + look_ms, self._look_at_batch, self.process.life
            )

    def _look_at_batch(self, life: int) -> None:
        if life != self.process.life or not self.process.alive:
            return
        self.settle()
        held = self.consumption
        for_ms = held.busy_until_ms - held.batch_ms
        if for_ms > self.process.config.max_poll_interval_ms and held.batch_ms != self._watched_ms:
            self._watched_ms = held.batch_ms
            self.process.watch_polls(held.batch_ms, for_ms)
        self.watch_batches()

    def _stand(self, tp: TopicPartition) -> dict[str, int | None]:
        if not self._counts:
            return {"position": None, "log_end": None, "committed": None}
        plane = self.process.world.plane
        return {
            "position": self.consumption.positions.get(tp, self._wanted.get(tp)),
            "log_end": plane.end(tp, self._now),
            "committed": plane.ledger(self.consumption.group, tp).committed,
        }

    def settle(self) -> None:
        """Let every poll before now have happened; one at this very moment first does what the group asks for."""
        if self._counts:
            self.consumption.settle(self._now - 1)
            self.consumption.finish(self._now)

    def polled_at_ms(self) -> int:
        """When the application last called poll()."""
        self.settle()
        busy = self.consumption.busy_until_ms > self._now
        return self.consumption.batch_ms if busy else self._now

    # --- assignment --------------------------------------------------------------------------
    def own(self, partitions: Partitions) -> None:
        """Forget what is not owned any more."""
        kept = frozenset(partitions)
        self.stop([tp for tp in [*self._wanted, *self._starting] if tp not in kept], "unassigned")
        for tp in [tp for tp in self.consumption.positions if tp not in kept]:
            del self.consumption.positions[tp]
        for held in (self._paused, self._leaderless, self._sought):
            for tp in [tp for tp in held if tp not in kept]:
                del held[tp]

    def keep_topics(self, topics: tuple[str, ...]) -> None:
        """subscribe() with other topics: records of dropped topics stop at the call (KIP-848 client)."""
        if self.process.protocol == "consumer":
            self.stop(
                [tp for tp in [*self._wanted, *self._starting] if tp.topic not in topics], "unsubscribed"
            )

    def start(self, partitions: Iterable[TopicPartition]) -> None:
        """Fetch these as soon as their offsets are known and the first fetch is answered."""
        fresh = [tp for tp in partitions if tp not in self._wanted and tp not in self._starting]
        if not fresh:
            return
        process = self.process
        spreads = process.world.scenario.latencies
        if process.protocol == "consumer":
            spread = spreads.first_record_consumer
        else:
            spread = (
                spreads.first_record_cooperative
                if process.config.mode == "COOPERATIVE"
                else spreads.first_record_classic
            )
        self._starts += 1
        positions = {tp: self._begin_at(tp) for tp in fresh}
        for tp in fresh:
            self._starting[tp] = self._starts
        self.watch_batches()
        process.world.agenda.at(
            self._now + spread.draw(process.stream), self._begin, (process.life, self._starts, positions)
        )

    def _begin_at(self, tp: TopicPartition) -> int:
        if tp in self._sought:
            return self._sought.pop(tp)
        plane = self.process.world.plane
        committed = plane.ledger(self.consumption.group, tp).committed
        return self._reset(tp) if committed is None else committed

    def _reset(self, tp: TopicPartition) -> int:
        earliest = self.process.config.auto_offset_reset == "earliest"
        return 0 if earliest else self.process.world.plane.end(tp, self._now)

    def _begin(self, argument: tuple[int, int, Offsets]) -> None:
        life, number, positions = argument
        if life != self.process.life or not self.process.alive:
            return
        for tp, position in positions.items():
            if self._starting.get(tp) != number:
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
        if not self.process.world.replicas.leads(tp):
            self._leaderless[tp] = None
            return
        if self._counts:
            self.consumption.start(tp, self.consumption.positions.get(tp, self._wanted[tp]), self._now)
        else:
            self.consumption.fetching[tp] = None
        self._row("fetch_resumed", tp, **self._stand(tp))

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
                self._row("fetch_stopped", tp, reason=reason, **self._stand(tp))

    # --- what a listener asks for ---------------------------------------------------------------
    def position(self, tp: TopicPartition) -> int | None:
        """Offset of the next record of this partition, None before it is known."""
        self.settle()
        return self._sought.get(tp, self.consumption.positions.get(tp, self._wanted.get(tp)))

    def seek(self, tp: TopicPartition, offset: int) -> None:
        """Go on from there; where the log has no such offset, from where auto.offset.reset says."""
        self.settle()
        at = offset if offset <= self.process.world.plane.end(tp, self._now) else self._reset(tp)
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
                self._row("fetch_stopped", tp, reason="paused", **self._stand(tp))

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
                self._row("fetch_stopped", tp, reason="leader", **self._stand(tp))
        if lost:
            self._ask_for_leaders()

    def _ask_for_leaders(self) -> None:
        process = self.process
        spreads = process.world.scenario.latencies
        wait = spreads.coordinator_retry_ms + spreads.metadata_round.draw(process.stream)
        process.world.agenda.set_timer((process.name, LEADERS), self._now + wait, self._asked, process.life)

    def _asked(self, life: int) -> None:
        if life == self.process.life and self.process.alive:
            self.process.metadata.soon(0)
            self.find_leaders()

    def find_leaders(self) -> None:
        """Fetch again what has a leader; ask again, after retry.backoff.ms, while something has none."""
        leads = self.process.world.replicas.leads
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
        self._suspended.add(reason)
        for tp in sorted(self.consumption.fetching):
            self.consumption.stop(tp)
            self._row("fetch_stopped", tp, reason=reason, **self._stand(tp))

    def go_on(self, reason: str) -> None:
        """That hindrance is over; records flow again unless another one remains."""
        self._suspended.discard(reason)
        if not self._suspended:
            latencies = self.process.world.scenario.latencies
            self.consumption.next_poll_ms = max(
                self.consumption.next_poll_ms,
                self._now + (latencies.first_poll_after_thaw_ms if reason == "frozen" else 0),
            )
            for tp in sorted(self._wanted):
                self._resume(tp)

    def die(self, reason: str) -> None:
        """The process is killed: the batch in hand is cut off where its time ended."""
        self.settle()
        if self._counts:
            self.consumption.abandon(self._now)
        for tp in sorted(self.consumption.fetching):
            self._row("fetch_stopped", tp, reason=reason, **self._stand(tp))
        self.consumption.fetching.clear()
        self._wanted.clear()
        self._starting.clear()

    def set_processing(self, processing_ms: float) -> None:
        """Processing takes this long a record from now on."""
        self.settle()
        self.consumption.processing_ms = processing_ms if self._counts else 0.0  # no records, no work
        self.watch_batches()

    def _redelivered(self, tp: TopicPartition, count: int, first: int) -> None:
        self._row("redelivered", tp, count=count, first_offset=first)

    # --- commits -------------------------------------------------------------------------------
    def restart_auto_commit(self) -> None:
        """The next periodic commit comes one interval from now."""
        config = self.process.config
        if self.policy == "auto" and config.auto_commit and self._counts:
            agenda = self.process.world.agenda
            agenda.set_timer(
                (self.process.name, AUTO_COMMIT),
                self._now + config.auto_commit_interval_ms,
                self._auto_commit,
                self.process.life,
            )

    def _auto_commit(self, life: int) -> None:
        process = self.process
        if life != process.life or not process.alive:
            return
        agenda = process.world.agenda
        ready = process.ready_ms()
        self._overdue = self._overdue or process.frozen
        if process.frozen or ready > self._now or not process.idle() or not process.may_commit():
            agenda.set_timer(
                (process.name, AUTO_COMMIT),
                max(ready, self._now + process.world.scenario.latencies.commit_retry_ms),
                self._auto_commit,
                life,
            )
            return
        self._overdue = False
        self.commit("auto")
        if self._counts:
            for tp in sorted(self._wanted):
                self._row("progress", tp, **self._stand(tp))
        agenda.set_timer(
            (process.name, AUTO_COMMIT),
            self._now + process.config.auto_commit_interval_ms,
            self._auto_commit,
            life,
        )

    def catch_up(self) -> None:
        """A commit that fell due while the process was frozen is sent as soon as it can be."""
        if self._overdue and self.process.alive and not self.process.frozen:
            self._auto_commit(self.process.life)

    def ask_commit(self, how: str, offsets: Offsets) -> OffsetCommit:
        """The request that commits these offsets as the member that this process is now."""
        process = self.process
        member_id, generation = process.identity()
        return OffsetCommit(
            process.name, member_id, process.config.instance_id, generation, offsets, how, process.group_id
        )

    def commit(self, how: str, partitions: Partitions | None = None) -> bool:
        """Send the consumed positions; False when there is nothing to send or the client may not."""
        if not self._counts or not self.process.may_commit():
            return False
        self.settle()
        held = self.consumption.positions
        offsets = {tp: held[tp] for tp in sorted(held) if partitions is None or tp in partitions}
        if not offsets:
            return False
        self.process.world.network.send(self.process, self.ask_commit(how, offsets))
        return True

    def _batch(self, offsets: Offsets, before: bool) -> None:
        """Commit (as commitSync) around each batch, stored without a message each: its answer is known at once."""
        if before != (self.policy == "before_processing"):
            return
        broker = self.process.world.broker
        request = self.ask_commit("sync", offsets)
        error = broker.commit_error(request)
        if error == NONE:
            ledgers = self.process.world.plane
            for tp, offset in offsets.items():
                ledgers.ledger(request.group, tp).committed = offset
            self._refused = False
        elif not self._refused:
            self._refused = True
            broker.store_offsets(request.group, request, error)
            self.process.world.agenda.at(self._now, self._tell_refusal, (self.process.life, request, error))

    def _tell_refusal(self, argument: tuple[int, OffsetCommit, str]) -> None:
        life, request, error = argument
        if life == self.process.life:
            self.process.apply(fx.Answered(request, Answer(error)))
