"""Logs as files: one for the broker, one a member, in the layout that was asked for."""

from __future__ import annotations

import pytest

from rebalance_kit import scenarios
from rebalance_kit.logs.lines import default_layout, spring_layout
from rebalance_kit.logs.write import write_logs
from rebalance_kit.model.errors import DataError
from rebalance_kit.simulation.simulate import simulate


@pytest.fixture
def trace():
    return simulate(scenarios.load("two-consumers-crash"), None, "eager")


def test_a_file_is_written_for_the_broker_and_for_every_member(trace, tmp_path):
    files = write_logs(trace, tmp_path / "new" / "logs")
    assert [file.name for file in files] == ["broker.log", *(f"{name}.log" for name in trace.meta["members"])]
    assert all(file.read_text("utf-8").startswith("[2026-01-05 09:00:") for file in files)
    assert sorted(one.name for one in (tmp_path / "new" / "logs").iterdir()) == sorted(
        file.name for file in files
    )


def test_packed_files_hold_the_same_text_and_are_the_same_every_time(trace, tmp_path):
    import gzip

    plain, packed = write_logs(trace, tmp_path / "a"), write_logs(trace, tmp_path / "b", packed=True)
    assert [gzip.decompress(file.read_bytes()) for file in packed] == [file.read_bytes() for file in plain]
    again = write_logs(trace, tmp_path / "c", packed=True)
    assert [file.read_bytes() for file in packed] == [file.read_bytes() for file in again]


def test_members_may_print_spring_boots_layout_and_the_broker_prints_its_own(trace, tmp_path):
    broker, *members = write_logs(trace, tmp_path, layout="spring")
    assert broker.read_text("utf-8").startswith("[2026-01-05 09:00:")
    assert all(file.read_text("utf-8").startswith("2026-01-05T09:00:") for file in members)


def test_lines_are_in_order_of_time(trace, tmp_path):
    for file in write_logs(trace, tmp_path):
        stamps = [line[1:24] for line in file.read_text("utf-8").splitlines() if line.startswith("[2026")]
        assert stamps == sorted(stamps) and len(stamps) > 5


def test_an_unknown_layout_leaves_nothing(trace, tmp_path):
    with pytest.raises(DataError, match="layout 'logfmt' is unknown; expected one of kafka"):
        write_logs(trace, tmp_path / "logs", layout="logfmt")
    assert not (tmp_path / "logs").exists()


@pytest.mark.parametrize(
    ("logger", "shown"),
    [
        ("a.B", "a.B                                     "),
        (
            "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator",
            "o.a.k.c.c.i.ConsumerCoordinator         ",
        ),
        (
            "org.apache.kafka.clients.consumer.internals.ConsumerRebalanceListenerInvoker",
            "k.c.c.i.ConsumerRebalanceListenerInvoker",
        ),
    ],
)
def test_a_logger_is_shortened_to_forty_columns(logger, shown):
    from rebalance_kit.logs.lines import LogLine

    text = spring_layout(LogLine(61_005, "WARN", logger, "hello"))
    column = text.partition("] ")[2].partition(" : ")[0]
    assert (
        text.startswith("2026-01-05T09:01:01.005Z   WARN 1 --- [")
        and text.endswith(" : hello")
        and len(column) == 40
    )
    assert (
        column == shown
        and default_layout(LogLine(61_005, "WARN", logger, "x"))
        == f"[2026-01-05 09:01:01,005] WARN x ({logger})"
    )


def test_a_rebalance_that_a_failover_forgets_leaves_no_line_about_an_empty_group():
    from rebalance_kit.logs.broker import broker_lines
    from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario, TopicSpec

    actions = (Action(5_000, "coordinator_failover", None, {"for_ms": 200}), Action(5_001, "close", "c1"))
    scenario = Scenario(
        "run",
        (TopicSpec("orders", 1),),
        (MemberSpec("c1", ("orders",), start_ms=4_000),),
        actions,
        20_000,
        seed=2,
    )
    trace = simulate(scenario)
    assert [row.detail["to"] for row in trace.of("group_state")] == ["PreparingRebalance", "Empty"]
    assert not [line for line in broker_lines(trace) if "is now empty" in line.message]
