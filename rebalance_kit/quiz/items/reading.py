"""From a YAML file to items: the schema first, then what a schema cannot say.

A broken item is reported and left out; the others of its file still work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent
from types import MappingProxyType
from typing import Any

from rebalance_kit.model import yaml_text
from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.item import (
    NOTHING,
    SEEDS,
    Choice,
    Drawn,
    DrawnOption,
    Generated,
    Head,
    Item,
    Matching,
    Numeric,
    Option,
    OrderedStep,
    Ordering,
    Prompt,
    Proof,
    RunSpec,
    Short,
    Shown,
    WorkedOption,
    WrongNumber,
    WrongOrder,
    WrongText,
)
from rebalance_kit.quiz.items.schema import faults, item_schema
from rebalance_kit.quiz.proof.expressions import parse

# Builds items from checked mappings, one function per kind.


Scenarios = Mapping[str, Any]


def build(raw: Mapping[str, Any], where: str, scenarios: Scenarios) -> Item:
    """The item of a mapping that schema and sense have passed; ``where`` is file and line."""
    exhibit = raw.get("exhibit")
    head = Head(
        raw["id"],
        tuple(raw["tags"]),
        tuple(raw["topics"]),
        raw["objective"].strip(),
        tuple(raw["domains"]),
        raw["versions"],
        raw["difficulty"],
        raw["stem"].strip(),
        _shown(exhibit, scenarios) if isinstance(exhibit, dict) else dedent(exhibit or "") or None,
        tuple(raw["source"]),
        where,
        raw.get("fact", raw["id"]),
        tuple(raw.get("regardless", ())),
        raw.get("options_note", ""),
        tuple(raw.get("enemies", ())),
    )
    return _KINDS[raw["kind"]](head, raw, scenarios)


def _choice(head: Head, raw: Mapping[str, Any], scenarios: Scenarios) -> Item:
    options = tuple(
        Option(
            option["id"],
            str(option["text"]).strip(),
            option["why"].strip(),
            bool(option.get("right")),
            option.get("misconception"),
        )
        for option in raw["options"]
    )
    return Choice(head, options, raw["kind"] == "multiple", _proof(raw, scenarios))


def _numeric(head: Head, raw: Mapping[str, Any], scenarios: Scenarios) -> Item:
    wrong = tuple(
        WrongNumber(answer["value"], answer.get("misconception"), answer["why"].strip())
        for answer in raw["wrong"]
    )
    return Numeric(
        head,
        raw["key"],
        raw["unit"],
        raw["why"].strip(),
        wrong,
        raw.get("tolerance", 0.0),
        _proof(raw, scenarios),
    )


def _short(head: Head, raw: Mapping[str, Any], scenarios: Scenarios) -> Item:
    wrong = tuple(
        WrongText(answer["text"], answer.get("misconception"), answer["why"].strip())
        for answer in raw["wrong"]
    )
    return Short(head, tuple(raw["accept"]), raw["why"].strip(), wrong, _proof(raw, scenarios))


def _matching(head: Head, raw: Mapping[str, Any], scenarios: Scenarios) -> Item:
    prompts = tuple(
        Prompt(
            str(number),
            prompt["text"].strip(),
            prompt["key"],
            prompt["why"].strip(),
            prompt.get("beliefs", NOTHING),
        )
        for number, prompt in enumerate(raw["prompts"], start=1)
    )
    options = tuple((option["id"], str(option["text"]).strip()) for option in raw["options"])
    return Matching(head, prompts, options, _proof(raw, scenarios))


def _ordering(head: Head, raw: Mapping[str, Any], scenarios: Scenarios) -> Item:
    steps = tuple(OrderedStep(step["id"], step["text"].strip(), step["why"].strip()) for step in raw["steps"])
    wrong = tuple(
        WrongOrder(tuple(order["order"]), order.get("misconception"), order["why"].strip())
        for order in raw["wrong"]
    )
    return Ordering(head, steps, raw["why"].strip(), wrong, _proof(raw, scenarios))


def _drawn(head: Head, raw: Mapping[str, Any], scenarios: Scenarios) -> Item:
    marks = tuple(
        DrawnOption(
            option["id"],
            option["why"].strip(),
            option.get("match", ""),
            _shown(option["shown"], scenarios) if "shown" in option else None,
            bool(option.get("right")),
            option.get("misconception"),
        )
        for option in raw["options"]
    )
    shown = _shown(raw["picture"], scenarios) if "picture" in raw else None
    return Drawn(head, raw["kind"], marks, shown, raw.get("other", "").strip(), _proof(raw, scenarios))


def _generated(head: Head, raw: Mapping[str, Any], scenarios: Scenarios) -> Item:
    return Generated(
        head,
        raw["form"],
        {key: tuple(values) for key, values in raw["draw"].items()},
        _made(raw["key"]),
        tuple(_made(distractor) for distractor in raw["distractors"]),
        raw.get("let", NOTHING),
        raw.get("where"),
        _runs(raw.get("runs", NOTHING), scenarios),
        raw.get("proof"),
        raw.get("unit", ""),
        raw.get("tolerance", 0.0),
    )


def _made(raw: Mapping[str, Any]) -> WorkedOption:
    return WorkedOption(raw["value"], raw["why"].strip(), raw.get("text"), raw.get("misconception"))


def _shown(raw: Mapping[str, Any], scenarios: Scenarios) -> Shown:
    return Shown(
        _run(raw["run"], scenarios),
        raw["show"],
        raw.get("since"),
        raw.get("until"),
        tuple(raw.get("only", ())),
    )


def _proof(raw: Mapping[str, Any], scenarios: Scenarios) -> Proof | None:
    verify = raw.get("verify")
    if verify is None:
        return None
    claims = {str(key): claim for key, claim in verify.get("claims", NOTHING).items()}
    return Proof(
        _runs(verify["runs"], scenarios), tuple(verify.get("seeds", SEEDS)), claims, verify.get("value")
    )


def _runs(raw: Mapping[str, Any], scenarios: Scenarios) -> dict[str, RunSpec]:
    return {name: _run(run, scenarios) for name, run in raw.items()}


def _run(raw: Mapping[str, Any], scenarios: Scenarios) -> RunSpec:
    """A scenario written once beside the items, by its name; any other name is one of the kit's."""
    named = raw["scenario"]
    if isinstance(named, str) and named in scenarios:
        named = {"name": named, **scenarios[named]}
    return RunSpec(named, raw.get("protocol"), raw.get("kafka_version"))


