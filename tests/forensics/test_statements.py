"""Log statements of Kafka's own source: those about a group are events of the kind written here, the others are no event.

``tests/data/kafka_statements.json.gz`` holds the statements at INFO and above of the classes that speak of groups
(consumer, coordinator, Connect, Streams; 2.0, 2.4, 2.8, 3.1, 3.3, 3.5, 3.7, 3.9 and the trunk of October 2024), each with
values in place of its fields, by the event that it is: class, level, message.  ``""`` are those that tell nothing of a group.

``tests/data/client_statements.json`` holds those of librdkafka, kafka-python, aiokafka, franz-go, sarama, kafka-go, kafkajs,
brod, ruby-kafka and Karafka (their sources of November 2026) as whole lines, in the same way; and the words that these clients put
for Kafka's errors, by the error.
"""

from __future__ import annotations

import gzip
import json

import pytest

from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.forensics.lines.line_reader import Messages
from rebalance_kit.forensics.lines.refusals import refusal_in
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


OTHERS = json.loads((ROOT / "tests/data/client_statements.json").read_text())


@pytest.mark.parametrize("client", sorted(OTHERS["statements"]))
def test_each_statement_of_another_client_is_read_as_what_it_says(client):
    read = Messages(Reading(year=2026)).read
    wrong = {}
    for event, lines in OTHERS["statements"][client].items():
        for line in lines:
            told = read(line)
            if (said := told[0]["event"] if isinstance(told, list) else "") != event:
                wrong[line] = f"{said or told}, not {event}"
    assert wrong == {}


@pytest.mark.parametrize("name", sorted(OTHERS["errors"]))
def test_each_error_is_known_by_the_words_of_every_client(name):
    wrong = {
        words: error and error.name
        for words in OTHERS["errors"][name]
        if (error := refusal_in(words)) is None or error.name != name
    }
    assert wrong == {}
