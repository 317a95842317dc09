"""``logs`` as a user at a terminal meets it: a bar when it takes long, and Ctrl-C that tells what is known so far."""

from __future__ import annotations

import gzip
import os
import pty
import select
import signal
import subprocess
import sys
from contextlib import contextmanager

import pytest

from tests.support.paths import ROOT
from tests.support.pipeline.kafka_lines import GROUP, adding, preparing, received, stabilized

pytestmark = pytest.mark.timeout(300)

REBALANCE = (preparing(0, 1, adding("c1")) + stabilized(1, 2) + received(1, 2)).encode()
TOLD = f"group {GROUP}\n   1 rebalance".encode()

#: What no look reads to its end before its bar is drawn: so many blocks of so many lines.
BLOCKS, LINES = 1_000, 10_000


@contextmanager
def logs(path, stdin=subprocess.DEVNULL):
    """A process of the command, and what its standard error (a terminal) shows."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "rebalance_kit.cli", "logs", str(path), "--books", "--engine", "local"],
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    ) as process:
        os.close(theirs)
        try:
            yield process, ours
        finally:
            process.kill()
            os.close(ours)


def shown(process, terminal, text, meanwhile=lambda: None):
    """What the terminal showed until it showed the text."""
    seen = b""
    while text not in seen:
        meanwhile()
        if select.select([terminal], [], [], 0.1)[0]:
            seen += said(terminal)
        assert process.poll() is None, f"it ended without {text!r}: {seen!r}"
    return seen


def said(terminal):
    try:
        return os.read(terminal, 4096)
    except OSError:  # the process has ended, and said nothing more
        return b""


@pytest.fixture
def endless(tmp_path):
    path = tmp_path / "server.log.gz"
    noise = "".join(
        f"[2026-01-05 10:00:02,{line % 1000:03d}] INFO [UnifiedLog partition=orders-0] Rolled new log segment at offset {line} "
        "in 1 ms. (kafka.log.UnifiedLog)\n"
        for line in range(LINES)
    )
    path.write_bytes(gzip.compress(REBALANCE) + gzip.compress(noise.encode(), 1) * BLOCKS)
    return path


def test_a_long_look_draws_a_bar_and_ctrl_c_tells_what_is_known(endless):
    with logs(endless) as (process, terminal):
        seen = shown(process, terminal, b" lines")
        process.send_signal(signal.SIGINT)
        told, _ = process.communicate(timeout=120)
    assert seen.startswith(b"\r\x1b[K[")
    assert process.returncode == 128 + signal.SIGINT
    assert TOLD in told
    assert b"interrupted: read up to line " in told


def test_ctrl_c_while_standard_input_comes_tells_what_has_come():
    with logs("-", subprocess.PIPE) as (process, terminal):

        def say(text=b"\n"):
            process.stdin.write(text)
            process.stdin.flush()

        say(REBALANCE)
        seen = shown(process, terminal, b" MB so far", say)
        process.send_signal(signal.SIGINT)
        told, _ = process.communicate(timeout=120)
    assert b"standard input: " in seen
    assert process.returncode == 128 + signal.SIGINT
    assert TOLD in told


def test_a_short_look_draws_no_bar(tmp_path):
    path = tmp_path / "server.log"
    path.write_bytes(REBALANCE)
    with logs(path) as (process, terminal):
        told, _ = process.communicate(timeout=120)
        seen = said(terminal)
    assert (process.returncode, seen) == (0, b"")
    assert TOLD in told
