"""Which lines may matter: most of a log is passed over on a few searches for short texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rebalance_kit.forensics.grammar.table import BLOCK_LINES, CLUES, CLUES_AT_START, NOISE
from rebalance_kit.forensics.lines.anchors import IN_TABBED
from rebalance_kit.forensics.lines.containers import DOCKER_JSON, NAMED
from rebalance_kit.forensics.lines.layouts import CONTINUATIONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rebalance_kit.forensics.lines.layouts import Layout

#: How the lines of a block begin where a container has wrapped them: without their tab.
_BLOCKS = tuple(template.literals[0].strip("\t") for template in BLOCK_LINES)


def sieve(layouts: Sequence[Layout]) -> Callable[[str], bool | None]:
    """A test of a line: True, it may be in the grammar; None, it is like no line of a log; False, it is neither.

    A line that is neither is laid out as logs are, or continues the line before, and holds no clue.
    """
    clue = re.compile(_one_of(CLUES)).search
    known = re.compile(_known_beginning(layouts), re.DOTALL).match
    usual = layouts[0].shapes[0]
    usually = re.compile(usual, re.DOTALL).match
    noise = NOISE[0]

    def test(line: str) -> bool | None:
        told = (
            line.startswith(CLUES_AT_START)
            or (clue(line) and (line[:1] != "\t" or IN_TABBED.search(line)))
            or _wrapped_block(line)
        )
        if told and noise not in line:
            return True
        return False if usually(line) or known(line) else None

    return test


def _wrapped_block(line: str) -> bool:
    """Whether a container has wrapped a line of a block."""
    if line[10:11] == "T" and line[:1] == "2":
        return any(block in line for block in _BLOCKS)
    return line.startswith(DOCKER_JSON) and any(block in line for block in _BLOCKS)


def _one_of(texts: Iterable[str]) -> str:
    return f"(?:{'|'.join(map(re.escape, texts))})"


def _known_beginning(layouts: Sequence[Layout]) -> str:
    """The lines that a log may hold: laid out, with a container's name, or continuing."""
    shapes = [shape for layout in layouts for shape in layout.shapes]
    return f"(?:{'|'.join([*shapes, NAMED, _one_of(CONTINUATIONS)])}|\\r?$)"
