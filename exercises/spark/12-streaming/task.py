"""A stream with late lines: engine events of two brokers, one of them behind."""

from datetime import UTC, datetime

from rebalance_kit.exercises.runs import simulated, trace_of
from rebalance_kit.exercises.task import Case, Check, Task, need
from rebalance_kit.exercises.truth import wall

WINDOW_MS, DELAY_MS, BATCH_MS = 30_000, 60_000, 40_000


def told(run):
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
        for at, event in told(run)
    ]
    found = {}
    for arrives, at, name, event in sorted(arriving):
        moment = datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3]
        found.setdefault(arrives // BATCH_MS, []).append({"run": name, "at": moment, "event": event})
    return [found[place] for place in sorted(found)]


def truth(case):
    """Windows that the watermark has passed when the last line is read."""
    starts = [(run.name, at) for run in case.runs for at, event in told(run) if event == "preparing"]
    final = max(at for _, at in starts) - DELAY_MS
    counted = {}
    for name, at in starts:
        begin = at // WINDOW_MS * WINDOW_MS
        if begin + WINDOW_MS <= final:
            counted[name, begin] = counted.get((name, begin), 0) + 1
    return [
        {
            "run": name,
            "from": datetime.fromtimestamp(begin / 1000, UTC).replace(tzinfo=None),
            "rebalances": count,
        }
        for (name, begin), count in sorted(counted.items())
    ]


def late_ones(seen):
    """Lines of the second broker are counted too."""
    late = set(seen.case.facts["behind_ms"])
    true = sum(row["rebalances"] for row in seen.truth if row["run"] in late)
    got = sum(row["rebalances"] or 0 for row in seen.rows if row["run"] in late)
    final = max(row["from"] for row in seen.truth)
    early = [row for row in seen.rows if row["from"] is not None and row["from"] > final]
    need(
        not early,
        f"the window of {early[0]['from'] if early else ''} is given out although lines of it may still come: your watermark is shorter than the 60 seconds asked for, and what comes later is dropped without a word.",
    )
    need(
        got >= true,
        f"{got} rebalances of the late broker, {true} were there: its lines come up to 45 s late and were dropped, or their windows are not final yet. The watermark asked for is 60 seconds.",
    )


def event_time(seen):
    """Windows are those of the event time."""
    days = {value.date() for value in seen.values("from") if value is not None}
    true = {row["from"].date() for row in seen.truth}
    need(days <= true, "your windows lie at the time of *reading*. Use the column `at`, when it happened.")


def once(seen):
    """Each window is given out once."""
    keys = [(row["run"], row["from"]) for row in seen.rows]
    need(
        len(keys) == len(set(keys)),
        "a window is given out twice, with parts of its number: is something else than run and window among the grouping columns?",
    )


def half_minutes(seen):
    """Windows of thirty seconds that follow one another."""
    odd = [value for value in seen.values("from") if value is not None and value.second % 30]
    need(
        not odd,
        'a window begins at a second other than 0 or 30: `F.window("at", "30 seconds")` without a slide.',
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
    inputs=lambda bench, case: (bench.stream(batches(case), "run string, at timestamp, event string"),),
    rows=lambda frame, bench: bench.drained(frame),
    truth=truth,
    checks=(
        Check("windows are those of the event time", event_time),
        Check("windows begin at seconds 0 and 30", half_minutes),
        Check("each window is given out once", once),
        Check("late lines are counted", late_ones),
    ),
    next_step="Which windows are final depends on the watermark: 60 seconds behind the latest event.",
)
