"""Metrics of a run under the names that Kafka's clients and coordinator give them, as steps over time.

Names and meanings: ``ConsumerCoordinatorMetrics``/``AbstractCoordinator`` and ``FetchMetricsManager`` of the
client, ``GroupCoordinatorMetrics`` of the broker.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rebalance_kit.analysis.deliveries import SKIPPED, TWICE
from rebalance_kit.view.board.boards import Boards

SAMPLES = 240
"""Looks at the lag over a run."""
MANY = 64
CLIENT = "consumer-coordinator-metrics"
FETCH = "consumer-fetch-manager-metrics"
BROKER = "group-coordinator-metrics"
GAUGE = "kafka.coordinator.group:type=GroupMetadataManager"


Lives = Sequence[tuple[int, int | None]]


class Row(NamedTuple):
    """A metric: of whom (None: broker or group), its MBean group, name, what it says, steps [ms, value, ...]."""

    member: str | None
    room: str
    name: str
    says: str
    steps: list[float | None]


def metric_rows(boards: Boards, member: str | None) -> list[Row]:
    """Coordinator metrics first, then those of one member (None: of none)."""
    rows = [*_of_the_broker(boards), _lag(boards, None), *_of_records(boards)]
    if member is not None:
        rows += _of_a_member(boards, member)
    return rows


def _of_the_broker(boards: Boards) -> Iterable[Row]:
    rows = [
        row for row in boards.trace.rows if row.detail.get("group", boards.group_name) == boards.group_name
    ]
    states = list(zip(boards.group.times, boards.group.states, strict=True))
    classic = not any(row.kind == "epoch_bump" for row in rows)
    if classic:
        for state in ("PreparingRebalance", "CompletingRebalance", "Stable"):
            steps = _gauge((at_ms, float(moment.state == state)) for at_ms, moment in states)
            yield Row(
                None, GAUGE, f"NumGroups{state}", f"Groups that are in {state}: here this one or none.", steps
            )
        done = [row.at_ms for row in rows if row.kind == "generation"]
        yield Row(
            None,
            BROKER,
            "group-completed-rebalance-count",
            "Join phases of classic groups that were completed.",
            _count(done),
        )
    else:
        bumps = [row.at_ms for row in rows if row.kind == "epoch_bump"]
        yield Row(
            None,
            BROKER,
            "consumer-group-rebalance-count",
            "Rebalances of consumer groups: each new group epoch is one.",
            _count(bumps),
        )
    commits = [
        row.at_ms for row in rows if row.kind == "commit" and row.detail.get("error", "NONE") == "NONE"
    ]
    yield Row(
        None, BROKER, "offset-commit-count", "Commits that the coordinator has stored.", _count(commits)
    )


def _of_records(boards: Boards) -> Iterable[Row]:
    """What no broker and no client counts."""
    says = {
        TWICE: (
            "records that came twice",
            "Handed out again: not committed when the next reader began, or read by two members at once.",
        ),
        SKIPPED: ("records that were skipped", "Passed over: the next reader began behind them."),
    }
    for kind, (name, words) in says.items():
        steps: list[float | None] = [0, 0]
        total = 0
        for each in boards.deliveries:
            if each.kind == kind:
                total += each.records
                steps += (each.at_ms, total)
        yield Row(None, "counted by the lab, no metric of Kafka", name, words, steps)


def _of_a_member(boards: Boards, name: str) -> Iterable[Row]:
    answers = [
        row
        for row in boards.trace.of("response")
        if row.detail["to"] == name and row.detail.get("arrives_ms") is not None
    ]

    lives = _lives(boards, name)

    def count(api: str, *, good: bool) -> list[float | None]:
        return _of_processes(
            lives,
            [
                row.detail["arrives_ms"]
                for row in answers
                if row.detail["api"] == api and (not good or row.detail.get("error") in {None, "NONE"})
            ],
        )

    own = [row for row in boards.trace.rows if row.actor == name]
    owned = _gauge((row.at_ms, float(len(row.detail["partitions"]))) for row in own if row.kind == "owned")
    held = _while_it_runs(lives, owned)
    yield Row(name, CLIENT, "assigned-partitions", "Partitions that are assigned to this consumer.", held)
    modern = any(row.detail["api"] == "ConsumerGroupHeartbeat" for row in answers)
    beats = count("ConsumerGroupHeartbeat" if modern else "Heartbeat", good=False)
    yield Row(name, CLIENT, "heartbeat-total", "Heartbeats that were answered.", beats)
    if not modern:
        yield Row(name, CLIENT, "join-total", "Group joins that succeeded.", count("JoinGroup", good=True))
        yield Row(name, CLIENT, "sync-total", "Group syncs that succeeded.", count("SyncGroup", good=True))
        ended = [row.at_ms for row in own if row.kind == "synced"]
        yield Row(name, CLIENT, "rebalance-total", "Rebalances that succeeded.", _of_processes(lives, ended))
    yield Row(
        name, CLIENT, "commit-total", "Commit calls that were answered.", count("OffsetCommit", good=False)
    )
    lag = _lag(boards, name)
    yield lag._replace(steps=_while_it_runs(lives, lag.steps))


def _lives(boards: Boards, name: str) -> list[tuple[int, int | None]]:
    """From when to when each process of the member ran; None for one that runs at the end."""
    lives: list[tuple[int, int | None]] = []
    for row in boards.trace.of("process_started", "process_ended"):
        if row.actor == name and row.kind == "process_started":
            lives.append((row.at_ms, None))
        elif row.actor == name and lives:
            lives[-1] = (lives[-1][0], row.at_ms)
    return lives


def _of_processes(lives: Lives, times: Sequence[int]) -> list[float | None]:
    """Events counted from 0 by each process; no value while none runs, because JMX goes with the process."""
    steps: list[float | None] = [0, None]
    for begin, end in lives:
        steps += (begin, 0)
        own = sorted(at_ms for at_ms in times if at_ms >= begin and (end is None or at_ms < end))
        for number, at_ms in enumerate(own, start=1):
            steps += (at_ms, number)
        if end is not None:
            steps += (end, None)
    return steps


def _while_it_runs(lives: Lives, known: Sequence[float | None]) -> list[float | None]:
    """Values of a gauge, without one while no process runs."""
    steps: list[float | None] = [0, None]
    pairs = list(zip(known[::2], known[1::2], strict=True))
    for begin, end in lives:
        steps += (begin, 0)
        for at_ms, value in pairs:
            if at_ms is not None and at_ms >= begin and (end is None or at_ms < end):
                steps += (at_ms, value)
        if end is not None:
            steps += (end, None)
    return steps


def _lag(boards: Boards, member: str | None) -> Row:
    """The member's ``records-lag-max``, or (None) the group's lag over all partitions."""
    looks = SAMPLES if len(boards.partitions) <= MANY else SAMPLES // 4
    steps: list[float | None] = []
    for at_ms in (boards.end_ms * step // looks for step in range(looks + 1)):
        values = [
            _lag_at(boards, partition, at_ms)
            for partition in boards.partitions
            if member is None or boards.partitions[partition].at(at_ms).owner == member
        ]
        steps += (at_ms, float(max(values, default=0) if member else sum(values)))
    if member is None:
        return Row(
            None,
            "kafka-consumer-groups",
            "LAG, all partitions",
            "Records produced and not yet read, over all partitions.",
            steps,
        )
    return Row(
        member,
        FETCH,
        "records-lag-max",
        "Greatest lag, in records, of a partition that this consumer owns.",
        steps,
    )


def _lag_at(boards: Boards, partition: str, at_ms: int) -> int:
    at = boards.position(partition, at_ms)
    return 0 if at is None else max(0, at.log_end - at.position)


def _count(times: Iterable[int]) -> list[float | None]:
    steps: list[float | None] = [0, 0]
    for number, at_ms in enumerate(sorted(times), start=1):
        steps += (at_ms, number)
    return steps


def _gauge(seen: Iterable[tuple[int, float]]) -> list[float | None]:
    steps: list[float | None] = [0, 0]
    for at_ms, value in seen:
        if value != steps[-1]:
            steps += (at_ms, value)
    return steps
