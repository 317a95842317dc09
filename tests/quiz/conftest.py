"""Small items and a hand-made trace, so that these tests fail for their own reasons only."""

from __future__ import annotations

import pytest

from rebalance_kit.model.trace import Trace, TraceRow
from rebalance_kit.quiz.items.bank import Bank, read_bank
from rebalance_kit.quiz.items.item import Choice, Head, Numeric, Option, WrongNumber
from rebalance_kit.quiz.proof.run_book import RunBook

HEAD = Head(
    "sample",
    ("t",),
    ("A3",),
    "an objective of some length",
    ("CCDAK Fundamentals",),
    "2.4+",
    "apply",
    "A stem?",
    None,
    ("KIP-429",),
    options_note="three options keep the tests short",
)
WHY = "Because the rule says so and no other."


@pytest.fixture(autouse=True)
def own_answers(tmp_path, monkeypatch):
    """No test writes to the answers of whoever runs it."""
    monkeypatch.setenv("REBALANCE_KIT_ATTEMPTS", str(tmp_path / "attempts.sqlite"))


@pytest.fixture
def single() -> Choice:
    return Choice(
        HEAD,
        (
            Option("a", "two", f"{WHY} Two do not.", misconception="cooperative-is-default"),
            Option("b", "four", f"{WHY} Four do.", right=True),
            Option("c", "none", f"{WHY} Some do.", misconception="crash-is-noticed-at-once"),
        ),
    )


@pytest.fixture
def multiple() -> Choice:
    return Choice(
        HEAD,
        tuple(
            Option(letter, letter * 2, f"{WHY} This is {letter}.", right=letter in "ac") for letter in "abcd"
        ),
        many=True,
    )


@pytest.fixture
def numeric() -> Numeric:
    return Numeric(
        HEAD,
        4.5,
        "s",
        WHY,
        (
            WrongNumber(10, "session-default-10s", f"{WHY} Ten."),
            WrongNumber(0, "kip848-is-instant", f"{WHY} Zero."),
        ),
        tolerance=0.5,
    )


@pytest.fixture
def trace() -> Trace:
    rows: list[TraceRow] = []

    def row(at_ms, actor, kind, generation=None, member_id=None, tp=(None, None), **detail):
        rows.append(TraceRow(at_ms, len(rows), actor, kind, "classic", generation, member_id, *tp, detail))

    for number in (0, 1):
        row(10, "c1", "fetch_resumed", 1, "c1-id", ("orders", number))
        row(10, "c2", "fetch_resumed", 1, "c2-id", ("orders", number + 2))
    row(11, "c1", "owned", 1, "c1-id", partitions=["orders-0", "orders-1"])
    row(12, "c2", "owned", 1, "c2-id", partitions=["orders-2", "orders-3"])
    row(1000, "c1", "action", do="crash")
    for number in (0, 1):
        row(1000, "c1", "fetch_stopped", 1, "c1-id", ("orders", number), reason="crash")
    row(1000, "c1", "process_ended", how="crash")
    row(5000, "coordinator", "member_removed", 1, name="c1", how="session", reason="expired")
    row(
        5000,
        "coordinator",
        "group_state",
        1,
        **{
            "from": "Stable",
            "to": "PreparingRebalance",
            "reason": "removing member c1-id on heartbeat expiration.",
        },
    )
    row(6000, "c2", "callback_begin", 1, "c2-id", callback="revoked", partitions=["orders-3", "orders-2"])
    row(6000, "c2", "fetch_stopped", 1, "c2-id", ("orders", 2), reason="revoke")
    row(6000, "c2", "fetch_stopped", 1, "c2-id", ("orders", 3), reason="revoke")
    row(6100, "coordinator", "generation", 2, leader="c2-id", assignor="range", members={"c2-id": "c2"})
    row(6200, "c2", "owned", 2, "c2-id", partitions=["orders-0", "orders-1", "orders-2", "orders-3"])
    for number in range(4):
        row(6300, "c2", "fetch_resumed", 2, "c2-id", ("orders", number))
    row(6300, "c2", "redelivered", 2, "c2-id", ("orders", 0), count=7, first_offset=3)
    return Trace("run", "eager", 1, 9000, tuple(rows), meta={"members": ["c1", "c2"]})


@pytest.fixture(scope="session")
def bank() -> Bank:
    return read_bank()


@pytest.fixture(scope="session")
def book() -> RunBook:
    """One book of runs for all tests: each run is simulated once."""
    return RunBook()
