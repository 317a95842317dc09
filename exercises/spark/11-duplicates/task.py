"""Records delivered more than once, in recorded runs, against the record's own table."""

from rebalance_kit.exercises.case_runs import facts_of, recorded, table_row
from rebalance_kit.exercises.task import Case, Task, check, need_none


def deliveries(run):
    """What the members wrote of every poll."""
    return [
        (run.name, fact["t"], fact["by"], partition, first, last)
        for fact in facts_of(run)
        if fact["kind"] == "records"
        for partition, (first, last) in sorted(fact["records"].items())
    ]


def truth(case):
    """Repetitions as the record's table counts them."""
    return [
        {
            "run": run.name,
            "delivered": sum(last - first + 1 for *_, first, last in deliveries(run)),
            "again": table_row(run)["delivered_again"],
        }
        for run in case.runs
    ]


@check("records are counted, not polls")
def records_not_polls(seen):
    polls = {run.name: len(deliveries(run)) for run in seen.case.runs}
    need_none(
        seen.pairs(
            lambda got, true: got["delivered"] != true["delivered"] and got["delivered"] == polls[got["run"]]
        ),
        "{run}: delivered is {delivered}, the number of rows: each row stands for `last - first + 1` records.",
    )
    need_none(
        seen.pairs(lambda got, true: got["delivered"] == true["delivered"] - polls[got["run"]]),
        "{run}: delivered is {delivered}, one short for every row: both offsets are inclusive, `last - first + 1`.",
    )


@check("a record is a partition and an offset")
def same_offset_elsewhere(seen):
    need_none(
        seen.pairs(lambda got, true: (got["again"] or 0) > true["again"]),
        "{run}: again is {again}, more repetitions than there were. A record is a partition *and* an offset, in one run.",
    )


@check("repetitions to anybody count")
def by_anybody(seen):
    need_none(
        seen.pairs(lambda got, true: (got["again"] or 0) < true["again"]),
        "{run}: again is {again}, fewer repetitions than there were. The second delivery goes to *another* member as a rule (leave the member out of the key), and a stretch overlaps others only in part (compare records, not stretches).",
    )


TASK = Task(
    title="Read twice",
    minutes=25,
    level="middle",
    function="read_twice",
    columns={"run": "string", "delivered": "bigint", "again": "bigint"},
    key=("run",),
    public=Case(recorded("crash.eager.4.3.1", "freeze.cooperative.4.3.1", "leave.eager.4.3.1")),
    inputs=lambda given, case: (
        given.table(
            [row for run in case.runs for row in deliveries(run)],
            "run string, at_ms bigint, member string, partition string, first bigint, last bigint",
        ),
    ),
    truth=truth,
    checks=(records_not_polls, same_offset_elsewhere, by_anybody),
)
