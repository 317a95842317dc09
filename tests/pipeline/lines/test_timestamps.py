"""The text of a time as a moment."""

from __future__ import annotations

import pytest


@pytest.mark.spark
def test_a_time_beyond_all_calendars_is_none(spark):
    from pyspark.sql import functions as F

    from rebalance_kit.forensics.lines.layouts import EPOCH_MILLIS, EPOCH_SECONDS, Layout, Reading
    from rebalance_kit.pipeline.lines.timestamps import line_time

    own = tuple(Layout(name, ("x",), "(?P<message>.*)", time=name) for name in (EPOCH_MILLIS, EPOCH_SECONDS))
    absurd = [
        "9" * 17,
        "-" + "9" * 17,
        "9" * 19,
        "9" * 40,
        "1e15",
        "NaN",
        "-" + "9" * 14,
        "+200000-01-01T00:00:00",
        "9999999-01-01T00:00:00",
        '{"epochSecond":9000000000000000000}',
        '{"epochSecond":9000000000000000}',
        "{",
        "",
        "0000-00-00 00:00:00",
        "2026-11-21T99:99:99",
    ]
    rows = [(at, layout) for at in absurd for layout in ("iso", EPOCH_MILLIS, EPOCH_SECONDS)]
    table = spark.createDataFrame([*rows, ("1795227325.032", EPOCH_SECONDS)], "at string, layout string")
    told = line_time(F.col("at"), F.col("layout"), Reading(own, 2026, "Europe/Berlin"))
    found = table.select("at", "layout", F.unix_millis(told).alias("ms")).collect()
    assert [(row.at, row.ms) for row in found if row.ms] == [("1795227325.032", 1_795_227_325_032)]
