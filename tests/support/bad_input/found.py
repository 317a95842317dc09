"""Inputs that once ended badly, found by fuzzers: the parser, what it is about, and the input itself."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator
from typing import Any

from rebalance_kit.simulation import permalink

SCENARIO = "scenario: s\ntopics: {orders: 2}\nmembers: [{name: c1, topics: [orders]}]\nend: 5s\n"
ITEM = """items:
- id: good-item
  kind: single
  tags: [t]
  topics: [A3]
  objective: Predict what an eager member does
  domains: [CCDAK Fundamentals]
  versions: 2.4+
  difficulty: apply
  stem: Which partitions does an eager member revoke?
  options:
    - {id: a, text: all of them, right: true, why: An eager member gives up everything.}
    - {id: b, text: the moving ones, misconception: cooperative-is-default, why: That is the cooperative way.}
    - {id: c, text: none of its own, misconception: kip848-is-instant, why: It cannot join with them.}
  options_note: there are three ways to revoke
  source: [KIP-429]
"""
"""A file of one item with which nothing is wrong."""
ENTRY = "found by fuzzers"


def token(content: Any) -> str:
    """The link that holds this, with a digest that is right."""
    data = zlib.compress(json.dumps(content).encode("utf-8"))
    packed = base64.urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
    return f"{permalink.VERSION}.{permalink._digest(packed)}.{packed}"


def found() -> Iterator[tuple[str, str, Any]]:
    """Parser, name and input."""
    for name, letter in {
        "NEL": "\\x85",
        "a line separator": "\\u2028",
        "a BOM": "\\ufeff",
        "a paragraph": "\\u2029",
    }.items():
        yield "scenario", f"{name} in a title", f'title: "one\\n two{letter}  three{letter}"\n{SCENARIO}'
    yield "scenario", "a version of 5,000 digits", f"kafka_version: '{'9' * 5000}.1'\n{SCENARIO}"
    yield "scenario", "a minor version of 5,000 digits", f"kafka_version: '4.{'9' * 5000}'\n{SCENARIO}"
    runs = {
        "no scenario": "{run: {0: crash, protocol: eager}}",
        "a number": "{run: 5}",
        "a list": "{run: [crash]}",
        "nothing": "{run: ~}",
    }
    for name, value in runs.items():
        yield (
            "item",
            f"a run that is {name}",
            f"{ITEM}  verify: {{runs: {value}, claims: {{a: 1 > 0, b: 1 < 0, c: 1 < 0}}}}\n",
        )
    for kind in ("{a: 1}", "[single]", "~", "5"):
        yield "item", f"of the kind {kind}", ITEM.replace("kind: single", f"kind: {kind}")
    deeds = {"a member": {"member": "\ud800"}, "a deed": {"do": "\ud800"}, "a key": {"\ud800": 1}}
    for name, deed in deeds.items():
        yield (
            "link",
            f"half of a letter in {name}",
            token({"scenario": SCENARIO, "deeds": [{"do": "crash", "at": 1, **deed}]}),
        )
    for call in (
        "owner('bills')",
        "owner('-1')",
        "owner('a-²')",
        "owner(5)",
        "owner('a-1' != none)",
        f"owner('a-{'9' * 5000}')",
        "owned([])",
        "idle(at='x')",
    ):
        yield "expression", call[:30], call
    for do in ("{0}", "{member.__class__}", "{"):
        yield (
            "widget message",
            f"an action called {do}",
            {"to": "Lab", "type": "preview", "at_ms": 3000, "member": "consumer-1", "do": do},
        )
    layout = "layouts:\n- {name: mine, begins: '####-##-## ', pattern: '(?P<message>.*)) (x'}\n"
    yield "layouts", "a pattern whose brackets close those around it", layout
    yield "sweep", "a scenario's name of 3,000 letters", f"scenarios: [{'a' * 3000}]\n"
    yield "sweep", "a scenario's name with a NUL", 'scenarios: ["a\\0b"]\n'
    yield "sweep", "a list of 300 names in a list", f"scenarios: [[{', '.join(['a'] * 300)}]]\n"
    yield (
        "handed-in work",
        "an infinite seed",
        {"a.jsonl": {"item": "commit-before-processing-crash", "seed": float("inf"), "given": "a"}},
    )
    kept = {"id": "x", "name": "CCDAK", "seed": 1, "wanted": 2, "asked": [], "place": 0}
    for key, value in {
        "given": "abc",
        "struck": "abc",
        "flags": 5,
        "missing": 5,
        "asked": {"a": 1},
        "place": 10**30,
        "spent": 10**400,
    }.items():
        yield "store", f"an exam whose {key} is {str(value)[:9]}", {"kept": {**kept, key: value}}
    asked = {
        "a domain of a map": [["commit-before-processing-crash", 1, {}]],
        "a domain of a list": [["commit-before-processing-crash", 1, []]],
    }
    for name, value in asked.items():
        yield (
            "store",
            f"an exam with {name}",
            {"kept": {**kept, "asked": value, "given": {}, "struck": {}, "flags": [], "missing": []}},
        )
    yield "store", "an exam that wanted a list", {"kept": {**kept, "wanted": [2]}}
    yield (
        "store",
        "an answer of bytes",
        {"attempt": {str(number): (b"x" if number == 5 else 1) for number in range(11)}},
    )
    configs = {"group.id": "g", "session.timeout.ms": "9" * 5000}
    step = {"t": 1, "do": "start", "member": "c1", "configs": configs, "subscribe": ["orders"]}
    yield (
        "recorded run",
        "a setting of 5,000 digits",
        {"run.json": {"scenario": "s", "protocol": "eager", "kafka": "4.3.1", "steps": [step]}},
    )
