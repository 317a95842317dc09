"""Builds items from checked mappings, one function per kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

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
        _shown(exhibit, scenarios) if isinstance(exhibit, dict) else exhibit,
        tuple(raw["source"]),
        where,
        raw.get("fact", ""),
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
        WrongNumber(answer["value"], answer["misconception"], answer["why"].strip())
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
        WrongText(answer["text"], answer["misconception"], answer["why"].strip()) for answer in raw["wrong"]
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
        WrongOrder(tuple(order["order"]), order["misconception"], order["why"].strip())
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
