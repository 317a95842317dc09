"""The reference of scenario files, for people (``page``) and for editors (``schema``), made of the reader's own tables."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from rebalance_kit.model.broker_keys import BROKER_KEYS
from rebalance_kit.model.client_keys import CLIENT_KEYS
from rebalance_kit.simulation.kernel import MEASURED, Chance, Latencies, Spread, Uniform
from rebalance_kit.simulation.scenario.actions import ARGUMENTS, MEMBERLESS, Argument
from rebalance_kit.simulation.scenario.checks import ERRORS
from rebalance_kit.simulation.scenario.scenario import ACTIONS, PROTOCOLS, ReplayPins
from rebalance_kit.simulation.scenario.yaml_file import TIMES
from rebalance_kit.simulation.scenario.yaml_nodes import ACTION, FILE, MEMBER, TOPIC, Key

Schema = dict[str, Any]
SOURCE = "docs/scenario.schema.json"
HEAD = """# The scenario file

Made by `make golden` from the tables that the reader uses (`rebalance_kit/simulation/scenario/yaml_nodes.py` and `actions.py`). Begin with
one of the kit's: `rebalance-kit scenarios --show crash > mine.yaml`, then `rebalance-kit run mine.yaml`.

An editor with a YAML language server completes and checks the keys after one line at the top of the file, with the path of
[scenario.schema.json](scenario.schema.json), which `rebalance-kit scenarios --schema` prints as well:

```yaml
# yaml-language-server: $schema=scenario.schema.json
```

A **time** is milliseconds, or has units: `12s`, `1m30s`, `500ms`. A **moment** is a time, or a window from which it is drawn: `{about: 30s, within: 4s}`.
**Names** are a list, or one name. **Configs** are Kafka's keys with their values; Kafka's own rules judge them, with Kafka's messages. Keys that are times
(`at`, `end`, `start`, `every`, `for`, `after`, `by`) may be written with `_ms`.
"""


def page() -> str:
    """The reference in Markdown (``docs/scenario.md``)."""
    return "\n".join([HEAD, *_tables()])


def _tables() -> Iterator[str]:
    yield from _table("The file", FILE)
    yield from _table("A topic", TOPIC)
    yield from _table("A member", MEMBER)
    yield from _table("An action", ACTION)
    yield "`do` is one of these, with arguments of its own beside it:\n"
    yield "| do | what it does | arguments |\n|---|---|---|"
    for do, words in ACTIONS.items():
        told = "; ".join(_argument(name, argument) for name, argument in ARGUMENTS[do].items())
        yield f"| `{do}`{'' if do in MEMBERLESS else ' (member)'} | {words} | {told or '–'} |"
    yield "\n## Protocols\n\n| protocol | configs of every member |\n|---|---|"
    for name, configs in PROTOCOLS.items():
        yield f"| `{name}` | {', '.join(f'`{key}={value}`' for key, value in configs.items())} |"
    yield f"\n## Expected refusals\n\n{', '.join(f'`{name}`' for name in ERRORS)}"
    yield "\n## Latencies\n\nMilliseconds: one number for a delay that never varies, five rising ones for least, quartiles and greatest, two for least"
    yield "and greatest; percentages where the name or the meaning says so.\n\n| name | measured | what |\n|---|---|---|"
    meaning = latency_words()
    for each in fields(Latencies):
        yield f"| `{each.name}` | {_measured(getattr(MEASURED, each.name))} | {meaning[each.name]} |"
    yield "\n## Configuration keys\n\n`rebalance-kit explain KEY` tells each with its default by version and its bounds.\n"
    yield f"**Client:** {', '.join(f'`{key}`' for key in CLIENT_KEYS)}\n"
    yield f"**Broker:** {', '.join(f'`{key}`' for key in BROKER_KEYS)}\n"


def _table(title: str, keys: Mapping[str, Key]) -> Iterator[str]:
    yield f"## {title}\n\n| key | value | without it | holds | example |\n|---|---|---|---|---|"
    for name, key in keys.items():
        options = f": {', '.join(f'`{option}`' for option in key.options)}" if key.options else ""
        yield f"| `{name}` | {key.kind}{options} | {key.default or '**required**'} | {key.words} | `{name}: {key.example}` |"
    yield ""


def written(name: str) -> str:
    """An argument's name as a file has it: without ``_ms`` where the reader takes it so."""
    short = name.removesuffix("_ms")
    return short if short in TIMES else name


