"""Lines as people paste them: whatever stands around a message, and however its lists and names are written."""

from __future__ import annotations

import json

import pytest

from rebalance_kit.forensics.grammar.template import is_group, partitions_of
from rebalance_kit.forensics.history.speakers import told_apart
from rebalance_kit.forensics.lines.anchors import client_like, is_unclear
from rebalance_kit.forensics.lines.file_reader import FileReader
from rebalance_kit.forensics.lines.files import Text
from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.forensics.lines.times_in_text import time_in
from rebalance_kit.forensics.look import look

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


_SPRING = "2026-03-01 10:00:0{}.000 {} 6 --- [ntainer#0-0-C-1] o.a.k.c.c.internals.ConsumerCoordinator : "


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            f"It said: {_SPRING.format(1, 'INFO')}{_PREFIX} (Re-)joining group "
            f"{_SPRING.format(2, 'WARN')}{_PREFIX} Rebalance failed.",
            ["joining", "java_step"],
        ),
        (
            f"[2026-03-01 10:00:01,000] INFO {_PREFIX} (Re-)joining group ({_CLASS}) "
            f"[2026-03-01 10:00:02,000] INFO {_PREFIX} Successfully joined group with generation 3 ({_CLASS})",
            ["joining", "joined"],
        ),
        (
            '%7|1772359201.000|JOIN|c1#consumer-1| [thrd:main]: Group "invoices": leave (in state up) '
            '%7|1772359202.000|JOIN|c1#consumer-1| [thrd:main]: Group "invoices": leave (in state up)',
            ["rd_leave", "rd_leave"],
        ),
        (
            f'{{"time":"2026-03-01T10:00:01Z","message":"{_PREFIX} (Re-)joining group"}}'
            f'{{"time":"2026-03-01T10:00:02Z","message":"{_PREFIX} Rebalance failed."}}',
            ["joining", "java_step"],
        ),
    ],
)
def test_each_record_of_one_line_is_read(read, line, expected):
    events, found = read(f"{line}\n")
    assert [event["event"] for event in events] == expected
    assert events[1]["at_ms"] - events[0]["at_ms"] == 1000
    assert {event["line"] for event in events} == {1}
    assert [event["row"] % 10 for event in events] == [0, 1]
    assert events[0]["text"] != events[1]["text"]
    assert (found.lines, found.parsed) == (1, 1)


def test_records_of_one_line_are_not_remembered_at_the_time_of_another(read):
    rest = f"000 INFO {_PREFIX} (Re-)joining group 2026-03-01 10:00:02.000 INFO {_PREFIX} (Re-)joining group"
    events, _ = read(f"2026-03-01 10:00:01.{rest}\n2026-03-01 10:00:03.{rest}\n")
    assert [event["at_ms"] % 10_000 for event in events] == [1000, 2000, 3000, 2000]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            f"2026-03-01T10:00:01.000  INFO  {_PREFIX}\nRequest joining group due to: group is already rebalancing\n",
            ("rejoin_requested", 1),
        ),
        (
            f"2026-03-01 10:00:01.000  INFO 1 --- [main] o.a.k.c.c.i.ConsumerCoordinator :\n    {_PREFIX} (Re-)joining group\n",
            ("joining", 1),
        ),
        (
            f"{_PREFIX} Member c1-7 sending LeaveGroup request to coordinator\ndue to consumer poll timeout has expired. This means the time\n"
            "between subsequent calls to poll() was too long.\n",
            ("leaving", 1),
        ),
        (
            f"10:00:01 INFO {_PREFIX} Finished assignment for group at generation 2:\n{{c1-7=Assignment(partitions=[pay-0]),\n"
            " c1-8=Assignment(partitions=[pay-1])}\n",
            ("assignment_finished", 1),
        ),
        (
            "[sarama] 2026/03/01 10:00:01 consumergroup/session/sarama-7/16 heartbeat loop\nstopped\n",
            ("other_session_ended", 1),
        ),
        (
            "10:00:01 [info] Group member (invoices,coor=#PID<0.7.0>,cb=#PID<0.8.0>,generation=18):\nfailed to join group\n"
            "reason: :unknown_member_id\n",
            ("other_unknown_member", 1),
        ),
        (
            '{\n  "level": "WARN",\n  "timestamp": "2026-03-01T10:00:01.000Z",\n  "message": "[Runner] The group is rebalancing, re-joining",\n'
            '  "groupId": "invoices",\n  "error": "The group is rebalancing, so a rejoin is needed"\n}\n',
            ("other_rebalancing", 1),
        ),
    ],
)
def test_a_record_on_several_lines_is_one(read, text, expected):
    events, found = read(f"Before.\n\n{text}\nThen it went on.\n")
    assert [(event["event"], len(events)) for event in events] == [expected]
    assert events[0]["line"] == 3
    assert found.lines == text.count("\n") + 4


