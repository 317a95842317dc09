"""Lag around a rebalance: samples of positions from the engine's traces."""

from rebalance_kit.analysis.deliveries import samples
from rebalance_kit.exercises.case_runs import SETTLED_MS, begins, simulated, trace_of, wall
from rebalance_kit.exercises.task import Case, Task, check, need_none


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


def inputs(given, case):
    """Events, and the samples of every run."""
    rows = [row for run in case.runs for row in sampled(run)]
    return given.events(case.runs), given.table(
        rows, "run string, at_ms bigint, partition string, position bigint, log_end bigint"
    )


def truth(case):
    """Lag before and after the first rebalance from 09:00:25 on."""
    rows = []
    for run in case.runs:
        incident = next(one.at_ms for one in begins(run) if one.at_ms >= SETTLED_MS)
        held = {}
        for _, at, partition, position, end in sampled(run):
            before, after = held.setdefault(partition, ([], []))
            (before if at < incident else after).append(end - position)
        rows += [
            {
                "run": run.name,
                "partition": partition,
                "lag_before": before[-1] if before else None,
                "lag_peak": max(after, default=None),
            }
            for partition, (before, after) in held.items()
        ]
    return rows


@check("the backlog of the start is no peak")
def after_not_ever(seen):
    need_none(
        seen.pairs(
            lambda got, true: true["lag_peak"] is not None and (got["lag_peak"] or 0) > true["lag_peak"]
        ),
        "{partition} of {run}: the peak {lag_peak} is higher than any lag after the incident began. Are you looking at the backlog of the group's start, or taking the greatest end less the smallest position?",
    )


@check("before means the last sample before")
def last_before(seen):
    need_none(
        seen.pairs(lambda got, true: got["lag_before"] != true["lag_before"]),
        "{partition} of {run}: lag_before is {lag_before}, not that of the *last* sample before the incident. `F.max_by(lag, time)` with a time that is null after it.",
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
    checks=(after_not_ever, last_before),
)
