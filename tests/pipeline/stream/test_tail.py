"""Growing files are landed line by line, once each, whatever is done to them and whenever the reading is killed."""

from __future__ import annotations

import gzip
import os
import random

import pytest

from rebalance_kit.model.errors import DataError
from rebalance_kit.pipeline.stream.tail import PREFIX, STATE, Tail
from tests.support.pipeline.growing import Growing, copied, packed_up, renamed


def landed(folder):
    """Every landed line by file number: a list of (line number, text), in the order of landing."""
    found = {}
    for chunk in sorted(folder.glob("*.txt.gz")):
        for line in gzip.decompress(chunk.read_bytes()).split(b"\n"):
            if line and not line.startswith(STATE.encode()):
                found.setdefault(int(line[:6], 16), []).append((int(line[7:19]), line[PREFIX:]))
    return found


def texts(tail, folder):
    """The text of every file as the reading has it, lines without an end included, by the file's name."""
    lines = landed(folder)
    read = {}
    for source, _ in tail.sources():
        numbered = lines.get(source.number, [])
        assert [number for number, _ in numbered] == list(range(1, len(numbered) + 1))
        whole = b"".join(text + b"\n" for _, text in numbered)
        read[source.name] = whole + tail.pending.get(source.number, b"")
    return read


def unpacked(path):
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


@pytest.fixture
def logs(tmp_path):
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


def test_a_line_written_in_two_halves_is_landed_once_and_whole(logs, tmp_path):
    tail = Tail([logs], tmp_path / "landed")
    (logs / "a.log").write_bytes(b"one\ntw")
    assert tail.scan() and tail.pending[1] == b"tw"
    with (logs / "a.log").open("ab") as out:
        out.write(b"o\n")
    assert tail.scan() and not tail.scan()
    assert landed(tmp_path / "landed") == {1: [(1, b"one"), (2, b"two")]}


def test_bytes_that_are_no_text_and_carriage_returns_arrive_as_they_are(logs, tmp_path):
    tail = Tail([logs], tmp_path / "landed")
    (logs / "a.log").write_bytes(b"\xff\xe2\x82\r\n\n\x00x\n")
    tail.scan()
    assert landed(tmp_path / "landed") == {1: [(1, b"\xff\xe2\x82\r"), (2, b""), (3, b"\x00x")]}


@pytest.mark.parametrize("rotate", [renamed, copied, packed_up])
def test_a_rotated_file_counts_once_under_its_new_name(logs, tmp_path, rotate):
    tail = Tail([logs], tmp_path / "landed")
    (logs / "a.log").write_bytes(b"one\ntwo\nthr")
    tail.scan()
    with (logs / "a.log").open("ab") as out:
        out.write(b"ee\n")
    rotate(logs / "a.log")
    (logs / "a.log").write_bytes(b"four\n")
    tail.scan()
    assert texts(tail, tmp_path / "landed") == {path.name: unpacked(path) for path in logs.iterdir()}


def test_a_truncated_file_begins_anew_and_what_was_read_of_it_is_kept(logs, tmp_path):
    tail = Tail([logs], tmp_path / "landed")
    (logs / "a.log").write_bytes(b"one\ntwo\n")
    tail.scan()
    os.truncate(logs / "a.log", 0)
    with (logs / "a.log").open("ab") as out:
        out.write(b"three\n")
    tail.scan()
    assert [(source.lines, place is None) for source, place in tail.sources()] == [(2, True), (1, False)]


def test_a_chunk_that_was_never_renamed_is_forgotten(logs, tmp_path):
    (logs / "a.log").write_bytes(b"one\n")
    Tail([logs], tmp_path / "landed").scan()
    (tmp_path / "landed" / ".draft").write_bytes(b"half a chu")
    (logs / "a.log").write_bytes(b"one\ntwo\n")
    tail = Tail([logs], tmp_path / "landed")
    tail.scan()
    assert landed(tmp_path / "landed") == {1: [(1, b"one"), (2, b"two")]}


def test_files_larger_than_a_chunk_are_landed_in_several_without_loss(logs, tmp_path):
    lines = b"".join(b"line %d\n" % number for number in range(1000))
    (logs / "a.log").write_bytes(lines + b"x" * 500 + b"\nlast")
    tail = Tail([logs], tmp_path / "landed", chunk_bytes=100)
    while tail.scan():
        pass
    assert tail.chunks > 10
    assert texts(tail, tmp_path / "landed") == {"a.log": (logs / "a.log").read_bytes()}


def test_a_folder_of_other_files_is_no_checkpoint(logs, tmp_path):
    (tmp_path / "landed").mkdir()
    (tmp_path / "landed" / "0000000001.txt.gz").write_bytes(gzip.compress(b"no state\n"))
    with pytest.raises(DataError, match=r"0000000001\.txt\.gz does not end with the state"):
        Tail([logs], tmp_path / "landed")


@pytest.mark.parametrize("seed", range(5))
def test_growing_rotating_and_restarting_at_random_loses_and_doubles_nothing(runs_folder, tmp_path, seed):
    dice = random.Random(seed)
    runs = [runs_folder / "crash-2x4.eager.4.3.1", runs_folder / "crash-2x4.cooperative.4.3.1"]
    growing = Growing(runs, tmp_path / "logs", dice)
    tail = Tail([tmp_path / "logs"], tmp_path / "landed")
    while not growing.done:
        growing.grow()
        for _ in range(dice.randrange(3)):
            tail.scan()
        if dice.random() < 0.3:
            tail = Tail([tmp_path / "logs"], tmp_path / "landed")
    while tail.scan():
        pass
    lines = landed(tmp_path / "landed")
    files = {str(path): unpacked(path) for path in (tmp_path / "logs").rglob("*.log*")}
    read = {}
    for source, _ in tail.sources():
        numbered = lines.get(source.number, [])
        assert [number for number, _ in numbered] == list(range(1, len(numbered) + 1))
        whole = b"".join(text + b"\n" for _, text in numbered)
        read[f"{source.run}/{source.name}"] = whole + tail.pending.get(source.number, b"")
    assert read == files
