"""A group's history costs as much per rebalance in a long log as in a short one: counted in Python's own steps."""

from __future__ import annotations

import sys

from rebalance_kit.forensics.group_tables import group_tables
from rebalance_kit.forensics.lines.file_reader import FileReader
from rebalance_kit.forensics.lines.layouts import Reading
from tests.support.pipeline.kafka_lines import GROUP, adding, broker, preparing, received, stabilized


def a_round(number: int, every_s: int) -> str:
    """A rebalance for a member with a new id and an old name."""
    begun_s, member = every_s * number, f"c{number % 3}-{number:08x}-0000-0000-0000-000000000000"
    given = f"Dynamic member with unknown member id joins group {GROUP} in Stable state. "
    given += f"Created a new member id {member} and requesting the member to rejoin with this id."
    return (
        broker(begun_s, given)
        + preparing(begun_s, number, adding(member))
        + stabilized(begun_s + 1, number + 1)
        + received(begun_s + 1, number + 1)
    )


def steps(rebalances: int, every_s: int) -> int:
    """Calls and returns of functions while the history of so many rebalances is told."""
    text = "".join(a_round(number, every_s) for number in range(rebalances))
    events = FileReader(Reading()).read("run", "broker.log", [text.encode()]).events
    counted = 0

    def count(*_: object) -> None:
        nonlocal counted
        counted += 1

    sys.setprofile(count)
    try:
        told = group_tables(GROUP, events, alone=True)
    finally:
        sys.setprofile(None)
    assert len(told.rebalances) == rebalances
    return counted


def test_twice_as_many_rebalances_cost_twice_as_much_far_apart_or_in_one_storm() -> None:
    for every_s in (90, 5):
        assert steps(1_600, every_s) < 2.1 * steps(800, every_s)
