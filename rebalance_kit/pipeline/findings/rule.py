"""A rule: one kind of finding that a single line (or rebalance) proves, as data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One kind of finding; ``table`` is what the SQL ``condition`` looks at: events or rebalances.

    The sentence may name ``{who}`` (the client), ``{n}`` (how often) and columns of the first line
    that shows it; ``do`` says what to do, ``source`` where that is written down.
    """

    code: str
    table: str
    condition: str
    sentence: str
    do: str
    source: str
