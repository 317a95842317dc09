"""The command ``rebalance-kit watch``: follows a folder until it is stopped, then writes the batch job's tables.

It stops on Ctrl-C (or SIGTERM), after ``idle`` seconds without a new line, when the file ``stop``
appears in the checkpoint folder, or with ``once`` when all present lines have been read.
"""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rebalance_kit.forensics.stopping import stop_signals
from rebalance_kit.forensics.tables import TABLES
from rebalance_kit.model.errors import ConfigError, RebalanceKitError
from rebalance_kit.pipeline.own_files import PAGE, note_written, refuse_foreign
from rebalance_kit.pipeline.stream.watch import Watch

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TextIO

    from rebalance_kit.pipeline.inquiry import Forensics
    from rebalance_kit.pipeline.stream.latest import Latest

#: Seconds between two scans of the folder, and the least between two updates about its rebalances.
SCAN_EVERY_S, UPDATE_EVERY_S = 0.5, 5.0


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """How to watch: where tables and checkpoint go, when to stop, and what to call with updates and final tables.

    ``on_update`` receives the last rebalances; ``page`` writes a page beside the tables.
    """

    out_dir: Path | None = None
    checkpoint: Path | None = None
    once: bool = False
    idle_s: float | None = None
    master: str | None = None
    on_update: Callable[[Latest], object] | None = None
    page: Callable[[Forensics, Path], object] | None = None

    @property
    def state(self) -> Path | None:
        """The checkpoint folder: as given, else beside the tables; None: no state outlives the process."""
        return self.checkpoint or (self.out_dir / ".watch" if self.out_dir is not None else None)


def run_watch(folder: Path, options: WatchOptions, out: TextIO) -> int:
    """Run ``rebalance-kit watch``; returns 0 after an orderly stop, 2 when something is missing or damaged."""
    from rebalance_kit.pipeline.command import require_paths

    try:
        require_paths([folder])
        if options.idle_s is not None and not 0 < options.idle_s <= 10**7:
            raise ConfigError(
                f"--idle {options.idle_s:g}; expected seconds, more than 0 and at most 10,000,000"
            )
        if options.out_dir is not None:
            refuse_foreign(options.out_dir, (*TABLES, PAGE))
        from rebalance_kit.pipeline.spark.launch import command_session

        with (
            command_session(options.master) as spark,
            Watch(spark, folder, options.state) as watch,
            stop_signals() as stop,
        ):
            _follow(watch, options, stop, out)
            _finish(watch, options, out)
    except RebalanceKitError as problem:
        sys.stderr.write(f"rebalance-kit watch: {problem}\n")
        return 2
    return 0


def _follow(watch: Watch, options: WatchOptions, stop: threading.Event, out: TextIO) -> None:
    """Read until there is a reason to stop; print updates in between."""
    stop_file = watch.checkpoint / "stop"
    where = f"; to stop: Ctrl-C, or touch {stop_file}" if not options.once else ""
    print(f"watching {watch.folder}{where}", file=out, flush=True)
    last_read_s = last_update_s = time.monotonic()
    unreported = shown = 0
    while True:
        read = watch.step()
        now_s = time.monotonic()
        unreported += read
        last_read_s = now_s if read else last_read_s
        if options.once or stop.is_set() or stop_file.exists():
            break
        if options.idle_s is not None and now_s - last_read_s >= options.idle_s:
            print(f"no new line for {options.idle_s:g} s", file=out, flush=True)
            break
        if unreported and now_s - last_update_s >= UPDATE_EVERY_S:
            watch.settle()
            shown = _update(watch.latest(), options, shown, out)
            last_update_s, unreported = time.monotonic(), 0
        stop.wait(SCAN_EVERY_S)
    stop_file.unlink(missing_ok=True)


def _update(latest: Latest, options: WatchOptions, shown: int, out: TextIO) -> int:
    """Print the position and the rebalances after the first ``shown``; returns how many there are now."""
    print(
        f"{latest.lines:,} lines of {latest.files} files, {latest.rebalances} rebalances, settled before "
        f"{latest.settled_before or '(nothing yet)'}",
        file=out,
    )
    for row in reversed(latest.rows[: max(0, latest.rebalances - shown)]):
        duration = "goes on" if row["end_ms"] is None else f"{(row['end_ms'] - row['start_ms']) / 1000:.1f} s"
        print(f"   {row['group']} {row['number']}: {row['cause']} ({duration})", file=out)
    out.flush()
    if options.on_update is not None:
        options.on_update(latest)
    return latest.rebalances


def _finish(watch: Watch, options: WatchOptions, out: TextIO) -> None:
    """Compute the tables, check the line counts, write and report, as ``rebalance-kit logs`` does."""
    from rebalance_kit.forensics import report
    from rebalance_kit.pipeline import output

    print("making the tables of all that was read", file=out, flush=True)
    result = watch.tables()
    report.require_balance(result.rows("lines"))
    if options.out_dir is not None:
        output.write_tables(result.tables(), options.out_dir)
        if options.page is not None:
            refuse_foreign(options.out_dir, (PAGE,))
            options.page(result, options.out_dir)
            note_written(options.out_dir, (PAGE,))
        print(f"tables written to {options.out_dir}", file=out)
    report.print_report(result, out)
    if options.on_update is not None:
        options.on_update(watch.latest())
    result.kept.unpersist()
