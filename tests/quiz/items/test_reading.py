from __future__ import annotations

import json

import jsonschema
import pytest
import yaml

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.bank import home, read_bank
from rebalance_kit.quiz.items.reading import parse_document, read_document
from rebalance_kit.quiz.items.schema import _CHECKS, _NOTES, SCHEMA_FILE, faults, item_schema

GOOD = """\
items:
  - id: good-item
    kind: single
    tags: [t]
    topics: [A3]
    objective: Predict what an eager member does
    domains: [CCDAK Fundamentals]
    versions: 2.4+
    difficulty: apply
    stem: Which partitions does an eager member revoke?
    options:
      - {id: a, text: all of them, right: true, why: An eager member gives up everything.}
      - {id: b, text: the moving ones, misconception: cooperative-is-default, why: That is the cooperative way.}
      - {id: c, text: none of its own, misconception: kip848-is-instant, why: It cannot join with them.}
    source: [KIP-429]
"""


@pytest.fixture
def problems(tmp_path):
    """What is wrong with a file of that text, and the ids of the items that still work."""

    def check(text):
        path = tmp_path / "items.yaml"
        path.write_text(text, encoding="utf-8")
        bank = read_bank([path])
        return [str(problem).replace(f"{tmp_path}/", "") for problem in bank.problems], [
            item.head.id for item in bank.items
        ]

    return check


def test_a_good_item_has_no_problem(problems):
    assert problems(GOOD) == ([], ["good-item"])


def test_a_wrong_option_may_show_no_belief(problems):
    found, items = problems(GOOD.replace("misconception: kip848-is-instant, ", "", 1))
    assert items == ["good-item"] and not found


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "kind: single",
            "kind: singel",
            "items.yaml:3: good-item: items[0].kind: 'singel' received, expected one of single, multiple, numeric, short, matching, ordering, picture, log, generated",
        ),
        (
            "difficulty: apply",
            "difficulty: hard",
            "items.yaml:9: good-item: items[0].difficulty: 'hard' received, expected one of recall, apply, diagnose",
        ),
        (
            "versions: 2.4+",
            "versions: all",
            "items.yaml:8: good-item: items[0].versions: 'all' received, expected text matching",
        ),
        ("    tags: [t]\n", "", "items[0].tags: missing, expected array: what a Quiz picks by"),
        (
            "tags: [t]",
            "tag: [t]",
            "items.yaml:4: good-item: items[0].tag: unknown key, expected one of id, kind, tags",
        ),
        ("right: true, ", "", "0 right options, expected exactly one"),
        ("kip848-is-instant", "kip848-is-magic", "'kip848-is-magic' is not in misconceptions.yaml"),
        (
            ", why: That is the cooperative way.",
            "",
            "items.yaml:13: good-item: items[0].options[1].why: missing, expected string",
        ),
        ("id: b,", "id: a,", "ids a, a, c received, expected letters in order"),
        (
            "CCDAK Fundamentals",
            "CCDAK Cooking",
            "items.yaml:7: good-item: items[0].domains[0]: 'CCDAK Cooking' received, expected one of",
        ),
    ],
)
def test_a_broken_item_is_named_with_file_line_key_and_what_was_expected(problems, old, new, expected):
    assert old in GOOD
    found, items = problems(GOOD.replace(old, new, 1))
    assert items == []
    assert any(expected in problem for problem in found), found


def test_a_broken_item_does_not_stop_the_others_of_its_file(problems):
    second = GOOD.partition("\n")[2].replace("good-item", "other-item")
    found, items = problems(GOOD.replace("difficulty: apply", "difficulty: hard") + second)
    assert items == ["other-item"] and len(found) == 1


def test_a_file_that_is_no_yaml_does_not_stop_the_other_files(tmp_path):
    (tmp_path / "a.yaml").write_text("items: [", encoding="utf-8")
    (tmp_path / "b.yaml").write_text(GOOD, encoding="utf-8")
    bank = read_bank([tmp_path])
    assert [item.head.id for item in bank.items] == ["good-item"]
    assert "a.yaml" in str(bank.problems[0]) and "not YAML" in str(bank.problems[0])


def test_the_second_item_of_an_id_is_refused_and_names_the_first(problems):
    found, items = problems(GOOD + GOOD.partition("\n")[2])
    assert items == ["good-item"]
    assert "items.yaml:16: good-item: id: given before at items.yaml:2, expected another [duplicate]" in found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: &x [1]\nb: *x\n", "<text>:1: YAML anchors and aliases are refused"),
        ("a: 1\nb: 2\na: 3\n", "<text>:3: key 'a' is given twice, first in line 1; expected it once"),
        ("a: !!python/object/apply:os.system [ls]\n", "<text>:1: not YAML"),
        ("a: [1, 2\n", "<text>:2: not YAML"),
        ("a: " + "[" * 40 + "]" * 40, "nested deeper than"),
        ("a: 2026-13-45\n", "cannot be read as YAML"),
    ],
)
def test_hostile_or_broken_yaml_is_refused_with_its_line(text, expected):
    with pytest.raises(DataError) as caught:
        parse_document(text)
    assert expected in str(caught.value)


def test_huge_files_and_other_encodings_are_refused_before_they_are_parsed(tmp_path):
    (tmp_path / "huge.yaml").write_text("a: " + "x" * 1_000_001, encoding="utf-8")
    (tmp_path / "latin.yaml").write_bytes(b"a: \xe9\n")
    for name, expected in (
        ("huge.yaml", "expected at most 1000000"),
        ("latin.yaml", "not UTF-8"),
        ("none.yaml", "cannot be read"),
    ):
        with pytest.raises(DataError, match=expected):
            read_document(tmp_path / name)


def test_a_path_that_does_not_exist_is_an_error():
    with pytest.raises(DataError, match="does not exist; expected an item file"):
        read_bank(["nowhere.yaml"])


# --- the published schema ---------------------------------------------------------------------------
def test_the_published_schema_is_a_schema_and_uses_only_keywords_that_we_check():
    schema = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    known = {*_CHECKS, *_NOTES, "type", "additionalProperties", "$ref"}

    def keywords(node):
        for key, held in node.items():
            yield key
            if key in {"properties", "$defs"}:
                for child in held.values():
                    yield from keywords(child)
            elif isinstance(held, dict):
                yield from keywords(held)
            elif key == "oneOf":
                for child in held:
                    yield from keywords(child)

    assert set(keywords(schema)) <= known


def test_every_file_of_the_bank_is_valid_by_an_independent_validator():
    validator = jsonschema.Draft202012Validator(item_schema())
    files = [file for file in sorted(home().glob("*.yaml")) if "items:" in file.read_text(encoding="utf-8")]
    assert len(files) >= 5
    for file in files:
        errors = [
            error.message for error in validator.iter_errors(yaml.safe_load(file.read_text(encoding="utf-8")))
        ]
        assert errors == [], file.name


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("kind: single", "kind: none"),
        ("tags: [t]", "tags: []"),
        ("versions: 2.4+", "versions: 24"),
        ("right: true", "right: false"),
        ("id: a,", "id: A,"),
        ("text: all of them,", ""),
    ],
)
def test_our_checker_and_an_independent_validator_refuse_the_same(old, new):
    schema = item_schema()
    for text in (GOOD, GOOD.replace(old, new, 1)):
        value = yaml.safe_load(text)
        ours = list(faults(value, schema, schema))
        assert bool(ours) != jsonschema.Draft202012Validator(schema).is_valid(value)
