"""From lines to classified lines: Spark reads the text and hands it to Python in batches.

Python reads a line by the tables of layouts and templates with one expression each; the same in
Spark's own expressions takes several times as long, since it compiles none of them.  Lines that are
ignored leave a count behind for each batch, so nothing is read twice and nothing is lost from the books.
"""

from __future__ import annotations

from fnmatch import fnmatch
from itertools import groupby
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.pipeline.lines import bronze
from rebalance_kit.pipeline.lines.batch_reader import CLASSIFIED, BatchReader

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, Row, SparkSession

    from rebalance_kit.forensics.lines.files import LogFile


def read_classified(
    spark: SparkSession, files: Sequence[LogFile], reading: Reading | None = None
) -> DataFrame:
    """The lines of files as classified lines (``CLASSIFIED``): parsed and rejected ones, and counts of ignored ones."""
    raw, files_by_address = bronze.read_raw(spark, files)
    names = {address: (file.run, file.name) for address, file in files_by_address.items()}
    return classify(raw.select("location", "block", "value"), names, reading)


def classify(
    lines: DataFrame, names: Mapping[str, tuple[str, str]], reading: Reading | None = None
) -> DataFrame:
    """Classified lines of ``location``, ``block``, ``value`` and perhaps ``row`` (see ``BatchReader``)."""
    schema = ", ".join(f"`{name}` {kind}" for name, kind in CLASSIFIED.items())
    layouts = (reading or Reading()).table

    def classified(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return map(BatchReader(layouts, names).read, batches)

    return lines.withColumn("value", F.col("value").cast("binary")).mapInArrow(classified, schema)


#: What is known of a block of a file once all of it is read: how many lines come before it, how much its
#: clock is behind, and the client and the group of its file where that is of one only.
_BLOCKS = (
    "path string, file string, block long, before long, shift_ms long, file_client string, file_group string"
)


def blocks_of(classified: DataFrame, files: Sequence[LogFile], reading: Reading | None = None) -> DataFrame:
    """One row a block of a file, for ``silver.events`` (``_BLOCKS``); computed at once."""
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
    clocks = {(file.run, file.name): shift(file, reading or Reading()) for file in files}
    return classified.sparkSession.createDataFrame(list(_blocks(counted, clocks)), _BLOCKS)


def _blocks(
    counted: Iterable[Row], clocks: Mapping[tuple[str, str], int]
) -> Iterator[tuple[str, str, int, int, int, str | None, str | None]]:
    by_file = lambda row: (row.path, row.file)  # noqa: E731
    for key, found in groupby(sorted(counted, key=lambda row: (row.path, row.file, row.block)), by_file):
        rows = list(found)
        client, group = (_only(rows, name) for name in ("clients", "groups"))
        before = 0
        for row in rows:
            yield (*key, row.block, before, clocks[key], client, group)
            before += row.lines


def _only(rows: Sequence[Row], name: str) -> str | None:
    told = {one for row in rows for one in row[name]}
    return next(iter(told)) if len(told) == 1 else None


def shift(file: LogFile, reading: Reading) -> int:
    """Milliseconds to add to the times of a file: the first offset whose pattern fits its path or name."""
    whole = f"{file.run}/{file.name}"
    fitting = (
        ms for pattern, ms in reading.offsets if fnmatch(whole, pattern) or fnmatch(file.name, pattern)
    )
    return next(fitting, 0)
