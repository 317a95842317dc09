"""The tables of lines: bronze as they stand in the files, silver as events, rejects and counts.

Bronze: the lines of all files, each with its run, its file and its place in the file.

The log job reads the lines raw and cleans them in its Python workers (``batch_reader``); ``read_lines`` does
the same with Spark expressions, for exercises and for a look at the text.

Only a line feed ends a line (a lone carriage return is part of it, as ``wc -l`` counts).  Invalid UTF-8 is
repaired with replacement characters, so that it can be shown.  A line longer than ``LONGEST_LINE`` keeps
only its beginning, and ``size`` holds its full length.

Silver: parsed events, rejected lines and line counts, as tables.

``packets`` are what the reading gave; here workers unpack them into the columns that people read, whenever a query
asks for them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from pyspark.sql import functions as F

from rebalance_kit.forensics.lines.line_reader import KEPT_OF_A_LONG_LINE, LONGEST_LINE
from rebalance_kit.forensics.tables import EVENTS, LINES, REJECTED
from rebalance_kit.pipeline.arrow_types import arrow_type
from rebalance_kit.pipeline.lines.packets import (
    EVENTS_OF_GROUP,
    REJECTED_LINES,
    SUMMED,
    Place,
    rejected_lines,
    unpacked,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from rebalance_kit.forensics.lines.files import LogFile
    from rebalance_kit.pipeline.lines.packets import Blocks


#: The columns of bronze, in order.
BRONZE = ("path", "file", "block", "row", "size", "text")


def read_lines(spark: SparkSession, files: Sequence[LogFile]) -> DataFrame:
    """All lines of ``files`` as bronze.

    ``block`` and ``row`` order the lines of a file: Spark reads a large file in several blocks, whose ``row``
    numbers need not be consecutive.  ``with_line_numbers`` computes the line number from them.
    """
    placed, files_by_address = read_raw(spark, files)
    return named_lines(placed, spark, files_by_address)


def read_raw(spark: SparkSession, files: Sequence[LogFile]) -> tuple[DataFrame, dict[str, LogFile]]:
    """The unchanged lines (``location``, ``block``, ``row``, ``value``), and the files by location."""
    # Spark reads *?[]{} in a path as a pattern, so every name is escaped.
    read = spark.read.option("lineSep", "\n").text([_escaped(str(file.readable.resolve())) for file in files])
    known = {str(file.readable.resolve()): file for file in files}
    addresses = {_one_slash(uri): known[_local_path(uri)] for uri in read.inputFiles()}
    placed = read.select(
        F.col("_metadata.file_path").alias("location"),
        F.col("_metadata.file_block_start").alias("block"),
        F.monotonically_increasing_id().alias("row"),
        F.col("value"),
    )
    return placed, addresses


def named_lines(placed: DataFrame, spark: SparkSession, addresses: Mapping[str, LogFile]) -> DataFrame:
    """Raw lines as bronze."""
    # Spark reports a file by its URI; one join gives back the run and the file's own name.
    names = spark.createDataFrame(
        [(location, file.run, file.name) for location, file in addresses.items()],
        "location string, path string, file string",
    )
    return placed.join(F.broadcast(names), "location", "inner").transform(clean_text).select(*BRONZE)


def _one_slash(uri: str) -> str:
    """``file:///a`` as ``file:/a``, because Spark writes the one in some places and the other in others."""
    return re.sub("^file:/+", "file:/", uri)


def _local_path(uri: str) -> str:
    """The path inside a ``file:`` address."""
    return unquote(urlsplit(uri).path)


def clean_text(lines: DataFrame) -> DataFrame:
    """Replace ``value`` by ``text`` (valid UTF-8, no trailing carriage return, of bounded length) and ``size``."""
    size = F.octet_length("value")
    bounded = F.when(size > LONGEST_LINE, F.substring("value", 1, KEPT_OF_A_LONG_LINE)).otherwise(
        F.col("value")
    )
    valid = F.when(F.is_valid_utf8(bounded), bounded).otherwise(F.make_valid_utf8(bounded))
    return lines.withColumn("size", size).withColumn("text", F.rtrim(valid, F.lit("\r"))).drop("value")


def with_line_numbers(rows: DataFrame, blocks: DataFrame) -> DataFrame:
    """Add ``line``, counted from 1 in each file, from ``blocks`` (see ``measure_blocks``)."""
    keys = ["path", "file", "block"]
    numbered = rows.join(F.broadcast(blocks), keys, "inner")
    return numbered.withColumn("line", F.col("row") - F.col("first_row") + F.col("before") + 1).drop(
        "first_row", "before"
    )


