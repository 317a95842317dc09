"""Runs that tests of pictures look at."""

from __future__ import annotations

import pytest

from rebalance_kit.simulation.scenario.scenario import MemberSpec, Scenario, TopicSpec
from rebalance_kit.simulation.simulate import simulate
from rebalance_kit.view.board.boards import Boards
from tests.support.view.handmade_boards import crash_trace

PROTOCOLS = ("eager", "cooperative", "consumer")


@pytest.fixture(scope="session")
def by_hand() -> Boards:
    """Two consumers, four partitions, consumer-1 crashes at 10 s; every row is written by hand."""
    return Boards(crash_trace())


def group(members: int, partitions: int, end_ms: int = 40_000) -> Scenario:
    """So many members that share so many partitions, and nothing that happens."""
    named = tuple(MemberSpec(f"consumer-{number}", ("orders",)) for number in range(1, members + 1))
    return Scenario(f"{members}-by-{partitions}", (TopicSpec("orders", partitions),), named, end_ms=end_ms)


@pytest.fixture(scope="session")
def make_group():
    """``group`` as a fixture."""
    return group


@pytest.fixture(scope="session", params=PROTOCOLS)
def crash_run(request):
    """The run of the first page of the course, simulated, once a protocol."""
    from rebalance_kit.scenarios import load

    return simulate(load("two-consumers-crash"), protocol=request.param)


@pytest.fixture(scope="session")
def crash_runs():
    """The same run under all three protocols."""
    from rebalance_kit.scenarios import load

    return [simulate(load("two-consumers-crash"), protocol=name) for name in PROTOCOLS]
