"""The bank: every item of a set of files, and the beliefs they may name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.item import Item
from rebalance_kit.quiz.items.reading import Context, Problem, read_document, read_items

_TICKET = re.compile(r"t\d+")
"""Tags of single tickets, which mean nothing to a learner."""
BELIEFS = "misconceptions.yaml"
SCENARIOS = "scenarios.yaml"
_HERE = Path(__file__).resolve().parent
_HOMES = (_HERE.parent / "bank", _HERE.parents[2] / "exercises" / "quiz")
"""Where the kit's own items are: inside an installed package, or in a checkout."""


@dataclass(frozen=True, slots=True)
class Bank:
    """Items in the order of their files, what is wrong with the rest, and the beliefs by id."""

    items: tuple[Item, ...]
    problems: tuple[Problem, ...]
    beliefs: Mapping[str, str]

    def tagged(self, tag: str) -> tuple[Item, ...]:
        """Items with that tag; raises ``DataError`` naming the tags there are."""
        items = tuple(item for item in self.items if tag in item.head.tags)
        if not items:
            known = sorted(
                {each for item in self.items for each in item.head.tags if not _TICKET.fullmatch(each)}
            )
            raise DataError(
                f"no item has the tag {tag!r}; expected one of {', '.join(known) or 'none: the bank is empty'}"
            )
        return items

    def item(self, name: str) -> Item:
        """The item with that id; raises ``DataError``."""
        for item in self.items:
            if item.head.id == name:
                return item
        raise DataError(f"no item has the id {name!r}; expected one of the {len(self.items)} ids of the bank")


def home() -> Path:
    """The folder of the kit's own items; raises ``DataError`` where there is none."""
    for folder in _HOMES:
        if (folder / BELIEFS).is_file():
            return folder
    raise DataError(
        f"the kit's items are missing; expected {BELIEFS} and item files in one of {', '.join(map(str, _HOMES))}"
    )


def read_bank(paths: Iterable[str | Path] | None = None) -> Bank:
    """Read item files, folders of them, or (by default) the kit's own bank.

    A path that does not exist raises ``DataError``; what is wrong inside a file becomes a ``Problem``.
    The second item of an id is a problem and left out.
    """
    if paths is None:
        return _read_once(
            tuple((file, file.stat().st_mtime_ns, file.stat().st_size) for file in _files(home()))
        )
    return _read([file for path in paths for file in _files(Path(path))])


@lru_cache(maxsize=1)
def _read_once(stamps: tuple[tuple[Path, int, int], ...]) -> Bank:
    """The kit's own bank, read again only when a file has changed."""
    return _read([file for file, _, _ in stamps])


def _read(files: list[Path]) -> Bank:
    context = _context(files)
    items: dict[str, Item] = {}
    problems: list[Problem] = []
    for file in files:
        if file.name in {BELIEFS, SCENARIOS}:
            continue
        fresh, wrong = read_items(file, context)
        problems += wrong
        for item in fresh:
            first = items.setdefault(item.head.id, item)
            if first is not item:
                problems.append(
                    Problem(
                        item.head.where,
                        "duplicate",
                        f"id: given before at {first.head.where}, expected another",
                        item.head.id,
                    )
                )
    return Bank(tuple(items.values()), tuple(problems), context.beliefs)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        return sorted(file for pattern in ("*.yaml", "*.yml") for file in path.rglob(pattern))
    if not path.exists():
        raise DataError(f"{path}: does not exist; expected an item file or a folder of them")
    return [path]


def _context(files: Iterable[Path]) -> Context:
    """The kit's beliefs and scenarios, and those that lie beside other item files."""
    beliefs: dict[str, str] = {}
    scenarios: dict[str, Any] = {}
    for file in [home() / BELIEFS, home() / SCENARIOS, *files]:
        if file.name in {BELIEFS, SCENARIOS}:
            stat = file.stat()
            read, into = (_beliefs_of, beliefs) if file.name == BELIEFS else (_scenarios_of, scenarios)
            into |= read(file, stat.st_mtime_ns, stat.st_size)
    return Context(beliefs, scenarios)


@lru_cache(maxsize=4)
def _beliefs_of(file: Path, _changed_ns: int, _size: int) -> dict[str, str]:
    return read_beliefs(file)


@lru_cache(maxsize=4)
def _scenarios_of(file: Path, _changed_ns: int, _size: int) -> dict[str, Any]:
    """Scenarios by name, read again only when the file has changed."""
    return _mapping(file, dict, "names to scenarios")


def read_beliefs(path: str | Path) -> dict[str, str]:
    """Misconception ids with one sentence each; raises ``DataError`` naming file and line."""
    return _mapping(path, str, "ids to one sentence each")


def _mapping(path: str | Path, kind: type, what: str) -> dict[str, Any]:
    value = read_document(path).value
    if not isinstance(value, dict) or not all(
        isinstance(key, str) and isinstance(entry, kind) for key, entry in value.items()
    ):
        raise DataError(f"{path}:1: expected a mapping of {what}")
    return dict(value)
