"""``rebalance-kit explain``: terms, errors, states and config keys."""

import re

import pytest

from rebalance_kit.analysis.metrics import MEASURES
from rebalance_kit.glossary import entries, lookup
from rebalance_kit.model.config import all_keys
from rebalance_kit.model.errors import DataError
from rebalance_kit.pipeline.sweep.command import SHOWN
from rebalance_kit.scenarios import explained
from rebalance_kit.simulation.scenario.scenario import ACTIONS


def test_every_row_of_every_table_of_runs_is_explained():
    rows = [each.words for each in MEASURES] + [heading for _, heading in SHOWN]
    for words in rows:
        assert lookup(words).source, words


def test_every_action_of_a_scenario_is_explained():
    for action in ACTIONS:
        assert explained(action).source, action
    with pytest.raises(DataError, match="tea_break"):
        explained("tea_break")


def test_there_are_at_least_sixty_terms_of_one_to_three_sentences_with_a_source():
    assert len(entries()) >= 60
    for entry in entries().values():
        sentences = len(re.findall(r"\.(?:\s|$)", entry.text))
        assert 1 <= sentences <= 3 and entry.source, entry.term


def test_every_cross_reference_can_be_looked_up():
    for entry in entries().values():
        for other in (*entry.see, *entry.also):
            lookup(other)


def test_no_name_stands_for_two_terms():
    names = [name.lower() for entry in entries().values() for name in (entry.term, *entry.also)]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize(
    "written", ["group epoch", "Group Epoch", "GROUP_EPOCH", "group-epoch", " group  epoch "]
)
def test_a_term_is_found_however_it_is_written(written):
    assert lookup(written).term == "group epoch"


def test_every_config_key_is_explained_with_its_default_in_the_version_asked_for():
    for name in all_keys():
        assert "default in 4.3.1" in lookup(name).text
    assert "default in 2.8: 10000" in lookup("session.timeout.ms", "2.8").text


def test_an_unknown_term_is_refused_with_the_nearest_ones():
    with pytest.raises(DataError, match=r"'genration'.*generation"):
        lookup("genration")
