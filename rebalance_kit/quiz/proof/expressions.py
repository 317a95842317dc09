"""The little language of claims: numbers with units, names, facts, comparisons. Nothing else can happen.

``count(unread()) == 4 and gap("orders-0") < 5s`` is read by this file alone (never by Python's own
evaluator) and can only call the functions it is handed. Times are milliseconds: ``10s`` is 10000.

    expression = both {"or" both}          both = denial {"and" denial}
    denial = ["not"] comparison            comparison = sum [("==" | "!=" | "<" | "<=" | ">" | ">=" | "in") sum]
    sum = product {("+" | "-") product}    product = factor {("*" | "/" | "//" | "%") factor}
    factor = ["-"] (number[unit] | "text" | list | name | name(arguments) | (expression))
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any

from rebalance_kit.model.errors import DataError

UNITS = MappingProxyType({"ms": 1, "s": 1000, "m": 60_000})
LONGEST = 600
DEEPEST = 40
Node = tuple[Any, ...]
Call = Callable[[str, list[Any], dict[str, Any]], Any]

_TOKEN = re.compile(
    r"""\s*(?:(?P<number>\d+(?:\.\d+)?)(?P<unit>ms|s|m)?(?![\w.])|(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)?)"""
    r"""|"(?P<double>[^"]*)"|'(?P<single>[^']*)'|(?P<sign>==|!=|<=|>=|//|[-+*/%<>()\[\],=]))"""
)
_COMPARE: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        "==": operator.eq,
        "!=": operator.ne,
        "<": operator.lt,
        "<=": operator.le,
        ">": operator.gt,
        ">=": operator.ge,
        "in": lambda one, many: one in many,
    }
)
_ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = MappingProxyType(
    {
        "+": operator.add,
        "-": operator.sub,
        "*": operator.mul,
        "/": operator.truediv,
        "//": operator.floordiv,
        "%": operator.mod,
    }
)
_WORDS: Mapping[str, Any] = MappingProxyType({"true": True, "false": False, "none": None})


@cache
def parse(text: str) -> Node:
    """Read an expression into a tree; raises ``DataError`` showing where it stops making sense."""
    if len(text) > LONGEST:
        raise DataError(f"an expression of {len(text)} characters; expected at most {LONGEST}")
    return _Parser(text).whole()


def evaluate(expression: Any, names: Mapping[str, Any], call: Call) -> Any:
    """The value of an expression; numbers, booleans and lists that YAML already read stand for themselves.

    ``names`` are the values a bare name may mean, ``call`` answers ``fact(arguments)``. Raises
    ``DataError`` for an unknown name or operands that do not go together.
    """
    if not isinstance(expression, str):
        return expression
    try:
        return _value(parse(expression), names, call)
    except (TypeError, ZeroDivisionError) as error:
        raise DataError(
            f"{expression!r} cannot be worked out ({error}); expected operands that go together"
        ) from error


def _value(node: Node, names: Mapping[str, Any], call: Call) -> Any:
    what = node[0]
    if what == "value":
        return node[1]
    if what == "list":
        return [_value(part, names, call) for part in node[1]]
    if what == "name":
        if node[1] not in names:
            known = ", ".join(names) or "none"
            raise DataError(f"{node[1]!r} is no name here; expected one of {known}, or text in quotes")
        return names[node[1]]
    if what == "call":
        arguments = [_value(part, names, call) for part in node[2]]
        return call(node[1], arguments, {name: _value(part, names, call) for name, part in node[3]})
    if what == "not":
        return not _value(node[1], names, call)
    if what == "and":
        return all(_value(part, names, call) for part in node[1])
    if what == "or":
        return any(_value(part, names, call) for part in node[1])
    left, right = _value(node[2], names, call), _value(node[3], names, call)
    if what == "compare":
        return _COMPARE[node[1]](left, right)
    if not (isinstance(left, (int, float)) and isinstance(right, (int, float))):
        raise TypeError(
            f"{node[1]} joins numbers, not {left!r} and {right!r}"
        )  # "a" * 10**9 would fill the memory
    return _ARITHMETIC[node[1]](left, right)


