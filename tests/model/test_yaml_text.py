"""Scenarios and items are read by one reader: the same refusals, in the same words."""

from __future__ import annotations

import pytest

from rebalance_kit.model.errors import DataError, ScenarioError
from rebalance_kit.model.yaml_text import YamlRules, load_yaml
from rebalance_kit.quiz.items.reading import parse_document, read_document
from rebalance_kit.simulation.scenario.yaml_file import read_scenario

REFUSED = {
    "a: &x [1]\nb: *x\n": "f.yaml:1: YAML anchors and aliases are refused; expected the value written out",
    "end: 1s\nseed: 1\nend: 2s\n": "f.yaml:3: key 'end' is given twice, first in line 1; expected it once",
    "topics:\n- {name: a,\n   name: b}\n": "f.yaml:3: topics[0]: key 'name' is given twice, first in line 2; expected it once",
    "a: " + "[" * 40 + "]" * 40 + "\n": "f.yaml:1: nested deeper than",
    "a: [1, 2\n": "f.yaml:2: not YAML: did not find expected ',' or ']'; expected",
    "a: 1\n---\nb: 2\n": "f.yaml:2: not YAML: but found another document; expected",
}


@pytest.mark.parametrize("text", REFUSED)
def test_both_readers_refuse_the_same_things_in_the_same_words(text):
    with pytest.raises(ScenarioError) as by_scenario:
        read_scenario(text, "f.yaml")
    with pytest.raises(DataError) as by_items:
        parse_document(text, "f.yaml")
    assert str(by_scenario.value).startswith(REFUSED[text])
    assert str(by_items.value).startswith(REFUSED[text])


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"\xff\xfe", "byte 0 is not UTF-8; expected YAML text in UTF-8"),
        (None, "cannot be read (No such file or directory); expected"),
        (b"#" * 1_000_001, "1000001 bytes; expected at most"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused_by_both_in_the_same_words(tmp_path, content, expected):
    path = tmp_path / "f.yaml"
    if content is not None:
        path.write_bytes(content)
    for read, error in ((read_scenario, ScenarioError), (read_document, DataError)):
        with pytest.raises(error) as refused:
            read(path)
        assert str(refused.value).startswith(f"{path}: {expected}")


def test_the_line_of_an_entry_is_the_line_of_its_key():
    lines = parse_document("a:\n  b:\n    - c\n    - d:\n        e\n").lines
    assert {place: line for place, line in lines.items() if place} == {
        ("a",): 1,
        ("a", "b"): 2,
        ("a", "b", 0): 3,
        ("a", "b", 1): 4,
        ("a", "b", 1, "d"): 4,
    }


def test_a_value_that_no_tag_may_construct_is_refused_with_the_kind_of_file(tmp_path):
    path = tmp_path / "f.yaml"
    path.write_text("a: !!python/object/apply:os.system [ls]\n", "utf-8")
    with pytest.raises(ScenarioError, match=r"f\.yaml:1: not YAML: could not determine .*; expected a sweep"):
        load_yaml(path, YamlRules("a sweep", error=ScenarioError))
