"""Refusals of the engine in a learner's words."""

from __future__ import annotations

import re

from rebalance_kit.view.words.phrases import seconds

_OF_AN_ACTION = re.compile(
    r"^[^:]{1,80}: action \d+ \((?P<do>\w+)(?: (?P<member>[^ ]+))? at (?P<at>\d+) ms\): (?P<why>.+?)(?:; expected .*)?$",
    re.DOTALL,
)
_HINTS = {
    "duplicate": "Only a static member can have a second process with its id; the lessons under Identity have some.",
    "heal_network": "Cut it off first (X).",
    "cut_network": "Let it reach the coordinator again first.",
}


def plainly(words: str) -> str:
    """A refusal without the number of the action that is refused, and with what helps.

    >>> plainly("crash: action 6 (broker_up at 1064 ms): the broker is up; expected a broker_down before")
    'Not at 1.1 s: the broker is up.'
    """
    told = _OF_AN_ACTION.match(words)
    if told is None:
        return words
    hint = _HINTS.get(told["do"], "")
    return f"Not at {seconds(int(told['at']))}: {told['why'].rstrip('.')}. {hint}".rstrip()
