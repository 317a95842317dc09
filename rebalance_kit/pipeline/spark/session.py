"""Start Spark with settings for small and medium log volumes.

ANSI mode is on, so that a bad cast is an error here as on every cluster; two shuffle partitions, because
the default of 200 makes small queries five times slower; no web page; and a local driver listens on the
loopback address only.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import subprocess
import sys
import tempfile
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from importlib import import_module
from subprocess import DEVNULL
from types import SimpleNamespace
from typing import IO, TYPE_CHECKING, Any

from rebalance_kit.model.errors import EnvironmentProblem, require
from rebalance_kit.model.files import ended_along, scratch_for
from rebalance_kit.pipeline.spark.java import adopt_archive, archive_options, find_java

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pyspark.sql import SparkSession


DEFAULT_MASTER = "local[*]"

#: Settings of every session; the caller's own override them.
SETTINGS: dict[str, str] = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    # A folder of a few hundred small files is listed by the driver, not by a Spark job of its own.
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "100000",
    # Java's JIT skips methods of more than 8,000 bytes, so a stage that would exceed them is not fused.
    "spark.sql.codegen.hugeMethodLimit": "8000",
    # The plans are laid out by hand; replanning between their stages costs more than it saves.
    "spark.sql.adaptive.enabled": "false",
    # Compressing cached tables costs more time than the memory is worth; what does not fit goes to disk.
    "spark.sql.inMemoryColumnarStorage.compressed": "false",
    # Opening a local file is cheap, so many small files share one task.
    "spark.sql.files.openCostInBytes": "65536",
}

#: Spark interprets its plans.
_NO_CODEGEN: dict[str, str] = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}

_QUICK = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"

_LOOPBACK = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


def _is_no_echo(record: logging.LogRecord) -> bool:
    """Whether a record is to be told: py4j logs what a command meets (Ctrl-C above all) with its traceback, and raises it as well."""
    return "while sending command" not in str(record.msg)


def spark_session(
    master: str | None = None,
    *,
    app_name: str = "rebalance-kit",
    settings: Mapping[str, str] | None = None,
    quick_start: bool = False,
) -> SparkSession:
    """Return the running session, or start one on ``master`` (default ``local[*]``).

    ``master`` is any URL that Spark knows; the kit ships itself to a cluster (``spark://host:7077``) and to a
    Spark Connect server (``sc://host:15002``).

    ``quick_start`` turns off Java's optimizing compiler: the first answer comes sooner and bulk work runs
    about half as fast, which suits notebooks.  Raises ``EnvironmentProblem`` when Java or PySpark is missing.
    """
    require_spark()
    from pyspark.sql import SparkSession

    logging.getLogger().addFilter(_is_no_echo)
    active = SparkSession.getActiveSession()
    if active is not None and master is None:
        return active
    chosen = master or DEFAULT_MASTER
    if chosen.startswith("sc://"):
        from rebalance_kit.pipeline.spark.cluster import connected

        return connected(chosen, {**SETTINGS, **(settings or {})})
    local = chosen.startswith("local")
    prepare_environment(quick_start, loopback=local or "//127.0.0.1" in chosen)
    builder = SparkSession.builder.appName(app_name).master(chosen)
    for key, value in {**SETTINGS, **(_LOOPBACK if local else {}), **(settings or {})}.items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    if not local:
        from rebalance_kit.pipeline.spark.cluster import ship_kit

        ship_kit(session)
    return session


def require_spark() -> None:
    """Raise ``EnvironmentProblem`` when a package of the ``spark`` extra is missing, before anything starts."""
    require("pyspark", "pyarrow", "pandas")


@contextmanager
def without_codegen(spark: SparkSession, *, small: bool = True) -> Iterator[None]:
    """Turn off code generation within the block, when the tables are ``small``.

    Generating and compiling Java takes longer than interpreting the plan over few rows.
    """
    with _settings(spark, _NO_CODEGEN if small else {}):
        yield


@contextmanager
def _settings(spark: SparkSession, values: Mapping[str, str]) -> Iterator[None]:
    before = {key: spark.conf.get(key) for key in values}
    try:
        for key, value in values.items():
            spark.conf.set(key, value)
        yield
    finally:
        for key, old in before.items():
            if old is not None:
                spark.conf.set(key, old)


def prepare_environment(quick_start: bool, *, loopback: bool = True, keep_classes: bool = False) -> None:
    """Point Spark at a suitable Java and at this Python; call it before the JVM starts."""
    java = find_java()
    os.environ["JAVA_HOME"] = str(java.home)
    # Workers import nothing of the folder in which the command was given: an unpacked archive may lie there.
    os.environ["PYTHONSAFEPATH"] = "1"
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if loopback:  # executors on other machines could not reach a driver on the loopback address
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    options = os.environ.get("JDK_JAVA_OPTIONS", "")
    if quick_start and "TieredStopAtLevel" not in options:
        # With one compiler Java reserves only 48 MB for compiled code, and Spark fills them.
        archive = archive_options(java, keep=keep_classes)
        os.environ["JDK_JAVA_OPTIONS"] = f"{options} {_QUICK} {archive}".strip()


# Starts Java with its error output kept aside: a dozen lines of warnings that say nothing to who asked for an answer.


MEMORY = "spark.driver.memory"

#: The memory of a command's Java at most; Java takes it when it needs it.
_COMMAND_MEMORY = "4g"

#: Words of a line with which Java says why it ended.
_LAST_WORDS = ("OutOfMemory", "Error", "Exception")


def launch_java(
    memory: str,
    *,
    quick_start: bool,
    keep_classes: bool = False,
    loopback: bool = True,
    errors: IO[bytes] | int = DEVNULL,
) -> None:
    """Start the Java process with its error output sent to ``errors``, unless one runs already."""
    from pyspark import SparkConf, SparkContext
    from pyspark.errors import PySparkRuntimeError
    from pyspark.java_gateway import launch_gateway

    if SparkContext._gateway is not None:  # noqa: SLF001 - where PySpark keeps a running gateway
        return
    prepare_environment(quick_start, loopback=loopback, keep_classes=keep_classes)
    conf = SparkConf(loadDefaults=False).setAll([*SETTINGS.items(), (MEMORY, memory)])
    try:
        with _own_temporary_files():
            gateway = launch_gateway(conf, popen_kwargs={"stderr": errors})  # type: ignore[no-untyped-call]
    except PySparkRuntimeError as problem:
        raise EnvironmentProblem(
            f"Java did not start ({problem}); expected it to with {memory} of memory: "
            "`rebalance-kit doctor` says what is missing"
        ) from problem
    SparkContext._ensure_initialized(gateway=gateway)  # noqa: SLF001 - the way in that SparkContext itself uses


@contextmanager
def _own_temporary_files() -> Iterator[None]:
    """PySpark makes a folder in which Java tells its port: within, it lies where it goes with a killed process.

    So does Java, which would go on without that folder; later it ends when its input does.
    """
    java_gateway: Any = import_module("pyspark.java_gateway")
    of_all, start = java_gateway.tempfile, java_gateway.Popen
    with scratch_for("java") as place, ExitStack() as starting:

        def started(*given: Any, **more: Any) -> Any:
            process = start(*given, **more)
            starting.enter_context(ended_along(process.pid))
            return process

        java_gateway.Popen = started
        java_gateway.tempfile = SimpleNamespace(
            mkdtemp=partial(tempfile.mkdtemp, dir=place), mkstemp=tempfile.mkstemp
        )
        try:
            yield
        finally:
            java_gateway.tempfile, java_gateway.Popen = of_all, start


@contextmanager
def command_session(master: str | None, *, few: bool = False) -> Iterator[SparkSession]:
    """A session for a command at a terminal: what Java prints stays out of it.

    ``few`` lines are read sooner without Java's optimizing compiler.  Where Java ends while it works,
    ``EnvironmentProblem`` has its last words.
    """
    require_spark()
    from py4j.protocol import Py4JNetworkError  # type: ignore[import-untyped]
    from pyspark.sql import SparkSession

    chosen = master or DEFAULT_MASTER
    if SparkSession.getActiveSession() is not None or chosen.startswith("sc://"):
        yield spark_session(master)
        return
    local = chosen.startswith("local")
    with tempfile.TemporaryFile() as errors:
        launch_java(
            _COMMAND_MEMORY,
            quick_start=few,
            keep_classes=few,
            loopback=local or "//127.0.0.1" in chosen,
            errors=errors,
        )
        try:
            yield spark_session(master, settings={MEMORY: _COMMAND_MEMORY}, quick_start=few)
        except (Py4JNetworkError, ConnectionError) as problem:
            raise EnvironmentProblem(
                f"Java ended while it worked ({_last_words(errors)}); expected it to with {_COMMAND_MEMORY} of memory"
            ) from problem


def _last_words(errors: IO[bytes]) -> str:
    """The last line in which Java says why it ended."""
    errors.seek(0)
    lines = errors.read().decode("utf-8", "replace").splitlines()
    return next(
        (line.strip() for line in reversed(lines) if any(word in line for word in _LAST_WORDS)),
        "it said nothing",
    )


# A Spark session for notebooks and exercises: it starts silently and logs nothing that its exceptions repeat.
#
# Java prints half a dozen lines when it starts and a hundred for a failed task.  In a notebook cell, or
# above the verdict on an exercise, they hide what matters.


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


def keep_classes_of(work: str, *arguments: str, limit_s: float = 120.0) -> None:
    """Run ``work``, Python that leaves a session in ``spark``, in a process of its own whose Java writes the archive of classes as it ends; do nothing where there is one.

    Whoever starts many Javas saves about half of each start, and spends a quarter of a minute once. A process that fails or takes
    too long leaves no archive, and no harm: the next start is as slow as this one.
    """
    java = find_java()
    if "ArchiveClassesAtExit" not in archive_options(java, keep=True):
        return
    end = "\njava = spark.sparkContext._gateway\nspark.stop()\njava.shutdown()\njava.proc.stdin.close()\njava.proc.wait(60)\n"
    with subprocess.Popen(
        [sys.executable, "-c", work + end, *arguments],
        stdin=DEVNULL,
        stdout=subprocess.PIPE,
        stderr=DEVNULL,
        start_new_session=True,
    ) as process:
        with ended_along(process.pid):
            assert process.stdout is not None
            select.select([process.stdout], [], [], limit_s)  # its end; Java holds it, too
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    adopt_archive(java, at_rest_s=0.0)
