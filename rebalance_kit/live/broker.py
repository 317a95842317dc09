"""Real brokers, one or three: KRaft, loopback, free ports, a data folder of their own; they end with the process that started them."""

from __future__ import annotations

import base64
import re
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self
from uuid import uuid4

from rebalance_kit.live.jars import DEFAULT_VERSION, LiveError, Say, class_path, java
from rebalance_kit.live.processes import Processes, send

if TYPE_CHECKING:
    from rebalance_kit.live.proxy import Proxy

UP_WITHIN_S = 180.0
NEEDED_MB = 200
_KEYS_PASSWORD = "of-loopback-alone"
"""It guards a key that lives as long as its broker, in its broker's folder."""
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
    "controller.listener.names": "CONTROLLER",
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.min.isr": "1",
    "share.coordinator.state.topic.min.isr": "1",
    "auto.create.topics.enable": "false",
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,MEMBERS:PLAINTEXT,SECURE:SASL_SSL",
}
_REPLICATED = (
    "default.replication.factor",
    "offsets.topic.replication.factor",
    "transaction.state.log.replication.factor",
    "share.coordinator.state.topic.replication.factor",
)
_SINCE_4 = {"group.consumer.migration.policy": "bidirectional"}
MECHANISM = "SCRAM-SHA-512"
_SECURE: Mapping[str, str] = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",  # who comes over the plain listeners of loopback
    "sasl.enabled.mechanisms": MECHANISM,
    "listener.name.secure.sasl.enabled.mechanisms": MECHANISM,
    "listener.name.secure.scram-sha-512.sasl.jaas.config": "org.apache.kafka.common.security.scram.ScramLoginModule required;",
    "ssl.keystore.type": "PKCS12",
}
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_.-]+")
MOST_NODES = 5


@dataclass(slots=True)
class _Node:
    """One process of the cluster: a broker that is a controller as well."""

    number: int
    port: int
    controller: int
    log: Path
    secure: int = 0
    hidden: int = 0
    front: int = 0
    process: subprocess.Popen[str] | None = None

    @property
    def lives(self) -> bool:
        return self.process is not None and self.process.poll() is None