@pytest.mark.parametrize(
    ("text", "note"),
    [
        (f"10:00:01 INFO {_PREFIX} (Re-)joining group\nand then nothing happened any more\n", None),
        ("const { Kafka } = configured({\n  brokers: [],\n  retries: 3\n})\n", None),
        (
            f"│ {_PREFIX} (Re-)joining group        │\n│ {_PREFIX} Rebalance failed.           │\n",
            "borders that a terminal drew were taken off the lines",
        ),
    ],
)
def test_only_what_was_joined_is_said_to_be(tmp_path, text, note):
    path = tmp_path / "app.log"
    path.write_text(text, "utf-8")
    told = Text(path)
    assert b"".join(told.pieces()).rstrip().count(b"\n") == text.rstrip().count("\n")
    assert told.note(2) == note


def test_what_a_person_tells_of_a_log_is_no_event(read):
    events, _ = read(
        "After that we always saw that The coordinator is not aware of this member. Can it be?\n"
        "后面日志又说The coordinator is not aware of this member.再后面就是别的\n"
    )
    assert events == []


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        ({"log": f"{_PREFIX} (Re-)joining group\n", "ts": "2026-03-01T10:00:01Z"}, "joining"),
        ({"textPayload": f"{_PREFIX} (Re-)joining group", "timestamp": "2026-03-01T10:00:01Z"}, "joining"),
        (
            {
                "jsonPayload": {"message": f"{_PREFIX} (Re-)joining group"},
                "timestamp": "2026-03-01T10:00:01Z",
            },
            "joining",
        ),
        ({"@m": f"{_PREFIX} (Re-)joining group", "@t": "2026-03-01T10:00:01Z"}, "joining"),
        ({"@message": f"{_PREFIX} (Re-)joining group", "@timestamp": "2026-03-01T10:00:01Z"}, "joining"),
        (
            {"message": json.dumps({"msg": f"{_PREFIX} (Re-)joining group"}), "time": "2026-03-01T10:00:01Z"},
            "joining",
        ),
        (
            {
                "message": "Heartbeat failed for group invoices because it is rebalancing",
                "ts": "2026-03-01T10:00:01Z",
            },
            "other_rebalancing",
        ),
    ],
)
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": ")])
def test_a_message_is_found_under_any_key_of_json(read, record, expected, separators):
    ((event,), _) = read(json.dumps(record, separators=separators) + "\n")
    assert (event["event"], event["group"]) == (expected, "invoices")
    assert event["at_ms"] == 1_772_359_201_000


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (
            '{"message": "Failed to join group invoices: NodeNotReadyError: node-1"}',
            "NodeNotReadyError: node-1",
        ),
        ('{"msg":"Failed to join group invoices: said \\"no\\"","logger":"kafka"}', 'said "no"'),
        (
            '{"message":"join group failed","group":"invoices","err":"read tcp: i/o timeout","n":3}',
            "read tcp: i/o timeout",
        ),
        (
            '10:00:01 level=error msg="join failed" group=invoices err="read tcp: i/o timeout" uuid=7',
            "read tcp: i/o timeout",
        ),
        ("10:00:01 ERROR group.id=invoices commit failed, error=%s}, custom:{x}", None),
    ],
)
def test_a_reason_ends_where_its_quotes_do(read, line, reason):
    ((event,), _) = read(f"{line}\n")
    assert (event.get("reason"), event["group"]) == (reason, "invoices")


