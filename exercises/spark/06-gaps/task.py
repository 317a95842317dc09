"""How long partitions go unread: from revoked or lost to the next assigned, in the engine's traces."""

from rebalance_kit.exercises.case_runs import SETTLED_MS, gaps, simulated
from rebalance_kit.exercises.task import Case, Task, check, need, need_none

ALONE = """
scenario: alone
kafka_version: 4.3.1
topics: [{name: orders, partitions: 2}]
members:
  - {name: consumer-1, topics: [orders]}
  - {name: consumer-2, topics: [orders]}
actions:
  - {at: 24990ms, do: close, member: consumer-2}
  - {at: 40s, do: freeze, member: consumer-1}
  - {at: 100s, do: thaw, member: consumer-1}
end: 130s
"""
"""consumer-2 revokes at 09:00:25.000 itself; then consumer-1 is alone, and its gap begins when it learns that it lost its partitions."""


def truth(case):
    """Gaps by the callbacks of the trace."""
    return [
        {"run": run.name, "partition": partition, "gaps": len(found), "longest_ms": max(found)}
        for run in case.runs
        for partition, found in gaps(run, SETTLED_MS).items()
    ]


@check("gaps that end with another member are there")
def moved_ones_too(seen):
    need_none(
        seen.missing(),
        "{partition} of {run} is missing: its gap ends with *another* member's callback. Partition the window by partition, not by client (and count `lost` as well).",
    )


@check("it is the time with nobody that is measured")
def gaps_not_work(seen):
    got, true = seen.both(max, "longest_ms")
    need(
        got <= true,
        f"a gap of {got} ms, where none was longer than {true} ms: from `assigned` to `revoked` a partition is at *work*. Measure from `revoked` (or `lost`) to the next `assigned`.",
    )


@check("gaps before 09:00:25 are left out")
def from_then_on(seen):
    need_none(
        seen.pairs(lambda got, true: got["gaps"] > true["gaps"]),
        "{partition} of {run}: more gaps than there were after 09:00:25 ({gaps}). Does the gap *begin* then? And is a first `assigned`, with nothing before it, not a gap?",
    )
    need_none(
        seen.pairs(lambda got, true: got["gaps"] < true["gaps"]),
        "{partition} of {run}: {gaps} of {true[gaps]} gaps. One that begins at 09:00:25.000 itself counts, and so does every later one, however short.",
    )


TASK = Task(
    title="How long did each partition go unread?",
    minutes=30,
    level="middle",
    function="gaps",
    columns={"run": "string", "partition": "string", "gaps": "bigint", "longest_ms": "bigint"},
    key=("run", "partition"),
    public=Case(
        (
            simulated("night-1", "join", "eager", 1),
            simulated("night-2", "join", "cooperative", 1),
            simulated("night-3", "join", "consumer", 1),
            simulated("night-4", "poll-timeout", "eager", 1),
            simulated("night-5", ALONE, "eager", 1),
        )
    ),
    truth=truth,
    checks=(moved_ones_too, gaps_not_work, from_then_on),
)
