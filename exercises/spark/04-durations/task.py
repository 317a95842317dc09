"""How long a rebalance takes: from preparing to the leader's assignment, in the engine's traces."""

from rebalance_kit.exercises.case_runs import assigned_at, begins, simulated, trace_of, wall
from rebalance_kit.exercises.task import Case, Task, check, need, need_none


def truth(case):
    """Beginnings and stored assignments of the trace."""
    rows = []
    for run in case.runs:
        found = begins(run)
        following = [*(one.at_ms for one in found[1:]), wall(trace_of(run).end_ms)]
        for one, until in zip(found, following, strict=True):
            end = assigned_at(run, one.at_ms, until)
            rows.append(
                {
                    "run": run.name,
                    "before": one.before,
                    "start_ms": one.at_ms,
                    "end_ms": end,
                    "duration_ms": None if end is None else end - one.at_ms,
                }
            )
    return rows


@check("one row for each beginning")
def a_row_a_beginning(seen):
    need(
        len(seen.rows) == len(seen.truth),
        f"{len(seen.rows)} rows, {len(seen.truth)} rebalances began. Keep the rows of `preparing`, and only those.",
    )


@check("it does not end at Stabilized")
def not_stabilized(seen):
    stable = {(run.name, wall(row.at_ms)) for run in seen.case.runs for row in trace_of(run).of("generation")}
    need_none(
        [row for row in seen.rows if (row["run"], row["end_ms"]) in stable],
        "{run}: your end_ms {end_ms} is the time of the line `Stabilized`: that is the end of the join phase, and nobody has a partition yet. Wait for `assignment_received`.",
    )


@check("it ends in its own run")
def within_one_run(seen):
    ends = {run.name: {wall(row.at_ms) for row in trace_of(run).of("assignment")} for run in seen.case.runs}
    anywhere = set().union(*ends.values())
    need_none(
        [row for row in seen.rows if row["end_ms"] in anywhere - ends.get(row["run"], set())],
        'a rebalance of {run} ends at {end_ms}, with a line of another run: the window needs `partitionBy("run")`.',
    )


TASK = Task(
    title="How long did it take?",
    minutes=25,
    level="easy",
    function="durations",
    columns={
        "run": "string",
        "before": "bigint",
        "start_ms": "bigint",
        "end_ms": "bigint",
        "duration_ms": "bigint",
    },
    key=("run", "before"),
    public=Case(
        (
            simulated("night-1", "slow-callback", "eager", 1),
            simulated("night-2", "join", "cooperative", 2),
            simulated("night-3", "leave", "eager", 3),
            simulated("night-4", "poll-timeout", "eager", 4),
        )
    ),
    truth=truth,
    checks=(a_row_a_beginning, not_stabilized, within_one_run),
)
