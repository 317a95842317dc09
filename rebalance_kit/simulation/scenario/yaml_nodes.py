"""A scenario's YAML as nodes that know their line, and the table of the keys that may stand in it.

``docs/scenario.md`` and ``docs/scenario.schema.json`` are made of it (``reference``); arguments of actions stand in
``actions.ARGUMENTS``, Kafka's own keys in ``model.client_keys`` and ``model.broker_keys``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NoReturn

from rebalance_kit.model import yaml_text
from rebalance_kit.model.errors import ScenarioError, nearest
from rebalance_kit.model.yaml_text import YamlRules
from rebalance_kit.simulation.kernel import MEASURED, Chance, Latencies, Spread, Uniform

if TYPE_CHECKING:
    from yaml.nodes import Node


from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from rebalance_kit.simulation.scenario.checks import CALLBACKS, CLIENTS, COMMITS

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


Kind = Literal[
    "text",
    "time",
    "moment",
    "moment or null",
    "whole number",
    "number",
    "true or false",
    "names",
    "choice",
    "configs",
    "part",
]


@dataclass(frozen=True, slots=True)
class Key:
    """One key: how its value is written, what it means, what holds without it, an example in YAML.

    A ``part`` has keys of its own. ``default`` is in words; empty where the key is required.
    """

    kind: Kind
    words: str
    default: str
    example: str
    options: tuple[str, ...] = ()


FILE: Mapping[str, Key] = MappingProxyType(
    {
        "scenario": Key("text", "its name", "the name of the file", "my-crash"),
        "title": Key("text", "a heading for people", "none", "A consumer crashes"),
        "story": Key("text", "what happens and what to look at", "none", "One of two consumers is killed."),
        "moments": Key(
            "text",
            "which moments matter, and which may be drawn",
            "none",
            "The moment of the crash is drawn.",
        ),
        "kafka_version": Key("text", "the release that brokers and clients behave like", "4.3.1", "4.3.1"),
        "protocol": Key(
            "choice",
            "switches every member to a protocol; then no `configs` may choose one",
            "as the members' configs say",
            "cooperative",
        ),
        "label": Key(
            "text", "the run's label where no `protocol` is given", "classic, consumer or mixed", "sticky"
        ),
        "group": Key("text", "the members' `group.id`", "orders-app", "billing"),
        "seed": Key("whole number", "decides everything that is drawn", "1", "7"),
        "end": Key("time", "when the run ends", "60s", "2m"),
        "topics": Key(
            "part",
            "topics: a mapping of name to partitions, or to the keys of a topic; or a list of topics with `name`",
            "",
            "{orders: 6}",
        ),
        "broker": Key(
            "configs",
            "broker configurations by Kafka's keys",
            "Kafka's defaults",
            "{group.initial.rebalance.delay.ms: 0}",
        ),
        "configs": Key(
            "configs",
            "client configurations that all members share",
            "Kafka's defaults",
            "{session.timeout.ms: 10000}",
        ),
        "members": Key(
            "part", "a list of members, or one mapping with `count`", "", "{count: 3, topics: [orders]}"
        ),
        "actions": Key(
            "part",
            "what is done to the group, in any order",
            "none",
            "[{at: 30s, do: crash, member: consumer-1}]",
        ),
        "latencies": Key(
            "part", "delays by name, in place of the measured ones", "as measured", "{one_way: 2}"
        ),
        "data_plane": Key(
            "true or false", "whether records are produced, read and committed", "true", "false"
        ),
        "nodes": Key(
            "part",
            "brokers by id with their racks (null for none)",
            "one broker that never stops",
            "{1: rack-a, 2: rack-b}",
        ),
        "expect": Key(
            "names",
            "errors with which Kafka refuses a member at once, where the scenario is to show them",
            "none",
            "[INCONSISTENT_GROUP_PROTOCOL]",
        ),
        "lesson": Key(
            "part", "what the lab says of a scenario of the kit; decides nothing in a run", "none", "{}"
        ),
    }
)
TOPIC: Mapping[str, Key] = MappingProxyType(
    {
        "partitions": Key("whole number", "how many", "", "6"),
        "rate_per_s": Key("number", "records per second into each partition", "10", "2.5"),
        "topic_id": Key("part", "the topic's id as two signed 64-bit halves", "drawn", "[1, 2]"),
    }
)
MEMBER: Mapping[str, Key] = MappingProxyType(
    {
        "name": Key("text", "the process's name; with `count`, `prefix` instead", "", "consumer-1"),
        "topics": Key("names", "what it subscribes to", "one of the three is required", "[orders]"),
        "pattern": Key("text", "a java.util.regex.Pattern that the client matches", "see topics", "orders.*"),
        "server_pattern": Key(
            "text", "an RE2/J pattern that the broker matches (KIP-848)", "see topics", "orders.*"
        ),
        "start": Key("moment or null", "when its process starts; null: an action starts it", "0", "3s"),
        "configs": Key(
            "configs", "client configurations by Kafka's keys", "Kafka's defaults", "{client.rack: rack-a}"
        ),
        "client": Key("choice", "which client it is", "java", "librdkafka", CLIENTS),
        "callback": Key(
            "choice", "which rebalance callback it has (librdkafka)", "default", "wrong", CALLBACKS
        ),
        "callback_ms": Key("time", "how long each rebalance callback takes", "0", "2s"),
        "processing_ms": Key("number", "milliseconds of work per record", "0", "1.5"),
        "commit": Key("choice", "when it commits", "auto", "per_batch", COMMITS),
        "lives": Key("part", "facts pinned for the repetition of a recorded run", "none", "[]"),
        "count": Key("whole number", "makes so many alike", "one member", "3"),
        "prefix": Key("text", "with `count`: names are this and a number", "consumer-", "pod-"),
        "every": Key("time", "with `count`: how far apart they start", "0", "500ms"),
        "instance_prefix": Key(
            "text",
            "with `count`: a `group.instance.id` for each, this and a number",
            "dynamic members",
            "pod-",
        ),
    }
)
ACTION: Mapping[str, Key] = MappingProxyType(
    {
        "at": Key("moment", "when it is done", "", "30s"),
        "do": Key("choice", "what is done", "", "crash"),
        "member": Key("text", "whom it concerns, where it concerns one member", "", "consumer-1"),
    }
)
