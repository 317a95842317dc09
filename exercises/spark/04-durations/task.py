"""How long a rebalance takes: from preparing to the leader's assignment, in the engine's traces."""

from rebalance_kit.exercises.runs import simulated, trace_of
from rebalance_kit.exercises.task import Case, Check, Task, need
from rebalance_kit.exercises.truth import assigned_at, begins, wall


def truth(case):
    """Beginnings and stored assignments of the trace."""
    rows = []
    for run in case.runs:
        found = begins(run)
        for place, one in enumerate(found):
            until = found[place + 1].at_ms if place + 1 < len(found) else wall(trace_of(run).end_ms)
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


def a_row_a_beginning(seen):
    """One row for each preparing."""
    need(
        len(seen.rows) == len(seen.truth),
        f"{len(seen.rows)} rows, {len(seen.truth)} rebalances began. Keep the rows of `preparing`, and only those.",
    )


def not_stabilized(seen):
    """The end is not where the join phase ends."""
    stable = {(run.name, wall(row.at_ms)) for run in seen.case.runs for row in trace_of(run).of("generation")}
    hits = [row for row in seen.rows if (row["run"], row["end_ms"]) in stable]
    need(
        not hits,
        "your ends are the lines `Stabilized`: that is the end of the join phase, and nobody has a partition yet. Wait for `assignment_received`.",
    )


def within_one_run(seen):
    """A rebalance ends in its own run."""
    mine = {run.name: {wall(row.at_ms) for row in trace_of(run).of("assignment")} for run in seen.case.runs}
    others = {at for times in mine.values() for at in times}
    strays = [
        row for row in seen.rows if row["end_ms"] in others and row["end_ms"] not in mine.get(row["run"], ())
    ]
    need(
        not strays,
        'a rebalance of one run ends with a line of another: the window needs `partitionBy("run")`.',
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
    checks=(
        Check("one row for each beginning", a_row_a_beginning),
        Check("it does not end at Stabilized", not_stabilized),
        Check("it ends in its own run", within_one_run),
    ),
)
