"""What a schema cannot say of an item: keys, letters and claims that fit each other, beliefs that are known.

Every function takes the raw mapping and gives places with what is wrong there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rebalance_kit.model.errors import DataError
from rebalance_kit.model.yaml_text import Place
from rebalance_kit.quiz.proof.expressions import parse

Finding = tuple[Place, str]


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
        if not option.get("right") and "misconception" not in option:
            yield (
                ("options", index, "misconception"),
                "missing, expected the id of the belief for which this option would be right",
            )
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
    used = {prompt["key"] for prompt in raw["prompts"]}
    for index, prompt in enumerate(raw["prompts"]):
        if prompt["key"] not in ids:
            yield ("prompts", index, "key"), f"{prompt['key']!r} received, expected one of {', '.join(ids)}"
        for letter in prompt.get("beliefs", {}):
            if letter not in ids or letter == prompt["key"]:
                yield (
                    ("prompts", index, "beliefs", letter),
                    f"{letter!r} received, expected the letter of a wrong option",
                )
        used |= set(prompt.get("beliefs", {}))
    if len({prompt["key"] for prompt in raw["prompts"]}) < 2:
        yield ("prompts",), "every prompt has the same option, expected at least two different ones"
    for letter in ids:
        if letter not in used:
            yield ("options",), f"option {letter} belongs to no prompt, expected a belief that leads to it"
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
    named: list[tuple[Place, Any]] = [
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
    written: list[tuple[Place, Any]] = [
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
