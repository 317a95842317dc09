"""A learner's folder, the terminal's commands and the widget, up to where Spark begins."""

from __future__ import annotations

import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rebalance_kit.cli import main
from rebalance_kit.exercises.case_runs import trace_of
from rebalance_kit.exercises.spark_bench import SparkBench
from rebalance_kit.exercises.task import load
from rebalance_kit.exercises.workspace import Identity, Workspace, all_names
from rebalance_kit.model.errors import DataError
from rebalance_kit.simulation.permalink import read_link

BROKEN = """from pyspark.sql import functions as F


def counted_in_buckets(requests):
    number = F.col("api").cast("bigint")
    return requests.select("run", "api", number.alias("requests"), number.alias("largest_bucket"))
"""


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path / "mine", Identity("ada", "spring"))


def run(*arguments):
    out = io.StringIO()
    return main(list(arguments), out), out.getvalue()


def test_start_gives_story_stub_expected_output_and_logs(workspace):
    workspace.start("03")
    folder = workspace.folder / "03-count-rebalances"
    assert sorted(path.name for path in folder.iterdir()) == [
        "README.md",
        "answer.py",
        "data",
        "expected.txt",
        "workspace.json",
    ]
    assert "Preparing to rebalance" in (folder / "data" / "night-1" / "broker.log").read_text("utf-8")


def test_of_two_that_place_one_run_at_once_the_first_does(workspace, monkeypatch):
    folder = workspace.folder / "03-count-rebalances" / "data"
    whole = Path.rename

    def late(draft, target):
        if not target.exists():  # another process places the same run in this very moment
            shutil.copytree(draft, target)
        return whole(draft, target)

    monkeypatch.setattr(Path, "rename", late)
    workspace.start("03")
    assert sorted(path.name for path in folder.iterdir()) == ["night-1", "night-2", "night-3", "night-4"]


def test_no_solution_and_no_hidden_case_is_copied(workspace):
    workspace.start("16")
    files = {path.name for path in (workspace.folder / "16-incident-who").rglob("*")}
    assert not files & {"solution.py", "hidden.py", "task.py", "truth.jsonl"}


def test_start_keeps_an_answer_that_is_there(workspace):
    workspace.start("03")
    answer = workspace.folder / "03-count-rebalances" / "answer.py"
    answer.write_text("mine = 1\n", "utf-8")
    assert "your answer was kept" in workspace.start("03")
    assert answer.read_text("utf-8") == "mine = 1\n"


def test_hints_come_one_after_the_other_and_the_last_one_stays(workspace):
    workspace.start("08")
    assert [workspace.hint("08")[:11] for _ in range(4)] == [
        "Hint 1 of 3",
        "Hint 2 of 3",
        "Hint 3 of 3",
        "Hint 3 of 3",
    ]
    assert workspace.hint("08", 1).startswith("Hint 1 of 3")


def test_hints_go_on_where_nothing_was_begun(workspace):
    assert [workspace.hint("08")[:6] for _ in range(3)] == ["Hint 1", "Hint 2", "Hint 3"]
    assert not workspace.folder.exists()


def test_a_hint_that_does_not_exist_is_refused(workspace):
    with pytest.raises(DataError, match="hint 7 of 08-storms; expected a number from 1 to 3"):
        workspace.hint("08", 7)


def test_what_is_no_answer_yet_is_told_before_spark_starts(workspace, monkeypatch):
    monkeypatch.setattr(SparkBench, "spark", property(lambda self: pytest.fail("Spark was started")))
    answer = workspace.answer_file(load("03"))
    assert "there is no answer.py" in str(workspace.check("03", SparkBench()))
    workspace.start("03")
    assert "not written yet" in str(workspace.check("03", SparkBench()))
    for text, words in (
        (b"def f(:\n", "line 1: Python"),
        (b"\xff", "no text in UTF-8"),
        (b"", "no function"),
    ):
        answer.write_bytes(text)
        assert words in str(workspace.check("03", SparkBench()))


def test_whose_exercise_it_is_stays_with_the_folder(workspace):
    workspace.start("16")
    notes = json.loads((workspace.folder / "16-incident-who" / "workspace.json").read_text("utf-8"))
    assert (notes["learner"], notes["course"]) == ("ada", "spring")
    assert Workspace(workspace.folder).identity(load("16")) == Identity("ada", "spring")


def test_two_learners_have_two_incidents_and_each_has_the_same_one_again():
    seeds = {name: Identity(name, "spring").seed("16-incident-who") for name in ("ada", "bob")}
    drawn = {name: load("16").hidden(seed)[0].runs for name, seed in seeds.items()}
    assert drawn["ada"] != drawn["bob"]
    assert drawn["ada"] == load("16").hidden(Identity("ada", "spring").seed("16-incident-who"))[0].runs
    assert Identity("ada", "autumn").seed("16-incident-who") != seeds["ada"]


def test_the_words_of_a_drawn_run_do_not_tell_what_was_drawn():
    for run_ in load("16").hidden(5)[0].runs:
        assert run_.name.startswith("night-")
        assert trace_of(run_).rows


def test_the_list_names_every_exercise_with_its_minutes(tmp_path):
    status, text = run("exercise", "list", "--folder", str(tmp_path))
    assert status == 0
    assert [line.split()[0] for line in text.splitlines()] == list(all_names())
    assert all(" min " in line for line in text.splitlines())


