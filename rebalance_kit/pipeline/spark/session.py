"""Start Spark with settings that small and middling log work wants.

The settings and why: ANSI mode is fixed on (so a bad cast is an error here and on every cluster),
two shuffle partitions (200, the default, make small queries five times slower), no web page, and
the driver listens on the loopback address only.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rebalance_kit.model.errors import EnvironmentProblem
from rebalance_kit.pipeline.spark.class_archive import archive_options
from rebalance_kit.pipeline.spark.java import find_java

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession

DEFAULT_MASTER = "local[*]"

#: Settings of every session; a caller's own come on top.
SETTINGS: dict[str, str] = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    # A folder of a few hundred small files is listed by the driver, not by a Spark job of its own.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
    # Java compiles no method beyond 8,000 bytes; a stage that would be longer is better not fused into one.
    "spark.sql.codegen.hugeMethodLimit": "8000",
    # The plans are laid out by hand; to plan anew between their stages costs more than it saves.
    "spark.sql.adaptive.enabled": "false",
    # To pack what is kept costs more than the room it saves; what does not fit goes to disk.
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    # Many small files go into one task: opening a local file is cheap.
    "spark.sql.files.openCostInBytes": "65536",
}

#: Plans are evaluated as they are.
_UNCOMPILED: dict[str, str] = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}

_QUICK = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"

_LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


def spark_session(
    master: str | None = None,
    *,
    app_name: str = "rebalance-kit",
    settings: Mapping[str, str] | None = None,
    quick_start: bool = False,
) -> SparkSession:
    """Return the running session, or start one on ``master`` (default ``local[*]``).

    ``master`` is any that Spark knows; a cluster (``spark://host:7077``) and a Spark Connect server
    (``sc://host:15002``) are sent the kit itself.

    ``quick_start`` lets Java compile less thoroughly: the first answer comes sooner, bulk work runs
    about half as fast, so it suits notebooks.  Raises ``EnvironmentProblem`` when there is no Java
    or no PySpark.
    """
    try:
        from pyspark.sql import SparkSession
    except ImportError as problem:
        raise EnvironmentProblem(
            f"PySpark is not installed ({problem}); expected it for reading logs: pip install 'rebalance-kit[spark]'"
        ) from problem
    active = SparkSession.getActiveSession()
    if active is not None and master is None:
        return active
    chosen = master or DEFAULT_MASTER
    if chosen.startswith("sc://"):
        from rebalance_kit.pipeline.spark.package_zip import connected

        return connected(chosen, {**SETTINGS, **(settings or {})})
    _prepare_environment(quick_start, loopback=chosen.startswith("local") or "//127.0.0.1" in chosen)
    builder = SparkSession.builder.appName(app_name).master(chosen)
    wanted = dict(SETTINGS)
    if chosen.startswith("local"):
        wanted |= _LOOPBACK
    wanted |= dict(settings or {})
    for key, value in wanted.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    if not chosen.startswith("local"):
        from rebalance_kit.pipeline.spark.package_zip import ship_kit

        ship_kit(session)
    return session


@contextmanager
def plainly(spark: SparkSession, *, small: bool = True) -> Iterator[None]:
    """Within the block Spark evaluates its plans as they are instead of compiling Java for each.

    For ``small`` tables (without effect on others): to write and compile the code takes longer than the rows do.
    """
    with _set(spark, _UNCOMPILED if small else {}):
        yield


@contextmanager
def _set(spark: SparkSession, values: Mapping[str, str]) -> Iterator[None]:
    before = {key: spark.conf.get(key) for key in values}
    try:
        for key, value in values.items():
            spark.conf.set(key, value)
        yield
    finally:
        for key, old in before.items():
            if old is not None:
                spark.conf.set(key, old)


def begin_session(master: str | None = None, **options: str) -> Future[SparkSession]:
    """Start a session in the background and return at once; ``.result()`` waits for it.

    A notebook's first cell calls this, so that Spark starts while the learner reads.
    """
    worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="spark-start")
    started = worker.submit(spark_session, master, settings=options)
    worker.shutdown(wait=False)
    return started


def _prepare_environment(quick_start: bool, *, loopback: bool = True, keep_classes: bool = False) -> None:
    """Point Spark at the Java found and at this Python, before the JVM starts."""
    java = find_java()
    os.environ["JAVA_HOME"] = str(java.home)
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if loopback:  # executors on other machines could not reach a driver that listens here only
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    told = os.environ.get("JDK_JAVA_OPTIONS", "")
    if quick_start and "TieredStopAtLevel" not in told:
        # Without the second compiler Java keeps 48 MB for compiled code, which Spark fills.
        more = archive_options(java, keep=keep_classes)
        os.environ["JDK_JAVA_OPTIONS"] = f"{told} {_QUICK} {more}".strip()
