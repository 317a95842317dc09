"""What runs in the child process: a mock cluster, a producer and consumers of librdkafka; events as JSON lines.

Started as ``python -m rebalance_kit.clients.child SPEC``; nothing imports it, because ``confluent_kafka`` is
loaded here and the callbacks of a notebook run here; those of an exercise run behind a wall (``distant``). Records carry their number per partition, so that what is read twice
or never can be counted.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from rebalance_kit.clients.distant import Distant

# When a run of real clients is over: after its seconds, or a little later while the group has not settled.


SETTLE_S = 7.0
"""A classic rebalance of the mock cluster waits 3.5 s for its members, on a busy machine longer; a callback younger than this may have a successor."""
MOST_S = 14.0
"""How much longer than its seconds a run may last."""


class Settling:
    """What the members of one run tell each other: who reads, and when the assignment last changed.

    On a busy machine a rebalance ends later. A run that ended in the midst of it would blame the callbacks.
    """

    def __init__(self, seconds: float, stay: Sequence[str]) -> None:
        self._seconds = seconds
        self._last = dict.fromkeys(stay, 0)
        self._stirred_s = -math.inf
        self._over = False
        self._lock = threading.Lock()

    def stirred(self, now_s: float) -> None:
        """A member joined, or a callback began or ended."""
        with self._lock:
            self._stirred_s = max(self._stirred_s, now_s)

    def read(self, name: str, records: int) -> None:
        """A member's report of its last second."""
        with self._lock:
            if name in self._last:
                self._last[name] = records

    def over(self, now_s: float) -> bool:
        """Whether the run ends: for all members at once, and never again afterwards."""
        with self._lock:
            if not self._over and now_s >= self._seconds:
                all_read = all(self._last.values())
                settled = now_s - self._stirred_s >= SETTLE_S
                self._over = all_read or settled or now_s >= self._seconds + MOST_S
            return self._over


PARTITIONS = 4
CREATE_S = 4
RECORD_EVERY_S = 0.05
CLASSIC_CONFIGS = {"session.timeout.ms": 4500, "heartbeat.interval.ms": 500}
COMMIT_MS = 1000


