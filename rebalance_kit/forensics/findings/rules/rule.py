"""A rule: one kind of finding that a single line, or a single rebalance, proves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from rebalance_kit.forensics.event import Event
from rebalance_kit.forensics.history.rebalance import Rebalance


def always(event: Event) -> bool:
    """Every line of the kinds that a rule names."""
    return True


def says(*texts: str) -> Callable[[Event], bool]:
    """Lines whose reason (or words) holds one of these texts."""

    def holds(event: Event) -> bool:
        said = _said(event)
        for text in texts:  # noqa: SIM110 - a generator takes three times as long
            if text in said:
                return True
        return False

    return holds


def says_none_of(*texts: str) -> Callable[[Event], bool]:
    """Lines whose reason holds none of these texts."""
    holds = says(*texts)
    return lambda event: not holds(event)


def _said(event: Event) -> str:
    """Its reason; of a line that only its words tell of, all of them."""
    reason = event.reason or ""
    return reason if event.confidence is None else f"{reason} {event.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    """What a finding says: ``sentence`` may name ``{who}`` and fields of the first line.

    ``do`` says what to do, ``source`` where that is written down.
    """

    sentence: str
    do: str
    source: str


@dataclass(frozen=True, slots=True)
class LineRule(_Words):
    """A finding for every member (or group) with a line of these ``events`` that ``when`` accepts.

    So many lines at most as ``forgiven`` are no finding where their member joins afterwards: it had only started.
    """

    code: str
    events: tuple[str, ...]
    when: Callable[[Event], bool] = always
    forgiven: int = 0


@dataclass(frozen=True, slots=True)
class RebalanceRule(_Words):
    """A finding for every culprit of a rebalance that ``when`` accepts."""

    code: str
    when: Callable[[Rebalance], bool]


Rule: TypeAlias = LineRule | RebalanceRule
