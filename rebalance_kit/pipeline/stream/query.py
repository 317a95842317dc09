"""A stream of log lines and the last rebalances in it.

The stream: classifies landed chunks into a Parquet store, each line exactly once.

It uses the batch job's own steps.  Spark's checkpoint and the store's commit log repeat a batch that was
killed half-way, and count it once.  The functions that compute silver and gold for a folder also compute
them for the store.

The last rebalances of a stream.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import functions as F

from rebalance_kit.forensics.lines.files import LogFile, Survey, look
from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.pipeline.gold import gold_tables
from rebalance_kit.pipeline.inquiry import Events, silver_tables
from rebalance_kit.pipeline.lines.classify import classify, packets_of
from rebalance_kit.pipeline.stream.tail import LINE_DIGITS, PREFIX, SOURCE_DIGITS, STATE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from rebalance_kit.pipeline.inquiry import Events
    from rebalance_kit.pipeline.stream.tail import Source, Tail


#: Lines older than the newest by more than this are no longer expected, so everything before is settled.
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
    """Start the query that classifies the chunks in ``landing`` into ``store``; it resumes where it stopped."""
    reading = reading or Reading()
    chunks = spark.readStream.schema(_CHUNK).option("lineSep", "\n").text(str(landing.resolve()))
    writer = (
        classify(chunk_lines(chunks), _LabelsAsNames(), reading)
        .withColumn("at", F.timestamp_millis("at_ms"))
        .withWatermark("at", watermark)
        .writeStream.format("parquet")
        .outputMode("append")
        .option("path", str(store.resolve()))
        .option("checkpointLocation", str(checkpoint.resolve()))
        .trigger(processingTime="1 second")
    )
    return writer.start()


def chunk_lines(chunks: DataFrame) -> DataFrame:
    """The lines of chunks for ``classify``: ``location`` is the file's number, ``row`` the line's number in it."""
    # Split as bytes, because a line need not be valid UTF-8 and a split by characters could pass its end.
    raw = F.col("value").cast("binary")
    return chunks.filter(~F.col("value").startswith(STATE)).select(
        F.substring(raw, 1, SOURCE_DIGITS).cast("string").alias("location"),
        F.lit(0).cast("long").alias("block"),
        F.substring(raw, SOURCE_DIGITS + 2, LINE_DIGITS).cast("string").cast("long").alias("row"),
        F.substring(raw, PREFIX + 1, 2**31 - 1).alias("value"),
    )


class _LabelsAsNames(dict[str, tuple[str, str]]):
    """Names every file by its number, which is what the store keeps: names may change while a stream runs."""

    def __missing__(self, label: str) -> tuple[str, str]:
        return "", label


def stored_events(
    spark: SparkSession, store: Path, tail: Tail, salvage: Path, reading: Reading | None = None
) -> Events:
    """Silver tables of all lines read so far, including unterminated ones.

    Equal to ``read_events`` on the same files once they have stopped growing.
    """
    sources, reading = tail.sources(), reading or Reading()
    files = tuple(_log_file(source, place, tail, salvage) for source, place in sources)
    lines = classify(chunk_lines(_unterminated(spark, sources, tail)), _LabelsAsNames(), reading)
    if (store / "_spark_metadata").is_dir():
        stored = spark.read.schema(lines.schema).parquet(str(store.resolve()))
        lines = stored.select(*lines.columns).unionByName(lines)
    rows = [(source.label, file.run, file.name) for (source, _), file in zip(sources, files, strict=True)]
    named = spark.createDataFrame(rows, "file string, run string, name string")
    classified = (
        lines.join(F.broadcast(named), "file", "inner")
        .withColumn("path", F.col("run"))
        .withColumn("file", F.col("name"))
        .select(*lines.columns)
    )
    return silver_tables(spark, Survey(files, tail.passed_over), packets_of(classified), reading)


def _unterminated(
    spark: SparkSession, sources: Sequence[tuple[Source, Path | None]], tail: Tail
) -> DataFrame:
    """The lines without an end so far, in the form of a chunk."""
    rows = []
    for source, place in sources:
        rest = tail.pending.get(source.number, b"") if place is not None else b""
        if rest:
            rows.append((bytearray(b"%06x %012d " % (source.number, source.lines + 1) + rest),))
    return spark.createDataFrame(rows, "value binary").select(F.col("value").cast("string"))


def _log_file(source: Source, place: Path | None, tail: Tail, salvage: Path) -> LogFile:
    """The file as the batch job would list it, with the lines that the stream has read from it."""
    if place is None:
        name = f"{source.name} (gone, {source.number})"
        return LogFile(
            source.run, name, Path(source.name), source.lines, "deleted or truncated after it was read"
        )
    lines = source.lines + bool(tail.pending.get(source.number))
    note = look(source.run, source.name, place, salvage, source.number).note if _needs_note(place) else None
    return LogFile(source.run, source.name, place, lines, note)


def _needs_note(place: Path) -> bool:
    """Whether the batch job may add a note to the file: empty, compressed, or in another encoding."""
    with place.open("rb") as stream:
        head = stream.read(2)
    return place.suffix.lower() == ".gz" or not head or head in {b"\x1f\x8b", b"\xff\xfe", b"\xfe\xff"}


def settled_before(query: StreamingQuery) -> str | None:
    """The watermark (ISO, UTC): no older line is expected any more; None before the first one."""
    progress = query.lastProgress
    if progress is None:
        return None
    watermark = progress["eventTime"].get("watermark")
    return None if watermark is None or watermark.startswith("1970-") else str(watermark)


_SHOWN = (
    "path",
    "group",
    "number",
    "protocol",
    "start_ms",
    "end_ms",
    "trigger",
    "cause",
    "culprit",
    "before",
    "after",
    "members",
)


@dataclass(frozen=True, slots=True)
class Latest:
    """A snapshot of a running stream: the last rebalances, newest first, and up to when they are settled.

    Rows hold path, group, number, start_ms, end_ms (None: not ended), trigger, cause, before, after,
    members and ``settled``: whether the watermark has passed its end, so that no line can change it.
    """

    files: int
    lines: int
    rebalances: int
    settled_before: str | None
    rows: tuple[Mapping[str, Any], ...]


def latest(silver: Events, lines: int, settled_before: str | None, limit: int) -> Latest:
    """The ``limit`` newest rebalances in silver tables; ``settled_before`` is the watermark (ISO, UTC)."""
    shown = gold_tables(silver.kept, silver.blocks)["rebalances"].select(*_SHOWN)
    newest = shown.orderBy(F.desc("start_ms"), "path", "group", F.desc("number")).limit(limit).collect()
    mark = -1.0 if settled_before is None else datetime.fromisoformat(settled_before).timestamp() * 1000
    rows = tuple({**row.asDict(), "settled": row.end_ms is not None and row.end_ms < mark} for row in newest)
    return Latest(len(silver.survey.files), lines, shown.count(), settled_before, rows)
