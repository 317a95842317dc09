"""From a YAML file to items: the schema first, then what a schema cannot say.

A broken item is reported and left out; the others of its file still work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rebalance_kit.model.errors import DataError
from rebalance_kit.model.yaml_text import Place, spell
from rebalance_kit.quiz.items.building import build
from rebalance_kit.quiz.items.document import Document, read_document
from rebalance_kit.quiz.items.item import NOTHING, Item
from rebalance_kit.quiz.items.schema import faults, item_schema
from rebalance_kit.quiz.items.semantic_errors import semantic_faults


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong in a file or an item: ``rule`` names the check that found it."""

    where: str
    rule: str
    message: str
    item: str | None = None

    def __str__(self) -> str:
        about = f" {self.item}:" if self.item else ""
        return f"{self.where}:{about} {self.message} [{self.rule}]"


@dataclass(frozen=True, slots=True)
class Context:
    """Names that items may refer to: beliefs (id to sentence) and scenarios written once for several items."""

    beliefs: Mapping[str, str] = field(default_factory=lambda: NOTHING)
    scenarios: Mapping[str, Any] = field(default_factory=lambda: NOTHING)


def read_items(path: str | Path, context: Context) -> tuple[list[Item], list[Problem]]:
    """The items of one file and what is wrong with the others; never raises for what a file holds."""
    try:
        document = read_document(path)
    except DataError as error:
        return [], [Problem(str(path), "schema", str(error).removeprefix(f"{path}:").strip())]
    value = document.value
    if not isinstance(value, dict) or set(value) != {"items"} or not isinstance(value["items"], list):
        return [], [
            Problem(f"{path}:1", "schema", "no list of items; expected a mapping whose one key is items")
        ]
    items: list[Item] = []
    problems: list[Problem] = []
    for number, raw in enumerate(value["items"]):
        place: Place = ("items", number)
        faults = [*_schema_problems(raw, document, place)]
        if not faults:
            faults = [*_sense_problems(raw, document, place, context.beliefs)]
        if faults:
            problems += faults
        else:
            items.append(build(raw, f"{document.path}:{document.line(place)}", context.scenarios))
    return items, problems


def _name(raw: Any) -> str | None:
    return str(raw["id"])[:64] if isinstance(raw, dict) and "id" in raw else None


def _schema_problems(raw: Any, document: Document, place: Place) -> Iterator[Problem]:
    schema = item_schema()
    for spot, message in faults(raw, schema["$defs"]["item"], schema, place):
        yield _problem(document, spot, "schema", message, raw)


def _problem(document: Document, spot: Place, rule: str, message: str, raw: Any) -> Problem:
    return Problem(f"{document.path}:{document.line(spot)}", rule, f"{spell(spot)}: {message}", _name(raw))


def _sense_problems(
    raw: dict[str, Any], document: Document, place: Place, known: Mapping[str, str]
) -> Iterator[Problem]:
    for spot, message in semantic_faults(raw, known):
        yield _problem(document, (*place, *spot), "schema", message, raw)
