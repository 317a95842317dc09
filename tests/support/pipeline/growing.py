"""Log files that grow as real ones do, and a watch of them in a process of its own that can be killed."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.support.paths import ROOT

#: Columns that say where Spark read a line, not what it says.
PHYSICAL = ("block", "row")


class Growing:
    """Writes the logs of recorded runs into ``folder``, a piece at a time, broken in the middle of lines.

    On the way the first file of a run is renamed (and begun anew), the second copied and truncated,
    the third packed with gzip; at the end the files hold every line of the originals, and are the
    same however often it was done.
    """

    def __init__(self, runs: list[Path], folder: Path, dice) -> None:
        self._dice = dice
        self._rest: dict[Path, bytes] = {}
        self._turn: dict[Path, Callable[[Path], None]] = {}
        for run in runs:
            place = folder / run.name
            place.mkdir(parents=True)
            for number, packed in enumerate(sorted(run.glob("*.log.gz"))):
                path = place / packed.name.removesuffix(".gz")
                self._rest[path] = gzip.decompress(packed.read_bytes())
                self._turn[path] = (renamed, copied, packed_up)[number % 3]
        self._half = {path: rest.index(b"\n", len(rest) // 2) + 1 for path, rest in self._rest.items()}
        self._written = dict.fromkeys(self._rest, 0)

    @property
    def done(self) -> bool:
        return not any(self._rest.values())

    def grow(self, most: int = 60_000) -> None:
        """Write a piece of every file; a piece ends where the file is rotated."""
        for path, rest in self._rest.items():
            written, half = self._written[path], self._half[path]
            if written == half and path in self._turn:
                self._turn.pop(path)(path)
            size = self._dice.randrange(1, most)
            if written < half:
                size = min(size, half - written)
            with path.open("ab") as out:
                out.write(rest[:size])
            self._rest[path], self._written[path] = rest[size:], written + len(rest[:size])

    def finish(self) -> None:
        while not self.done:
            self.grow(1 << 20)


def renamed(path: Path) -> None:
    path.rename(path.with_name(f"{path.name}.1"))


def copied(path: Path) -> None:
    path.with_name(f"{path.name}.1").write_bytes(path.read_bytes())
    os.truncate(path, 0)


def packed_up(path: Path) -> None:
    path.with_name(f"{path.name}.1.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    path.unlink()


def started_watch(folder: Path, checkpoint: Path, log: Path, *more: str) -> subprocess.Popen[bytes]:
    """``rebalance-kit watch`` as a process group of its own."""
    command = [
        sys.executable,
        "-m",
        "rebalance_kit.cli",
        "watch",
        str(folder),
        "--checkpoint",
        str(checkpoint),
        *more,
    ]
    with log.open("ab") as out:
        return subprocess.Popen(
            command,
            stdout=out,
            stderr=out,
            start_new_session=True,
            cwd=log.parent,
            env={
                **os.environ,
                "PYTHONPATH": str(ROOT),
                "JDK_JAVA_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -Xmx1g",
            },
        )


def kill_hard(process: subprocess.Popen[bytes]) -> None:
    """SIGKILL to Python and its Java alike."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def until(condition: Callable[[], bool], process: subprocess.Popen[bytes], seconds: float = 120) -> None:
    """Wait for a condition as long as the process runs; the process itself is what is waited on."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        try:
            process.wait(0.02)
        except subprocess.TimeoutExpired:
            continue
        assert condition(), f"the process ended with {process.returncode} first"
        return


def chunks(checkpoint: Path) -> int:
    return len(list((checkpoint / "landed").glob("*.txt.gz")))


def commits(checkpoint: Path) -> int:
    return len(list((checkpoint / "stream" / "commits").glob("[0-9]*")))


def written(spark, folder):
    """Every table in a folder as sorted rows, but for the columns that say where Spark read a line."""
    tables = {
        place.name: spark.read.parquet(str(place))
        for place in folder.iterdir()
        if not place.name.startswith(".") and place.is_dir()
    }
    return {
        name: sorted(repr(row) for row in table.drop(*PHYSICAL).collect()) for name, table in tables.items()
    }
