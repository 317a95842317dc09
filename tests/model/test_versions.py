"""The version lens."""

import pytest

from rebalance_kit.model.errors import ConfigError
from rebalance_kit.model.versions import CHANGES, at_least, changes_between, has, parse_version


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


def test_changes_between_two_versions_are_those_that_one_has_and_the_other_has_not():
    assert {name for name, _ in changes_between("4.2.0", "4.3.1")} >= {
        "assignment-interval",
        "first-epoch-two",
    }
    assert changes_between("4.3.0", "4.3.1") == ()
