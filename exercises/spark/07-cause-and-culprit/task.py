"""Why a rebalance began and whose doing it was, from the engine's traces."""

from rebalance_kit.exercises.runs import simulated
from rebalance_kit.exercises.task import Case, Check, Task, need
from rebalance_kit.exercises.truth import begins

AT_REST_MS = 1767603625000
WORDS = {"revocation": "follow_up"}


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
        if one.at_ms >= AT_REST_MS
    ]


def names_of_clients(seen):
    """Culprits are clients, without the random tail."""
    long = [row["culprit"] for row in seen.rows if row["culprit"] is None or len(row["culprit"]) > 30]
    need(
        not long,
        f"culprit {long[:1]}: the name of the client is asked for, without `-` and the UUID (36 signs).",
    )


def poll_timeouts(seen):
    """A poll timeout is told from a leave."""
    got = seen.by("run", "start_ms")
    missed = [
        row
        for row in seen.truth
        if row["trigger"] == "poll_timeout"
        and (got.get((row["run"], row["start_ms"])) or row)["trigger"] in {"leave", "session"}
    ]
    need(
        not missed,
        f"{missed[0]['run'] if missed else ''}: {missed[0]['culprit'] if missed else ''} left because its poll timeout had expired; the line `left` just before says so. It is neither a plain leave nor a session that ran out.",
    )
    wrong = [
        row
        for row in seen.truth
        if row["trigger"] == "leave"
        and (got.get((row["run"], row["start_ms"])) or row)["trigger"] == "poll_timeout"
    ]
    need(
        not wrong,
        f"{wrong[0]['run'] if wrong else ''}: a plain leave is called a poll timeout. The reason must be that of the *last* leaver before it, in the same run.",
    )


def follow_ups(seen):
    """The second round of a cooperative rebalance."""
    got = seen.by("run", "start_ms")
    missed = [
        row
        for row in seen.truth
        if row["trigger"] == "follow_up"
        and (got.get((row["run"], row["start_ms"])) or row)["trigger"] != "follow_up"
    ]
    need(
        not missed,
        "a rebalance with the client reason `need to revoke partitions and re-join` is the second round of a cooperative one: `follow_up`, not a new cause.",
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
    checks=(
        Check("culprits are clients", names_of_clients),
        Check("poll timeouts and leaves are told apart", poll_timeouts),
        Check("second rounds are follow-ups", follow_ups),
    ),
)
