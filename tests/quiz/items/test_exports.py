"""Every format is opened again by a reader of that format, and holds all questions with their keys."""

from __future__ import annotations

import csv
import gzip
import io
import json
import sqlite3
import zipfile
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import qti_convert
from pygiftparser import parser as gift_parser

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.exports import FORMATS, export, run_items_export
from rebalance_kit.quiz.exports.marked import as_matching, key_text
from rebalance_kit.quiz.items.bank import read_bank
from rebalance_kit.quiz.items.item import Choice, Matching, Numeric, Ordering, Question, Short
from rebalance_kit.quiz.items.schema import draft, run_items_new
from rebalance_kit.quiz.sittings.practice import pick_questions

HOSTILE = "<script>alert(1)</script> {x} ~ = # : \\ `</code>` \u0000 & ]]>"
# The shares of a grade that Moodle's importer accepts (question/engine/bank.php).
MOODLE_FRACTIONS = {
    100,
    90,
    83.33333,
    80,
    75,
    70,
    66.66667,
    60,
    50,
    40,
    33.33333,
    30,
    25,
    20,
    16.66667,
    14.28571,
    12.5,
    11.11111,
    10,
    5,
    0,
}


def xml(text: str | bytes) -> ET.Element:
    return ET.fromstring(text)  # noqa: S314 - our own export


@pytest.fixture(scope="module")
def questions() -> tuple[Question, ...]:
    found = pick_questions(seed=2)
    assert {type(one) for one in found} == {Choice, Numeric, Short, Matching, Ordering}
    return found


@pytest.fixture
def hostile(single) -> Choice:
    from dataclasses import replace

    options = tuple(
        replace(option, text=f"{option.text} {HOSTILE}", why=f"{option.why} {HOSTILE}")
        for option in single.options
    )
    return replace(
        single, head=replace(single.head, stem=f"{HOSTILE}\n\n{HOSTILE}", exhibit=HOSTILE), options=options
    )


def test_anki_holds_a_note_a_question_and_the_key_is_on_the_back_alone(questions, tmp_path):
    with zipfile.ZipFile(io.BytesIO(export(questions, "anki"))) as package:
        package.extract("collection.anki2", tmp_path)
    connection = sqlite3.connect(tmp_path / "collection.anki2")
    notes = dict(connection.execute("SELECT guid, flds FROM notes"))
    assert len(notes) == len(questions) == connection.execute("SELECT count(*) FROM cards").fetchone()[0]
    front, back, _ = notes["eager-crash-which-unread"].split("\x1f")
    assert (
        "go unread from the crash on" in back
        and "go unread from the crash on" not in front
        and "b) All four" in front
    )


def test_moodle_xml_has_what_moodles_importer_asks_of_each_type(questions):
    root = xml(export(questions, "moodle"))
    found = root.findall("question")
    assert root.tag == "quiz" and found[0].get("type") == "category" and len(found) == len(questions) + 1
    for one in found[1:]:
        assert (
            one.findtext("name/text")
            and one.findtext("questiontext/text")
            and one.find("questiontext").get("format") == "html"
        )
        fractions = [float(answer.get("fraction")) for answer in one.findall("answer")]
        assert all(any(abs(abs(share) - known) < 1e-4 for known in MOODLE_FRACTIONS) for share in fractions)
        kind = one.get("type")
        if kind == "multichoice":
            assert one.findtext("single") in {"true", "false"} and sum(
                share for share in fractions if share > 0
            ) == pytest.approx(100, abs=1e-3)
        elif kind == "matching":
            assert sum(bool(sub.findtext("text")) for sub in one.findall("subquestion")) >= 2
            assert all(sub.findtext("answer/text") for sub in one.findall("subquestion"))
        else:
            assert kind in {"numerical", "shortanswer"} and 100 in fractions
            assert kind == "shortanswer" or all(
                float(answer.findtext("tolerance")) >= 0 for answer in one.findall("answer")
            )


