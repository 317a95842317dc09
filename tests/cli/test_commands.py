"""The terminal: what each command prints, what it returns, what it leaves behind."""

from __future__ import annotations

import io
import json

import pytest

from rebalance_kit import __version__, scenarios
from rebalance_kit.cli import main
from rebalance_kit.model.trace import read_trace

SMALL = """\
scenario: small
title: A small crash
end: 40s
topics: {orders: 4}
members:
  - {name: c1, topics: [orders], configs: {session.timeout.ms: 10000}}
  - {name: c2, topics: [orders], configs: {session.timeout.ms: 10000}}
actions:
  - {at: 20s, do: crash, member: c1}
"""


def run(*argv):
    """Status and text of a command."""
    out = io.StringIO()
    return main([str(one) for one in argv], out), out.getvalue()


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.yaml"
    path.write_text(SMALL, "utf-8")
    return path


# --- run ---------------------------------------------------------------------------------------------------
def test_a_run_prints_its_title_the_table_and_what_it_says(small):
    status, text = run("run", small)
    assert status == 0 and text.startswith("A small crash\n")
    assert "One run, from second 20.0 on:" in text and "200 draws under each protocol" in text
    (head,) = (line.split() for line in text.splitlines() if line.split()[:1] == ["eager"])
    assert head == ["eager", "cooperative", "consumer"]
    assert "all 4 partitions were unread" in text and "2 of 4 partitions were unread" in text


def test_what_kip_848_makes_of_the_clients_timeouts_stands_under_the_table(small):
    _, text = run("run", small, "--one-run")
    (line,) = (line for line in text.splitlines() if line.startswith("consumer: session.timeout.ms"))
    assert "(10000 ms) is left out" in line and "group.consumer.session.timeout.ms holds: 45000 ms" in line


def test_carried_timeouts_have_a_column_that_is_named_so(small):
    status, text = run("run", small, "--one-run", "--carry-timeouts", "--json")
    told = json.loads(text)
    assert status == 0 and list(told["metrics"])[-1] == "consumer with carried timeouts"
    late, early = (told["metrics"][name]["detect_s"] for name in list(told["metrics"])[-2:])
    assert early < 10 and (late is None or late > 40)
    assert any(
        line.startswith(
            "consumer with carried timeouts: on a broker with group.consumer.session.timeout.ms=10000"
        )
        for line in told["notes"]
    )


def test_carrying_nothing_is_refused(capsys):
    status, text = run("run", "crash", "--carry-timeouts")
    assert (status, text) == (2, "") and "nothing to carry" in capsys.readouterr().err


def test_one_protocol_gives_one_column(small):
    status, text = run("run", small, "--protocol", "cooperative", "--json")
    assert status == 0 and list(json.loads(text)["metrics"]) == ["cooperative"]


def test_json_holds_the_figures_of_the_table_and_no_violation(small):
    status, text = run("run", small, "--json")
    told = json.loads(text)
    assert status == 0 and list(told["metrics"]) == ["eager", "cooperative", "consumer"]
    assert (
        told["metrics"]["eager"]["partitions_unread"] == 4
        and told["metrics"]["consumer"]["partitions_unread"] == 2
    )
    assert told["violations"] == {"eager": [], "cooperative": [], "consumer": []}
    assert told["metrics"]["eager"]["requests_total"] == sum(told["metrics"]["eager"]["requests"].values())


def test_a_seed_decides_the_run_and_the_same_one_gives_it_again(small):
    texts = [run("run", small, "--protocol", "eager", "--seed", seed, "--json")[1] for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_out_holds_a_trace_a_protocol_and_one_report(small, tmp_path):
    folder = tmp_path / "new" / "out"
    status, text = run("run", small, "--out", folder)
    files = sorted(one.name for one in folder.iterdir())
    assert status == 0 and [name for name in files if name.endswith(".jsonl")] == [
        "small.consumer.jsonl",
        "small.cooperative.jsonl",
        "small.eager.jsonl",
    ]
    assert [name for name in files if name.endswith(".html")] == ["small.html"]
    assert [name for name in files if name.startswith(".")] == [".rebalance-kit.json"], "nothing half-written"
    trace = read_trace(folder / "small.eager.jsonl")
    assert trace.label == "eager" and trace.rows[-1].kind == "run_end"
    assert all(name in text for name in files if not name.startswith("."))


def test_a_broken_invariant_is_told_and_is_status_1(small, monkeypatch):
    from rebalance_kit import runs
    from rebalance_kit.analysis.invariants import Violation

    monkeypatch.setattr(runs, "check", lambda trace: (Violation("one_owner", 7, "seen twice"),))
    status, text = run("run", small, "--protocol", "eager")
    assert status == 1 and "BROKEN under eager: one_owner at 7 ms: seen twice" in text


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (("do: crash", "do: crahs"), "did you mean 'crash'?"),
        (("session.timeout.ms: 10000", "session.timeout: 10000"), "session.timeout"),
        (("orders: 4", "orders: 0"), "orders"),
        (("  - {at", "  - [at"), "small.yaml"),
        (("topics: {orders: 4}", "topics: !!python/object:os.system {}"), "small.yaml"),
    ],
)
def test_a_scenario_that_cannot_be_leaves_nothing_and_is_status_2(small, tmp_path, capsys, change, told):
    small.write_text(SMALL.replace(*change), "utf-8")
    status, text = run("run", small, "--out", tmp_path / "out")
    assert (status, text) == (2, "") and told in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (["run", "two-consumer-crash"], "two-consumers-crash"),
        (["run", "nowhere.yaml"], "nowhere.yaml"),
        (["run", "crash", "--protocol", "lazy"], "expected all or one of eager"),
        (["replay", "nowhere"], "no such folder"),
        (["replay", ".", "--draws", "0"], "expected at least 1"),
        (["assign", "nowhere.json"], "nowhere.json"),
        (["explain", "xyzzy"], "xyzzy"),
    ],
)
def test_bad_input_is_named_on_one_line_of_stderr(argv, told, capsys):
    status, text = run(*argv)
    error = capsys.readouterr().err
    assert (
        status == 2
        and text == ""
        and told in error
        and error.startswith("rebalance-kit: ")
        and "Traceback" not in error
    )


