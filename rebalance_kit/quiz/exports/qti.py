"""QTI 2.1: a content package (zip) with a manifest and an ``assessmentItem`` a question.

Choices, numbers and words become choiceInteraction and textEntryInteraction, matching matchInteraction, ordering
orderInteraction; scores follow the specification's own response-processing templates where one fits.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from rebalance_kit.quiz.exports.marked import clean, option_html, plain, stem_html
from rebalance_kit.quiz.items.item import Choice, Matching, Numeric, Ordering, Question, Short

QTI = "http://www.imsglobal.org/xsd/imsqti_v2p1"
_TEMPLATES = "http://www.imsglobal.org/question/qti_v2p1/rptemplates/"
_PACKAGE = "http://www.imsglobal.org/xsd/imscp_v1p1"
_EPOCH = (1980, 1, 1, 0, 0, 0)


def written(questions: Sequence[Question], title: str, with_key: bool) -> bytes:
    """The package; the same questions give the same bytes."""
    del with_key
    stream = io.BytesIO()
    names = [f"item{number:03d}" for number in range(1, len(questions) + 1)]
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as package:
        _put(package, "imsmanifest.xml", _manifest(names, title))
        for name, question in zip(names, questions, strict=True):
            _put(package, f"{name}.xml", _item(name, question))
    return stream.getvalue()


def _put(package: zipfile.ZipFile, name: str, root: ET.Element) -> None:
    ET.indent(root)
    package.writestr(zipfile.ZipInfo(name, _EPOCH), ET.tostring(root, encoding="utf-8", xml_declaration=True))


def _manifest(names: Sequence[str], title: str) -> ET.Element:
    root = ET.Element("manifest", {"xmlns": _PACKAGE, "identifier": "rebalance-kit"})
    metadata = ET.SubElement(root, "metadata")
    ET.SubElement(metadata, "schema").text = "QTIv2.1 Package"
    ET.SubElement(metadata, "schemaversion").text = "1.0.0"
    ET.SubElement(root, "organizations")
    resources = ET.SubElement(root, "resources")
    for name in names:
        resource = ET.SubElement(
            resources, "resource", {"identifier": name, "type": "imsqti_item_xmlv2p1", "href": f"{name}.xml"}
        )
        ET.SubElement(resource, "file", {"href": f"{name}.xml"})
    root.append(ET.Comment(clean(title).replace("--", "- -")))
    return root


def _parsed(html: str) -> ET.Element:
    return ET.fromstring(html)  # noqa: S314 - made by this package a moment ago


def _item(name: str, question: Question) -> ET.Element:
    root = ET.Element(
        "assessmentItem",
        {
            "xmlns": QTI,
            "identifier": name,
            "title": question.head.id,
            "adaptive": "false",
            "timeDependent": "false",
        },
    )
    cardinality, base = _type(question)
    declared = ET.SubElement(
        root, "responseDeclaration", {"identifier": "RESPONSE", "cardinality": cardinality, "baseType": base}
    )
    correct = ET.SubElement(declared, "correctResponse")
    for value in _correct(question):
        ET.SubElement(correct, "value").text = clean(value)
    _mapping(declared, question)
    score = ET.SubElement(
        root, "outcomeDeclaration", {"identifier": "SCORE", "cardinality": "single", "baseType": "float"}
    )
    ET.SubElement(ET.SubElement(score, "defaultValue"), "value").text = "0"
    body = ET.SubElement(root, "itemBody")
    body.extend(_parsed(f"<div>{stem_html(question)}</div>"))
    _interaction(body, question)
    _processing(root, question)
    return root


def _type(question: Question) -> tuple[str, str]:
    if isinstance(question, Choice):
        return ("multiple" if question.many else "single"), "identifier"
    if isinstance(question, Matching):
        return "multiple", "directedPair"
    if isinstance(question, Ordering):
        return "ordered", "identifier"
    return "single", "float" if isinstance(question, Numeric) else "string"


def _correct(question: Question) -> list[str]:
    if isinstance(question, Choice):
        return [f"O{letter}" for letter in question.key]
    if isinstance(question, Matching):
        return [f"P{prompt.id} O{prompt.key}" for prompt in question.prompts]
    if isinstance(question, Ordering):
        return [f"O{letter}" for letter in question.key]
    return [f"{question.key:g}" if isinstance(question, Numeric) else question.key]


def _mapping(declared: ET.Element, question: Question) -> None:
    if isinstance(question, Short):
        mapping = ET.SubElement(declared, "mapping", {"defaultValue": "0"})
        for text in question.accept:
            ET.SubElement(
                mapping, "mapEntry", {"mapKey": clean(text), "mappedValue": "1", "caseSensitive": "false"}
            )
    elif isinstance(question, Matching):
        mapping = ET.SubElement(declared, "mapping", {"defaultValue": "0"})
        for prompt in question.prompts:
            ET.SubElement(
                mapping,
                "mapEntry",
                {"mapKey": f"P{prompt.id} O{prompt.key}", "mappedValue": f"{1 / len(question.prompts):.4f}"},
            )
    elif isinstance(question, Choice) and question.many:
        share = 1 / len(question.key)
        mapping = ET.SubElement(
            declared, "mapping", {"lowerBound": "0", "upperBound": "1", "defaultValue": "0"}
        )
        for option in question.options:
            ET.SubElement(
                mapping,
                "mapEntry",
                {"mapKey": f"O{option.id}", "mappedValue": f"{share if option.right else -share:.4f}"},
            )


def _interaction(body: ET.Element, question: Question) -> None:
    if isinstance(question, Choice):
        _choice(body, question)
    elif isinstance(question, Matching):
        _match(body, question)
    elif isinstance(question, Ordering):
        interaction = ET.SubElement(body, "orderInteraction", {**_NAMED, "shuffle": "false"})
        for step in sorted(question.steps, key=lambda each: each.id):
            ET.SubElement(interaction, "simpleChoice", {"identifier": f"O{step.id}"}).text = plain(step.text)
    else:
        line = ET.SubElement(body, "p")
        entry = ET.SubElement(line, "textEntryInteraction", {**_NAMED, "expectedLength": "20"})
        entry.tail = f" {question.unit}" if isinstance(question, Numeric) else ""


_NAMED = {"responseIdentifier": "RESPONSE"}


def _choice(body: ET.Element, question: Choice) -> None:
    most = str(len(question.key)) if question.many else "1"
    interaction = ET.SubElement(body, "choiceInteraction", {**_NAMED, "shuffle": "false", "maxChoices": most})
    for option in question.options:
        choice = _parsed(
            f"<simpleChoice>{option_html(option.text, option.picture, question.kind)}</simpleChoice>"
        )
        choice.set("identifier", f"O{option.id}")
        interaction.append(choice)


def _match(body: ET.Element, question: Matching) -> None:
    most = str(len(question.prompts))
    interaction = ET.SubElement(
        body, "matchInteraction", {**_NAMED, "shuffle": "false", "maxAssociations": most}
    )
    prompts = [(f"P{prompt.id}", "1", prompt.text) for prompt in question.prompts]
    options = [(f"O{letter}", most, text) for letter, text in question.options]
    for choices in (prompts, options):
        side = ET.SubElement(interaction, "simpleMatchSet")
        for name, matches, text in choices:
            choice = ET.SubElement(side, "simpleAssociableChoice", {"identifier": name, "matchMax": matches})
            choice.text = plain(text)


def _processing(root: ET.Element, question: Question) -> None:
    if isinstance(question, Numeric):
        _near(ET.SubElement(root, "responseProcessing"), question)
        return
    mapped = isinstance(question, (Short, Matching)) or (isinstance(question, Choice) and question.many)
    ET.SubElement(
        root, "responseProcessing", {"template": _TEMPLATES + ("map_response" if mapped else "match_correct")}
    )


def _near(processing: ET.Element, question: Numeric) -> None:
    chosen = ET.SubElement(ET.SubElement(processing, "responseCondition"), "responseIf")
    equal = ET.SubElement(
        chosen,
        "equal",
        {"toleranceMode": "absolute", "tolerance": f"{question.tolerance:g} {question.tolerance:g}"},
    )
    ET.SubElement(equal, "variable", {"identifier": "RESPONSE"})
    ET.SubElement(equal, "correct", {"identifier": "RESPONSE"})
    value = ET.SubElement(chosen, "setOutcomeValue", {"identifier": "SCORE"})
    ET.SubElement(value, "baseValue", {"baseType": "float"}).text = "1"
