"""Common Cartridge 1.1: one assessment of QTI 1.2.1, which Canvas, Blackboard, Brightspace, Sakai and Moodle import.

Its profiles know choices and words to be filled in. A number is a word here; a matching or an ordering becomes a choice per prompt
or step. Reasons are the item's feedback.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from rebalance_kit.quiz.exports.marked import as_matching, clean, inline, option_html, stem_html, whys
from rebalance_kit.quiz.items.item import Choice, Matching, Numeric, Ordering, Question

QTI = "http://www.imsglobal.org/xsd/ims_qtiasiv1p2"
_PACKAGE = "http://www.imsglobal.org/xsd/imsccv1p1/imscp_v1p1"
_RESOURCE = "imsqti_xmlv1p2/imscc_xmlv1p1/assessment"
_FILE = "assessment/assessment.xml"
_EPOCH = (1980, 1, 1, 0, 0, 0)
_FORMAT, _SCORE = "text/html", "SCORE"


@dataclass(frozen=True, slots=True)
class _Asked:
    """One item of the assessment: its options as letters and HTML, or none where words are filled in."""

    name: str
    stem: str
    options: tuple[tuple[str, str], ...]
    right: tuple[str, ...]
    reasons: str
    many: bool = False


def written(questions: Sequence[Question], title: str, with_key: bool) -> bytes:
    """The cartridge; the same questions give the same bytes."""
    del with_key
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as package:
        for name, root in (("imsmanifest.xml", _manifest(title)), (_FILE, _assessment(questions, title))):
            ET.indent(root)
            text = ET.tostring(root, encoding="utf-8", xml_declaration=True)
            package.writestr(zipfile.ZipInfo(name, _EPOCH), text)
    return stream.getvalue()


def _manifest(title: str) -> ET.Element:
    root = ET.Element("manifest", {"xmlns": _PACKAGE, "identifier": "rebalance-kit"})
    metadata = ET.SubElement(root, "metadata")
    ET.SubElement(metadata, "schema").text = "IMS Common Cartridge"
    ET.SubElement(metadata, "schemaversion").text = "1.1.0"
    tree = ET.SubElement(
        ET.SubElement(root, "organizations"),
        "organization",
        {"identifier": "organization", "structure": "rooted-hierarchy"},
    )
    top = ET.SubElement(tree, "item", {"identifier": "top"})
    entry = ET.SubElement(top, "item", {"identifier": "entry", "identifierref": "assessment"})
    ET.SubElement(entry, "title").text = clean(title)
    resources = ET.SubElement(root, "resources")
    resource = ET.SubElement(resources, "resource", {"identifier": "assessment", "type": _RESOURCE})
    ET.SubElement(resource, "file", {"href": _FILE})
    return root


def _assessment(questions: Sequence[Question], title: str) -> ET.Element:
    root = ET.Element("questestinterop", {"xmlns": QTI})
    assessment = ET.SubElement(root, "assessment", {"ident": "assessment", "title": clean(title)})
    _metadata(assessment, {"cc_profile": "cc.exam.v0p1", "qmd_assessmenttype": "Examination"})
    section = ET.SubElement(assessment, "section", {"ident": "root_section"})
    for number, question in enumerate(questions, start=1):
        for asked in _asked(question):
            section.append(_item(f"item{number:03d}{asked.name}", question.head.id + asked.name, asked))
    return root


def _asked(question: Question) -> Iterator[_Asked]:
    reasons = "".join(f"<p>{inline(what)}: {inline(why)}</p>" for what, why in whys(question))
    if isinstance(question, Choice):
        options = tuple(
            (option.id, option_html(option.text, option.picture, question.kind))
            for option in question.options
        )
        yield _Asked("", stem_html(question), options, question.key, reasons, question.many)
    elif isinstance(question, (Matching, Ordering)):
        paired = as_matching(question) if isinstance(question, Ordering) else question
        options = tuple((letter, inline(text)) for letter, text in paired.options)
        for prompt in paired.prompts:
            stem = f"{stem_html(question)}<p>{inline(prompt.text)}</p>"
            yield _Asked(f"-{prompt.id}", stem, options, (prompt.key,), f"<p>{inline(prompt.why)}</p>")
    else:
        right = (f"{question.key:g}",) if isinstance(question, Numeric) else question.accept
        unit = f"<p>({inline(question.unit)})</p>" if isinstance(question, Numeric) else ""
        yield _Asked("", stem_html(question) + unit, (), right, reasons)


def _metadata(parent: ET.Element, fields: dict[str, str]) -> None:
    metadata = ET.SubElement(parent, "qtimetadata")
    for label, entry in fields.items():
        field = ET.SubElement(metadata, "qtimetadatafield")
        ET.SubElement(field, "fieldlabel").text = label
        ET.SubElement(field, "fieldentry").text = entry


def _material(parent: ET.Element, html: str) -> None:
    ET.SubElement(ET.SubElement(parent, "material"), "mattext", {"texttype": _FORMAT}).text = html


def _item(name: str, title: str, asked: _Asked) -> ET.Element:
    kind = "multiple_response" if asked.many else "multiple_choice" if asked.options else "fib"
    item = ET.Element("item", {"ident": name, "title": title})
    _metadata(ET.SubElement(item, "itemmetadata"), {"cc_profile": f"cc.{kind}.v0p1"})
    presentation = ET.SubElement(item, "presentation")
    _material(presentation, asked.stem)
    many = {"ident": "response", "rcardinality": "Multiple" if asked.many else "Single"}
    if asked.options:
        render = ET.SubElement(ET.SubElement(presentation, "response_lid", many), "render_choice")
        for letter, html in asked.options:
            _material(ET.SubElement(render, "response_label", {"ident": letter}), html)
    else:
        entry = ET.SubElement(presentation, "response_str", many)
        ET.SubElement(entry, "render_fib", {"prompt": "Dashline"})
    _processing(ET.SubElement(item, "resprocessing"), asked)
    feedback = ET.SubElement(item, "itemfeedback", {"ident": "general_fb"})
    _material(ET.SubElement(feedback, "flow_mat"), asked.reasons)
    return item


def _processing(processing: ET.Element, asked: _Asked) -> None:
    outcomes = ET.SubElement(processing, "outcomes")
    ET.SubElement(
        outcomes, "decvar", {"maxvalue": "100", "minvalue": "0", "varname": _SCORE, "vartype": "Decimal"}
    )
    told = ET.SubElement(processing, "respcondition", {"continue": "Yes"})
    ET.SubElement(ET.SubElement(told, "conditionvar"), "other")
    ET.SubElement(told, "displayfeedback", {"feedbacktype": "Response", "linkrefid": "general_fb"})
    for answers in (asked.right,) if asked.options else tuple((word,) for word in asked.right):
        condition = ET.SubElement(processing, "respcondition", {"continue": "No"})
        wanted = ET.SubElement(condition, "conditionvar")
        _conditions(wanted, asked, answers)
        ET.SubElement(condition, "setvar", {"action": "Set", "varname": _SCORE}).text = "100"


def _conditions(wanted: ET.Element, asked: _Asked, answers: Sequence[str]) -> None:
    if not asked.many:
        for answer in answers:
            case = {} if asked.options else {"case": "No"}
            ET.SubElement(wanted, "varequal", {"respident": "response", **case}).text = clean(answer)
        return
    every = ET.SubElement(wanted, "and")
    for letter, _ in asked.options:
        parent = every if letter in answers else ET.SubElement(every, "not")
        ET.SubElement(parent, "varequal", {"respident": "response"}).text = letter
