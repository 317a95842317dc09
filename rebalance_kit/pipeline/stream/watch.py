"""Follows a folder of growing logs: one batch after another, and the command that does so.

Watches a folder of growing logs: a stream follows it, and its tables can be queried at any time.

``Watch`` is one stream over a folder, with its checkpoint.  ``step`` lands new lines, ``latest`` returns the
last rebalances quickly, and ``tables`` computes all tables, which equal the batch job's once the files have
stopped growing.  Only ``rebalance_kit.pipeline.stream.watch`` prints.

The command ``rebalance-kit watch``: follows a folder until it is stopped, then writes the batch job's tables.

It stops on Ctrl-C (or SIGTERM), after ``idle`` seconds without a new line, when the file ``stop``
appears in the checkpoint folder, or with ``once`` when all present lines have been read.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import threading
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from rebalance_kit.forensics.progress import stop_signals
from rebalance_kit.forensics.tables import PAGE, TABLES
from rebalance_kit.model import __version__
from rebalance_kit.model.errors import ConfigError, DataError, RebalanceKitError, require_kind
from rebalance_kit.model.files import is_running, remove_scratch, scratch_folder, write_atomically
from rebalance_kit.pipeline.output import note_written, refuse_foreign
from rebalance_kit.pipeline.stream.tail import Tail

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import TextIO

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from rebalance_kit.forensics.lines.layouts import Reading
    from rebalance_kit.pipeline.inquiry import Events, Forensics
    from rebalance_kit.pipeline.stream.query import Latest


#: How long to wait for the Java of a killed predecessor to end before using its checkpoint.
_PREDECESSOR_TIMEOUT_S = 20


def require_folder(folder: object) -> None:
    """Refuse what is no folder, before Spark is started for it."""
    require_kind(folder, (str, os.PathLike), "the folder", "one that log files are written to")
    if isinstance(folder, str | os.PathLike) and not Path(folder).is_dir():
        raise DataError(f"{os.fspath(folder)} is no folder; expected one that log files are written to")


class Watch:
    """One stream over ``folder`` with its state in ``checkpoint`` (default: a temporary one, from the start).

    A context manager: the stream runs inside the block.  With the same checkpoint it resumes where it
    stopped, also after a kill.  ``reading`` adds what the lines do not say (see ``layouts.Reading``).  Raises
    ``DataError`` for a missing folder, or a checkpoint that belongs to another folder or is in use.
    """

    def __init__(
        self,
        spark: SparkSession,
        folder: str | os.PathLike[str],
        checkpoint: str | os.PathLike[str] | None = None,
        reading: Reading | None = None,
    ) -> None:
        require_folder(folder)
        self._spark, self._reading = spark, reading
        self._scratch = scratch_folder("watch")
        self.folder = os.fspath(folder)
        self.checkpoint = Path(checkpoint if checkpoint is not None else self._scratch)
        self._lock: int | None = None
        self._query: StreamingQuery | None = None
        self.tail: Tail | None = None

    def __enter__(self) -> Self:
        from rebalance_kit.pipeline.stream.query import begin_stream

        try:
            self._claim()
            self.tail = Tail([self.folder], self.checkpoint / "landed")
            self._query = begin_stream(
                self._spark,
                self.checkpoint / "landed",
                self.checkpoint / "lines",
                self.checkpoint / "stream",
                reading=self._reading,
            )
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._query is not None:
            self._query.stop()
        if self._lock is not None:
            os.close(self._lock)
        self._query = self._lock = None
        remove_scratch(self._scratch)

    def step(self) -> int:
        """Land all that was written since the last step; returns the number of complete lines."""
        tail, query = self._running()
        if query.exception() is not None:
            raise DataError(f"the stream over {self.folder} stopped: {query.exception()}")
        before = tail.lines
        while tail.scan():
            pass
        return tail.lines - before

    def settle(self) -> None:
        """Wait until every landed line is in the store."""
        self._running()[1].processAllAvailable()

    def latest(self, limit: int = 20) -> Latest:
        """The last ``limit`` rebalances in what the stream has stored so far; cheap enough to call often."""
        from rebalance_kit.pipeline.stream.query import latest, settled_before

        tail, query = self._running()
        silver = self._events()
        try:
            return latest(silver, tail.lines, settled_before(query), limit)
        finally:
            silver.kept.unpersist()

    def tables(self) -> Forensics:
        """All tables of the files' present content: ``forensics`` of the folder, computed from the store."""
        from rebalance_kit.pipeline.inquiry import gold

        self.settle()
        return gold(self._events())

    def _events(self) -> Events:
        from rebalance_kit.pipeline.inquiry import FEW_LINES
        from rebalance_kit.pipeline.spark.session import without_codegen
        from rebalance_kit.pipeline.stream.query import stored_events

        tail, _ = self._running()
        with without_codegen(self._spark, small=tail.lines <= FEW_LINES):
            return stored_events(self._spark, self.checkpoint / "lines", tail, self._scratch, self._reading)

    def _running(self) -> tuple[Tail, StreamingQuery]:
        if self.tail is None or self._query is None:
            raise DataError(f"the watch of {self.folder} is not running; expected: with Watch(...) as watch")
        return self.tail, self._query

    def _claim(self) -> None:
        """Take the checkpoint for this watch, and wait for the Java of a killed predecessor to end."""
        self._lock_checkpoint()
        note = self.checkpoint / "watch.json"
        folder, java_pid = str(Path(self.folder).resolve()), _java_pid(self._spark)
        if note.exists():
            last = self._noted(note)
            if last["folder"] != folder:
                raise DataError(
                    f"the checkpoint {self.checkpoint} belongs to {last['folder']}, not to {folder}; give another one"
                )
            if last.get("version") != store_version():
                raise DataError(
                    f"the checkpoint {self.checkpoint} was written by rebalance-kit {last.get('version', '(unnamed)')}, "
                    f"this is {store_version()}, which reads lines otherwise; expected another --checkpoint, to begin anew"
                )
            _wait_until_ended(last["java"], java_pid)
        write_atomically(note, json.dumps({"folder": folder, "java": java_pid, "version": store_version()}))

    def _noted(self, note: Path) -> dict[str, Any]:
        try:
            noted = json.loads(note.read_text("utf-8"))
            return {"folder": str(noted["folder"]), "java": noted["java"], **noted}
        except (ValueError, KeyError, TypeError) as problem:
            raise DataError(
                f"{note} is no note of a watch ({problem!r}); expected another --checkpoint, to begin anew"
            ) from problem

    def _lock_checkpoint(self) -> None:
        try:
            self.checkpoint.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.checkpoint / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as problem:
            raise DataError(
                f"cannot write to {self.checkpoint}: {problem.strerror}; expected a folder for the checkpoint"
            ) from problem
        if not _locked(self._lock):
            raise DataError(
                f"another watch uses the checkpoint {self.checkpoint}; expected one watch per checkpoint"
            )


