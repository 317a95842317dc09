"""An Anki deck (genanki): question on the front, key and every explanation on the back. Ids are those of the items."""

from __future__ import annotations

import io
import sqlite3
import tempfile
from collections.abc import Sequence
from functools import partial
from html import escape
from types import ModuleType, SimpleNamespace
from zlib import crc32

from rebalance_kit.model.errors import DataError, require
from rebalance_kit.model.files import WRITABLE, scratch_for
from rebalance_kit.quiz.exports.marked import inline, key_text, option_html, stem_html, whys
from rebalance_kit.quiz.items.item import Choice, Matching, Ordering, Question

MODEL = 1_602_540_117
_CSS = (
    ".card { font: 18px/1.4 sans-serif; text-align: left; } pre { font-size: 13px; white-space: pre-wrap; }"
)


def written(questions: Sequence[Question], title: str, with_key: bool) -> bytes:
    """The package; notes keep their ids, so that a later import updates them."""
    del with_key
    genanki = _genanki()
    model = genanki.Model(
        MODEL,
        "Rebalance kit",
        fields=[{"name": "Question"}, {"name": "Answer"}, {"name": "Source"}],
        css=_CSS,
        templates=[
            {
                "name": "Card",
                "qfmt": "{{Question}}",
                "afmt": "{{FrontSide}}<hr id=answer>{{Answer}}<p><small>{{Source}}</small></p>",
            }
        ],
    )
    deck = genanki.Deck(crc32(title.encode()) + 2_000_000_000, title)
    for question in questions:
        tags = [tag.replace(" ", "_") for tag in (*question.head.tags, *question.head.domains)]
        fields = [_front(question), _back(question), escape(", ".join(question.head.source))]
        deck.add_note(genanki.Note(model=model, fields=fields, guid=question.head.id, tags=tags))
    with scratch_for("anki") as folder:
        path = folder / "deck.apkg"
        # What genanki packs lies where it goes with this process, killed or not.
        genanki.package.tempfile = SimpleNamespace(mkstemp=partial(tempfile.mkstemp, dir=folder))
        try:
            genanki.Package(deck).write_to_file(str(path), timestamp=1_750_000_000.0)
        except sqlite3.OperationalError as error:
            raise DataError(f"{folder}: cannot be written to ({error}); expected {WRITABLE}") from error
        return io.BytesIO(path.read_bytes()).getvalue()


def _genanki() -> ModuleType:
    require("genanki")
    import genanki

    return genanki


def _front(question: Question) -> str:
    front = stem_html(question)
    if isinstance(question, Choice):
        return (
            front
            + "<ul>"
            + "".join(
                f"<li>{option.id}) {option_html(option.text, option.picture, question.kind)}</li>"
                for option in question.options
            )
            + "</ul>"
        )
    if isinstance(question, Matching):
        front += "<ol>" + "".join(f"<li>{inline(prompt.text)}</li>" for prompt in question.prompts) + "</ol>"
        return (
            front
            + "<ul>"
            + "".join(f"<li>{letter}) {inline(text)}</li>" for letter, text in question.options)
            + "</ul>"
        )
    if isinstance(question, Ordering):
        return (
            front
            + "<ul>"
            + "".join(
                f"<li>{step.id}) {inline(step.text)}</li>"
                for step in sorted(question.steps, key=lambda each: each.id)
            )
            + "</ul>"
        )
    return front


def _back(question: Question) -> str:
    reasons = "".join(f"<li>{inline(what)}: {inline(why)}</li>" for what, why in whys(question))
    return f"<p><b>{inline(key_text(question))}</b></p><ul>{reasons}</ul>"
