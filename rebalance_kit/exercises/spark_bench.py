"""Where answers are tried: one Spark session, one folder of logs, and the tables made of them, kept for the next check.

Everything that touches Spark's own names goes through ``rebalance_kit.pipeline``.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rebalance_kit.exercises.case_runs import CaseRun, place_logs

#: The columns of the events that a learner gets, in order.
EVENTS = (
    "run",
    "file",
    "line",
    "at",
    "at_ms",
    "side",
    "event",
    "group",
    "client",
    "instance",
    "member",
    "reason",
    "generation",
    "epoch",
    "members",
    "assignor",
    "state_from",
    "state_to",
    "partitions",
    "topic",
    "offset",
    "text",
)

_LAST = "element_at(split({}, '/'), -1)"


class SparkBench:
    """A session (given, the running one, or one begun when first asked for) with a folder; ``close`` removes the folder."""

    def __init__(self, spark: Any = None) -> None:
        self._spark = spark
        self._held = TemporaryDirectory(prefix="rebalance-kit-exercises-")
        self.folder = Path(self._held.name)
        self._events: dict[CaseRun, Any] = {}

    @property
    def spark(self) -> Any:
        """The session, a new one where the one before was stopped.

        Raises ``EnvironmentProblem`` where there is no Java or no PySpark.
        """
        self._begin_anew_where_stopped()
        if self._spark is None:
            from rebalance_kit.pipeline import quiet_session

            self._spark = quiet_session()
        return self._spark

    def close(self) -> None:
        """Remove the folder; the session goes on."""
        self._held.cleanup()

    @contextmanager
    def lent(self, inputs: Sequence[Any], tag: str) -> Iterator[tuple[Sequence[str], Mapping[str, str]]]:
        """Names under which another process finds these DataFrames, and the variables by which it finds Java."""
        from rebalance_kit.pipeline.spark.shared_java import gateway_variables

        views = [f"{tag}_{number}" for number in range(len(inputs))]
        for frame, name in zip(inputs, views, strict=True):
            frame.createOrReplaceGlobalTempView(name)
        try:
            yield views, gateway_variables(self.spark)
        finally:
            if self._alive():
                for name in views:
                    self.spark.catalog.dropGlobalTempView(name)

    def clean_up(self, tag: str) -> bool:
        """End the jobs that carry the tag; where Spark was stopped, begin anew when next asked. Whether it was."""
        stopped = self._begin_anew_where_stopped()
        if not stopped:
            self.spark.sparkContext.cancelJobsWithTag(tag)
        return stopped

    def _alive(self) -> bool:
        from rebalance_kit.pipeline.spark.shared_java import is_alive

        return self._spark is None or is_alive(self._spark)

    def _begin_anew_where_stopped(self) -> bool:
        """Give up a session that was stopped, with its tables; whether it was."""
        from rebalance_kit.pipeline.spark.shared_java import forget

        if self._alive():
            return False
        forget(self._spark)
        self._spark = None
        self._events = {}
        return True

    def logs(self, run: CaseRun) -> Path:
        """The folder of a run's logs; runs of one name that differ lie apart."""
        place_logs((run,), self._place(run))
        return self._place(run) / run.name

    def _place(self, run: CaseRun) -> Path:
        return self.folder / "logs" / hashlib.sha256(repr(run).encode()).hexdigest()[:12]

    def read(self, runs: Iterable[CaseRun]) -> None:
        """Read the logs of all these runs in one go, so that ``events`` has them at hand."""
        from rebalance_kit.pipeline import read_events

        self._begin_anew_where_stopped()
        fresh = tuple(dict.fromkeys(run for run in runs if run not in self._events))
        if not fresh:
            return
        self._unpack(fresh)
        events = read_events(self.spark, [self.logs(run) for run in fresh])
        named = events.events.selectExpr("path as _path", f"{_LAST.format('path')} as run", "*").select(
            "_path", *EVENTS
        )
        table = named.cache()
        table.count()
        events.kept.unpersist()
        for run in fresh:
            self._events[run] = table

    def _unpack(self, runs: Iterable[CaseRun]) -> None:
        """Unpack all recorded runs together: each unpacking goes through the whole pack."""
        wanted = [run for run in runs if run.recorded and not self._place(run).exists()]
        if len(wanted) > 1:
            at_once = self.folder / "unpacked"
            place_logs(tuple(dict.fromkeys(replace(run, name=run.record) for run in wanted)), at_once)
            for run in wanted:
                shutil.copytree(at_once / run.record, self._place(run) / run.name)

    def events(self, runs: Sequence[CaseRun]) -> Any:
        """The events of these runs, in the columns ``EVENTS``, and in no particular order."""
        self.read(runs)
        tables = list({id(self._events[run]): self._events[run] for run in runs}.values())
        paths = ", ".join(f"'{self.logs(run)}'" for run in runs)
        together = tables[0]
        for table in tables[1:]:
            together = together.unionByName(table)
        return together.where(f"_path in ({paths})").drop("_path")

    def lines(self, runs: Sequence[CaseRun], files: Sequence[str]) -> Any:
        """The lines of some log files of these runs: run, file, line (from 1), text."""
        from rebalance_kit.forensics.lines.files import survey
        from rebalance_kit.pipeline.lines.bronze import measure_blocks, read_lines, with_line_numbers

        self._unpack(runs)
        paths = [
            path for run in runs for name in files for path in sorted(self.logs(run).glob(f"{name}.log*"))
        ]
        raw = read_lines(self.spark, survey(paths, self.folder).files)
        numbered = with_line_numbers(raw, measure_blocks(raw))
        names = (
            "element_at(split(file, '/'), -2) as run",
            f"regexp_replace({_LAST.format('file')}, '[.]gz$', '') as file",
        )
        return numbered.selectExpr(*names, "line", "text")

    def table(self, rows: Iterable[Sequence[Any]], schema: str) -> Any:
        """A small table of plain values."""
        return self.spark.createDataFrame(list(rows), schema)

    def stream(self, batches: Sequence[Sequence[Mapping[str, Any]]], schema: str) -> Any:
        """A stream that receives these batches of rows one after another, a file each."""
        source = self.folder / f"stream-{len(list(self.folder.iterdir()))}"
        source.mkdir()
        for number, batch in enumerate(batches):
            file = source / f"{number:04}.json"
            file.write_text("".join(json.dumps(row) + "\n" for row in batch), "utf-8")
            os.utime(
                file, (1_700_000_000 + number, 1_700_000_000 + number)
            )  # files are taken in the order of their times
        return self.spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(str(source))
