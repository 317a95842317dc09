"""A scenario from YAML: every key checked, every refusal with file, line, key, value and what was expected.

Times are milliseconds or written with units (``12s``, ``1m30s``, ``500ms``); their keys may be written with or
without ``_ms`` (``at``, ``end_ms``). ``protocol: eager|cooperative|consumer|…`` switches all members to it.
``configs`` of the scenario are shared by all members. ``members: {count: 50, prefix: consumer-}`` makes fifty.
``expect: [ERROR]`` allows members that Kafka will refuse at once with that error.
``lesson`` is what the lab says of the kit's own scenarios; it decides nothing in a run (``rebalance_kit.view.lab.lessons``).

The parts of a scenario file, each read where it stands: topics, members, actions, configs.

``Parts.spots`` remembers the node of every part, so that a fault found later can still be shown in its line.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rebalance_kit.model.errors import ConfigError, ScenarioError, nearest
from rebalance_kit.model.key_types import RefusedConfig, UnknownConfig
from rebalance_kit.model.yaml_text import read_text
from rebalance_kit.simulation.kernel import MEASURED
from rebalance_kit.simulation.learner_code.plug_ins import Supports, supports
from rebalance_kit.simulation.scenario import yaml_nodes
from rebalance_kit.simulation.scenario.actions import ARGUMENTS
from rebalance_kit.simulation.scenario.checks import ERRORS, MOST_MEMBERS, BadScenario, Path, foresee
from rebalance_kit.simulation.scenario.expansion import check
from rebalance_kit.simulation.scenario.scenario import (
    ACTIONS,
    NO_NODES,
    PROTOCOL_KEYS,
    PROTOCOLS,
    Action,
    MemberSpec,
    ReplayPins,
    Scenario,
    TopicSpec,
    with_protocol,
)
from rebalance_kit.simulation.scenario.yaml_writer import write_scenario

if TYPE_CHECKING:
    from yaml.nodes import Node


TIMES = ("at", "end", "start", "every", "for", "after", "by")
"""Keys that may carry ``_ms``."""


@dataclass(slots=True)
class Parts:
    """One file being read; ``shared`` are the configs that every member starts from."""

    where: str
    nodes: yaml_nodes.Nodes = field(init=False)
    spots: dict[Path, Node] = field(default_factory=dict)
    shared: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.nodes = yaml_nodes.Nodes(self.where)

    def mapping(self, node: Node, key: str, known: tuple[str, ...]) -> yaml_nodes.Entries:
        """Entries with ``at_ms`` read as ``at``; refuses both together."""
        timed = [name for name in known if name in TIMES]
        entries = self.nodes.mapping(node, key, [*known, *(f"{name}_ms" for name in timed)])
        for name in timed:
            if f"{name}_ms" in entries:
                if name in entries:
                    self.nodes.fail(
                        entries[f"{name}_ms"][0],
                        key,
                        f"both {name} and {name}_ms are given; expected one of them",
                    )
                entries[name] = entries.pop(f"{name}_ms")
        return entries

    def broker(self, node: Node, key: str) -> Mapping[str, Any]:
        """Configs of the broker."""
        return MappingProxyType(self.configs(node, key, (key,)))

    def brokers(self, node: Node, key: str) -> Mapping[int, str | None]:
        """Brokers by id with their racks (null for none)."""
        racks: dict[int, str | None] = {}
        for name, (at, value) in self.nodes.mapping(node, key).items():
            if not re.fullmatch("[0-9]{1,9}", name):
                self.nodes.fail(
                    at, key, f"got {name!r}; expected node ids with racks, as in {{1: rack-a, 2: rack-b}}"
                )
            racks[int(name)] = None if yaml_nodes.is_null(value) else self.nodes.text(value, f"{key}.{name}")
        return MappingProxyType(racks)

    def configs(self, node: Node, key: str, path: Path = ("configs",)) -> dict[str, Any]:
        """Kafka configs by their real names, not yet judged."""
        configs: dict[str, Any] = {}
        for name, (name_node, value) in self.nodes.mapping(node, key).items():
            configs[name] = self.nodes.plain(value, f"{key} {name}")
            self.spots[(*path, name)] = name_node
        return configs

    def topics(self, node: Node) -> tuple[TopicSpec, ...]:
        """Topics from a mapping or a list."""
        from yaml.nodes import SequenceNode

        listed = self.nodes.sequence(node, "topics") if isinstance(node, SequenceNode) else None
        if listed is not None:
            return tuple(self._topic(index, None, entry, entry) for index, entry in enumerate(listed))
        entries = self.nodes.mapping(node, "topics")
        return tuple(
            self._topic(index, name, at, value) for index, (name, (at, value)) in enumerate(entries.items())
        )

    def _topic(self, index: int, name: str | None, at: Node, node: Node) -> TopicSpec:
        from yaml.nodes import ScalarNode

        path, nodes = ("topics", index), self.nodes
        self.spots[path] = at
        if name is not None and isinstance(node, ScalarNode):
            return TopicSpec(name, nodes.integer(node, f"topics.{name} (partitions)"))
        key = f"topics.{name}" if name is not None else f"topics[{index}]"
        known = tuple(yaml_nodes.TOPIC)
        entries = self.mapping(node, key, known if name is not None else ("name", *known))
        for part, (_, value) in entries.items():
            self.spots[*path, part] = value
        for needed in ("partitions",) if name is not None else ("name", "partitions"):
            if needed not in entries:
                nodes.fail(node, key, f"has no {needed}; expected it")
        return TopicSpec(
            name if name is not None else nodes.text(entries["name"][1], f"{key}.name"),
            nodes.integer(entries["partitions"][1], f"{key}.partitions"),
            float(nodes.number(entries["rate_per_s"][1], f"{key}.rate_per_s"))
            if "rate_per_s" in entries
            else 10.0,
            self._topic_id(entries["topic_id"][1], f"{key}.topic_id") if "topic_id" in entries else None,
        )

    def _topic_id(self, node: Node, key: str) -> tuple[int, int]:
        halves = self.nodes.sequence(node, key)
        if len(halves) != 2:
            self.nodes.fail(node, key, f"got {len(halves)} numbers; expected two signed 64-bit halves")
        texts = [self.nodes.scalar(half, key, "a whole number") for half in halves]
        if not all(re.fullmatch("-?[0-9]{1,19}", text) and -(2**63) <= int(text) < 2**63 for text in texts):
            self.nodes.fail(node, key, f"got {texts}; expected two signed 64-bit halves")
        return int(texts[0]), int(texts[1])

    def members(self, node: Node) -> tuple[MemberSpec, ...]:
        """Members from a list, or from one mapping with ``count``."""
        from yaml.nodes import MappingNode

        members: list[MemberSpec] = []
        listed = [node] if isinstance(node, MappingNode) else self.nodes.sequence(node, "members")
        for index, entry in enumerate(listed):
            key = "members" if isinstance(node, MappingNode) else f"members[{index}]"
            entries = self.mapping(entry, key, tuple(yaml_nodes.MEMBER))
            made = (
                self._crowd(entry, key, entries)
                if "count" in entries
                else (self._member(entry, key, entries),)
            )
            for spec in made:
                path = ("members", len(members))
                self.spots[path] = entry
                for name, (_, value) in entries.items():
                    self.spots[*path, name] = value
                if "configs" in entries:
                    self.configs(entries["configs"][1], f"{key}.configs", (*path, "configs"))
                members.append(spec)
        return tuple(members)

    def _member(
        self, node: Node, key: str, entries: yaml_nodes.Entries, name: str | None = None
    ) -> MemberSpec:
        nodes = self.nodes
        if name is None:
            for crowd in ("prefix", "every", "instance_prefix"):
                if crowd in entries:
                    nodes.fail(
                        entries[crowd][0], key, f"{crowd} goes with count; expected count, or name alone"
                    )
            if "name" not in entries:
                nodes.fail(node, key, "has no name; expected name, or count and prefix")
            name = nodes.text(entries["name"][1], f"{key}.name")

        def get(field_name: str, read: Callable[[Node, str], Any], default: Any) -> Any:
            return read(entries[field_name][1], f"{key}.{field_name}") if field_name in entries else default

        start_ms, within_ms = get("start", self._start, (0, 0))
        return MemberSpec(
            name=name,
            topics=get("topics", nodes.names, ()),
            configs=MappingProxyType({**self.shared, **get("configs", self.configs, {})}),
            pattern=get("pattern", nodes.text, None),
            server_pattern=get("server_pattern", nodes.text, None),
            start_ms=start_ms,
            start_within_ms=within_ms,
            client=get("client", nodes.text, "java"),
            callback=get("callback", nodes.text, "default"),
            processing_ms=get("processing_ms", nodes.number, 0.0),
            callback_ms=get("callback_ms", nodes.time_ms, 0),
            commit=get("commit", nodes.text, "auto"),
            lives=get("lives", self._lives, ()),
        )

    def _start(self, node: Node, key: str) -> tuple[int | None, int]:
        return (None, 0) if yaml_nodes.is_null(node) else self.moment(node, key)

    def moment(self, node: Node, key: str) -> tuple[int, int]:
        """A time, or a window ``{about: 30s, within: 5s}``, as (about, within) in ms."""
        from yaml.nodes import MappingNode

        if not isinstance(node, MappingNode):
            return self.nodes.time_ms(node, key), 0
        entries = self.nodes.mapping(node, key, ("about", "within"))
        for needed in ("about", "within"):
            if needed not in entries:
                self.nodes.fail(
                    node, key, f"has no {needed}; expected a time such as 30s, or {{about: 30s, within: 5s}}"
                )
        within_ms = self.nodes.time_ms(entries["within"][1], f"{key}.within")
        if not within_ms:
            self.nodes.fail(
                entries["within"][1],
                f"{key}.within",
                "got 0; expected at least 1 ms, or a plain time instead of a window",
            )
        return self.nodes.time_ms(entries["about"][1], f"{key}.about"), within_ms

    def _crowd(self, node: Node, key: str, entries: yaml_nodes.Entries) -> tuple[MemberSpec, ...]:
        """``count`` members named ``prefix`` and a number, ``every`` ms apart."""
        nodes = self.nodes
        if "name" in entries:
            nodes.fail(entries["name"][0], key, "name goes without count; expected prefix")
        count = nodes.integer(entries["count"][1], f"{key}.count")
        if not 1 <= count <= MOST_MEMBERS:
            nodes.fail(entries["count"][1], f"{key}.count", f"got {count}; expected 1 to {MOST_MEMBERS}")
        prefix = nodes.text(entries["prefix"][1], f"{key}.prefix") if "prefix" in entries else "consumer-"
        every = nodes.time_ms(entries["every"][1], f"{key}.every") if "every" in entries else 0
        instance = (
            nodes.text(entries["instance_prefix"][1], f"{key}.instance_prefix")
            if "instance_prefix" in entries
            else None
        )
        first = self._member(node, key, entries, f"{prefix}1")
        made = []
        for number in range(1, count + 1):
            configs = (
                first.configs
                if instance is None
                else MappingProxyType({**first.configs, "group.instance.id": f"{instance}{number}"})
            )
            start = None if first.start_ms is None else first.start_ms + (number - 1) * every
            made.append(replace(first, name=f"{prefix}{number}", configs=configs, start_ms=start))
        return tuple(made)

    def _lives(self, node: Node, key: str) -> tuple[ReplayPins, ...]:
        lives = []
        for life in self.nodes.sequence(node, key):
            entries = self.nodes.mapping(life, key, ReplayPins.__slots__)
            values: dict[str, Any] = {}
            for name, (_, value) in entries.items():
                read = self.nodes.text if name == "member_id" else self.nodes.time_ms
                if name == "later_ids":
                    values[name] = tuple(
                        self.nodes.text(each, f"{key}.{name}")
                        for each in self.nodes.sequence(value, f"{key}.{name}")
                    )
                elif name in {"acks_ms", "news_ms"}:
                    values[name] = tuple(
                        self.nodes.time_ms(each, f"{key}.{name}")
                        for each in self.nodes.sequence(value, f"{key}.{name}")
                    )
                else:
                    values[name] = None if yaml_nodes.is_null(value) else read(value, f"{key}.{name}")
            lives.append(ReplayPins(**values))
        return tuple(lives)

    def actions(self, node: Node, _key: str) -> tuple[Action, ...]:
        """Actions in the order of the file."""
        return tuple(
            self._action(index, entry) for index, entry in enumerate(self.nodes.sequence(node, "actions"))
        )

    def _action(self, index: int, node: Node) -> Action:
        key, nodes = f"actions[{index}]", self.nodes
        entries = nodes.mapping(node, key)
        for needed in ("at", "do"):
            if needed not in entries and f"{needed}_ms" not in entries:
                nodes.fail(node, key, f"has no {needed}; expected at, do, and member where it concerns one")
        do = nodes.text(entries["do"][1], f"{key}.do")
        if do not in ACTIONS:
            nodes.fail(
                entries["do"][1],
                f"{key}.do",
                f"action {do!r} is unknown{nearest(do, ACTIONS)} (expected one of {', '.join(ACTIONS)})",
            )
        known = tuple(
            name.removesuffix("_ms") if name.removesuffix("_ms") in TIMES else name for name in ARGUMENTS[do]
        )
        entries = self.mapping(node, f"{key} ({do})", (*yaml_nodes.ACTION, *known))
        args: dict[str, Any] = {}
        path: Path = ("actions", index)
        self.spots[path] = node
        for name, (_, value) in entries.items():
            if name in yaml_nodes.ACTION:
                self.spots[*path, name] = value
                continue
            full = f"{name}_ms" if name in TIMES else name
            self.spots[*path, full] = value
            args[full] = self._argument(do, full, value, f"{key}.{name}", (*path, full))
        member = nodes.text(entries["member"][1], f"{key}.member") if "member" in entries else None
        at_ms, within_ms = self.moment(entries["at"][1], f"{key}.at")
        return Action(at_ms, do, member, MappingProxyType(args), within_ms)

    def _argument(self, do: str, name: str, node: Node, key: str, path: Path) -> Any:
        kind = ARGUMENTS[do][name].kind
        if kind == "configs":
            return self.configs(node, key, path)
        nodes = self.nodes
        readers: Mapping[str, Callable[[Node, str], Any]] = {
            "ms": nodes.time_ms,
            "number": nodes.number,
            "count": nodes.integer,
            "flag": nodes.flag,
            "name": nodes.text,
            "choice": nodes.text,
            "names": nodes.names,
        }
        return readers[kind](node, key)


__all__ = ["read_scenario", "write_scenario"]


def read_scenario(
    source: str | FilePath, name: str | None = None, assignors: Mapping[str, Callable[..., Any]] | None = None
) -> Scenario:
    """Read and check a scenario from a path or from YAML text (text has more than one line).

    ``name`` stands in error messages for the file, ``assignors`` are those of your own that it names. Raises ``ScenarioError``, or ``ConfigError`` for a
    Kafka configuration that Kafka refuses.
    """
    if isinstance(source, FilePath) or "\n" not in source:
        path = FilePath(source)
        return _File(name or path.name, path.stem, supports(assignors)).read(
            read_text(path, yaml_nodes.RULES)
        )
    return _File(name or "<scenario>", "scenario", supports(assignors)).read(source)


@dataclass(slots=True)
class _File:
    """One file being read; ``spots`` remembers where each thing stands."""

    where: str
    stem: str
    own: Supports
    parts: Parts = field(init=False)

    def __post_init__(self) -> None:
        self.parts = Parts(self.where)

    def read(self, text: str) -> Scenario:
        """The whole of it."""
        root = yaml_nodes.compose(text, self.where)
        entries = self.parts.mapping(root, "", tuple(yaml_nodes.FILE))
        self.parts.spots[()] = root
        for key, (_, node) in entries.items():
            self.parts.spots[(key,)] = node
        for key in ("topics", "members"):
            if key not in entries:
                self.parts.nodes.fail(root, "", f"has no {key}; expected them")
        scenario = self._scenario(entries)
        if "protocol" in entries:
            scenario = self._switched(scenario, entries["protocol"][1])
        self._check(scenario, entries)
        return scenario

    def _scenario(self, entries: yaml_nodes.Entries) -> Scenario:
        nodes = self.parts.nodes

        def get(key: str, read: Callable[[Node, str], Any], default: Any) -> Any:
            return read(entries[key][1], key) if key in entries else default

        self.parts.shared = get("configs", self.parts.configs, {})
        topics = self.parts.topics(entries["topics"][1])
        members = self.parts.members(entries["members"][1])
        return Scenario(
            name=get("scenario", nodes.text, self.stem),
            topics=topics,
            members=members,
            actions=get("actions", self.parts.actions, ()),
            end_ms=get("end", nodes.time_ms, 60_000),
            seed=get("seed", nodes.integer, 1),
            title=get("title", nodes.text, ""),
            story=get("story", nodes.text, "").strip(),
            moments=get("moments", nodes.text, "").strip(),
            kafka_version=get("kafka_version", nodes.text, "4.3.1"),
            group=get("group", nodes.text, "orders-app"),
            broker=get("broker", self.parts.broker, MappingProxyType({})),
            protocol=get("label", nodes.text, None),
            latencies=get("latencies", partial(yaml_nodes.read_latencies, nodes), MEASURED),
            data_plane=get("data_plane", nodes.flag, True),
            nodes=get("nodes", self.parts.brokers, NO_NODES),
        )

    def _switched(self, scenario: Scenario, node: Node) -> Scenario:
        name = self.parts.nodes.text(node, "protocol")
        if name not in PROTOCOLS:
            self.parts.nodes.fail(
                node,
                "protocol",
                f"got {name!r}{nearest(name, PROTOCOLS)} (expected one of {', '.join(PROTOCOLS)})",
            )
        for path, spot in self.parts.spots.items():
            if path and path[0] in {"members", "configs"} and path[-1] in PROTOCOL_KEYS:
                self.parts.nodes.fail(
                    spot, "", f"protocol: {name} sets {path[-1]} for every member; expected one of the two"
                )
        return with_protocol(scenario, name)

    def _check(self, scenario: Scenario, entries: yaml_nodes.Entries) -> None:
        for index, action in enumerate(scenario.actions):
            if action.at_ms > scenario.end_ms:
                message = (
                    f"{action.do} is at {action.at_ms} ms; expected at most the end, {scenario.end_ms} ms"
                )
                self.parts.nodes.fail(
                    self.parts.spots["actions", index, "at"], f"actions[{index}].at", message
                )
        try:
            check(scenario, self.own)
        except BadScenario as error:
            raise ScenarioError(f"{self._line(error.path)}: {error}") from error
        except (RefusedConfig, UnknownConfig) as error:
            raise ConfigError(f"{self._line(error.path, error.keys)}: {error}") from error
        self._foreseen(scenario, entries)

    def _foreseen(self, scenario: Scenario, entries: yaml_nodes.Entries) -> None:
        expected = self.parts.nodes.names(entries["expect"][1], "expect") if "expect" in entries else ()
        for name in expected:
            if name not in ERRORS:
                self.parts.nodes.fail(
                    entries["expect"][1],
                    "expect",
                    f"got {name!r}{nearest(name, ERRORS)} (expected of {', '.join(ERRORS)})",
                )
        for refusal in foresee(scenario, self.own):
            if refusal.error not in expected:
                spec = scenario.members[refusal.member]
                line = self._line(("members", refusal.member, "configs"), (refusal.key,))
                raise ConfigError(
                    f"{line}: {scenario.name}: member {spec.name}: {refusal.message} ({refusal.error}): got {refusal.got}. "
                    f"Where that is what the scenario shows, say expect: [{refusal.error}]"
                )

    def _line(self, path: Path, keys: tuple[str, ...] = ()) -> str:
        """File and line of the nearest thing that stands in the file."""
        candidates: list[Path] = [
            *((*path, key) for key in keys),
            *(("configs", key) for key in keys),
            *(("broker", key) for key in keys if path == ("broker",)),
        ]
        candidates += [path[:length] for length in range(len(path), -1, -1)]
        node = next(self.parts.spots[candidate] for candidate in candidates if candidate in self.parts.spots)
        return f"{self.where}:{node.start_mark.line + 1}"
