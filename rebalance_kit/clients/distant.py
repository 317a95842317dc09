"""Callbacks that run in another process: a real consumer here, the learner's code there, and messages of JSON lines between them.

``Distant`` stands in for the learner's module in the process of the clients. What arrives from there is an order for the consumer, the end
of a callback with what its module keeps in ``OWNED``, or nothing at all: no other word counts, so what the clients report stays theirs.
"""

from __future__ import annotations

import json
import os
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from confluent_kafka import KafkaException, TopicPartition

CALLBACKS = ("on_assign", "on_revoke", "on_lost")
ORDERS = frozenset(
    {
        "assign",
        "unassign",
        "incremental_assign",
        "incremental_unassign",
        "assignment",
        "commit",
        "committed",
        "position",
    }
    | {"seek", "pause", "resume", "store_offsets", "get_watermark_offsets", "memberid"}
)
"""What a callback may ask of its consumer."""
_LONGEST = 1 << 20
_LOST = {"raised": "the process of the callbacks ended, or wrote what cannot be read"}


def plain(value: Any) -> Any:
    """A value as JSON has it; partitions as ``{"tp": [topic, partition, offset]}``."""
    if isinstance(value, TopicPartition):
        return {"tp": [value.topic, value.partition, value.offset]}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def read(value: Any) -> Any:
    """The value again."""
    if isinstance(value, dict) and set(value) == {"tp"}:
        topic, partition, offset = value["tp"]
        return TopicPartition(str(topic), int(partition), int(offset))
    if isinstance(value, list):
        return [read(one) for one in value]
    return {name: read(one) for name, one in value.items()} if isinstance(value, dict) else value


class Distant:
    """The callbacks of a module that another process holds; ``names`` are those that it has."""

    def __init__(self, to: int, since: int, names: Sequence[str]) -> None:
        self._to, self._since = to, since
        self._lock = threading.Lock()
        self._waiting: dict[str, queue.SimpleQueue[Mapping[str, Any]]] = {}
        for name in names:
            if name in CALLBACKS:
                setattr(self, name, self._callback(name))
        threading.Thread(target=self._listen, daemon=True).start()

    def _callback(self, name: str) -> Callable[[Any, Any], Any]:
        def callback(consumer: Any, partitions: Any) -> Any:
            return self._call(name, threading.current_thread().name, consumer, partitions)

        return callback

    def _call(self, name: str, member: str, consumer: Any, partitions: Any) -> Any:
        answers: queue.SimpleQueue[Mapping[str, Any]] = queue.SimpleQueue()
        self._waiting[member] = answers
        errors: list[BaseException] = []
        self._say({"member": member, "call": name, "partitions": plain(partitions)})
        while True:
            said = answers.get()
            if "raised" in said:
                number = said.get("error")
                if type(number) is int and 0 <= number < len(errors):
                    raise errors[number]
                raise RuntimeError(str(said["raised"])[:1000])
            if "done" in said:
                return said.get("kept")
            self._say({"member": member, **_carried_out(consumer, said, errors)})

    def _say(self, message: Mapping[str, Any]) -> None:
        left = memoryview(json.dumps(message).encode() + b"\n")
        with self._lock:
            while left:
                left = left[os.write(self._to, left) :]

    def _listen(self) -> None:
        with os.fdopen(self._since, "rb") as lines:
            while line := lines.readline(_LONGEST):
                try:
                    said = json.loads(line)
                    self._waiting[said["member"]].put(said)
                except (ValueError, KeyError, TypeError, RecursionError):
                    break
        while True:  # nobody answers any more, and nobody is to wait
            for answers in list(self._waiting.values()):
                answers.put(_LOST)
            threading.Event().wait(0.5)


def _carried_out(consumer: Any, said: Mapping[str, Any], errors: list[BaseException]) -> Mapping[str, Any]:
    """Do one order on the real consumer; what it raises is told, and kept, so that a callback may let it out."""
    try:
        arguments, named = read(said.get("arguments", [])), read(said.get("named", {}))
        return {"gave": plain(_method(consumer, said.get("do"))(*arguments, **named))}
    except Exception as error:  # noqa: BLE001 - it goes to whoever asked
        errors.append(error)
        code = error.args[0].code() if isinstance(error, KafkaException) and error.args else None
        return {
            "error": len(errors) - 1,
            "kind": type(error).__name__,
            "words": str(error)[:1000],
            "code": code,
        }


def _method(consumer: Any, name: Any) -> Callable[..., Any]:
    if name not in ORDERS:
        raise AttributeError(f"a callback cannot call {str(name)[:60]} of its consumer")
    method: Callable[..., Any] = getattr(consumer, name)
    return method
