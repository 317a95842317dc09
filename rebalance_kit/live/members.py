"""Members as processes: Java consumers on Kafka's own jars, librdkafka through confluent-kafka; what they write, in a folder."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

from rebalance_kit.live.broker import Broker
from rebalance_kit.live.deeds import Start
from rebalance_kit.live.jars import LiveError, cache, class_path, java, locked, one_jar
from rebalance_kit.live.processes import send
from rebalance_kit.model.errors import to_install
from rebalance_kit.model.files import draft_folder

TRUTH = "truth.jsonl"
PYTHON = {
    "librdkafka": ("confluent_kafka", "confluent-kafka", to_install("clients")),
    "aiokafka": ("aiokafka", "aiokafka", "pip install aiokafka"),
    "kafka-python": ("kafka", "kafka-python", "pip install kafka-python"),
}
"""Clients of Python: their module, their package, how to install it."""
SOURCES = ("Rows.java", "Member.java", "Watch.java")


def classes(version: str) -> Path:
    """The folder of the compiled sources for a Kafka version, compiled once; a Java runtime is enough."""
    folder = files("rebalance_kit.live").joinpath("java")
    texts = {name: folder.joinpath(name).read_text("utf-8") for name in (*SOURCES, "Build.java")}
    mark = hashlib.sha256(json.dumps([version, texts], sort_keys=True).encode()).hexdigest()[:16]
    made = cache() / "classes" / mark
    if made.is_dir():
        return made
    made.parent.mkdir(parents=True, exist_ok=True)
    with (made.parent / "lock").open("w") as lock:
        locked(lock, wait=True)  # two notebooks compile once
        if not made.is_dir():
            with draft_folder(made.parent) as draft:
                _compile(texts, version, draft)
                (draft / "classes").rename(made)
    return made


def _compile(texts: Mapping[str, str], version: str, draft: Path) -> None:
    for name, text in texts.items():
        (draft / name).write_text(text, "utf-8")
    path = os.pathsep.join([str(one_jar("janino")), str(one_jar("commons-compiler")), class_path(version)])
    (draft / "classes").mkdir()
    compiler = (java(), "-cp", path, "org.codehaus.janino.SimpleCompiler", str(draft / "Build.java"), "Build")
    done = subprocess.run(
        [*compiler, str(draft / "classes"), *(str(draft / name) for name in SOURCES)],
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode or not (draft / "classes" / "Member.class").exists():
        said = (done.stderr or done.stdout).strip().splitlines()
        raise LiveError(f"the members' Java could not be compiled: {said[0] if said else 'no reason given'}")


class Life:
    """One life of a member's process: made ready ahead, begun by ``go``."""

    def __init__(self, broker: Broker, folder: Path, start: Start, number: int, out: Path) -> None:
        self.start = start
        self.truth = out / TRUTH
        log = out / f"{start.member}.log"
        configs = {**start.configs, "bootstrap.servers": broker.members}
        self._spec = folder / f"{start.member}.{number}.configs"
        command = self._java(broker, configs) if start.client == "java" else self._python(configs)
        self.process = broker.processes.start(command, log)

    @property
    def ready(self) -> bool:
        """Whether it waits for ``go``, or has ended before."""
        return self._spec.with_name(f"{self._spec.name}.ready").exists() or not self.lives

    def go(self) -> None:
        """Let it make its consumer."""
        self.tell("go")

    def tell(self, line: str) -> None:
        """Give it an order, which it takes after its next poll(); nothing where it lives no more."""
        stdin = self.process.stdin
        assert stdin is not None
        with suppress(BrokenPipeError):
            stdin.write(line + "\n")
            stdin.flush()

    def signal(self, which: signal.Signals) -> None:
        """SIGKILL, SIGSTOP or SIGCONT."""
        send(self.process, which)

    @property
    def lives(self) -> bool:
        """Whether its process is there."""
        return self.process.poll() is None

    def _java(self, broker: Broker, configs: Mapping[str, Any]) -> list[str]:
        properties = self._spec
        properties.write_text(
            "".join(f"{key}={_escaped(value)}\n" for key, value in configs.items()), "utf-8"
        )
        command = broker.java(
            "Member", self.start.member, str(self.truth), str(properties), self.start.topics
        )
        command[command.index("-cp") + 1] += os.pathsep + str(classes(broker.version))
        return command

    def _python(self, configs: Mapping[str, Any]) -> list[str]:
        module, package, where = PYTHON[self.start.client]
        if importlib.util.find_spec(module) is None:
            raise LiveError(
                f"member {self.start.member} is {self.start.client}'s, and {package} is not installed; expected: {where}"
            )
        self._spec.write_text(json.dumps(configs), "utf-8")
        start = self.start
        words = [start.client, start.member, str(self.truth), str(self._spec), start.topics, start.callback]
        return [sys.executable, "-P", "-m", "rebalance_kit.live.python_member", *words]


def _escaped(value: object) -> str:
    return str(value).replace("\\", "\\\\").replace("\n", "\\n")


class Watch:
    """The process that writes records, describes the group every 250 ms, and administers."""

    def __init__(self, broker: Broker, folder: Path, group: str, out: Path) -> None:
        self.truth = out / TRUTH
        self._said = folder / "watch.out"
        command = broker.java("Watch", str(self.truth), broker.bootstrap, group)
        command[command.index("-cp") + 1] += os.pathsep + str(classes(broker.version))
        self.process = broker.processes.start(command, self._said, folder / "watch.err")

    def tell(self, line: str) -> None:
        """Give it an order; the truth says what came of it."""
        stdin = self.process.stdin
        assert stdin is not None
        with suppress(BrokenPipeError):
            stdin.write(line + "\n")
            stdin.flush()

    def outcome(self, line: str) -> str | None:
        """What came of an order, or None while it is under way."""
        row = self._last(lambda row: row.get("kind") == "admin" and row.get("line") == line)
        return None if row is None else str(row["outcome"])

    def described(self) -> Mapping[str, Any]:
        """The last description of the group, empty before the first."""
        return self._last(lambda row: row.get("kind") == "describe") or {}

    def _last(self, wanted: Callable[[Mapping[str, Any]], bool]) -> Mapping[str, Any] | None:
        for said in reversed(self.truth.read_text("utf-8").splitlines() if self.truth.exists() else []):
            row = json.loads(said) if said.endswith("}") else {}
            if wanted(row):
                return row
        return None
