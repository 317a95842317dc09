"""The command ``rebalance-kit watch``: follow a folder until told to stop, then write the batch's tables.

It stops on Ctrl-C (or SIGTERM), after ``idle`` seconds without a new line, when the file ``stop``
appears in the checkpoint folder, or with ``once`` when everything there is has been read.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.pipeline.stream.watch import Latest, Watch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import TextIO

    from rebalance_kit.pipeline.forensics import Forensics

#: Seconds between two looks at the folder, and at least between two looks at the rebalances.
LOOK_S, TELL_S = 0.5, 5.0


@dataclass(frozen=True, slots=True)
class Wishes:
    """How to watch: where tables and checkpoint go, when to stop, who is told of the last rebalances, who draws the report."""

    out_dir: Path | None = None
    checkpoint: Path | None = None
    once: bool = False
    idle_s: float | None = None
    master: str | None = None
    told: Callable[[Latest], object] | None = None
    page: Callable[[Forensics, Path], object] | None = None

    @property
    def state(self) -> Path | None:
        """The checkpoint folder: as given, else beside the tables; None: nothing outlives the process."""
        return self.checkpoint or (self.out_dir / ".watch" if self.out_dir is not None else None)


def run_watch(folder: Path, wishes: Wishes, out: TextIO) -> int:
    """Answer ``rebalance-kit watch``; 0 when it was stopped in order, 2 when something is missing or damaged."""
    from rebalance_kit.pipeline.command import require_paths

    try:
        require_paths([folder])
        from rebalance_kit.pipeline.spark.session import spark_session

        spark = spark_session(wishes.master)
        with Watch(spark, folder, wishes.state) as watch, asked_to_stop() as stop:
            _follow(watch, wishes, stop, out)
            _finish(watch, wishes, out)
    except RebalanceKitError as problem:
        sys.stderr.write(f"rebalance-kit watch: {problem}\n")
        return 2
    return 0


def _follow(watch: Watch, wishes: Wishes, stop: threading.Event, out: TextIO) -> None:
    """Read on until there is a reason to stop; tell of what is new now and then."""
    stop_file = watch.checkpoint / "stop"
    where = f"; to stop: Ctrl-C, or touch {stop_file}" if not wishes.once else ""
    print(f"watching {watch.folder}{where}", file=out, flush=True)
    heard = told = time.monotonic()
    news = shown = 0
    while True:
        read = watch.step()
        now = time.monotonic()
        news += read
        heard = now if read else heard
        if wishes.once or stop.is_set() or stop_file.exists():
            break
        idle = wishes.idle_s is not None and now - heard >= wishes.idle_s
        if idle:
            print(f"no new line for {wishes.idle_s:g} s", file=out, flush=True)
            break
        if news and now - told >= TELL_S:
            watch.settle()
            shown = _tell(watch.latest(), wishes, shown, out)
            told, news = time.monotonic(), 0
        stop.wait(LOOK_S)
    stop_file.unlink(missing_ok=True)


def _tell(found: Latest, wishes: Wishes, shown: int, out: TextIO) -> int:
    """Say how far the reading is and which rebalances are new; how many there are by now."""
    print(
        f"{found.lines:,} lines of {found.files} files, {found.rebalances} rebalances, settled before "
        f"{found.settled_before or '(nothing yet)'}",
        file=out,
    )
    for row in reversed(found.rows[: max(0, found.rebalances - shown)]):
        lasted = "goes on" if row["end_ms"] is None else f"{(row['end_ms'] - row['start_ms']) / 1000:.1f} s"
        print(f"   {row['group']} {row['number']}: {row['cause']} ({lasted})", file=out)
    out.flush()
    if wishes.told is not None:
        wishes.told(found)
    return found.rebalances


def _finish(watch: Watch, wishes: Wishes, out: TextIO) -> None:
    """Make the tables, check the books, write and report: what ``rebalance-kit logs`` does with the finished files."""
    from rebalance_kit.pipeline import output, report
    from rebalance_kit.pipeline.lines import accounting

    print("making the tables of all that was read", file=out, flush=True)
    result = watch.tables()
    books = [tuple(row) for row in result.lines.orderBy("path", "file").collect()]
    accounting.require_balance(books)
    if wishes.out_dir is not None:
        output.write_tables(result.tables(), wishes.out_dir)
        if wishes.page is not None:
            wishes.page(result, wishes.out_dir)
        print(f"tables written to {wishes.out_dir}", file=out)
    report.print_report(result, books, out)
    if wishes.told is not None:
        wishes.told(watch.latest())
    result.kept.unpersist()


@contextmanager
def asked_to_stop() -> Iterator[threading.Event]:
    """An event that Ctrl-C or SIGTERM sets; a second one of them ends at once."""
    event = threading.Event()

    def hear(number: int, frame: object) -> None:
        if event.is_set():
            raise KeyboardInterrupt
        event.set()

    here = threading.current_thread() is threading.main_thread()
    before = {one: signal.signal(one, hear) for one in (signal.SIGINT, signal.SIGTERM)} if here else {}
    try:
        yield event
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
