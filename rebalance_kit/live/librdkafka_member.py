"""One consumer of librdkafka in a process of its own, told what to do on its input: the twin of ``Member.java``.

Started as ``python -m rebalance_kit.live.librdkafka_member NAME TRUTH CONFIGS TOPICS CALLBACK``; nothing imports it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

from confluent_kafka import Consumer, KafkaException, libversion

from rebalance_kit.live.member_process import WAIT_S, Voice, main, named


class Member:
    """Polls, writes what it sees, obeys."""

    def __init__(self, name: str, truth: str, configs: str, topics: str, callback: str) -> None:
        self.voice, self._callback = Voice(name, truth, configs, topics), callback

    def work(self) -> None:
        """From subscribe() to close()."""
        self._consumer = Consumer({**self.voice.configs, "debug": "cgrp,consumer"})
        self._subscribe()
        self.voice.say("start", topics=self.voice.topics, version=libversion()[0], callback=self._callback)
        while True:
            self._poll()
            while not self.voice.orders.empty():
                if not self._obeyed(self.voice.orders.get()):
                    return

    def _poll(self) -> None:
        spans: dict[str, list[int]] = {}
        try:
            messages = self._consumer.consume(500, WAIT_S)
        except KafkaException as error:
            self.voice.say("error", text=str(error.args[0]))
            return
        for message in messages:
            if message.error() is None:
                name = f"{message.topic()}-{message.partition()}"
                offset = int(message.offset() or 0)
                spans.setdefault(name, [offset, 0])[1] = offset
        self.voice.records(spans)

    def _obeyed(self, order: str) -> bool:
        word, _, rest = order.partition(" ")
        self.voice.say("command", line=order)
        if word == "close":
            self.voice.say("closing", assignment=named(self._consumer.assignment()))
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

    def _subscribe(self) -> None:
        topics = [topic.replace("~", "^", 1) for topic in self.voice.topics]
        self._consumer.subscribe(
            topics,
            on_assign=self._called("assigned", "assign"),
            on_revoke=self._called("revoked", "unassign"),
            on_lost=self._called("lost", "unassign"),
        )

    def _called(self, kind: str, call: str) -> Callable[[Any, Any], None]:
        def callback(consumer: Any, partitions: Any) -> None:
            before = named(consumer.assignment())
            self.voice.say(kind, partitions=named(partitions), protocol=None, assigned_before=before)
            if self.voice.slow_s:
                time.sleep(self.voice.slow_s)
            if self._callback == "wrong":
                self._answer_wrongly(consumer, partitions, kind, call)
                self.voice.say(f"{kind}_end", assignment=named(consumer.assignment()))

        return callback

    def _answer_wrongly(self, consumer: Any, partitions: Any, kind: str, call: str) -> None:
        """Call the other family: assign() where the assignment is incremental, incremental_assign() where it is not."""
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


if __name__ == "__main__":
    main(Member(*sys.argv[1:]), sys.argv[3])
