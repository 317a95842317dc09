"""Before and after a change of assignor, from the engine's traces."""

from collections import Counter

from rebalance_kit.exercises.case_runs import calls, simulated, trace_of
from rebalance_kit.exercises.task import Case, Task, check, need, need_none


def assignors(run):
    """Which assignor ruled each generation."""
    return {row.generation: row.detail["assignor"] for row in trace_of(run).of("generation")}


def revocations(run):
    """Every call of revoked: the assignor that ruled, and how many partitions were passed."""
    ruled = assignors(run)
    return [
        (ruled[row.generation], len(row.detail["partitions"]))
        for row in calls(run)
        if row.detail["callback"] == "revoked"
    ]


def truth(case):
    """Generations and partitions passed to revoked, by assignor."""
    return [
        {
            "run": run.name,
            "assignor": name,
            "generations": generations,
            "revoked": sum(passed for assignor, passed in revocations(run) if assignor == name),
        }
        for run in case.runs
        for name, generations in Counter(assignors(run).values()).items()
    ]


@check("a generation is counted once")
def generations_once(seen):
    got, true = seen.both(max, "generations")
    need(
        got <= true,
        f"{got} generations where there were {true}: each member writes a line about the same generation. Count distinct ones.",
    )


@check("partitions are counted, not callbacks")
def partitions_not_calls(seen):
    callbacks = Counter((run.name, assignor) for run in seen.case.runs for assignor, _ in revocations(run))
    need_none(
        seen.pairs(
            lambda got, true: (
                got["revoked"] != true["revoked"] and got["revoked"] == callbacks[got["run"], got["assignor"]]
            )
        ),
        '{revoked} for {assignor} in {run} is the number of *callbacks*; how many partitions were passed to them? `F.size("partitions")`.',
    )


@check("no revoked partition is lost")
def all_together(seen):
    need_none(
        [row for row in seen.rows if row["assignor"] is None],
        "an assignor of {run} is null: a `revoked` before the first `joined` of its window. Partition the window by run *and* client, and carry the last `joined` forward with `ignorenulls=True`.",
    )
    for run in seen.case.runs:
        got, true = seen.both(sum, "revoked", run.name)
        need(
            got >= true,
            f"{run.name}: {got} partitions in all, {true} were revoked. A callback while a member closes counts too; a join on the *next* `joined` loses it.",
        )


TASK = Task(
    title="Before and after the switch",
    minutes=35,
    level="middle",
    function="by_assignor",
    columns={"run": "string", "assignor": "string", "generations": "bigint", "revoked": "bigint"},
    key=("run", "assignor"),
    public=Case(
        (simulated("rollout-1", "two-bounces", None, 1), simulated("rollout-2", "two-bounces", None, 2))
    ),
    truth=truth,
    checks=(generations_once, partitions_not_calls, all_together),
    next_step="To which generation does a `revoked` belong: to the one its member had joined last before it.",
)
