"""Lines as people paste them: whatever stands around a message, and however its lists and names are written."""

from __future__ import annotations

import pytest

from rebalance_kit.forensics.grammar.template import is_group, partitions_of
from rebalance_kit.forensics.lines.anchors import client_like, is_unclear
from rebalance_kit.forensics.lines.file_reader import FileReader
from rebalance_kit.forensics.lines.files import Text
from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.forensics.lines.times_in_text import time_in

_CLASS = "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator"
_PREFIX = "[Consumer clientId=c1, groupId=invoices]"


@pytest.fixture
def read(tmp_path):
    """The events of a file, as dictionaries, and what is odd about the file."""

    def events(text, name="app.log"):
        path = tmp_path / name
        path.write_text(text, "utf-8")
        told = Text(path)
        found = FileReader(Reading()).read("run", name, list(told.pieces()))
        return [event.__dict__ for event in found.events], found

    return events


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("[pay-0, pay-1, pay-2]", ["pay-0", "pay-1", "pay-2"]),
        ("pay-0, pay-1", ["pay-0", "pay-1"]),
        ("[pay-0 pay-1]", ["pay-0", "pay-1"]),
        ("Set(pay-1, pay-0)", ["pay-1", "pay-0"]),
        (
            "{TopicPartition(topic='pay', partition=0), TopicPartition(topic='pay', partition=7)}",
            ["pay-0", "pay-7"],
        ),
        ("frozenset({TopicPartition(topic='pay', partition=3)})", ["pay-3"]),
        ("set([TopicPartition(topic=u'pay', partition=3)])", ["pay-3"]),
        ("[TopicPartition{topic=pay,partition=2,offset=-1001,error=None}]", ["pay-2"]),
        ('{"pay":[0,1],"log":[4]}', ["pay-0", "pay-1", "log-4"]),
        ("map[pay:[0 1]]", ["pay-0", "pay-1"]),
        ("pay[0]@unset pay[1]@unset", ["pay-0", "pay-1"]),
        ("[pay-0],2026-03-01 10:00:00.000", ["pay-0"]),
        *(
            (none, [])
            for none in ("", "[]", "{}", "()", "set()", "Set()", "frozenset()", "none", "null", "List()")
        ),
        ("[pay-0, pay-1, ...]", None),
        ("frozenset({...})", None),
    ],
)
def test_a_list_of_partitions_is_read_however_a_client_prints_it(written, expected):
    assert partitions_of(written) == expected


@pytest.mark.parametrize(
    "line",
    [
        f"2026-03-01 10:00:00,123 INFO   ||  {_PREFIX} (Re-)joining group   [{_CLASS}]",
        f"2026-03-01 10:00:00,123 INFO   ||  {_PREFIX} (Re-)joining group ({_CLASS})",
        f"2026-03-01 10:00:00,123 INFO   ||  {_PREFIX} (Re-)joining group <{_CLASS}:553>",
        f"[app] 2026-03-01T10:00:00.123Z INFO {_PREFIX} (Re-)joining group {{{_CLASS}}}",
    ],
)
def test_a_logger_behind_a_message_is_no_group(read, line):
    ((event,), _) = read(line + "\n")
    assert (event["event"], event["group"], event["client"]) == ("joining", "invoices", "c1")


@pytest.mark.parametrize(
    "head",
    [
        "[Billing Listener] 10:00:00.123  INFO --- o.s.k.l.KafkaMessageListenerContainer    :",
        "INFO  4711 --- [Listener-0-C-1] o.s.k.l.KafkaMessageListenerContainer    :",
        "[2026-03-01T10:00:00.123][INFO][bills-0-C-1][] o.s.k.l.KafkaMessageListenerContainer :",
        "10:00:00.123 | INFO | o.s.k.l.KafkaMessageListenerContainer |",
        "pod-7 app 2026-03-01 10:00:00.123 [bills-0-C-1] INFO  o.s.k.l.KafkaMessageListenerContainer -",
        "[bills-0-C-1] INFO o.s.k.l.KafkaMessageListenerContainer.info(LogAccessor.java:292) -",
        "    [Listener] INFO  -",
    ],
)
def test_a_message_is_found_behind_a_head_of_any_layout(read, head):
    ((event,), _) = read(f"{head} invoices: partitions assigned: [pay-0, pay-1, pay-2]\n")
    assert (event["event"], event["group"]) == ("container_assigned", "invoices")
    assert event["partitions"] == ["pay-0", "pay-1", "pay-2"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("invoices", True),
        ("com.acme.Invoices", True),
        ("my group", True),
        ("<group>", True),
        ("[main] 10:00:00.123 invoices", False),
        ("10:00:00.123", False),
        ("INFO : invoices", False),
        (f"[{_CLASS}]", False),
        (_CLASS, False),
    ],
)
def test_a_time_a_logger_or_a_bracketed_text_is_no_group(name, expected):
    assert is_group(name) is expected


