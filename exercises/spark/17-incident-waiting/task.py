"""Incidents drawn by a seed: whom a join phase waited for, and why."""

from rebalance_kit.exercises.drawn import incident_of, incidents
from rebalance_kit.exercises.runs import trace_of
from rebalance_kit.exercises.task import Case, Check, Task, need

KINDS = ("slow_callback", "silent_member")


def phases(run):
    """Lengths of all join phases that completed."""
    found, began = [], None
    for row in trace_of(run).of("group_state", "generation"):
        if row.kind == "group_state" and row.detail["to"] == "PreparingRebalance":
            began = row.at_ms
        elif row.kind == "generation" and began is not None:
            found.append(row.at_ms - began)
            began = None
    return found


def truth(case):
    """What was drawn, and the longest join phase of the trace."""
    return [
        {
            "run": run.name,
            "waited_ms": max(phases(run)),
            "culprit": incident_of(run).culprit,
            "kind": incident_of(run).family,
        }
        for run in case.runs
    ]


def the_longest(seen):
    """It is the longest join phase."""
    got = seen.by("run")
    for run in seen.case.runs:
        row = got.get((run.name,))
        need(
            row is None or row["waited_ms"] == max(phases(run)),
            f"{run.name}: waited {row['waited_ms'] if row else 0} ms, its longest join phase took {max(phases(run))} ms. From `preparing` to the next `stabilized`, and the longest of them.",
        )


def not_the_first(seen):
    """The one that is waited for joins last."""
    true = {row["run"]: row["culprit"] for row in seen.truth}
    wrong = [row for row in seen.rows if row["culprit"] != true.get(row["run"])]
    need(
        not wrong,
        f"{wrong[0]['culprit'] if wrong else ''} did not keep {wrong[0]['run'] if wrong else ''} waiting. Not who caused the rebalance is asked for, nor who joined first, but who asked to join *last* within the phase.",
    )


def why(seen):
    """Slow and silent are told apart."""
    true = {row["run"]: row for row in seen.truth}
    wrong = [
        row
        for row in seen.rows
        if row["run"] in true
        and row["culprit"] == true[row["run"]]["culprit"]
        and row["kind"] != true[row["run"]]["kind"]
    ]
    need(
        not wrong,
        f"{wrong[0]['run'] if wrong else ''} is no {wrong[0]['kind'] if wrong else ''}: how long before its `joining` did the culprit write its own last `revoked`? A callback at work has begun to revoke; a silent member has not.",
    )


TASK = Task(
    title="Incident: whom does everybody wait for?",
    minutes=45,
    level="hard",
    function="waited_for",
    columns={"run": "string", "waited_ms": "bigint", "culprit": "string", "kind": "string"},
    key=("run",),
    public=Case(incidents(11, KINDS, each=1, protocol="eager")),
    truth=truth,
    checks=(
        Check("the longest join phase is looked at", the_longest),
        Check("the culprit is who joined last", not_the_first),
        Check("slow and silent are told apart", why),
    ),
    per_learner=True,
)
