"""A live look without Spark: growing files, pipes and commands, told as their groups rebalance."""

from __future__ import annotations

import http.client
import io
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from rebalance_kit.cli import main
from rebalance_kit.forensics import live as live_look
from rebalance_kit.forensics.live import Live
from rebalance_kit.forensics.sources import Growing, Pipe
from rebalance_kit.forensics.tellers import Metrics, Notify
from rebalance_kit.model.errors import ConfigError
from tests.support.pipeline.kafka_lines import GROUP, adding, broker, client, preparing, received, stabilized


def rebalance(begun_s: float, before: int) -> str:
    return (
        preparing(begun_s, before, adding("c1"))
        + stabilized(begun_s + 1, before + 1)
        + received(begun_s + 1, before + 1)
    )


def later(s: float) -> str:
    return broker(s, "[GroupCoordinator id=1] Loaded classic group other with 1 members.")


@pytest.fixture
def log(tmp_path):
    return tmp_path / "server.log"


def test_what_is_written_while_one_looks_is_told_once_and_when_it_has_settled(log):
    text = rebalance(0, 1)
    log.write_text(text[:-30])
    live = Live([Growing(log)])
    live.step()
    assert live.news().rebalances == []
    with log.open("a") as stream:
        stream.write(text[-30:] + later(30))
    live.step()
    assert [row["after"] for row in live.news().rebalances] == [2]
    assert live.news().rebalances == []


def test_a_file_that_is_rotated_goes_on_and_is_not_read_twice(log):
    log.write_text(rebalance(0, 1))
    live = Live([Growing(log.parent)])
    live.step()
    log.rename(log.with_name("server.log.1"))
    log.write_text(rebalance(20, 2) + later(60))
    live.step()
    assert [row["after"] for row in live.news().rebalances] == [2, 3]
    assert live.lines == 7


def test_a_finding_is_told_once(log):
    log.write_text(
        client(0, "c1", "JoinGroup failed due to fatal error: The configured groupId is invalid.", "ERROR")
    )
    live = Live([Growing(log)])
    live.step()
    assert [row["finding"] for row in live.news().findings] == ["join_refused"]
    assert live.news().findings == []


def test_what_is_remembered_does_not_grow_with_the_log(log, monkeypatch):
    monkeypatch.setattr(live_look, "MOST_EVENTS", 400)
    log.write_text("")
    live, sizes = Live([Growing(log)]), []
    for day in range(20):
        with log.open("a") as stream:
            stream.writelines(rebalance(day * 86_400 + 60 * number, number) for number in range(100))
        live.step()
        live.news()
        sizes.append(live.kept)
    assert max(sizes[5:]) <= max(sizes[:5])
    assert live.lines == 20 * 100 * 3


def test_a_pipe_that_is_filled_faster_than_it_is_read_makes_its_writer_wait():
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    with os.fdopen(reading, "rb") as stream, os.fdopen(writing, "wb", buffering=0) as pipe:
        source = Pipe("broker", stream)
        line, written = later(0).encode() * 500, 0
        # A second in which nobody takes anything is a full pipe.
        while written < 30_000_000 and select.select([], [pipe], [], 1.0)[1]:
            written += pipe.write(line) or 0
        assert written < 20_000_000
        held = sum(len(piece) for _, piece in source.pieces())
        assert 10_000_000 < held <= written
        pipe.close()
        while not source.ended:
            held += sum(len(piece) for _, piece in source.pieces())
    assert held == written


def test_a_file_that_is_long_already_is_not_held_as_a_whole(log, monkeypatch):
    monkeypatch.setattr(live_look, "MOST_EVENTS", 100)
    monkeypatch.setattr("rebalance_kit.forensics.sources._CHUNK", 1 << 12)
    log.write_text("".join(rebalance(10 * number, number) for number in range(1_000)))
    live, most = Live([Growing(log)]), []
    complete = live._take
    monkeypatch.setattr(
        live, "_take", lambda one, *, whole: (most.append(len(one.events)), complete(one, whole=whole))
    )
    live.step()
    assert max(most) < 200
    assert live.parsed == 3_000
    assert {row["after"] for row in live.news(final=True).rebalances} <= set(range(900, 1_002))


