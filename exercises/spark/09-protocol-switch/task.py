"""Before and after a change of assignor, from the engine's traces."""

from rebalance_kit.exercises.runs import simulated, trace_of
from rebalance_kit.exercises.task import Case, Check, Task, need
from rebalance_kit.exercises.truth import calls


def ruled(run):
    """Which assignor ruled each generation."""
    return {row.generation: row.detail["assignor"] for row in trace_of(run).of("generation")}


def truth(case):
    """Generations and partitions passed to revoked, by assignor."""
    rows = []
    for run in case.runs:
        assignors, revoked = ruled(run), dict.fromkeys(ruled(run).values(), 0)
        for row in calls(run):
            if row.detail["callback"] == "revoked":
                revoked[assignors[row.generation]] += len(row.detail["partitions"])
        rows += [
            {
                "run": run.name,
                "assignor": one,
                "generations": list(assignors.values()).count(one),
                "revoked": count,
            }
            for one, count in sorted(revoked.items())
        ]
    return rows


def partitions_not_calls(seen):
    """Partitions are counted, not callbacks."""
    for run in seen.case.runs:
        assignors = ruled(run)
        for name in set(assignors.values()):
            count = sum(
                row.detail["callback"] == "revoked" and assignors[row.generation] == name
                for row in calls(run)
            )
            true = next(
                row["revoked"] for row in seen.truth if (row["run"], row["assignor"]) == (run.name, name)
            )
            got = seen.by("run", "assignor").get((run.name, name))
            need(
                got is None or got["revoked"] != count or count == true,
                f'{count} for {name} in {run.name} is the number of *callbacks*; how many partitions were passed to them? `F.size("partitions")`.',
            )


def generations_once(seen):
    """A generation is counted once, however many joined it."""
    most = max((row["generations"] or 0 for row in seen.rows), default=0)
    true = max(row["generations"] for row in seen.truth)
    need(
        most <= true,
        f"{most} generations where there were {true}: each member writes a line about the same generation. Count distinct ones.",
    )


def all_together(seen):
    """Every revoked partition belongs to one of the two."""
    need(
        None not in seen.values("assignor"),
        "an assignor is null: a `revoked` before the first `joined` of its window. Partition the window by run *and* client, and carry the last `joined` forward with `ignorenulls=True`.",
    )
    for run in seen.case.runs:
        total = sum(row["revoked"] or 0 for row in seen.rows if row["run"] == run.name)
        true = sum(row["revoked"] for row in seen.truth if row["run"] == run.name)
        need(
            total >= true,
            f"{run.name}: {total} partitions in all, {true} were revoked. A callback while a member closes counts too; a join on the *next* `joined` loses it.",
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
    checks=(
        Check("a generation is counted once", generations_once),
        Check("partitions are counted, not callbacks", partitions_not_calls),
        Check("no revoked partition is lost", all_together),
    ),
    next_step="To which generation does a `revoked` belong: to the one its member had joined last before it.",
)
