"""YAML of people we do not know: small, plain, and with the line of everything that stands in it.

Nothing is constructed from tags. Keys given twice, and files that are too large or too deep are refused, each with file, line
and what was expected. So are anchors and aliases, which no file of this kit needs, unless the rules allow them: then what
they stand for is counted, and a value inside itself is too deep.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from rebalance_kit.model.errors import DataError, RebalanceKitError
from rebalance_kit.model.files import refuse_no_file

if TYPE_CHECKING:
    from yaml.nodes import Node

_MOST_NODES = 50_000
Place = tuple[str | int, ...]
"""Where a value stands in a file: keys and list positions from the root."""


@dataclass(frozen=True, slots=True)
class YamlRules:
    """What a kind of file may be, and the error that refuses the rest; ``what`` names the kind in messages."""

    what: str = "a plain YAML file"
    most_bytes: int = 1_000_000
    most_depth: int = 24
    aliases: bool = False
    error: type[RebalanceKitError] = DataError


class Readable(Protocol):
    """A file that can be read: a path, or a resource of a package."""

    def read_bytes(self) -> bytes:
        """Return the whole of it."""


def spell(place: Place) -> str:
    """A place as a reader would write it.

    >>> spell(("items", 3, "options", 0, "why"))
    'items[3].options[0].why'
    """
    text = ""
    for part in place:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "the file"


def read_text(path: Readable, rules: YamlRules) -> str:
    """The text of a file; raises the error of ``rules`` where it cannot be read, is too large or is not UTF-8."""
    try:
        if isinstance(path, Path):
            refuse_no_file(path, rules.what, rules.error)
            if path.stat().st_size > rules.most_bytes:
                raise _too_large(str(path), path.stat().st_size, rules)
        return path.read_bytes().decode("utf-8")
    except UnicodeDecodeError as error:
        raise rules.error(f"{path}: byte {error.start} is not UTF-8; expected YAML text in UTF-8") from error
    except (OSError, ValueError) as error:
        problem = getattr(error, "strerror", None) or error
        raise rules.error(f"{path}: cannot be read ({problem}); expected {rules.what}") from error


def compose(text: str, where: str, rules: YamlRules) -> Node | None:
    """The root node of one document, None of an empty one; raises the error of ``rules`` for what they refuse."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        if (size := len(text.encode())) > rules.most_bytes:
            raise _too_large(where, size, rules)
        _refuse_events(yaml.parse(text, Loader=loader), where, rules)
        node: Node | None = yaml.compose(text, Loader=loader)
    except (yaml.YAMLError, UnicodeEncodeError) as error:
        raise _not_yaml(error, where, rules) from error
    if node is not None:
        _bounded(node, where, rules)
        for _ in nodes(node, where, rules):  # keys given twice are found on the way
            pass
    return node


def _bounded(node: Node, where: str, rules: YamlRules) -> None:
    """Refuse aliases that stand for too much (each of them may hold others), or for what they lie in."""
    if not rules.aliases:
        return
    left, waiting = _MOST_NODES, [(node, 0)]
    while waiting:
        one, depth = waiting.pop()
        left -= 1
        if depth > rules.most_depth or not left:
            raise rules.error(
                f"{where}:{_line(one)}: aliases stand for more than {_MOST_NODES} values or {rules.most_depth} levels; expected {rules.what}"
            )
        if not isinstance(one.value, str):
            children = (
                child for pair in one.value for child in (pair if isinstance(pair, tuple) else (pair,))
            )
            waiting += [(child, depth + 1) for child in children]


def nodes(node: Node, where: str, rules: YamlRules, place: Place = ()) -> Iterator[tuple[Place, int]]:
    """The line of every place at and below a node; the line of an entry is the line of its key."""
    from yaml.nodes import MappingNode, ScalarNode, SequenceNode

    yield place, _line(node)
    if isinstance(node, SequenceNode):
        for position, child in enumerate(node.value):
            yield from nodes(child, where, rules, (*place, position))
    if not isinstance(node, MappingNode):
        return
    first: dict[str, int] = {}
    for key, child in node.value:
        name = str(key.value) if isinstance(key, ScalarNode) else f"line {_line(key)}"
        if name in first:
            at = f"{spell(place)}: " if place else ""
            raise rules.error(
                f"{where}:{_line(key)}: {at}key {name!r} is given twice, first in line {first[name]}; expected it once"
            )
        first[name] = _line(key)
        for inner, line in nodes(child, where, rules, (*place, name)):
            yield inner, _line(key) if len(inner) == len(place) + 1 else line


def construct(node: Node | None, where: str, rules: YamlRules) -> Any:
    """The value of a composed node: mappings, lists, texts, numbers, truth values and dates."""
    import yaml

    try:
        return None if node is None else yaml.constructor.SafeConstructor().construct_document(node)
    except yaml.YAMLError as error:
        raise _not_yaml(error, where, rules) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:  # a tag that does not fit its value
        raise rules.error(
            f"{where}: a value cannot be read as YAML ({error}); expected plain text, numbers and lists"
        ) from error


def plain_json(text: str, rules: YamlRules) -> Any:
    """The value of a text that is an object or a list of JSON, None of any other.

    What ``rules`` refuse (a key given twice, more depth) is none either, so that the reading of YAML says what is wrong.
    """
    if text[:1] not in {"{", "["} or len(text) > rules.most_bytes:
        return None
    try:
        value = json.loads(text, object_pairs_hook=_keys_once)
    except (ValueError, RecursionError):
        return None
    return value if _depth(value, rules.most_depth) <= rules.most_depth else None


def _keys_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        raise ValueError("a key is given twice")
    return value


def _depth(value: object, most: int) -> int:
    """How deep lists and mappings lie in each other, counted to one more than ``most``."""
    if not isinstance(value, dict | list) or most < 0:
        return 0
    inner = value.values() if isinstance(value, dict) else value
    return 1 + max((_depth(each, most - 1) for each in inner), default=0)


def load_yaml(path: Readable, rules: YamlRules) -> Any:
    """The value of a file, where the lines in it are not needed; raises the error of ``rules``."""
    return construct(compose(read_text(path, rules), str(path), rules), str(path), rules)


def _refuse_events(events: Iterator[Any], where: str, rules: YamlRules) -> None:
    import yaml

    depth = 0
    for event in events:
        if not rules.aliases and (isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None)):
            raise rules.error(
                f"{where}:{_line(event)}: YAML anchors and aliases are refused; expected the value written out"
            )
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > rules.most_depth:
            raise rules.error(
                f"{where}:{_line(event)}: nested deeper than {rules.most_depth} levels; expected {rules.what}"
            )


def _too_large(where: str, size: int, rules: YamlRules) -> RebalanceKitError:
    return rules.error(f"{where}: {size} bytes; expected at most {rules.most_bytes} in {rules.what}")


def _not_yaml(error: Exception, where: str, rules: YamlRules) -> RebalanceKitError:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    problem = getattr(error, "problem", None) or str(error).splitlines()[0]
    return rules.error(f"{where}:{mark.line + 1 if mark else 1}: not YAML: {problem}; expected {rules.what}")


def _line(marked: Any) -> int:
    """The line on which a node or an event begins, counted from 1."""
    return int(marked.start_mark.line) + 1 if marked.start_mark else 1
