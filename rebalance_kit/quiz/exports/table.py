"""CSV for a spreadsheet: a row a question. Cells that a spreadsheet would take for a formula begin with an apostrophe."""

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
    for asked in questions:
        head = asked.head
        cells = (
            head.id,
            asked.kind,
            head.difficulty,
            head.versions,
            "; ".join(head.domains),
            head.objective,
            stem_text(asked),
            _options(asked),
            key_text(asked),
            "\n".join(f"{what}: {' '.join(why.split())}" for what, why in whys(asked)),
            "; ".join(head.source),
        )
        writer.writerow([_harmless(cell) for cell in cells])
    return stream.getvalue().encode()


def _options(asked: Question) -> str:
    if isinstance(asked, Choice):
        return "\n".join(f"{option.id}) {option.text}" for option in asked.options)
    if isinstance(asked, Matching):
        return "\n".join(line.strip() for line in question_lines(asked, 1)[1:])
    return ""


def _harmless(cell: str) -> str:
    return f"'{cell}" if cell[:1] in {"=", "+", "-", "@", "\t", "\r"} else cell
