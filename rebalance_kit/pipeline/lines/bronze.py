"""Bronze: the lines of all files, each with its run, its file and its place in the file.

The log job reads the lines raw and cleans them in its Python workers (``batch_reader``); ``read_lines`` does
the same with Spark expressions, for exercises and for a look at the text.

Only a line feed ends a line (a lone carriage return is part of it, as ``wc -l`` counts).  Invalid UTF-8 is
repaired with replacement characters, so that it can be shown.  A line longer than ``LONGEST_LINE`` keeps
only its beginning, and ``size`` holds its full length.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from pyspark.sql import functions as F

from rebalance_kit.forensics.lines.messages import KEPT_OF_A_LONG_LINE, LONGEST_LINE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from rebalance_kit.forensics.lines.files import LogFile

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
