"""Silver: parsed events, rejected lines and line counts, as tables.

``packets`` are what the reading gave; here workers unpack them into the columns that people read, whenever a query
asks for them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from rebalance_kit.forensics.tables import EVENTS, LINES, REJECTED
from rebalance_kit.pipeline.arrow_types import arrow_type
from rebalance_kit.pipeline.lines.blocks import SUMMED
from rebalance_kit.pipeline.lines.packets import (
    EVENTS_OF_GROUP,
    REJECTED_LINES,
    Place,
    rejected_lines,
    unpacked,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from rebalance_kit.forensics.lines.files import LogFile
    from rebalance_kit.pipeline.lines.blocks import Blocks

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
