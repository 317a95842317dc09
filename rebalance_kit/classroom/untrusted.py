"""What learners hand in, made harmless to store, show and open: text that any terminal and file takes, notebooks without what opens by itself."""

from __future__ import annotations

import json
import unicodedata
from typing import Any

from rebalance_kit.exercises.answers import MOST_BYTES

MOST_NOTEBOOK = 20_000_000
"""Bytes of a notebook as it is handed in: pictures in its outputs count, and are dropped."""
MOST_LETTERS = 400
_MOST_NAME = 80


def printable(text: str, most: int = MOST_LETTERS) -> str:
    r"""Text cut to a length, with control characters and halves of characters written as escapes.

    >>> printable("a\x1b[31m\ud800\n" + "b" * 999, 12)
    'a\\x1b[31m\\ud800\nbbbb…'
    """
    cut = text[:most] + ("…" if len(text) > most else "")
    return "".join(_shown(letter) for letter in cut)


def file_name(learner: str) -> str:
    """A learner's name as the name of a file: short enough for every file system, and still this learner's alone.

    >>> file_name("ada"), len(file_name("x" * 250))
    ('ada', 89)
    """
    import hashlib

    plain = printable(learner, 10_000).replace("/", "_")
    if len(plain.encode()) <= _MOST_NAME:
        return plain
    digest = hashlib.sha256(learner.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain.encode()[:_MOST_NAME].decode('utf-8', 'ignore')}-{digest}"


def cells_alone(data: bytes) -> bytes | None:
    """A notebook's cells and nothing else: no outputs, no attachments, no state of widgets, no other metadata; None for what is no notebook.

    Opening a notebook, without running a cell, restores saved widgets; with anywidget that runs code that the notebook brings along.
    """
    try:
        notebook = json.loads(data)
        cells = [cell for cell in map(_bare, notebook["cells"]) if cell is not None]
        kept = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
        return json.dumps(kept, indent=1, ensure_ascii=True).encode()
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _bare(cell: Any) -> dict[str, Any] | None:
    if not isinstance(cell, dict) or cell.get("cell_type") not in {"code", "markdown", "raw"}:
        return None
    source = cell.get("source", "")
    text = "".join(map(str, source)) if isinstance(source, list) else str(source)
    bare: dict[str, Any] = {"cell_type": cell["cell_type"], "metadata": {}, "source": text[:MOST_BYTES]}
    return {**bare, "outputs": [], "execution_count": None} if cell["cell_type"] == "code" else bare


def _shown(letter: str) -> str:
    if letter in "\n\t" or unicodedata.category(letter) not in {"Cc", "Cs", "Cf"}:
        return letter
    number = ord(letter)
    return (
        f"\\x{number:02x}"
        if number < 0x100
        else f"\\u{number:04x}"
        if number < 0x10000
        else f"\\U{number:08x}"
    )
