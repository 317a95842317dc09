"""A listener that duplicates least: every callback is an occasion to commit, and some commits are refused."""

from rebalance_kit.exercises.code_running import (
    LISTENER,
    first_skip,
    listening_case,
    played_back,
    records_twice,
    run_with,
)
from rebalance_kit.exercises.code_task import FULL, CodeTask, Failed, Mark

HEAD = """scenario: fewest-duplicates
topics:
- {name: orders, partitions: 6, rate_per_s: 10}
members:
"""


class Nothing:
    """Commits nothing: the most records that a listener without seeks reads twice."""

    def on_revoked(self, partitions, consumer):
        pass


class Best:
    """Commits everything consumed in every callback in which it may."""

    def on_assigned(self, partitions, consumer):
        consumer.commit()

    def on_revoked(self, partitions, consumer):
        consumer.commit()

    def on_lost(self, partitions, consumer):
        pass


def shop(title, protocol, seed, starts, actions, end_s=180):
    """Members that commit in their listener alone."""
    people = [
        f"- {{name: {name}, topics: [orders], commit: none, processing_ms: 3, start: {start}ms, "
        "configs: {auto.offset.reset: earliest}}"
        for name, start in starts.items()
    ]
    text = HEAD + "\n".join(
        [*people, "actions:", *(f"- {action}" for action in actions), f"end: {end_s}s", ""]
    )
    return listening_case(title, text, seed, protocol, points=4)


def judge(case, output):
    trace = played_back(case, output)
    if skip := first_skip(trace):
        raise Failed(
            f"{skip[4]} records were never read; the first of them in {skip[1]}. Commit what was consumed, and nothing beyond.",
            skip[0],
        )
    twice, most, least = (
        records_twice(trace),
        *(records_twice(run_with(case, one)) for one in (Nothing, Best)),
    )
    if twice <= least:
        return FULL
    share = max(0.0, 0.9 * (most - twice) / max(most - least, 1))
    words = (
        f"{twice:,} records are read twice; {least:,} are enough, and without any commit there are {most:,}."
    )
    return Mark(share, f"{words} {next_step(twice, most)}")


def next_step(twice, most):
    if twice > 0.9 * most:
        return "Commit in on_revoked, before the partitions leave: no other callback comes in time for the next owner."
    return (
        "Each callback is an occasion to commit everything consumed so far, of partitions that stay as well: "
        "who is lost later leaves the offset of its last commit behind."
    )


ROLL = ("{at: 60s, do: close, member: b}", "{at: 70s, do: start, member: b}")
FREEZE = ("{at: 90s, do: freeze, member: c}", "{at: 160s, do: thaw, member: c}")
STARTS = {"a": 0, "b": 0, "c": 33_000, "d": 75_000}

TASK = CodeTask(
    title="A listener that duplicates least",
    minutes=30,
    level="medium",
    function="Listener",
    kind=LISTENER,
    public=(
        shop("eager: a deployment", "eager", 1, STARTS, ROLL, end_s=120),
        shop("cooperative: a deployment, then a member freezes", "cooperative", 1, STARTS, (*ROLL, *FREEZE)),
        shop("KIP-848: a deployment, then a member freezes", "consumer", 1, STARTS, (*ROLL, *FREEZE)),
        shop(
            "cooperative: a member crashes and starts again",
            "cooperative",
            1,
            STARTS,
            ("{at: 90s, do: crash, member: c}", "{at: 95s, do: start, member: c}"),
        ),
    ),
    judge=judge,
)
