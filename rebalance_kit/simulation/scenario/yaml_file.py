"""A scenario from YAML: every key checked, every refusal with file, line, key, value and what was expected.

Times are milliseconds or written with units (``12s``, ``1m30s``, ``500ms``); their keys may be written with or
without ``_ms`` (``at``, ``end_ms``). ``protocol: eager|cooperative|consumer|…`` switches all members to it.
``configs`` of the scenario are shared by all members. ``members: {count: 50, prefix: consumer-}`` makes fifty.
``expect: [ERROR]`` allows members that Kafka will refuse at once with that error.
``lesson`` is what the lab says of the kit's own scenarios; it decides nothing in a run (``rebalance_kit.view.lab.lessons``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path as FilePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from rebalance_kit.model.configs.types import RefusedConfig, UnknownConfig
from rebalance_kit.model.errors import ConfigError, ScenarioError, nearest
from rebalance_kit.model.yaml_text import read_text
from rebalance_kit.simulation.kernel.latencies import MEASURED
from rebalance_kit.simulation.learner_code.plug_ins import Supports, supports
from rebalance_kit.simulation.scenario.checks import ERRORS, BadScenario, Path, foresee
from rebalance_kit.simulation.scenario.expansion import check
from rebalance_kit.simulation.scenario.scenario import (
    NO_NODES,
    PROTOCOL_KEYS,
    PROTOCOLS,
    Scenario,
    with_protocol,
)
from rebalance_kit.simulation.scenario.yaml_keys import FILE
from rebalance_kit.simulation.scenario.yaml_nodes import RULES, Entries, compose, read_latencies
from rebalance_kit.simulation.scenario.yaml_parts import Parts
from rebalance_kit.simulation.scenario.yaml_writer import write_scenario

if TYPE_CHECKING:
    from yaml.nodes import Node

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
        return _File(name or path.name, path.stem, supports(assignors)).read(read_text(path, RULES))
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
        root = compose(text, self.where)
        entries = self.parts.mapping(root, "", tuple(FILE))
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

    def _scenario(self, entries: Entries) -> Scenario:
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
            latencies=get("latencies", partial(read_latencies, nodes), MEASURED),
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

    def _check(self, scenario: Scenario, entries: Entries) -> None:
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

    def _foreseen(self, scenario: Scenario, entries: Entries) -> None:
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
