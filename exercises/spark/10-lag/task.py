"""Lag around a rebalance: samples of positions from the engine's traces."""

from rebalance_kit.analysis.lag import samples
from rebalance_kit.exercises.runs import simulated, trace_of
from rebalance_kit.exercises.task import Case, Check, Task, need
from rebalance_kit.exercises.truth import begins, wall

AT_REST_MS = 1767603625000


def sampled(run):
    """Samples with wall-clock times, the last of a moment only."""
    found = {
        (str(tp), wall(at)): (position, end)
        for tp, held in samples(trace_of(run)).items()
        for at, position, end in held
    }
    return [
        (run.name, at, partition, position, end) for (partition, at), (position, end) in sorted(found.items())
    ]


def inputs(bench, case):
    """Events, and the samples of every run."""
    rows = [row for run in case.runs for row in sampled(run)]
    return bench.events(case.runs), bench.table(
        rows, "run string, at_ms bigint, partition string, position bigint, log_end bigint"
    )


def truth(case):
    """Lag before and after the first rebalance from 09:00:25 on."""
    rows = []
    for run in case.runs:
        incident = next(one.at_ms for one in begins(run) if one.at_ms >= AT_REST_MS)
        held = {}
        for _, at, partition, position, end in sampled(run):
            before, after = held.setdefault(partition, ([], []))
            (before if at < incident else after).append(end - position)
        rows += [
            {
                "run": run.name,
                "partition": name,
                "lag_before": before[-1] if before else None,
                "lag_peak": max(after, default=None),
            }
            for name, (before, after) in held.items()
        ]
    return rows


def after_not_ever(seen):
    """The backlog of the start is no peak of the incident."""
    got = seen.by("run", "partition")
    high = [
        row
        for row in seen.truth
        if row["lag_peak"] is not None
        and ((got.get((row["run"], row["partition"])) or row)["lag_peak"] or 0) > row["lag_peak"]
    ]
    need(
        not high,
        f"{high[0]['partition'] if high else ''} of {high[0]['run'] if high else ''}: the peak is higher than any lag after the incident began. Are you looking at the backlog of the group's start, or taking the greatest end less the smallest position?",
    )


def last_before(seen):
    """Before is the last sample, not an average and not the smallest."""
    got = seen.by("run", "partition")
    wrong = [
        row
        for row in seen.truth
        if (got.get((row["run"], row["partition"])) or row)["lag_before"] != row["lag_before"]
    ]
    need(
        not wrong,
        f"{wrong[0]['partition'] if wrong else ''} of {wrong[0]['run'] if wrong else ''}: lag_before is not that of the *last* sample before the incident. `F.max_by(lag, time)` with a time that is null after it.",
    )


TASK = Task(
    title="Lag around a rebalance",
    minutes=30,
    level="middle",
    function="lag_around",
    columns={"run": "string", "partition": "string", "lag_before": "bigint", "lag_peak": "bigint"},
    key=("run", "partition"),
    public=Case(
        (
            simulated("night-1", "poll-timeout", "eager", 1),
            simulated("night-2", "join", "cooperative", 1),
            simulated("night-3", "leave", "consumer", 1),
        )
    ),
    inputs=inputs,
    truth=truth,
    checks=(
        Check("the backlog of the start is no peak", after_not_ever),
        Check("before means the last sample before", last_before),
    ),
)
