"""Records delivered more than once, in recorded runs, against the record's own table."""

from rebalance_kit.exercises.runs import facts_of, recorded, table_row
from rebalance_kit.exercises.task import Case, Check, Task, need


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
            "delivered": sum(row[5] - row[4] + 1 for row in deliveries(run)),
            "again": table_row(run)["delivered_again"],
        }
        for run in case.runs
    ]


def records_not_polls(seen):
    """Records are counted, not polls."""
    rows = {run.name: len(deliveries(run)) for run in seen.case.runs}
    need(
        not [row for row in seen.rows if row["delivered"] == rows.get(row["run"])],
        "delivered is the number of rows: each row stands for `last - first + 1` records.",
    )
    off = {run.name: sum(row[5] - row[4] for row in deliveries(run)) for run in seen.case.runs}
    need(
        not [row for row in seen.rows if row["delivered"] == off.get(row["run"])],
        "delivered is one short for every row: both offsets are inclusive, `last - first + 1`.",
    )


def by_anybody(seen):
    """A repetition to another member counts."""
    got = seen.by("run")
    low = [row for row in seen.truth if ((got.get((row["run"],)) or row)["again"] or 0) < row["again"]]
    need(
        not low,
        f"{low[0]['run'] if low else ''}: fewer repetitions than there were. The second delivery goes to *another* member as a rule (leave the member out of the key), and a stretch overlaps others only in part (compare records, not stretches).",
    )


def same_offset_elsewhere(seen):
    """Offset 5 of another partition is another record."""
    got = seen.by("run")
    high = [row for row in seen.truth if ((got.get((row["run"],)) or row)["again"] or 0) > row["again"]]
    need(
        not high,
        f"{high[0]['run'] if high else ''}: more repetitions than there were. A record is a partition *and* an offset, in one run.",
    )


TASK = Task(
    title="Read twice",
    minutes=25,
    level="middle",
    function="read_twice",
    columns={"run": "string", "delivered": "bigint", "again": "bigint"},
    key=("run",),
    public=Case(recorded("crash.eager.4.3.1", "freeze.cooperative.4.3.1", "leave.eager.4.3.1")),
    inputs=lambda bench, case: (
        bench.table(
            [row for run in case.runs for row in deliveries(run)],
            "run string, at_ms bigint, member string, partition string, first bigint, last bigint",
        ),
    ),
    truth=truth,
    checks=(
        Check("records are counted, not polls", records_not_polls),
        Check("a record is a partition and an offset", same_offset_elsewhere),
        Check("repetitions to anybody count", by_anybody),
    ),
)
