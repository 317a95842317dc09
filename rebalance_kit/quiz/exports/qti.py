"""QTI 2.1: a content package (zip) with a manifest and an ``assessmentItem`` a question.

Choices, numbers and words become choiceInteraction and textEntryInteraction, matching matchInteraction, ordering
orderInteraction; scores follow the specification's own response-processing templates where one fits.
"""

from __future__ import annotations

import io
import zipfile
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from rebalance_kit.quiz.exports.marked import clean, option_html, stem_html
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
        for name, asked in zip(names, questions, strict=True):
            _put(package, f"{name}.xml", _item(name, asked))
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


def _item(name: str, asked: Question) -> ET.Element:
    root = ET.Element(
        "assessmentItem",
        {
            "xmlns": QTI,
            "identifier": name,
            "title": asked.head.id,
            "adaptive": "false",
            "timeDependent": "false",
        },
    )
    cardinality, base = _type(asked)
    declared = ET.SubElement(
        root, "responseDeclaration", {"identifier": "RESPONSE", "cardinality": cardinality, "baseType": base}
    )
    correct = ET.SubElement(declared, "correctResponse")
    for value in _correct(asked):
        ET.SubElement(correct, "value").text = clean(value)
    _mapping(declared, asked)
    score = ET.SubElement(
        root, "outcomeDeclaration", {"identifier": "SCORE", "cardinality": "single", "baseType": "float"}
    )
    ET.SubElement(ET.SubElement(score, "defaultValue"), "value").text = "0"
    body = ET.SubElement(root, "itemBody")
    body.extend(_parsed(f"<div>{stem_html(asked)}</div>"))
    _interaction(body, asked)
    _processing(root, asked)
    return root


def _type(asked: Question) -> tuple[str, str]:
    if isinstance(asked, Choice):
        return ("multiple" if asked.many else "single"), "identifier"
    if isinstance(asked, Matching):
        return "multiple", "directedPair"
    if isinstance(asked, Ordering):
        return "ordered", "identifier"
    return "single", "float" if isinstance(asked, Numeric) else "string"


def _correct(asked: Question) -> list[str]:
    if isinstance(asked, Choice):
        return [f"O{letter}" for letter in asked.key]
    if isinstance(asked, Matching):
        return [f"P{prompt.id} O{prompt.key}" for prompt in asked.prompts]
    if isinstance(asked, Ordering):
        return [f"O{letter}" for letter in asked.key]
    return [f"{asked.key:g}" if isinstance(asked, Numeric) else asked.key]


def _mapping(declared: ET.Element, asked: Question) -> None:
    if isinstance(asked, Short):
        mapping = ET.SubElement(declared, "mapping", {"defaultValue": "0"})
        for text in asked.accept:
            ET.SubElement(
                mapping, "mapEntry", {"mapKey": clean(text), "mappedValue": "1", "caseSensitive": "false"}
            )
    elif isinstance(asked, Matching):
        mapping = ET.SubElement(declared, "mapping", {"defaultValue": "0"})
        for prompt in asked.prompts:
            ET.SubElement(
                mapping,
                "mapEntry",
                {"mapKey": f"P{prompt.id} O{prompt.key}", "mappedValue": f"{1 / len(asked.prompts):.4f}"},
            )
    elif isinstance(asked, Choice) and asked.many:
        share = 1 / len(asked.key)
        mapping = ET.SubElement(
            declared, "mapping", {"lowerBound": "0", "upperBound": "1", "defaultValue": "0"}
        )
        for option in asked.options:
            ET.SubElement(
                mapping,
                "mapEntry",
                {"mapKey": f"O{option.id}", "mappedValue": f"{share if option.right else -share:.4f}"},
            )


def _interaction(body: ET.Element, asked: Question) -> None:
    named = {"responseIdentifier": "RESPONSE"}
    if isinstance(asked, Choice):
        held = ET.SubElement(
            body,
            "choiceInteraction",
            {**named, "shuffle": "false", "maxChoices": str(len(asked.key)) if asked.many else "1"},
        )
        for option in asked.options:
            choice = _parsed(
                f"<simpleChoice>{option_html(option.text, option.picture, asked.kind)}</simpleChoice>"
            )
            choice.set("identifier", f"O{option.id}")
            held.append(choice)
    elif isinstance(asked, Matching):
        held = ET.SubElement(
            body,
            "matchInteraction",
            {**named, "shuffle": "false", "maxAssociations": str(len(asked.prompts))},
        )
        left, right = ET.SubElement(held, "simpleMatchSet"), ET.SubElement(held, "simpleMatchSet")
        for prompt in asked.prompts:
            ET.SubElement(
                left, "simpleAssociableChoice", {"identifier": f"P{prompt.id}", "matchMax": "1"}
            ).text = clean(prompt.text)
        for letter, text in asked.options:
            ET.SubElement(
                right,
                "simpleAssociableChoice",
                {"identifier": f"O{letter}", "matchMax": str(len(asked.prompts))},
            ).text = clean(text)
    elif isinstance(asked, Ordering):
        held = ET.SubElement(body, "orderInteraction", {**named, "shuffle": "false"})
        for step in sorted(asked.steps, key=lambda one: one.id):
            ET.SubElement(held, "simpleChoice", {"identifier": f"O{step.id}"}).text = clean(step.text)
    else:
        line = ET.SubElement(body, "p")
        entry = ET.SubElement(line, "textEntryInteraction", {**named, "expectedLength": "20"})
        entry.tail = f" {asked.unit}" if isinstance(asked, Numeric) else ""


def _processing(root: ET.Element, asked: Question) -> None:
    if isinstance(asked, Numeric):
        _near(ET.SubElement(root, "responseProcessing"), asked)
        return
    mapped = isinstance(asked, (Short, Matching)) or (isinstance(asked, Choice) and asked.many)
    ET.SubElement(
        root, "responseProcessing", {"template": _TEMPLATES + ("map_response" if mapped else "match_correct")}
    )


def _near(processing: ET.Element, asked: Numeric) -> None:
    chosen = ET.SubElement(ET.SubElement(processing, "responseCondition"), "responseIf")
    equal = ET.SubElement(
        chosen,
        "equal",
        {"toleranceMode": "absolute", "tolerance": f"{asked.tolerance:g} {asked.tolerance:g}"},
    )
    ET.SubElement(equal, "variable", {"identifier": "RESPONSE"})
    ET.SubElement(equal, "correct", {"identifier": "RESPONSE"})
    value = ET.SubElement(chosen, "setOutcomeValue", {"identifier": "SCORE"})
    ET.SubElement(value, "baseValue", {"baseType": "float"}).text = "1"
