"""A skewed aggregation in two steps, over the requests of the engine's traces."""

from collections import Counter

from rebalance_kit.exercises.case_runs import simulated, trace_of
from rebalance_kit.exercises.task import Case, Task, check, need, need_none

HOT = 200
"""A key with more requests than this is worth cutting."""


def sent(run):
    """Every request of a run, numbered."""
    return [
        (run.name, number, row.actor, row.detail["api"])
        for number, row in enumerate(trace_of(run).of("request"))
    ]


def truth(case):
    """Counted in plain Python."""
    rows = []
    for run in case.runs:
        parts = Counter((api, number % 8) for _, number, _, api in sent(run))
        for api in sorted({api for api, _ in parts}):
            mine = [count for (name, _), count in parts.items() if name == api]
            rows.append({"run": run.name, "api": api, "requests": sum(mine), "largest_bucket": max(mine)})
    return rows


@check("buckets are added up again")
def added_up(seen):
    need(
        len(seen.rows) <= len(seen.truth),
        f"{len(seen.rows)} rows where {len(seen.truth)} are asked for: the buckets are not added up. A second `groupBy` without the bucket is missing.",
    )
    got, true = seen.both(sum, "requests")
    need(
        got == true,
        f"{got} requests in all, {true} were sent: is the second step counting *rows* (buckets) instead of adding their numbers up?",
    )


@check("the hot key is cut")
def really_split(seen):
    need_none(
        seen.pairs(lambda got, true: true["requests"] > HOT and got["largest_bucket"] == true["requests"]),
        "{api} of {run}: the greatest bucket holds everything, all {largest_bucket}, so one task still counts it all. The bucket must differ *within* a key: `seq % 8`.",
    )


@check("buckets are about equal")
def evenly(seen):
    need_none(
        seen.pairs(
            lambda got, true: true["requests"] > HOT and got["largest_bucket"] > 1.2 * true["largest_bucket"]
        ),
        "{api} of {run}: a bucket of {largest_bucket}, an eighth of {true[requests]} would be about {true[largest_bucket]}. A bucket made of the member or the API is as skewed as they are; take `seq`.",
    )


TASK = Task(
    title="One hot group",
    minutes=30,
    level="hard",
    function="counted_in_buckets",
    columns={"run": "string", "api": "string", "requests": "bigint", "largest_bucket": "bigint"},
    key=("run", "api"),
    public=Case(
        (simulated("big", "fifty-by-five-hundred", "cooperative", 1), simulated("small", "join", "eager", 1))
    ),
    inputs=lambda given, case: (
        given.table(
            [row for run in case.runs for row in sent(run)],
            "run string, seq bigint, member string, api string",
        ),
    ),
    truth=truth,
    checks=(added_up, really_split, evenly),
)