class Events:
    """Writes events as JSON lines to the parent, which alone gets this process's first output."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)  # whatever the callbacks print goes to the error output
        self._lock = threading.Lock()
        self._begin = time.monotonic()

    def begin(self) -> None:
        """Count seconds from now."""
        self._begin = time.monotonic()

    def now(self) -> float:
        """Seconds since the beginning."""
        return time.monotonic() - self._begin

    def say(self, kind: str, **detail: object) -> None:
        """Write one event."""
        with self._lock:
            self._out.write(json.dumps({"at_s": round(self.now(), 2), "kind": kind, **detail}) + "\n")
            self._out.flush()


class Member(threading.Thread):
    """One consumer: polls, counts, and tells each callback before the learner's code answers it."""

    def __init__(
        self,
        spec: Mapping[str, Any],
        name: str,
        servers: str,
        events: Events,
        settling: Settling,
        code: ModuleType | Distant | None,
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._spec, self._servers, self._code = spec, servers, code
        self._events, self._settling = events, settling
        self.seen: Counter[tuple[int, int]] = Counter()

    def run(self) -> None:
        """Join at the time that the spec gives, poll to the end, close."""
        from confluent_kafka import Consumer

        member = self._spec["members"][self.name]
        time.sleep(member["from_s"])
        self._settling.stirred(self._events.now())
        consumer = Consumer(self._configs())
        consumer.subscribe(
            [self._spec["topic"]],
            on_assign=self._told("assigned", "on_assign"),
            on_revoke=self._told("revoked", "on_revoke"),
            on_lost=self._told("lost", "on_lost"),
        )
        leaves, stalls = member.get("until_s") or math.inf, member.get("stalls_at_s") or math.inf
        said, read = self._events.now(), 0
        while self._events.now() < leaves and not self._settling.over(self._events.now()):
            if self._events.now() >= stalls:
                stalls = math.inf
                time.sleep(member["stalls_s"])
                self._settling.stirred(self._events.now())
            read += self._poll(consumer)
            if self._events.now() - said >= 1:
                owned = sorted(partition.partition for partition in consumer.assignment())
                self._events.say("read", member=self.name, records=read, owned=owned)
                self._settling.read(self.name, read)
                said, read = self._events.now(), 0
        try:
            consumer.close()
        except:  # noqa: E722 - as in _poll
            self._events.say("close raised", member=self.name, error=str(sys.exc_info()[1]))
        else:
            self._events.say("closed", member=self.name)

    def _poll(self, consumer: Any) -> int:
        try:
            message = consumer.poll(0.1)
        except:  # noqa: E722 - what a callback raises comes out as a KafkaError, which is not even a BaseException
            self._events.say("poll raised", member=self.name, error=str(sys.exc_info()[1]))
            return 0
        if message is None or message.error():
            return 0
        self.seen[message.partition(), int(message.value())] += 1
        return 1

    def _told(self, what: str, function: str) -> Callable[[Any, Any], None]:
        answer = getattr(self._code, function, None)

        def callback(consumer: Any, partitions: Any) -> None:
            numbers = sorted(partition.partition for partition in partitions)
            self._events.say("callback", member=self.name, callback=what, partitions=numbers)
            self._settling.stirred(self._events.now())
            if answer is not None:
                try:
                    kept = answer(consumer, partitions)
                    if isinstance(self._code, Distant):
                        self._events.say("kept", member=self.name, kept=kept)
                finally:
                    self._settling.stirred(self._events.now())

        return callback

    def _configs(self) -> dict[str, object]:
        strategy = self._spec["strategy"]
        configs: dict[str, object] = {
            "bootstrap.servers": self._servers,
            "group.id": self._spec["group"],
            "client.id": self.name,
            "auto.offset.reset": "earliest",
            "auto.commit.interval.ms": COMMIT_MS,
            "log_level": 0,
        }
        if strategy == "consumer":
            configs["group.protocol"] = "consumer"
        else:
            configs |= {"partition.assignment.strategy": strategy, **CLASSIC_CONFIGS}
        return {**configs, **self._spec["configs"]}


def produce(producer: Any, topic: str, stop: threading.Event, produced: Counter[int]) -> None:
    """Write numbered records to every partition until told to stop."""
    while not stop.wait(RECORD_EVERY_S):
        for partition in range(PARTITIONS):
            producer.produce(topic, value=str(produced[partition]), partition=partition)
            produced[partition] += 1
        producer.poll(0)


def load(path: str | Mapping[str, Any] | None) -> ModuleType | Distant | None:
    """The learner's callbacks: imported from their file, or those of the process at the other end of two pipes."""
    if path is None:
        return None
    if not isinstance(path, str):
        return Distant(path["to"], path["since"], path["names"])
    spec = importlib.util.spec_from_file_location("callbacks", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Cluster:
    """Where the clients run: a cluster at an address, or librdkafka's mock cluster when none is given."""

    def __init__(self, bootstrap: str | None, topic: str, group: str) -> None:
        from confluent_kafka import Producer

        self._bootstrap, self._topic, self._group = bootstrap, topic, group
        place: dict[str, str | int] = (
            {"bootstrap.servers": bootstrap} if bootstrap else {"test.mock.num.brokers": 1}
        )
        self.producer = Producer({**place, "log_level": 0})

    def open(self) -> str:
        """Make the topic, and return the servers that consumers connect to; ends the process where that fails."""
        if self._bootstrap:
            self._make_topic(self._bootstrap)
        seen = self.producer.list_topics(self._topic, timeout=10)
        found = len(seen.topics[self._topic].partitions)
        if found != PARTITIONS:
            sys.exit(
                f"topic {self._topic} has {found} partitions; expected {PARTITIONS}: may this user create topics?"
            )
        return self._bootstrap or ",".join(f"{broker.host}:{broker.port}" for broker in seen.brokers.values())

    def _make_topic(self, bootstrap: str) -> None:
        """Ask for the topic; a mock cluster never answers, and makes topics of four partitions when they are named."""
        from contextlib import suppress

        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient, NewTopic  # type: ignore[attr-defined]

        admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
        (made,) = admin.create_topics([NewTopic(self._topic, PARTITIONS, 1)]).values()
        with suppress(KafkaException, TimeoutError):
            made.result(CREATE_S)

    def close(self) -> None:
        """Take the topic and the group away again, where there is a cluster to tidy."""
        if not self._bootstrap:
            return
        from contextlib import suppress

        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient

        admin = AdminClient({"bootstrap.servers": self._bootstrap, "log_level": 0})
        # the run is over; what cannot be tidied is left, under names of its own
        with suppress(KafkaException, TimeoutError):
            (topic,) = admin.delete_topics([self._topic]).values()
            topic.result(CREATE_S)
        with suppress(KafkaException, TimeoutError):
            (group,) = admin.delete_consumer_groups([self._group]).values()
            group.result(CREATE_S)


def main(path: str) -> None:
    """Run the clients of a spec (a JSON file), and end with a summary."""
    spec = json.loads(Path(path).read_text("utf-8"))
    events = Events()
    code = load(spec["callbacks"])
    cluster = Cluster(spec["bootstrap"], spec["topic"], spec["group"])
    servers = cluster.open()
    events.begin()
    stop, produced = threading.Event(), Counter[int]()
    threading.Thread(
        target=produce, args=(cluster.producer, spec["topic"], stop, produced), daemon=True
    ).start()
    stay = [name for name, times in spec["members"].items() if "until_s" not in times]
    settling = Settling(spec["seconds"], stay)
    members = [Member(spec, name, servers, events, settling, code) for name in spec["members"]]
    for member in members:
        member.start()
    for member in members:
        member.join()
    stop.set()
    cluster.close()
    _sum_up(events, members, sum(produced.values()))
    os._exit(0)  # threads that hang in a client do not keep the process


def _sum_up(events: Events, members: list[Member], produced: int) -> None:
    seen = sum((member.seen for member in members), Counter[tuple[int, int]]())
    reached = {
        partition: max((n for p, n in seen if p == partition), default=-1) for partition in range(PARTITIONS)
    }
    events.say(
        "summary",
        produced=produced,
        delivered=len(seen),
        twice=sum(1 for times in seen.values() if times > 1),
        skipped=sum(reached.values()) + PARTITIONS - len(seen),
    )


if __name__ == "__main__":
    main(sys.argv[1])
