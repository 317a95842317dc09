"""Incidents drawn by a seed: whom a join phase waited for, and why."""

from rebalance_kit.exercises.case_runs import incident_of, incidents, simulated, trace_of
from rebalance_kit.exercises.task import Case, Task, check, need_none

KINDS = ("slow_callback", "silent_member")
TWO_LATE = """
scenario: two-late
kafka_version: 4.3.1
topics: [{name: orders, partitions: 6}]
members:
  - {name: consumer-1, topics: [orders], callback_ms: 10s}
  - {name: consumer-2, topics: [orders]}
  - {name: consumer-3, topics: [orders], start: null}
actions:
  - {at: 30s, do: stall, member: consumer-2, for: 10s}
  - {at: 31s, do: start, member: consumer-3}
  - {at: 60s, do: crash, member: consumer-1}
  - {at: 60s, do: crash, member: consumer-2}
  - {at: 60s, do: crash, member: consumer-3}
  - {at: 170s, do: start, member: consumer-2}
end: 190s
"""
"""consumer-2 revokes late within the callback of consumer-1; then all die, so one `preparing` has no `stabilized`."""
TOLD = simulated("night-3", TWO_LATE, "eager", 1)


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
    blamed = {run: (incident_of(run).culprit, incident_of(run).family) for run in case.runs if run != TOLD}
    blamed[TOLD] = ("consumer-1", "slow_callback")
    return [
        {"run": run.name, "waited_ms": max(phases(run)), "culprit": blamed[run][0], "kind": blamed[run][1]}
        for run in case.runs
    ]


@check("the longest join phase is looked at")
def the_longest(seen):
    need_none(
        seen.pairs(lambda got, true: got["waited_ms"] != true["waited_ms"]),
        "{run}: waited {waited_ms} ms, its longest join phase took {true[waited_ms]} ms. From `preparing` to the next `stabilized`, and the longest of them. A group whose last member goes writes no `stabilized`: that is no join phase.",
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
        "{run} is no {kind}: how long before its `joining` did the culprit write its own last `revoked`? A callback at work has begun to revoke; a silent member has not. What *others* revoke meanwhile says nothing of it.",
    )


TASK = Task(
    title="Incident: whom does everybody wait for?",
    minutes=45,
    level="hard",
    function="waited_for",
    columns={"run": "string", "waited_ms": "bigint", "culprit": "string", "kind": "string"},
    key=("run",),
    public=Case((*drawn(11).runs, TOLD)),
    truth=truth,
    checks=(the_longest, not_the_first, why),
    per_learner=True,
)
