"""Classifies lines: Python workers read files (``read_packets``), or are handed lines in batches (``classify``).

Python matches a line against the tables of layouts and templates.  Spark expressions for the same tables take
several times as long.  Ignored lines leave one count per batch and block, so that no line is read twice and
the line counts still balance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import Window
from pyspark.sql import functions as F

from rebalance_kit.forensics.lines.file_reader import sums
from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.pipeline.lines.batch_reader import CLASSIFIED, BatchReader
from rebalance_kit.pipeline.lines.packets import PACKETS, packed
from rebalance_kit.pipeline.lines.ranges import RangeReader, packet_batch, tasks_of
from rebalance_kit.pipeline.lines.silver import schema_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from rebalance_kit.forensics.lines.files import LogFile


def read_packets(spark: SparkSession, files: Sequence[LogFile], reading: Reading | None = None) -> DataFrame:
    """The events, rejected lines and counts of files as packets (columns ``PACKETS``).

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

    return spark.range(0, len(tasks), 1, len(tasks)).mapInArrow(read, schema_of(PACKETS))


def classify(
    lines: DataFrame, names: Mapping[str, tuple[str, str]], reading: Reading | None = None
) -> DataFrame:
    """Classify lines given as ``location``, ``block``, ``value`` and optionally ``row`` (see ``BatchReader``)."""
    said = reading or Reading()

    def classified(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return map(BatchReader(said, names).read, batches)

    return lines.withColumn("value", F.col("value").cast("binary")).mapInArrow(
        classified, schema_of(CLASSIFIED)
    )


def packets_of(classified: DataFrame) -> DataFrame:
    """Classified lines of whole files, in any order, as packets."""

    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield from _packed(batch)

    in_file = Window.partitionBy("path", "file").orderBy("row")
    upto = in_file.rowsBetween(Window.unboundedPreceding, -1)
    back_ms = F.last("at_ms", ignorenulls=True).over(upto) - F.col("at_ms")
    steps = classified.withColumn("back_ms", F.when(back_ms > 0, back_ms))
    return steps.mapInArrow(pack, schema_of(PACKETS))


#: What a classified row says beside its event.
_ABOUT = frozenset(("path", "file", "block", "nth", "n", "class", "why"))


def _packed(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    by_file: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for row in said_of(batch):
        by_file.setdefault((row["path"], row["file"], row["block"]), []).append(row)
    for key, rows in by_file.items():
        counts: dict[str, Any] = {
            name: sum(row["n"] for row in rows if row["class"] == name) for name in ("parsed", "ignored")
        }
        rejected = [(row["nth"], row["why"], row["text"]) for row in rows if row["class"] == "rejected"]
        counts |= {"lines": sum(row["n"] for row in rows), "last_ms": None}
        events = [
            {name: value for name, value in row.items() if name not in _ABOUT}
            for row in rows
            if row["class"] == "parsed"
        ]
        counts |= sums(events, rejected)
        yield packet_batch((*key, 0), packed(events, rejected, counts))


def said_of(batch: pa.RecordBatch | pa.Table) -> list[dict[str, Any]]:
    """The rows of a batch, with what is not null in them."""
    import pyarrow.compute as pc

    rows: list[dict[str, Any]] = [{} for _ in range(batch.num_rows)]
    for name in batch.schema.names:
        column = batch.column(name)
        if column.null_count == 0:
            for row, value in zip(rows, column.to_pylist(), strict=True):
                row[name] = value
        elif column.null_count < batch.num_rows:
            # Most columns are nearly empty.
            places = pc.indices_nonzero(pc.is_valid(column)).to_pylist()
            for place, value in zip(places, column.drop_null().to_pylist(), strict=True):
                rows[place][name] = value
    return rows
