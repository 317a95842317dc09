"""From a YAML file to items: the schema first, then what a schema cannot say.

A broken item is reported and left out; the others of its file still work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.document import Document, Place, read_document, spell
from rebalance_kit.quiz.expressions import parse
from rebalance_kit.quiz.item import (
    NOTHING,
    SEEDS,
    Choice,
    Generated,
    Head,
    Item,
    Made,
    Numeric,
    Option,
    Proof,
    RunSpec,
    WrongNumber,
)
from rebalance_kit.quiz.schema import faults, item_schema


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
    """What items may refer to: beliefs (id to sentence) and scenarios written once for several items."""

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
        return [], [Problem(f"{path}:1", "schema", "no list of items; expected a mapping whose one key is items")]
    items: list[Item] = []
    problems: list[Problem] = []
    for number, raw in enumerate(value["items"]):
        place: Place = ("items", number)
        found = [*_schema_problems(raw, document, place)]
        if not found:
            found = [*_sense_problems(raw, document, place, context.beliefs)]
        if found:
            problems += found
        else:
            items.append(_item(raw, f"{document.path}:{document.line(place)}", context.scenarios))
    return items, problems


def _name(raw: Any) -> str | None:
    return str(raw["id"])[:64] if isinstance(raw, dict) and "id" in raw else None


def _schema_problems(raw: Any, document: Document, place: Place) -> Iterator[Problem]:
    schema = item_schema()
    for spot, message in faults(raw, schema["$defs"]["item"], schema, place):
        yield _problem(document, spot, "schema", message, raw)


def _problem(document: Document, spot: Place, rule: str, message: str, raw: Any) -> Problem:
    return Problem(f"{document.path}:{document.line(spot)}", rule, f"{spell(spot)}: {message}", _name(raw))


def _sense_problems(raw: dict[str, Any], document: Document, place: Place, known: Mapping[str, str]) -> Iterator[Problem]:
    for spot, message in (*_sense_of_options(raw), *_sense_of_beliefs(raw, known), *_sense_of_expressions(raw)):
        yield _problem(document, (*place, *spot), "schema", message, raw)


def _sense_of_options(raw: dict[str, Any]) -> Iterator[tuple[Place, str]]:
    if "options" not in raw:
        return
    options = raw["options"]
    ids = [option["id"] for option in options]
    if ids != sorted(set(ids)):
        yield ("options",), f"ids {', '.join(ids)} received, expected letters in order, each once"
    right = [option["id"] for option in options if option.get("right")]
    if raw["kind"] == "single" and len(right) != 1:
        yield ("options",), f"{len(right)} right options, expected exactly one in an item of kind single"
    if raw["kind"] == "multiple" and not 2 <= len(right) < len(options):
        yield ("options",), f"{len(right)} of {len(options)} right, expected at least two right ones and a wrong one in an item of kind multiple"
    for place, option in enumerate(options):
        if option.get("right") and "misconception" in option:
            yield ("options", place, "misconception"), "a right option names a misconception, expected none"
        if not option.get("right") and "misconception" not in option:
            yield ("options", place, "misconception"), "missing, expected the id of the belief for which this option would be right"
    claims = raw.get("verify", {}).get("claims")
    if claims is not None and sorted(claims) != sorted(ids):
        yield ("verify", "claims"), f"claims for {', '.join(claims)} received, expected one for each of {', '.join(ids)}"


def _sense_of_beliefs(raw: dict[str, Any], known: Mapping[str, str]) -> Iterator[tuple[Place, str]]:
    for key in ("options", "wrong", "distractors"):
        for place, held in enumerate(raw.get(key, ())):
            slug = held.get("misconception")
            if slug is not None and slug not in known:
                yield (key, place, "misconception"), f"{slug!r} is not in misconceptions.yaml, expected one of its ids"


def _sense_of_expressions(raw: dict[str, Any]) -> Iterator[tuple[Place, str]]:
    verify = raw.get("verify", {})
    written: list[tuple[Place, Any]] = [(("verify", "claims", key), held) for key, held in verify.get("claims", {}).items()]
    written += [(("verify", "value"), verify["value"])] if "value" in verify else []
    written += [(("let", key), held) for key, held in raw.get("let", {}).items()]
    written += [((key,), raw[key]) for key in ("where", "proof") if key in raw]
    if raw["kind"] == "generated":
        written.append((("key", "value"), raw["key"]["value"]))
        written += [(("distractors", place, "value"), held["value"]) for place, held in enumerate(raw["distractors"])]
    for spot, expression in written:
        try:
            if isinstance(expression, str):
                parse(expression)
        except DataError as error:
            yield spot, str(error)


# --- values --------------------------------------------------------------------------------------
def _item(raw: dict[str, Any], where: str, scenarios: Mapping[str, Any]) -> Item:
    head = Head(
        raw["id"], tuple(raw["tags"]), tuple(raw["topics"]), raw["objective"].strip(), tuple(raw["domains"]), raw["versions"],
        raw["difficulty"], raw["stem"].strip(), raw.get("exhibit"), tuple(raw["source"]), where,
    )  # fmt: skip
    if raw["kind"] == "numeric":
        wrong = tuple(WrongNumber(held["value"], held["misconception"], held["why"].strip()) for held in raw["wrong"])
        return Numeric(head, raw["key"], raw["unit"], raw["why"].strip(), wrong, raw.get("tolerance", 0.0), _proof(raw, scenarios))
    if raw["kind"] == "generated":
        return Generated(
            head, raw["form"], {key: tuple(values) for key, values in raw["draw"].items()}, _made(raw["key"]),
            tuple(_made(held) for held in raw["distractors"]), raw.get("let", NOTHING), raw.get("where"), _runs(raw.get("runs", NOTHING), scenarios),
            raw.get("proof"), raw.get("unit", ""), raw.get("tolerance", 0.0),
        )  # fmt: skip
    options = tuple(
        Option(held["id"], str(held["text"]).strip(), held["why"].strip(), bool(held.get("right")), held.get("misconception")) for held in raw["options"]
    )
    return Choice(head, options, raw["kind"] == "multiple", _proof(raw, scenarios))


def _made(raw: dict[str, Any]) -> Made:
    return Made(raw["value"], raw["why"].strip(), raw.get("text"), raw.get("misconception"))


def _proof(raw: dict[str, Any], scenarios: Mapping[str, Any]) -> Proof | None:
    verify = raw.get("verify")
    if verify is None:
        return None
    return Proof(_runs(verify["runs"], scenarios), tuple(verify.get("seeds", SEEDS)), verify.get("claims", NOTHING), verify.get("value"))


def _runs(raw: Mapping[str, Any], scenarios: Mapping[str, Any]) -> dict[str, RunSpec]:
    return {name: RunSpec(_scenario(held["scenario"], scenarios), held.get("protocol"), held.get("kafka_version")) for name, held in raw.items()}


def _scenario(named: Any, scenarios: Mapping[str, Any]) -> Any:
    """A scenario written once beside the items, by its name; any other name is one of the kit's."""
    return {"name": named, **scenarios[named]} if isinstance(named, str) and named in scenarios else named
