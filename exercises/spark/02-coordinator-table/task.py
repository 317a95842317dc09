"""What the coordinator counted: broker logs of recorded runs, against the record's own table."""

from rebalance_kit.exercises.runs import recorded, table_row
from rebalance_kit.exercises.task import Case, Check, Task, need

COLUMNS = ("run", "preparing", "stabilized", "last_generation", "expired")


def truth(case):
    """The table that came with the recording."""
    return [{name: table_row(run)[name] for name in COLUMNS} for run in case.runs]


def of_every_version(seen):
    """Runs of Kafka 3.9 are counted too."""
    got = seen.by("run")
    missed = [
        row["run"]
        for row in seen.truth
        if row["run"].endswith("3.9.1") and not (got.get((row["run"],)) or {"stabilized": 1})["stabilized"]
    ]
    need(
        not missed,
        f"nothing stabilized in {missed[:1]}: Kafka 3.9 writes `(__consumer_offsets-0)` behind the generation and no final period. Do not ask for more than both versions print.",
    )


def generations_are_numbers(seen):
    """The greatest generation, also beyond 9."""
    got = seen.by("run")
    wrong = [
        row
        for row in seen.truth
        if row["last_generation"] > 9 and (got.get((row["run"],)) or row)["last_generation"] == 9
    ]
    need(
        not wrong,
        "last_generation 9 where 12 was reached: as text, '9' is greater than '12'. Cast to int before you take the greatest.",
    )


def emptied_groups(seen):
    """A group that empties reaches one generation more."""
    got = seen.by("run")
    short = [
        row["run"]
        for row in seen.truth
        if (got.get((row["run"],)) or row)["last_generation"] == row["last_generation"] - 1
    ]
    need(
        not short,
        f"{short[:1]}: its last generation is one short. A group whose last member left writes `Group ... with generation N is now empty`, not `Stabilized`.",
    )


def who_failed(seen):
    """Only members that failed are expired ones."""
    got = seen.by("run")
    wrong = [row["run"] for row in seen.truth if (got.get((row["run"],)) or row)["expired"] > row["expired"]]
    need(
        not wrong,
        f"{wrong[:1]}: more expired members than there were. A member that leaves (`LeaveGroup`) did not expire; count the lines `has failed, removing it`.",
    )


TASK = Task(
    title="What the coordinator counted",
    minutes=20,
    level="easy",
    function="coordinator_table",
    columns={
        "run": "string",
        "preparing": "bigint",
        "stabilized": "bigint",
        "last_generation": "int",
        "expired": "bigint",
    },
    key=("run",),
    public=Case(
        recorded(
            "crash.eager.4.3.1",
            "join.cooperative.3.9.1",
            "leave.eager.3.9.1",
            "migrate-online.mixed.4.3.1",
            "crash-2x4.eager.3.9.1",
            "two-bounces.classic.4.3.1",
        )
    ),
    inputs=lambda bench, case: (bench.lines(case.runs, ["broker"]),),
    truth=truth,
    checks=(
        Check("Kafka 3.9 and 4.3 are both read", of_every_version),
        Check("generations are compared as numbers", generations_are_numbers),
        Check("a group that empties counts", emptied_groups),
        Check("leaving is not expiring", who_failed),
    ),
)
