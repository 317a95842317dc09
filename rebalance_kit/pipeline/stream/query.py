"""The stream: landed chunks become classified lines in a Parquet store, exactly once each.

The same steps as the batch's classify them; Spark's checkpoint and the store's own commit log make a
batch that was killed half-way come again, and count once.  Silver and gold are made of the store by
the functions that make them of a folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from rebalance_kit.forensics.lines.files import LogFile, Survey, look
from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.pipeline.forensics import Events, settle
from rebalance_kit.pipeline.lines.classify import classify
from rebalance_kit.pipeline.lines.timestamps import line_time
from rebalance_kit.pipeline.stream.tail import LINE_DIGITS, PREFIX, SOURCE_DIGITS, STATE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming import StreamingQuery

    from rebalance_kit.pipeline.stream.tail import Source, Tail

#: Lines older than the newest by more than this are not expected any more: what lies before is settled.
WATERMARK = "1 minute"

_CHUNK = "value string"


def begin_stream(
    spark: SparkSession,
    landing: Path,
    store: Path,
    checkpoint: Path,
    watermark: str = WATERMARK,
    reading: Reading | None = None,
) -> StreamingQuery:
    """Start the query that classifies the chunks in ``landing`` into ``store``, and goes on where it stopped."""
    said = reading or Reading()
    chunks = spark.readStream.schema(_CHUNK).option("lineSep", "\n").text(str(landing.resolve()))
    writer = (
        classify(chunk_lines(chunks), _Labels(), said)
        .withColumn("at", line_time(F.col("told_at"), F.col("layout"), said))
        .withWatermark("at", watermark)
        .writeStream.format("parquet")
        .outputMode("append")
        .option("path", str(store.resolve()))
        .option("checkpointLocation", str(checkpoint.resolve()))
        .trigger(processingTime="1 second")
    )
    return writer.start()


def chunk_lines(chunks: DataFrame) -> DataFrame:
    """The lines of chunks for ``classify``: ``location`` is the number of the file, ``row`` that of the line in it."""
    # Cut as bytes: a line need not be UTF-8, and a cut by letters could then go beyond its end.
    raw = F.col("value").cast("binary")
    return chunks.filter(~F.col("value").startswith(STATE)).select(
        F.substring(raw, 1, SOURCE_DIGITS).cast("string").alias("location"),
        F.lit(0).cast("long").alias("block"),
        F.substring(raw, SOURCE_DIGITS + 2, LINE_DIGITS).cast("string").cast("long").alias("row"),
        F.substring(raw, PREFIX + 1, 2**31 - 1).alias("value"),
    )


class _Labels(dict[str, tuple[str, str]]):
    """Files by their numbers, which the store keeps: names may change while a stream runs."""

    def __missing__(self, label: str) -> tuple[str, str]:
        return "", label


def stored_events(
    spark: SparkSession, store: Path, tail: Tail, salvage: Path, reading: Reading | None = None
) -> Events:
    """Silver tables of all lines read so far, those still without an end included.

    Equal to ``read_events`` on the same files once they have stopped growing.
    """
    sources, said = tail.sources(), reading or Reading()
    files = tuple(_log_file(source, place, tail, salvage) for source, place in sources)
    held = classify(chunk_lines(_rest(spark, sources, tail)), _Labels(), said)
    if (store / "_spark_metadata").is_dir():
        held = (
            spark.read.schema(held.schema)
            .parquet(str(store.resolve()))
            .select(*held.columns)
            .unionByName(held)
        )
    rows = [(source.label, file.run, file.name) for (source, _), file in zip(sources, files, strict=True)]
    named = spark.createDataFrame(rows, "file string, run string, name string")
    classified = (
        held.join(F.broadcast(named), "file", "inner")
        .withColumn("path", F.col("run"))
        .withColumn("file", F.col("name"))
        .select(*held.columns)
        .persist()
    )
    return settle(spark, Survey(files, tail.passed_over), classified, said)


def _rest(spark: SparkSession, sources: Sequence[tuple[Source, Path | None]], tail: Tail) -> DataFrame:
    """The beginnings of lines that have no end yet, as a chunk would hold them."""
    rows = []
    for source, place in sources:
        rest = tail.pending.get(source.number, b"") if place is not None else b""
        if rest:
            rows.append((bytearray(b"%06x %012d " % (source.number, source.lines + 1) + rest),))
    return spark.createDataFrame(rows, "value binary").select(F.col("value").cast("string"))


def _log_file(source: Source, place: Path | None, tail: Tail, salvage: Path) -> LogFile:
    """The file as the batch would list it, with the lines that the stream has read of it."""
    if place is None:
        name = f"{source.name} (gone, {source.number})"
        return LogFile(
            source.run, name, Path(source.name), source.lines, "deleted or truncated after it was read"
        )
    lines = source.lines + bool(tail.pending.get(source.number))
    note = look(source.run, source.name, place, salvage, source.number).note if _odd(place) else None
    return LogFile(source.run, source.name, place, lines, note)


def _odd(place: Path) -> bool:
    """Whether the batch would have a word to say about the file: empty, packed, of another encoding."""
    with place.open("rb") as stream:
        head = stream.read(2)
    return place.suffix.lower() == ".gz" or not head or head in {b"\x1f\x8b", b"\xff\xfe", b"\xfe\xff"}


def settled_before(query: StreamingQuery) -> str | None:
    """The watermark: no line older than this moment (ISO, UTC) is expected any more; None before the first."""
    progress = query.lastProgress
    told = (progress or {}).get("eventTime", {}).get("watermark")
    return None if told is None or told.startswith("1970-") else str(told)