def test_the_period_of_a_file_is_that_of_all_lines_that_carry_a_time(tmp_path):
    (tmp_path / "app.log").write_text(
        "# told on 2020-01-01 10:00:00 by somebody\n"
        "2026-03-01 10:00:00.000  INFO 1 --- [main] c.a.App : started\n"
        f"2026-03-01 10:00:05.000  INFO 1 --- [main] o.a.k.c.c.i.ConsumerCoordinator : {_PREFIX} (Re-)joining group\n"
        "    at c.a.App.run(App.java:7) of what came 2027-01-01 10:00:00 or so\n"
        "2026-03-01 10:00:09,500(tz) INFO c.a.App - done: 2030-01-01 10:00:00\n"
    )
    assert look([tmp_path / "app.log"]).period == (1_772_359_200_000, 1_772_359_209_500)


def test_the_period_of_a_large_file_is_told_by_its_ends(tmp_path):
    path, line = tmp_path / "app.log", "INFO 1 --- [main] c.a.App : nothing about anything\n"
    path.write_text(
        "".join(f"2026-03-01 10:{place // 60:02}:{place % 60:02}.000  {line}" for place in range(3000))
    )
    for processes in (0, 2):
        assert look([path], processes=processes).period == (1_772_359_200_000, 1_772_362_199_000)


@pytest.mark.parametrize("between", ["", "\n"])
def test_a_record_tells_why_by_the_exception_below_it(read, between):
    ((event,), _) = read(
        f"2026-03-01 10:00:01.000 ERROR 8 --- [Thread-2] o.a.k.c.c.internals.ConsumerCoordinator  : {_PREFIX} Offset commit with "
        f"offsets {{pay-0=OffsetAndMetadata{{offset=9, leaderEpoch=null, metadata=''}}}} failed\n{between}"
        "org.apache.kafka.clients.consumer.CommitFailedException: Offset commit cannot be completed since the consumer is not part of "
        "an active group for auto partition assignment\n\tat org.apache.kafka.clients.consumer.X.y(X.java:1)\n"
    )
    assert (event["event"], event["line"]) == ("commit_failed", 1)
    assert "not part of an active group" in event["reason"]


@pytest.mark.parametrize(
    "line",
    [
        "I, [2026-03-01T10:00:01.000000 #7]  INFO -- : kafka-consumer-groups --bootstrap-server kafka:9092 --describe --group invoices",
        '.GroupCoordinator)\\n","stream":"stdout","time":"2026-03-01T10:00:01.827937959Z"}',
        "2026-03-01 10:00:01.000 INFO [main] c.a.RebalancedLedger - written",
    ],
)
def test_a_command_a_rest_and_a_class_are_no_lines_of_a_group(read, line):
    events, found = read(f"{line}\n")
    assert events == []
    assert not any(is_unclear(why, text) for _, why, text in found.rejected)


def test_a_limit_is_read_with_its_unit(read):
    ((event,), _) = read(
        "WARN c.a.SlowListener - blocks for 10000ms (max.poll.interval.ms=6000ms, a rebalance is to come)\n"
    )
    assert (event["event"], event["key"], event["value"]) == ("config", "max.poll.interval.ms", "6000")


@pytest.mark.parametrize("zone", ["+02:00", " +0200", "Z"])
def test_the_period_knows_the_zone_of_its_times(tmp_path, zone):
    (tmp_path / "app.log").write_text(
        "".join(
            f"2026-03-01T10:00:0{second}.000{zone} INFO 1 --- [main] c.a.App : told\n" for second in range(3)
        )
    )
    begin_ms = 1_772_359_200_000 - (0 if zone == "Z" else 7_200_000)
    assert look([tmp_path / "app.log"]).period == (begin_ms, begin_ms + 2000)


