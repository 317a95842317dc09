"""The table of events holds what the grammar finds."""

from __future__ import annotations

import pytest

from rebalance_kit.forensics.grammar.table import MESSAGES, parse_message
from tests.support.pipeline.grammar_samples import sample


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
