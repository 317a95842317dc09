"""Every kind of finding shows where it should, names whom it should, and keeps silent where it nearly would."""

from __future__ import annotations

import pytest

from rebalance_kit.forensics.findings.rules.member_rules import RULES
from tests.support.pipeline.finding_cases import CASES, hand_written

#: Recorded runs in which nothing went wrong: what may be said of them is a fact, not a fault.
HEALTHY = ("join.", "leave.", "add-partitions.", "drawn-1.", "rd-leave.")
FACTS = {"eager_by_default", "topic_changed", "stale_epoch_commit"}


@pytest.fixture(scope="module")
def written(table):
    """Findings of the hand-written logs by (case, ``hit`` or ``miss``)."""
    told = {(code, kind): [] for code, kind, _ in hand_written()}
    for row in table("findings", "cases"):
        code, kind = row["path"].split("/")[-2:]
        if (code, kind) in told:
            told[code, kind].append(row)
    return told


@pytest.fixture
def told_of(written, recorded):
    def find(code, kind):
        case = CASES[code][1 if kind == "hit" else 2]
        rows = recorded[case, "orders-app"]["findings"] if isinstance(case, str) else written[code, kind]
        return [(row["finding"], row["who"], row) for row in rows]

    return find


@pytest.mark.parametrize("code", CASES)
def test_a_finding_shows_where_its_trouble_is_and_names_the_culprit(told_of, code):
    who = CASES[code][0]
    told = [(found, name) for found, name, _ in told_of(code, "hit")]
    assert (code, who) in told, told


@pytest.mark.parametrize("code", CASES)
def test_a_finding_keeps_silent_where_its_trouble_nearly_is(told_of, code):
    assert code not in {found for found, _, _ in told_of(code, "miss")}


@pytest.mark.parametrize("code", CASES)
def test_a_finding_says_what_to_do_where_to_read_on_and_shows_its_line(told_of, code):
    rows = [row for found, _, row in told_of(code, "hit") if found == code]
    for row in rows:
        assert row["do"].endswith("."), row
        assert len(row["source"]) > 5, row
        assert row["file"] and row["line"] > 0 and row["evidence"], row
        assert "{" not in row["sentence"].replace("{}", ""), row["sentence"]


def test_there_is_a_case_for_every_kind_that_a_rule_can_tell():
    without = {rule.code for rule in RULES} - set(CASES)
    assert not without, (
        f"a rule needs a case, hit and near miss, in tests/support/pipeline/finding_cases.py: {without}"
    )


def test_of_an_ordinary_start_nothing_is_said(written):
    assert written["quiet", "miss"] == []


def test_no_trouble_is_found_in_the_healthy_recorded_runs(recorded):
    said = {
        (name, row["finding"])
        for (name, _), record in recorded.items()
        if name.startswith(HEALTHY)
        for row in record["findings"]
    }
    assert {code for _, code in said} <= FACTS, sorted(said)
