"""A question as it is shown to somebody who has not answered: as plain JSON for a page, as lines for a terminal.

Nothing here tells a key. Options of a ``log`` are its lines, those of a ``picture`` rows or charts.
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import asdict, replace
from functools import partial
from random import Random
from typing import Any

from rebalance_kit.quiz.items.item import Choice, GanttChart, Matching, Numeric, Ordering, Question

WIDTH = 100
COLUMNS = 64
_TABLE = re.compile(r"\S {3,}\S")


def public(question: Question) -> dict[str, Any]:
    """A question without its key, explanations and beliefs."""
    shown: dict[str, Any] = {
        "id": question.head.id,
        "kind": question.kind,
        "stem": question.head.stem,
        "exhibit": question.head.exhibit or "",
    }
    if isinstance(question, Choice):
        shown |= {
            "many": question.many,
            "choose": len(question.key) if question.many else 1,
            "options": [_option(option.id, option.text, option.picture) for option in question.options],
        }
        return shown if question.picture is None else {**shown, "picture": asdict(question.picture)}
    if isinstance(question, Numeric):
        return {**shown, "unit": question.unit}
    if isinstance(question, Matching):
        prompts = [{"id": prompt.id, "text": prompt.text} for prompt in question.prompts]
        return {
            **shown,
            "prompts": prompts,
            "options": [_option(letter, text) for letter, text in question.options],
        }
    if isinstance(question, Ordering):
        return {
            **shown,
            "steps": sorted(
                ({"id": step.id, "text": step.text} for step in question.steps), key=lambda each: each["id"]
            ),
        }
    return shown


def _option(letter: str, text: str, picture: GanttChart | None = None) -> dict[str, Any]:
    shown: dict[str, Any] = {"id": letter, "text": text}
    return shown if picture is None else {**shown, "picture": asdict(picture)}


def question_lines(question: Question, number: int, width: int | None = None) -> list[str]:
    """A question as lines of text without its key; its exhibit is unbroken, but with ``width`` lines that are no table go on below."""
    wrapped = partial(_wrapped, width=width or WIDTH)
    lines = wrapped(f"{number}. ", question.head.stem)
    if question.head.exhibit:
        shown = (f"    {line}" for line in str(question.head.exhibit).rstrip().splitlines())
        lines += [
            "",
            *(fitted(line, width) if width and not _TABLE.search(line) else line for line in shown),
            "",
        ]
    if isinstance(question, Choice):
        lines += _picture_block(question.picture)
        for option in question.options:
            lines += (
                [f"   {option.id}) {option.text}"]
                if question.kind == "log"
                else wrapped(f"   {option.id}) ", option.text)
            )
            lines += _picture_block(option.picture)
    elif isinstance(question, Matching):
        for prompt in question.prompts:
            lines += wrapped(f"   {prompt.id}. ", prompt.text)
        for letter, text in question.options:
            lines += wrapped(f"      {letter}) ", text)
    elif isinstance(question, Ordering):
        for step in sorted(question.steps, key=lambda each: each.id):
            lines += wrapped(f"   {step.id}) ", step.text)
    if not isinstance(question, Choice) or question.form or question.many:
        lines += wrapped("   (", f"{hint(question)})")
    return lines


def hint(question: Question) -> str:
    """The form of an answer, in words."""
    if isinstance(question, Choice):
        single = {"log": "the number of a line", "picture": "a letter or the number of a row"}.get(
            question.kind, "a letter"
        )
        if question.many:
            return f"{len(question.key)} letters, as in {' '.join('abcdef'[: len(question.key)])}"
        return single
    if isinstance(question, Numeric):
        return "a number of " + ("seconds" if question.unit == "s" else question.unit)
    if isinstance(question, Matching):
        return "a letter for each number, as in 1b 2a; one letter may answer several numbers"
    return (
        f"all letters in order, as in {' '.join(sorted(question.key))}"
        if isinstance(question, Ordering)
        else "a word or two"
    )


def picture_lines(picture: GanttChart) -> list[str]:
    """A Gantt chart in characters: a digit or letter for who reads, a dot where nobody does.

    A line below says which member has which sign. A gap shorter than a column is a dot as well.
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
        read_to = row.spans[0][1] if row.spans else 0
        for first, last, _ in row.spans:
            left, right = ((at - picture.since_ms) * COLUMNS // span for at in (read_to, first))
            if read_to < first and "." not in cells[left : right + 1]:
                cells[left] = "."
            read_to = max(read_to, last)
        lines.append(f"{row.name:<{wide}} {''.join(cells)}")
    lines.append(f"{'':<{wide}} {picture.since_ms / 1000:g} s{picture.until_ms / 1000:>{COLUMNS - 6}g} s")
    lines.append(
        f"{'':<{wide}} " + ", ".join([*(f"{sign} {member}" for member, sign in signs.items()), ". nobody"])
    )
    return lines + [f"{'':<{wide}} at {at / 1000:g} s: {what}" for at, what in picture.events]


def _picture_block(picture: GanttChart | None) -> list[str]:
    return [] if picture is None else ["", *(f"      {line}" for line in picture_lines(picture)), ""]


def fitted(text: str, width: int) -> str:
    """Lines that are too long go on below themselves, two places further in; words stay whole."""
    return "\n".join(
        "\n".join(
            textwrap.wrap(
                line,
                width,
                subsequent_indent=" " * (len(line) - len(line.lstrip()) + 2),
                break_on_hyphens=False,
                break_long_words=False,
            )
        )
        if len(line) > width
        else line
        for line in text.split("\n")
    )


def _wrapped(mark: str, text: str, width: int) -> list[str]:
    blocks = [" ".join(block.split()) for block in text.split("\n\n")]
    inner = " " * len(mark)
    lines = [
        line
        for block in blocks
        for line in textwrap.wrap(
            block, width, initial_indent=inner, subsequent_indent=inner, break_on_hyphens=False
        )
    ]
    return [mark + lines[0][len(mark) :], *lines[1:]] if lines else [mark]


def shuffled(question: Question, seed: int) -> Question:
    """The question with its options in another order by seed; numbers, lines and rows keep theirs."""
    if isinstance(question, Matching):
        return _other_letters(question, seed)
    if isinstance(question, Ordering):
        return _other_places(question, seed)
    if not isinstance(question, Choice) or question.form == "log" or question.picture is not None:
        return question
    if all(option.text[:1].isdigit() for option in question.options):
        return question
    order = list(question.options)
    Random(f"{question.head.id}/{seed}").shuffle(order)
    letters = [option.id for option in question.options]
    moved = tuple(replace(option, id=letter) for letter, option in zip(letters, order, strict=True))
    if question.form == "picture":
        moved = tuple(replace(option, text=f"Picture {option.id.upper()}") for option in moved)
    proof = question.proof
    if proof is not None:
        claims = {letter: proof.claims[option.id] for letter, option in zip(letters, order, strict=True)}
        proof = replace(proof, claims=claims)
    return replace(question, options=moved, proof=proof)


def _other_places(question: Ordering, seed: int) -> Ordering:
    """The steps shown at other places, never in their right order; wrong orders go with them."""
    letters = sorted(question.key)
    luck = Random(f"{question.head.id}/{seed}")
    order = letters[:]
    while order == letters:
        luck.shuffle(order)
    now = dict(zip(question.key, order, strict=True))
    proof = question.proof
    if proof is not None:
        proof = replace(proof, claims={now[step]: claim for step, claim in proof.claims.items()})
    return replace(
        question,
        steps=tuple(replace(step, id=now[step.id]) for step in question.steps),
        wrong=tuple(
            replace(wrong, order=tuple(now[step] for step in wrong.order)) for wrong in question.wrong
        ),
        proof=proof,
    )


def _other_letters(question: Matching, seed: int) -> Matching:
    """The options of pairs in another order; keys and beliefs go with their texts."""
    if all(text[:1].isdigit() for _, text in question.options):
        return question
    order = list(question.options)
    Random(f"{question.head.id}/{seed}").shuffle(order)
    letters = [letter for letter, _ in question.options]
    now = {was: letter for letter, (was, _) in zip(letters, order, strict=True)}
    prompts = tuple(
        replace(
            prompt,
            key=now[prompt.key],
            beliefs={now[letter]: belief for letter, belief in prompt.beliefs.items()},
        )
        for prompt in question.prompts
    )
    options = tuple((letter, text) for letter, (_, text) in zip(letters, order, strict=True))
    return replace(question, prompts=prompts, options=options)
