"""Hostile answers behind each wall that this machine has: nothing outside is read or changed, and nothing goes on afterwards."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest

import rebalance_kit
from rebalance_kit.exercises.code_task import check_code, home, load
from rebalance_kit.exercises.runner import FromFile
from rebalance_kit.exercises.wall import kinds, paths
from rebalance_kit.exercises.wall.begin import ask
from rebalance_kit.model.errors import EnvironmentProblem
from tests.support.exercises.attacks import ATTACKS, KNOWN, OUTLIVE, REACH, READ, RISE, WRITE, source
from tests.support.paths import ROOT

SECRET = "TOPSECRET-4711"
NEED = kinds.Need("rebalance_kit.exercises.child.plug_in", paths.ASSIGNOR, limits={"RLIMIT_NPROC": 64})
MEMBER = {"member_id": "a", "topics": ["orders"], "instance_id": None, "owned": [], "generation": -1}
WALLS = [
    pytest.param(
        kind,
        marks=()
        if kinds.works(kind)
        else (pytest.mark.skip(f"no {kind} here"), pytest.mark.may_skip(f"this machine has no {kind}")),
    )
    for kind in kinds.KINDS
    if kind != kinds.NONE
]
EVERY_WALL = pytest.mark.parametrize("kind", WALLS)


def answered(kind, text, monkeypatch, limit_s=60.0):
    monkeypatch.setenv(kinds.VARIABLE, kind)
    order = {
        "text": text, "pickled": None, "file": "answer.py", "function": "assign", "how": "assignor",
        "cases": [{"calls": [{"partitions": {"orders": 1}, "members": [MEMBER]}]}],
        "limit_s": limit_s, "cpu_s": 90, "memory": 4 << 30, "file_size": 64 << 20,
    }  # fmt: skip
    return ask(NEED, order, limit_s)


def contents(folder):
    return {
        str(path.relative_to(folder)): (path.read_bytes(), path.stat().st_mode, path.stat().st_mtime)
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def outside(tmp_path):
    """A home, a course, a process and a server that are none of an answer's business; everybody may read and write the files."""
    tree = tmp_path / "outside"
    for name, text in {
        "home/.ssh/id_test": SECRET, "home/.bashrc": "# mine", "home/notes.sqlite": "", "course/gradebook.csv": SECRET,
        "course/submissions/ada/1/answer.py": SECRET, "course/submissions/zed/1/answer.py": SECRET, "course/marks.json": "{}",
    }.items():  # fmt: skip
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text, "utf-8")
        (tree / name).chmod(0o666)
    for folder in [tmp_path, *(path for path in tmp_path.rglob("*") if path.is_dir())]:
        folder.chmod(0o777)
    victim = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    name = f"rk-{uuid.uuid4().hex}"
    here = Path.cwd()
    os.chdir(tree)  # the path of a socket has to be short
    try:
        with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as bound:
            bound.bind("listening")
            bound.listen()
            with socket.socket(socket.AF_UNIX) as abstract:
                abstract.bind(f"\0{name}")
                abstract.listen()
                os.chdir(here)
                yield tree, server.getsockname()[1], name, victim
    finally:
        os.chdir(here)
        victim.kill()
        victim.wait()


@EVERY_WALL
def test_no_attack_gains_anything(kind, outside, monkeypatch):
    tree, port, name, victim = outside
    monkeypatch.setenv("RK_SECRET", SECRET)
    before, scheduled = contents(tree), os.getpriority(os.PRIO_PROCESS, victim.pid)
    places = (
        str(tree), str(home().parent), rebalance_kit.__path__[0], port, name, victim.pid,
    )  # fmt: skip
    done = answered(kind, source(ATTACKS, places), monkeypatch)
    tried = [json.loads(line) for line in done.printed.splitlines()]
    assert done.problem is None, (done.problem, tried[-3:])
    assert [one[0] for one in tried] == list(ATTACKS)
    assert {one[0] for one in tried if one[1]} == KNOWN.get(kind, set())
    assert SECRET not in done.printed + json.dumps(dict(done.answered))
    assert contents(tree) == before
    assert sorted(path.name for path in tree.iterdir()) == ["course", "home", "listening"]
    assert victim.poll() is None
    assert os.getpriority(os.PRIO_PROCESS, victim.pid) == scheduled


