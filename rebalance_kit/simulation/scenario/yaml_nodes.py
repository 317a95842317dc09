"""A scenario's YAML as nodes that know their line: every value is read by what is expected at its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NoReturn

from rebalance_kit.model import yaml_text
from rebalance_kit.model.errors import ScenarioError, nearest
from rebalance_kit.model.yaml_text import YamlRules
from rebalance_kit.simulation.kernel.latencies import MEASURED, Chance, Latencies, Spread, Uniform

if TYPE_CHECKING:
    from yaml.nodes import Node


RULES = YamlRules("a scenario", most_bytes=512 * 1024, most_depth=12, error=ScenarioError)
TAG = "tag:yaml.org,2002:"
_TIME = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h))+")
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)")
_UNIT_MS: Mapping[str, int] = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000}
_LONGEST_TIME = 40
_DIGITS = re.compile(r"-?[0-9]+")
Entries = dict[str, tuple["Node", "Node"]]


def parse_time(text: str) -> int | None:
    """Milliseconds of ``20000``, ``12s``, ``1m30s``, ``500ms`` or ``1.5s``; None for anything else.

    >>> [parse_time(text) for text in ("1m30s", "500ms", "42", "-1", "soon")]
    [90000, 500, 42, None, None]
    """
    if len(text) > _LONGEST_TIME:
        return None
    if text.isascii() and text.isdigit():
        return int(text)
    if not _TIME.fullmatch(text):
        return None
    total = sum(float(number) * _UNIT_MS[unit] for number, unit in _PART.findall(text))
    return round(total) if abs(total - round(total)) < 1e-6 else None


def write_time(at_ms: int) -> int | str:
    """The shortest way to write a time that ``parse_time`` reads back.

    >>> write_time(20_000), write_time(1_234)
    ('20s', 1234)
    """
    return f"{at_ms // 1000}s" if at_ms and at_ms % 1000 == 0 else at_ms


def compose(text: str, where: str) -> Node:
    """The root node of a scenario's text; raises ``ScenarioError`` for what is no plain YAML, or nothing."""
    node = yaml_text.compose(text, where, RULES)
    if node is None:
        raise ScenarioError(f"{where}: empty; expected a scenario with members and topics")
    return node


class Nodes:
    """Reads nodes of one file; every refusal names file, line, key, the value and what was expected."""

    def __init__(self, where: str) -> None:
        self.where = where

    def fail(self, node: Node, key: str, message: str) -> NoReturn:
        """Refuse what stands at a node."""
        raise ScenarioError(f"{self.where}:{node.start_mark.line + 1}: {key + ': ' if key else ''}{message}")

    def mapping(self, node: Node, key: str, known: Iterable[str] | None = None) -> Entries:
        """Entries of a mapping in order; refuses unknown keys (``compose`` has refused repeated ones)."""
        from yaml.nodes import MappingNode, ScalarNode

        if not isinstance(node, MappingNode):
            self.fail(
                node,
                key,
                f"got {describe(node)}; expected a mapping{' with ' + ', '.join(known) if known else ''}",
            )
        listed = None if known is None else list(known)
        entries: Entries = {}
        for name_node, value in node.value:
            if not isinstance(name_node, ScalarNode):
                self.fail(name_node, key, f"got {describe(name_node)} as a key; expected a word")
            name = name_node.value
            if listed is not None and name not in listed:
                self.fail(
                    name_node,
                    key,
                    f"unknown key {name!r}{nearest(name, listed)} (expected one of {', '.join(listed)})",
                )
            entries[name] = (name_node, value)
        return entries

    def sequence(self, node: Node, key: str) -> list[Node]:
        """Items of a list."""
        from yaml.nodes import SequenceNode

        if not isinstance(node, SequenceNode):
            self.fail(node, key, f"got {describe(node)}; expected a list")
        return list(node.value)

    def scalar(self, node: Node, key: str, expected: str) -> str:
        """The text of a single value as written."""
        from yaml.nodes import ScalarNode

        if not isinstance(node, ScalarNode) or is_null(node):
            self.fail(node, key, f"got {describe(node)}; expected {expected}")
        return str(node.value)

    def text(self, node: Node, key: str) -> str:
        """A word or sentence."""
        return self.scalar(node, key, "text")

    def names(self, node: Node, key: str) -> tuple[str, ...]:
        """A list of names; one name alone stands for a list of one."""
        from yaml.nodes import SequenceNode

        if isinstance(node, SequenceNode):
            return tuple(self.scalar(item, key, "a name") for item in node.value)
        return (self.scalar(node, key, "a name or a list of names"),)

    def integer(self, node: Node, key: str) -> int:
        """A whole number."""
        text = self.scalar(node, key, "a whole number")
        if not _DIGITS.fullmatch(text) or len(text) > 18:
            self.fail(node, key, f"got {text!r}; expected a whole number")
        return int(text)

    def number(self, node: Node, key: str) -> float:
        """A number; whole ones stay whole."""
        text = self.scalar(node, key, "a number")
        if _DIGITS.fullmatch(text) and len(text) <= 15:
            return int(text)
        if not re.fullmatch(r"-?[0-9]{1,15}\.[0-9]{1,15}", text):
            self.fail(node, key, f"got {text!r}; expected a number")
        return float(text)

    def flag(self, node: Node, key: str) -> bool:
        """True or false."""
        text = self.scalar(node, key, "true or false")
        if text.lower() not in {"true", "false"}:
            self.fail(node, key, f"got {text!r}; expected true or false")
        return text.lower() == "true"

    def time_ms(self, node: Node, key: str) -> int:
        """A time: milliseconds, or with units."""
        expected = "milliseconds or a time such as 12s, 1m30s or 500ms, not below 0"
        text = self.scalar(node, key, expected)
        at_ms = parse_time(text)
        if at_ms is None or at_ms > 10**12:
            self.fail(node, key, f"got {text!r}; expected {expected}")
        return at_ms

    def plain(self, node: Node, key: str) -> Any:
        """The value of a config: text, whole number, true/false, nothing, or a list of texts.

        YAML's other readings (0x10, 1:30, 1_000, 1e3) stay text, for Kafka's own parser to refuse.
        """
        from yaml.nodes import ScalarNode, SequenceNode

        if isinstance(node, SequenceNode):
            return [self.scalar(item, key, "a word") for item in node.value]
        if not isinstance(node, ScalarNode):
            self.fail(node, key, f"got {describe(node)}; expected a single value or a list")
        if is_null(node):
            return None
        if node.tag == f"{TAG}bool" and node.value.lower() in {"true", "false"}:
            return node.value.lower() == "true"
        if node.tag == f"{TAG}int" and _DIGITS.fullmatch(node.value) and len(node.value) <= 18:
            return int(node.value)
        return str(node.value)


