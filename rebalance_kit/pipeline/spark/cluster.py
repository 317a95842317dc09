"""A standalone cluster on this machine, and the kit shipped to its workers.

A standalone Spark cluster on this machine: a master and workers as processes on the loopback address.

It serves to try out, test and measure jobs that run on a cluster; PySpark ships the classes.

Ship the kit to Spark's workers: the whole package as one zip, for ``--py-files`` and the like.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

from rebalance_kit.model.errors import EnvironmentProblem, require
from rebalance_kit.model.files import draft_of, scratch_for
from rebalance_kit.pipeline.spark.java import find_java

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

    from pyspark.sql import SparkSession


_ADDRESS = "127.0.0.1"
_START_TIMEOUT_S = 120


class LocalCluster:
    """A master and ``workers`` workers of ``cores`` cores and ``memory`` each, for the length of a ``with`` block.

    ``url`` is the master's; logs and work folders are in ``folder``. Leaving the block, normally or by an
    error, ends every process that it started, by process id. Raises ``EnvironmentProblem`` when Java or
    PySpark is missing, or a process ends before it is ready.
    """

    def __init__(
        self, folder: str | os.PathLike[str], workers: int = 2, cores: int = 1, memory: str = "1g"
    ) -> None:
        self.folder, self.url = Path(folder).resolve(), ""
        self._workers, self._worker_size = workers, ("--cores", str(cores), "--memory", memory)
        self._processes: list[subprocess.Popen[bytes]] = []
        self._environment = _environment()

    def __enter__(self) -> Self:
        try:
            self._start_all()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in reversed(self._processes):
            with suppress(ProcessLookupError, PermissionError):
                if hasattr(os, "killpg"):
                    os.killpg(process.pid, signal.SIGKILL)
                else:
                    process.kill()
            process.wait()
        self._processes.clear()

    def submit(self, *arguments: str | os.PathLike[str]) -> tuple[subprocess.Popen[bytes], Path]:
        """Start ``spark-submit`` with this master; returns its process and the file that holds its output."""
        return self._start("job", _tool("spark-submit"), "--master", self.url, *arguments)

    def _start_all(self) -> None:
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
        self._wait_until(lambda: address.search(log.read_text("utf-8")) is not None, master, log)
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
                *self._worker_size,
                "--work-dir",
                self.folder / name,
                self.url,
            )
        self._wait_until(
            lambda: log.read_text("utf-8").count("Registering worker") == self._workers, master, log
        )

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

    def _wait_until(self, ready: Callable[[], bool], process: subprocess.Popen[bytes], log: Path) -> None:
        end = time.monotonic() + _START_TIMEOUT_S
        while not ready():
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.05)
            if (process.poll() is not None and not ready()) or time.monotonic() > end:
                raise EnvironmentProblem(
                    f"the cluster did not come up; its log ends: {log.read_text('utf-8')[-600:]}"
                )


def _tool(name: str) -> str:
    return str(_spark_home() / "bin" / name)


def _spark_home() -> Path:
    require("pyspark")
    import pyspark

    return Path(pyspark.__file__).parent


def _environment() -> Mapping[str, str]:
    python = {"PYSPARK_PYTHON": sys.executable, "PYSPARK_DRIVER_PYTHON": sys.executable}
    spark = {"JAVA_HOME": str(find_java().home), "SPARK_HOME": str(_spark_home()), "SPARK_LOCAL_IP": _ADDRESS}
    return {**os.environ, **python, **spark}


_KIT = "rebalance_kit.zip"

_HOME = Path(__file__).resolve().parents[2]

#: Endings of the files that a worker may need: code, scenarios, tables.
_SHIPPED = frozenset({".py", ".yaml", ".json", ".gz", ".typed"})

#: Every entry gets this time, so that the same kit gives the same bytes.
_ENTRY_TIME = (1980, 1, 1, 0, 0, 0)


def write_kit_zip(path: str | os.PathLike[str]) -> Path:
    """Write the installed package to ``path`` as a zip and return the path; an existing file is replaced whole.

    ``spark-submit --py-files KIT.zip job.py`` then runs a job that imports ``rebalance_kit`` on a cluster
    without the kit (its Python needs pyarrow and PyYAML).  Raises ``EnvironmentProblem`` when the package
    itself was imported from such a zip.
    """
    target, home = Path(path), _HOME
    if not home.is_dir():
        raise EnvironmentProblem(
            f"the kit was imported from {home.parent}; expected an installed package to pack: copy that file instead"
        )
    with draft_of(target) as draft, zipfile.ZipFile(draft, "w", zipfile.ZIP_DEFLATED) as packed:
        for file in sorted(home.rglob("*")):
            if file.suffix in _SHIPPED and "__pycache__" not in file.parts:
                entry = zipfile.ZipInfo(str(Path(home.name) / file.relative_to(home)), _ENTRY_TIME)
                packed.writestr(entry, file.read_bytes(), zipfile.ZIP_DEFLATED)
    return target


def ship_kit(spark: SparkSession) -> None:
    """Send the kit to the workers of a running session; a second call changes nothing."""
    if not _HOME.is_dir():
        return  # imported from a zip, which the workers have too
    context = getattr(spark, "_sc", None)
    if context is None:
        with scratch_for("kit") as folder:
            spark.addArtifacts(str(write_kit_zip(folder / _KIT)), pyfile=True)
    elif not any(path.endswith(_KIT) for path in context._python_includes):  # noqa: SLF001 - there is no public way to ask
        # A worker fetches the file for its first task, so it must stay: the context's own folder keeps it.
        context.addPyFile(str(write_kit_zip(Path(context._temp_dir) / _KIT)))  # noqa: SLF001 - removed with the context


def connected(address: str, settings: Mapping[str, str]) -> SparkSession:
    """A session on a Spark Connect server (``sc://host:15002``).

    Raises ``EnvironmentProblem`` when this PySpark was installed without its Connect client.
    """
    from pyspark.sql import SparkSession

    # The silver plans nest deeper than the hundred messages that protobuf's C parser accepts.
    os.environ.setdefault("PROTOCOL_BUFFERS_PYTHON_IMPLEMENTATION", "python")
    try:
        import grpc  # type: ignore[import-untyped,unused-ignore]  # noqa: F401 - only its presence matters
        import grpc_status  # type: ignore[import-untyped,unused-ignore]  # noqa: F401
    except ImportError as problem:
        raise EnvironmentProblem(
            f"{address} is a Spark Connect server, and this PySpark came without the client for it ({problem}); "
            "expected: pip install 'pyspark[connect]'"
        ) from problem
    session: SparkSession = SparkSession.builder.remote(address).getOrCreate()
    for key, value in settings.items():
        if key.startswith("spark.sql."):  # the rest is the server's own
            session.conf.set(key, value)
    ship_kit(session)
    return session
