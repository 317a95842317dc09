"""How a finding is put together: the line that proves it, and the columns of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

#: The columns of the table, in order.
FINDINGS = (
    "path",
    "group",
    "finding",
    "who",
    "at_ms",
    "times",
    "sentence",
    "do",
    "source",
    "file",
    "line",
    "evidence",
)


def evidence() -> Column:
    """A line as evidence: when, where, and its text."""
    return F.struct("at_ms", "file", "line", F.col("text").alias("evidence"))


def first_line() -> Column:
    """The earliest line of a group of rows, as evidence."""
    return F.min_by(evidence(), F.struct("at_ms", "line", "file"))


def finding_row(rows: DataFrame, code: str, sentence: Column, do: str, source: str) -> DataFrame:
    """Rows (with path, group, who, times and ``first``, an ``evidence``) as rows of the table of findings."""
    return rows.select(
        "path",
        "group",
        F.lit(code).alias("finding"),
        "who",
        "first.at_ms",
        "times",
        sentence.alias("sentence"),
        F.lit(do).alias("do"),
        F.lit(source).alias("source"),
        "first.file",
        "first.line",
        "first.evidence",
    )
