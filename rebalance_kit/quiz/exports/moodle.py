"""Moodle XML (https://docs.moodle.org/en/Moodle_XML_format): multichoice, numerical, shortanswer, matching."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as ET

from rebalance_kit.quiz.exports.marked import as_matching, block, clean, option_html, plain, stem_html
from rebalance_kit.quiz.items.item import Choice, Matching, Numeric, Ordering, Question, Short


def written(questions: Sequence[Question], title: str, with_key: bool) -> bytes:
    """The questions as a category of their own."""
    del with_key
    quiz = ET.Element("quiz")
    category = ET.SubElement(quiz, "question", type="category")
    _text(ET.SubElement(category, "category"), f"$course$/{clean(title).replace('/', ' ')}")
    for question in questions:
        quiz.append(_question(as_matching(question) if isinstance(question, Ordering) else question))
    ET.indent(quiz)
    made: bytes = ET.tostring(quiz, encoding="utf-8", xml_declaration=True)
    return made + b"\n"


def _text(parent: ET.Element, text: str) -> None:
    ET.SubElement(parent, "text").text = clean(text)


def _html(parent: ET.Element, tag: str, text: str) -> None:
    _text(ET.SubElement(parent, tag, format="html"), text)


def _question(question: Question) -> ET.Element:
    kind = {Choice: "multichoice", Numeric: "numerical", Short: "shortanswer", Matching: "matching"}[
        type(question)
    ]
    element = ET.Element("question", type=kind)
    _text(ET.SubElement(element, "name"), question.head.id)
    ordering = (
        "<p>Give each step its place.</p>"
        if isinstance(question, Matching) and question.options[0][1] == "1"
        else ""
    )
    _html(
        element,
        "questiontext",
        stem_html(question)
        + ordering
        + (f"<p>(in {question.unit})</p>" if isinstance(question, Numeric) and question.unit else ""),
    )
    _html(element, "generalfeedback", block("Source: " + ", ".join(question.head.source)))
    ET.SubElement(element, "defaultgrade").text = "1.0"
    ET.SubElement(element, "penalty").text = "0.0"
    ET.SubElement(element, "hidden").text = "0"
    ET.SubElement(element, "idnumber").text = question.head.id
    if isinstance(question, Choice):
        _choice(element, question)
    elif isinstance(question, Numeric):
        _numeric(element, question)
    elif isinstance(question, Matching):
        _matching(element, question)
    elif isinstance(question, Short):
        ET.SubElement(element, "usecase").text = "0"
        for text in question.accept:
            _answer(element, text, 100, question.why, "plain_text")
        for wrong in question.wrong:
            _answer(element, wrong.text, 0, wrong.why, "plain_text")
    tags = ET.SubElement(element, "tags")
    for tag in (*question.head.tags, question.head.difficulty, *question.head.domains):
        _text(ET.SubElement(tags, "tag"), tag)
    return element


def _answer(parent: ET.Element, text: str, fraction: float, why: str, form: str = "html") -> ET.Element:
    answer = ET.SubElement(parent, "answer", fraction=f"{fraction:.5f}".rstrip("0").rstrip("."), format=form)
    _text(answer, text)
    _html(answer, "feedback", block(why))
    return answer


def _choice(element: ET.Element, question: Choice) -> None:
    ET.SubElement(element, "single").text = "false" if question.many else "true"
    ET.SubElement(element, "shuffleanswers").text = "false" if question.form else "true"
    ET.SubElement(element, "answernumbering").text = "123" if question.form else "abc"
    share = 100 / len(question.key)
    for option in question.options:
        _answer(
            element,
            option_html(option.text, option.picture, question.kind),
            share if option.right else -share if question.many else 0,
            option.why,
        )


def _numeric(element: ET.Element, question: Numeric) -> None:
    ET.SubElement(
        _answer(element, f"{question.key:g}", 100, question.why, "plain_text"), "tolerance"
    ).text = f"{question.tolerance:g}"
    for wrong in question.wrong:
        ET.SubElement(
            _answer(element, f"{wrong.value:g}", 0, wrong.why, "plain_text"), "tolerance"
        ).text = f"{question.tolerance:g}"


def _matching(element: ET.Element, question: Matching) -> None:
    ET.SubElement(element, "shuffleanswers").text = "true"
    texts = dict(question.options)
    used = {prompt.key for prompt in question.prompts}
    pairs = [(option_html(prompt.text), plain(texts[prompt.key])) for prompt in question.prompts]
    pairs += [("", plain(text)) for letter, text in question.options if letter not in used]
    for prompt, text in pairs:
        sub = ET.SubElement(element, "subquestion", format="html")
        _text(sub, prompt)
        _text(ET.SubElement(sub, "answer"), text)
