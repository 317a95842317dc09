"""The ``latencies`` of a scenario file, read and written: what differs from the measured ones, by name."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from rebalance_kit.simulation.kernel.latencies import MEASURED, Chance, Latencies, Spread, Uniform
from rebalance_kit.simulation.scenario.yaml_nodes import Nodes

if TYPE_CHECKING:
    from yaml.nodes import Node


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
