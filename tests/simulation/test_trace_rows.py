"""Every row of every trace is written as the schema says."""

from dataclasses import replace
from pathlib import Path

import pytest

from rebalance_kit import scenarios
from rebalance_kit.analysis.scenario_space import Space, draw
from rebalance_kit.model.errors import DataError, RebalanceKitError
from rebalance_kit.model.schema_kind import parse_type
from rebalance_kit.model.schema_rows import ACTIONS, SCHEMA, TRIGGER
from rebalance_kit.model.schema_text import page, problems
from rebalance_kit.model.trace import KINDS
from rebalance_kit.protocol.messages import Trigger
from rebalance_kit.simulation.scenario.actions import ARGUMENTS
from rebalance_kit.simulation.simulate import simulate
from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "trace.md"
OF_NO_PROTOCOL = {
    "action",
    "account",
    "topic_changed",
    "coordinator_up",
    "coordinator_down",
    "leader_changed",
    "run_end",
}
EXPANDED = {"rolling_restart", "scale_to"}
"""Actions that no row names: their parts are written."""


@pytest.fixture(scope="module")
def crash():
    return simulate(scenarios.load("crash"), protocol="eager")


@pytest.mark.parametrize("name", [name for name in scenarios.names() if name != "fifty-by-five-hundred"])
def test_every_scenario_writes_its_rows_as_the_schema_says(name):
    for protocol in (None, "eager", "cooperative", "consumer"):
        try:
            trace = simulate(scenarios.load(name), protocol=protocol)
        except RebalanceKitError:  # its members fix another protocol
            continue
        assert list(problems(trace)) == [], (name, protocol)


@pytest.mark.parametrize("seed", range(4))
def test_whatever_is_done_rows_are_written_as_the_schema_says(seed):
    for number in range(20):
        assert list(problems(simulate(draw(Space(), seed, number)))) == [], (seed, number)


def changed(trace, kind_of_row, **fields):
    """The trace with the first row of that kind changed; keys given as ``detail`` replace those of its detail."""
    place = next(place for place, row in enumerate(trace.rows) if row.kind == kind_of_row)
    row = trace.rows[place]
    if "detail" in fields:
        detail = {**row.detail, **fields["detail"]}
        fields["detail"] = {name: value for name, value in detail.items() if value is not ...}
    return replace(trace, rows=(*trace.rows[:place], row._replace(**fields), *trace.rows[place + 1 :]))


@pytest.mark.parametrize(
    ("kind", "fields", "problem"),
    [
        (
            "owned",
            {"detail": {"partitions": ["orders"]}},
            r"partitions is \['orders'\], expected \[partition\]",
        ),
        ("owned", {"detail": {"partitions": ...}}, r"partitions is missing, expected \[partition\]"),
        ("owned", {"detail": {"lanes": 2}}, "lanes not in the schema, expected partitions"),
        ("process_ended", {"detail": {"how": "shot"}}, r"how is 'shot', expected crash\|closed\|died"),
        ("process_ended", {"detail": {"life": True}}, "life is True, expected int"),
        ("request", {"detail": {"api": "Fetch"}}, "api 'Fetch', expected one of JoinGroup, SyncGroup"),
        ("request", {"detail": {"epoch": 3}}, "epoch not in the schema"),
        ("run_end", {"protocol": "classic"}, r"protocol 'classic', expected one of \(None,\)"),
        ("owned", {"protocol": None}, "protocol None, expected one of"),
        ("owned", {"topic": "orders"}, "topic 'orders', expected None"),
        ("fetch_stopped", {"partition": None}, "partition None, expected one"),
        ("owned", {"kind": "has"}, "no kind of row, expected one of action"),
        ("owned", {"seq": 7_000}, "seq 7000, expected"),
    ],
)
def test_a_row_that_differs_from_the_schema_is_named(crash, kind, fields, problem):
    found = list(problems(changed(crash, kind, **fields)))
    assert len(found) == 1
    with pytest.raises(AssertionError, match=problem):
        raise AssertionError(found[0])


@pytest.mark.parametrize("name", ["crash", "coordinator-failover", "broker-bounce-racks"])
def test_rows_of_the_cluster_and_of_the_run_belong_to_no_protocol_and_all_others_to_one(name):
    assert {kind for kind, one in SCHEMA.items() if not one.protocol} == OF_NO_PROTOCOL
    for row in simulate(scenarios.load(name), protocol="consumer").rows:
        assert row.protocol == (None if row.kind in OF_NO_PROTOCOL else "consumer"), row


def test_asking_such_a_row_for_its_protocol_names_the_row(crash):
    with pytest.raises(
        DataError, match=r"\(run_end at \d+ ms\) has no protocol, expected classic or consumer"
    ):
        crash.rows[-1].speaks()


def test_the_schema_knows_every_argument_of_every_action():
    assert {name: set(keys) for name, keys in ACTIONS.items()} == {
        name: set(arguments) for name, arguments in ARGUMENTS.items() if name not in EXPANDED
    }


def test_the_schema_knows_every_trigger():
    assert set(TRIGGER.type.words) == {"", *Trigger}


def test_kinds_name_the_keys_but_those_that_only_logs_read():
    assert KINDS["redelivered"] == "records of this partition were delivered again: count, first_offset"
    assert "subscribed" not in KINDS["epoch_bump"] and "members" in KINDS["generation"]


def test_what_is_no_type_is_refused():
    with pytest.raises(ValueError, match=r"'list of int' is no type; expected one of text, int"):
        parse_type("list of int")


@pytest.mark.golden
def test_the_page_about_the_trace_is_current(request):
    if request.config.getoption("--update-golden"):
        Path(PAGE).write_text(page(), "utf-8")
    assert PAGE.read_text("utf-8") == page(), "make golden writes docs/trace.md"
