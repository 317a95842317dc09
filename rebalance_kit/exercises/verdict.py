"""The verdict of a check that an answer does not pass."""

from __future__ import annotations


class NotYet(Exception):
    """A check's verdict: the answer is not right yet, and these words say why and what to try."""
