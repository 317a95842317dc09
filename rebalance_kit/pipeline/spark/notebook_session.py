"""Spark for a reader: begun without a word on the screen, and silent about what its exceptions say anyway.

Java prints half a dozen lines when it starts and a hundred for a failed task.  In a notebook's cell, or
above the verdict on an exercise, they hide what matters.
"""

from __future__ import annotations

import logging
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from subprocess import DEVNULL
from typing import TYPE_CHECKING

from rebalance_kit.model.errors import EnvironmentProblem
from rebalance_kit.pipeline.spark.session import SETTINGS, _prepare_environment, spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

MASTER = "local[2]"
_MEMORY = "spark.driver.memory"

#: What PySpark logs beside raising it.
_ECHOES = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")


def quiet_session(master: str = MASTER, memory: str = "1g") -> SparkSession:
    """Return the running session, or start one that prints nothing; raises as ``spark_session`` does."""
    for name in _ECHOES:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        return spark_session(master)  # which says what to install
    if SparkSession.getActiveSession() is None:
        _launch(memory)
        return spark_session(master, settings={_MEMORY: memory}, quick_start=True)
    return spark_session()


def begin_quietly(master: str = MASTER, memory: str = "1g") -> Future[SparkSession]:
    """Start ``quiet_session`` in the background and return at once; ``.result()`` waits for it.

    Then a first query is made there as well: it has Java load what every query needs, while the reader reads.
    """
    worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="spark-start")
    started = worker.submit(partial(quiet_session, master, memory))
    worker.submit(lambda: _first_query(started.result()))
    worker.shutdown(wait=False)
    return started


def _first_query(spark: SparkSession) -> None:
    """A query such as readers begin with, of one row."""
    from pyspark.sql import functions as F

    lines = spark.createDataFrame([("a line",)], "value string").filter(F.col("value").contains("line"))
    lines.groupBy(F.substring("value", 1, 1).alias("hour")).count().orderBy("hour").collect()


def _launch(memory: str) -> None:
    """Start the Java process with its error output closed, unless there is one already."""
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None:  # noqa: SLF001 - where PySpark keeps the one there is
        return
    _prepare_environment(quick_start=True, keep_classes=True)
    wanted = SparkConf(loadDefaults=False).setAll([*SETTINGS.items(), (_MEMORY, memory)])
    try:
        gateway = launch_gateway(wanted, popen_kwargs={"stderr": DEVNULL})
    except PySparkRuntimeError as problem:
        raise EnvironmentProblem(
            f"Java did not start ({problem}); expected it to with {memory} of memory: "
            "`rebalance-kit doctor` says what is missing"
        ) from problem
    SparkContext._ensure_initialized(gateway=gateway)  # noqa: SLF001 - the way in that SparkContext itself uses
