"""A learner's answer as it is handed to the process that runs it: the text of a file, or a function of a notebook.

Nothing here runs the learner's code: what can be said about a file is read from its syntax tree.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rebalance_kit.exercises.child.words import UNWRITTEN
from rebalance_kit.exercises.task import NotYet
from rebalance_kit.model.files import read_regular

MOST_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Code:
    """Code to run: its text or a pickled function, and the name of the file that errors are told with."""

    file: str
    text: str | None = None
    pickled: bytes | None = None


class Answer(Protocol):
    """Where an answer comes from."""

    def code(self) -> Code:
        """The code as it is now; raises ``NotYet`` for what is no answer yet, without running it."""


class FromFile:
    """An answer in a learner's file, read afresh each time."""

    def __init__(self, path: Path, function: str) -> None:
        self._path, self._function = path, function

    def code(self) -> Code:
        """The file's text; raises ``NotYet`` for what is no file, no Python, without the function, or unwritten."""
        text = self._text()
        try:
            tree = ast.parse(text, str(self._path))
        except SyntaxError as error:
            raise NotYet(f"line {error.lineno}: Python cannot read this: {error.msg}") from error
        except (RecursionError, MemoryError) as error:
            raise NotYet(f"{self._path.name} is nested too deeply for Python to read.") from error
        except ValueError as error:
            raise NotYet(f"{self._path.name}: Python cannot read this: {error}") from error
        if not _mentions(tree, self._function):
            raise NotYet(
                f"{self._path.name} has no function {self._function}. Keep the name that the stub had."
            )
        if _is_unwritten(tree, self._function):
            raise NotYet(UNWRITTEN)
        return Code(str(self._path), text=text)

    def _text(self) -> str:
        name = self._path.name
        try:
            return _bytes_of(self._path).decode("utf-8-sig")
        except FileNotFoundError as problem:
            raise NotYet(f"there is no {name}. `rebalance-kit exercise start` puts one there.") from problem
        except OSError as problem:
            raise NotYet(f"{name} cannot be read: {problem.strerror}.") from problem
        except UnicodeDecodeError as problem:
            raise NotYet(f"{name} is no text in UTF-8 (byte {problem.start}). Save it as UTF-8.") from problem


class FromCell:
    """A function that was written in a notebook."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def code(self) -> Code:
        """The function as Spark would send it to its workers; raises ``NotYet`` where it cannot be sent."""
        from rebalance_kit.pipeline.spark.shared_java import pickled

        if not callable(self._function):
            raise NotYet(f"a {type(self._function).__name__} was given, expected a function")
        try:
            data = pickled(self._function)
        except Exception as error:
            raise NotYet(
                f"the function uses something of the notebook that cannot be sent to the process where answers run ({type(error).__name__}: {str(error)[:200]}). "
                "Take the session from its argument (`.sparkSession`), and define what else it needs inside it."
            ) from error
        code = getattr(self._function, "__code__", None)
        return Code(code.co_filename if code is not None else "", pickled=data)


def _bytes_of(path: Path) -> bytes:
    """A regular file's bytes; a pipe, a device or a folder is refused before anything waits for it."""
    data = read_regular(path, MOST_BYTES + 1)
    if data is None:
        raise NotYet(f"{path.name} is no file. Save your answer as a file of text.")
    if len(data) > MOST_BYTES:
        raise NotYet(f"{path.name} has more than {MOST_BYTES:,} bytes. Is it the right file?")
    return data


def _mentions(tree: ast.Module, function: str) -> bool:
    """Whether the name is defined, assigned or imported anywhere, or may be (``from x import *``)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.name == function:
            return True
        if isinstance(node, ast.Name) and node.id == function and isinstance(node.ctx, ast.Store):
            return True
        if isinstance(node, ast.alias) and (node.asname or node.name) in {function, "*"}:
            return True
    return False


def _is_unwritten(tree: ast.Module, function: str) -> bool:
    """Whether the last definition only raises NotImplementedError (behind its docstring)."""
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function]
    if not found:
        return False
    body = [
        node
        for node in found[-1].body
        if not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
    ]
    if len(body) != 1 or not isinstance(body[0], ast.Raise):
        return False
    raised = body[0].exc
    called = raised.func if isinstance(raised, ast.Call) else raised
    return isinstance(called, ast.Name) and called.id == "NotImplementedError"
