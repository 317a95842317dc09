"""CSV for a spreadsheet: one row per question. Cells that a spreadsheet would take for a formula begin with an apostrophe."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence

from rebalance_kit.quiz.exports.marked import key_text, stem_text, whys
from rebalance_kit.quiz.items.item import Choice, Matching, Question
from rebalance_kit.quiz.sittings.page import question_lines

COLUMNS = (
    "id",
    "kind",
    "difficulty",
    "versions",
    "domains",
    "objective",
    "question",
    "options",
    "key",
    "explanations",
    "source",
)


def written(questions: Sequence[Question], title: str, with_key: bool) -> bytes:
    """The table, with a header, in UTF-8."""
    del title, with_key
    stream = io.StringIO(newline="")
    writer = csv.writer(stream)
    writer.writerow(COLUMNS)
    for question in questions:
        head = question.head
        cells = (
            head.id,
            question.kind,
            head.difficulty,
            head.versions,
            "; ".join(head.domains),
            head.objective,
            stem_text(question),
            _options(question),
            key_text(question),
            "\n".join(f"{what}: {' '.join(why.split())}" for what, why in whys(question)),
            "; ".join(head.source),
        )
        writer.writerow([_harmless(cell) for cell in cells])
    return stream.getvalue().encode()


def _options(question: Question) -> str:
    if isinstance(question, Choice):
        return "\n".join(f"{option.id}) {option.text}" for option in question.options)
    if isinstance(question, Matching):
        return "\n".join(line.strip() for line in question_lines(question, 1)[1:])
    return ""


def _harmless(cell: str) -> str:
    return f"'{cell}" if cell[:1] in {"=", "+", "-", "@", "\t", "\r"} else cell