def measure_blocks(lines: DataFrame) -> DataFrame:
    """One row per block of a file: its first ``row``, and how many lines of the file come ``before`` it."""
    from pyspark.sql import Window

    sizes = lines.groupBy("path", "file", "block").agg(
        F.min("row").alias("first_row"), F.count("*").alias("n")
    )
    earlier = Window.partitionBy("path", "file").orderBy("block").rowsBetween(Window.unboundedPreceding, -1)
    return sizes.withColumn("before", F.coalesce(F.sum("n").over(earlier), F.lit(0))).drop("n")


def _escaped(path: str) -> str:
    return "".join("\\" + letter if letter in "*?[]{}\\," else letter for letter in path)


#: The columns of ``Place``.
PLACES: dict[str, str] = {
    "path": "string",
    "file": "string",
    "block": "bigint",
    "before": "bigint",
    "shift_ms": "bigint",
    "file_client": "string",
    "file_group": "string",
    "before_ms": "bigint",
}


def events(packets: DataFrame, blocks: Blocks) -> DataFrame:
    """The parsed lines as typed events, one row per event, in the columns of ``tables.EVENTS``."""

    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for data, place in _packets(batches):
            rows = unpacked(data, place)
            for fields in rows:
                fields["at"] = None if fields.get("at_ms") is None else fields["at_ms"] * 1000
            yield arrow_batch(rows, EVENTS)

    return with_places(packets.filter(F.col("kind") == EVENTS_OF_GROUP), blocks).mapInArrow(
        unpack, schema_of(EVENTS)
    )


def rejected(packets: DataFrame, blocks: Blocks) -> DataFrame:
    """The rejected lines: path, file, line, why, and the beginning of the text."""

    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for data, place in _packets(batches):
            yield arrow_batch(
                [
                    {"path": place.path, "file": place.file, "line": line, "why": why, "text": text}
                    for line, why, text in rejected_lines(data, place)
                ],
                REJECTED,
            )

    return with_places(packets.filter(F.col("kind") == REJECTED_LINES), blocks).mapInArrow(
        unpack, schema_of(REJECTED)
    )


def line_counts(spark: SparkSession, files: Sequence[LogFile], blocks: Blocks) -> DataFrame:
    """One row per file: lines (counted separately, before Spark read them), parsed, ignored, rejected, note.

    Files without a line have a row too.
    """
    nothing = dict.fromkeys(SUMMED, 0)
    rows = [
        {
            "path": file.run,
            "file": file.name,
            "lines": file.lines,
            "note": file.note,
            **blocks.counts.get((file.run, file.name), nothing),
        }
        for file in files
    ]
    return small_table(spark, rows, LINES)


def with_places(packets: DataFrame, blocks: Blocks) -> DataFrame:
    """Packets with the columns of ``Place``."""
    places = small_table(packets.sparkSession, [place._asdict() for place in blocks.places], PLACES)
    return packets.join(F.broadcast(places), ["path", "file", "block"], "inner")


def places_of(batch: pa.RecordBatch | pa.Table) -> list[Place]:
    """The place of each row."""
    return [Place(*row) for row in zip(*(batch.column(name).to_pylist() for name in PLACES), strict=True)]


def _packets(batches: Iterable[pa.RecordBatch]) -> Iterator[tuple[str, Place]]:
    for batch in batches:
        yield from zip(batch.column("data").to_pylist(), places_of(batch), strict=True)


def schema_of(columns: Mapping[str, str]) -> str:
    """Columns as Spark writes a schema."""
    return ", ".join(f"`{name}` {kind}" for name, kind in columns.items())


def small_table(
    spark: SparkSession, rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]
) -> DataFrame:
    """A table of rows that the driver has; Spark needs no job for it."""
    import pyarrow as pa

    return spark.createDataFrame(pa.Table.from_batches([arrow_batch(rows, columns)]))


def arrow_batch(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, str]) -> pa.RecordBatch:
    """Rows as Arrow; what a row lacks is null."""
    import pyarrow as pa

    present = set().union(*rows)
    arrays = [
        pa.array([row.get(name) for row in rows], arrow_type(kind))
        if name in present
        else pa.nulls(len(rows), arrow_type(kind))
        for name, kind in columns.items()
    ]
    return pa.record_batch(arrays, names=list(columns))
