"""Watch a folder of growing logs: a stream reads on, its tables can be asked at any time.

``Watch`` is one reading of a folder with its checkpoint.  ``step`` lands what is new, ``latest`` tells
the last rebalances quickly, ``tables`` makes all tables, which are the batch's once the files stand
still.  Nothing here prints; ``rebalance_kit.pipeline.stream.command`` does.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import write_atomically
from rebalance_kit.pipeline.stream.tail import Tail

if TYPE_CHECKING:
    from types import TracebackType

    from pyspark.sql import SparkSession
    from pyspark.sql.streaming import StreamingQuery

    from rebalance_kit.forensics.lines.layouts import Reading
    from rebalance_kit.pipeline.forensics import Forensics
    from rebalance_kit.pipeline.stream.latest import Latest

#: How long a killed predecessor's Java is waited for before its checkpoint is used.
_LAST_BREATH_S = 20


class Watch:
    """One reading of ``folder`` with its state in ``checkpoint`` (default: a temporary one, so from the start).

    A context manager: the stream runs from entering to leaving, and goes on where it stopped when
    the same checkpoint is given again, after a kill too; ``reading`` says what the lines do not (see
    ``layouts.Reading``).  Raises ``DataError`` for a folder that is
    missing, or a checkpoint that is another folder's or in use.
    """

    def __init__(
        self,
        spark: SparkSession,
        folder: str | os.PathLike[str],
        checkpoint: str | os.PathLike[str] | None = None,
        reading: Reading | None = None,
    ) -> None:
        if not Path(folder).is_dir():
            raise DataError(f"{os.fspath(folder)} is no folder; expected one that log files are written to")
        self._spark, self._reading = spark, reading
        self._scratch = tempfile.TemporaryDirectory(prefix="rebalance-kit-")
        self.folder = os.fspath(folder)
        self.checkpoint = Path(checkpoint if checkpoint is not None else self._scratch.name)
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
        self._scratch.cleanup()

    def step(self) -> int:
        """Land all that was written since the last step; how many complete lines that were."""
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
        """The last ``limit`` rebalances of what the stream has stored by now; meant to be asked often."""
        from rebalance_kit.pipeline.stream.latest import latest
        from rebalance_kit.pipeline.stream.query import settled_before

        tail, query = self._running()
        silver = self._events()
        try:
            return latest(silver, tail.lines, settled_before(query), limit)
        finally:
            silver.kept.unpersist()

    def tables(self) -> Forensics:
        """All tables of what the files hold now: ``forensics`` of the folder, made from the stream's store."""
        from rebalance_kit.pipeline.forensics import gold

        self.settle()
        return gold(self._events())

    def _events(self) -> Any:
        from rebalance_kit.pipeline.forensics import FEW_LINES
        from rebalance_kit.pipeline.spark.session import plainly
        from rebalance_kit.pipeline.stream.query import stored_events

        tail, _ = self._running()
        with plainly(self._spark, small=tail.lines <= FEW_LINES):
            return stored_events(
                self._spark, self.checkpoint / "lines", tail, Path(self._scratch.name), self._reading
            )

    def _running(self) -> tuple[Tail, StreamingQuery]:
        if self.tail is None or self._query is None:
            raise DataError(f"the watch of {self.folder} is not running; expected: with Watch(...) as watch")
        return self.tail, self._query

    def _claim(self) -> None:
        """Make the checkpoint this watch's own; wait for the Java of one that was killed to be gone."""
        try:
            self.checkpoint.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(self.checkpoint / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as problem:
            raise DataError(
                f"cannot write to {self.checkpoint}: {problem.strerror}; expected a folder for the checkpoint"
            ) from problem
        if not _locked(self._lock):
            raise DataError(
                f"another watch uses the checkpoint {self.checkpoint}; expected one watch a checkpoint"
            )
        note = self.checkpoint / "watch.json"
        mine = {"folder": str(Path(self.folder).resolve()), "java": _java_pid(self._spark)}
        if note.exists():
            last = json.loads(note.read_text("utf-8"))
            if last["folder"] != mine["folder"]:
                raise DataError(
                    f"the checkpoint {self.checkpoint} belongs to {last['folder']}, not to {mine['folder']}; give another one"
                )
            _await_end(last["java"], mine["java"])
        write_atomically(note, json.dumps(mine))


def _locked(descriptor: int) -> bool:
    """Lock a file until the process ends, however it ends; where the system has no such locks, do without."""
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
    """The process that commits the stream's batches; None where it is not ours (Spark Connect)."""
    java = getattr(spark, "_jvm", None)
    return None if java is None else int(java.java.lang.ProcessHandle.current().pid())


def _await_end(last: int | None, mine: int | None) -> None:
    """A killed Python takes its Java along, but not at once; two must not write one checkpoint."""
    until = time.monotonic() + _LAST_BREATH_S
    while last is not None and last != mine and _alive(last) and time.monotonic() < until:
        time.sleep(0.1)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    return True