def test_commands_are_followed_at_once_and_their_lines_have_their_names(tmp_path):
    (tmp_path / "a").write_text(rebalance(0, 1))
    (tmp_path / "b").write_text(rebalance(100, 2) + later(200))
    out = io.StringIO()
    commands = [f"--from={name}=cat {tmp_path / name}" for name in "ab"]
    assert main(["watch", *commands], out) == 0
    told = out.getvalue()
    assert "(a:1)" in told
    assert "(b:1)" in told
    assert "Lines: 7 parsed + 0 ignored + 0 rejected = 7" in told


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--from", "nothing"], "expected NAME=COMMAND"),
        (["--from", "a=no-such-command-here"], "no-such-command-here cannot be started"),
        (["--from", "a=cat x", "--from", "a=cat y"], "twice"),
        ([], "nothing to watch"),
        (["no/such/folder"], "no such file or folder: no/such/folder"),
        (["-", "--engine", "spark"], "Spark follows one folder"),
        (["-", "--engine", "local", "--once"], "--engine local keeps no tables"),
    ],
)
def test_what_cannot_be_watched_is_refused_by_name(words, expected, capsys):
    assert main(["watch", *words], io.StringIO()) == 2
    assert expected in capsys.readouterr().err


def test_ctrl_c_tells_what_is_known_and_ends_with_130(log):
    log.write_text(rebalance(0, 1))
    command = [sys.executable, "-m", "rebalance_kit.cli", "watch", str(log)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONUNBUFFERED": "1"}
    ) as process:
        assert process.stdout is not None
        while not _handles_interrupts(process.pid):
            pass
        process.send_signal(signal.SIGINT)
        told, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert f"{GROUP}: c1 joined the group".encode() in told


def _handles_interrupts(pid: int) -> bool:
    """Whether the process has set the handler that tells what is known."""
    status = Path(f"/proc/{pid}/status").read_text("ascii").splitlines()
    caught = next(line for line in status if line.startswith("SigCgt"))
    bits = int(caught.split()[1], 16)
    return bool(bits >> (signal.SIGTERM - 1) & 1)


REFUSED = client(0, "c1", "JoinGroup failed due to fatal error: The configured groupId is invalid.", "ERROR")


def test_news_is_told_as_json_lines(log, capsys):
    log.write_text(rebalance(0, 1) + REFUSED)
    assert main(["watch", "--json", "--idle", "0.01", str(log)]) == 0
    *news, books = map(json.loads, capsys.readouterr().out.splitlines())
    assert {one["kind"] for one in news} == {"rebalance", "finding"}
    assert {one["version"] for one in news} == {1}
    assert books == {"version": 1, "kind": "watched", "lines": 4, "parsed": 4, "rejected": 0}


def news_of(log):
    log.write_text(rebalance(0, 1))
    live = Live([Growing(log)])
    live.step()
    return live.news(final=True)


def test_a_command_is_given_each_piece_of_news_without_a_shell(log, tmp_path):
    heard = tmp_path / "heard"
    Notify(
        f"{sys.executable} -c 'import sys; open(sys.argv[1], \"a\").write(sys.stdin.read())' {heard}"
    ).tell(news_of(log))
    (told,) = map(json.loads, heard.read_text().splitlines())
    assert (told["kind"], told["after"]) == ("rebalance", 2)


@pytest.mark.parametrize(
    ("command", "seconds", "said"),
    [
        (f"{sys.executable} -c 'raise SystemExit(3)'", 60, "ended with status 3"),
        ("/no/such/command", 60, "cannot be started (No such file or directory)"),
        (f"{sys.executable} -c 'import time; time.sleep(600)'", 0.2, "took longer than 0.2 s and was ended"),
    ],
)
def test_a_command_that_fails_or_hangs_is_said_and_the_watch_goes_on(log, capsys, command, seconds, said):
    Notify(command, seconds).tell(news_of(log))
    assert f"{said}; the watch goes on" in capsys.readouterr().err


def test_metrics_are_served_on_loopback_and_a_port_that_is_taken_is_refused(log):
    metrics = Metrics("0")
    try:
        metrics.tell(news_of(log))
        asked = http.client.HTTPConnection("127.0.0.1", metrics.port, timeout=10)
        asked.request("GET", "/metrics", headers={"Accept": "application/openmetrics-text"})
        text = asked.getresponse().read().decode()
        assert f'rebalance_kit_rebalances_total{{group="{GROUP}",trigger="join"}} 1.0' in text
        assert text.endswith("# EOF\n")
        with pytest.raises(ConfigError, match="expected an address that is free"):
            Metrics(f"127.0.0.1:{metrics.port}")
    finally:
        metrics.end(Live([]))


@pytest.mark.parametrize("address", ["nowhere", "127.0.0.1:99999", "127.0.0.1:"])
def test_an_address_of_metrics_names_a_port(address):
    with pytest.raises(ConfigError, match="expected HOST:PORT"):
        Metrics(address)
