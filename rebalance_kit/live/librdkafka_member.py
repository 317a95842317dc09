"""One consumer of librdkafka in a process of its own, told what to do on its input: the twin of ``Member.java``.

Started as ``python -m rebalance_kit.live.librdkafka_member NAME TRUTH CONFIGS TOPICS CALLBACK``; nothing imports it.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaException, libversion

WAIT_S = 0.1


class Member:
    """Polls, writes what it sees, obeys."""

    def __init__(self, name: str, truth: str, configs: str, topics: str, callback: str) -> None:
        self._name, self._topics, self._callback = name, topics.split(","), callback
        self._out = os.open(truth, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self._configs = json.loads(Path(configs).read_text("utf-8"))
        self._slow_s = 0.0
        self.orders: queue.SimpleQueue[str] = queue.SimpleQueue()

    def say(self, kind: str, **more: object) -> None:
        """Write a row of the truth."""
        row = {"by": self._name, "t": int(time.time() * 1000), "kind": kind, **more}
        os.write(self._out, json.dumps(row, separators=(",", ":")).encode() + b"\n")

    def work(self) -> None:
        """From subscribe() to close()."""
        self._consumer = Consumer({**self._configs, "debug": "cgrp,consumer"})
        self._subscribe()
        self.say("start", topics=self._topics, version=libversion()[0], callback=self._callback)
        while True:
            self._poll()
            while not self.orders.empty():
                if not self._obeyed(self.orders.get()):
                    return

    def _poll(self) -> None:
        spans: dict[str, list[int]] = {}
        try:
            messages = self._consumer.consume(500, WAIT_S)
        except KafkaException as error:
            self.say("error", text=str(error.args[0]))
            return
        for message in messages:
            if message.error() is None:
                name = f"{message.topic()}-{message.partition()}"
                offset = int(message.offset() or 0)
                spans.setdefault(name, [offset, 0])[1] = offset
        if spans:
            self.say("records", records=spans)

    def _obeyed(self, order: str) -> bool:
        word, _, rest = order.partition(" ")
        self.say("command", line=order)
        if word == "close":
            self.say("closing", assignment=_names(self._consumer.assignment()))
            self._consumer.close()
            self.say("closed")
            return False
        if word == "stall":
            time.sleep(int(rest) / 1000)
            self.say("stall_end")
        elif word == "slow":
            self._slow_s = int(rest) / 1000
        elif word == "subscribe":
            self._topics = rest.split(",")
            self._subscribe()
        return True

    def _subscribe(self) -> None:
        topics = [topic.replace("~", "^", 1) for topic in self._topics]
        self._consumer.subscribe(
            topics,
            on_assign=self._called("assigned", "assign"),
            on_revoke=self._called("revoked", "unassign"),
            on_lost=self._called("lost", "unassign"),
        )

    def _called(self, kind: str, call: str) -> Callable[[Any, Any], None]:
        def callback(consumer: Any, partitions: Any) -> None:
            before = _names(consumer.assignment())
            self.say(kind, partitions=_names(partitions), protocol=None, assigned_before=before)
            if self._slow_s:
                time.sleep(self._slow_s)
            if self._callback == "wrong":
                self._answer_wrongly(consumer, partitions, kind, call)
                self.say(f"{kind}_end", assignment=_names(consumer.assignment()))

        return callback

    def _answer_wrongly(self, consumer: Any, partitions: Any, kind: str, call: str) -> None:
        """Call the other family: assign() where the assignment is incremental, incremental_assign() where it is not."""
        incremental = (
            self._configs.get("group.protocol") == "consumer"
            or self._configs.get("partition.assignment.strategy") == "cooperative-sticky"
        )
        name = call if incremental else f"incremental_{call}"
        given = () if name == "unassign" else (partitions,)
        try:
            getattr(consumer, name)(*given)
        except KafkaException as error:
            self.say("error", text=str(error.args[0]))
        else:
            self.say(f"{kind}_called", call=name)


def _names(partitions: Any) -> list[str]:
    return [
        f"{one.topic}-{one.partition}"
        for one in sorted(partitions, key=lambda one: (one.topic, one.partition))
    ]


def main(arguments: list[str]) -> None:
    """Wait for ``go``, then live until told to close, or until the input ends."""
    member = Member(*arguments)
    Path(f"{arguments[2]}.ready").touch()
    if sys.stdin.readline().strip() != "go":
        os._exit(4)

    def listen() -> None:
        for line in sys.stdin:
            member.orders.put(line.strip())
        os._exit(4)

    threading.Thread(target=listen, daemon=True).start()
    try:
        member.work()
    except Exception as error:  # noqa: BLE001 - it is written down as the end of the process
        member.say("died", text=str(error))
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
