"""What the coordinator counted: broker logs of recorded runs, against the record's own table."""

from rebalance_kit.exercises.case_runs import recorded, table_row
from rebalance_kit.exercises.task import Case, Task, check, need_none

COLUMNS = {
    "run": "string",
    "preparing": "bigint",
    "stabilized": "bigint",
    "last_generation": "int",
    "expired": "bigint",
}


def truth(case):
    """The table that came with the recording."""
    return [{name: table_row(run)[name] for name in COLUMNS} for run in case.runs]


@check("Kafka 3.9 and 4.3 are both read")
def both_versions(seen):
    need_none(
        seen.pairs(
            lambda got, true: true["run"].endswith("3.9.1") and true["stabilized"] and not got["stabilized"]
        ),
        "nothing stabilized in {run}: Kafka 3.9 writes `(__consumer_offsets-0)` behind the generation and no final period. Do not ask for more than both versions print.",
    )


@check("generations are compared as numbers")
def generations_are_numbers(seen):
    need_none(
        seen.pairs(lambda got, true: got["last_generation"] == 9 and true["last_generation"] > 9),
        "{run}: last_generation 9 where {true[last_generation]} was reached: as text, '9' is greater than '12'. Cast to int before you take the greatest.",
    )


@check("a group that empties counts")
def emptied_groups(seen):
    need_none(
        seen.pairs(lambda got, true: got["last_generation"] == true["last_generation"] - 1),
        "{run}: its last generation is one short, {last_generation} instead of {true[last_generation]}. A group whose last member left writes `Group ... with generation N is now empty`, not `Stabilized`.",
    )


@check("leaving is not expiring")
def who_failed(seen):
    need_none(
        seen.pairs(lambda got, true: got["expired"] > true["expired"]),
        "{run}: {expired} expired members where there were {true[expired]}. A member that leaves (`LeaveGroup`) did not expire; count the lines `has failed, removing it`.",
    )


TASK = Task(
    title="What the coordinator counted",
    minutes=20,
    level="easy",
    function="coordinator_table",
    columns=COLUMNS,
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
    inputs=lambda given, case: (given.lines(case.runs, ["broker"]),),
    truth=truth,
    checks=(both_versions, generations_are_numbers, emptied_groups, who_failed),
)
