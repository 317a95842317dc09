"""What damages a good input: letters, tokens, lines, and the tree of a document; each by dice, so that a seed makes it again."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from typing import Any

from rebalance_kit.quiz.items.reading import parse_document

ODD = (
    "", "0", "-1", "1e400", "nan", ".inf", "9" * 40, "9" * 5000, "²", "\0", "\x1b[31m", "é", "\ud800", "日本", "true", "null", "~", "[]", "{}",
    "[[[[[[", "{a: {a: {a: ", "&a [*a]", "!!python/object/apply:os.system [id]", "<script>", "</script>", "%s", "{0}", "../..", "/abs", "a" * 300,
    "2026-02-30", "25:00", "0001-01-01", "9999-12-31", "-0", "1_000", "0x10", "'", '"', "\\", "\n", "\t", "\r", ":", ",", "(", ")", "|", "(a+)+$",
    "consumer-1", "orders", "168h", "1ms", "-5s", "0.1", "1e3", "yes", "<<", "? ", "- ", "#", "---\n", "...\n", "\u2028", "\ufeff", "\u202e",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, -1, 2**31, 2**63, 10**30, 10**400, 1.5, -0.0, float("inf"), float("nan"), "", "x", "\ud800", "\0", "a" * 5000, [], [[]], {}, {"a": {}},
    [None], ["take"], {"self": "x"}, b"bytes", (1, 2), {1: 2}, "consumer-1", "crash", "eager", "168h", "5s", 5000, [0, 1], {"a": ["b"]}, {"": ""}, ["a"] * 3000,
    "<script>alert(1)</script>", "2026-02-30", "9" * 4400, {"__proto__": 1, "constructor": 2},
)  # fmt: skip
_LETTERS = (0, 9, 10, 13, 27, 34, 39, 58, 91, 123, 0x7F, 0x85, 0xA0, 0x202E, 0x2028, 0xFEFF, 0xFFFD, 0x1F600)
_TOKENS = re.compile(r"\w+|\s+|[^\w\s]")
_DEPTHS = (1, 3, 15, 60)


def damaged_letters(text: str, dice: random.Random) -> str:
    """Up to four cuts, doublings, odd words, flipped letters and pieces from elsewhere."""
    for _ in range(dice.randint(1, 4)):
        start = dice.randrange(len(text) + 1)
        end = min(len(text), start + dice.choice((0, 1, 1, 3, 10, 80)))
        piece = text[start:end]
        chosen = dice.randrange(6)
        if chosen == 0:
            piece = ""
        elif chosen == 1:
            piece *= dice.choice((2, 3, 50))
        elif chosen == 2:
            piece = dice.choice(ODD)
        elif chosen == 3:
            piece = chr(dice.choice(_LETTERS))
        elif chosen == 4 and text:
            place = dice.randrange(len(text))
            piece = text[place : place + dice.choice((1, 10, 200))]
        elif dice.random() < 0.1:
            return text[:start]
        text = text[:start] + piece + text[end:]
    return text


def damaged_tokens(text: str, dice: random.Random, others: Sequence[str] = ()) -> str:
    """Up to four words or signs swapped, doubled, left out, or taken from another good input."""
    tokens = _TOKENS.findall(text)
    elsewhere = _TOKENS.findall(dice.choice(others)) if others else tokens
    for _ in range(dice.randint(1, 4)):
        if not tokens:
            break
        place, other = dice.randrange(len(tokens)), dice.randrange(len(tokens))
        chosen = dice.randrange(6)
        if chosen == 0:
            tokens[place], tokens[other] = tokens[other], tokens[place]
        elif chosen == 1:
            tokens[place:place] = tokens[other : other + dice.choice((1, 4, 20))]
        elif chosen == 2:
            del tokens[place : place + dice.choice((1, 1, 4, 20))]
        elif chosen == 3 and elsewhere:
            tokens[place] = dice.choice(elsewhere)
        elif chosen == 4:
            tokens[place] = dice.choice(ODD)
        else:
            numbers = [index for index, token in enumerate(tokens) if token.isdigit()]
            if numbers:
                tokens[dice.choice(numbers)] = dice.choice(
                    ("0", "1", "-1", "7", "2147483648", "9" * 25, "1.5", "1e9")
                )
    return "".join(tokens)


def damaged_lines(text: str, dice: random.Random, others: Sequence[str] = ()) -> str:
    """Lines doubled, moved, left out, indented otherwise, or taken from another good input."""
    lines = text.splitlines(keepends=True)
    elsewhere = dice.choice(others).splitlines(keepends=True) if others else lines
    for _ in range(dice.randint(1, 3)):
        if not lines:
            break
        place = dice.randrange(len(lines))
        chosen = dice.randrange(5)
        if chosen == 0:
            lines.insert(dice.randrange(len(lines)), lines[place])
        elif chosen == 1:
            del lines[place]
        elif chosen == 2:
            lines[place] = dice.choice((" ", "    ", "\t", "- ")) + lines[place].lstrip(
                dice.choice((" ", "", "- "))
            )
        elif chosen == 3 and elsewhere:
            start = dice.randrange(len(elsewhere))
            lines[place:place] = elsewhere[start : start + dice.choice((1, 3, 10))]
        else:
            lines.append(lines.pop(place))
    return "".join(lines)


def damaged_text(text: str, dice: random.Random) -> str:
    """Damage by letters, tokens or lines."""
    return dice.choice((damaged_letters, damaged_tokens, damaged_lines))(text, dice)


def damaged_value(value: Any, dice: random.Random, depth: int = 0) -> Any:
    """A value of JSON with one place changed: of another type, left out, doubled, renamed, moved, nested deeply."""
    if dice.random() < 0.25 or depth > 5 or not isinstance(value, dict | list) or not value:
        if isinstance(value, str) and dice.random() < 0.5:
            return damaged_text(value, dice)
        if isinstance(value, int | float) and dice.random() < 0.5:
            return dice.choice(
                (
                    -value,
                    value + 1,
                    value * 1000,
                    value + 0.5 if abs(value) < 1e9 else 0.5,
                    str(value)[:20],
                    [value],
                )
            )
        return _nested(value, dice.choice(_DEPTHS)) if dice.random() < 0.1 else dice.choice(VALUES)
    chosen = dice.random()
    if isinstance(value, list):
        place, other = dice.randrange(len(value)), dice.randrange(len(value))
        changed = [*value]
        if chosen < 0.1:
            changed.insert(other, value[place])
        elif chosen < 0.2:
            del changed[place]
        elif chosen < 0.3:
            changed[place], changed[other] = changed[other], changed[place]
        else:
            changed[place] = damaged_value(value[place], dice, depth + 1)
        return changed
    key, other_key = dice.choice(sorted(value, key=str)), dice.choice(sorted(value, key=str))
    if chosen < 0.08:
        return {name: part for name, part in value.items() if name != key}
    if chosen < 0.16:
        return {**value, damaged_text(str(key), dice): value[key]}
    if chosen < 0.24:
        return {**value, key: value[other_key], other_key: value[key]}
    return {**value, key: damaged_value(value[key], dice, depth + 1)}


def _nested(value: Any, depth: int) -> Any:
    for level in range(depth):
        value = [value] if level % 2 else {"a": value}
    return value


def damaged_yaml(goods: Callable[[], Sequence[str]]) -> Callable[[str, random.Random], str]:
    """A damager of YAML texts: half of the time by its tree, else by tokens and lines (also of other texts), or by letters."""

    def damage(text: str, dice: random.Random) -> str:
        chosen = dice.random()
        if chosen < 0.5:
            return tree_damaged(text, dice)
        if chosen < 0.7:
            return damaged_tokens(text, dice, goods())
        return damaged_lines(text, dice, goods()) if chosen < 0.85 else damaged_letters(text, dice)

    return damage


def tree_damaged(text: str, dice: random.Random) -> str:
    """The YAML text of its document with one to three places changed; JSON where YAML cannot be written of it."""
    import yaml

    value = parse_document(text).value
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        value = damaged_value(value, dice)
    try:
        return str(
            yaml.dump(
                value,
                Dumper=getattr(yaml, "CSafeDumper", yaml.SafeDumper),
                sort_keys=False,
                allow_unicode=True,
            )
        )
    except (yaml.YAMLError, UnicodeError, ValueError):
        return as_json(value)


def as_json(value: Any) -> str:
    """JSON of whatever a damaged tree holds."""
    return json.dumps(_jsonable(value), default=str)


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _jsonable(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(part) for part in value]
    return (
        str(value)[:50]
        if isinstance(value, int) and not isinstance(value, bool) and value > 10**300
        else value
    )
