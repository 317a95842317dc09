"""Faults injected into recorded runs of real clusters: found from their logs, judged by what was done (run.json)."""

from rebalance_kit.exercises.runs import recorded, steps_of
from rebalance_kit.exercises.task import Case, Check, Task, need

KINDS = ("killed", "frozen", "stalled", "closed")


def fault(run):
    """The first thing done to a member of a running group, as it was noted down while recording."""
    for step in steps_of(run):
        line = str(step.get("line", ""))
        kind = {"kill": "killed", "freeze": "frozen"}.get(step["do"]) or (
            "stalled" if line.startswith("stall") else "closed" if line == "close" else None
        )
        if kind is not None:
            return step["member"], kind
    raise AssertionError(run.name)


def truth(case):
    """Steps of the recording."""
    return [{"run": run.name, "culprit": fault(run)[0], "kind": fault(run)[1]} for run in case.runs]


def the_first(seen):
    """The end of the experiment is no fault."""
    true = {row["run"]: row for row in seen.truth}
    wrong = [
        row
        for row in seen.rows
        if row["kind"] == "closed" and true.get(row["run"], row)["kind"] in {"killed", "frozen"}
    ]
    need(
        not wrong,
        f"{wrong[0]['run'] if wrong else ''}: `closed` is how every recording ends. The *first* thing that happened is the fault.",
    )


def stalls(seen):
    """A stalled member leaves by itself."""
    true = {row["run"]: row for row in seen.truth}
    wrong = [
        row
        for row in seen.rows
        if true.get(row["run"], row)["kind"] == "stalled" and row["kind"] != "stalled"
    ]
    need(
        not wrong,
        f"{wrong[0]['run'] if wrong else ''}: that member had written `poll_timeout` before it left. A leave with an expired poll timeout is `stalled`, not `{wrong[0]['kind'] if wrong else ''}`.",
    )


def both_protocols(seen):
    """Groups of the consumer protocol are answered too."""
    missing = [run.name for run in seen.case.runs if run.name not in set(seen.values("run"))]
    need(
        not missing,
        f"{missing[:1]} is missing: the consumer protocol has lines of its own (`session_expired`, `epoch_left`), and ids without names; or the last life of a killed member has no later line, and an inner join lost it.",
    )


def zombies(seen):
    """Killed and frozen are told apart."""
    true = {row["run"]: row for row in seen.truth}
    wrong = [
        row for row in seen.rows if {row["kind"], true.get(row["run"], row)["kind"]} == {"killed", "frozen"}
    ]
    need(
        not wrong,
        f"{wrong[0]['run'] if wrong else ''}: not {wrong[0]['kind'] if wrong else ''}. A frozen process goes on where it stood; a killed one is followed by `process_started`, or by nothing.",
    )


TASK = Task(
    title="Real clusters, real noise",
    minutes=50,
    level="hard",
    function="faults",
    columns={"run": "string", "culprit": "string", "kind": "string"},
    key=("run",),
    public=Case(
        recorded(
            "crash.eager.4.3.1",
            "freeze.consumer.4.3.1",
            "poll-timeout.cooperative.4.3.1",
            "leave.consumer.4.3.1",
            "crash-2x4.eager.3.9.1",
        )
    ),
    truth=truth,
    checks=(
        Check("both protocols are answered", both_protocols),
        Check("the end of the experiment is no fault", the_first),
        Check("who stalled did not just leave", stalls),
        Check("dead and frozen are told apart", zombies),
    ),
)
