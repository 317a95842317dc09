"""Searches a whole Arrow batch for the lines that may matter; the others never become Python objects."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from rebalance_kit.forensics.grammar.table import CLUES, CLUES_AT_START, NOISE
from rebalance_kit.forensics.lines.anchors import IN_TABBED
from rebalance_kit.forensics.lines.containers import DOCKER_JSON, NAMED
from rebalance_kit.forensics.lines.layouts import CONTINUATIONS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import pyarrow as pa

    from rebalance_kit.forensics.lines.layouts import Layout


class Suspects(NamedTuple):
    """Two masks over a batch: the lines that may be in the grammar, and those without a known beginning."""

    possible: pa.Array
    wrong: pa.Array


def suspects(text: pa.Array, layouts: Sequence[Layout]) -> Suspects:
    """Search a batch; every other line has a known layout, or continues the line before, and holds no clue."""
    import pyarrow.compute as pc

    def like(expression: str) -> pa.Array:
        return pc.match_substring_regex(text, f"(?s){expression}")

    # A broker prints its settings in tab-indented lines; many mention groups and none is in the grammar.
    indented = pc.starts_with(text, "\t")
    inside = pc.and_not(like(_one_of(CLUES)), indented)
    if pc.any(indented).as_py():
        anchored = pc.and_(indented, like(IN_TABBED.pattern))
        inside = pc.or_(inside, pc.and_(anchored, like(_one_of(CLUES))))
    possible = pc.or_(inside, like("^" + _one_of(CLUES_AT_START)))
    wrapped = like(_WRAPPED)
    if pc.any(wrapped).as_py():
        blocks = like(_one_of(clue.strip("\t") for clue in CLUES_AT_START[1:]))
        possible = pc.or_(possible, pc.and_(wrapped, blocks))
    possible = pc.and_not(possible, like(_one_of(NOISE)))
    known = like(_known_beginning(layouts))
    return Suspects(possible, pc.and_not(pc.invert(possible), known))


#: How lines begin that a container runtime has wrapped.
_WRAPPED = rf"^(?:2.{{9}}T|{re.escape(DOCKER_JSON)})"


def _one_of(texts: Iterable[str]) -> str:
    """An RE2 expression for any of these texts, which takes one pass however many they are."""
    return f"(?:{'|'.join(map(re.escape, texts))})"


def _known_beginning(layouts: Sequence[Layout]) -> str:
    """An RE2 expression for lines with a layout, with a container's name, or that continue the line before."""
    shapes = [shape for layout in layouts for shape in layout.shapes]
    return f"^(?:{'|'.join([*shapes, NAMED, _one_of(CONTINUATIONS)])}|\\r?$)"
