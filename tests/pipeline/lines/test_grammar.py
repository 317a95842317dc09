"""The table of templates, in plain Python and in Spark."""

from __future__ import annotations

import re

import pytest

from rebalance_kit.pipeline.grammar.table import (
    CLUES,
    CLUES_AT_START,
    IN_MESSAGES,
    IN_UNLAID,
    MESSAGES,
    UNLAID,
    parse_message,
)
from rebalance_kit.pipeline.grammar.template import Template

#: A value for each field that is not plain text.
_VALUES = {
    "hash": "-17",
    "state": "Stable",
    "state_from": "STABLE",
    "state_to": "FENCED",
    "protocol": "classic",
    "partitions": "[a-0, a-1]",
}
_NUMBERS = ("generation", "epoch", "members", "static", "took_ms", "over_ms", "limit_ms", "offset")


def sample(template: Template, optional: bool) -> tuple[str, dict[str, str]]:
    """A message of a template, with or without what only some versions print, and its fields."""
    text = re.sub(r"\[\[(.*?)\]\]", r"\1" if optional else "", template.text)
    fields = {}
    for name in template.fields:
        value = _VALUES.get(name, "12" if name in _NUMBERS else f"some-{name}")
        fields[name] = value if "{" + name + "}" in text else ""
        text = text.replace("{" + name + "}", value)
    return text.replace("{_}", "x"), fields


@pytest.mark.parametrize(
    "template", MESSAGES + UNLAID, ids=lambda template: f"{template.event}-{template.text[:30]}"
)
@pytest.mark.parametrize("optional", [True, False])
def test_every_template_is_found_for_its_own_message(template, optional):
    message, fields = sample(template, optional)
    found = parse_message(message, IN_MESSAGES if template in MESSAGES else IN_UNLAID)
    assert found is not None
    assert found["event"] == template.event
    assert {name: found[name] for name in fields} == fields


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


@pytest.mark.spark
def test_a_table_of_events_holds_the_fields_that_the_grammar_finds(read_logs):
    messages = [sample(template, optional)[0] for template in MESSAGES for optional in (True, False)]
    messages = [message for message in messages if not message.startswith("%")]
    lines = [
        f"[2026-01-02 03:04:05,{place % 1000:03d}] INFO groupless {message} (some.Logger)"
        for place, message in enumerate(messages)
    ]
    # "groupless" would be part of the message: only lines whose clue is in the text itself are compared.
    lines = [line.replace("groupless ", "[GroupCoordinator id=1] ") for line in lines]
    tables = read_logs({"server.log": "\n".join(lines) + "\n"})
    python = [parse_message(message) or {} for message in messages]
    by_line = {row["line"]: row for row in tables["events"]}
    told = [
        (
            by_line[place]["event"],
            by_line[place]["generation"],
            by_line[place]["epoch"],
            by_line[place]["member"],
        )
        for place in range(1, len(messages) + 1)
    ]
    number = lambda text: int(text) if text else None  # noqa: E731
    assert told == [
        (one.get("event"), number(one.get("generation")), number(one.get("epoch")), one.get("member") or None)
        for one in python
    ]
