"""A Spark session for notebooks and exercises: it starts silently and logs nothing that its exceptions repeat.

Java prints half a dozen lines when it starts and a hundred for a failed task.  In a notebook cell, or
above the verdict on an exercise, they hide what matters.
"""

from __future__ import annotations

import logging
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

from rebalance_kit.pipeline.spark.launch import MEMORY, launch_java
from rebalance_kit.pipeline.spark.session import require_spark, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASTER = "local[2]"

#: Loggers with which PySpark repeats the errors that it raises.
_ECHOING_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")


def quiet_session(master: str = MASTER, memory: str = "1g") -> SparkSession:
    """Return the running session, or start one that prints nothing; raises as ``spark_session`` does."""
    for name in _ECHOING_LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    require_spark()
    from pyspark.sql import SparkSession

    if SparkSession.getActiveSession() is None:
        launch_java(memory, quick_start=True, keep_classes=True)
        return spark_session(master, settings={MEMORY: memory}, quick_start=True)
    return spark_session()


def start_in_background(master: str = MASTER, memory: str = "1g") -> Future[SparkSession]:
    """Start ``quiet_session`` in the background and return at once; ``.result()`` waits for it.

    A first query then runs in the same thread, so that Java loads what every query needs while the reader reads.
    """
    worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="spark-start")
    started = worker.submit(partial(quiet_session, master, memory))
    worker.submit(lambda: _first_query(started.result()))
    worker.shutdown(wait=False)
    return started


def _first_query(spark: SparkSession) -> None:
    """Run a query of one row, of the kind that readers begin with."""
    from pyspark.sql import functions as F

    lines = spark.createDataFrame([("a line",)], "value string").filter(F.col("value").contains("line"))
    lines.groupBy(F.substring("value", 1, 1).alias("hour")).count().orderBy("hour").collect()
