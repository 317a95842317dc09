"""A kernel that is killed while it records, twenty times at drawn moments: nothing is left, and the record is good up to there."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rebalance_kit.recordings.folder import read_run

pytestmark = [pytest.mark.live, pytest.mark.timeout(300)]

GONE_WITHIN_S = 10.0
LAST_S = 45.0
BEHIND_MS = 2_000
"""A row is written every 100 ms or so while a member reads; a busy machine is later."""
KERNEL = """
import sys
from rebalance_kit import live
live.record(sys.argv[1], sys.argv[2], sys.argv[3], client=sys.argv[4])
"""
PROTOCOLS, CLIENTS = ("eager", "cooperative", "consumer"), ("java", "librdkafka", "mixed")


def left_of(folder):
    """The command lines of processes that name a folder."""
    found = []
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and int(process.name) != os.getpid():
            try:
                words = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
            except OSError:
                continue
            if str(folder) in words:
                found.append(words)
    return found


@pytest.mark.parametrize("seed", range(20))
def test_of_a_killed_kernel_nothing_is_left_but_its_record(seed, tmp_path):
    draw = random.Random(seed)
    place = tmp_path / "temporary"
    place.mkdir()
    words = ("leave", str(tmp_path / "run"), PROTOCOLS[seed % 3], CLIENTS[seed // 3 % 3])
    kernel = subprocess.Popen(
        [sys.executable, "-c", KERNEL, *words], env={**os.environ, "TMPDIR": str(place)}, text=True
    )
    after_s = draw.uniform(0.5, LAST_S)
    with pytest.raises(subprocess.TimeoutExpired):
        kernel.wait(after_s)
    kernel.kill()
    at_ms = time.time() * 1000
    kernel.wait(10)
    until = time.monotonic() + GONE_WITHIN_S
    while (left_of(tmp_path) or list(place.glob("kafka-live-*"))) and time.monotonic() < until:
        time.sleep(0.1)
    assert not left_of(tmp_path)
    assert not list(place.glob("kafka-live-*"))
    if not (tmp_path / "run" / "run.json").exists():
        return  # the broker was still starting
    run = read_run(tmp_path / "run")
    assert not run.left_out
    if any(row["kind"] == "records" for row in run.truth):
        assert max(int(row["t"]) for row in run.truth) >= at_ms - BEHIND_MS
