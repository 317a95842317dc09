"""The table of cases that follow Kafka's own tests: which test each corresponds to, and its script."""

from __future__ import annotations

from collections.abc import Callable

CASES: dict[str, Callable[[], None]] = {}
"""``Class.method`` of Kafka's test, to the script."""


def kafka(test: str) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Enter a script as the counterpart of that test; a test has one counterpart."""

    def enter(script: Callable[[], None]) -> Callable[[], None]:
        assert test not in CASES, f"{test} is in the table already"
        CASES[test] = script
        return script

    return enter
