"""Types of a trace's values, in a notation short enough for tables.

``text``, ``int``, ``number``, ``bool``, ``partition`` (``orders-4``) and ``config`` (a configuration value)
stand for themselves, ``a|b`` for one of these words, ``[T]`` for a list, ``{T}`` for a map from text;
a question mark at the end allows None.

>>> str(parse_type("{[partition]?}")), parse_type("assigned|revoked").words
('{[partition]?}', ('assigned', 'revoked'))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any


def _is_partition(value: Any) -> bool:
    topic, _, number = value.rpartition("-") if isinstance(value, str) else ("", "", "")
    return bool(topic) and number.isdigit()


def _is_int(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_config(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(isinstance(item, str) for item in value)
    return isinstance(value, str | int | float)


ATOMS: Mapping[str, Callable[[Any], bool]] = MappingProxyType(
    {
        "text": lambda value: isinstance(value, str),
        "int": _is_int,
        "number": lambda value: _is_int(value) or isinstance(value, float),
        "bool": lambda value: isinstance(value, bool),
        "partition": _is_partition,
        "config": _is_config,
    }
)
SPARK: Mapping[str, str] = MappingProxyType({"int": "BIGINT", "number": "DOUBLE", "bool": "BOOLEAN"})
"""What Spark calls them; everything else is a string there."""


@dataclass(frozen=True, slots=True)
class Type:
    """One type: an atom, one of ``words``, a list or a map of ``of``; ``optional`` allows None."""

    name: str
    of: Type | None = None
    words: tuple[str, ...] = ()
    optional: bool = False

    def __str__(self) -> str:
        inside = {"list": f"[{self.of}]", "map": f"{{{self.of}}}", "word": "|".join(self.words)}
        return inside.get(self.name, self.name) + ("?" if self.optional else "")

    def accepts(self, value: Any) -> bool:
        """Whether a value is of this type."""
        if value is None:
            return self.optional
        if self.name == "word":
            return value in self.words
        if self.of is None:
            return ATOMS[self.name](value)
        if self.name == "list":
            return isinstance(value, list | tuple) and all(map(self.of.accepts, value))
        return (
            isinstance(value, Mapping)
            and all(isinstance(key, str) for key in value)
            and all(map(self.of.accepts, value.values()))
        )

    def spark(self) -> str:
        """The type in Spark's DDL."""
        if self.of is None:
            return SPARK.get(self.name, "STRING")
        return f"ARRAY<{self.of.spark()}>" if self.name == "list" else f"MAP<STRING, {self.of.spark()}>"


@cache
def parse_type(text: str) -> Type:
    """Read a type in the notation above; raises ``ValueError`` for one that is not written so."""
    optional = text.endswith("?")
    plain = text.removesuffix("?")
    for name, opening, closing in (("list", "[", "]"), ("map", "{", "}")):
        if plain.startswith(opening) and plain.endswith(closing):
            return Type(name, parse_type(plain[1:-1]), optional=optional)
    if plain in ATOMS:
        return Type(plain, optional=optional)
    words = tuple(plain.split("|"))
    if not any(words) or not all(word.replace("_", "").isalpha() or not word for word in words):
        raise ValueError(
            f"{text!r} is no type; expected one of {', '.join(ATOMS)}, words, [type] or {{type}}"
        )
    return Type("word", words=words, optional=optional)
