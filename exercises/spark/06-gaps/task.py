"""How long partitions rest: from revoked or lost to the next assigned, in the engine's traces."""

from rebalance_kit.exercises.case_runs import simulated
from rebalance_kit.exercises.task import Case, Task, check, need, need_none
from rebalance_kit.exercises.truth import AT_REST_MS, rests


def truth(case):
    """Rests by the callbacks of the trace."""
    return [
        {"run": run.name, "partition": partition, "rests": len(found), "longest_ms": max(found)}
        for run in case.runs
        for partition, found in rests(run, AT_REST_MS).items()
    ]


@check("rests that end with another member are there")
def moved_ones_too(seen):
    need_none(
        seen.missing(),
        "{partition} of {run} is missing: its rest ends with *another* member's callback. Partition the window by partition, not by client (and count `lost` as well).",
    )


@check("it is the time with nobody that is measured")
def rests_not_work(seen):
    got, true = seen.both(max, "longest_ms")
    need(
        got <= true,
        f"a rest of {got} ms, where none was longer than {true} ms: from `assigned` to `revoked` a partition is at *work*. Measure from `revoked` (or `lost`) to the next `assigned`.",
    )


@check("rests before 09:00:25 are left out")
def from_then_on(seen):
    need_none(
        seen.pairs(lambda got, true: got["rests"] > true["rests"]),
        "{partition} of {run}: more rests than there were after 09:00:25 ({rests}). Does the rest *begin* then? And is a first `assigned`, with nothing before it, no rest?",
    )


TASK = Task(
    title="How long did each partition rest?",
    minutes=30,
    level="middle",
    function="rests",
    columns={"run": "string", "partition": "string", "rests": "bigint", "longest_ms": "bigint"},
    key=("run", "partition"),
    public=Case(
        (
            simulated("night-1", "join", "eager", 1),
            simulated("night-2", "join", "cooperative", 1),
            simulated("night-3", "join", "consumer", 1),
            simulated("night-4", "poll-timeout", "eager", 1),
        )
    ),
    truth=truth,
    checks=(moved_ones_too, rests_not_work, from_then_on),
)
