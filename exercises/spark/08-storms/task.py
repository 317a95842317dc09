"""Storms: rebalances that follow one another closely, from the engine's traces."""

from rebalance_kit.exercises.runs import simulated
from rebalance_kit.exercises.task import Case, Check, Task, need
from rebalance_kit.exercises.truth import begins

GAP_MS = 25_000


def truth(case):
    """Grouped by the gaps between beginnings."""
    rows = []
    for run in case.runs:
        held: list[int] = []
        for at in [one.at_ms for one in begins(run)] + [None]:
            if held and (at is None or at - held[-1] >= GAP_MS):
                if len(held) >= 3:
                    rows.append(
                        {"run": run.name, "from_ms": held[0], "to_ms": held[-1], "rebalances": len(held)}
                    )
                held = []
            if at is not None:
                held.append(at)
    return rows


def three_at_least(seen):
    """One or two rebalances are no storm."""
    few = [row for row in seen.rows if row["rebalances"] < 3]
    need(
        not few,
        f"a storm of {few[0]['rebalances'] if few else 0} in {few[0]['run'] if few else ''}: at least three rebalances make one.",
    )


def whole_storms(seen):
    """A storm is not cut by the clock."""
    true = {row["run"]: row["rebalances"] for row in seen.truth}
    cut = [
        run
        for run, most in true.items()
        if (mine := [row["rebalances"] for row in seen.rows if row["run"] == run]) and max(mine) < most
    ]
    gone = [run for run in true if run not in {row["run"] for row in seen.rows}]
    need(
        not cut and not gone,
        f"the storm of {(cut + gone)[0] if cut or gone else ''} has {true[(cut + gone)[0]] if cut or gone else 0} rebalances; yours is cut in pieces or missing. A window of fixed length (`F.window`) cuts by the clock; a session window goes on as long as the gap is short.",
    )


def last_start(seen):
    """A storm ends with its last rebalance."""
    got = seen.by("run", "from_ms")
    late = [
        row
        for row in seen.truth
        if (got.get((row["run"], row["from_ms"])) or row)["to_ms"] == row["to_ms"] + GAP_MS
    ]
    need(
        not late,
        "your storms end 25 s late: the end of a session window is the last event *plus the gap*. Take the greatest `at_ms` instead.",
    )


def one_run_each(seen):
    """Nights are not mixed."""
    most = max((row["rebalances"] for row in seen.rows), default=0)
    true = max(row["rebalances"] for row in seen.truth)
    need(
        most <= true, f"a storm of {most} rebalances; the greatest of one run had {true}. Group by `run` too."
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
            simulated("night-3", "join", "eager", 1),
            simulated("night-4", "poll-timeout", "eager", 1),
        )
    ),
    truth=truth,
    checks=(
        Check("two are no storm", three_at_least),
        Check("nights are not mixed", one_run_each),
        Check("storms are whole", whole_storms),
        Check("a storm ends with its last rebalance", last_start),
    ),
)
