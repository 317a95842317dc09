"""Faults injected into recorded runs of real clusters: found from their logs, judged by what was done (run.json)."""

from rebalance_kit.exercises.case_runs import recorded_nights, steps_of
from rebalance_kit.exercises.task import Case, Task, check, need_none

FAULTS = {"kill": "killed", "freeze": "frozen", "stall": "stalled", "close": "closed"}


def fault(run):
    """The first thing done to a member of a running group, as it was noted down while recording."""
    done = ((step.get("line", step["do"]).split()[0], step.get("member")) for step in steps_of(run))
    return next((member, FAULTS[word]) for word, member in done if word in FAULTS)


def truth(case):
    """Steps of the recording."""
    return [
        {"run": run.name, "culprit": culprit, "kind": kind}
        for run in case.runs
        for culprit, kind in [fault(run)]
    ]


@check("both protocols are answered")
def both_protocols(seen):
    need_none(
        seen.missing(),
        "{run} is missing: the consumer protocol has lines of its own (`session_expired`, `epoch_left`), and ids without names; or the last life of a killed member has no later line, and an inner join lost it.",
    )


@check("the end of the experiment is no fault")
def the_first(seen):
    need_none(
        seen.pairs(lambda got, true: got["kind"] == "closed" and true["kind"] in {"killed", "frozen"}),
        "{run}: `closed` is how every recording ends. The *first* thing that happened is the fault.",
    )


@check("who stalled did not just leave")
def stalls(seen):
    need_none(
        seen.pairs(lambda got, true: true["kind"] == "stalled" and got["kind"] != "stalled"),
        "{run}: that member had written `poll_timeout` before it left. A leave with an expired poll timeout is `stalled`, not `{kind}`.",
    )


@check("dead and frozen are told apart")
def dead_or_frozen(seen):
    need_none(
        seen.pairs(lambda got, true: {got["kind"], true["kind"]} == {"killed", "frozen"}),
        "{run}: not {kind}. A frozen process goes on where it stood; a killed one is followed by `process_started`, or by nothing.",
    )


TASK = Task(
    title="Real clusters, real noise",
    minutes=50,
    level="hard",
    function="faults",
    columns={"run": "string", "culprit": "string", "kind": "string"},
    key=("run",),
    public=Case(
        recorded_nights(
            "poll-timeout.cooperative.4.3.1",
            "crash.eager.4.3.1",
            "leave.consumer.4.3.1",
            "crash-2x4.eager.3.9.1",
            "freeze.consumer.4.3.1",
        )
    ),
    truth=truth,
    checks=(both_protocols, the_first, stalls, dead_or_frozen),
)