class _Parser:
    """Recursive descent over the tokens of one expression."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(self._scan())
        self.at = 0
        self.depth = 0

    def _scan(self) -> list[tuple[str, Any]]:
        found: list[tuple[str, Any]] = []
        place = 0
        end = len(self.text.rstrip())
        while place < end:
            match = _TOKEN.match(self.text, place)
            if match is None:
                raise DataError(
                    f"{self.text!r} makes no sense from {self.text[place:][:20]!r}; expected a number, name, text in quotes or sign"
                )
            place = match.end()
            if match["number"]:
                number = float(match["number"]) if "." in match["number"] else int(match["number"])
                found.append(("value", number * UNITS[match["unit"]] if match["unit"] else number))
            elif match["name"]:
                found.append(("word", match["name"]))
            elif match["sign"]:
                found.append(("sign", match["sign"]))
            else:
                found.append(("value", match["double"] if match["double"] is not None else match["single"]))
        return found

    def _peek(self) -> tuple[str, Any]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("end", "the end")

    def _take(self, kind: str, *wanted: str) -> Any:
        """The next token when it is one of those wanted, else None."""
        found, value = self._peek()
        if found == kind and value in wanted:
            self.at += 1
            return value
        return None

    def _need(self, sign: str) -> None:
        if self._take("sign", sign) is None:
            raise DataError(f"{self.text!r}: {self._peek()[1]!r} received, expected {sign!r}")

    def whole(self) -> Node:
        node = self.expression()
        if self._peek()[0] != "end":
            raise DataError(f"{self.text!r}: {self._peek()[1]!r} received, expected the end or an operator")
        return node

    def expression(self) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise DataError(f"an expression nested deeper than {DEEPEST}; expected something readable")
        parts = [self._both()]
        while self._take("word", "or"):
            parts.append(self._both())
        self.depth -= 1
        return parts[0] if len(parts) == 1 else ("or", tuple(parts))

    def _both(self) -> Node:
        parts = [self._denial()]
        while self._take("word", "and"):
            parts.append(self._denial())
        return parts[0] if len(parts) == 1 else ("and", tuple(parts))

    def _denial(self) -> Node:
        if self._take("word", "not"):
            return ("not", self._comparison())
        return self._comparison()

    def _comparison(self) -> Node:
        left = self._chain(lambda: self._chain(self._factor, "*", "/", "//", "%"), "+", "-")
        sign = self._take("sign", "==", "!=", "<", "<=", ">", ">=") or self._take("word", "in")
        if sign is None:
            return left
        right = self._chain(lambda: self._chain(self._factor, "*", "/", "//", "%"), "+", "-")
        return ("compare", sign, left, right)

    def _chain(self, part: Callable[[], Node], *signs: str) -> Node:
        node = part()
        while sign := self._take("sign", *signs):
            node = ("arithmetic", sign, node, part())
        return node

    def _factor(self) -> Node:
        if self._take("sign", "-"):
            self.depth += 1
            if self.depth > DEEPEST:
                raise DataError(f"an expression nested deeper than {DEEPEST}; expected something readable")
            node: Node = ("arithmetic", "-", ("value", 0), self._factor())
            self.depth -= 1
            return node
        if self._take("sign", "("):
            node = self.expression()
            self._need(")")
            return node
        if self._take("sign", "["):
            return ("list", tuple(self._arguments("]")[0]))
        kind, value = self._peek()
        if kind not in {"value", "word"}:
            raise DataError(
                f"{self.text!r}: {value!r} received, expected a number, name, text in quotes or a bracket"
            )
        self.at += 1
        if kind == "value":
            return ("value", value)
        if self._take("sign", "("):
            plain, named = self._arguments(")")
            return ("call", value, tuple(plain), tuple(named))
        return ("value", _WORDS[value]) if value in _WORDS else ("name", value)

    def _arguments(self, closing: str) -> tuple[list[Node], list[tuple[str, Node]]]:
        plain: list[Node] = []
        named: list[tuple[str, Node]] = []
        while not self._take("sign", closing):
            kind, value = self._peek()
            after = self.tokens[self.at + 1 : self.at + 2]
            if closing == ")" and kind == "word" and after == [("sign", "=")]:
                self.at += 2
                named.append((value, self.expression()))
            else:
                plain.append(self.expression())
            if self._peek() != ("sign", closing):
                self._need(",")
        return plain, named
