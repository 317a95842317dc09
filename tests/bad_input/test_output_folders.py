"""Folders given as ``--out``: what the kit did not write stays where it is, and no name leads out of them."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from rebalance_kit.cli.lab import JUPYTERLAB
from rebalance_kit.forensics.tables import TABLES
from rebalance_kit.model.files import draft_folder
from rebalance_kit.pipeline.spark import session
from tests.support.bad_input.command import assert_refused, ended
from tests.support.pipeline.kafka_lines import member

LOG = (
    "[2026-11-21 02:15:18,894] INFO [GroupCoordinator 1]: Dynamic member with unknown member id joins group "
    f"orders-app in Empty state. Created a new member id {member('c1')} and request the member to rejoin with "
    "this id. (kafka.coordinator.group.GroupCoordinator)\n"
)
WORK = "mine\n"
SMALL = "topics: {orders: 2}\nmembers: [{name: c1, topics: [orders]}]\nend: 5s\n"

FOREIGN = [
    *(f"{table}/mywork.txt" for table in TABLES),
    "events",
    "events/part-0.parquet",
    "members/deep/er/x",
    "report.html",
]
NAMES = {
    "absolute": "/var/escaped",
    "up": "../../escaped",
    "slash": "a/b",
    "backslash": "a\\\\b",
    "dots": "..",
    "hidden": ".bashrc",
    "nul": "a\\0b",
    "newline": "a\\nb",
    "escape": "a\\e[31mb",
    "carriage return": "a\\rb",
    "override": "a\\u202eb",
    "long": "a" * 300,
    "long in bytes": "é" * 51,
}


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "broker.log"
    path.write_text(LOG, "utf-8")
    return path


@pytest.mark.parametrize("name", FOREIGN)
def test_logs_refuse_a_folder_that_holds_work_of_others(name, log, tmp_path):
    work = tmp_path / "D" / name
    work.parent.mkdir(parents=True)
    work.write_text(WORK, "utf-8")
    assert_refused(ended("logs", log, "--out", tmp_path / "D"), str(work))
    assert work.read_text("utf-8") == WORK


def test_logs_replace_what_they_wrote_and_leave_the_rest(log, tmp_path):
    folder = tmp_path / "D"
    folder.mkdir()
    (folder / "notes.txt").write_text(WORK, "utf-8")
    for _ in range(2):
        assert ended("logs", log, "--out", folder).status == 0
    assert (folder / "notes.txt").read_text("utf-8") == WORK
    assert {path.name for path in folder.iterdir()} == {
        *TABLES,
        "report.html",
        "notes.txt",
        ".rebalance-kit.json",
    }


@pytest.mark.parametrize("name", ["events/mywork.txt", "report.html", "lines/part-0.parquet", "members/link"])
def test_logs_refuse_what_changed_since_they_wrote_it(name, log, tmp_path):
    folder = tmp_path / "D"
    assert ended("logs", log, "--out", folder).status == 0
    (folder / name).unlink(missing_ok=True)
    if name.endswith("link"):
        (folder / name).symlink_to(log)
    else:
        (folder / name).write_text(WORK, "utf-8")
    assert_refused(ended("logs", log, "--out", folder), name)
    assert (folder / name).exists()


@pytest.mark.parametrize(
    "text", ["", "[", "[1]", '{"written": 5}', '{"written": {"events": 5}}', "[" * 100_000]
)
def test_a_damaged_manifest_makes_nothing_the_kits(text, log, tmp_path):
    folder = tmp_path / "D"
    assert ended("logs", log, "--out", folder).status == 0
    (folder / ".rebalance-kit.json").write_text(text, "utf-8")
    assert_refused(ended("logs", log, "--out", folder), "was not written by the kit")
    assert (folder / "events").is_dir()


@pytest.mark.parametrize("place", ["runs", "rebalances", "sweep.html"])
def test_sweep_refuses_before_spark_starts(place, tmp_path):
    (tmp_path / place).write_text(WORK, "utf-8")
    assert_refused(ended("sweep", "--scenario", "crash", "--seeds", "1", "--out", tmp_path), place)
    assert (tmp_path / place).read_text("utf-8") == WORK


@pytest.mark.parametrize("place", ["events", "rebalances", "report.html"])
def test_watch_refuses_before_spark_starts(place, log, tmp_path):
    (tmp_path / "D").mkdir()
    (tmp_path / "D" / place).write_text(WORK, "utf-8")
    assert_refused(ended("watch", log.parent, "--once", "--out", tmp_path / "D"), place)
    assert (tmp_path / "D" / place).read_text("utf-8") == WORK


@pytest.mark.parametrize("place", ["crash.eager.jsonl", "crash.html", "crash.consumer.jsonl"])
def test_run_refuses_to_replace_what_it_did_not_write_and_replaces_its_own(place, tmp_path):
    folder = tmp_path / "D"
    for _ in range(2):
        assert ended("run", "crash", "--one-run", "--out", folder).status == 0
    written = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert len(written) == 5
    (folder / place).write_text(WORK, "utf-8")
    assert_refused(ended("run", "crash", "--one-run", "--out", folder), place, "was changed")
    assert {**written, place: WORK.encode()} == {path.name: path.read_bytes() for path in folder.iterdir()}


def test_what_killed_processes_left_is_removed_and_what_lives_stays(tmp_path):
    gone = subprocess.run(
        [sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, text=True, check=True
    )
    for name in (f".draft-{gone.stdout.strip()}", f".draft-{os.getppid()}", ".draft-mine"):
        (tmp_path / name).mkdir()
    with draft_folder(tmp_path) as draft:
        assert draft.is_dir()
    assert {path.name for path in tmp_path.iterdir()} == {f".draft-{os.getppid()}", ".draft-mine"}


@pytest.mark.parametrize("place", [".", "/", "logs/../.."])
def test_make_logs_wants_a_name_for_its_folder(place, tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "logs").mkdir()
    monkeypatch.chdir(tmp_path / "a")
    assert_refused(ended("make-logs", "crash", "--out", place), "expected")


def test_make_logs_replaces_no_truth(tmp_path):
    (tmp_path / "d.truth.jsonl").write_text(WORK, "utf-8")
    assert_refused(ended("make-logs", "crash", "--out", tmp_path / "d"), "d.truth.jsonl is there already")
    assert [path.name for path in tmp_path.iterdir()] == ["d.truth.jsonl"]


@pytest.mark.parametrize("key", ["scenario", "label"])
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_name_that_leads_out_of_the_folder_is_refused(name, key, tmp_path):
    path = tmp_path / "in" / "s.yaml"
    path.parent.mkdir()
    path.write_text(f'title: x\n{key}: "{name}"\n{SMALL}', "utf-8")
    assert_refused(ended("run", path, "--out", tmp_path / "a" / "b" / "out"), "s.yaml:2:", key, "expected")
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_a_pyspark_of_the_current_folder_is_not_run_by_a_worker(tmp_path, monkeypatch):
    pytest.importorskip("pyspark", reason="pyspark is not installed: its workers are left out")
    monkeypatch.setattr(session, "find_java", lambda: SimpleNamespace(home=tmp_path))
    monkeypatch.setattr(os, "environ", dict(os.environ))
    session.prepare_environment(quick_start=False)
    (tmp_path / "pyspark").mkdir()
    (tmp_path / "pyspark" / "__init__.py").write_text("print('run from here')\n", "utf-8")
    worker = [sys.executable, "-m", "pyspark.daemon"]
    answer = subprocess.run(
        worker,
        cwd=tmp_path,
        env=os.environ,
        capture_output=True,
        timeout=120,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert b"run from here" not in answer.stdout + answer.stderr


def test_a_file_is_no_recorded_run(tmp_path):
    (tmp_path / "base.yaml").write_text("", "utf-8")
    assert_refused(ended("replay", tmp_path / "base.yaml"), "is no folder", "expected a recorded run")


def test_a_jupyterlab_of_the_current_folder_is_not_run(tmp_path):
    for name in ("jupyterlab", "json"):
        (tmp_path / name).mkdir()
        for file in ("__init__", "__main__"):
            (tmp_path / name / f"{file}.py").write_text("print('run from here')\n", "utf-8")
    command = [*JUPYTERLAB, "--version"]
    assert command[0] == sys.executable
    answer = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True)
    assert "run from here" not in answer.stdout + answer.stderr
