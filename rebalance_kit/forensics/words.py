"""Numbers of things in words."""

from __future__ import annotations


def counted(number: int, name: str) -> str:
    """So many of a thing, in the plural where it is not one.

    >>> counted(1, "rebalance"), counted(1200, "line")
    ('1 rebalance', '1,200 lines')
    """
    return f"{number:,} {name}{'' if number == 1 else 's'}"


#: The reason with which a Java client resets its own state when it leaves: it asks nobody to join.
LEAVES_BY_ITSELF = "pro-actively leaving the group"
