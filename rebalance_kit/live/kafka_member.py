"""One consumer of kafka-python in a process of its own: the twin of ``Member.java``.

Started as ``python -m rebalance_kit.live.kafka_member NAME TRUTH CONFIGS TOPICS CALLBACK``; nothing imports it.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from kafka import ConsumerRebalanceListener, KafkaConsumer, __version__
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

from rebalance_kit.live.member_process import WAIT_S, Voice, main, named, python_configs

ASSIGNORS = {
    "RangeAssignor": RangePartitionAssignor,
    "RoundRobinAssignor": RoundRobinPartitionAssignor,
    "StickyAssignor": StickyPartitionAssignor,
    "CooperativeStickyAssignor": CooperativeStickyAssignor,
}


class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    """Writes each callback down."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice

    def _called(self, kind: str, partitions: Any) -> None:
        self._voice.say(kind, partitions=named(partitions))
        time.sleep(self._voice.slow_s)
        self._voice.say(f"{kind}_end")

    def on_partitions_assigned(self, assigned: Any) -> None:
        """Partitions came."""
        self._called("assigned", assigned)

    def on_partitions_revoked(self, revoked: Any) -> None:
        """Partitions go."""
        self._called("revoked", revoked)

    def on_partitions_lost(self, lost: Any) -> None:
        """Partitions are gone already."""
        self._called("lost", lost)


class Member:
    """Polls, writes what it sees, obeys."""

    def __init__(self, name: str, truth: str, configs: str, topics: str, _callback: str) -> None:
        self.voice = Voice(name, truth, configs, topics)
        self._made = python_configs(self.voice.configs, ASSIGNORS)

    def work(self) -> None:
        """From subscribe() to close()."""
        self._consumer = KafkaConsumer(**self._made)
        self._subscribe()
        self.voice.say("start", topics=self.voice.topics, version=f"kafka-python {__version__}")
        while True:
            spans = {}
            for tp, records in self._consumer.poll(timeout_ms=int(WAIT_S * 1000)).items():
                spans[f"{tp.topic}-{tp.partition}"] = [records[0].offset, records[-1].offset]
            self.voice.records(spans)
            while not self.voice.orders.empty():
                if not self._obeyed(self.voice.orders.get()):
                    return

    def _subscribe(self) -> None:
        pattern = self.voice.pattern()
        listener = Listener(self.voice)
        if pattern is None:
            self._consumer.subscribe(self.voice.topics, listener=listener)
        else:
            self._consumer.subscribe(pattern=pattern, listener=listener)

    def _obeyed(self, order: str) -> bool:
        word, _, rest = order.partition(" ")
        self.voice.say("command", line=order)
        if word == "close":
            self._consumer.close()
            self.voice.say("closed")
            return False
        if word == "stall":
            time.sleep(int(rest) / 1000)
            self.voice.say("stall_end")
        elif word == "slow":
            self.voice.slow_s = int(rest) / 1000
        elif word == "subscribe":
            self.voice.topics = rest.split(",")
            self._subscribe()
        return True


if __name__ == "__main__":
    main(Member(*sys.argv[1:]), sys.argv[3])
