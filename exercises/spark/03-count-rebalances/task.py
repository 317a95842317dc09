"""How many rebalances: counted in the engine's traces."""

from rebalance_kit.exercises.case_runs import begins, simulated
from rebalance_kit.exercises.task import Case, Task, check, need, need_none


def truth(case):
    """Counted from the trace."""
    return [{"run": run.name, "rebalances": len(begins(run))} for run in case.runs]


@check("lines of members are not rebalances of their own")
def lines_are_not_rebalances(seen):
    got, true = seen.both(max, "rebalances")
    need(
        got <= true,
        f"{got} rebalances in one run, {true} at most were there: each member writes lines of its own about the same rebalance. Count what the *coordinator* writes once.",
    )


@check("both protocols are counted")
def both_protocols(seen):
    need_none(
        seen.missing(),
        "{run} is missing: a group of the consumer protocol never prepares and never stabilizes; its coordinator bumps the group epoch (`bumped`).",
    )


@check("what begins is counted, not what ends")
def begun_not_ended(seen):
    need_none(
        seen.pairs(lambda got, true: got["rebalances"] < true["rebalances"]),
        "{run}: {rebalances} rebalances, fewer than there were. Are you counting `stabilized`, or distinct generations? Count what begins a rebalance; one may be cut short by the next.",
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
            simulated("night-3", "join", "consumer", 2),
            simulated("night-4", "leave", "eager", 1),
        )
    ),
    truth=truth,
    checks=(lines_are_not_rebalances, both_protocols, begun_not_ended),
)
