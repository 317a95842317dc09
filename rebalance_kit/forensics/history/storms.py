"""Storms: spells of time in which a group rebalanced again and again.

A spell goes on while the next rebalance begins within ``GAP_MS`` of the last.  Members that start (or
stop) together within seconds are one wave, so a deployment of twenty processes is no storm; a spell
with ``WAVES`` waves or more is one.
"""

from __future__ import annotations

from collections import Counter
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rebalance_kit.forensics.history.rebalance import Rebalance

#: The columns of the table, in order (``path`` and ``group`` come before them).
STORMS = (
    "from_ms",
    "to_ms",
    "duration_ms",
    "rebalances",
    "waves",
    "per_minute",
    "triggers",
    "culprits",
    "file",
    "line",
)

#: A spell ends when no rebalance begins for this long.
GAP_MS = 60_000

#: Fewer waves than this are no storm.
WAVES = 7

#: Joins that follow each other within this time are one wave, and so are leaves.
_TOGETHER_MS = 5_000


def storms(rebalances: Sequence[Rebalance]) -> list[dict[str, object]]:
    """One row per storm: how long, how many rebalances, and who caused how many of them, most first."""
    return [_row(told) for told in _spells(rebalances) if told[1] >= WAVES]


def _spells(rebalances: Sequence[Rebalance]) -> Iterator[tuple[list[Rebalance], int]]:
    spell: list[Rebalance] = []
    waves = 0
    before: Rebalance | None = None
    for row in rebalances:
        if before is not None and row.start_ms - before.start_ms >= GAP_MS:
            yield spell, waves
            spell, waves = [], 0
        waves += not (before is not None and _one_wave(before, row))
        spell.append(row)
        before = row
    if spell:
        yield spell, waves


def _one_wave(before: Rebalance, row: Rebalance) -> bool:
    triggers = {before.trigger, row.trigger}
    # One of which no line tells why may be of the wave beside it.
    same = triggers in ({"join"}, {"leave"}, {"join", "unseen"}, {"leave", "unseen"})
    return same and row.start_ms - before.start_ms <= _TOGETHER_MS


def _row(told: tuple[list[Rebalance], int]) -> dict[str, object]:
    spell, waves = told
    from_ms = spell[0].start_ms
    to_ms = max(row.start_ms if row.end_ms is None else row.end_ms for row in spell)
    minutes = Decimal(max(to_ms - from_ms, 1_000)) / 60_000
    per_minute = (Decimal(len(spell)) / minutes).quantize(Decimal("0.1"), ROUND_HALF_UP)
    values = (
        from_ms,
        to_ms,
        to_ms - from_ms,
        len(spell),
        waves,
        float(per_minute),
        tally([row.trigger for row in spell]),
        tally([row.culprit for row in spell if row.culprit is not None]),
        spell[0].file,
        spell[0].line,
    )
    return dict(zip(STORMS, values, strict=True))


def tally(values: Sequence[str]) -> list[str]:
    """The distinct values with how often each occurs, most frequent first.

    >>> tally(["c2", "c1", "c2"])
    ['c2 x 2', 'c1 x 1']
    """
    counted = sorted((-n, value) for value, n in Counter(values).items())
    return [f"{value} x {-n}" for n, value in counted]
