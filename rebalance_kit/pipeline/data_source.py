"""The events of logs as a Spark data source: ``spark.read.format("kafka_rebalance_logs").load("logs/")``.

One task reads one file, since a client's line may be told whose it is by the rest of its file.  ``read_events`` also
gives the rejected lines and the counts, and reads a large file in several tasks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from rebalance_kit.forensics.tables import EVENTS
from rebalance_kit.model.errors import ConfigError, DataError
from rebalance_kit.pipeline.output import arrow_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

    from rebalance_kit.forensics.lines.layouts import Reading

#: The name of the format.
FORMAT = "kafka_rebalance_logs"

#: Events that a worker hands over at once.
_BATCH = 20_000


def register(spark: SparkSession) -> None:
    """Make the format known to a session."""
    spark.dataSource.register(KafkaRebalanceLogs)


@dataclass
class LogFilePartition(InputPartition):
    """One file of a run."""

    run: str
    name: str
    path: str


class KafkaRebalanceLogs(DataSource):
    """The table ``events`` of the logs under a path; options: ``year`` and ``timeZone``, for times that lack them."""

    @classmethod
    def name(cls) -> str:
        """What ``format`` is given."""
        return FORMAT

    def schema(self) -> str:
        """The columns of events."""
        return ", ".join(f"`{name}` {kind}" for name, kind in EVENTS.items())

    def reader(self, schema: StructType) -> EventReader:  # noqa: ARG002 - Spark's signature
        """The reader of a path; ``ConfigError`` for options that cannot be meant."""
        from rebalance_kit.pipeline.command import ReadingOptions, reading_of

        path, year = self.options.get("path"), self.options.get("year")
        if not path:
            raise ConfigError(f'no path; expected spark.read.format("{FORMAT}").load("a folder of logs")')
        if year is not None and not year.isdecimal():
            raise ConfigError(f"the option year is {year!r}; expected a number such as 2026")
        options = ReadingOptions(
            year=None if year is None else int(year), time_zone=self.options.get("timeZone")
        )
        return EventReader(path, reading_of(options))


class EventReader(DataSourceReader):
    """Reads the events of each file under a path."""

    def __init__(self, path: str, reading: Reading) -> None:
        self._path, self._reading = path, reading

    def partitions(self) -> list[InputPartition]:
        """The files; ``DataError`` where there is no log."""
        from rebalance_kit.forensics.lines.files import collect

        found, passed_over = collect([self._path.removeprefix("file:")])
        if damaged := next((one for one in passed_over if one.damaged), None):
            raise DataError(f"{damaged.path} {damaged.why}; expected an archive of logs, or logs")
        if not found:
            raise DataError(
                f"no log file under {self._path}; expected files such as server.log or client.log.gz"
            )
        return [LogFilePartition(run, name, str(path.resolve())) for run, name, path in found]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """The events of a file, many at a time."""
        from pathlib import Path

        import pyarrow as pa

        from rebalance_kit.forensics.lines.file_reader import FileReader
        from rebalance_kit.forensics.lines.files import Text
        from rebalance_kit.forensics.look import event_row

        assert isinstance(partition, LogFilePartition)  # what partitions() gave
        text = Text(Path(partition.path))
        told = FileReader(self._reading).read(partition.run, partition.name, text.pieces())
        if text.damage is not None:  # a table has no place to say so
            raise DataError(f"{partition.path}: {text.note(told.lines)}; expected a whole file")
        events = told.events
        for begin in range(0, len(events), _BATCH):
            rows = [event_row(event) for event in events[begin : begin + _BATCH]]
            columns = [
                pa.array([row[name] for row in rows], arrow_type(kind)) for name, kind in EVENTS.items()
            ]
            yield pa.record_batch(columns, names=list(EVENTS))
