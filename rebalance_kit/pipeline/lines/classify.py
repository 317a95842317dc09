"""Classifies lines: Python workers read files (``read_classified``), or are handed lines in batches (``classify``).

Python matches a line against the tables of layouts and templates.  Spark expressions for the same tables take
several times as long.  Ignored lines leave one count per batch and block, so that no line is read twice and
the line counts still balance.
"""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from rebalance_kit.forensics.lines.file_reader import shift
from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.pipeline.lines.batch_reader import CLASSIFIED, BatchReader
from rebalance_kit.pipeline.lines.ranges import RangeReader, tasks_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, Row, SparkSession

    from rebalance_kit.forensics.lines.files import LogFile


#: The columns of classified lines as Spark writes them.
SCHEMA = ", ".join(f"`{name}` {kind}" for name, kind in CLASSIFIED.items())


def read_classified(
    spark: SparkSession, files: Sequence[LogFile], reading: Reading | None = None
) -> DataFrame:
    """Classify the lines of files (columns ``CLASSIFIED``): parsed and rejected lines, and counts of ignored ones.

    Every task reads ranges of the files itself (see ``ranges``), so a worker of a cluster must see them under the
    same paths.
    """
    tasks, said = tasks_of(files), reading or Reading()

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        reader = RangeReader(said)
        for batch in batches:
            for number in batch.column("id").to_pylist():
                for piece in tasks[number]:
                    yield from reader.read(piece)

    return spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(read, SCHEMA)


def classify(
    lines: DataFrame, names: Mapping[str, tuple[str, str]], reading: Reading | None = None
) -> DataFrame:
    """Classify lines given as ``location``, ``block``, ``value`` and optionally ``row`` (see ``BatchReader``)."""
    said = reading or Reading()

    def classified(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return map(BatchReader(said, names).read, batches)

    return lines.withColumn("value", F.col("value").cast("binary")).mapInArrow(classified, SCHEMA)


#: What is known of a block once all of it has been read: the number of lines before it, the correction of its
#: clock, and the client and the group of its file where there is only one.
_BLOCKS = (
    "path string, file string, block long, before long, shift_ms long, file_client string, file_group string"
)


def blocks_of(classified: DataFrame, files: Sequence[LogFile], reading: Reading | None = None) -> DataFrame:
    """One row per block of a file (``_BLOCKS``), for ``silver.events``; computed eagerly."""
    theirs = F.col("client").isNotNull() & (F.col("side") != "broker")
    counted = (
        classified.groupBy("path", "file", "block")
        .agg(
            F.sum("n").alias("lines"),
            F.collect_set(F.when(theirs, F.col("client"))).alias("clients"),
            F.collect_set(F.when(theirs, F.col("group"))).alias("groups"),
        )
        .collect()
    )
    clocks = {(file.run, file.name): shift(file.run, file.name, reading or Reading()) for file in files}
    return classified.sparkSession.createDataFrame(list(_blocks(counted, clocks)), _BLOCKS)


def _blocks(
    counted: Iterable[Row], clocks: Mapping[tuple[str, str], int]
) -> Iterator[tuple[str, str, int, int, int, str | None, str | None]]:
    in_order = sorted(counted, key=attrgetter("path", "file", "block"))
    for key, blocks in groupby(in_order, attrgetter("path", "file")):
        rows = list(blocks)
        client, group = (_only(rows, name) for name in ("clients", "groups"))
        before = 0
        for row in rows:
            yield (*key, row.block, before, clocks[key], client, group)
            before += row.lines


def _only(rows: Sequence[Row], name: str) -> str | None:
    values = {value for row in rows for value in row[name]}
    return next(iter(values)) if len(values) == 1 else None