def test_a_reader_of_moodle_xml_finds_every_question_with_options_and_the_key_that_it_has_here(questions):
    parser = pytest.importorskip(
        "moodle_xml_parser.parser", reason="the test extra is not installed: no reader of Moodle XML"
    )
    read = {one.name: one for one in parser.parse_bytes(export(questions, "moodle"))["multichoice"]}
    asked = {one.head.id: one for one in questions if isinstance(one, Choice)}
    assert set(read) == set(asked)
    for name, one in asked.items():
        found = read[name]
        assert found.single is not one.many and len(found.options) == len(one.options)
        right = [place for place, option in enumerate(found.options) if option.score_fraction > 0]
        assert right == [place for place, option in enumerate(one.options) if option.right]
        assert all(option.feedback for option in found.options)


def test_gift_is_valid_for_a_gift_parser(questions):
    found = gift_parser.parseFile(io.StringIO(export(questions, "gift").decode()))
    assert len(found) == len(questions)
    assert [one.title for one in found if not one.valid] == []
    assert {type(one.answers).__name__ for one in found} == {
        "SelectSet",
        "MultipleChoicesSet",
        "NumericAnswerSet",
        "MatchingSet",
    }


def test_qti_items_are_read_by_a_qti_converter_and_declare_the_right_response(questions):
    with zipfile.ZipFile(io.BytesIO(export(questions, "qti"))) as package:
        manifest = xml(package.read("imsmanifest.xml"))
        files = [one.get("href") for one in manifest.iter("{http://www.imsglobal.org/xsd/imscp_v1p1}file")]
        assert sorted(files) == sorted(set(package.namelist()) - {"imsmanifest.xml"}) and len(files) == len(
            questions
        )
        for name, asked in zip(files, questions, strict=True):
            text = package.read(name).decode()
            upgraded = xml(qti_convert.upgrade_item(text).encode())
            assert upgraded.tag.endswith("qti-assessment-item")
            item = xml(text)
            space = {"q": "http://www.imsglobal.org/xsd/imsqti_v2p1"}
            right = [
                one.text for one in item.findall("q:responseDeclaration/q:correctResponse/q:value", space)
            ]
            offered = {one.get("identifier") for one in item.iter() if one.get("identifier")}
            if isinstance(asked, (Choice, Ordering)):
                assert right == [f"O{letter}" for letter in asked.key] and set(right) <= offered
            elif isinstance(asked, Matching):
                assert all(set(pair.split()) <= offered for pair in right)
            else:
                assert right == [f"{asked.key:g}" if isinstance(asked, Numeric) else asked.key]


def scored(item, given):
    """What a reader of QTI 1.2 makes of an answer: the set of chosen letters, or the word."""

    def holds(node):
        kind = node.tag.rpartition("}")[2]
        if kind == "varequal":
            return node.text in given
        if kind == "not":
            return not holds(node[0])
        return all(map(holds, node)) if kind == "and" else kind == "other"

    total = 0
    for condition in item.iter(f"{CARTRIDGE}respcondition"):
        if any(map(holds, condition.find(f"{CARTRIDGE}conditionvar"))):
            total = int(condition.findtext(f"{CARTRIDGE}setvar", str(total)))
            if condition.get("continue") == "No":
                break
    return total


CARTRIDGE = "{http://www.imsglobal.org/xsd/ims_qtiasiv1p2}"


def test_a_common_cartridge_scores_the_key_alone(questions):
    with zipfile.ZipFile(io.BytesIO(export(questions, "cartridge"))) as package:
        assert package.namelist() == ["imsmanifest.xml", "assessment/assessment.xml"]
        assert b"imsqti_xmlv1p2/imscc_xmlv1p1/assessment" in package.read("imsmanifest.xml")
        items = list(xml(package.read("assessment/assessment.xml")).iter(f"{CARTRIDGE}item"))
    wanted = []
    for asked in questions:
        if isinstance(asked, Choice):
            wanted.append(
                (set(asked.key), "cc.multiple_response.v0p1" if asked.many else "cc.multiple_choice.v0p1")
            )
        elif isinstance(asked, (Matching, Ordering)):
            paired = asked if isinstance(asked, Matching) else as_matching(asked)
            wanted += [({prompt.key}, "cc.multiple_choice.v0p1") for prompt in paired.prompts]
        else:
            wanted.append(({f"{asked.key:g}" if isinstance(asked, Numeric) else asked.key}, "cc.fib.v0p1"))
    assert len(items) == len(wanted) > len(questions)
    for item, (key, profile) in zip(items, wanted, strict=True):
        assert item.findtext(f".//{CARTRIDGE}fieldentry") == profile
        letters = {one.get("ident") for one in item.iter(f"{CARTRIDGE}response_label")}
        assert scored(item, key) == 100 and scored(item, letters - key) == 0
        assert scored(item, {*key, *list(letters - key)[:1]}) == (100 if len(key) == 1 else 0)


