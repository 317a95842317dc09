"""A YAML file with the line of every value in it, so that an error can say where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rebalance_kit.model.yaml_text import Place, YamlRules, compose, construct, nodes, read_text

RULES = YamlRules()


@dataclass(frozen=True, slots=True)
class Document:
    """Parsed YAML: the value, and the line (from 1) of every place in it."""

    path: str
    value: Any
    lines: Mapping[Place, int]

    def line(self, place: Place) -> int:
        """The line of a place, or of the nearest thing around it that has one."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)


def read_document(path: str | Path) -> Document:
    """Load one YAML file; raises ``DataError`` naming file, line and what was expected."""
    return parse_document(read_text(Path(path), RULES), str(path))


def parse_document(text: str, path: str = "<text>") -> Document:
    """Load YAML text; ``path`` is what messages call it."""
    node = compose(text, path, RULES)
    lines = {} if node is None else dict(nodes(node, path, RULES))
    return Document(path, construct(node, path, RULES), lines)
