"""Log statements of Kafka's own source: those about a group are events of the kind written here, the others are no event.

``tests/data/kafka_statements.json.gz`` holds the statements at INFO and above of the classes that speak of groups
(consumer, coordinator, Connect, Streams; 2.0, 2.4, 2.8, 3.1, 3.3, 3.5, 3.7, 3.9 and the trunk of October 2024), each with
values in place of its fields, by the event that it is: class, level, message.  ``""`` are those that tell nothing of a group.
"""

from __future__ import annotations

import gzip
import json

import pytest

from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.forensics.lines.line_reader import Messages
from tests.support.paths import ROOT

STATEMENTS = json.loads(gzip.decompress((ROOT / "tests/data/kafka_statements.json.gz").read_bytes()))


def read_as(logger: str, level: str, message: str) -> str:
    """The event that a broker's or client's line with this message is; "" for none."""
    line = f"[2026-05-03 10:11:12,123] {level} {message} (org.apache.kafka.{logger})"
    told = Messages(Reading(year=2026)).read(line)
    return told[0]["event"] if isinstance(told, list) else told or ""


@pytest.mark.parametrize("event", sorted(STATEMENTS))
def test_each_statement_of_kafka_is_read_as_what_it_says(event):
    wrong = {
        message: told
        for logger, level, message in STATEMENTS[event]
        if (told := read_as(logger, level, message)) != event
    }
    assert wrong == {}
