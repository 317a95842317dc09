"""Checks a document against ``schema.json``, and says what was expected in the schema's own words.

The published file is the only description of an item's shape. Of JSON Schema (2020-12) it uses the
keywords that ``_RULES`` and ``_check`` know; a keyword that is not known here is an error of ours, so that
the two cannot drift apart. ``oneOf`` picks its branch by the const of ``kind``, for a message about the kind meant.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, TextIO

from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import refuse_taken, write_atomically
from rebalance_kit.model.yaml_text import Place

SCHEMA_FILE = Path(__file__).with_name("schema.json")
Schema = Mapping[str, Any]
Fault = tuple[Place, str]
"""A place and what is wrong there: the value received and what was expected."""

_TYPES: Mapping[str, tuple[type, ...]] = MappingProxyType(
    {
        "object": (dict,),
        "array": (list,),
        "string": (str,),
        "boolean": (bool,),
        "integer": (int,),
        "number": (int, float),
        "null": (type(None),),
    }
)
_NOTES = frozenset({"$schema", "$id", "$defs", "title", "description", "$comment", "examples"})


@cache
def item_schema() -> Schema:
    """The published schema of item files."""
    loaded: Schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    return loaded


def faults(value: Any, schema: Schema, root: Schema, place: Place = ()) -> Iterator[Fault]:
    """Everything in ``value`` that the schema does not allow."""
    if "$ref" in schema:
        target: Any = root
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part]
        yield from faults(
            value, {**target, **{key: held for key, held in schema.items() if key != "$ref"}}, root, place
        )
        return
    if not _has_type(value, schema):
        yield place, f"{_show(value)} received, expected {_expected(schema)}"
        return
    if "properties" not in schema and "additionalProperties" in schema:
        yield from _properties(value, {}, schema, root, place)
    for keyword, wanted in schema.items():
        if keyword in _NOTES or keyword in {"type", "additionalProperties"}:
            continue
        yield from _CHECKS[keyword](value, wanted, schema, root, place)


def _has_type(value: Any, schema: Schema) -> bool:
    if "type" not in schema:
        return True
    names = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    if isinstance(value, bool):
        return "boolean" in names
    return any(isinstance(value, _TYPES[name]) for name in names)


def _expected(schema: Schema) -> str:
    if "enum" in schema:
        return f"one of {', '.join(map(str, schema['enum']))}"
    named = (
        schema["type"]
        if isinstance(schema.get("type"), str)
        else " or ".join(schema.get("type", ("a value",)))
    )
    return f"{named}: {schema['description']}" if "description" in schema else str(named)


def _show(value: Any) -> str:
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _properties(value: Any, wanted: Schema, schema: Schema, root: Schema, place: Place) -> Iterator[Fault]:
    if not isinstance(value, dict):
        return
    for key, entry in value.items():
        if key in wanted:
            yield from faults(entry, wanted[key], root, (*place, key))
        elif isinstance(schema.get("additionalProperties"), dict):
            yield from faults(entry, schema["additionalProperties"], root, (*place, str(key)))
        elif schema.get("additionalProperties") is False:
            close = get_close_matches(str(key), wanted, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            yield (*place, str(key)), f"unknown key, expected one of {', '.join(wanted)}{hint}"


def _required(value: Any, wanted: list[str], schema: Schema, root: Schema, place: Place) -> Iterator[Fault]:
    for key in wanted:
        if isinstance(value, dict) and key not in value:
            inner = schema.get("properties", {}).get(key, {})
            if "$ref" in inner:
                inner = {**root["$defs"][inner["$ref"].rpartition("/")[2]], **inner}
            yield (*place, key), f"missing, expected {_expected(inner)}"


def _items(value: Any, wanted: Schema, schema: Schema, root: Schema, place: Place) -> Iterator[Fault]:
    del schema
    if isinstance(value, list):
        for position, entry in enumerate(value):
            yield from faults(entry, wanted, root, (*place, position))


def _one_of(value: Any, wanted: list[Schema], schema: Schema, root: Schema, place: Place) -> Iterator[Fault]:
    del schema
    branches = [
        root["$defs"][choice["$ref"].rpartition("/")[2]] if "$ref" in choice else choice for choice in wanted
    ]
    kinds = {
        branch["properties"]["kind"]["const"]: branch
        for branch in branches
        if "kind" in branch.get("properties", {})
    }
    if kinds:
        kind = value.get("kind") if isinstance(value, dict) else None
        if isinstance(kind, str) and kind in kinds:
            yield from faults(value, kinds[kind], root, place)
        else:
            yield (*place, "kind"), f"{_show(kind)} received, expected one of {', '.join(kinds)}"
        return
    if not any(not list(faults(value, branch, root, place)) for branch in branches):
        yield (
            place,
            f"{_show(value)} received, expected {' or '.join(_expected(branch) for branch in branches)}",
        )


def _simple(broken: Callable[[Any, Any], bool], text: str) -> Callable[..., Iterator[Fault]]:
    def check(value: Any, wanted: Any, schema: Schema, root: Schema, place: Place) -> Iterator[Fault]:
        del root
        if broken(value, wanted):
            about = f" ({schema['description']})" if "description" in schema else ""
            listed = ", ".join(map(str, wanted)) if isinstance(wanted, list) else wanted
            yield place, f"{_show(value)} received, expected {text.format(listed)}{about}"

    return check


_CHECKS: Mapping[str, Callable[..., Iterator[Fault]]] = MappingProxyType(
    {
        "properties": _properties,
        "required": _required,
        "items": _items,
        "oneOf": _one_of,
        "enum": _simple(lambda value, wanted: value not in wanted, "one of {}"),
        "const": _simple(lambda value, wanted: value != wanted, "{}"),
        "pattern": _simple(
            lambda value, wanted: isinstance(value, str) and not re.search(wanted, value), "text matching {}"
        ),
        "minLength": _simple(
            lambda value, wanted: isinstance(value, str) and len(value) < wanted, "at least {} characters"
        ),
        "maxLength": _simple(
            lambda value, wanted: isinstance(value, str) and len(value) > wanted, "at most {} characters"
        ),
        "minItems": _simple(
            lambda value, wanted: isinstance(value, list) and len(value) < wanted, "at least {} entries"
        ),
        "maxItems": _simple(
            lambda value, wanted: isinstance(value, list) and len(value) > wanted, "at most {} entries"
        ),
        "minProperties": _simple(
            lambda value, wanted: isinstance(value, dict) and len(value) < wanted, "at least {} entries"
        ),
        "minimum": _simple(
            lambda value, wanted: isinstance(value, (int, float)) and value < wanted, "at least {}"
        ),
        "maximum": _simple(
            lambda value, wanted: isinstance(value, (int, float)) and value > wanted, "at most {}"
        ),
        "uniqueItems": _simple(
            lambda value, wanted: (
                wanted and isinstance(value, list) and len({repr(one) for one in value}) < len(value)
            ),
            "no entry twice",
        ),
    }
)


# ``items new``: a draft of an item, to be filled in. It is not a valid item until every ... has been replaced.


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
    refuse_taken(to)
    write_atomically(to, text)
    out.write(f"a draft of {name} in {to}; docs/items.md tells how to write it well\n")
    return 0
