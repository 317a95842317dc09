"""Parses the time of a line, as its layout or its container wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from rebalance_kit.forensics.lines.layouts import EPOCH_MILLIS, EPOCH_SECONDS, ISO

if TYPE_CHECKING:
    from pyspark.sql import Column

    from rebalance_kit.forensics.lines.layouts import Reading

#: The first and the last millisecond of the years 1 to 9999.
_CALENDAR_MS = (-62_135_596_800_000, 253_402_300_799_999)


def line_time(at: Column, layout: Column, reading: Reading) -> Column:
    """The timestamp that the text ``at`` means in a line of this layout; null where it cannot be parsed."""
    time = _iso(at, reading)
    for known in reading.table:
        if known.time is not None and known.time != ISO:
            time = F.when(layout == known.name, _by_pattern(at, known.time, reading)).otherwise(time)
    return time


def _by_pattern(at: Column, pattern: str, reading: Reading) -> Column:
    if pattern == EPOCH_SECONDS:
        return _since_1970(at.try_cast("decimal(20,3)") * 1000)
    if pattern == EPOCH_MILLIS:
        return _since_1970(at.try_cast("long"))
    if not any(letter in pattern for letter in "yu"):
        year = F.lit(None if reading.year is None else str(reading.year)).cast("string")
        at, pattern = F.concat(year, F.lit(" "), at), "yyyy " + pattern
    return _local(
        F.try_to_timestamp(at, F.lit(pattern)),
        reading,
        zoned=F.lit(any(letter in pattern for letter in "XZzVO")),
    )


def _iso(at: Column, reading: Reading) -> Column:
    """ISO 8601 with the variations of loggers; a bare number counts seconds or milliseconds since 1970."""
    bare = F.translate(at, ",", ".")
    zoned = (F.length(at) > 19) & at.rlike(r"(?:Z|[+-]\d\d:?\d\d)$")
    offset = F.when(F.length(at) > 23, F.regexp_replace(bare, r" ?([+-]\d\d):?(\d\d)$", "$1:$2")).otherwise(
        bare
    )
    number = _since_1970(at.try_cast("decimal(20,3)") * F.when(F.length(at) >= 13, 1).otherwise(1000))
    instant = _since_1970(F.get_json_object(at, "$.epochSecond").try_cast("decimal(20,0)") * 1000)
    return (
        F.when(at.startswith("{"), instant)
        .when(F.substring(at, 5, 1) == "-", _local(offset.try_cast("timestamp"), reading, zoned))
        .otherwise(number)
    )


def _since_1970(ms: Column) -> Column:
    """Milliseconds as a timestamp; null outside the years 1 to 9999, for which Spark would raise an error."""
    return F.timestamp_millis(F.when(ms.between(*_CALENDAR_MS), ms).cast("long"))


def _local(time: Column, reading: Reading, zoned: Column) -> Column:
    """Interpret a time without a zone in the reader's time zone."""
    if reading.time_zone is None:
        return time
    return F.when(zoned, time).otherwise(F.to_utc_timestamp(time, reading.time_zone))
