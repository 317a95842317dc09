"""The table of templates."""

from __future__ import annotations

import re

import pytest

from rebalance_kit.forensics.grammar.table import (
    _IN_OTHER_CLIENTS,
    CLUES,
    CLUES_AT_START,
    IN_MESSAGES,
    IN_UNLAID,
    MESSAGES,
    OTHER_CLIENTS,
    UNLAID,
    parse_message,
)
from tests.support.paths import ROOT
from tests.support.pipeline.grammar_samples import sample


@pytest.mark.parametrize(
    ("template", "table"),
    [
        pytest.param(template, table, id=f"{template.event}-{template.text[:30]}")
        for templates, table in (
            (MESSAGES, IN_MESSAGES),
            (UNLAID, IN_UNLAID),
            (OTHER_CLIENTS, _IN_OTHER_CLIENTS),
        )
        for template in templates
    ],
)
@pytest.mark.parametrize("optional", [True, False])
def test_every_template_is_found_for_its_own_message(template, table, optional):
    message, fields = sample(template, optional)
    found = parse_message(message, table)
    assert found is not None
    assert found["event"] == template.event
    assert {name: found[name] for name in fields} == fields


UNHEARD = frozenset(
    "member_subscribed offsets_deleted assignor_notified static_leader_skipped assignment_update offset_reset "
    "rd_lost config_behind worker_stopping container_lost "
    "block_owned block_added block_member".split()
)
"""Events that only say that a line is about a group; no rule asks for them."""


def test_every_event_is_heard_by_a_rule_or_listed_as_one_that_none_asks_for():
    files = [path for path in (ROOT / "rebalance_kit").rglob("*.py") if path.parent.name != "grammar"]
    heard = set(re.findall(r"\w+", " ".join(path.read_text("utf-8") for path in files)))
    assert {template.event for template in MESSAGES + UNLAID + OTHER_CLIENTS} - heard == UNHEARD, (
        "an event of rebalance_kit/forensics/grammar that no rule asks for: give the line the name of the event that means the "
        "same, or list its name in UNHEARD of tests/forensics/test_grammar.py"
    )


@pytest.mark.parametrize("template", MESSAGES + UNLAID, ids=lambda template: template.text[:40])
def test_no_template_is_behind_a_clue_that_its_lines_lack(template):
    message, _ = sample(template, optional=False)
    prefix = {
        "broker": "[GroupCoordinator id=1] ",
        "java": "[Consumer clientId=c, groupId=g] ",
        "librdkafka": "%7|",
    }
    bare = (
        message
        if message.startswith(("[K", "[B", "[Q", "\t", "Setting offset", "Kafka version", "App info"))
        else ""
    )
    line = bare or (message if template in UNLAID else prefix[template.side] + message)
    assert line.startswith(CLUES_AT_START) or any(clue in line for clue in CLUES)


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "Stabilized group g generation 3 (__consumer_offsets-0) with 2 members",
            {"generation": "3", "members": "2"},
        ),
        ("Stabilized group g generation 3 with 2 members.", {"generation": "3", "members": "2"}),
        ("Assignment received from leader for group g for generation 7", {"group": "g", "generation": "7"}),
        ("Revoke previously assigned partitions ", {"partitions": ""}),
        ("Revoke previously assigned partitions a-0, a-1", {"partitions": "a-0, a-1"}),
        ("[GroupId a b] Bumped group epoch to 4.", {"group": "a b", "epoch": "4"}),
        ("[GroupId g] Bumped group epoch to 4 with metadata hash -5.", {"epoch": "4", "hash": "-5"}),
        (
            "Preparing to rebalance group g in state PreparingRebalance with old generation 1 "
            "(reason: removing member c-1 on heartbeat expiration.).",
            {"reason": "removing member c-1 on heartbeat expiration."},
        ),
    ],
)
def test_the_ways_in_which_versions_write_a_line_are_one_event(message, expected):
    found = parse_message(message)
    assert found is not None
    assert {name: found[name] for name in expected} == expected


def test_a_line_that_begins_as_kafka_writes_it_and_ends_otherwise_is_rejected_by_name():
    assert parse_message("Stabilized group g generation three with 2 members.") == {
        "rejected_by": "stabilized"
    }


def test_a_message_of_another_kind_is_nobodys():
    assert parse_message("Created log for partition orders-0 in a folder") is None


@pytest.mark.parametrize("template", MESSAGES + UNLAID, ids=lambda template: template.text[:40])
@pytest.mark.parametrize("optional", [True, False])
def test_the_expression_for_long_messages_finds_what_the_other_finds(template, optional):
    message, fields = sample(template, optional)
    fit = re.match(template.linear, message, re.ASCII)
    assert fit is not None
    assert {name: fit[name] or "" for name in fields} == fields
