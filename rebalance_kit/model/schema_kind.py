"""What the schema says of one kind of row, and of one key of its ``detail``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

# Types of a trace's values, in a notation short enough for tables.
#
# ``text``, ``int``, ``number``, ``bool``, ``partition`` (``orders-4``) and ``config`` (a configuration value)
# stand for themselves, ``a|b`` for one of these words, ``[T]`` for a list, ``{T}`` for a map from text;
# a question mark at the end allows None.


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
    """Read a type in the notation above; raises ``ValueError`` for one that is not written so.

    >>> str(parse_type("{[partition]?}")), parse_type("assigned|revoked").words
    ('{[partition]?}', ('assigned', 'revoked'))
    """
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


Place = Literal["", "topic", "partition"]


@dataclass(frozen=True, slots=True)
class Key:
    """One key of a ``detail``: its type and what it holds.

    An ``optional`` key may be missing. One with ``recorded=False`` is missing from traces of recorded runs,
    whose logs do not tell it; there any value may be None. ``logs`` marks what only Kafka's log lines need
    (``rebalance_kit.logs`` writes them from the trace); no rule and no figure reads it.
    """

    type: Type
    text: str
    optional: bool = False
    recorded: bool = True
    logs: bool = False


def key(
    notation: str, text: str, *, optional: bool = False, recorded: bool = True, logs: bool = False
) -> Key:
    """A key whose type is written in the notation of ``schema.types``."""
    return Key(parse_type(notation), text, optional, recorded, logs)


Keys = Mapping[str, Key]
NO_KEYS: Keys = MappingProxyType({})
NO_VARIANTS: Mapping[str, Keys] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of row: what it means, and the keys of its ``detail``.

    ``protocol`` says whether its rows belong to a protocol, ``place`` what they are about: a topic, a
    partition or neither. Where the keys depend on a value of the detail (``by``: a message's ``api``, an
    action's ``do``), ``variants`` holds the further keys for each of its values.
    """

    text: str
    keys: Keys = field(default_factory=lambda: NO_KEYS)
    protocol: bool = True
    place: Place = ""
    by: str | None = None
    variants: Mapping[str, Keys] = field(default_factory=lambda: NO_VARIANTS)

    def keys_of(self, detail: Mapping[str, Any]) -> Keys:
        """The keys that belong into this detail."""
        return (
            self.keys if self.by is None else {**self.keys, **self.variants.get(str(detail.get(self.by)), {})}
        )

    def all_keys(self) -> Iterator[tuple[str, str, Key]]:
        """Every key with the variant it belongs to (the empty string: all of them)."""
        for name, key in self.keys.items():
            yield "", name, key
        for variant, keys in self.variants.items():
            for name, key in keys.items():
                yield variant, name, key

    def sentence(self) -> str:
        """What the row means, and its keys by name."""
        names = [name for name, key in self.keys.items() if not key.logs]
        names += [f"what belongs to the {self.by}"] if self.by else []
        return f"{self.text}: {', '.join(names)}" if names else self.text
