"""Reading by several processes: the same tables, whatever ends a piece, a file or a worker."""

from __future__ import annotations

import gzip
import os
import signal

import pytest

from rebalance_kit import scenarios
from rebalance_kit.forensics.lines.layouts import Layout, Reading
from rebalance_kit.forensics.lines.several import SeveralReaders
from rebalance_kit.forensics.look import Listener, look
from rebalance_kit.forensics.tables import TABLES
from rebalance_kit.recordings.maker import make_logs


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Two runs: files of more than one piece, packed, damaged, foreign, with a line too long, without an end of the last."""
    folder = tmp_path_factory.mktemp("logs")
    for protocol in ("eager", "consumer"):
        make_logs(scenarios.load("crash"), folder / protocol, lines=4_000, protocol=protocol)
    whole = (folder / "eager" / "consumer-2.log").read_bytes()
    with gzip.open(folder / "eager" / "consumer-2.log.gz", "wb") as out:
        out.write(whole)
    (folder / "eager" / "consumer-2.log").unlink()
    first = folder / "eager" / "consumer-1.log"
    first.write_bytes(first.read_bytes() * 4 + b"x" * 2_500_000 + b"\n" + first.read_bytes().rstrip(b"\n"))
    (folder / "eager" / "utf16.log").write_bytes(whole.decode().encode("utf-16"))
    (folder / "eager" / "cut.log.gz").write_bytes(gzip.compress(whole)[:-2_000])
    (folder / "consumer" / "bytes.log").write_bytes(os.urandom(20_000))
    (folder / "consumer" / "empty.log").write_bytes(b"")
    return folder


def tables(result):
    return {name: result.rows(name) for name in TABLES}


@pytest.mark.parametrize(
    "reading",
    [
        Reading(),
        Reading(
            (Layout("own", ("own ",), r"own (?P<time>\S+) (?P<message>.*)"),),
            2020,
            "Europe/Berlin",
            (("*1.log", 1500),),
        ),
    ],
)
def test_same_tables(logs, reading):
    assert tables(look([logs], reading, processes=3)) == tables(look([logs], reading))


def test_a_worker_that_is_killed_costs_nothing(logs, monkeypatch):
    killed = []

    def kill_one(reader, told, data, take=SeveralReaders.take):
        if not killed:
            worker = reader._workers.get()
            killed.append(worker.pid)
            os.kill(worker.pid, signal.SIGKILL)
            worker.wait()
            reader._workers.put(worker)
        take(reader, told, data)

    monkeypatch.setattr(SeveralReaders, "take", kill_one)
    assert tables(look([logs], processes=2)) == tables(look([logs]))
    assert killed


def test_no_worker_outlives_a_look_that_fails(logs, monkeypatch):
    begun = []

    def fail(reader, told, data):
        begun.extend(reader._workers.get() for _ in range(2))
        for worker in begun:
            reader._workers.put(worker)
        raise ZeroDivisionError

    monkeypatch.setattr(SeveralReaders, "take", fail)
    with pytest.raises(ZeroDivisionError):
        look([logs], processes=2)
    assert [worker.returncode for worker in begun] == [0, 0]


def test_a_look_that_is_stopped_tells_what_was_read(logs):
    heard = []
    listener = Listener(on_lines=heard.append, stopped=lambda: len(heard) >= 4)
    one = look([logs], listener=listener)
    heard.clear()
    several = look([logs], listener=listener, processes=2)
    assert several.interrupted
    assert tables(several) == tables(one)