def _argument(name: str, argument: Argument) -> str:
    kind = {"ms": "time", "flag": "true or false", "count": "whole number"}.get(argument.kind, argument.kind)
    options = f" ({', '.join(argument.options)})" if argument.options else ""
    holds = (
        "required" if argument.required else "" if argument.default is None else f"default {_told(argument)}"
    )
    return f"`{written(name)}` {kind}{options}{f', {holds}' if holds else ''}"


def _told(argument: Argument) -> str:
    if argument.kind == "ms":
        return f"{argument.default / 1000:g}s"
    return str(argument.default).lower()


def _measured(latency: object) -> str:
    if isinstance(latency, Spread | Uniform):
        return ", ".join(f"{getattr(latency, mark.name):g}" for mark in fields(latency))
    return f"{latency.percent} %" if isinstance(latency, Chance) else str(latency)


def latency_words() -> dict[str, str]:
    """What each latency is: the docstring below its field; empty where it shares that of the next one."""
    (body,) = ast.parse(inspect.getsource(Latencies)).body
    names: list[str] = []
    found = dict.fromkeys((each.name for each in fields(Latencies)), "")
    for node in body.body if isinstance(body, ast.ClassDef) else ():
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            names.append(node.target.id)
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and names:
            told = " ".join(str(node.value.value).split())
            found |= dict.fromkeys(names, told)
            names = []
        if isinstance(node, ast.FunctionDef):
            break
    return found


# The same for editors. What a schema cannot say (names that exist, order of moments, Kafka's own rules) the reader says.

TEXT: Schema = {"type": ["string", "number", "boolean"]}
TIME: Schema = {
    "anyOf": [
        {"type": "integer", "minimum": 0, "maximum": 10**12},
        {"type": "string", "pattern": r"^([0-9]{1,12}|([0-9]+(\.[0-9]+)?(ms|s|m|h))+)$"},
    ]
}
NAMES: Schema = {"anyOf": [TEXT, {"type": "array", "items": TEXT}]}
CONFIGS: Schema = {
    "type": "object",
    "additionalProperties": {
        "anyOf": [{"type": ["string", "number", "boolean", "null"]}, {"type": "array", "items": TEXT}]
    },
}
MOMENT: Schema = {
    "anyOf": [
        TIME,
        {
            "type": "object",
            "properties": {"about": TIME, "within": TIME},
            "required": ["about", "within"],
            "additionalProperties": False,
        },
    ]
}
KINDS: Mapping[str, Schema] = {
    "text": TEXT,
    "time": TIME,
    "moment": MOMENT,
    "moment or null": {"anyOf": [MOMENT, {"type": "null"}]},
    "whole number": {"type": "integer"},
    "number": {"type": "number"},
    "true or false": {"type": "boolean"},
    "names": NAMES,
    "configs": CONFIGS,
    # arguments of actions
    "ms": TIME,
    "count": {"type": "integer"},
    "flag": {"type": "boolean"},
    "name": TEXT,
}


