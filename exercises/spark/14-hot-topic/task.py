"""Load by member: assignments of the engine, and the rates of the scenario's topics."""

from rebalance_kit.exercises.runs import scenario_of, simulated, trace_of
from rebalance_kit.exercises.task import Case, Check, Task, need

SCENARIO = """\
scenario: {name}
title: Two topics of unlike weight
seed: 1
end: 90s
topics:
  orders-eu: {{partitions: {busy}, rate_per_s: {rate}}}
  audit: {{partitions: {quiet}, rate_per_s: 2}}
configs: {{auto.offset.reset: earliest}}
members: {{count: {members}, prefix: consumer-, topics: [orders-eu, audit], every: 100ms}}
actions:
  - {{at: 40s, do: restart, member: consumer-2, after: 8s}}
"""


def two_topics(name, protocol, seed, busy=8, quiet=8, rate=100, members=4):
    """A run with a busy and a quiet topic."""
    return simulated(
        name, SCENARIO.format(name=name, busy=busy, quiet=quiet, rate=rate, members=members), protocol, seed
    )


def inputs(bench, case):
    """Events and rates."""
    rates = [
        (run.name, topic.name, float(topic.rate_per_s))
        for run in case.runs
        for topic in scenario_of(run).topics
    ]
    return bench.events(case.runs), bench.table(rates, "run string, topic string, per_s double")


def truth(case):
    """The last assignment of the trace."""
    rows = []
    for run in case.runs:
        rates = {topic.name: float(topic.rate_per_s) for topic in scenario_of(run).topics}
        last = list(trace_of(run).of("assignment"))[-1].detail["assignment"]
        rows += [
            {
                "run": run.name,
                "client": name,
                "partitions": len(held),
                "per_s": sum(rates[one.rpartition("-")[0]] for one in held),
            }
            for name, held in sorted(last.items())
            if held
        ]
    return rows


def the_last_only(seen):
    """What a member had before is not counted."""
    true = {
        row["run"]: sum(one["partitions"] for one in seen.truth if one["run"] == row["run"])
        for row in seen.truth
    }
    got = {name: sum(row["partitions"] or 0 for row in seen.rows if row["run"] == name) for name in true}
    high = [name for name in true if got[name] > true[name]]
    need(
        not high,
        f"{high[:1]}: {got[high[0]] if high else 0} partitions in all, the topics have {true[high[0]] if high else 0}. Only the *last* assigned callback of each client says what it has now (and rates must be joined by run, too).",
    )


def busy_topic(seen):
    """The topic with a dash in its name is there."""
    true, got = sum(row["partitions"] for row in seen.truth), sum(row["partitions"] or 0 for row in seen.rows)
    need(
        got >= true,
        f"{got} partitions in all, {true} are assigned: those of `orders-eu` fell out of the join. The topic is everything before the *last* dash.",
    )


def load_not_count(seen):
    """Records a second, not partitions."""
    need(
        not seen.rows or any(row["per_s"] != row["partitions"] for row in seen.rows),
        "per_s is the number of partitions: sum the rates instead of counting.",
    )


TASK = Task(
    title="Fair by count, unfair by load",
    minutes=30,
    level="hard",
    function="load",
    columns={"run": "string", "client": "string", "partitions": "bigint", "per_s": "double"},
    key=("run", "client"),
    public=Case(
        (
            two_topics("range", "eager", 1, busy=6, quiet=2),
            two_topics("sticky", "sticky", 2),
            two_topics("roundrobin", "roundrobin", 3, busy=5, quiet=5, rate=50),
        )
    ),
    inputs=inputs,
    truth=truth,
    checks=(
        Check("only what a member has now is counted", the_last_only),
        Check("topics with a dash are found", busy_topic),
        Check("load is not a count", load_not_count),
    ),
)