@cache
def store_version() -> str:
    """What a store was written by: the kit's version, and a digest of its columns, layouts and grammar."""
    from rebalance_kit.forensics.grammar.table import MESSAGES, UNLAID
    from rebalance_kit.forensics.lines.layouts import LAYOUTS
    from rebalance_kit.pipeline.lines.batch_reader import CLASSIFIED

    read_by = (
        sorted(CLASSIFIED.items()),
        [(one.event, one.side, one.text, one.given) for one in (*MESSAGES, *UNLAID)],
        [(one.name, one.pattern) for one in LAYOUTS],
    )
    return f"{__version__}+{hashlib.sha256(repr(read_by).encode()).hexdigest()[:8]}"


def _locked(descriptor: int) -> bool:
    """Lock a file until the process ends in any way; True also on systems without such locks."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _java_pid(spark: SparkSession) -> int | None:
    """The process that commits the stream's batches; None where it is not a local one (Spark Connect)."""
    java = getattr(spark, "_jvm", None)
    return None if java is None else int(java.java.lang.ProcessHandle.current().pid())


def _wait_until_ended(last: int | None, mine: int | None) -> None:
    """Wait for the Java of a killed Python, which ends a little later: two must not write one checkpoint."""
    until = time.monotonic() + _PREDECESSOR_TIMEOUT_S
    while last is not None and last != mine and is_running(last) and time.monotonic() < until:
        time.sleep(0.1)


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
        from rebalance_kit.pipeline.spark.session import command_session

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
