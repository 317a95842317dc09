"""Functions that a learner wrote in a notebook, as the text of a file; read from the syntax tree, never run."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping
from typing import Any

_FORMAT = 4
_KEPT = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef)


def code_of_notebook(data: bytes, wanted: set[str]) -> tuple[Mapping[str, str], str]:
    """Texts of the ``wanted`` functions that the notebook defines, and what is wrong with it in words (or nothing).

    A text holds the notebook's imports, functions, classes and constants, because a function may use them.
    """
    try:
        notebook = json.loads(data)
        version = notebook["nbformat"]
        cells = notebook["cells"] if version == _FORMAT else []
    except (ValueError, KeyError, TypeError, RecursionError):
        return {}, "no notebook that can be read; expected one saved by JupyterLab"
    if version != _FORMAT:
        return (
            {},
            f"a notebook of format {str(version)[:20]}; expected {_FORMAT}: open it in JupyterLab and save it again",
        )
    kept = [node for text in _sources(cells) for node in _nodes(text)]
    functions = {node.name for node in kept if isinstance(node, ast.FunctionDef)} & wanted
    try:
        text = "\n\n".join(map(ast.unparse, kept)) + "\n"
        text.encode()
    except (RecursionError, MemoryError, ValueError):
        return {}, "code that is nested too deeply, or no text; expected plain functions"
    return dict.fromkeys(sorted(functions), text), ""


def _sources(cells: Any) -> Iterator[str]:
    for cell in cells if isinstance(cells, list) else ():
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            source = cell.get("source", "")
            text = "".join(map(str, source)) if isinstance(source, list) else str(source)
            yield "\n".join(line for line in text.splitlines() if not line.lstrip().startswith(("%", "!")))


def _nodes(text: str) -> list[ast.stmt]:
    try:
        tree = ast.parse(text)
        return [node for node in tree.body if isinstance(node, _KEPT) or _is_constant(node)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _is_constant(node: ast.stmt) -> bool:
    if not isinstance(node, ast.Assign):
        return False
    try:
        ast.literal_eval(node.value)
    except (ValueError, TypeError):
        return False
    return True
