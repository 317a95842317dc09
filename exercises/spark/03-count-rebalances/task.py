"""How many rebalances: counted in the engine's traces."""

from rebalance_kit.exercises.runs import simulated
from rebalance_kit.exercises.task import Case, Check, Task, need
from rebalance_kit.exercises.truth import begins


def truth(case):
    """Counted from the trace."""
    return [{"run": run.name, "rebalances": len(begins(run))} for run in case.runs]


def lines_are_not_rebalances(seen):
    """Members' lines are not counted."""
    most = max((row["rebalances"] or 0 for row in seen.rows), default=0)
    true = max(row["rebalances"] for row in seen.truth)
    need(
        most <= true,
        f"{most} rebalances in one run, {true} at most were there: each member writes lines of its own about the same rebalance. Count what the *coordinator* writes once.",
    )


def both_protocols(seen):
    """Groups without 'Preparing to rebalance' are counted."""
    got = {row["run"] for row in seen.rows}
    missing = [row["run"] for row in seen.truth if row["run"] not in got]
    need(
        not missing,
        f"{', '.join(missing)} is missing: a group of the consumer protocol never prepares and never stabilizes; its coordinator bumps the group epoch (`bumped`).",
    )


def begun_not_ended(seen):
    """What begins is counted, not what stabilizes."""
    got = seen.by("run")
    fewer = [
        row["run"] for row in seen.truth if (got.get((row["run"],)) or row)["rebalances"] < row["rebalances"]
    ]
    need(
        not fewer,
        f"{', '.join(fewer)}: fewer than there were. Are you counting `stabilized`, or distinct generations? Count what begins a rebalance; one may be cut short by the next.",
    )


TASK = Task(
    title="How many rebalances?",
    minutes=15,
    level="easy",
    function="rebalances_per_run",
    columns={"run": "string", "rebalances": "bigint"},
    key=("run",),
    public=Case(
        (
            simulated("night-1", "storm", "eager", 1),
            simulated("night-2", "rolling-restart", "cooperative", 1),
            simulated("night-3", "join", "consumer", 1),
            simulated("night-4", "leave", "eager", 1),
        )
    ),
    truth=truth,
    checks=(
        Check("lines of members are no rebalances of their own", lines_are_not_rebalances),
        Check("both protocols are counted", both_protocols),
        Check("what begins is counted, not what ends", begun_not_ended),
    ),
)
