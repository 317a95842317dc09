"""Any selection of questions in the formats of other programs. Each format is a file; ``FORMATS`` names them.

What a format cannot ask becomes the nearest thing it can: a picture its text, an ordering the matching of steps
to places. Nothing is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TextIO

from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import refuse_taken, write_atomically
from rebalance_kit.quiz.items.item import Question
from rebalance_kit.quiz.sittings.page import shuffled
from rebalance_kit.quiz.sittings.practice import pick_questions

FORMATS = {
    "anki": "anki",
    "moodle": "moodle",
    "gift": "gift",
    "qti": "qti",
    "cartridge": "cartridge",
    "jupyterquiz": "jupyterquiz",
    "csv": "table",
    "html": "marked",
}
"""Name of a format to the file that writes it; each has ``written(questions, title, with_key) -> bytes``."""


def export(
    questions: Sequence[Question], form: str, title: str = "Rebalance kit", *, with_key: bool = True
) -> bytes:
    """The questions in a format, as the bytes of its file; raises ``DataError`` for an unknown format.

    Only html has a form without key; a format for import into another program is nothing without one.
    """
    if form not in FORMATS:
        raise DataError(f"format {form!r} is unknown; expected one of {', '.join(FORMATS)}")
    if not with_key and form != "html":
        raise DataError(f"{form} without key received; expected html, the one format that is printed")
    made: bytes = import_module(f"{__name__}.{FORMATS[form]}").written(questions, title, with_key)
    return made


def run_items_export(
    form: str,
    to: Path,
    *,
    tag: str | None = None,
    ids: Sequence[str] = (),
    count: int | None = None,
    seed: int = 1,
    with_key: bool = True,
    out: TextIO,
) -> int:
    """Write a selection to a new file; 0. Raises ``DataError`` for an unknown tag, id or format, or a file that exists."""
    questions = [shuffled(question, seed) for question in pick_questions(tag, ids, seed, count=count)]
    made = export(questions, form, f"Rebalance kit: {tag}" if tag else "Rebalance kit", with_key=with_key)
    write_new(to, made)
    out.write(f"{len(questions)} questions written to {to}\n")
    return 0


def write_new(to: Path, content: bytes, *, again: bool = False) -> None:
    """Write a file beside and rename it; over one that is there only with ``again``. Raises ``DataError``."""
    if not again:
        refuse_taken(to)
    write_atomically(to, content)
