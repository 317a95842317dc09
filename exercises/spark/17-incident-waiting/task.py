"""Incidents drawn by a seed: whom a join phase waited for, and why."""

from rebalance_kit.exercises.case_runs import incident_of, incidents, trace_of
from rebalance_kit.exercises.task import Case, Task, check, need_none

KINDS = ("slow_callback", "silent_member")


def drawn(seed):
    """One incident of each kind, in an order that the seed decides."""
    return Case(incidents(seed, KINDS, protocol="eager"))


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


@check("the longest join phase is looked at")
def the_longest(seen):
    need_none(
        seen.pairs(lambda got, true: got["waited_ms"] != true["waited_ms"]),
        "{run}: waited {waited_ms} ms, its longest join phase took {true[waited_ms]} ms. From `preparing` to the next `stabilized`, and the longest of them.",
    )


@check("the culprit is who joined last")
def not_the_first(seen):
    need_none(
        seen.pairs(lambda got, true: got["culprit"] != true["culprit"]),
        "{culprit} did not keep {run} waiting. Not who caused the rebalance is asked for, nor who joined first, but who asked to join *last* within the phase.",
    )


@check("slow and silent are told apart")
def why(seen):
    need_none(
        seen.pairs(lambda got, true: got["culprit"] == true["culprit"] and got["kind"] != true["kind"]),
        "{run} is no {kind}: how long before its `joining` did the culprit write its own last `revoked`? A callback at work has begun to revoke; a silent member has not.",
    )


TASK = Task(
    title="Incident: whom does everybody wait for?",
    minutes=45,
    level="hard",
    function="waited_for",
    columns={"run": "string", "waited_ms": "bigint", "culprit": "string", "kind": "string"},
    key=("run",),
    public=drawn(11),
    truth=truth,
    checks=(the_longest, not_the_first, why),
    per_learner=True,
)
