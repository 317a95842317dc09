"""A hint at answers that resemble each other: it says "look at these two" and nothing of who copied, or whether.

Compared are runs of tokens without comments, docstrings and names that the learner chose, less what the stub, the kit's
solution or half of the class have as well.
"""

from __future__ import annotations

import io
import keyword
import tokenize
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

RUN = 5
"""Tokens in a row that are compared as one."""
FEWEST = 12
"""An answer with fewer runs of its own is too short to compare."""
ALIKE = 0.8
_LAYOUT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}


@dataclass(frozen=True, slots=True)
class Alike:
    """Two answers to an exercise, and the share of their own runs of tokens that both have."""

    exercise: str
    first: str
    second: str
    share: float

    def __str__(self) -> str:
        return f"{self.exercise}: look at these two: {self.first}, {self.second} ({self.share:.0%} of what is their own is the same)"


def alike(exercise: str, texts: Mapping[str, str], own: Sequence[str] = ()) -> tuple[Alike, ...]:
    """Pairs of learners whose answers are alike, the closest first; ``own`` are texts of the kit."""
    runs = {learner: _runs(text) for learner, text in sorted(texts.items())}
    common = {run for text in own for run in _runs(text)}
    if len(runs) > 3:
        counted = Counter(run for own_runs in runs.values() for run in own_runs)
        common |= {run for run, number in counted.items() if 2 * number > len(runs)}
    left = {learner: answer - common for learner, answer in runs.items() if len(answer - common) >= FEWEST}
    pairs = (
        Alike(exercise, first, second, len(left[first] & left[second]) / len(left[first] | left[second]))
        for first, second in combinations(left, 2)
    )
    return tuple(sorted((pair for pair in pairs if pair.share >= ALIKE), key=lambda pair: -pair.share))


def _runs(text: str) -> frozenset[tuple[str, ...]]:
    tokens = _tokens(text)
    return frozenset(tuple(tokens[at : at + RUN]) for at in range(len(tokens) - RUN + 1))


def _tokens(text: str) -> list[str]:
    """Tokens up to the first that Python cannot read; a name before which there is no dot becomes ``name``."""
    tokens: list[str] = []
    begins = True
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type in _LAYOUT:
                begins = begins or token.type != tokenize.COMMENT
            elif begins and token.type == tokenize.STRING:
                begins = False  # a docstring
            else:
                begins = False
                chosen = token.type == tokenize.NAME and not keyword.iskeyword(token.string)
                tokens.append("name" if chosen and tokens[-1:] != ["."] else token.string)
    except (tokenize.TokenError, SyntaxError):
        return tokens
    return tokens
