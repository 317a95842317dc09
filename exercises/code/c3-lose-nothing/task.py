"""A rebalance listener that loses nothing: it commits what leaves, and says where a partition without an offset begins."""

from rebalance_kit.exercises.code_running import (
    LISTENER,
    first_skip,
    listening_case,
    played_back,
    records_twice,
)
from rebalance_kit.exercises.code_task import FULL, CodeTask, Failed, Mark

HEAD = """scenario: lose-nothing
topics:
- {name: orders, partitions: 4, rate_per_s: 10}
members:
"""


def shop(title, protocol, seed, starts, actions, *, orderly, end_s=110):
    """Members that commit nothing by themselves and begin at the end of a log where the group has no offset."""
    people = [
        f"- {{name: {name}, topics: [orders], commit: none, processing_ms: 3, start: {start}ms, "
        "configs: {auto.offset.reset: latest}}"
        for name, start in starts.items()
    ]
    text = HEAD + "\n".join(
        [*people, "actions:", *(f"- {action}" for action in actions), f"end: {end_s}s", ""]
    )
    return listening_case(title, text, seed, protocol, orderly=orderly)


def judge(case, output):
    trace = played_back(case, output)
    if skip := first_skip(trace):
        at_ms, partition, records, member, total = skip
        raise Failed(
            f"{total} records were never read; the first {records} of them in {partition}, which {member} began to read "
            f"at {at_ms / 1000:.1f} s behind them. Where the group has no offset, `auto.offset.reset=latest` begins at the "
            "end: on_assigned can seek, and on_revoked can leave an offset behind that is true.",
            at_ms,
        )
    twice = records_twice(trace)
    if case.facts["orderly"] and twice:
        return Mark(
            0.5,
            f"nothing is lost, but {twice} records were read twice although every member left in good order. "
            "Seek only where `consumer.committed(partition)` is None, and commit the positions in on_revoked.",
        )
    return FULL


TASK = CodeTask(
    title="A listener that loses nothing",
    minutes=30,
    level="medium",
    function="Listener",
    kind=LISTENER,
    public=(
        shop(
            "eager: a third member joins, one leaves",
            "eager",
            1,
            {"a": 0, "b": 0, "c": 33_000},
            ("{at: 60s, do: close, member: b}",),
            orderly=True,
        ),
        shop(
            "cooperative: a third member joins, one leaves",
            "cooperative",
            1,
            {"a": 0, "b": 0, "c": 33_000},
            ("{at: 60s, do: close, member: b}",),
            orderly=True,
        ),
        shop(
            "KIP-848: the topic grows",
            "consumer",
            1,
            {"a": 0, "b": 200},
            ("{at: 30s, do: add_partitions, topic: orders, partitions: 7}",),
            orderly=True,
        ),
        shop(
            "cooperative: a member freezes and comes back",
            "cooperative",
            1,
            {"a": 0, "b": 0, "c": 33_000},
            ("{at: 60s, do: freeze, member: c}", "{at: 130s, do: thaw, member: c}"),
            orderly=False,
            end_s=160,
        ),
    ),
    judge=judge,
)
