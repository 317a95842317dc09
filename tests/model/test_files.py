"""A file appears whole or not at all, and a failure says where and what was expected."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import draft_of, remove_left_over, write_atomically


@pytest.mark.parametrize("data", ["één\r\ntwo\n", "één\r\ntwo\n".encode(), ["één\r\n", "two\n"]])
def test_text_bytes_and_pieces_of_text_are_written_as_they_are(tmp_path, data):
    place = tmp_path / "notes.txt"
    assert write_atomically(place, data) == place
    assert place.read_bytes() == "één\r\ntwo\n".encode()
    assert list(tmp_path.iterdir()) == [place]


def test_a_writer_that_fails_half_way_leaves_the_former_file_and_no_draft(tmp_path):
    place = tmp_path / "notes.txt"
    place.write_text("former", "utf-8")

    def pieces():
        yield "half"
        raise RuntimeError("out of words")

    with pytest.raises(RuntimeError, match="out of words"):
        write_atomically(place, pieces())
    assert place.read_text("utf-8") == "former"
    assert list(tmp_path.iterdir()) == [place]


def test_two_writers_of_one_file_do_not_share_a_draft(tmp_path):
    place = tmp_path / "notes.txt"
    with draft_of(place) as first, draft_of(place) as second:
        assert first != second
        first.write_text("first", "utf-8")
        second.write_text("second", "utf-8")
    assert place.read_text("utf-8") == "first"  # the one that ended last


def test_a_folder_that_cannot_be_written_to_is_named_with_what_was_expected(tmp_path):
    place = tmp_path / "missing" / "notes.txt"
    with pytest.raises(DataError) as refused:
        write_atomically(place, "text", "a folder that is shared")
    assert str(refused.value) == (
        f"{place}: cannot be written (No such file or directory); expected a folder that is shared"
    )


def test_a_folder_in_place_of_the_file_is_refused_and_left_alone(tmp_path):
    (tmp_path / "notes.txt").mkdir()
    with pytest.raises(DataError, match="is a folder"):
        write_atomically(tmp_path / "notes.txt", "text")
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_the_draft_of_a_killed_process_goes_with_the_next_writing_and_that_of_a_living_one_stays(tmp_path):
    target = tmp_path / "out.jsonl"
    killed = subprocess.Popen(["true"])
    killed.wait()
    left = tmp_path / f".out.jsonl.{killed.pid}-0badf00d.part"
    living = tmp_path / f".out.jsonl.{os.getpid()}-0badf00d.part"
    another = tmp_path / f".out.{killed.pid}-0badf00d.part"
    for draft in (left, living, another):
        draft.touch()
    write_atomically(target, "whole")
    assert not left.exists()
    assert living.exists()
    assert another.exists()


def test_folders_that_threads_make_at_once_have_one_watcher():
    code = """
import sys, threading
from rebalance_kit.model.files import scratch_folder
begun = []
sys.addaudithook(lambda event, given: begun.append(given) if event == "subprocess.Popen" else None)
sys.setswitchinterval(1e-6)
gate, made = threading.Barrier(12), []
def make():
    gate.wait()
    made.append(scratch_folder("threads"))
threads = [threading.Thread(target=make) for _ in range(12)]
[one.start() for one in threads]
[one.join() for one in threads]
print(len(made), len(begun))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["12", "1"]  # another one, lost, would remove its folders at once


STARTS = """
import os, subprocess, sys
from rebalance_kit.model.files import ended_along, scratch_folder
folder = scratch_folder("along")
child = subprocess.Popen(["sleep", "600"], stdin=subprocess.DEVNULL)
with ended_along(child.pid):
    print(child.pid, folder, flush=True)
    if sys.argv[1] == "killed":
        os.kill(os.getpid(), 9)
print("over", flush=True)
"""


@pytest.mark.parametrize(("end", "goes_on"), [("killed", False), ("orderly", True)])
def test_a_child_is_killed_with_its_process_and_one_that_was_let_go_stays(end, goes_on, tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", STARTS, end], stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(tmp_path)}
    ) as process:  # fmt: skip
        pid, folder = process.stdout.readline().split()
        process.wait(20)
        until = time.monotonic() + 20
        while time.monotonic() < until and (Path(folder).exists() or (not goes_on and is_alive(int(pid)))):
            time.sleep(0.02)
        try:
            assert not Path(folder).exists()
            assert is_alive(int(pid)) is goes_on
        finally:
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


def is_alive(pid):
    """Whether a process runs; one that waits to be noticed does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_folders_whose_process_was_killed_before_it_held_them_go_with_the_next(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    old, young, strange = (tmp_path / f"rebalance-kit-{name}" for name in ("old", "young", "strange"))
    for folder in (old, young, tmp_path / "elsewhere"):
        (folder / "inner").mkdir(parents=True)
    strange.symlink_to(tmp_path / "elsewhere")
    for folder in (old, tmp_path / "elsewhere"):
        os.utime(folder, (1, 1))
    remove_left_over(time.time())
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "elsewhere",
        "rebalance-kit-strange",
        "rebalance-kit-young",
    ]
