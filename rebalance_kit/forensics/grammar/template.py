"""A small language for log templates, close to Kafka's own format strings.

``Stabilized group {group} generation {generation}[[ (__consumer_offsets-{_})]] with {members} members[[.]]``

Everything is literal except ``{field}`` (a value that becomes a column), ``{_}`` (any text, not
kept) and ``[[...]]`` (text that some Kafka versions print and others do not).  A template yields a regular
expression, and the literal pieces that a line must contain before the expression is tried.

Regular expressions whose time grows linearly with the length of a long text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


#: Fields that are whole numbers, and so columns of type long.
NUMBERS = frozenset(
    {"generation", "epoch", "members", "static", "took_ms", "over_ms", "limit_ms", "offset", "hash"}
)

_NUMBER = r"-?\d+"
_WORD = r"[\w-]*"
_REST = r".*"
_SHORTEST = r".*?"

#: The expressions of fields; a field not named here matches as little as possible.
_SHAPES = {
    **dict.fromkeys(NUMBERS, _NUMBER),
    **dict.fromkeys(("state", "state_from", "state_to", "protocol"), _WORD),
    **dict.fromkeys(("reason", "detail", "partitions"), _REST),
}

_TOKEN = re.compile(r"(\[\[|\]\]|\{\w+\})")


# Compared by identity, because every line looks a template up.
@dataclass(frozen=True, slots=True, eq=False)
class Template:
    """One kind of log line: the event it means, who prints it, and its text.

    ``side`` is ``broker``, ``java`` or ``librdkafka``; ``given`` holds fields whose value follows
    from the template itself.
    """

    event: str
    side: str
    text: str
    given: tuple[tuple[str, str], ...] = ()

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields in the text, in order."""
        return _fields(self.text)

    @property
    def pattern(self) -> str:
        """The regular expression of the whole message; valid in Python and in RE2."""
        return _pattern(self.text)

    @property
    def linear(self) -> str:
        """The same for long messages: what lies before a literal piece ends where the piece first occurs."""
        return _linear(self.text)

    @property
    def literals(self) -> tuple[str, tuple[str, ...]]:
        """The text that a line starts with, and the other pieces that it must contain, longest first."""
        return _literals(self.text)


@cache
def _fields(text: str) -> tuple[str, ...]:
    return tuple(name for name in re.findall(r"\{(\w+)\}", text) if name != "_")


@cache
def _literals(text: str) -> tuple[str, tuple[str, ...]]:
    start, *pieces = re.split(r"\{\w+\}|\0", re.sub(r"\[\[.*?\]\]", "\0", text))
    return start, tuple(sorted((piece for piece in pieces if len(piece) > 2), key=len, reverse=True))


@cache
def _pattern(text: str) -> str:
    return "(?s)^" + "".join(_piece(token) for token in _TOKEN.split(text)) + "$"


@cache
def _linear(text: str) -> str:
    told, waiting, inside = "", False, False
    for token in filter(None, _TOKEN.split(text)):
        piece = _piece(token)
        if not waiting and (token == "[[" or piece.endswith((_SHORTEST, f"{_SHORTEST})"))):
            told, waiting = told + "(?>", True
        inside = token == "[[" or (inside and token != "]]")
        told += piece
        if waiting and not inside and not token.startswith(("{", "]]")):
            told, waiting = told + ")", False
    return f"(?s)^{told}{'$)' if waiting else '$'}"


def _piece(token: str) -> str:
    if token == "[[":
        return "(?:"
    if token == "]]":
        return ")?"
    if token == "{_}":
        return ".*?"
    if token.startswith("{") and token.endswith("}") and token[1:-1].isidentifier():
        return f"(?P<{token[1:-1]}>{_SHAPES.get(token[1:-1], _SHORTEST)})"
    # Python and RE2 agree on a backslash before every character that is neither letter nor digit.
    return re.sub(r"([^\w\s])", r"\\\1", token)


#: Python's ``re`` backtracks: quick on an ordinary line, endless on some hostile ones of a million characters.
LONG = 2_000


def group_matcher(expression: str, of_long: str) -> Callable[[str], tuple[str, ...] | None]:
    """A function from a text to the expression's groups in order ("" for an absent one), or None without a match.

    ``of_long`` matches texts of more than ``LONG`` characters: the same groups, in an expression of atomic pieces,
    which never backtracks into a piece that it has matched.
    """
    match, match_long = (re.compile(each, re.ASCII).match for each in (expression, of_long))

    def groups_of(text: str) -> tuple[str, ...] | None:
        found = (match if len(text) <= LONG else match_long)(text)
        return found and found.groups("")

    return groups_of
