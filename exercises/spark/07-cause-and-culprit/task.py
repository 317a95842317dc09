"""Why a rebalance began and whose doing it was, from the engine's traces."""

from rebalance_kit.exercises.case_runs import SETTLED_MS, begins, simulated
from rebalance_kit.exercises.task import Case, Task, check, need_none

WORDS = {"revocation": "follow_up"}
"""The engine's words for a trigger where the exercise asks for others."""


def truth(case):
    """Triggers and culprits as the engine knows them."""
    return [
        {
            "run": run.name,
            "start_ms": one.at_ms,
            "trigger": WORDS.get(one.trigger, one.trigger),
            "culprit": one.culprit,
        }
        for run in case.runs
        for one in begins(run)
        if one.at_ms >= SETTLED_MS
    ]


@check("culprits are clients")
def names_of_clients(seen):
    need_none(
        [row for row in seen.rows if row["culprit"] is None or len(row["culprit"]) > 30],
        "culprit {culprit} in {run}: the name of the client is asked for, without `-` and the UUID (36 signs).",
    )


@check("poll timeouts and leaves are told apart")
def poll_timeouts(seen):
    need_none(
        seen.pairs(
            lambda got, true: true["trigger"] == "poll_timeout" and got["trigger"] in {"leave", "session"}
        ),
        "{run}: {true[culprit]} left because its poll timeout had expired; the line `left` just before says so. It is neither a plain leave nor a session that ran out.",
    )
    need_none(
        seen.pairs(lambda got, true: true["trigger"] == "leave" and got["trigger"] == "poll_timeout"),
        "{run}: at {start_ms} a plain leave is called a poll timeout. The reason must be that of the *last* leaver before it, in the same run.",
    )


@check("second rounds are follow-ups")
def follow_ups(seen):
    need_none(
        seen.pairs(lambda got, true: true["trigger"] == "follow_up" and got["trigger"] != "follow_up"),
        "{run}: the rebalance at {start_ms} has the client reason `need to revoke partitions and re-join`. That is the second round of a cooperative one: `follow_up`, not a new cause (`{trigger}`).",
    )


TASK = Task(
    title="Why, and whose doing?",
    minutes=35,
    level="middle",
    function="causes",
    columns={"run": "string", "start_ms": "bigint", "trigger": "string", "culprit": "string"},
    key=("run", "start_ms"),
    public=Case(
        (
            simulated("night-1", "poll-timeout", "cooperative", 1),
            simulated("night-2", "crash", "eager", 1),
            simulated("night-3", "rolling-restart", "cooperative", 1),
        )
    ),
    truth=truth,
    checks=(names_of_clients, poll_timeouts, follow_ups),
)
