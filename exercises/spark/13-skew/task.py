"""A skewed aggregation in two steps, over the requests of the engine's traces."""

from collections import Counter

from rebalance_kit.exercises.runs import simulated, trace_of
from rebalance_kit.exercises.task import Case, Check, Task, need


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


def really_split(seen):
    """The hot key is cut."""
    whole = [
        row
        for row in seen.rows
        if row["requests"] and row["requests"] > 200 and row["largest_bucket"] == row["requests"]
    ]
    need(
        not whole,
        f"{whole[0]['api'] if whole else ''} of {whole[0]['run'] if whole else ''}: the greatest bucket holds everything, so one task still counts it all. The bucket must differ *within* a key: `seq % 8`.",
    )


def evenly(seen):
    """Buckets are about equal."""
    true = {(row["run"], row["api"]): row for row in seen.truth}
    uneven = [
        row
        for row in seen.rows
        if (row["run"], row["api"]) in true
        and row["requests"] > 200
        and row["largest_bucket"] > 1.2 * true[row["run"], row["api"]]["largest_bucket"]
    ]
    need(
        not uneven,
        f"{uneven[0]['api'] if uneven else ''}: a bucket of {uneven[0]['largest_bucket'] if uneven else 0}, an eighth would be {uneven[0]['requests'] // 8 if uneven else 0}. A bucket made of the member or the API is as skewed as they are; take `seq`.",
    )


def added_up(seen):
    """Buckets are added up again."""
    need(
        len(seen.rows) <= len(seen.truth),
        f"{len(seen.rows)} rows where {len(seen.truth)} are asked for: the buckets are not added up. A second `groupBy` without the bucket is missing.",
    )
    total, true = sum(row["requests"] or 0 for row in seen.rows), sum(row["requests"] for row in seen.truth)
    need(
        total == true,
        f"{total} requests in all, {true} were sent: is the second step counting *rows* (buckets) instead of adding their numbers up?",
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
    inputs=lambda bench, case: (
        bench.table(
            [row for run in case.runs for row in sent(run)],
            "run string, seq bigint, member string, api string",
        ),
    ),
    truth=truth,
    checks=(
        Check("buckets are added up again", added_up),
        Check("the hot key is cut", really_split),
        Check("buckets are about equal", evenly),
    ),
)