def is_null(node: Node) -> bool:
    """Whether nothing stands there."""
    return bool(node.tag == f"{TAG}null")


def describe(node: Node) -> str:
    """What stands at a node, in words."""
    kind = {"mapping": "a mapping", "sequence": "a list"}.get(str(getattr(node, "id", "")))
    if kind is not None:
        return kind
    return "nothing" if is_null(node) else repr(node.value)


# The ``latencies`` of a scenario file, read and written: what differs from the measured ones, by name.


def read_latencies(nodes: Nodes, node: Node, key: str) -> Latencies:
    """Latencies by name; the kind of the measured one says what is expected."""
    entries = nodes.mapping(node, key, Latencies.__dataclass_fields__)
    latencies: dict[str, Any] = {
        name: _read(nodes, value, f"{key}.{name}", name) for name, (_, value) in entries.items()
    }
    return Latencies(**latencies)


def written_latencies(latencies: Latencies) -> dict[str, Any]:
    """What ``read_latencies`` reads back."""
    return {
        field.name: _written(getattr(latencies, field.name))
        for field in fields(latencies)
        if getattr(latencies, field.name) != getattr(MEASURED, field.name)
    }


def _written(latency: object) -> object:
    if isinstance(latency, Spread | Uniform):
        return [getattr(latency, mark.name) for mark in fields(latency)]
    return latency.percent if isinstance(latency, Chance) else latency


def _read(nodes: Nodes, node: Node, key: str, name: str) -> object:
    measured = getattr(MEASURED, name)
    if isinstance(measured, Spread):
        return _spread(nodes, node, key)
    if isinstance(measured, Uniform):
        return Uniform(
            *(int(mark) for mark in _marks(nodes, node, key, 2, "two rising numbers: least, greatest"))
        )
    if isinstance(measured, Chance):
        return Chance(_percent(nodes, node, key))
    if name.endswith("_percent"):
        return _percent(nodes, node, key, least=1)
    return nodes.time_ms(node, key) or nodes.fail(node, key, "got 0; expected at least 1 ms")


def _percent(nodes: Nodes, node: Node, key: str, least: int = 0) -> int:
    percent = nodes.integer(node, key)
    if not least <= percent <= 100:
        nodes.fail(node, key, f"got {percent}; expected a whole percentage from {least} to 100")
    return percent


def _spread(nodes: Nodes, node: Node, key: str) -> Spread:
    """Five marks (least, quartiles, greatest), or one number for a latency that never varies."""
    from yaml.nodes import SequenceNode

    if not isinstance(node, SequenceNode):
        fixed = float(nodes.time_ms(node, key))
        return Spread(fixed, fixed, fixed, fixed, fixed)
    return Spread(*_marks(nodes, node, key, 5, "five rising numbers: least, quartiles, greatest"))


def _marks(nodes: Nodes, node: Node, key: str, count: int, expected: str) -> list[float]:
    marks = [nodes.number(mark, key) for mark in nodes.sequence(node, key)]
    if len(marks) != count or marks != sorted(marks) or marks[0] < 0:
        nodes.fail(node, key, f"got {marks}; expected {expected}, in milliseconds")
    return marks
