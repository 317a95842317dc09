"""How long partitions rest: from revoked or lost to the next assigned, in the engine's traces."""

from rebalance_kit.exercises.runs import simulated
from rebalance_kit.exercises.task import Case, Check, Task, need
from rebalance_kit.exercises.truth import rests

AT_REST_MS = 1767603625000


def truth(case):
    """Rests by the callbacks of the trace."""
    return [
        {"run": run.name, "partition": partition, "rests": len(found), "longest_ms": max(found)}
        for run in case.runs
        for partition, found in sorted(rests(run, AT_REST_MS).items())
    ]


def moved_ones_too(seen):
    """A partition that went to another member rested too."""
    got = seen.by("run", "partition")
    absent = [row for row in seen.truth if (row["run"], row["partition"]) not in got]
    need(
        not absent,
        f"{absent[0]['partition'] if absent else ''} of {absent[0]['run'] if absent else ''} is missing: its rest ends with *another* member's callback. Partition the window by partition, not by client (and count `lost` as well).",
    )


def rests_not_work(seen):
    """Time with nobody, not time with somebody."""
    longest = max((row["longest_ms"] or 0 for row in seen.rows), default=0)
    true = max(row["longest_ms"] for row in seen.truth)
    need(
        longest <= true,
        f"a rest of {longest} ms, where none was longer than {true} ms: from `assigned` to `revoked` a partition is at *work*. Measure from `revoked` (or `lost`) to the next `assigned`.",
    )


def from_then_on(seen):
    """The group's own beginning is left out."""
    got = seen.by("run", "partition")
    more = [
        row for row in seen.truth if (got.get((row["run"], row["partition"])) or row)["rests"] > row["rests"]
    ]
    need(
        not more,
        f"{more[0]['partition'] if more else ''}: more rests than there were after 09:00:25. Does the rest *begin* then? And is a first `assigned`, with nothing before it, no rest?",
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
    checks=(
        Check("rests that end with another member are there", moved_ones_too),
        Check("it is the time with nobody that is measured", rests_not_work),
        Check("rests before 09:00:25 are left out", from_then_on),
    ),
)
