"""Every kind of question goes through every format that can hold it and comes back with its words and its key.

Readers: Anki's own tables, pygiftparser, a reader of Moodle XML for multichoice; numerical, shortanswer and matching are read
at the places where Moodle's importer looks (question/format/xml/format.php); QTI by its elements.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from html import escape, unescape
from xml.etree import ElementTree as ET

import pytest
from pygiftparser import parser as gift_parser

from rebalance_kit.quiz.exports import export
from rebalance_kit.quiz.exports.marked import as_matching
from rebalance_kit.quiz.items.item import Choice, Matching, Numeric, Option, Ordering, Question, Short
from rebalance_kit.quiz.sittings.page import picture_lines
from rebalance_kit.quiz.sittings.practice import pick_questions

QTI = {"q": "http://www.imsglobal.org/xsd/imsqti_v2p1"}


@pytest.fixture(scope="module")
def questions() -> tuple[Question, ...]:
    found = tuple(pick_questions(seed=5))
    assert {type(question) for question in found} == {Choice, Numeric, Short, Matching, Ordering}
    return found


def words(text: str) -> str:
    """Text without markup, marks of code and differences of white space."""
    return bare(unescape(re.sub(r"<[^>]+>", " ", text.replace("\\n", "\n"))))


def key_of(question: Question) -> object:
    """What must come back: the right options, the number with its tolerance, the words, the pairs."""
    if isinstance(question, Ordering):
        question = as_matching(question)
    if isinstance(question, Matching):
        texts = dict(question.options)
        return {bare(prompt.text): bare(texts[prompt.key]) for prompt in question.prompts}
    if isinstance(question, Choice):
        return [option_words(option) for option in question.options if option.right]
    if isinstance(question, Numeric):
        return (round(question.key, 4), round(question.tolerance, 4))
    return [bare(text) for text in question.accept]


def option_words(option: Option) -> str:
    """An option's words; a picture's are its rows."""
    rows = "" if option.picture is None else "".join(picture_lines(option.picture))
    return bare(option.text + rows)


def bare(text: str) -> str:
    """Plain text without marks of code and white space."""
    return re.sub(r"[`\s]+", "", text)


def stems_of(question: Question) -> tuple[str, ...]:
    """What a reader must find of the stem: its words, and the exhibit's."""
    exhibit = (bare(str(question.head.exhibit)),) if question.head.exhibit else ()
    return (bare(question.head.stem), *exhibit)


def the_same(asked: Question, stem: str, key: object) -> None:
    """The words of a stem and a key that came back are those of the question."""
    for part in stems_of(asked):
        assert part in words(stem), asked.head.id
    assert key == key_of(asked), asked.head.id


def test_moodle_xml_gives_back_every_stem_and_key(questions):
    quiz = ET.fromstring(export(questions, "moodle"))  # noqa: S314 - our own export
    read = {element.findtext("name/text"): element for element in quiz if element.get("type") != "category"}
    assert set(read) == {question.head.id for question in questions}
    for asked in questions:
        element = read[asked.head.id]
        answers = [
            (element_text(answer), float(answer.get("fraction"))) for answer in element.findall("answer")
        ]
        right = [words(text) for text, share in answers if share > 0]
        key: object = right
        if element.get("type") == "numerical":
            (only,) = [answer for answer in element.findall("answer") if answer.get("fraction") == "100"]
            key = (round(float(element_text(only)), 4), round(float(only.findtext("tolerance")), 4))
        elif element.get("type") == "matching":
            pairs = [
                (words(element_text(sub)), words(sub.findtext("answer/text")))
                for sub in element.findall("subquestion")
            ]
            key = {prompt: option for prompt, option in pairs if prompt}
            offered = (as_matching(asked) if isinstance(asked, Ordering) else asked).options
            assert {option for _, option in pairs} == {bare(text) for _, text in offered}
        the_same(asked, element.findtext("questiontext/text"), key)


def element_text(element: ET.Element) -> str:
    return element.findtext("text") or ""


def unescaped(text: str) -> str:
    """GIFT's signs as Moodle reads them; pygiftparser leaves some of them escaped."""
    return re.sub(r"\\([\\~=#{}:])", r"\1", text)


def test_gift_gives_back_every_stem_and_key(questions):
    found = gift_parser.parseFile(io.StringIO(export(questions, "gift").decode()))
    read = {unescaped(question.title): question for question in found}
    for asked in questions:
        question = read[asked.head.id]
        answers = question.answers
        if isinstance(asked, (Matching, Ordering)):
            key: object = {
                words(unescaped(pair.question)): words(unescaped(pair.answer))
                for pair in answers.answers
                if words(pair.question)
            }
        elif isinstance(asked, Numeric):
            best = answers.answers[0]
            key = (round(float(best.value), 4), round(float(best.tolerance), 4))
        else:
            key = [words(unescaped(answer.answer)) for answer in answers.answers if answer.fraction > 0]
        the_same(asked, unescaped(question.text), key)


def test_qti_gives_back_every_stem_and_key(questions):
    with zipfile.ZipFile(io.BytesIO(export(questions, "qti"))) as package:
        items = [
            ET.fromstring(package.read(name))  # noqa: S314 - our own export
            for name in sorted(package.namelist())
            if name != "imsmanifest.xml"
        ]
    read = {item.get("title"): item for item in items}
    for asked in questions:
        item = read[asked.head.id]
        texts = {
            element.get("identifier"): bare("".join(element.itertext()))
            for element in item.iter()
            if element.tag.endswith(("simpleChoice", "simpleAssociableChoice"))
        }
        right = [value.text for value in item.findall(".//q:correctResponse/q:value", QTI)]
        if isinstance(asked, Matching):
            key: object = {texts[prompt]: texts[option] for prompt, option in map(str.split, right)}
        elif isinstance(asked, Ordering):
            places = {texts[name]: str(place) for place, name in enumerate(right, start=1)}
            assert {bare(step.text): places[bare(step.text)] for step in asked.steps} == key_of(asked)
            key = places
        elif isinstance(asked, Numeric):
            tolerance = item.find(".//q:equal", QTI).get("tolerance").split()[0]
            key = (round(float(right[0]), 4), round(float(tolerance), 4))
        elif isinstance(asked, Short):
            key = [words(entry.get("mapKey")) for entry in item.findall(".//q:mapEntry", QTI)]
        else:
            key = [texts[name] for name in right]
        the_same(asked, escape("".join(item.find("q:itemBody", QTI).itertext())), key)


def test_jupyterquiz_gives_back_every_stem_and_key(questions):
    read = iter(json.loads(export(questions, "jupyterquiz")))
    for asked in questions:
        if isinstance(asked, (Matching, Ordering)):
            matching = as_matching(asked) if isinstance(asked, Ordering) else asked
            stems, pairs = "", {}
            for prompt in matching.prompts:
                entry = next(read)
                (right,) = [answer["answer"] for answer in entry["answers"] if answer["correct"]]
                stems = entry["question"]
                assert bare(prompt.text) in words(stems)
                pairs[bare(prompt.text)] = words(right)
            the_same(asked, stems, pairs)
            continue
        entry = next(read)
        right_ones = [answer for answer in entry["answers"] if answer.get("correct")]
        if isinstance(asked, Numeric):
            low, high = right_ones[0].get("range") or [right_ones[0]["value"]] * 2
            key: object = (round((low + high) / 2, 4), round((high - low) / 2, 4))
        else:
            key = [words(answer["answer"]) for answer in right_ones]
        the_same(asked, entry["question"], key)
    assert next(read, None) is None
