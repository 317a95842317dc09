"""Words that are nearly right."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def nearest(word: object, known: Iterable[str]) -> str:
    """``; did you mean 'x'?`` where a known word is close, else nothing.

    >>> nearest("crahs", ["crash", "close"])
    "; did you mean 'crash'?"
    """
    close = get_close_matches(str(word), list(known), n=1, cutoff=0.5)
    return f"; did you mean {close[0]!r}?" if close else ""
