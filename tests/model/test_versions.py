"""The version lens."""

import re

import pytest

from rebalance_kit.model.config import version_table
from rebalance_kit.model.errors import ConfigError
from rebalance_kit.model.versions import CHANGES, DEFECTS, at_least, has, parse_version
from tests.support.paths import ROOT


def test_versions_are_compared_as_numbers_and_not_as_text():
    assert at_least("3.9", "3.10") and not at_least("3.10", "3.9.1")


@pytest.mark.parametrize("wrong", ["4", "", "four.three", "4.3.1.2", "1.0", "9.0", "4.x", "٤.٣"])
def test_what_is_no_modelled_version_is_refused(wrong):
    with pytest.raises(ConfigError, match="expected"):
        parse_version(wrong)


def test_the_first_member_of_a_new_consumer_group_gets_epoch_two_from_4_3_on():
    told = [has("first-epoch-two", version) for version in ("4.0.0", "4.2.0", "4.3.1", "4.4")]
    assert told == [False, False, True, True]


def test_scala_log_lines_end_with_3_9():
    assert has("scala-log-lines", "3.9.1") and not has("scala-log-lines", "4.0.0")


def test_every_change_begins_in_a_modelled_version_and_names_its_source():
    for name, change in CHANGES.items():
        assert parse_version(change.since) and change.source and change.text, name


def asked():
    """Names that a call of ``has`` or ``mended`` gives as a text, anywhere in the package."""
    calls = re.compile(r'\b(?:has|mended)\(\s*"([a-z0-9-]+)"')
    files = [path for path in (ROOT / "rebalance_kit").rglob("*.py") if path.name != "versions.py"]
    return {name for path in files for name in calls.findall(path.read_text("utf-8"))}


def test_a_row_acts_where_the_package_asks_for_it_and_is_documentation_elsewhere():
    assert {name for name, change in {**CHANGES, **DEFECTS}.items() if change.acts} == asked()


def test_each_boundary_of_an_issue_stands_once():
    found = [
        (version, source)
        for change in (*CHANGES.values(), *DEFECTS.values())
        for version in (change.since, change.until)
        for source in re.findall(r"KAFKA-\d+", change.source)
        if version
    ]
    assert sorted(set(found)) == sorted(found)


def test_the_printed_table_says_of_each_row_whether_the_kit_acts_on_it():
    lines = version_table().splitlines()
    told = [line for line in lines if "  documentation  " in line]
    assert len(told) + len([line for line in lines if "  acts  " in line]) == len(lines)
    assert any("close() may be told" in line for line in told)
