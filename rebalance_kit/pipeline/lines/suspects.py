"""Set apart, by searches over a whole Arrow batch, the lines that may matter; the others need not become Python objects."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from rebalance_kit.forensics.grammar.table import CLUES, CLUES_AT_START, NOISE
from rebalance_kit.forensics.lines.containers import DOCKER_JSON, NAMED
from rebalance_kit.forensics.lines.layouts import CONTINUATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa

    from rebalance_kit.forensics.lines.layouts import Layout


class Suspects(NamedTuple):
    """Of a batch of lines: which may be in the grammar, and which are wrong at first sight (masks)."""

    told: pa.Array
    wrong: pa.Array


def suspects(text: pa.Array, layouts: Sequence[Layout]) -> Suspects:
    """Search a batch: all other lines are laid out as logs are, or continue the line before, and hold no clue."""
    import pyarrow.compute as pc

    def like(expression: str) -> pa.Array:
        return pc.match_substring_regex(text, f"(?s){expression}")

    # A broker's settings come in tab-indented lines, many of them about groups; none is in the grammar.
    inside = pc.and_not(like(_one_of(CLUES)), pc.starts_with(text, "\t"))
    told = pc.or_(inside, like("^" + _one_of(CLUES_AT_START)))
    wrapped = like(_WRAPPED)
    if pc.any(wrapped).as_py():
        blocks = like(_one_of(clue.strip("\t") for clue in CLUES_AT_START[1:]))
        told = pc.or_(told, pc.and_(wrapped, blocks))
    told = pc.and_not(told, like(_one_of(NOISE)))
    known = like(_known_beginning(layouts))
    return Suspects(told, pc.and_not(pc.invert(told), known))


#: How lines begin that a container has wrapped.
_WRAPPED = rf"^(?:2.{{9}}T|{re.escape(DOCKER_JSON)})"


def _one_of(texts: Iterable[str]) -> str:
    """RE2's expression for any of these texts: one pass, however many they are."""
    return f"(?:{'|'.join(map(re.escape, texts))})"


def _known_beginning(layouts: Sequence[Layout]) -> str:
    """RE2's expression for the lines that a log may hold: laid out, with a container's name, or continuing."""
    shapes = [shape for layout in layouts for shape in layout.shapes]
    return f"^(?:{'|'.join([*shapes, NAMED, _one_of(CONTINUATIONS)])}|\\r?$)"