_KINDS: Mapping[str, Callable[[Head, Mapping[str, Any], Scenarios], Item]] = MappingProxyType(
    {
        "single": _choice,
        "multiple": _choice,
        "numeric": _numeric,
        "short": _short,
        "matching": _matching,
        "ordering": _ordering,
        "log": _drawn,
        "picture": _drawn,
        "generated": _generated,
    }
)


# A YAML file with the line of every value in it, so that an error can say where.


RULES = yaml_text.YamlRules()


@dataclass(frozen=True, slots=True)
class Document:
    """Parsed YAML: the value, and the line (from 1) of every place in it."""

    path: str
    value: Any
    lines: Mapping[yaml_text.Place, int]

    def line(self, place: yaml_text.Place) -> int:
        """The line of a place, or of the nearest thing around it that has one."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 1)


def read_document(path: str | Path) -> Document:
    """Load one YAML file; raises ``DataError`` naming file, line and what was expected."""
    return parse_document(yaml_text.read_text(Path(path), RULES), str(path))


def parse_document(text: str, path: str = "<text>") -> Document:
    """Load YAML text; ``path`` is what messages call it. Plain JSON is read as such: it is faster, and knows no lines."""
    known = yaml_text.plain_json(text, RULES)
    if known is not None:
        return Document(path, known, {})
    node = yaml_text.compose(text, path, RULES)
    lines = {} if node is None else dict(yaml_text.nodes(node, path, RULES))
    return Document(path, yaml_text.construct(node, path, RULES), lines)


# What a schema cannot say of an item: keys, letters and claims that fit each other, beliefs that are known.
#
# Every function takes the raw mapping and gives places with what is wrong there.


Finding = tuple[yaml_text.Place, str]


def semantic_faults(raw: Mapping[str, Any], known: Mapping[str, str]) -> Iterator[Finding]:
    """Everything in a mapping of the right shape that makes no sense; ``known`` are the beliefs by id."""
    if raw["kind"] in {"single", "multiple", "log", "picture"}:
        yield from _of_options(raw)
    if raw["kind"] == "matching":
        yield from _of_matching(raw)
    if raw["kind"] == "ordering":
        yield from _of_ordering(raw)
    if raw["kind"] == "picture":
        yield from _of_picture(raw)
    if raw["kind"] == "log":
        yield from (
            (("options", index, "match"), "missing, expected a text of the line")
            for index, option in enumerate(raw["options"])
            if "match" not in option
        )
    yield from _of_beliefs(raw, known)
    yield from _of_expressions(raw)


def _of_options(raw: Mapping[str, Any]) -> Iterator[Finding]:
    options = raw["options"]
    ids = [option["id"] for option in options]
    if ids != sorted(set(ids)):
        yield ("options",), f"ids {', '.join(ids)} received, expected letters in order, each once"
    right = [option["id"] for option in options if option.get("right")]
    if raw["kind"] != "multiple" and len(right) != 1:
        yield (
            ("options",),
            f"{len(right)} right options, expected exactly one in an item of kind {raw['kind']}",
        )
    if raw["kind"] == "multiple" and not 2 <= len(right) < len(options):
        yield (
            ("options",),
            f"{len(right)} of {len(options)} right, expected at least two right ones and a wrong one in an item of kind multiple",
        )
    for index, option in enumerate(options):
        if option.get("right") and "misconception" in option:
            yield ("options", index, "misconception"), "a right option names a misconception, expected none"
    yield from _of_claims(raw, ids)


def _of_claims(raw: Mapping[str, Any], wanted: list[str]) -> Iterator[Finding]:
    claims = raw.get("verify", {}).get("claims")
    if claims is not None and sorted(map(str, claims)) != sorted(wanted):
        yield (
            ("verify", "claims"),
            f"claims for {', '.join(map(str, claims))} received, expected one for each of {', '.join(wanted)}",
        )


def _of_matching(raw: Mapping[str, Any]) -> Iterator[Finding]:
    ids = [option["id"] for option in raw["options"]]
    if ids != sorted(set(ids)):
        yield ("options",), f"ids {', '.join(ids)} received, expected letters in order, each once"
    for index, prompt in enumerate(raw["prompts"]):
        if prompt["key"] not in ids:
            yield ("prompts", index, "key"), f"{prompt['key']!r} received, expected one of {', '.join(ids)}"
        for letter in prompt.get("beliefs", {}):
            if letter not in ids or letter == prompt["key"]:
                yield (
                    ("prompts", index, "beliefs", letter),
                    f"{letter!r} received, expected the letter of a wrong option",
                )
    if len({prompt["key"] for prompt in raw["prompts"]}) < 2:
        yield ("prompts",), "every prompt has the same option, expected at least two different ones"
    yield from _of_claims(raw, [str(number) for number in range(1, len(raw["prompts"]) + 1)])


def _of_ordering(raw: Mapping[str, Any]) -> Iterator[Finding]:
    ids = [step["id"] for step in raw["steps"]]
    if sorted(ids) != list("abcdefgh"[: len(ids)]):
        yield ("steps",), f"ids {', '.join(ids)} received, expected the letters from a on, each once"
    if ids == sorted(ids):
        yield ("steps",), "the letters stand in the right order, expected steps to be shown in another"
    for index, wrong in enumerate(raw["wrong"]):
        if sorted(wrong["order"]) != sorted(ids) or wrong["order"] == ids:
            yield (
                ("wrong", index, "order"),
                f"{' '.join(wrong['order'])} received, expected another order of {' '.join(ids)}",
            )
    yield from _of_claims(raw, ids)


def _of_picture(raw: Mapping[str, Any]) -> Iterator[Finding]:
    for index, option in enumerate(raw["options"]):
        if ("picture" in raw) == ("shown" in option) or ("picture" in raw) != ("match" in option):
            wanted = (
                "match, the name of a row of the picture"
                if "picture" in raw
                else "shown, a picture of its own"
            )
            yield ("options", index), f"expected {wanted}"
    if "picture" in raw and "other" not in raw:
        yield ("other",), "missing, expected why the rows that are no option are wrong"


def _of_beliefs(raw: Mapping[str, Any], known: Mapping[str, str]) -> Iterator[Finding]:
    named: list[tuple[yaml_text.Place, Any]] = [
        ((key, index, "misconception"), entry.get("misconception"))
        for key in ("options", "wrong", "distractors")
        for index, entry in enumerate(raw.get(key, ()))
    ]
    for index, prompt in enumerate(raw.get("prompts", ())):
        named += [
            (("prompts", index, "beliefs", letter), slug)
            for letter, slug in prompt.get("beliefs", {}).items()
        ]
    for spot, slug in named:
        if slug is not None and slug not in known:
            yield spot, f"{slug!r} is not in misconceptions.yaml, expected one of its ids"


def _of_expressions(raw: Mapping[str, Any]) -> Iterator[Finding]:
    verify = raw.get("verify", {})
    written: list[tuple[yaml_text.Place, Any]] = [
        (("verify", "claims", str(key)), expression) for key, expression in verify.get("claims", {}).items()
    ]
    written += [(("verify", "value"), verify["value"])] if "value" in verify else []
    written += [(("let", key), expression) for key, expression in raw.get("let", {}).items()]
    written += [((key,), raw[key]) for key in ("where", "proof") if key in raw]
    pictures = [
        ("picture",),
        ("exhibit",),
        *(("options", index, "shown") for index, _ in enumerate(raw.get("options", ()))),
    ]
    for spot in pictures:
        node: Any = raw
        for part in spot:
            node = (node[part] if isinstance(part, int) else node.get(part, {})) if node else {}
        written += [
            ((*spot, key), node[key]) for key in ("since", "until") if isinstance(node, dict) and key in node
        ]
    if raw["kind"] == "generated":
        written.append((("key", "value"), raw["key"]["value"]))
        written += [
            (("distractors", index, "value"), distractor["value"])
            for index, distractor in enumerate(raw["distractors"])
        ]
    for spot, expression in written:
        try:
            if isinstance(expression, str):
                parse(expression)
        except DataError as error:
            yield spot, str(error)


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
        place: yaml_text.Place = ("items", number)
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


def _schema_problems(raw: Any, document: Document, place: yaml_text.Place) -> Iterator[Problem]:
    schema = item_schema()
    for spot, message in faults(raw, schema["$defs"]["item"], schema, place):
        yield _problem(document, spot, "schema", message, raw)


def _problem(document: Document, spot: yaml_text.Place, rule: str, message: str, raw: Any) -> Problem:
    return Problem(
        f"{document.path}:{document.line(spot)}", rule, f"{yaml_text.spell(spot)}: {message}", _name(raw)
    )


def _sense_problems(
    raw: dict[str, Any], document: Document, place: yaml_text.Place, known: Mapping[str, str]
) -> Iterator[Problem]:
    for spot, message in semantic_faults(raw, known):
        yield _problem(document, (*place, *spot), "schema", message, raw)
