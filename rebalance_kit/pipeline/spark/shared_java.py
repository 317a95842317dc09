"""One Java process, two Python processes: a session is lent to another process, which works in a session of its own.

The other process finds Java through its environment (``gateway_variables``), and tables by the names of global
views. What it sets, registers or breaks in its session stays there; a context that it stopped is noticed
(``is_alive``) and given up (``forget``).
"""

from __future__ import annotations

import subprocess
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rebalance_kit.model.errors import EnvironmentProblem

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import SparkSession

_END_S = 20
"""Seconds that Java gets to end by itself."""

VIEWS = "global_temp"
"""Spark's database of views that every session of one Java process sees."""


def gateway_variables(spark: SparkSession) -> Mapping[str, str]:
    """Environment of a process that is to use the same Java.

    Raises ``EnvironmentProblem`` for a session on a Spark Connect server, whose Java is elsewhere.
    """
    if not hasattr(type(spark), "_jvm") and not hasattr(spark, "_sc"):
        raise EnvironmentProblem(
            f"this session is a {type(spark).__module__}.{type(spark).__name__}, and Java runs elsewhere; "
            "expected a session of this machine, as rebalance_kit.pipeline.quiet_session() begins one"
        )
    found: Any = spark.sparkContext._gateway  # noqa: SLF001 - where PySpark keeps the way to its Java
    parameters = found.gateway_parameters
    return {"PYSPARK_GATEWAY_PORT": str(parameters.port), "PYSPARK_GATEWAY_SECRET": parameters.auth_token}


def borrowed_session(tag: str) -> SparkSession:
    """A new session in the Java that the environment names; its jobs carry ``tag``."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    gateway: Any = launch_gateway()  # type: ignore[no-untyped-call]
    running = gateway.jvm.org.apache.spark.SparkContext.getOrCreate()
    java = gateway.jvm.JavaSparkContext(running)
    context = SparkContext(conf=SparkConf(_jconf=java.getConf()), gateway=gateway, jsc=java)
    session = SparkSession.builder.getOrCreate().newSession()
    session.createDataFrame([], "nothing int")  # makes it the active one: Spark then notes lines of Python
    context.setInterruptOnCancel(True)
    context.addJobTag(tag)
    return session


def is_alive(spark: SparkSession) -> bool:
    """Whether its context still runs; a Spark Connect session counts as alive."""
    if not hasattr(spark, "_sc"):
        return True
    try:
        java: Any = spark.sparkContext._jsc  # noqa: SLF001 - None once Python has stopped the context
        return java is not None and not java.sc().isStopped()
    except Exception:  # noqa: BLE001 - whatever py4j raises, Java does not answer
        return False


def forget(spark: SparkSession) -> None:
    """Give up a session whose context was stopped or whose Java is gone, so that another can begin."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    with suppress(Exception):
        spark.stop()
    held: Any = SparkContext
    if held._gateway is not None and _has_ended(held._gateway):  # noqa: SLF001
        held._gateway = held._jvm = None  # noqa: SLF001 - as PySpark has it before Java starts
    held._active_spark_context = None  # noqa: SLF001
    sessions: Any = SparkSession
    sessions._instantiatedSession = None  # noqa: SLF001
    sessions._activeSession = None  # noqa: SLF001


def _has_ended(gateway: Any) -> bool:
    """Whether Java is gone; one that is about to end is waited for."""
    process = getattr(gateway, "proc", None)
    try:
        java = gateway.jvm.java.lang
        java.Runtime.getRuntime().removeShutdownHook(java.Thread())
    except Exception:  # noqa: BLE001 - Java refuses this during its shutdown, and does not answer after it
        if process is not None:
            with suppress(subprocess.TimeoutExpired):
                process.wait(_END_S)
            process.kill()
        return True
    return False


def pickled(function: Callable[..., Any]) -> bytes:
    """A function as Spark sends those of a cell to its workers; raises whatever it holds that cannot be sent."""
    from pyspark import cloudpickle

    data: bytes = cloudpickle.dumps(function)  # type: ignore[no-untyped-call]
    return data


def unpickled(data: bytes) -> Callable[..., Any]:
    """The function again; only for a process that runs the learner's code anyway."""
    from pyspark import cloudpickle

    function: Callable[..., Any] = cloudpickle.loads(data)
    return function
