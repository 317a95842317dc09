"""Which partitions moved: last owners before and after, from the callbacks of the engine's traces."""

from rebalance_kit.exercises.case_runs import SETTLED_MS, owners, simulated
from rebalance_kit.exercises.task import Case, Task, check, need_none


def truth(case):
    """Owners by the callbacks."""
    rows = []
    for run in case.runs:
        before, after = owners(run, SETTLED_MS), owners(run)
        rows += [
            {"run": run.name, "partition": name, "owner_before": owner, "owner_after": after[name]}
            for name, owner in before.items()
            if after[name] != owner
        ]
    return rows


@check("what came back to its owner is left out")
def only_changed(seen):
    need_none(
        [row for row in seen.rows if row["owner_before"] == row["owner_after"]],
        "{partition} of {run} is in your answer with one owner before and after, {owner_after}: given up and handed back is not moved. Keep rows whose owners differ.",
    )


@check("the group before is the settled one")
def at_rest(seen):
    need_none(
        seen.extra(),
        "{partition} of {run} did not move after 09:00:25. The *first* owner is not the owner before the incident: members share out while they arrive.",
    )


@check("owners are members")
def both_known(seen):
    need_none(
        [row for row in seen.rows if None in {row["owner_before"], row["owner_after"]}],
        "{partition} of {run} has null for an owner: rows of `revoked` say who has a partition *no more*. Take the owner from `assigned` alone.",
    )


TASK = Task(
    title="Which partitions moved?",
    minutes=25,
    level="middle",
    function="moved",
    columns={"run": "string", "partition": "string", "owner_before": "string", "owner_after": "string"},
    key=("run", "partition"),
    public=Case(
        (
            simulated("night-1", "join", "eager", 1),
            simulated("night-2", "join", "cooperative", 1),
            simulated("night-3", "leave", "consumer", 5),
        )
    ),
    truth=truth,
    checks=(only_changed, at_rest, both_known),
)
