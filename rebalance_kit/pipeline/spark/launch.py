"""Starts Java with its error output kept aside: a dozen lines of warnings that say nothing to who asked for an answer."""

from __future__ import annotations

import tempfile
from contextlib import contextmanager
from subprocess import DEVNULL
from typing import IO, TYPE_CHECKING

from rebalance_kit.model.errors import EnvironmentProblem
from rebalance_kit.pipeline.spark.session import (
    DEFAULT_MASTER,
    SETTINGS,
    prepare_environment,
    require_spark,
    spark_session,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

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
        gateway = launch_gateway(conf, popen_kwargs={"stderr": errors})  # type: ignore[no-untyped-call]
    except PySparkRuntimeError as problem:
        raise EnvironmentProblem(
            f"Java did not start ({problem}); expected it to with {memory} of memory: "
            "`rebalance-kit doctor` says what is missing"
        ) from problem
    SparkContext._ensure_initialized(gateway=gateway)  # noqa: SLF001 - the way in that SparkContext itself uses


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