@pytest.mark.parametrize("argv", [[], ["juggle"], ["run"], ["run", "crash", "--seed", "x"]])
def test_a_command_line_that_means_nothing_is_status_2_with_usage(argv, capsys):
    with pytest.raises(SystemExit) as stop:
        run(*argv)
    assert stop.value.code == 2 and "usage:" in capsys.readouterr().err


def test_the_version_is_the_packages(capsys):
    with pytest.raises(SystemExit) as stop:
        run("--version")
    assert stop.value.code == 0 and capsys.readouterr().out.strip() == f"rebalance-kit {__version__}"


# --- the others ---------------------------------------------------------------------------------------------
def test_scenarios_lists_all_with_their_titles():
    status, text = run("scenarios")
    assert status == 0 and [line.split()[0] for line in text.splitlines()] == list(scenarios.names())
    told = [json.loads(line) for line in run("scenarios", "--json")[1].splitlines()]
    assert [one["name"] for one in told] == list(scenarios.names()) and all(one["title"] for one in told)


def test_a_scenario_is_printed_as_a_start_for_ones_own(tmp_path, capsys):
    status, text = run("scenarios", "--show", "crash")
    mine = tmp_path / "mine.yaml"
    mine.write_text(text, "utf-8")
    assert status == 0 and scenarios.scenario(mine) == scenarios.load("crash")
    assert run("scenarios", "--show", "crahs") == (2, "") and "crash" in capsys.readouterr().err


@pytest.mark.parametrize("term", ["generation", "session.timeout.ms", "UNKNOWN_MEMBER_ID"])
def test_explain_knows_terms_keys_and_errors(term):
    status, text = run("explain", term)
    assert status == 0 and term.lower() in text.lower() and len(text) > 40


def test_doctor_lists_what_is_there():
    status, text = run("doctor")
    assert status == 0 and "Python" in text and __version__ in text


CASE = {
    "assignor": "client.range",
    "topics": {"orders": 2},
    "members": [{"member_id": "a", "topics": ["orders"]}],
    "expected": {"a": [["orders", 0], ["orders", 1]]},
}


@pytest.mark.parametrize(
    ("expected", "status"), [(CASE["expected"], 0), ({"a": [["orders", 1], ["orders", 0]]}, 1)]
)
def test_assign_says_whether_kafka_answered_the_same(tmp_path, capsys, expected, status):
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([CASE | {"expected": expected}]), "utf-8")
    answered, text = run("assign", path, "--json")
    told = json.loads(text)
    assert answered == status and told["assignment"] == CASE["expected"] and told["equal"] is (status == 0)
    assert "orders" in run("assign", path, "--explain")[1]


def test_items_check_accepts_the_kits_own_items():
    status, text = run("items", "check", "--draws", 2)
    assert status == 0 and "keys asked of draws of the phases" in text


@pytest.mark.parametrize("draws", [0, 1_000_000])
def test_items_check_refuses_draws_that_cannot_be(draws, capsys):
    assert run("items", "check", "--draws", draws)[0] == 2
    assert f"{draws} draws received; expected 2 to 10000" in capsys.readouterr().err


def test_items_check_of_nothing_is_status_2_and_names_it(capsys):
    status, text = run("items", "check", "nowhere")
    assert (status, text) == (2, "")
    assert "nowhere: does not exist" in capsys.readouterr().err


def test_replay_tells_a_line_a_run_and_its_rules(tmp_path):
    from rebalance_kit.recordings.folder import unpack

    unpack(tmp_path, ["enforce.eager.4.3.1"])
    status, text = run("replay", tmp_path, "--draws", "3")
    lines = text.splitlines()
    assert (
        status == 0
        and lines[0].startswith("enforce.eager.4.3.1: equal (")
        and lines[1].startswith("1 of 1 runs equal, 1 of them line by line")
    )
    told = json.loads(run("replay", tmp_path / "enforce.eager.4.3.1", "--draws", "3", "--json")[1])
    assert (
        told["generations_equal"] and told["callbacks_equal"] and told["fencing_equal"] and told["draws"] == 3
    )
    assert told["first_difference"] is None and 1 <= told["draws_equal"] <= 3
