"""A question as it is shown to somebody who has not answered: as plain JSON for a page, as lines for a terminal.

Nothing here tells a key. Options of a ``log`` are its lines, those of a ``picture`` rows or charts.
"""

from __future__ import annotations

import textwrap
from dataclasses import asdict, replace
from random import Random
from typing import Any

from rebalance_kit.quiz.items.item import Choice, Matching, Numeric, Ordering, Picture, Question

WIDTH = 100
COLUMNS = 64


def public(asked: Question) -> dict[str, Any]:
    """A question without its key, explanations and beliefs."""
    shown: dict[str, Any] = {
        "id": asked.head.id,
        "kind": asked.kind,
        "stem": asked.head.stem,
        "exhibit": asked.head.exhibit or "",
    }
    if isinstance(asked, Choice):
        shown |= {
            "many": asked.many,
            "options": [_option(option.id, option.text, option.picture) for option in asked.options],
        }
        return shown if asked.picture is None else {**shown, "picture": asdict(asked.picture)}
    if isinstance(asked, Numeric):
        return {**shown, "unit": asked.unit}
    if isinstance(asked, Matching):
        prompts = [{"id": prompt.id, "text": prompt.text} for prompt in asked.prompts]
        return {
            **shown,
            "prompts": prompts,
            "options": [_option(letter, text) for letter, text in asked.options],
        }
    if isinstance(asked, Ordering):
        return {
            **shown,
            "steps": sorted(
                ({"id": step.id, "text": step.text} for step in asked.steps), key=lambda one: one["id"]
            ),
        }
    return shown


def _option(letter: str, text: str, picture: Picture | None = None) -> dict[str, Any]:
    found: dict[str, Any] = {"id": letter, "text": text}
    return found if picture is None else {**found, "picture": asdict(picture)}


def question_lines(asked: Question, number: int) -> list[str]:
    """A question as lines of text, its exhibit unbroken, without its key."""
    lines = _wrapped(f"{number}. ", asked.head.stem)
    if asked.head.exhibit:
        lines += ["", *(f"    {line}" for line in str(asked.head.exhibit).rstrip().splitlines()), ""]
    if isinstance(asked, Choice):
        lines += _picture_block(asked.picture)
        for option in asked.options:
            lines += (
                [f"   {option.id}) {option.text}"]
                if asked.kind == "log"
                else _wrapped(f"   {option.id}) ", option.text)
            )
            lines += _picture_block(option.picture)
    elif isinstance(asked, Matching):
        for prompt in asked.prompts:
            lines += _wrapped(f"   {prompt.id}. ", prompt.text)
        for letter, text in asked.options:
            lines += _wrapped(f"      {letter}) ", text)
    elif isinstance(asked, Ordering):
        for step in sorted(asked.steps, key=lambda one: one.id):
            lines += _wrapped(f"   {step.id}) ", step.text)
    if not isinstance(asked, Choice) or asked.form:
        lines.append(f"   ({hint(asked)})")
    return lines


def hint(asked: Question) -> str:
    """What an answer looks like."""
    if isinstance(asked, Choice):
        one = {"log": "the number of a line", "picture": "a letter or the number of a row"}.get(
            asked.kind, "a letter"
        )
        return "letters, as in a c" if asked.many else one
    if isinstance(asked, Numeric):
        return f"a number of {asked.unit}"
    if isinstance(asked, Matching):
        return "a letter for each number, as in 1b 2a"
    return (
        f"all letters in order, as in {' '.join(sorted(asked.key))}"
        if isinstance(asked, Ordering)
        else "a word or two"
    )


def picture_lines(picture: Picture) -> list[str]:
    """A Gantt chart in characters: the last letter or digit of who reads, a dot where nobody does.

    A letter names each member; a line below says which.
    """
    members = sorted({member for row in picture.rows for _, _, member in row.spans})
    signs = dict(zip(members, "123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", strict=False))
    span = max(picture.until_ms - picture.since_ms, 1)
    wide = max(len(row.name) for row in picture.rows)
    lines = []
    for row in picture.rows:
        cells = ["."] * COLUMNS
        for first, last, member in row.spans:
            left = (first - picture.since_ms) * COLUMNS // span
            right = max(left + 1, (last - picture.since_ms) * COLUMNS // span)
            cells[left:right] = [signs.get(member, "#")] * (min(right, COLUMNS) - left)
        lines.append(f"{row.name:<{wide}} {''.join(cells)}")
    lines.append(f"{'':<{wide}} {picture.since_ms / 1000:g} s{picture.until_ms / 1000:>{COLUMNS - 6}g} s")
    lines.append(
        f"{'':<{wide}} " + ", ".join([*(f"{sign} {member}" for member, sign in signs.items()), ". nobody"])
    )
    return lines + [f"{'':<{wide}} at {at / 1000:g} s: {what}" for at, what in picture.events]


def _picture_block(picture: Picture | None) -> list[str]:
    return [] if picture is None else ["", *(f"      {line}" for line in picture_lines(picture)), ""]


def _wrapped(mark: str, text: str) -> list[str]:
    blocks = [" ".join(block.split()) for block in text.split("\n\n")]
    inner = " " * len(mark)
    found = [
        line
        for block in blocks
        for line in textwrap.wrap(
            block, WIDTH, initial_indent=inner, subsequent_indent=inner, break_on_hyphens=False
        )
    ]
    return [mark + found[0][len(mark) :], *found[1:]] if found else [mark]


def shuffled(asked: Question, seed: int) -> Question:
    """The question with its options in another order by seed; numbers, lines and rows keep theirs."""
    if not isinstance(asked, Choice) or asked.form == "log" or asked.picture is not None:
        return asked
    if all(option.text[:1].isdigit() for option in asked.options):
        return asked
    order = list(asked.options)
    Random(f"{asked.head.id}/{seed}").shuffle(order)
    letters = [option.id for option in asked.options]
    moved = tuple(replace(option, id=letter) for letter, option in zip(letters, order, strict=True))
    if asked.form == "picture":
        moved = tuple(replace(option, text=f"Picture {option.id.upper()}") for option in moved)
    proof = asked.proof
    if proof is not None:
        claims = {letter: proof.claims[option.id] for letter, option in zip(letters, order, strict=True)}
        proof = replace(proof, claims=claims)
    return replace(asked, options=moved, proof=proof)
