"""Which partitions moved: last owners before and after, from the callbacks of the engine's traces."""

from rebalance_kit.exercises.runs import simulated
from rebalance_kit.exercises.task import Case, Check, Task, need
from rebalance_kit.exercises.truth import owners

AT_REST_MS = 1767603625000


def truth(case):
    """Owners by the callbacks."""
    rows = []
    for run in case.runs:
        before, after = owners(run, AT_REST_MS), owners(run)
        rows += [
            {"run": run.name, "partition": one, "owner_before": before[one], "owner_after": after[one]}
            for one in sorted(before)
            if before[one] != after[one]
        ]
    return rows


def only_changed(seen):
    """A partition that came back to its owner did not move."""
    same = [row for row in seen.rows if row["owner_before"] == row["owner_after"]]
    need(
        not same,
        f"{same[0]['partition'] if same else ''} is in your answer with one owner before and after: given up and handed back is not moved. Keep rows whose owners differ.",
    )


def at_rest(seen):
    """Owners before are those of the group at rest."""
    true = {(row["run"], row["partition"]): row for row in seen.truth}
    early = [row for row in seen.rows if (row["run"], row["partition"]) not in true]
    need(
        not early,
        f"{early[0]['partition'] if early else ''} of {early[0]['run'] if early else ''} did not move after 09:00:25. The *first* owner is not the owner before the incident: members share out while they arrive.",
    )


def both_known(seen):
    """Owners are names of members."""
    unknown = [row for row in seen.rows if row["owner_before"] is None or row["owner_after"] is None]
    need(
        not unknown,
        "an owner is null: rows of `revoked` say who has a partition *no more*. Take the owner from `assigned` alone.",
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
    checks=(
        Check("what came back to its owner is left out", only_changed),
        Check("before is the group at rest", at_rest),
        Check("owners are members", both_known),
    ),
)
