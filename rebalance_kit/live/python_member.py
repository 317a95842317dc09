"""One consumer of a client for Python in a process of its own, told what to do on its input: the twin of ``Member.java``.

Started as ``python -m rebalance_kit.live.python_member CLIENT NAME TRUTH CONFIGS TOPICS CALLBACK``; nothing imports it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import queue
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

WAIT_S = 0.1
DEFAULT_LIST = "org.apache.kafka.clients.consumer.RangeAssignor"
Spans = dict[str, list[int]]


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


class Member:
    """Polls, writes what it sees, obeys; what differs from client to client is in the classes below."""

    def __init__(self, voice: Voice, callback: str) -> None:
        self.voice, self.callback = voice, callback

    def work(self) -> None:
        """From subscribe() to close()."""
        version = self.open()
        self.subscribe()
        self.begin()
        self.voice.say("start", topics=self.voice.topics, version=version, **self.told())
        while True:
            spans = self.poll()
            if spans:
                self.voice.say("records", records=spans)
            while not self.voice.orders.empty():
                if not self._obeyed(self.voice.orders.get()):
                    return

    def _obeyed(self, order: str) -> bool:
        word, _, rest = order.partition(" ")
        self.voice.say("command", line=order)
        if word == "close":
            self.close()
            self.voice.say("closed")
            return False
        if word == "stall":
            time.sleep(int(rest) / 1000)
            self.voice.say("stall_end")
        elif word == "slow":
            self.voice.slow_s = int(rest) / 1000
        elif word == "subscribe":
            self.voice.topics = rest.split(",")
            self.subscribe()
        return True

    def subscription(self, listener: object) -> dict[str, Any]:
        """The arguments of subscribe() for the clients written in Python."""
        first = self.voice.topics[0]
        what = {"pattern": first[1:]} if first.startswith(("~", "@")) else {"topics": self.voice.topics}
        return {**what, "listener": listener}

    # --- each client's own ---------------------------------------------------------------------
    def open(self) -> str:
        """Make the consumer; its version."""
        raise NotImplementedError

    def begin(self) -> None:
        """What has to follow the first subscribe()."""

    def told(self) -> dict[str, object]:
        """What else its first row says."""
        return {}

    def subscribe(self) -> None:
        """Subscribe to the voice's topics."""
        raise NotImplementedError

    def poll(self) -> Spans:
        """First and last offset of each partition that one poll gave."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the consumer."""
        raise NotImplementedError


class Librdkafka(Member):
    """confluent-kafka; ``callback`` is right (none of its own), or wrong (it calls the other family)."""

    def open(self) -> str:
        """Make the consumer."""
        from confluent_kafka import Consumer, libversion

        self._consumer = Consumer({**self.voice.configs, "debug": "cgrp,consumer"})
        return str(libversion()[0])

    def told(self) -> dict[str, object]:
        """Whose callbacks it has."""
        return {"callback": self.callback}

    def subscribe(self) -> None:
        """With its callbacks."""
        self._consumer.subscribe(
            [topic.replace("~", "^", 1) for topic in self.voice.topics],
            on_assign=self._called("assigned", "assign"),
            on_revoke=self._called("revoked", "unassign"),
            on_lost=self._called("lost", "unassign"),
        )

    def poll(self) -> Spans:
        """What one call gave."""
        from confluent_kafka import KafkaException

        spans: Spans = {}
        try:
            messages = self._consumer.consume(500, WAIT_S)
        except KafkaException as error:
            self.voice.say("error", text=str(error.args[0]))
            return spans
        for message in messages:
            if message.error() is None:
                name = f"{message.topic()}-{message.partition()}"
                offset = int(message.offset() or 0)
                spans.setdefault(name, [offset, 0])[1] = offset
        return spans

    def close(self) -> None:
        """Leave the group."""
        self.voice.say("closing", assignment=named(self._consumer.assignment()))
        self._consumer.close()

    def _called(self, kind: str, call: str) -> Callable[[Any, Any], None]:
        def callback(consumer: Any, partitions: Any) -> None:
            before = named(consumer.assignment())
            self.voice.say(kind, partitions=named(partitions), protocol=None, assigned_before=before)
            if self.voice.slow_s:
                time.sleep(self.voice.slow_s)
            if self.callback == "wrong":
                self._answer_wrongly(consumer, partitions, kind, call)
                self.voice.say(f"{kind}_end", assignment=named(consumer.assignment()))

        return callback

    def _answer_wrongly(self, consumer: Any, partitions: Any, kind: str, call: str) -> None:
        """Call the other family: assign() where the assignment is incremental, incremental_assign() where it is not."""
        from confluent_kafka import KafkaException

        incremental = (
            self.voice.configs.get("group.protocol") == "consumer"
            or self.voice.configs.get("partition.assignment.strategy") == "cooperative-sticky"
        )
        name = call if incremental else f"incremental_{call}"
        given = () if name == "unassign" else (partitions,)
        try:
            getattr(consumer, name)(*given)
        except KafkaException as error:
            self.voice.say("error", text=str(error.args[0]))
        else:
            self.voice.say(f"{kind}_called", call=name)


