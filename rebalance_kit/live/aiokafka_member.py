"""One consumer of aiokafka in a process of its own: the twin of ``Member.java``.

Started as ``python -m rebalance_kit.live.aiokafka_member NAME TRUTH CONFIGS TOPICS CALLBACK``; nothing imports it.
"""

from __future__ import annotations

import asyncio
import sys
import time
from typing import Any

from aiokafka import AIOKafkaConsumer, ConsumerRebalanceListener, __version__
from aiokafka.coordinator.assignors.range import RangePartitionAssignor
from aiokafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from aiokafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor

from rebalance_kit.live.member_process import WAIT_S, Voice, main, named, python_configs

ASSIGNORS = {
    "RangeAssignor": RangePartitionAssignor,
    "RoundRobinAssignor": RoundRobinPartitionAssignor,
    "StickyAssignor": StickyPartitionAssignor,
}
KNOWN = frozenset(
    {
        "bootstrap_servers", "group_id", "group_instance_id", "client_id", "auto_offset_reset", "max_poll_interval_ms",
        "session_timeout_ms", "heartbeat_interval_ms", "rebalance_timeout_ms", "metadata_max_age_ms", "auto_commit_interval_ms",
        "partition_assignment_strategy",
    }
)  # fmt: skip


class Listener(ConsumerRebalanceListener):  # type: ignore[misc]
    """Writes each callback down; aiokafka has none for lost partitions."""

    def __init__(self, voice: Voice) -> None:
        self._voice = voice

    async def _called(self, kind: str, partitions: Any) -> None:
        self._voice.say(kind, partitions=named(partitions))
        await asyncio.sleep(self._voice.slow_s)
        self._voice.say(f"{kind}_end")

    async def on_partitions_revoked(self, revoked: Any) -> None:
        """Partitions go."""
        await self._called("revoked", revoked)

    async def on_partitions_assigned(self, assigned: Any) -> None:
        """Partitions came."""
        await self._called("assigned", assigned)


class Member:
    """Polls, writes what it sees, obeys."""

    def __init__(self, name: str, truth: str, configs: str, topics: str, _callback: str) -> None:
        self.voice = Voice(name, truth, configs, topics)
        made = python_configs(self.voice.configs, ASSIGNORS)
        self._made = {key: value for key, value in made.items() if key in KNOWN}

    def work(self) -> None:
        """From subscribe() to close()."""
        asyncio.run(self._work())

    async def _work(self) -> None:
        self._consumer = AIOKafkaConsumer(**self._made)
        self._subscribe()
        await self._consumer.start()
        self.voice.say("start", topics=self.voice.topics, version=f"aiokafka {__version__}")
        while True:
            spans = {}
            for tp, records in (await self._consumer.getmany(timeout_ms=int(WAIT_S * 1000))).items():
                spans[f"{tp.topic}-{tp.partition}"] = [records[0].offset, records[-1].offset]
            self.voice.records(spans)
            while not self.voice.orders.empty():
                if not await self._obeyed(self.voice.orders.get()):
                    return

    def _subscribe(self) -> None:
        pattern = self.voice.pattern()
        listener = Listener(self.voice)
        if pattern is None:
            self._consumer.subscribe(self.voice.topics, listener=listener)
        else:
            self._consumer.subscribe(pattern=pattern, listener=listener)

    async def _obeyed(self, order: str) -> bool:
        word, _, rest = order.partition(" ")
        self.voice.say("command", line=order)
        if word == "close":
            await self._consumer.stop()
            self.voice.say("closed")
            return False
        if word == "stall":
            time.sleep(int(rest) / 1000)  # noqa: ASYNC251 - the loop stands still, as with a library that blocks
            self.voice.say("stall_end")
        elif word == "slow":
            self.voice.slow_s = int(rest) / 1000
        elif word == "subscribe":
            self.voice.topics = rest.split(",")
            self._subscribe()
        return True


if __name__ == "__main__":
    main(Member(*sys.argv[1:]), sys.argv[3])