def running_with(mark):
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                told = (entry / "cmdline").read_bytes() + (entry / "comm").read_bytes()
            except OSError:
                continue
            found += [entry.name] if mark.encode() in told else []
    return found


@EVERY_WALL
@pytest.mark.parametrize("name", OUTLIVE)
def test_nothing_goes_on_after_an_answer(kind, name, monkeypatch):
    mark = f"rk{uuid.uuid4().int % 10**6:06}"
    text = (
        "import os, signal, subprocess, sys, threading, time, ctypes\n"
        f"MARK = {mark!r}\nctypes.CDLL(None).prctl(15, MARK.encode(), 0, 0, 0)\n"
        f"def assign(partitions, members):\n    {OUTLIVE[name]}\n    print('done', flush=True)\n    return {{'a': []}}\n"
    )
    answered(kind, text, monkeypatch, 20)
    until = time.monotonic() + 5
    while running_with(mark) + running_with(f"61.{mark[-6:]}") and time.monotonic() < until:
        threading.Event().wait(0.02)
    assert running_with(mark) == []
    assert running_with(f"61.{mark[-6:]}") == []


@EVERY_WALL
def test_what_stands_behind_a_wall_is_told_and_used(kind, monkeypatch):
    monkeypatch.setenv(kinds.VARIABLE, kind)
    assert kinds.best() == kind


def test_a_wall_that_is_not_there_is_refused_by_name(monkeypatch):
    monkeypatch.setenv(kinds.VARIABLE, "moat")
    with pytest.raises(
        EnvironmentProblem, match="'moat'; expected one of bubblewrap, namespaces, landlock, none"
    ):
        kinds.best()


def test_the_kit_behind_a_wall_holds_no_truth():
    for needed in (paths.ASSIGNOR, paths.LISTENER, paths.SPARK, paths.CHILD):
        files = {str(path.relative_to(paths.kit(needed))) for path in paths.kit(needed).rglob("*.py")}
        assert not [file for file in files if "hidden" in file or "solution" in file or "/truth" in file]
        assert {file.split("/")[2] for file in files if file.startswith("rebalance_kit/exercises/")} == {
            "__init__.py",
            "child",
        }
        assert not [
            file for file in files if file.split("/")[1] in {"quiz", "classroom", "recordings", "view", "cli"}
        ]
    assert not list(paths.kit(paths.ASSIGNOR).rglob("*range*"))


def test_the_table_of_attacks_counts_those_that_are_tried():
    text = (ROOT / "docs" / "security.md").read_text("utf-8")
    for name, group in {
        "read": READ,
        "write": WRITE,
        "reach": REACH,
        "rise": RISE,
        "outlive": OUTLIVE,
    }.items():
        row = next(line for line in text.splitlines() if line.startswith(f"| {name}"))
        assert row.split("|")[2].strip() == str(len(group)), row


FORGED = """
import json, os
LINES = [{"at_s": 1, "kind": "read", "member": m, "records": 9, "owned": o} for m, o in (("a", [0, 1]), ("b", [2, 3]))] * 2
LINES += [{"at_s": 2, "kind": "summary", "produced": 9, "delivered": 9, "twice": 0, "skipped": 0}]
def on_assign(consumer, partitions): pass
def on_revoke(consumer, partitions): pass
for number in range(1, 12):
    try: os.write(number, "".join(json.dumps(line) + "\\n" for line in LINES).encode())
    except OSError: pass
os._exit(0)
"""


def test_callbacks_cannot_write_the_report_of_the_clients(tmp_path):
    pytest.importorskip("confluent_kafka")
    (tmp_path / "answer.py").write_text(FORGED, "utf-8")
    report = check_code(load("c7-eager-callbacks"), FromFile(tmp_path / "answer.py", "on_assign"), seed=1)
    assert report.earned == 0, str(report)
