"""Logs as tools hand them out: archives, exports, standard input, copies of a terminal."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import tarfile
import threading
import zipfile

import pytest

from rebalance_kit.forensics.lines import pipes
from rebalance_kit.forensics.lines.exports import unwrapped
from rebalance_kit.forensics.lines.files import collect
from rebalance_kit.forensics.look import look
from rebalance_kit.model.errors import DataError
from tests.support.pipeline.kafka_lines import GROUP, adding, preparing, received, stabilized

LOG = preparing(0, 1, adding("c1")) + stabilized(3, 2) + received(3.1, 2)


def rebalances(*paths):
    return [row["after"] for row in look(paths).rows("rebalances")]


def test_a_zip_and_a_tar_in_a_folder_are_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "logs.zip", "w") as packed:
        packed.writestr("broker-1/server.log", LOG)
        packed.writestr("broker-1/notes.md", "no log")
    assert rebalances(tmp_path) == [2]
    assert [row["file"] for row in look([tmp_path]).rows("lines")] == ["logs.zip: broker-1/server.log"]


@pytest.mark.parametrize("name", ["logs.tar.gz", "logs.tgz", "logs.tar"])
def test_a_tar_is_read_to_its_first_line(tmp_path, name):
    with tarfile.open(tmp_path / name, "w:gz" if "gz" in name else "w") as packed:
        entry = tarfile.TarInfo("server.log")
        entry.size = len(LOG)
        packed.addfile(entry, io.BytesIO(LOG.encode()))
    assert rebalances(tmp_path / name) == [2]


def test_an_archive_that_is_none_is_refused_by_name_or_passed_over(tmp_path):
    (tmp_path / "logs.zip").write_text("no zip")
    with pytest.raises(DataError, match=r"logs\.zip cannot be unpacked"):
        look([tmp_path / "logs.zip"])
    (tmp_path / "server.log").write_text(LOG)
    assert look([tmp_path]).passed_over[0][0].endswith("logs.zip")


@pytest.mark.parametrize("name", ["export.csv", "export.json", "export.jsonl"])
def test_an_export_is_read_when_a_line_of_kafka_is_in_it_and_passed_over_when_none_is(tmp_path, name):
    (tmp_path / name).write_text(LOG)
    (tmp_path / f"other-{name}").write_text('{"a": 1}\n')
    assert rebalances(tmp_path) == [2]
    assert len(look([tmp_path]).passed_over) == 1


def test_standard_input_is_read_under_its_name(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "rebalance_kit.cli", "logs", "-"],
        input=LOG,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert f"== standard input  group {GROUP}" in done.stdout
    assert "c1 joined the group" in done.stdout


def test_lines_that_a_terminal_wrapped_are_put_together():
    width = 80
    cut = [line[begin : begin + width] for line in LOG.splitlines() for begin in range(0, len(line), width)]
    assert (unwrapped("\n".join(cut).encode()) or b"").decode() == LOG.rstrip("\n")


def test_the_borders_of_a_terminal_are_taken_off():
    width = 100
    cut = [line[begin : begin + width] for line in LOG.splitlines() for begin in range(0, len(line), width)]
    bordered = "".join(f"│ {line:<{width}} │\n" for line in cut)
    assert (unwrapped(bordered.encode()) or b"").decode().split() == LOG.split()


def test_an_ordinary_log_is_left_as_it_is():
    assert unwrapped((LOG * 20).encode()) is None


def test_an_archive_is_unpacked_once_unless_it_changes(tmp_path):
    path = tmp_path / "logs.zip"
    for text in ("one", "two"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("server.log", text)
        os.utime(path, ns=(0, len(text) if text == "one" else 9))
        (first,), (again,) = (collect([path])[0] for _ in range(2))
        assert first == again
        assert first[2].read_text() == text


def test_a_named_pipe_is_read_as_a_file_and_again_when_more_is_written(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(LOG,))
    writer.start()  # waits for a reader
    told = [len(look([path]).rows("events")) for _ in range(2)]
    writer.join()
    path.write_text(LOG * 2)  # the pipe stays open: nobody waits, and nothing is lost
    told += [len(look([path]).rows("events")) for _ in range(2)]
    assert told == [LOG.count("\n")] * 2 + [2 * LOG.count("\n")] * 2


def test_a_pipe_that_nobody_writes_into_is_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr(pipes, "_WRITER_S", 0.01)
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(DataError, match=r"pipe is a pipe that nobody writes into"):
        look([path])
