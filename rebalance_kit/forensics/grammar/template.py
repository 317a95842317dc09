"""A small language for log templates, close to Kafka's own format strings.

``Stabilized group {group} generation {generation}[[ (__consumer_offsets-{_})]] with {members} members[[.]]``

Everything is literal except ``{field}`` (a value that becomes a column), ``{_}`` (any text, not
kept) and ``[[...]]`` (text that some Kafka versions print and others do not).  A template yields a regular
expression, and the literal pieces that a line must contain before the expression is tried.

Regular expressions whose time grows linearly with the length of a long text.

What the texts of fields mean: lists of partitions as any client prints them, and what is no name of a group.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


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


#: A partition as a structure: ``TopicPartition(topic='a', partition=0)``, ``TopicPartition{topic=a,partition=0,...}``,
#: ``{"topic":"a","partition":0}``.
_STRUCTURED = re.compile(
    r"""\btopic\\*["']?\s?[=:]\s?(?:Topic\(name=)?\\*u?["']?([\w.-]{1,249})\\*["']?\)?(?:, ?| )\\*["']?(?:partition|index)\\*["']?\s?[=:]\s?(\d{1,9})"""
)
#: The partitions of a topic together: ``a[0 1 2]``, ``a [3]``, ``"a":[0,1]``, ``map[a:[0 1]]``, ``a: {0, 1}``.
_BY_TOPIC = re.compile(
    r"""([\w.-]{0,249}[A-Za-z_][\w.-]{0,249})\\*["']?(?::| =>|=)? ?[\[{(]{1,2}(\d{1,9}(?:(?:, ?| )\d{1,9})*+)[\])}]"""
)
#: What stands around a list: ``Set(``, ``frozenset({``, ``ListBuffer(``, ``[``.
_AROUND = re.compile(r"(?:[A-Za-z]{0,20}[\[({]){1,3}")
#: A list with blanks alone between its entries.
_APART = re.compile(r"(?:[\w.-]+-\d+ )+[\w.-]+-\d+")
_LEFT_OUT = ("...", "…")
#: What an export puts behind a line.
_DATE = re.compile(r"\d{4}-\d\d-\d\d[ T]")
_CLOSING = {"[": "]", "(": ")", "{": "}"}
_NONE = frozenset(
    {"", "none", "null", "nil", "empty", "no partitions", "n/a", "-", "<none>", "<empty>", "(none)"}
)


def partitions_of(text: str) -> list[str] | None:
    """A list of partitions, however a client prints it; an empty one for none; None where some are left out.

    >>> partitions_of("[a-0, a-1]"), partitions_of("frozenset({TopicPartition(topic='a', partition=0)})")
    (['a-0', 'a-1'], ['a-0'])
    >>> partitions_of("set()"), partitions_of("a[0 1]")
    ([], ['a-0', 'a-1'])
    """
    bare = text.strip(" ")
    if bare[:1] == "[" and bare[-1:] == "]" and "(" not in bare and bare.find("[", 1) < 0 and "{" not in bare:
        bare = bare[1:-1].strip(" ")
    elif bare.isalnum() or not set("[({").isdisjoint(bare):
        if found := _STRUCTURED.findall(bare) or _each_of(_BY_TOPIC.findall(bare)):
            return [f"{topic}-{partition}" for topic, partition in found]
        bare = _inside(bare)
    if bare.lower() in _NONE:
        return []
    parts = bare.split() if _APART.fullmatch(bare) else bare.split(",")
    names = [name for part in parts if (name := part.strip(" '\"")) and _DATE.match(name) is None]
    return None if any(name.startswith(_LEFT_OUT) or name.endswith(_LEFT_OUT) for name in names) else names


def _each_of(found: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    # Karafka puts the hyphen before the list: ``orders-[0,1]``.
    return [
        (topic.removesuffix("-"), partition)
        for topic, several in found
        for partition in re.findall(r"\d+", several)
    ]


def _inside(text: str) -> str:
    """What a list's brackets hold, without what stands behind them."""
    around = _AROUND.match(text)
    if around is None:
        return text
    for bracket in reversed(re.sub(r"\w", "", around[0])):
        end = text.find(_CLOSING[bracket], around.end())
        return (text[around.end() : end] if end >= 0 else text[around.end() :]).strip()
    return text


#: What a line holds before a group's name and after it: a bracketed thread or logger, a time of day, a colon.
_NO_GROUP = re.compile(
    r"[\[(]|\d{1,3}[.)] |.*(?:\d\d:\d\d:\d\d|[\[\]]|: | [:|-] )|(?:org\.apache|org\.springframework|java|kafka)\.(?:\w+\.)*[A-Z]\w*\Z"
)


@lru_cache(maxsize=4096)
def is_group(name: str) -> bool:
    """Whether a text that stands where a group's name does may be one.

    >>> is_group("orders"), is_group("[main] 10:00:00.123 orders"), is_group("[org.apache.kafka.Worker]")
    (True, False, False)
    """
    return _NO_GROUP.match(name) is None


def last_name(text: str) -> str | None:
    """The group's name at the end of a text of which the rest is a line's head; None for none.

    >>> last_name("main | o.a.k.Listener | orders"), last_name("[org.apache.kafka.Worker]")
    ('orders', None)
    """
    name = re.split(r"[\s|\])\"'=]+", text)[-1]
    return name if name and is_group(name) else None


#: What people write over a name that they do not want to show.
_MASK = re.compile(
    r"\*+|[xX]{2,}|\.{2,}|…|#{2,}|_{2,}|-{2,}|\W{0,2}(?:redacted|masked|hidden|removed|censored|anonymi[sz]ed|obfuscated)\W{0,2}",
    re.IGNORECASE,
)
_MASKS_BEGIN = frozenset("*xX.…#_-<[({RrMmHhCcAaOo")


def named(text: str) -> str | None:
    """A name; None for a mask, whose length tells no one from another.

    >>> named("consumer-1"), named("****"), named("<redacted>")
    ('consumer-1', None, None)
    """
    if not text or (text[0] in _MASKS_BEGIN and _MASK.fullmatch(text)):
        return None
    return None if "`" in text or " | " in text else text
