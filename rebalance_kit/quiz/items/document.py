"""A YAML file with the line of every value in it, so that an error can say where.

The file is loaded by PyYAML's safe loader. Anchors, aliases, keys given twice and files above
``LARGEST`` bytes are refused: nothing in an item needs them, and each is a way to hide something.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rebalance_kit.model.errors import DataError

LARGEST = 1_000_000
DEEPEST = 24
Place = tuple[str | int, ...]
"""Where a value stands in a document: keys and list positions from the root."""


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


def spell(place: Place) -> str:
    """A place as a reader would write it.

    >>> spell(("items", 3, "options", 0, "why"))
    'items[3].options[0].why'
    """
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "the file"


def read_document(path: str | Path) -> Document:
    """Load one YAML file; raises ``DataError`` naming file, line and what was expected."""
    try:
        raw = Path(path).read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror}); expected a YAML file") from error
    if len(raw) > LARGEST:
        raise DataError(f"{path}: {len(raw)} bytes; expected at most {LARGEST}")
    try:
        return parse_document(raw.decode("utf-8"), str(path))
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: byte {error.start} is not UTF-8; expected YAML text in UTF-8") from error


def parse_document(text: str, path: str = "<text>") -> Document:
    """Load YAML text; ``path`` is what messages call it."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        for event in yaml.parse(text, Loader=loader):
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None):
                line = event.start_mark.line + 1 if event.start_mark else 1
                raise DataError(
                    f"{path}:{line}: YAML anchors and aliases are refused; expected the value written out"
                )
        reader = loader(text)
        try:
            node = reader.get_single_node()
            lines = dict(_lines(node, (), path))
            value = None if node is None else reader.construct_document(node)
        finally:
            reader.dispose()
    except yaml.YAMLError as error:
        raise DataError(_yaml_message(error, path)) from error
    except ValueError as error:
        raise DataError(
            f"{path}: a value cannot be read as YAML ({error}); expected plain text, numbers and lists"
        ) from error
    return Document(path, value, lines)


def _lines(node: Any, place: Place, path: str) -> Iterator[tuple[Place, int]]:
    import yaml

    if node is None:
        return
    line = node.start_mark.line + 1
    if len(place) > DEEPEST:
        raise DataError(f"{path}:{line}: nested deeper than {DEEPEST} levels; expected a plain item")
    yield place, line
    if isinstance(node, yaml.SequenceNode):
        for position, child in enumerate(node.value):
            yield from _lines(child, (*place, position), path)
    elif isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, child in node.value:
            name = str(key.value)
            if name in seen:
                raise DataError(
                    f"{path}:{key.start_mark.line + 1}: {spell((*place, name))}: given twice; expected each key once"
                )
            seen.add(name)
            for inner, number in _lines(child, (*place, name), path):
                yield inner, key.start_mark.line + 1 if len(inner) == len(place) + 1 else number


def _yaml_message(error: Any, path: str) -> str:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    line = mark.line + 1 if mark else 1
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    return f"{path}:{line}: not YAML: {problem}; expected a mapping with the key items"
