"""The event loop beside a bare heap of tuples and SimPy, all three running the same heartbeats.

The scenario: members heartbeat every 3 s; each heartbeat travels, re-arms a session timer of 45 s at
the coordinator, is answered, and leaves two trace rows. Targets: at least half the speed of the bare
heap (which has no keyed timers: it queues every re-armed one and drops the stale), twice SimPy's.
"""

from __future__ import annotations

import gc
import heapq
import statistics
import sys
from time import perf_counter
from typing import Any

import simpy
from shared.tables import publish

from rebalance_kit.simulation.kernel import MEASURED, RunHost

END_MS, BEAT_MS, SESSION_MS, WAY_MS = 600_000, 3_000, 45_000, 2
HALF, TWICE, ROUNDS = 0.5, 2.0, 9


def ours(members: int) -> int:
    """The kit's agenda, keyed timers and trace rows."""
    host = RunHost(1, MEASURED)
    agenda, row = host.agenda, host.row

    def beat(name: str) -> None:
        row(name, "request", "classic", 1, name, {"api": "Heartbeat"})
        agenda.at(agenda.now_ms + WAY_MS, arrive, name)
        agenda.set_timer((name, "beat"), agenda.now_ms + BEAT_MS, beat, name)

    def arrive(name: str) -> None:
        agenda.set_timer(("group", name), agenda.now_ms + SESSION_MS, expire, name)
        row("coordinator", "response", "classic", 1, name, {"api": "Heartbeat"})
        agenda.at(agenda.now_ms + WAY_MS, answered, name)

    def answered(name: str) -> None:
        agenda.set_timer((name, "session"), agenda.now_ms + SESSION_MS, expire, name)

    def expire(name: str) -> None:
        raise AssertionError(name)

    for number in range(members):
        agenda.at(number, beat, f"c{number}")
    agenda.run(END_MS)
    return len(host.rows)


def bare_heap(members: int) -> int:
    """heapq, tuples and a deadline a timer; nothing else."""
    heap: list[tuple[int, int, int, str]] = []
    rows: list[tuple[Any, ...]] = []
    deadline: dict[tuple[str, str], int] = {}
    seq = 0
    for number in range(members):
        seq += 1
        heapq.heappush(heap, (number, seq, 0, f"c{number}"))
    while heap and heap[0][0] <= END_MS:
        now, _, what, name = heapq.heappop(heap)
        if what == 0:
            rows.append(
                (now, len(rows), name, "request", "classic", 1, name, None, None, {"api": "Heartbeat"})
            )
            heapq.heappush(heap, (now + WAY_MS, seq + 1, 1, name))
            heapq.heappush(heap, (now + BEAT_MS, seq + 2, 0, name))
            seq += 2
        elif what == 1:
            deadline["group", name] = now + SESSION_MS
            heapq.heappush(heap, (now + SESSION_MS, seq + 1, 3, name))
            rows.append(
                (
                    now,
                    len(rows),
                    "coordinator",
                    "response",
                    "classic",
                    1,
                    name,
                    None,
                    None,
                    {"api": "Heartbeat"},
                )
            )
            heapq.heappush(heap, (now + WAY_MS, seq + 2, 2, name))
            seq += 2
        elif what == 2:
            deadline["member", name] = now + SESSION_MS
            seq += 1
            heapq.heappush(heap, (now + SESSION_MS, seq, 4, name))
        elif deadline["group" if what == 3 else "member", name] <= now:
            raise AssertionError(name)
    return len(rows)


def with_simpy(members: int) -> int:
    """A process a member; a re-armed session is a deadline that a watcher looks at."""
    env = simpy.Environment()
    rows: list[tuple[Any, ...]] = []
    deadline: dict[tuple[str, str], int] = {}

    def watch(key: tuple[str, str]) -> Any:
        while deadline[key] > env.now:
            yield env.timeout(deadline[key] - env.now)
        raise AssertionError(key)

    def exchange(name: str, first: bool) -> Any:
        rows.append(
            (env.now, len(rows), name, "request", "classic", 1, name, None, None, {"api": "Heartbeat"})
        )
        yield env.timeout(WAY_MS)
        deadline["group", name] = env.now + SESSION_MS
        rows.append(
            (
                env.now,
                len(rows),
                "coordinator",
                "response",
                "classic",
                1,
                name,
                None,
                None,
                {"api": "Heartbeat"},
            )
        )
        yield env.timeout(WAY_MS)
        deadline["member", name] = env.now + SESSION_MS
        if first:
            env.process(watch(("group", name)))
            env.process(watch(("member", name)))

    def member(name: str, phase: int) -> Any:
        yield env.timeout(phase)
        first = True
        while True:
            env.process(exchange(name, first))
            first = False
            yield env.timeout(BEAT_MS)

    for number in range(members):
        env.process(member(f"c{number}", number))
    env.run(until=END_MS + 1)
    return len(rows)


def medians_s(members: int) -> tuple[list[float], list[int]]:
    """Median seconds and trace rows of the three, which take turns so that a busy machine slows all of them."""
    contestants = (ours, bare_heap, with_simpy)
    times: list[list[float]] = [[] for _ in contestants]
    rows = [0] * len(contestants)
    for _ in range(ROUNDS):
        for place, run in enumerate(contestants):
            gc.collect()
            began = perf_counter()
            rows[place] = run(members)
            times[place].append(perf_counter() - began)
    return [statistics.median(each) for each in times], rows


def main() -> int:
    table, kept = [], True
    for members in (10, 30, 100):
        (kit, bare, sim), counts = medians_s(members)
        if len(set(counts)) != 1:
            raise AssertionError(counts)
        rows = counts[0]
        kept = kept and bare / kit >= HALF and sim / kit >= TWICE
        table.append(
            (
                members,
                rows,
                f"{kit * 1e3:.0f}",
                f"{bare * 1e3:.0f}",
                f"{sim * 1e3:.0f}",
                f"{bare / kit:.2f}",
                f"{sim / kit:.2f}",
            )
        )
    publish(
        "Event loop with the trace on",
        (
            "members",
            "trace rows",
            "kit, ms",
            "bare heap, ms",
            "SimPy, ms",
            "kit : bare heap (≥ 0.5)",
            "kit : SimPy (≥ 2)",
        ),
        table,
        f"600 simulated seconds of heartbeats; median of {ROUNDS}.",
    )
    return 0 if kept else 1


if __name__ == "__main__":
    sys.exit(main())
