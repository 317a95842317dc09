"""The format ``kafka_rebalance_logs`` gives the table of events, and says what it cannot read."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException

from rebalance_kit.forensics.look import look
from rebalance_kit.forensics.tables import EVENTS
from rebalance_kit.pipeline.data_source import FORMAT, register

pytestmark = [pytest.mark.spark, pytest.mark.timeout(300)]


def test_the_format_gives_the_table_of_events(spark, runs_folder):
    register(spark)
    run = runs_folder / "crash.eager.4.3.1"
    read = spark.read.format(FORMAT).load(str(run))
    rows = [row.asDict() for row in read.orderBy("path", "file", "row").collect()]
    assert read.columns == list(EVENTS)
    assert [{**row, "at": None} for row in rows] == [
        {**row, "at": None} for row in look([run]).rows("events")
    ]


def test_a_folder_without_logs_and_a_year_that_is_none_are_refused_in_words(spark, tmp_path):
    register(spark)
    with pytest.raises(PySparkException, match="no log file under"):
        spark.read.format(FORMAT).load(str(tmp_path)).count()
    with pytest.raises(PySparkException, match="expected a number such as 2026"):
        spark.read.format(FORMAT).option("year", "last").load(str(tmp_path)).count()
