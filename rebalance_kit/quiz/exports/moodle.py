"""Moodle XML (https://docs.moodle.org/en/Moodle_XML_format): multichoice, numerical, shortanswer, matching."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from rebalance_kit.quiz.exports.marked import as_matching, block, clean, option_html, stem_html
from rebalance_kit.quiz.items.item import Choice, Matching, Numeric, Ordering, Question, Short


def written(questions: Sequence[Question], title: str, with_key: bool) -> bytes:
    """The questions as a category of their own."""
    del with_key
    quiz = ET.Element("quiz")
    category = ET.SubElement(quiz, "question", type="category")
    _text(ET.SubElement(category, "category"), f"$course$/{clean(title).replace('/', ' ')}")
    for asked in questions:
        quiz.append(_question(as_matching(asked) if isinstance(asked, Ordering) else asked))
    ET.indent(quiz)
    made: bytes = ET.tostring(quiz, encoding="utf-8", xml_declaration=True)
    return made + b"\n"


def _text(parent: ET.Element, text: str) -> None:
    ET.SubElement(parent, "text").text = clean(text)


def _html(parent: ET.Element, tag: str, text: str) -> None:
    _text(ET.SubElement(parent, tag, format="html"), text)


def _question(asked: Question) -> ET.Element:
    kind = {Choice: "multichoice", Numeric: "numerical", Short: "shortanswer", Matching: "matching"}[
        type(asked)
    ]
    held = ET.Element("question", type=kind)
    _text(ET.SubElement(held, "name"), asked.head.id)
    ordering = (
        "<p>Give each step its place.</p>"
        if isinstance(asked, Matching) and asked.options[0][1] == "1"
        else ""
    )
    _html(
        held,
        "questiontext",
        stem_html(asked)
        + ordering
        + (f"<p>(in {asked.unit})</p>" if isinstance(asked, Numeric) and asked.unit else ""),
    )
    _html(held, "generalfeedback", block("Source: " + ", ".join(asked.head.source)))
    ET.SubElement(held, "defaultgrade").text = "1.0"
    ET.SubElement(held, "penalty").text = "0.0"
    ET.SubElement(held, "hidden").text = "0"
    ET.SubElement(held, "idnumber").text = asked.head.id
    if isinstance(asked, Choice):
        _choice(held, asked)
    elif isinstance(asked, Numeric):
        _numeric(held, asked)
    elif isinstance(asked, Matching):
        _matching(held, asked)
    elif isinstance(asked, Short):
        ET.SubElement(held, "usecase").text = "0"
        for text in asked.accept:
            _answer(held, text, 100, asked.why, "plain_text")
        for wrong in asked.wrong:
            _answer(held, wrong.text, 0, wrong.why, "plain_text")
    tags = ET.SubElement(held, "tags")
    for tag in (*asked.head.tags, asked.head.difficulty, *asked.head.domains):
        _text(ET.SubElement(tags, "tag"), tag)
    return held


def _answer(held: ET.Element, text: str, fraction: float, why: str, form: str = "html") -> ET.Element:
    answer = ET.SubElement(held, "answer", fraction=f"{fraction:.5f}".rstrip("0").rstrip("."), format=form)
    _text(answer, text)
    _html(answer, "feedback", block(why))
    return answer


def _choice(held: ET.Element, asked: Choice) -> None:
    ET.SubElement(held, "single").text = "false" if asked.many else "true"
    ET.SubElement(held, "shuffleanswers").text = "false" if asked.form else "true"
    ET.SubElement(held, "answernumbering").text = "123" if asked.form else "abc"
    share = 100 / len(asked.key)
    for option in asked.options:
        _answer(
            held,
            option_html(option.text, option.picture, asked.kind),
            share if option.right else -share if asked.many else 0,
            option.why,
        )


def _numeric(held: ET.Element, asked: Numeric) -> None:
    ET.SubElement(
        _answer(held, f"{asked.key:g}", 100, asked.why, "plain_text"), "tolerance"
    ).text = f"{asked.tolerance:g}"
    for wrong in asked.wrong:
        ET.SubElement(
            _answer(held, f"{wrong.value:g}", 0, wrong.why, "plain_text"), "tolerance"
        ).text = f"{asked.tolerance:g}"


def _matching(held: ET.Element, asked: Matching) -> None:
    ET.SubElement(held, "shuffleanswers").text = "true"
    texts = dict(asked.options)
    used = {prompt.key for prompt in asked.prompts}
    pairs = [(option_html(prompt.text), texts[prompt.key]) for prompt in asked.prompts]
    pairs += [("", text) for letter, text in asked.options if letter not in used]
    for prompt, text in pairs:
        sub = ET.SubElement(held, "subquestion", format="html")
        _text(sub, prompt)
        _text(ET.SubElement(sub, "answer"), text)
