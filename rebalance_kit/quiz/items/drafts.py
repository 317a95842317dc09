"""``items new``: a draft of an item, to be filled in. It is not a valid item until every ... has been replaced."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType
from typing import TextIO

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.schema import item_schema

_HEAD = """\
items:
  - id: {id}
    kind: {kind}
    tags: [...]          # a Quiz picks by these
    topics: [...]        # lines of the course: A1 to A14, D
    objective: ...       # what somebody who answers it right can do
    domains: [...]       # CCDAK Application Development, CCAAK Troubleshooting, ...
    versions: 2.4+       # Kafka versions for which the key holds
    difficulty: ...      # recall, apply or diagnose
    stem: >
      ...                # a whole question: client, version, protocol, settings; the rest is default
"""
_OPTION = """\
      - id: {id}
        {text}: ...
        {rest}
        why: ...         # what would have to be true for it, and what Kafka does
"""
_VERIFY = """\
    source: [...]        # KIPs, classes
    verify:
      runs: {{run: {{scenario: crash, protocol: eager}}}}
{claims}"""


def _options(text: str, right: str = "a", letters: str = "abc") -> str:
    return "    options:\n" + "".join(
        _OPTION.format(id=letter, text=text, rest="right: true" if letter in right else "misconception: ...")
        for letter in letters
    )


def _claims(names: str) -> str:
    return "      claims:\n" + "".join(f'        {name}: "..."\n' for name in names.split())


_BODY = MappingProxyType(
    {
        "single": _options("text", letters="abcd") + _VERIFY.format(claims=_claims("a b c d")),
        "multiple": _options("text", "ab", "abcd") + _VERIFY.format(claims=_claims("a b c d")),
        "numeric": "    key: 0\n    unit: ...\n    why: ...\n    wrong:\n      - {value: 1, misconception: ..., why: ...}\n      - {value: 2, misconception: ..., why: ...}\n"
        + _VERIFY.format(claims='      value: "..."\n'),
        "short": "    accept: [...]\n    why: ...\n    wrong:\n      - {text: ..., misconception: ..., why: ...}\n      - {text: ..., misconception: ..., why: ...}\n"
        + _VERIFY.format(claims='      value: "..."\n'),
        "matching": "    options:\n      - {id: a, text: ...}\n      - {id: b, text: ...}\n    prompts:\n      - {text: ..., key: a, why: ..., beliefs: {b: ...}}\n"
        "      - {text: ..., key: b, why: ..., beliefs: {a: ...}}\n" + _VERIFY.format(claims=_claims("1 2")),
        "ordering": "    steps:               # in the right order; the letters say where each is shown\n      - {id: b, text: ..., why: ...}\n      - {id: c, text: ..., why: ...}\n"
        "      - {id: a, text: ..., why: ...}\n    why: ...\n    wrong:\n      - {order: [a, b, c], misconception: ..., why: ...}\n"
        + _VERIFY.format(claims=_claims("b c a")),
        "log": "    exhibit: {run: {scenario: crash, protocol: eager}, show: broker, since: 29s}\n    other: ...           # why the lines that are no option are wrong\n"
        + _options("match")
        + _VERIFY.format(claims=_claims("a b c")),
        "picture": "    picture: {run: {scenario: join, protocol: cooperative}, show: gantt, since: 10s, until: 29s}\n    other: ...           # why the rows that are no option are wrong\n"
        + _options("match")
        + _VERIFY.format(claims=_claims("a b c")),
        "generated": "    form: numeric        # or single\n    unit: ...\n    draw: {n: [2, 3, 4]}\n    key: {value: n, why: ...}\n    distractors:\n"
        "      - {value: n + 1, misconception: ..., why: ...}\n      - {value: n + 2, misconception: ..., why: ...}\n    proof: value == n\n    source: [...]\n",
    }
)


def draft(kind: str, name: str) -> str:
    """The YAML text of a draft; raises ``DataError`` for an unknown kind or an id that is none (a path, for example)."""
    import re

    if kind not in _BODY:
        raise DataError(f"kind {kind!r} received, expected one of {', '.join(_BODY)}")
    wanted = item_schema()["$defs"]["id"]
    if not re.search(wanted["pattern"], name) or not wanted["minLength"] <= len(name) <= wanted["maxLength"]:
        raise DataError(f"id {name!r} received, expected {wanted['description']}")
    return _HEAD.format(id=name, kind=kind) + _BODY[kind]


def run_items_new(kind: str, name: str, to: Path | None, out: TextIO) -> int:
    """Print a draft, or write it to a new file; 0. Raises ``DataError`` when the file exists."""
    text = draft(kind, name)
    if to is None:
        out.write(text)
        return 0
    try:
        with to.open("x", encoding="utf-8") as stream:
            stream.write(text)
    except FileExistsError as error:
        raise DataError(f"{to}: exists already; expected the name of a new file") from error
    except OSError as error:
        raise DataError(f"{to}: cannot be written ({error.strerror}); expected a folder that can") from error
    out.write(f"a draft of {name} in {to}; docs/items.md tells how to write it well\n")
    return 0
