"""Load by member: assignments of the engine, and the rates of the scenario's topics."""

from rebalance_kit.exercises.case_runs import scenario_of, simulated, trace_of
from rebalance_kit.exercises.task import Case, Task, check, need

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


def rates(run):
    """Records a second that each partition of a topic receives."""
    return {topic.name: float(topic.rate_per_s) for topic in scenario_of(run).topics}


def inputs(given, case):
    """Events and rates."""
    rows = [(run.name, topic, per_s) for run in case.runs for topic, per_s in rates(run).items()]
    return given.events(case.runs), given.table(rows, "run string, topic string, per_s double")


def truth(case):
    """The last assignment of the trace."""
    rows = []
    for run in case.runs:
        per_s = rates(run)
        *_, last = trace_of(run).of("assignment")
        rows += [
            {
                "run": run.name,
                "client": name,
                "partitions": len(held),
                "per_s": sum(per_s[partition.rpartition("-")[0]] for partition in held),
            }
            for name, held in last.detail["assignment"].items()
            if held
        ]
    return rows


@check("only what a member has now is counted")
def the_last_only(seen):
    for run in seen.case.runs:
        got, true = seen.both(sum, "partitions", run.name)
        need(
            got <= true,
            f"{run.name}: {got} partitions in all, the topics have {true}. Only the *last* assigned callback of each client says what it has now (and rates must be joined by run, too).",
        )


@check("topics with a dash are found")
def busy_topic(seen):
    got, true = seen.both(sum, "partitions")
    need(
        got >= true,
        f"{got} partitions in all, {true} are assigned: those of `orders-eu` fell out of the join. The topic is everything before the *last* dash.",
    )


@check("load is not a count")
def load_not_count(seen):
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
    checks=(the_last_only, busy_topic, load_not_count),
)
