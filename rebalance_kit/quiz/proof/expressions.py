"""The little language of claims: numbers with units, names, facts, comparisons. Nothing else can happen.

``count(unread()) == 4 and gap("orders-0") < 5s`` is read by Python's own parser and never by its evaluator: this
module walks the tree, knows the few nodes in its tables, and can only call the functions it is handed. Times are
milliseconds (``10s`` is 10000); text in quotes is taken as it stands; ``true``, ``false`` and ``none`` are words.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.errors import DataError

UNITS = MappingProxyType({"ms": 1, "s": 1000, "m": 60_000})
LONGEST = 600
DEEPEST = 40
Call = Callable[[str, list[Any], dict[str, Any]], Any]

_TOKEN = re.compile(
    r"""(?P<space>\s+)|(?P<refused>\#|(?:"[^"]*"|'[^']*')\s*(?=["']))|"(?P<double>[^"]*)"|'(?P<single>[^']*)'"""
    r"""|(?<![\w.])(?P<number>\d+(?:\.\d+)?)(?P<unit>ms|s|m)(?![\w.])"""
)
_WORDS: Mapping[str, Any] = MappingProxyType({"true": True, "false": False, "none": None})
_COMPARE: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = MappingProxyType(
    {
        ast.Eq: operator.eq,
        ast.NotEq: operator.ne,
        ast.Lt: operator.lt,
        ast.LtE: operator.le,
        ast.Gt: operator.gt,
        ast.GtE: operator.ge,
        ast.In: lambda item, items: item in items,
    }
)
_ARITHMETIC: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = MappingProxyType(
    {
        ast.Add: operator.add,
        ast.Sub: operator.sub,
        ast.Mult: operator.mul,
        ast.Div: operator.truediv,
        ast.FloorDiv: operator.floordiv,
        ast.Mod: operator.mod,
    }
)


@cache
def parse(text: str) -> ast.expr:
    """Read an expression into a tree; raises ``DataError`` saying where it stops making sense."""
    if len(text) > LONGEST:
        raise DataError(f"an expression of {len(text)} characters; expected at most {LONGEST}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # what Python only frowns at (``1in``) is refused
            tree = ast.parse(_TOKEN.sub(_in_python, text).strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        problem = error.msg if isinstance(error, SyntaxError) else str(error) or "nested too deep"
        raise DataError(
            f"{text!r} makes no sense ({problem}); expected numbers, names, text in quotes and operators"
        ) from error
    _check(tree, text, 1)
    return tree


def evaluate(expression: Any, names: Mapping[str, Any], call: Call) -> Any:
    """The value of an expression; numbers, booleans and lists that YAML already read stand for themselves.

    ``names`` are the values a bare name may mean, ``call`` answers ``fact(arguments)``. Raises
    ``DataError`` for an unknown name or operands that do not go together.
    """
    if not isinstance(expression, str):
        return expression
    try:
        return _value(parse(expression), names, call)
    except (TypeError, ArithmeticError) as error:
        raise DataError(
            f"{expression!r} cannot be worked out ({error}); expected operands that go together"
        ) from error


def _in_python(token: re.Match[str]) -> str:
    """A token of ours in Python's words: a time as milliseconds, text in quotes with nothing escaped."""
    if token["space"]:
        return " "
    if token["number"]:
        number = float(token["number"]) if "." in token["number"] else int(token["number"])
        return repr(number * UNITS[token["unit"]])
    if token["refused"]:
        return "?"  # a comment that hides the rest, or two texts without a comma: Python would take both
    quoted = token["double"] if token["double"] is not None else token["single"]
    return f" {quoted!r}"  # the space keeps a letter before it from being a prefix of Python's


def _check(node: ast.expr, text: str, depth: int) -> None:
    """Refuse every node that ``_value`` does not know, and trees that are too deep to be read."""
    if depth > DEEPEST:
        raise DataError(f"an expression nested deeper than {DEEPEST}; expected something readable")
    match node:
        case ast.Constant(value=constant) if type(constant) in {int, float, str}:
            known = True
        case ast.BoolOp() | ast.List() | ast.UnaryOp(op=ast.Not() | ast.USub()):
            known = True
        case ast.BinOp(op=sign):
            known = type(sign) in _ARITHMETIC
        case ast.Compare(ops=[sign]):
            known = type(sign) in _COMPARE
        case ast.Call(func=function, keywords=named):
            known = _name(function) is not None and all(name.arg for name in named)
        case _:
            known = _name(node) is not None
    if not known:
        raise DataError(
            f"{text!r}: {ast.unparse(node)[:40]!r} received, expected a number, name, text in quotes, list, "
            "comparison, sum or call"
        )
    for inner in _operands(node):
        _check(inner, text, depth + 1)


def _operands(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.Call):
        return [*node.args, *(keyword.value for keyword in node.keywords)]
    if isinstance(node, ast.Attribute):
        return []
    return [inner for inner in ast.iter_child_nodes(node) if isinstance(inner, ast.expr)]


def _name(node: ast.expr) -> str | None:
    """``count``, or ``run.count``; None for anything else."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=run), attr=name):
            return f"{run}.{name}"
    return None


def _value(node: ast.expr, names: Mapping[str, Any], call: Call) -> Any:
    match node:
        case ast.Constant(value=constant):
            return constant
        case ast.List(elts=parts):
            return [_value(part, names, call) for part in parts]
        case ast.BoolOp(op=ast.And(), values=parts):
            return all(_value(part, names, call) for part in parts)
        case ast.BoolOp(values=parts):
            return any(_value(part, names, call) for part in parts)
        case ast.UnaryOp(op=ast.Not(), operand=part):
            return not _value(part, names, call)
        case ast.UnaryOp(operand=part):
            return _arithmetic(ast.Sub(), 0, _value(part, names, call))
        case ast.BinOp(left=left, op=sign, right=right):
            return _arithmetic(sign, _value(left, names, call), _value(right, names, call))
        case ast.Compare(left=left, ops=[comparison], comparators=[right]):
            return _COMPARE[type(comparison)](_value(left, names, call), _value(right, names, call))
        case ast.Call(func=function, args=plain, keywords=named):
            arguments = [_value(part, names, call) for part in plain]
            return call(
                str(_name(function)),
                arguments,
                {str(name.arg): _value(name.value, names, call) for name in named},
            )
    return _named(str(_name(node)), names)


def _named(name: str, names: Mapping[str, Any]) -> Any:
    if name in _WORDS:
        return _WORDS[name]
    if name not in names:
        known = ", ".join(names) or "none"
        raise DataError(f"{name!r} is no name here; expected one of {known}, or text in quotes")
    return names[name]


def _arithmetic(sign: ast.operator, left: Any, right: Any) -> Any:
    if not (isinstance(left, (int, float)) and isinstance(right, (int, float))):
        # "a" * 10**9 would fill the memory
        raise TypeError(f"{type(sign).__name__} joins numbers, not {left!r} and {right!r}")
    return _ARITHMETIC[type(sign)](left, right)
