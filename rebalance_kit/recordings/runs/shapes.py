"""Check the form of the rows and steps of a recorded run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.model.topology import parse_partition

#: What a step may do.
STEPS = ("admin", "broker-start", "broker-stop", "cli", "freeze", "kill", "start", "tell", "thaw")

#: Moments further apart than this (a year, in ms) are no moments of one run.
_FAR_MS = 366 * 24 * 3_600_000


def is_step(step: Any) -> bool:
    """An object with ``t`` (ms), ``do``, and, where a member is started, its name and configs."""
    if not (isinstance(step, dict) and _moment(step.get("t")) and isinstance(step.get("do"), str)):
        return False
    if not _order(step.get("line", "")):
        return False
    if step["do"] in {"kill", "freeze", "thaw", "tell", "start"} and not isinstance(step.get("member"), str):
        return False
    return step["do"] != "start" or (
        isinstance(step.get("configs"), dict) and isinstance(step.get("topics"), str)
    )


def is_row(row: Any) -> bool:
    """An object with ``by``, ``t`` (ms) and ``kind``, and what the rows of its kind hold."""
    if not (
        isinstance(row, dict)
        and isinstance(row.get("by"), str)
        and _moment(row.get("t"))
        and isinstance(row.get("kind"), str)
    ):
        return False
    if not _order(row.get("line", "")):
        return False
    return _OF_KIND.get(row["kind"], _any)(row)


def near(moment: int, begin: int) -> bool:
    """Whether a moment can belong to a run that began then."""
    return abs(moment - begin) < _FAR_MS


def _order(line: Any) -> bool:
    """What was told or administered: words that are there in number, and numbers where there must be some."""
    if not isinstance(line, str):
        return False
    words = line.split()
    if not words or words[0] not in _WORDS:
        return True
    most, numbers = _WORDS[words[0]]
    return len(words) > most and all(words[place].isascii() and words[place].isdigit() for place in numbers)


def _moment(at: Any) -> bool:
    return isinstance(at, int) and not isinstance(at, bool)


def _any(row: Mapping[str, Any]) -> bool:
    return True


def _partition(text: Any) -> bool:
    try:
        parse_partition(text)
    except (RebalanceKitError, ValueError, TypeError, AttributeError):
        return False
    return True


def _names(held: Any) -> bool:
    return isinstance(held, list) and all(map(_partition, held))


def _callback(row: Mapping[str, Any]) -> bool:
    return (
        _names(row.get("partitions"))
        and isinstance(row.get("generation"), int | None)
        and isinstance(row.get("member"), str | None)
    )


def _records(row: Mapping[str, Any]) -> bool:
    held = row.get("records")
    return isinstance(held, dict) and all(
        _partition(name) and isinstance(span, list) and len(span) == 2 and all(map(_moment, span))
        for name, span in held.items()
    )


def _describe(row: Mapping[str, Any]) -> bool:
    members, epochs = row.get("members"), (row.get("epoch"), row.get("target_epoch"))
    return (
        isinstance(members, dict)
        and isinstance(row.get("state"), str)
        and isinstance(row.get("group"), str)
        and all(isinstance(one, int | None) for one in epochs)
        and all(
            isinstance(held, dict)
            and all(held.get(key) is None or _names(held[key]) for key in ("owned", "target"))
            for held in members.values()
        )
    )


_WORDS: Mapping[str, tuple[int, tuple[int, ...]]] = MappingProxyType(
    {
        "topic": (2, (2,)),
        "partitions": (2, (2,)),
        "delete-topic": (1, ()),
        "remove-instance": (2, ()),
        "stall": (1, (1,)),
        "slow": (1, (1,)),
        "subscribe": (1, ()),
    }
)
"""Orders by their first word: how many words follow at least, and which of them are numbers."""
_OF_KIND: Mapping[str, Callable[[Mapping[str, Any]], bool]] = MappingProxyType(
    {
        "assigned": _callback,
        "revoked": _callback,
        "lost": _callback,
        "records": _records,
        "describe": _describe,
    }
)
