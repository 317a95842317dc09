#!/usr/bin/env python
"""What the suite does in small, at length: a million damaged lines, and a watch killed twenty times.

    python scripts/endurance.py fuzz [--lines 1000000] [--seed 1] [--engine local|spark]
    python scripts/endurance.py kills [--times 20] [--seed 1]

``fuzz`` reads damaged lines of the recorded runs up to the gold tables and checks that the books balance, line
by line; ``kills`` begins a watch anew each time, kills it at a random moment, lets a second one go on, and
compares its tables with the batch's.
"""

from __future__ import annotations

import argparse
import io
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from rebalance_kit.forensics.report import require_balance
from rebalance_kit.forensics.tables import GOLD
from rebalance_kit.pipeline import spark_session
from rebalance_kit.pipeline.command import read_logs, run_logs
from rebalance_kit.pipeline.stream.watch import WatchOptions, run_watch
from rebalance_kit.recordings.folder import unpack

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.support.pipeline.damage import damaged_files
from tests.support.pipeline.growing import Growing, chunks, commits, kill_hard, started_watch, written

RUN = "crash-2x4.eager.4.3.1"

#: A watch is killed at most so long after it has come as far as was drawn for it.
MOST_S = 3.0


def fuzz(count: int, seed: int, engine: str) -> int:
    """Read ``count`` damaged lines; 0 when every one is counted once and every table can be made."""
    with tempfile.TemporaryDirectory() as place:
        wanted = damaged_files(Path(place), count, random.Random(seed))
        begun = time.perf_counter()
        result = read_logs(place, engine=engine)
        counts = result.rows("lines")
        require_balance(counts)
        rows = {name: len(result.rows(name)) for name in GOLD}
        took = time.perf_counter() - begun
    lines, parsed, ignored, rejected = (
        sum(count[column] for count in counts) for column in ("lines", "parsed", "ignored", "rejected")
    )
    counted = {count["file"]: count["lines"] for count in counts} == wanted
    print(
        f"{lines:,} lines in {len(counts)} files, {took:.0f} s: {parsed:,} parsed + {ignored:,} ignored + "
        f"{rejected:,} rejected = {parsed + ignored + rejected:,}; every file's count is right: {counted}; "
        f"rows of the tables: {rows}"
    )
    return 0 if counted and lines == count == parsed + ignored + rejected else 1


def kills(times: int, seed: int) -> int:
    """Kill a watch ``times`` times; 0 when the tables are the batch's each time."""
    dice = random.Random(seed)
    good = 0
    with tempfile.TemporaryDirectory() as name:
        top = Path(name)
        (run,) = unpack(top / "runs", [RUN])
        spark = spark_session("local[2]", quick_start=True)
        for turn in range(1, times + 1):
            logs, state = top / "logs", top / f"state-{turn}"
            moment = killed(run, logs, state, dice)
            seen = io.StringIO()
            assert run_watch(logs, WatchOptions(top / "streamed", state, once=True), seen) == 0
            if turn == 1:
                assert run_logs([logs], top / "batch", out=io.StringIO()) == 0
                batch = written(spark, top / "batch")
            same = written(spark, top / "streamed") == batch
            good += same
            print(
                f"{turn:2} killed {moment}: {'the tables of the batch' if same else 'DIFFERENT'}", flush=True
            )
            subprocess.run(["rm", "-r", str(logs), str(state)], check=True)
    print(f"{good} of {times} times the tables of the batch")
    return 0 if good == times else 1


def killed(run: Path, logs: Path, state: Path, dice: random.Random) -> str:
    """Let a watch follow growing files and kill it at a random moment; in words, when."""
    growing = Growing([run], logs, dice)
    growing.grow(40_000)
    goal, extra = dice.randrange(4), dice.uniform(0, MOST_S)
    process = started_watch(logs, state, state.with_suffix(".log"))
    end = time.monotonic() + 180
    try:
        while process.poll() is None and time.monotonic() < end:
            come = (
                (state / "lock").exists(),
                (state / "stream" / "offsets").is_dir(),
                chunks(state) > 0,
                commits(state) > 0,
            )
            if come[goal]:
                break
            growing.grow(5_000)
            wait(process, 0.2)
        else:
            raise SystemExit(f"the watch came to nothing: {state.with_suffix('.log').read_text()[-2000:]}")
        wait(process, extra)
        held = f"{chunks(state)} chunks landed, {commits(state)} batches stored"
    finally:
        kill_hard(process)
    growing.finish()
    return f"{extra:.2f} s after {('it began', 'its stream began', 'a chunk landed', 'a batch was stored')[goal]} ({held})"


def wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    """Let time pass unless the process ends."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        return


def main() -> int:
    """Do what is asked; 0 when all of it held."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("fuzz", "kills"))
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--engine", choices=("local", "spark"), default="spark", help="who reads what is fuzzed"
    )
    asked = parser.parse_args()
    return (
        fuzz(asked.lines, asked.seed, asked.engine)
        if asked.what == "fuzz"
        else kills(asked.times, asked.seed)
    )


if __name__ == "__main__":
    sys.exit(main())