def test_a_thread_in_brackets_is_no_partition(read):
    line = "2026-03-01 10:00:00.000  INFO 1 --- [ntainer#0-0-C-1] c.a.Audit : by hand, partitions revoked: [pay-4]"
    ((event,), _) = read(line + "\n")
    assert (event["event"], event["partitions"]) == ("other_revoked", ["pay-4"])
    ((event,), _) = read(line.replace(": [pay-4]", "") + "\n")
    assert event.get("partitions") is None


def test_masks_of_different_length_are_nobody(read):
    (events, _) = read(
        "2026-03-01 10:00:00,000 INFO [GroupCoordinator 3]: Member **** in group *** has failed, removing it from the group\n"
        "2026-03-01 10:00:00,000 INFO [GroupCoordinator 3]: Member xxxxxx in group *** has failed, removing it from the group\n"
        "[Consumer clientId=<redacted>, groupId=invoices] (Re-)joining group\n"
    )
    assert [event.get("member") for event in events[:2]] == [None, None]
    assert events[2].get("client") is None


def test_lines_without_a_client_are_of_the_one_group_that_their_file_names(read):
    (events, _) = read("Heartbeat session expired - marking coordinator dead\n(Re-)joining group invoices\n")
    assert [event["group"] for event in events] == ["invoices"] * 2


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("[Ledger Listener] 15:47:04.347  INFO --- said", "1970-01-01T15:47:04.347"),
        ("[ledger] [main] 15:47:04 said", "1970-01-01T15:47:04"),
        ("INFO [main] 15:47:04,123 said", "1970-01-01T15:47:04,123"),
        ("pod-1 app 15:47:04,123 said", "1970-01-01T15:47:04,123"),
        ("ledger-consumer                 | 15:47:04 said", "1970-01-01T15:47:04"),
        ("time=15:47:04 level=info", "1970-01-01T15:47:04"),
        ("10:41:41 PM said", "1970-01-01T22:41:41"),
        ("Sat Nov 21 02:15:25 UTC 2026 said", "2026-11-21T02:15:25"),
        ("Sun Nov  1 02:15:25 2026 said", "2026-11-01T02:15:25"),
        ("[21-Nov-2026 02:15:25] said", "2026-11-21T02:15:25"),
        ("21 November 2026 02:15:25,032 said", "2026-11-21T02:15:25,032"),
        ("21.11.2026 02:15:25.1 said", "2026-11-21T02:15:25.1"),
        ("20261121 02:15:25 said", "2026-11-21T02:15:25"),
        ("20261121T021525Z said", "2026-11-21T02:15:25"),
        ("2026-11-21 02:15:25:032 said", "2026-11-21T02:15:25.032"),
        ("2026-11-21  02:15:25.032 said", "2026-11-21T02:15:25.032"),
        ("I1121 02:15:25.032123 1 main.go:12] said", "Nov 21 02:15:25,032"),
        ("It restarted by itself once more at 10:00:00 today", None),
        ("host:9092:10:10:10 said", None),
    ],
)
def test_a_time_among_the_first_fields_is_read(line, expected):
    assert time_in(line)[0] == expected


@pytest.mark.parametrize(
    ("line", "whose"),
    [
        ("[app] 15:47:01.706  INFO --- c.c.kafka.consumer.RebalanceListener : said", "a Java client"),
        ("2026-03-01 INFO 1 --- [main] c.a.kafka.coordinator.Ledger : said", "a Java client"),
        ("WARNING:aiokafka.consumer.group_coordinator:said", "aiokafka"),
        ("2026-03-01 10:00:00 - kafka.coordinator - WARNING - said", "kafka-python"),
        ("INFO said (kafka.coordinator.group.GroupCoordinator)", "a broker"),
    ],
)
def test_whose_line_it_is_like_is_told_by_its_own_signs(line, whose):
    assert client_like(line) == whose


def test_a_class_with_a_groups_word_in_its_name_makes_no_line_of_a_group(read):
    (_, found) = read("[app] 15:47:01.706  INFO --- c.a.RebalanceConsumer     : Partition: 0, offset: 149\n")
    assert not any(is_unclear(why, text) for _, why, text in found.rejected)
