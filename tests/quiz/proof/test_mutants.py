"""Fifty random items of the bank's own files with the key swapped for a wrong answer: the command finds all of them."""

from __future__ import annotations

import io
import json
import random
from copy import deepcopy

import yaml

from rebalance_kit.quiz.items.bank import BELIEFS, SCENARIOS, home
from rebalance_kit.quiz.items.check import run_items_check

MUTANTS = 50


def is_decided(raw: dict) -> bool:
    """Whether runs decide the item, or a proof of its own checks what it computes."""
    return "verify" in raw or (raw["kind"] == "generated" and "value" in str(raw.get("proof", "")))


def swap(raw: dict, dice: random.Random) -> dict:
    """The item as it would be written by somebody who takes one wrong answer for the key."""
    made = deepcopy(raw)
    kind = made["kind"]
    if kind == "generated":
        wrong = dice.choice(made["distractors"])
        made["key"]["value"], wrong["value"] = wrong["value"], made["key"]["value"]
    elif kind == "numeric":
        wrong = dice.choice(made["wrong"])
        made["key"], wrong["value"] = wrong["value"], made["key"]
    elif kind == "short":
        wrong = dice.choice(made["wrong"])
        made["accept"], wrong["text"] = [wrong["text"]], made["accept"][0]
    elif kind == "ordering":
        wrong = dice.choice(made["wrong"])
        right = [step["id"] for step in made["steps"]]
        by_id = {step["id"]: step for step in made["steps"]}
        made["steps"], wrong["order"] = [by_id[letter] for letter in wrong["order"]], right
    elif kind == "matching":
        prompt = dice.choice(made["prompts"])
        prompt.pop("beliefs", None)  # a belief about what is now the key would be a fault of its own
        prompt["key"] = dice.choice(sorted({one["key"] for one in made["prompts"]} - {prompt["key"]}))
    else:
        right = dice.choice([one for one in made["options"] if one.get("right")])
        wrong = dice.choice([one for one in made["options"] if not one.get("right")])
        wrong["right"] = right.pop("right")
        if "misconception" in wrong:
            right["misconception"] = wrong.pop("misconception")
    return made


def drawn(dice: random.Random) -> list[dict]:
    files = [file for file in sorted(home().rglob("*.yaml")) if file.name not in {BELIEFS, SCENARIOS}]
    items = [raw for file in files for raw in yaml.safe_load(file.read_text("utf-8"))["items"]]
    return dice.sample([raw for raw in items if is_decided(raw)], MUTANTS)


def found(items: list[dict], folder) -> tuple[set[str], dict]:
    """Ids that the engine contradicts, or that cannot be so at all (every prompt the same option); and the last line."""
    (folder / "items.yaml").write_text(
        yaml.safe_dump({"items": items}, allow_unicode=True, sort_keys=False), "utf-8"
    )
    out = io.StringIO()
    run_items_check([folder], as_json=True, out=out)
    *findings, summary = out.getvalue().splitlines()
    return {line.split(": ")[1] for line in findings if line.endswith(("[verify]", "[schema]"))}, json.loads(
        summary
    )


def test_the_command_finds_fifty_of_fifty_swapped_keys_and_none_in_the_same_items_as_they_stand(tmp_path):
    dice = random.Random(2026)
    sound = drawn(dice)
    mutants = [swap(raw, dice) for raw in sound]
    missed = {raw["id"] for raw in mutants} - found(mutants, tmp_path)[0]
    assert missed == set()
    said, summary = found(sound, tmp_path)
    assert said == set() and summary["items"] == summary["verified"] == MUTANTS
