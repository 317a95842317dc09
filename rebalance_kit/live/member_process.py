"""What every member of Python has in common: it writes rows of the truth, waits for ``go``, and takes orders from its input."""

from __future__ import annotations

import json
import logging
import os
import queue
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol

WAIT_S = 0.1
DEFAULT_LIST = "org.apache.kafka.clients.consumer.RangeAssignor"


class Voice:
    """Writes rows, each in one write, since several processes append to one file; holds the orders that wait."""

    def __init__(self, name: str, truth: str, configs: str, topics: str) -> None:
        self.name, self.topics, self.slow_s = name, topics.split(","), 0.0
        self.configs: dict[str, Any] = json.loads(Path(configs).read_text("utf-8"))
        self.orders: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._out = os.open(truth, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def say(self, kind: str, **more: object) -> None:
        """Write a row of the truth."""
        row = {"by": self.name, "t": int(time.time() * 1000), "kind": kind, **more}
        os.write(self._out, json.dumps(row, separators=(",", ":")).encode() + b"\n")

    def records(self, spans: Mapping[str, list[int]]) -> None:
        """Write what a poll gave: first and last offset of each partition."""
        if spans:
            self.say("records", records=spans)

    def pattern(self) -> str | None:
        """The pattern that it subscribes to, if it does."""
        first = self.topics[0]
        return first[1:] if first.startswith(("~", "@")) else None


class Member(Protocol):
    """What ``main`` runs."""

    voice: Voice

    def work(self) -> None:
        """From subscribe() to close()."""


def named(partitions: Iterable[Any]) -> list[str]:
    """Partitions of any client by topic and number."""
    return [
        f"{one.topic}-{one.partition}"
        for one in sorted(partitions, key=lambda one: (one.topic, one.partition))
    ]


def python_configs(configs: Mapping[str, Any], assignors: Mapping[str, Any]) -> dict[str, Any]:
    """Configs in Kafka's keys as the clients written in Python spell them; ends the process at what they do not have."""
    made = {key.replace(".", "_"): value for key, value in configs.items()}
    if str(made.pop("group_protocol", "classic")).lower() != "classic":
        sys.exit("this client has no group.protocol=consumer; expected a classic protocol")
    given = made.pop("partition_assignment_strategy", DEFAULT_LIST)
    names = [
        one.strip().rpartition(".")[2] for one in (given.split(",") if isinstance(given, str) else given)
    ]
    unknown = [name for name in names if name not in assignors]
    if unknown:
        sys.exit(f"this client has no {unknown[0]}; expected {', '.join(assignors)}")
    made["partition_assignment_strategy"] = [assignors[name] for name in names]
    return made


def main(member: Member, configs: str) -> None:
    """Wait for ``go``, then live until told to close, or until the input ends."""
    logging.basicConfig(
        level=logging.INFO, format="[%(asctime)s] %(levelname)s %(message)s (%(name)s)", stream=sys.stdout
    )
    logging.Formatter.converter = time.gmtime
    Path(f"{configs}.ready").touch()
    if sys.stdin.readline().strip() != "go":
        os._exit(4)

    def listen() -> None:
        for line in sys.stdin:
            member.voice.orders.put(line.strip())
        os._exit(4)

    threading.Thread(target=listen, daemon=True).start()
    try:
        member.work()
    except Exception as error:  # noqa: BLE001 - it is written down as the end of the process
        member.voice.say("died", text=str(error))
        os._exit(1)
    os._exit(0)