def test_the_terminal_starts_hints_and_shows_the_solution_once_it_has_asked(tmp_path, monkeypatch):
    folder = ("--folder", str(tmp_path / "mine"))
    assert run("exercise", "start", "storms", *folder)[0] == 0
    assert run("exercise", "hint", "08", *folder)[1].startswith("Hint 1 of 3")
    assert run("exercise", "hint", "08", *folder)[1].startswith("Hint 2 of 3")
    monkeypatch.setattr("sys.stdin", io.StringIO("no\n"))
    assert run("exercise", "solution", "08", *folder)[0] == 1
    monkeypatch.setattr("sys.stdin", io.StringIO("yes\n"))
    assert "session_window" in run("exercise", "solution", "08", *folder)[1]
    monkeypatch.setattr("sys.stdin", io.StringIO(""))  # asked once, and noted
    assert "session_window" in run("exercise", "solution", "08", *folder)[1]
    assert json.loads((tmp_path / "mine" / "08-storms" / "workspace.json").read_text())["solution"] is True
    assert "(begun)" in run("exercise", "list", *folder)[1].splitlines()[7]


def test_a_name_that_does_not_exist_or_fits_several_is_refused_with_those_there_are(capsys):
    assert main(["exercise", "hint", "nosuch"], io.StringIO()) == 2
    assert "03-count-rebalances" in capsys.readouterr().err
    with pytest.raises(DataError, match="several exercises"):
        load("incident")
    assert load("3").name == "03-count-rebalances"


def test_a_folder_that_is_a_file_and_a_limit_that_is_none_are_refused(tmp_path, capsys):
    (tmp_path / "file").touch()
    assert main(["exercise", "start", "03", "--folder", str(tmp_path / "file")], io.StringIO()) == 2
    assert "expected a folder of your own" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["exercise", "check", "03", "--limit", "-3"], io.StringIO())
    assert "expected seconds, more than 0" in capsys.readouterr().err


@pytest.mark.spark
def test_a_check_in_a_terminal_prints_its_verdict_and_nothing_of_java(tmp_path):
    folder = ("--folder", str(tmp_path / "mine"))
    run("exercise", "start", "13", *folder)
    answer = tmp_path / "mine" / "13-skew" / "answer.py"
    answer.write_text(BROKEN, "utf-8")
    command = [sys.executable, "-m", "rebalance_kit.cli", "exercise", "check", "13", *folder]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=150)
    assert (done.returncode, done.stderr) == (1, "")
    assert "line 5: " in done.stdout
    assert "CAST_INVALID_INPUT" in done.stdout


@pytest.mark.spark
def test_the_terminal_checks_the_file_in_the_folder(bench, tmp_path, monkeypatch):
    monkeypatch.setattr("rebalance_kit.exercises.spark_bench.SparkBench", lambda: bench)
    monkeypatch.setattr(bench, "close", lambda: None)
    folder = ("--folder", str(tmp_path / "mine"))
    run("exercise", "start", "08", *folder)
    status, text = run("exercise", "check", "08", *folder)
    assert status == 1
    assert "public checks 0/6 passed" in text
    (tmp_path / "mine" / "08-storms" / "answer.py").write_text(load("08").text("solution.py"), "utf-8")
    status, text = run("exercise", "check", "08", *folder, "--public")
    assert status == 0
    assert text.endswith("08-storms: public checks 6/6 passed\n")
    assert "all tests passed" not in text


@pytest.mark.spark
def test_the_widget_does_what_the_terminal_does(bench, tmp_path, monkeypatch):
    monkeypatch.setattr("rebalance_kit.view.exercises.shared_bench", lambda: bench)
    from rebalance_kit.view import Exercise

    shown = Exercise("08", folder=tmp_path / "mine", identity=Identity("ada"))
    assert shown.story.startswith("### 08 · Storms\n")
    start, check, hint, solution = shown.children[1].children
    start.click()
    assert (tmp_path / "mine" / "08-storms" / "answer.py").exists()
    hint.click()
    assert "Hint 1 of 3" in repr(shown)
    check.click()
    assert "not written yet" in shown.children[2].value
    solution.click()
    assert "session_window" in repr(shown)
    names_ = {}
    exec(load("08").text("solution.py"), names_)  # noqa: S102
    assert shown.check(names_["storms"], hidden=False).green
    assert "public checks 6/6 passed" in repr(shown)
    assert shown.data()[0].columns[0] == "run"


def test_a_code_exercise_has_a_widget_whose_failing_cases_open_in_the_lab(tmp_path):
    from rebalance_kit.view.exercises import Exercise
    from rebalance_kit.view.lab.widget import Lab

    widget = Exercise("c1", folder=tmp_path, identity=Identity("ada", "spring"))
    assert "function assign" in repr(widget)

    def assign(*arguments):
        return {}

    report = widget.check(assign)
    assert not report.green
    buttons, place = widget.children[-1].children
    assert [button.description for button in buttons.children] == [
        f"Open in the lab: {line.title}" for line in report.public
    ]
    buttons.children[0].click()
    (lab,) = place.children
    assert isinstance(lab, Lab)
    assert read_link(lab.link).scenario == read_link(report.public[0].link).scenario
    with pytest.raises(DataError, match="c1-write-range has no DataFrames"):
        widget.data()
    with pytest.raises(DataError, match="c1-write-range has no DataFrames"):
        _ = widget.expected