class KafkaPython(Member):
    """kafka-python."""

    def open(self) -> str:
        """Make the consumer."""
        from kafka import ConsumerRebalanceListener, KafkaConsumer, __version__
        from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
        from kafka.coordinator.assignors.range import RangePartitionAssignor
        from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
        from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

        def called(kind: str) -> Callable[[object, Any], None]:
            def callback(_listener: object, partitions: Any) -> None:
                self.voice.say(kind, partitions=named(partitions))
                time.sleep(self.voice.slow_s)
                self.voice.say(f"{kind}_end")

            return callback

        names = {f"on_partitions_{kind}": called(kind) for kind in ("assigned", "revoked", "lost")}
        self._listener = type("Listener", (ConsumerRebalanceListener,), names)()
        assignors = {
            "RangeAssignor": RangePartitionAssignor,
            "RoundRobinAssignor": RoundRobinPartitionAssignor,
            "StickyAssignor": StickyPartitionAssignor,
            "CooperativeStickyAssignor": CooperativeStickyAssignor,
        }
        self._consumer = KafkaConsumer(**python_configs(self.voice.configs, assignors))
        return f"kafka-python {__version__}"

    def subscribe(self) -> None:
        """With its callbacks."""
        self._consumer.subscribe(**self.subscription(self._listener))

    def poll(self) -> Spans:
        """What one call gave."""
        return _spans(self._consumer.poll(timeout_ms=int(WAIT_S * 1000)))

    def close(self) -> None:
        """Leave the group."""
        self._consumer.close()


class Aiokafka(Member):
    """aiokafka, whose loop runs while it polls; it has no callback for lost partitions and no cooperative assignor."""

    KNOWN = frozenset(
        {
            "bootstrap_servers", "group_id", "group_instance_id", "client_id", "auto_offset_reset", "max_poll_interval_ms",
            "session_timeout_ms", "heartbeat_interval_ms", "rebalance_timeout_ms", "metadata_max_age_ms", "auto_commit_interval_ms",
            "partition_assignment_strategy",
        }
    )  # fmt: skip

    def open(self) -> str:
        """Make the consumer."""
        from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, __version__
        from aiokafka.coordinator.assignors.range import RangePartitionAssignor
        from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
        from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

        def called(kind: str) -> Callable[[object, Any], Any]:
            async def callback(_listener: object, partitions: Any) -> None:
                self.voice.say(kind, partitions=named(partitions))
                await asyncio.sleep(self.voice.slow_s)
                self.voice.say(f"{kind}_end")

            return callback

        names = {f"on_partitions_{kind}": called(kind) for kind in ("assigned", "revoked")}
        self._listener = type("Listener", (ConsumerRebalanceListener,), names)()
        assignors = {
            "RangeAssignor": RangePartitionAssignor,
            "RoundRobinAssignor": RoundRobinPartitionAssignor,
            "StickyAssignor": StickyPartitionAssignor,
        }
        made = python_configs(self.voice.configs, assignors)
        self._run = asyncio.Runner().run

        async def make() -> Any:
            return AIOKafkaConsumer(**{key: value for key, value in made.items() if key in self.KNOWN})

        self._consumer = self._run(make())
        return f"aiokafka {__version__}"

    def begin(self) -> None:
        """Start its loop of requests."""
        self._run(self._consumer.start())

    def subscribe(self) -> None:
        """With its callbacks."""

        async def subscribe() -> None:
            self._consumer.subscribe(**self.subscription(self._listener))

        self._run(subscribe())

    def poll(self) -> Spans:
        """What one call gave."""
        return _spans(self._run(self._consumer.getmany(timeout_ms=int(WAIT_S * 1000))))

    def close(self) -> None:
        """Leave the group."""
        self._run(self._consumer.stop())


CLIENTS: Mapping[str, type[Member]] = {
    "librdkafka": Librdkafka,
    "kafka-python": KafkaPython,
    "aiokafka": Aiokafka,
}


def named(partitions: Iterable[Any]) -> list[str]:
    """Partitions of any client by topic and number."""
    ordered = sorted(partitions, key=lambda one: (one.topic, one.partition))
    return [f"{one.topic}-{one.partition}" for one in ordered]


def _spans(polled: Mapping[Any, Any]) -> Spans:
    return {f"{tp.topic}-{tp.partition}": [some[0].offset, some[-1].offset] for tp, some in polled.items()}


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


def main(client: str, name: str, truth: str, configs: str, topics: str, callback: str) -> None:
    """Wait for ``go``, then live until told to close, or until the input ends."""
    logging.basicConfig(
        level=logging.INFO, format="[%(asctime)s] %(levelname)s %(message)s (%(name)s)", stream=sys.stdout
    )
    logging.Formatter.converter = time.gmtime
    voice = Voice(name, truth, configs, topics)
    member = CLIENTS[client](voice, callback)
    __import__(
        {"librdkafka": "confluent_kafka", "kafka-python": "kafka", "aiokafka": "aiokafka"}[client]
    )  # the time that takes is not a start's
    Path(f"{configs}.ready").touch()
    if sys.stdin.readline().strip() != "go":
        os._exit(4)

    def listen() -> None:
        for line in sys.stdin:
            voice.orders.put(line.strip())
        os._exit(4)

    threading.Thread(target=listen, daemon=True).start()
    try:
        member.work()
    except Exception as error:  # noqa: BLE001 - it is written down as the end of the process
        voice.say("died", text=str(error))
        os._exit(1)
    os._exit(0)


if __name__ == "__main__":
    main(*sys.argv[1:])
