"""One real broker: KRaft, loopback, a free port, a data folder of its own; it ends with the process that started it."""

from __future__ import annotations

import base64
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self
from uuid import uuid4

from rebalance_kit.live.jars import DEFAULT_VERSION, LiveError, Say, class_path, java
from rebalance_kit.live.processes import Processes, send

UP_WITHIN_S = 180.0
NEEDED_MB = 200
LAYOUT = "[%d] %p %m (%c)%n"
_STARTED = "Kafka Server started"
_LOG4J2 = f"""status=error
appender.out.type=Console
appender.out.name=out
appender.out.layout.type=PatternLayout
appender.out.layout.pattern={LAYOUT}
rootLogger.level=INFO
rootLogger.appenderRef.out.ref=out
"""
_LOG4J1 = f"""log4j.rootLogger=INFO, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern={LAYOUT}
"""
_CONFIGS: Mapping[str, str] = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "offsets.topic.num.partitions": "1",
    "offsets.topic.replication.factor": "1",
    "transaction.state.log.replication.factor": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.replication.factor": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "auto.create.topics.enable": "false",
}
_SINCE_4 = {"group.consumer.migration.policy": "bidirectional"}


class Broker:
    """A broker of Apache Kafka on loopback, as a context manager; ``bootstrap`` is its address.

    ``version`` is Kafka's, ``configs`` are broker configs beside the kit's, ``port`` is a free one unless given, ``say`` gets
    progress in words, ``log`` is where its log goes (default: its own folder). Needs Java 17 or newer, PySpark's resolver, and a network the first time. Raises ``LiveError`` with what
    to do. Nothing is left behind: processes and folder go when it stops, and when this process ends.
    """

    def __init__(
        self,
        version: str = DEFAULT_VERSION,
        configs: Mapping[str, object] | None = None,
        port: int | None = None,
        say: Say | None = None,
        log: Path | None = None,
    ) -> None:
        self.version = version
        self.configs = {key: str(value) for key, value in (configs or {}).items()}
        self._java, self._classes = java(), class_path(version, say)
        self.port = _free() if port is None else _asked(port)
        self._controller_port = _free()
        self.processes = Processes()
        self._process: subprocess.Popen[str] | None = None
        self.log = self.processes.folder / "broker.log" if log is None else log.absolute()
        self._written = False

    @property
    def bootstrap(self) -> str:
        """The address for ``bootstrap.servers``."""
        return f"127.0.0.1:{self.port}"

    @property
    def running(self) -> bool:
        """Whether its process lives."""
        return self._process is not None and self._process.poll() is None

    def java(self, main: str, *words: str, heap_mb: int = 96) -> list[str]:
        """The command line of a Java program on Kafka's jars, with Kafka's log layout and times in UTC."""
        options = [
            f"-Xmx{heap_mb}m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-Xshare:auto",
            "-Duser.timezone=UTC",
            "-Djava.net.preferIPv4Stack=true",
        ]
        folder = self.processes.folder
        return [
            self._java,
            *options,
            f"-Dlog4j2.configurationFile={folder / 'log4j2.properties'}",
            f"-Dlog4j.configuration=file:{folder / 'log4j.properties'}",
            "-cp",
            self._classes,
            main,
            *words,
        ]

    def start(self) -> Self:
        """Start the process, and return when it takes connections; a second start goes on with the same data."""
        if self.running:
            return self
        if not self._written:
            self._write()
        self._wait(self._launch())
        return self

    def restart(self) -> None:
        """Start the process again after ``stop`` or ``kill``, and wait for nothing: the log says when it is back."""
        if self._process is not None:
            self._process.wait(30)
        self._launch()

    def _launch(self) -> int:
        seen = self.log.stat().st_size if self.log.exists() else 0
        command = self.java("kafka.Kafka", str(self.processes.folder / "server.properties"), heap_mb=384)
        self._process = self.processes.start(command, self.log)
        return seen

    def stop(self, *, wait: bool = True) -> None:
        """SIGTERM: a shutdown in order; the data stay until ``close``."""
        self._end(signal.SIGTERM, wait=wait)

    def kill(self) -> None:
        """SIGKILL: the broker is gone at once; the data stay until ``close``."""
        self._end(signal.SIGKILL, wait=True)

    def close(self) -> None:
        """End it and whatever runs on it, and remove its folder."""
        self.processes.close()
        self._process = None

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        state = f"at {self.bootstrap}" if self.running else "not running"
        return f"<Broker: Kafka {self.version}, {state}>"

    def _end(self, which: signal.Signals, *, wait: bool) -> None:
        if self._process is None:
            return
        send(self._process, which)
        if wait:
            try:
                self._process.wait(30)
            except subprocess.TimeoutExpired:
                send(self._process, signal.SIGKILL)
                self._process.wait(10)

    def _write(self) -> None:
        folder = self.processes.folder
        free_mb = shutil.disk_usage(folder).free // 2**20
        if free_mb < NEEDED_MB:
            raise LiveError(f"{folder} has {free_mb} MB left; expected {NEEDED_MB} MB for a broker's data")
        (folder / "log4j2.properties").write_text(_LOG4J2, "utf-8")
        (folder / "log4j.properties").write_text(_LOG4J1, "utf-8")
        configs = {
            **_CONFIGS,
            **({} if self.version.startswith("3.") else _SINCE_4),
            "listeners": f"PLAINTEXT://127.0.0.1:{self.port},CONTROLLER://127.0.0.1:{self._controller_port}",
            "controller.quorum.voters": f"1@127.0.0.1:{self._controller_port}",
            "log.dirs": str(folder / "data"),
            **self.configs,
        }
        text = "".join(f"{key}={value}\n" for key, value in configs.items())
        properties = folder / "server.properties"
        properties.write_text(text, "utf-8")
        mark = (
            "A" + base64.urlsafe_b64encode(uuid4().bytes).decode()[1:22]
        )  # a leading dash would be an option
        main = "kafka.tools.StorageTool"
        done = subprocess.run(
            self.java(main, "format", "-t", mark, "-c", str(properties)),
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
        )
        if done.returncode:
            raise LiveError(
                f"Kafka {self.version} refused its configuration: {_reason(done.stdout + done.stderr)}"
            )
        self._written = True

    def _wait(self, seen: int) -> None:
        assert self._process is not None
        until = time.monotonic() + UP_WITHIN_S
        while time.monotonic() < until:
            text = self._said(seen)
            if _STARTED in text:
                return
            if self._process.poll() is not None:
                raise LiveError(f"the broker ended while it started: {_reason(text)}")
            time.sleep(0.1)
        raise LiveError(
            f"the broker did not start within {UP_WITHIN_S:g} s; expected a machine with 1 GB of memory free. "
            f"Its last line: {self._said(seen)[-200:]!r}"
        )

    def _said(self, seen: int) -> str:
        with self.log.open("rb") as held:
            held.seek(seen)
            return held.read().decode("utf-8", "replace")


def _reason(text: str) -> str:
    """What stopped it, in the words of its log, with what to do where that is known."""
    if "No space left on device" in text:
        return "the disk is full; expected 200 MB in the folder of temporary files"
    if found := re.search(r"(?:Address already in use|Failed to bind)[^\n]*", text):
        return f"{found[0]}; expected a free port: leave `port` out, and one is found"
    found = re.search(r"(?:ERROR|FATAL) [^\n]*|[\w.]*Exception: [^\n]*", text)
    return found[0] if found else (text.strip().splitlines() or ["no reason given"])[-1]


def _free() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _asked(port: int) -> int:
    if not 1024 <= port <= 65_535:
        raise LiveError(f"port {port}: expected one from 1024 to 65535, or none to have a free one found")
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise LiveError(
                f"port {port} is taken ({error.strerror}); expected a free one: leave it out, and one is found"
            ) from error
    return port
