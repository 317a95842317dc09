"""From lines to classified lines: Spark reads the text and hands it to Python in batches.

Python reads a line by the tables of layouts and templates with one expression each; the same in
Spark's own expressions takes several times as long, since it compiles none of them.  Lines that are
ignored leave a count behind for each batch, so nothing is read twice and nothing is lost from the books.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fnmatch import fnmatch
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from rebalance_kit.pipeline import bronze
from rebalance_kit.pipeline.batches import CLASSIFIED, BatchReader
from rebalance_kit.pipeline.layouts import Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, Row, SparkSession

    from rebalance_kit.pipeline.survey import LogFile


@dataclass(frozen=True, slots=True)
class Intake:
    """``classified``: parsed and rejected lines, and counts of ignored ones; ``blocks`` for line numbers and clocks."""

    classified: DataFrame
    blocks: DataFrame


def classify(lines: DataFrame, reading: Reading | None = None) -> DataFrame:
    """Lines of bronze as classified lines (``CLASSIFIED``): parsed and rejected ones, and counts of ignored ones."""
    schema = ", ".join(f"`{name}` {kind}" for name, kind in CLASSIFIED.items())
    return lines.mapInArrow(_classifier(reading or Reading()), schema)


def _classifier(reading: Reading) -> Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    layouts = reading.table

    def classified(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        reader = BatchReader(layouts)
        return map(reader.read, batches)

    return classified


def take_in(spark: SparkSession, files: Sequence[LogFile], reading: Reading | None = None) -> Intake:
    """Read files and classify their lines; the lines are kept (``classified.unpersist()`` gives them back)."""
    said = reading or Reading()
    classified = classify(bronze.read_lines(spark, files).drop("row"), said).persist()
    counted = classified.groupBy("path", "file", "block").agg(F.sum("n").alias("lines")).collect()
    clocks = {(file.run, file.name): shift(file, said) for file in files}
    return Intake(classified, spark.createDataFrame(_blocks(counted, clocks), BLOCKS))


#: Blocks of files: how many lines come before each, and what its times are to be shifted by.
BLOCKS = "path string, file string, block long, before long, shift_ms long"


def _blocks(
    counted: Iterable[Row], clocks: Mapping[tuple[str, str], int]
) -> list[tuple[str, str, int, int, int]]:
    """One row a block of a file: the lines before it, and what its clock is to be shifted by."""
    before: Counter[tuple[str, str]] = Counter()
    rows = []
    for path, file, block, lines in sorted(counted):
        rows.append((path, file, block, before[path, file], clocks[path, file]))
        before[path, file] += lines
    return rows


def shift(file: LogFile, reading: Reading) -> int:
    """Milliseconds to add to the times of a file: the first offset whose pattern fits its path or name."""
    whole = f"{file.run}/{file.name}"
    fitting = (
        ms for pattern, ms in reading.offsets if fnmatch(whole, pattern) or fnmatch(file.name, pattern)
    )
    return next(fitting, 0)
