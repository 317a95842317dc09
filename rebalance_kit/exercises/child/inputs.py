"""DataFrames of what an exercise gives, made by Spark: behind the wall for an answer, in a notebook for a reader."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

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


class Inputs:
    """Makes the inputs on one session; events that were read once are kept."""

    def __init__(self, spark: Any) -> None:
        self.spark = spark
        self._events: dict[str, Any] = {}

    def made(self, described: Mapping[str, Any]) -> Any:
        """The DataFrame of one description (``exercises.case_runs``)."""
        arguments = {name: value for name, value in described.items() if name != "make"}
        makers: Mapping[str, Callable[..., Any]] = {
            "events": self.events,
            "lines": self.lines,
            "table": self.table,
            "stream": self.stream,
        }
        return makers[described["make"]](**arguments)

    def read(self, folders: Iterable[str]) -> None:
        """Read the logs of all these folders in one go, so that ``events`` has them at hand."""
        from rebalance_kit.pipeline import read_events

        fresh = tuple(dict.fromkeys(folder for folder in folders if folder not in self._events))
        if not fresh:
            return
        events = read_events(self.spark, [Path(folder) for folder in fresh])
        named = events.events.selectExpr("path as _path", f"{_LAST.format('path')} as run", "*").select(
            "_path", *EVENTS
        )
        table = named.cache()
        table.count()
        events.kept.unpersist()
        for folder in fresh:
            self._events[folder] = table

    def events(self, folders: Sequence[str]) -> Any:
        """The events of the logs in these folders, in the columns ``EVENTS``, and in no particular order."""
        self.read(folders)
        tables = list({id(self._events[folder]): self._events[folder] for folder in folders}.values())
        paths = ", ".join(f"'{folder}'" for folder in folders)
        together = tables[0]
        for table in tables[1:]:
            together = together.unionByName(table)
        return together.where(f"_path in ({paths})").drop("_path")

    def lines(self, files: Sequence[str], root: str) -> Any:
        """The lines of some log files: run, file, line (from 1), text."""
        from rebalance_kit.forensics.lines.files import survey
        from rebalance_kit.pipeline.lines.tables import measure_blocks, read_lines, with_line_numbers

        raw = read_lines(self.spark, survey([Path(file) for file in files], Path(root)).files)
        numbered = with_line_numbers(raw, measure_blocks(raw))
        names = (
            "element_at(split(file, '/'), -2) as run",
            f"regexp_replace({_LAST.format('file')}, '[.]gz$', '') as file",
        )
        return numbered.selectExpr(*names, "line", "text")

    def table(self, rows: Sequence[Sequence[Any]], schema: str) -> Any:
        """A small table of plain values."""
        return self.spark.createDataFrame([tuple(row) for row in rows], schema)

    def stream(self, folder: str, schema: str) -> Any:
        """A stream of the files in a folder, one after another."""
        return self.spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).json(folder)
