"""Behind a wall: the callbacks of a learner, called by message. The consumers that they speak to live elsewhere (``clients.distant``)."""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from rebalance_kit.clients.distant import CALLBACKS, plain, read
from rebalance_kit.exercises.child.attempt import attempted, limit_resources, next_order, reply
from rebalance_kit.exercises.child.lock import REPLY

KEPT = "OWNED"
"""The name under which callbacks keep the numbers of the partitions that their member owns; each member has a module of its own."""
_MOST = 100
_lock = threading.Lock()


class Consumer:
    """Stands in for the consumer of one callback: each method is an order that is carried out where the real one is."""

    def __init__(self, member: str, answers: queue.SimpleQueue[Mapping[str, Any]]) -> None:
        self._member, self._answers = member, answers

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)

        def order(*arguments: Any, **named: Any) -> Any:
            _say({"member": self._member, "do": name, "arguments": plain(arguments), "named": plain(named)})
            answer = self._answers.get()
            if "error" not in answer:
                return read(answer["gave"])
            error = _error(answer)
            error.told = answer["error"]  # type: ignore[attr-defined]
            raise error

        return order


def _error(answer: Mapping[str, Any]) -> Exception:
    if answer["code"] is not None:
        return KafkaException(KafkaError(answer["code"], answer["words"]))
    kinds = {kind.__name__: kind for kind in (TypeError, ValueError, AttributeError, RuntimeError)}
    return kinds.get(answer["kind"], RuntimeError)(answer["words"])


def _say(message: Mapping[str, Any]) -> None:
    line = json.dumps(message).encode() + b"\n"
    with _lock:
        os.write(REPLY, line)


def main() -> None:
    """Load the callbacks, say which there are, and call them as the messages ask."""
    reply({"ready": True})
    order = next_order()
    limit_resources(order["cpu_s"], order["memory"], order["file_size"])
    modules: dict[str, dict[str, Any]] = {
        member: {"__name__": "callbacks", "__file__": order["file"]} for member in order["members"]
    }

    def load() -> Mapping[str, Any]:
        code = compile(order["text"], order["file"], "exec")
        for names in modules.values():
            exec(code, names)  # noqa: S102 - the learner's own file, behind a wall
        return {"names": [name for name in CALLBACKS if callable(names.get(name))]}

    loaded = attempted(load, order["file"], order["limit_s"])
    reply(loaded)
    if "problem" in loaded:
        os._exit(0)
    waiting: dict[str, queue.SimpleQueue[Mapping[str, Any]]] = {}
    for line in sys.stdin:
        message = json.loads(line)
        if "call" in message:
            answers = waiting[message["member"]] = queue.SimpleQueue()
            threading.Thread(
                target=_called, args=(modules[message["member"]], message, answers), daemon=True
            ).start()
        else:
            waiting[message["member"]].put(message)
    os._exit(0)


def _called(
    names: Mapping[str, Any], message: Mapping[str, Any], answers: queue.SimpleQueue[Mapping[str, Any]]
) -> None:
    member = message["member"]
    try:
        names[message["call"]](Consumer(member, answers), read(message["partitions"]))
    except BaseException as error:  # noqa: BLE001 - whatever a callback raises is told to the clients
        _say({"member": member, "raised": f"{error}"[:1000], "error": getattr(error, "told", None)})
    else:
        _say({"member": member, "done": True, "kept": _kept(names.get(KEPT))})


def _kept(owned: object) -> list[int] | None:
    """The numbers in a member's own set; ``None``: it keeps no set of numbers."""
    if not isinstance(owned, set) or len(owned) > _MOST or any(type(one) is not int for one in owned):
        return None
    return sorted(owned)


if __name__ == "__main__":
    main()
