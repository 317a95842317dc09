"""Tables on disk: replaced whole, or left as they were."""

from __future__ import annotations

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import functions as F

from rebalance_kit.model.errors import DataError
from rebalance_kit.pipeline.output import MANIFEST, write_tables

pytestmark = pytest.mark.spark


def test_a_second_writing_replaces_the_first_exactly(spark, tmp_path):
    write_tables({"numbers": spark.range(5)}, tmp_path)
    write_tables({"numbers": spark.range(3)}, tmp_path)
    assert sorted(row.id for row in spark.read.parquet(str(tmp_path / "numbers")).collect()) == [0, 1, 2]
    assert sorted(path.name for path in tmp_path.iterdir()) == [MANIFEST, "numbers"]


def test_a_job_that_fails_half_way_leaves_the_former_tables(spark, tmp_path):
    write_tables({"one": spark.range(5), "two": spark.range(5)}, tmp_path)
    broken = spark.range(3).select(F.raise_error(F.lit("stopped")).cast("long").alias("id"))
    with pytest.raises(PySparkException, match="stopped"):
        write_tables({"one": spark.range(1), "two": broken}, tmp_path)
    assert [spark.read.parquet(str(tmp_path / name)).count() for name in ("one", "two")] == [5, 5]
    assert sorted(path.name for path in tmp_path.iterdir()) == [MANIFEST, "one", "two"]


def test_a_place_that_cannot_be_a_folder_is_named(spark, tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataError, match=r"file: cannot be written to"):
        write_tables({"numbers": spark.range(1)}, tmp_path / "file")