def test_jupyterquiz_gets_the_types_it_knows(questions):
    found = json.loads(export(questions, "jupyterquiz"))
    assert {one["type"] for one in found} == {"multiple_choice", "many_choice", "numeric", "string"}
    for one in found:
        right = [answer for answer in one["answers"] if answer.get("correct")]
        assert right and (one["type"] != "multiple_choice" or len(right) == 1)
    assert len(found) >= len(questions)


def test_csv_has_a_row_a_question_and_no_cell_is_a_formula(questions):
    rows = list(csv.DictReader(io.StringIO(export(questions, "csv").decode(), newline="")))
    assert [row["id"] for row in rows] == [one.head.id for one in questions]
    assert all(row["key"].lstrip("'") == key_text(one) for row, one in zip(rows, questions, strict=True))
    assert not any(cell[:1] in "=+-@" for row in rows for cell in row.values() if cell)


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)


def test_a_paper_to_hand_out_has_no_key_and_one_with_key_explains_all(questions, single):
    without, with_key = (export([single], "html", with_key=key).decode() for key in (False, True))
    assert single.options[1].why not in without and "Key" not in without
    assert single.options[1].why in with_key and with_key.startswith(
        without.split("</body>", maxsplit=1)[0].rstrip()
    )
    reader = Reader()
    reader.feed(export(questions, "html").decode())
    assert reader.tags.count("section") == 2 * len(questions) and not {"script", "img", "link"} & set(
        reader.tags
    )


@pytest.mark.parametrize("form", ["moodle", "gift", "qti", "cartridge", "html", "csv", "anki", "jupyterquiz"])
def test_markup_and_signs_in_an_item_are_text_in_every_format(hostile, form):
    made = export([hostile, hostile], form)
    if form in {"qti", "cartridge"}:
        with zipfile.ZipFile(io.BytesIO(made)) as package:
            made = b"".join(package.read(name) for name in package.namelist())
            assert all(xml(package.read(name)) is not None for name in package.namelist())
    elif form == "moodle":
        assert len(xml(made).findall("question")) == 3
    elif form == "gift":
        assert [one.valid for one in gift_parser.parseFile(io.StringIO(made.decode()))] == [True, True]
    if form not in {"csv", "anki"}:  # a spreadsheet shows text; an Anki package is packed
        assert b"<script>" not in made


@pytest.mark.parametrize("form", sorted(set(FORMATS) - {"anki"}))
def test_the_same_selection_gives_the_same_file(questions, form):
    assert export(questions[:9], form) == export(questions[:9], form)


def test_an_anki_note_keeps_its_id_when_it_is_exported_again(questions, tmp_path):
    held = []
    for number in (1, 2):
        with zipfile.ZipFile(io.BytesIO(export(questions[:9], "anki"))) as package:
            package.extract("collection.anki2", tmp_path / str(number))
        held.append(
            sqlite3.connect(tmp_path / str(number) / "collection.anki2")
            .execute("SELECT id, guid, flds FROM notes ORDER BY guid")
            .fetchall()
        )
    assert held[0] == held[1] and len(held[0]) == 9


def test_a_format_that_does_not_exist_or_a_key_taken_away_is_refused(single):
    with pytest.raises(DataError, match="format 'pdf' is unknown; expected one of anki, moodle"):
        export([single], "pdf")
    with pytest.raises(DataError, match="gift without key received; expected html"):
        export([single], "gift", with_key=False)