class Broker:
    """Brokers of Apache Kafka on loopback, as a context manager; ``bootstrap`` is their address.

    ``version`` is Kafka's, ``configs`` are broker configs beside the kit's, ``port`` is a free one unless given (of the first of
    several), ``say`` gets progress in words, ``log`` is where its log goes (default: its own folder; those of further brokers
    beside it, as ``NAME-2.log``). ``nodes`` is how many brokers: with three, internal topics have three replicas and the group's
    coordinator moves when its broker stops. ``users`` (name to password) opens a listener with TLS and SCRAM for them, at
    ``secure``, with ACLs that grant nothing until asked (``certificate`` is its PEM file); the plain listener stays the
    administrator's. ``proxied`` puts ``proxy`` before a listener for members, at ``members``: it delays and cuts their
    connections. Needs Java 17 or newer, PySpark's resolver, and a network the first time. Raises ``LiveError`` with what
    to do. Nothing is left behind: processes and folder go when it stops, and when this process ends.
    """

    def __init__(
        self,
        version: str = DEFAULT_VERSION,
        configs: Mapping[str, object] | None = None,
        port: int | None = None,
        say: Say | None = None,
        log: Path | None = None,
        *,
        nodes: int = 1,
        users: Mapping[str, str] | None = None,
        proxied: bool = False,
    ) -> None:
        if not 1 <= nodes <= MOST_NODES:
            raise LiveError(f"nodes={nodes}: expected 1 to {MOST_NODES} brokers")
        self.version = version
        self.configs = {key: str(value) for key, value in (configs or {}).items()}
        if bad := [
            key
            for key, value in self.configs.items()
            if {"\n", "\r"} & {*key, *value} or value.endswith("\\")
        ]:
            raise LiveError(f"broker config {bad[0]!r} goes on in another line; expected one line")
        self.users = dict(users or {})
        for name, password in self.users.items():
            if not _PLAIN_NAME.fullmatch(name) or not _PLAIN_NAME.fullmatch(password):
                raise LiveError(f"user {name!r}: expected name and password of letters, digits, _, . and -")
        self._java, self._classes = java(), class_path(version, say)
        first = None if port is None else _asked(port)
        ports = iter(_free(5 * nodes))
        self.processes = Processes()
        self.log = self.processes.folder / "broker.log" if log is None else log.absolute()
        self._nodes = [
            _Node(
                number, next(ports), next(ports), self._log_of(number), next(ports), next(ports), next(ports)
            )
            for number in range(1, nodes + 1)
        ]
        if first is not None:
            self._nodes[0].port = first
        self.certificate = self.processes.folder / "certificate.pem"
        self.proxy: Proxy | None = None
        if proxied:
            from rebalance_kit.live.proxy import Proxy  # asyncio, for three brokers alone

            self.proxy = Proxy({node.front: node.hidden for node in self._nodes})
        self._written = False

    def _log_of(self, number: int) -> Path:
        return self.log if number == 1 else self.log.with_name(f"{self.log.stem}-{number}{self.log.suffix}")

    @property
    def bootstrap(self) -> str:
        """The address for ``bootstrap.servers``."""
        return ",".join(f"127.0.0.1:{node.port}" for node in self._nodes)

    @property
    def members(self) -> str:
        """The address for members: the proxy's where there is one."""
        return (
            self.bootstrap
            if self.proxy is None
            else ",".join(f"127.0.0.1:{node.front}" for node in self._nodes)
        )

    @property
    def faults(self) -> Proxy:
        """The proxy before the members; raises ``LiveError`` where there is none."""
        if self.proxy is None:
            raise LiveError("nothing stands before this broker; expected Broker(proxied=True)")
        return self.proxy

    @property
    def secure(self) -> str:
        """The address of the listener with TLS and SCRAM; raises ``LiveError`` without users."""
        if not self.users:
            raise LiveError("this broker has no users; expected Broker(users={name: password})")
        return ",".join(f"127.0.0.1:{node.secure}" for node in self._nodes)

    @property
    def logs(self) -> list[Path]:
        """The log of each broker."""
        return [node.log for node in self._nodes]

    @property
    def running(self) -> bool:
        """Whether one of its processes lives."""
        return any(node.lives for node in self._nodes)

    @property
    def living(self) -> list[int]:
        """The ids of the brokers whose processes live."""
        return [node.number for node in self._nodes if node.lives]

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

    def start(self, node: int | None = None) -> Self:
        """Start what does not run, or that one broker, and return when it takes connections; a second start goes on with the same data."""
        waited = [one for one in self._chosen(node) if not one.lives]
        if not self._written:
            self._write()
        for one, seen in [(one, self._launch(one)) for one in waited]:
            self._wait(one, seen)
        return self

    def restart(self, node: int | None = None) -> None:
        """Start the processes again after ``stop`` or ``kill``, and wait for nothing: the log says when they are back."""
        for one in self._chosen(node):
            if one.process is not None:
                one.process.wait(30)
            self._launch(one)

    def _chosen(self, node: int | None) -> list[_Node]:
        if node is None:
            return list(self._nodes)
        found = [one for one in self._nodes if one.number == node]
        if not found:
            raise LiveError(
                f"broker {node} is unknown; expected one of {', '.join(str(one.number) for one in self._nodes)}"
            )
        return found

    def _launch(self, node: _Node) -> int:
        seen = node.log.stat().st_size if node.log.exists() else 0
        command = self.java("kafka.Kafka", str(self._properties(node)), heap_mb=384)
        node.process = self.processes.start(command, node.log)
        return seen

    def stop(self, node: int | None = None, *, wait: bool = True) -> None:
        """SIGTERM: a shutdown in order; the data stay until ``close``."""
        self._end(node, signal.SIGTERM, wait=wait)

    def kill(self, node: int | None = None) -> None:
        """SIGKILL: the brokers, or that one, are gone at once; the data stay until ``close``."""
        self._end(node, signal.SIGKILL, wait=True)

    def close(self) -> None:
        """End it and whatever runs on it, and remove its folder."""
        if self.proxy is not None:
            self.proxy.close()
        self.processes.close()
        for node in self._nodes:
            node.process = None

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

    def _end(self, node: int | None, which: signal.Signals, *, wait: bool) -> None:
        ended = [one.process for one in self._chosen(node) if one.process is not None]
        for process in ended:
            send(process, which)
        for process in ended if wait else ():
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                send(process, signal.SIGKILL)
                process.wait(10)

    def client_configs(self, user: str) -> dict[str, str]:
        """What a client of librdkafka, or Kafka's own with a PEM truststore, needs to come in as a user."""
        if user not in self.users:
            raise LiveError(
                f"user {user!r} is unknown; expected one of {', '.join(self.users) or 'none: there are no users'}"
            )
        return {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": MECHANISM,
            "sasl.username": user,
            "sasl.password": self.users[user],
            "ssl.ca.location": str(self.certificate),
        }

    def _properties(self, node: _Node) -> Path:
        return self.processes.folder / f"server-{node.number}.properties"

    def _write(self) -> None:
        folder = self.processes.folder
        free_mb = shutil.disk_usage(folder).free // 2**20
        if free_mb < NEEDED_MB * len(self._nodes):
            raise LiveError(
                f"{folder} has {free_mb} MB left; expected {NEEDED_MB * len(self._nodes)} MB for a broker's data"
            )
        (folder / "log4j2.properties").write_text(_LOG4J2, "utf-8")
        (folder / "log4j.properties").write_text(_LOG4J1, "utf-8")
        if self.users:
            self._certify()
        mark = (
            "A" + base64.urlsafe_b64encode(uuid4().bytes).decode()[1:22]
        )  # a leading dash would be an option
        for node in self._nodes:
            configs = self._configs(node)
            text = "".join(f"{key}={value}\n" for key, value in configs.items())
            self._properties(node).write_text(text, "utf-8")
            scram = [
                word
                for name, password in self.users.items()
                for word in ("--add-scram", f"{MECHANISM}=[name={name},password={password}]")
            ]
            self._run(
                "kafka.tools.StorageTool", "format", "-t", mark, "-c", str(self._properties(node)), *scram
            )
        self._written = True

    def _configs(self, node: _Node) -> dict[str, str]:
        folder = self.processes.folder
        named = {"PLAINTEXT": (node.port, node.port)}
        if self.proxy is not None:
            named["MEMBERS"] = (node.hidden, node.front)
        if self.users:
            named["SECURE"] = (node.secure, node.secure)
        listeners = [f"{name}://127.0.0.1:{port}" for name, (port, _) in named.items()]
        told = [f"{name}://127.0.0.1:{port}" for name, (_, port) in named.items()]
        voters = [f"{one.number}@127.0.0.1:{one.controller}" for one in self._nodes]
        secured = {
            **_SECURE,
            "ssl.keystore.location": str(folder / "keys.p12"),
            "ssl.keystore.password": _KEYS_PASSWORD,
        }
        return {
            **_CONFIGS,
            "node.id": str(node.number),
            **dict.fromkeys(_REPLICATED, str(min(3, len(self._nodes)))),
            **({} if self.version.startswith("3.") else _SINCE_4),
            **(secured if self.users else {}),
            "inter.broker.listener.name": "PLAINTEXT",
            "listeners": ",".join([*listeners, f"CONTROLLER://127.0.0.1:{node.controller}"]),
            "advertised.listeners": ",".join(told),
            "controller.quorum.voters": ",".join(voters),
            "log.dirs": str(folder / f"data-{node.number}"),
            **self.configs,
        }

    def _certify(self) -> None:
        """A certificate of its own for loopback; Java's keytool is a module of every runtime."""
        keys = self.processes.folder / "keys.p12"
        held = (
            "-alias",
            "broker",
            "-storetype",
            "PKCS12",
            "-keystore",
            str(keys),
            "-storepass",
            _KEYS_PASSWORD,
        )
        tool = (self._java, "--module", "java.base/sun.security.tools.keytool.Main")
        names = ("-dname", "CN=127.0.0.1", "-ext", "SAN=ip:127.0.0.1,dns:localhost", "-validity", "7")
        for words in (
            ("-genkeypair", "-keyalg", "EC", *names, *held),
            ("-exportcert", "-rfc", "-file", str(self.certificate), *held),
        ):
            done = subprocess.run(
                [*tool, *words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
            )
            if done.returncode:
                raise LiveError(f"no certificate could be made: {_reason(done.stdout + done.stderr)}")

    def _run(self, main: str, *words: str) -> None:
        done = subprocess.run(
            self.java(main, *words), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
        if done.returncode:
            raise LiveError(
                f"Kafka {self.version} refused its configuration: {_reason(done.stdout + done.stderr)}"
            )

    def _wait(self, node: _Node, seen: int) -> None:
        assert node.process is not None
        until = time.monotonic() + UP_WITHIN_S
        while time.monotonic() < until:
            text = _said(node.log, seen)
            if _STARTED in text:
                return
            if node.process.poll() is not None:
                raise LiveError(f"the broker ended while it started: {_reason(text)}")
            time.sleep(0.1)
        raise LiveError(
            f"the broker did not start within {UP_WITHIN_S:g} s; expected a machine with 1 GB of memory free. "
            f"Its last line: {_said(node.log, seen)[-200:]!r}"
        )


def _said(log: Path, seen: int) -> str:
    with log.open("rb") as held:
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


def _free(many: int) -> list[int]:
    """Free ports, all different."""
    with ExitStack() as held:
        probes = [held.enter_context(socket.socket()) for _ in range(many)]
        for probe in probes:
            probe.bind(("127.0.0.1", 0))
        return [int(probe.getsockname()[1]) for probe in probes]


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
