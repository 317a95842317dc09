"""Storms: rebalances that follow one another closely, from the engine's traces."""

from rebalance_kit.exercises.case_runs import begins, simulated
from rebalance_kit.exercises.task import Case, Task, check, need, need_none

GAP_MS, FEWEST = 25_000, 3
JUST_THREE = """
scenario: comes-and-goes
kafka_version: 4.3.1
topics: [{name: orders, partitions: 6}]
members:
  - {name: consumer-1, topics: [orders]}
  - {name: consumer-2, topics: [orders]}
  - {name: consumer-3, topics: [orders], start: null}
actions:
  - {at: 40s, do: start, member: consumer-3}
  - {at: 55s, do: close, member: consumer-3}
  - {at: 70s, do: start, member: consumer-3}
  - {at: 110s, do: close, member: consumer-3}
  - {at: 125s, do: start, member: consumer-3}
end: 160s
"""
"""A storm of exactly three rebalances, and later two that are none."""


def truth(case):
    """Beginnings with less than the gap between them, and of these groups the large ones."""
    rows = []
    for run in case.runs:
        groups = []
        for one in begins(run):
            if not groups or one.at_ms - groups[-1][-1] >= GAP_MS:
                groups.append([])
            groups[-1].append(one.at_ms)
        rows += [
            {"run": run.name, "from_ms": times[0], "to_ms": times[-1], "rebalances": len(times)}
            for times in groups
            if len(times) >= FEWEST
        ]
    return rows


@check("two are not a storm")
def three_at_least(seen):
    need_none(
        [row for row in seen.rows if row["rebalances"] < FEWEST],
        "a storm of {rebalances} in {run}: at least three rebalances make one.",
    )


@check("nights are not mixed")
def one_run_each(seen):
    got, true = seen.both(max, "rebalances")
    need(got <= true, f"a storm of {got} rebalances; the greatest of one run had {true}. Group by `run` too.")


@check("storms are whole")
def whole_storms(seen):
    def answered(storm):
        return any(
            row["run"] == storm["run"] and row["rebalances"] >= storm["rebalances"] for row in seen.rows
        )

    need_none(
        [storm for storm in seen.truth if not answered(storm)],
        "the storm of {run} has {rebalances} rebalances; yours is cut in pieces or missing. Three are enough; a window of fixed length (`F.window`) cuts by the clock; a session window goes on as long as the gap is short.",
    )


@check("a storm ends with its last rebalance")
def last_start(seen):
    need_none(
        seen.pairs(lambda got, true: got["to_ms"] == true["to_ms"] + GAP_MS),
        "your storm of {run} ends 25 s late: the end of a session window is the last event *plus the gap*. Take the greatest `at_ms` instead.",
    )


TASK = Task(
    title="Storms",
    minutes=25,
    level="middle",
    function="storms",
    columns={"run": "string", "from_ms": "bigint", "to_ms": "bigint", "rebalances": "bigint"},
    key=("run", "from_ms"),
    public=Case(
        (
            simulated("night-1", "storm", "eager", 1),
            simulated("night-2", "rolling-restart", "cooperative", 1),
            simulated("night-3", JUST_THREE, "eager", 1),
            simulated("night-4", "poll-timeout", "eager", 1),
        )
    ),
    truth=truth,
    checks=(three_at_least, one_run_each, whole_storms, last_start),
)