def test_a_selection_is_written_to_a_new_file_and_never_over_another(tmp_path):
    out = io.StringIO()
    run_items_export("csv", tmp_path / "a.csv", tag="pictures", out=out)
    assert f"{len(read_bank().tagged('pictures'))} questions written" in out.getvalue()
    with pytest.raises(DataError, match="exists already"):
        run_items_export("csv", tmp_path / "a.csv", tag="pictures", out=out)
    with pytest.raises(DataError, match="cannot be written"):
        run_items_export("csv", tmp_path / "no" / "a.csv", tag="pictures", out=out)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.csv"]


# --- drafts ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "kind", ["single", "multiple", "numeric", "short", "matching", "ordering", "log", "picture", "generated"]
)
def test_a_draft_of_each_kind_is_yaml_of_that_kind(kind):
    import yaml

    (item,) = yaml.safe_load(draft(kind, "my-item"))["items"]
    assert (item["id"], item["kind"]) == ("my-item", kind)


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [
        ("essay", "my-item", "expected one of single"),
        ("single", "../x", "expected a name that is kept"),
        ("single", "a", "expected"),
    ],
)
def test_a_draft_that_cannot_be_is_refused(kind, name, expected):
    with pytest.raises(DataError, match=expected):
        draft(kind, name)


def test_a_draft_is_never_written_over_a_file(tmp_path):
    out = io.StringIO()
    assert run_items_new("single", "my-item", tmp_path / "x.yaml", out) == 0
    with pytest.raises(DataError, match="exists already"):
        run_items_new("single", "my-item", tmp_path / "x.yaml", out)


# --- QTI 2.1 against its schema -----------------------------------------------------------------
XSD = Path(__file__).parents[1] / "data" / "imsqti_v2p1.xsd.gz"
"""The final release of 2012 as 1EdTech published it; its licence (in the file) allows to pass it on as it is."""
IMPORTED = {
    "xml.xsd": (
        "http://www.w3.org/XML/1998/namespace",
        '<xs:attribute name="base"/><xs:attribute name="lang"/>',
    ),
    "XInclude.xsd": ("http://www.w3.org/2001/XInclude", '<xs:element name="include"/>'),
    "mathml2.xsd": ("http://www.w3.org/1998/Math/MathML", '<xs:element name="math"/>'),
    "apipv1p0_qtiextv2p1_v1p0.xsd": (
        "http://www.imsglobal.org/xsd/apip/apipv1p0/imsapip_qtiv1p0",
        '<xs:element name="apipAccessibility"/>',
    ),
}
"""Schemas that it imports for what no item of ours has, each cut down to the names it asks for."""


@pytest.fixture(scope="module")
def qti_schema():
    etree = pytest.importorskip(
        "lxml.etree", reason="the test extra is not installed: no reader of XML schemas"
    )

    class Imported(etree.Resolver):
        def resolve(self, url, _public, context):
            namespace, body = IMPORTED[url.rpartition("/")[2]]
            head = f'<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="{namespace}">'
            return self.resolve_string(f"{head}{body}</xs:schema>", context)

    parser = etree.XMLParser(no_network=True)
    parser.resolvers.add(Imported())
    return etree.XMLSchema(etree.fromstring(gzip.decompress(XSD.read_bytes()), parser)), etree


def test_every_item_of_a_qti_package_is_valid_by_the_schema_of_qti_2_1(questions, hostile, qti_schema):
    schema, etree = qti_schema
    with zipfile.ZipFile(io.BytesIO(export([*questions, hostile], "qti"))) as package:
        files = [name for name in package.namelist() if name != "imsmanifest.xml"]
        found = {name: etree.fromstring(package.read(name)) for name in files}
    faults = [f"{name}: {schema.error_log}" for name, item in found.items() if not schema.validate(item)]
    assert len(found) == len(questions) + 1 and faults == []
    broken = next(iter(found.values()))
    broken.find("{*}itemBody").tag = "{http://www.imsglobal.org/xsd/imsqti_v2p1}body"
    assert not schema.validate(broken)