def schema() -> Schema:
    """The JSON Schema of a scenario file, for editors."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "https://rebalance-kit/scenario.schema.json",
        "title": "A scenario of the rebalance kit",
        **_object(FILE, {**_parts(), "protocol": {"enum": list(PROTOCOLS)}}, ("topics", "members")),
    }


def _parts() -> dict[str, Schema]:
    listed = _object({"name": MEMBER["name"], **TOPIC}, {"topic_id": _pair()}, ("name", "partitions"))
    named = _object(TOPIC, {"topic_id": _pair()}, ("partitions",))
    member = _object(MEMBER, {"lives": _lives()}, ())
    alone = {
        "not": {"anyOf": [{"required": [key]} for key in ("count", "prefix", "every", "instance_prefix")]}
    }
    member["anyOf"] = [
        {"required": ["name"], **alone},
        {"required": ["count"], "not": {"required": ["name"]}},
    ]
    return {
        "topics": {
            "anyOf": [
                {"type": "object", "additionalProperties": {"anyOf": [{"type": "integer"}, named]}},
                {"type": "array", "items": listed},
            ]
        },
        "members": {"anyOf": [member, {"type": "array", "items": member}]},
        "actions": {"type": "array", "items": {"anyOf": [_action(do) for do in ACTIONS]}},
        "latencies": {
            "type": "object",
            "properties": {
                each.name: _latency(getattr(MEASURED, each.name), each.name) for each in fields(Latencies)
            },
            "additionalProperties": False,
        },
        "nodes": {
            "type": "object",
            "patternProperties": {"^[0-9]{1,9}$": {"type": ["string", "number", "boolean", "null"]}},
            "additionalProperties": False,
        },
        "expect": {"anyOf": [{"enum": list(ERRORS)}, {"type": "array", "items": {"enum": list(ERRORS)}}]},
        "lesson": {},
    }


def _object(keys: Mapping[str, Key], own: Mapping[str, Schema], required: tuple[str, ...]) -> Schema:
    properties: dict[str, Schema] = {}
    for name, key in keys.items():
        given = {"enum": list(key.options)} if key.options else KINDS.get(key.kind, {})
        kind = own.get(name, given)
        told = f"{key.words}; without it: {key.default}" if key.default else key.words
        properties[name] = {"description": told, **kind}
        if name in TIMES:
            properties[f"{name}_ms"] = properties[name]
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _action(do: str) -> Schema:
    properties: dict[str, Schema] = {
        "do": {"const": do, "description": ACTIONS[do]},
        "at": MOMENT,
        "at_ms": MOMENT,
    }
    required = ["do"]
    if do not in MEMBERLESS:
        properties["member"] = TEXT
        required.append("member")
    both: list[Schema] = [{"anyOf": [{"required": ["at"]}, {"required": ["at_ms"]}]}]
    for name, argument in ARGUMENTS[do].items():
        kind = {"enum": list(argument.options)} if argument.options else KINDS[argument.kind]
        names = [written(name)] + ([f"{written(name)}_ms"] if written(name) in TIMES else [])
        properties |= dict.fromkeys(names, kind)
        if argument.required:
            both.append({"anyOf": [{"required": [each]} for each in names]})
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
        "allOf": both,
    }


def _pair() -> Schema:
    return {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}


def _lives() -> Schema:
    lists = {"later_ids": {"type": "array", "items": TEXT}, "acks_ms": {"type": "array", "items": TIME}}
    kinds = {
        each.name: lists.get(each.name, {"anyOf": [TEXT, {"type": "null"}]}) for each in fields(ReplayPins)
    }
    return {"type": "array", "items": {"type": "object", "properties": kinds, "additionalProperties": False}}


def _latency(measured: object, name: str) -> Schema:
    def marks(count: int) -> Schema:
        return {
            "type": "array",
            "items": {"type": "number", "minimum": 0},
            "minItems": count,
            "maxItems": count,
        }

    if isinstance(measured, Spread):
        return {"anyOf": [TIME, marks(5)]}
    if isinstance(measured, Uniform):
        return marks(2)
    if isinstance(measured, Chance) or name.endswith("_percent"):
        return {"type": "integer", "minimum": 0, "maximum": 100}
    return TIME
