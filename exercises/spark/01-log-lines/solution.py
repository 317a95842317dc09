"""01 From text to columns: one expression takes the line apart, and a line that does not fit is no event."""

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

EVENT = r"^\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3})\] (\w+) "
LOGGER = r"\(([\w.$]+)\)$"


def log_events(lines: DataFrame) -> DataFrame:
    """One row per event: line, at_ms, level, logger."""
    at = F.to_timestamp(F.regexp_extract("text", EVENT, 1), "yyyy-MM-dd HH:mm:ss,SSS")
    return lines.filter(F.col("text").rlike(EVENT)).select(
        F.col("line").cast("bigint"),
        F.unix_millis(at).alias("at_ms"),
        F.regexp_extract("text", EVENT, 2).alias("level"),
        F.nullif(F.regexp_extract("text", LOGGER, 1), F.lit("")).alias("logger"),
    )
