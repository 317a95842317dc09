"""A standalone Spark cluster on this machine: one master and some workers as processes, on the loopback address.

For trying out what runs on a cluster, and for tests and measurements of it; the classes come with PySpark.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from rebalance_kit.model.errors import EnvironmentProblem
from rebalance_kit.pipeline.spark.java import find_java

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

_ADDRESS = "127.0.0.1"
_PATIENCE_S = 120


class LocalCluster:
    """A master and ``workers`` workers of ``cores`` cores and ``memory`` each, as long as the ``with`` block lasts.

    ``url`` is the master's; logs and work folders are in ``folder``. Every process that it started is
    ended with the block, by its id, also when the block fails. Raises ``EnvironmentProblem`` when there
    is no Java or PySpark, or a process ends before it is ready.
    """

    def __init__(
        self, folder: str | os.PathLike[str], workers: int = 2, cores: int = 1, memory: str = "1g"
    ) -> None:
        self.folder, self.url = Path(folder).resolve(), ""
        self._workers, self._each = workers, ("--cores", str(cores), "--memory", memory)
        self._processes: list[subprocess.Popen[bytes]] = []
        self._environment = _environment()

    def __enter__(self) -> Self:
        try:
            self._begin()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in reversed(self._processes):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        self._processes.clear()

    def submit(self, *arguments: str | os.PathLike[str]) -> tuple[subprocess.Popen[bytes], Path]:
        """Start ``spark-submit`` with this master; its process, and the file of all that it prints."""
        return self._start("job", _tool("spark-submit"), "--master", self.url, *arguments)

    def _begin(self) -> None:
        master, log = self._start(
            "master",
            _tool("spark-class"),
            "org.apache.spark.deploy.master.Master",
            "--host",
            _ADDRESS,
            "--port",
            "0",
            "--webui-port",
            "0",
        )
        address = re.compile(rf"spark://{re.escape(_ADDRESS)}:\d+")
        self._await(lambda: address.search(log.read_text("utf-8")) is not None, master, log)
        self.url = address.findall(log.read_text("utf-8"))[0]
        for number in range(1, self._workers + 1):
            name = f"worker{number}"
            self._start(
                name,
                _tool("spark-class"),
                "org.apache.spark.deploy.worker.Worker",
                "--host",
                _ADDRESS,
                "--webui-port",
                "0",
                *self._each,
                "--work-dir",
                self.folder / name,
                self.url,
            )
        self._await(lambda: log.read_text("utf-8").count("Registering worker") == self._workers, master, log)

    def _start(self, name: str, *command: str | os.PathLike[str]) -> tuple[subprocess.Popen[bytes], Path]:
        log = self.folder / f"{name}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [os.fspath(word) for word in command],
                stdout=out,
                stderr=out,
                stdin=subprocess.DEVNULL,
                env=self._environment,
                cwd=self.folder,
                start_new_session=True,
            )
        self._processes.append(process)
        return process, log

    def _await(self, ready: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
        end = time.monotonic() + _PATIENCE_S
        while not ready():
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.05)
            if (process.poll() is not None and not ready()) or time.monotonic() > end:
                raise EnvironmentProblem(
                    f"the cluster did not come up; its log ends: {log.read_text('utf-8')[-600:]}"
                )


def _tool(name: str) -> str:
    return str(_home() / "bin" / name)


def _home() -> Path:
    try:
        import pyspark
    except ImportError as problem:
        raise EnvironmentProblem(
            f"PySpark is not installed ({problem}); expected: pip install 'rebalance-kit[spark]'"
        ) from problem
    return Path(pyspark.__file__).parent


def _environment() -> Mapping[str, str]:
    python = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    spark = {"JAVA_HOME": str(find_java().home), "SPARK_HOME": str(_home()), "SPARK_LOCAL_IP": _ADDRESS}
    return {**os.environ, **python, **spark}