def of_a_member(letter, since):
    """The lines of a member that joins at a second, and again when another comes."""
    member = f"consumer-invoices-1-{letter * 8}-1111-2222-3333-444444444444"
    joined = "Successfully joined group with generation Generation{{generationId={}, memberId='{}', protocol='range'}}"
    prefix = "INFO [Consumer clientId=consumer-invoices-1, groupId=invoices]"
    return [
        f"[2026-03-01 10:00:{since:02},000] {prefix} (Re-)joining group ({_CLASS})",
        f"[2026-03-01 10:00:{since:02},100] {prefix} {joined.format(since, member)} ({_CLASS})",
        f"[2026-03-01 10:00:30,000] {prefix} (Re-)joining group ({_CLASS})",
        f"[2026-03-01 10:00:30,100] {prefix} {joined.format(31, member)} ({_CLASS})",
    ]


@pytest.mark.parametrize("way", ["files", "containers", "pods", "one after the other"])
def test_members_with_one_client_id_are_told_apart_by_their_processes(way):
    first, second = of_a_member("a", 1), of_a_member("b", 2)
    named = {"consumer-invoices-1 (web-1)", "consumer-invoices-1 (web-2)"}
    if way == "one after the other":
        second = [line.replace(" 10:", " 11:").replace("Id=31", "Id=32") for line in second]
        named = {"consumer-invoices-1"}
    if way in {"containers", "pods"}:
        first, second = (
            [f"{name}{line}" for line in lines]
            for name, lines in (
                (("web-1  | ", first), ("web-2  | ", second))
                if way == "containers"
                else (("[pod/web-1/app] ", first), ("[pod/web-2/app] ", second))
            )
        )
        files = {"all.log": [line for both in zip(first, second, strict=True) for line in both]}
    else:
        files = {"web-1.log": first, "web-2.log": second}
    reader = FileReader(Reading())
    events = [
        event
        for name, lines in files.items()
        for event in reader.read("run", name, ["\n".join(lines).encode()]).events
    ]
    assert {event.client for event in told_apart(events)} == named
    assert {event.client for event in events} == {"consumer-invoices-1"}


_REFUSED = "org.apache.kafka.clients.consumer.CommitFailedException: Commit cannot be completed since the group has already rebalanced"


@pytest.mark.parametrize(
    ("above", "expected"),
    [
        ("", ["other_commit_failed"]),
        ("It said:\n\n```\n", ["other_commit_failed"]),
        ("2026-03-01 10:00:00.000 INFO 1 --- [main] c.a.App : told\n", []),
        (f"{_REFUSED}\n\tat a.B.c(B.java:1)\n", ["other_commit_failed"]),
    ],
)
def test_an_exception_that_stands_alone_is_read(read, above, expected):
    events, found = read(f"{above}{_REFUSED}\n\tat a.B.c(B.java:1)\n\tat a.B.d(B.java:2)\n")
    assert [event["event"] for event in events] == expected
    assert found.lines == above.count("\n") + 3


def test_an_exception_that_stands_alone_is_no_line_that_was_joined(tmp_path):
    (tmp_path / "app.log").write_text(f"{_REFUSED}\n\tat a.B.c(B.java:1)\n")
    told = Text(tmp_path / "app.log")
    assert b"".join(told.pieces()).count(b"\n") == 2
    assert told.note(2) is None


@pytest.mark.parametrize(
    ("head", "tail"),
    [
        ("2026-03-01 10:00:01.123 | INFO | main | o.a.k.Listener | ", ""),
        ("1. ", ""),
        ("`", "`"),
        ('time="2026-03-01T10:00:01Z" level=info msg="', '"'),
        ("<14>1 2026-03-01T10:00:01Z host app 77 - - ", ""),
    ],
)
def test_a_group_is_named_without_what_stands_before_it(read, head, tail):
    ((event,), _) = read(f"{head}invoices: partitions assigned: [pay-0, pay-1]{tail}\n")
    assert (event["event"], event["group"]) == ("container_assigned", "invoices")
    assert event["partitions"] == ["pay-0", "pay-1"]
    assert ("at_ms" in event) is ("10:00:01" in head)


def test_what_is_no_group_behind_a_message_leaves_the_one_of_its_prefix(read):
    ((event,), _) = read(
        f"[2026-03-01 10:00:01,123] INFO {_PREFIX} (Re-)joining group ({_CLASS}:611) - app=x, server=0\n"
    )
    assert (event["event"], event["group"]) == ("joining", "invoices")
