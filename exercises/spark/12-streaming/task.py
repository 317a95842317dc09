"""A stream with late lines: engine events of two brokers, one of them behind."""

from collections import Counter
from datetime import UTC, datetime

from rebalance_kit.exercises.case_runs import simulated, trace_of, wall
from rebalance_kit.exercises.task import Case, Task, check, need, need_none

WINDOW_MS, DELAY_MS, BATCH_MS = 30_000, 60_000, 40_000


def moment(at_ms):
    """A time in UTC, without a zone, as Spark's session here has it."""
    return datetime.fromtimestamp(at_ms / 1000, UTC).replace(tzinfo=None)


def written(run):
    """What the coordinator writes, by time."""
    words = {"PreparingRebalance": "preparing", "Stable": "stable", "CompletingRebalance": "stabilized"}
    return [
        (wall(row.at_ms), words[row.detail["to"]])
        for row in trace_of(run).of("group_state")
        if row.detail["to"] in words
    ]


def batches(case):
    """Lines in the order in which they arrive, a batch every 40 seconds."""
    arriving = [
        (at + case.facts["behind_ms"].get(run.name, 0), at, run.name, event)
        for run in case.runs
        for at, event in written(run)
    ]
    found = {}
    for arrives, at, name, event in sorted(arriving):
        line = {"run": name, "at": moment(at).isoformat(" ", "milliseconds"), "event": event}
        found.setdefault(arrives // BATCH_MS, []).append(line)
    return [found[place] for place in sorted(found)]


def truth(case):
    """Windows that the watermark has passed when the last line is read."""
    starts = [(run.name, at) for run in case.runs for at, event in written(run) if event == "preparing"]
    final = max(at for _, at in starts) - DELAY_MS
    counted = Counter((name, at // WINDOW_MS * WINDOW_MS) for name, at in starts)
    return [
        {"run": name, "from": moment(begin), "rebalances": count}
        for (name, begin), count in counted.items()
        if begin + WINDOW_MS <= final
    ]


def windows(seen):
    """Rows of the answer that say which window they are of."""
    return [row for row in seen.rows if row["from"] is not None]


@check("windows are those of the event time")
def event_time(seen):
    days = {row["from"].date() for row in seen.truth}
    need_none(
        [row for row in windows(seen) if row["from"].date() not in days],
        "the window of {from} lies at the time of *reading*. Use the column `at`, when it happened.",
    )


@check("windows begin at seconds 0 and 30")
def half_minutes(seen):
    need_none(
        [row for row in windows(seen) if row["from"].second % 30],
        '{from}: a window begins at a second other than 0 or 30: `F.window("at", "30 seconds")` without a slide.',
    )


@check("each window is given out once")
def once(seen):
    need_none(
        seen.repeated(),
        "the window {from} of {run} is given out twice, with parts of its number: is something else than run and window among the grouping columns?",
    )


@check("late lines are counted")
def late_ones(seen):
    final = max(row["from"] for row in seen.truth)
    need_none(
        [row for row in windows(seen) if row["from"] > final],
        "the window of {from} is given out although lines of it may still come: your watermark is shorter than the 60 seconds asked for, and what comes later is dropped without a word.",
    )
    for late in seen.case.facts["behind_ms"]:
        got, true = seen.both(sum, "rebalances", late)
        need(
            got >= true,
            f"{got} rebalances of {late}, the late broker, {true} were there: its lines come up to 45 s late and were dropped, or their windows are not final yet. The watermark asked for is 60 seconds.",
        )


TASK = Task(
    title="While it happens",
    minutes=35,
    level="hard",
    function="per_half_minute",
    columns={"run": "string", "from": "timestamp", "rebalances": "bigint"},
    key=("run", "from"),
    public=Case(
        (simulated("broker-1", "storm", "eager", 1), simulated("broker-2", "two-bounces", None, 1)),
        {"behind_ms": {"broker-2": 45_000}},
    ),
    inputs=lambda given, case: (given.stream(batches(case), "run string, at timestamp, event string"),),
    streaming=True,
    truth=truth,
    checks=(event_time, half_minutes, once, late_ones),
    next_step="Which windows are final depends on the watermark: 60 seconds behind the latest event.",
)
