"""Logs as files, lines in their layouts, and the table of texts."""

from __future__ import annotations

import gzip
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from string import Formatter

import pytest

from rebalance_kit.analysis.scenario_space import Space, draw
from rebalance_kit.logs.broker import broker_lines
from rebalance_kit.logs.lines import TEMPLATES, LogLine, form_of, listed, render, say
from rebalance_kit.logs.write import member_lines, split_by_member, write_logs
from rebalance_kit.model.errors import DataError
from rebalance_kit.recordings.folder import parse_line
from rebalance_kit.simulation.scenario.scenario import Action, MemberSpec, Scenario, TopicSpec
from rebalance_kit.simulation.simulate import simulate

BEGINS = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)


def scenario(protocol="cooperative", **changes):
    members = tuple(
        MemberSpec(
            name,
            ("orders",),
            {"session.timeout.ms": 10_000} if protocol != "consumer" else {},
            start_ms=100 * place,
        )
        for place, name in enumerate(("c1", "c2"))
    )
    return replace(
        Scenario("logs", (TopicSpec("orders", 4),), members, (Action(20_000, "crash", "c1"),), end_ms=45_000),
        **changes,
    )


@pytest.fixture(scope="module")
def trace():
    return simulate(scenario(), 1, "cooperative")


def test_a_folder_gets_the_brokers_log_and_one_a_member(tmp_path, trace):
    written = write_logs(trace, tmp_path / "new" / "place", begins=BEGINS)
    assert [file.name for file in written] == ["broker.log", "c1.log", "c2.log"]
    assert sorted(one.name for one in (tmp_path / "new" / "place").iterdir()) == [
        "broker.log",
        "c1.log",
        "c2.log",
    ]
    assert all(file.read_text().endswith(")\n") for file in written)


def test_packed_logs_hold_the_same_text_and_the_same_bytes_every_time(tmp_path, trace):
    plain = write_logs(trace, tmp_path / "plain")
    packed = write_logs(trace, tmp_path / "packed", packed=True)
    again = write_logs(trace, tmp_path / "again", packed=True)
    assert [file.name for file in packed] == ["broker.log.gz", "c1.log.gz", "c2.log.gz"]
    assert [gzip.decompress(file.read_bytes()) for file in packed] == [file.read_bytes() for file in plain]
    assert [file.read_bytes() for file in packed] == [file.read_bytes() for file in again]
    assert all(file.read_bytes()[4:8] == bytes(4) for file in packed)  # no time of writing in the header


def test_an_older_log_is_replaced_whole(tmp_path, trace):
    (tmp_path / "c1.log").write_text("old " * 100_000)
    write_logs(trace, tmp_path)
    assert "old old" not in (tmp_path / "c1.log").read_text()


@pytest.mark.parametrize("layout", ["logback", "librdkafka", ""])
def test_an_unknown_layout_is_refused_before_anything_is_written(tmp_path, trace, layout):
    with pytest.raises(DataError, match=f"layout '{layout}' is unknown; expected one of kafka, spring"):
        write_logs(trace, tmp_path / "logs", layout=layout)
    assert not (tmp_path / "logs").exists()


@pytest.mark.parametrize("name", ["../c1", "a/b", "..", "/etc/c1"])
def test_a_member_cannot_be_written_outside_the_folder(tmp_path, name):
    made = scenario()
    outside = simulate(replace(made, members=(replace(made.members[0], name=name),), actions=()), 1)
    with pytest.raises(DataError, match="gives no file name of its own"):
        write_logs(outside, tmp_path / "logs")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("layout", ["kafka", "spring"])
@pytest.mark.parametrize("protocol", ["eager", "cooperative", "consumer"])
def test_every_event_is_read_back_from_either_layout_at_its_millisecond(protocol, layout):
    lines = list(member_lines(simulate(scenario(protocol), 1, protocol), "c2"))
    begun = []
    for line in lines:
        first, *rest = render(line, BEGINS, layout).split("\n")
        found = parse_line(first)
        assert found is not None
        assert (found.t - int(BEGINS.timestamp() * 1000), found.level) == (line.at_ms, line.level)
        assert all(parse_line(text) is None for text in rest)
        begun.append(first)
    assert len(begun) == len(lines) > 20


def test_the_clock_of_a_log_carries_over_midnight():
    late = datetime(2026, 12, 31, 23, 59, 59, 995_000, tzinfo=UTC)
    assert render(LogLine(6, "INFO", "a.B", "x"), late) == "[2027-01-01 00:00:00,001] INFO x (a.B)"
    assert (
        render(LogLine(6, "7", "JOIN|c1#consumer-1", "[thrd:main]: x"), late)
        == f"%7|{int((late + timedelta(milliseconds=6)).timestamp())}.001|JOIN|c1#consumer-1| [thrd:main]: x"
    )


def test_spring_boot_prints_its_columns_as_recorded():
    line = LogLine(
        0, "INFO", "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator", "(Re-)joining group"
    )
    assert (
        render(line, BEGINS, "spring")
        == "2026-02-03T04:05:06.000Z   INFO 1 --- [           main] o.a.k.c.c.i.ConsumerCoordinator          : (Re-)joining group"
    )


def test_a_thrown_exception_stands_below_the_line_that_ends_in_its_logger():
    line = LogLine(0, "WARN", "a.B", "failed", "java.lang.RuntimeException: why")
    assert render(line, BEGINS).split("\n") == [
        "[2026-02-03 04:05:06,000] WARN failed (a.B)",
        "java.lang.RuntimeException: why",
    ]


@pytest.mark.parametrize("protocol", ["eager", "cooperative", "consumer"])
def test_lines_of_a_file_never_go_back_in_time(protocol):
    made = simulate(scenario(protocol), 3, protocol)
    for lines in (broker_lines(made), member_lines(made, "c1"), member_lines(made, "c2")):
        times = [line.at_ms for line in lines]
        assert times == sorted(times)
        assert len(times) > 5


def test_whatever_is_done_to_a_group_its_logs_can_be_written_and_read_back():
    lines = 0
    for number in range(80):
        made = simulate(draw(Space(data_plane=True), 7, number))
        own = split_by_member(made)
        for log in (list(broker_lines(made)), *(list(member_lines(own[name], name)) for name in own)):
            times = [line.at_ms for line in log]
            assert times == sorted(times), number
            assert all(parse_line(render(line).partition("\n")[0]) is not None for line in log)
            lines += len(log)
    assert lines > 5_000


@pytest.mark.parametrize("protocol", ["eager", "cooperative", "consumer"])
def test_a_members_own_rows_are_enough_for_its_log(protocol):
    made = simulate(
        scenario(protocol, actions=(Action(15_000, "freeze", "c1"), Action(40_000, "thaw", "c1"))),
        4,
        protocol,
    )
    for name, own in split_by_member(made).items():
        assert list(member_lines(own, name)) == list(member_lines(made, name))
        assert 20 < len(own.rows) < len(made.rows)


def test_no_line_holds_an_unfilled_place():
    for protocol in ("eager", "cooperative", "consumer"):
        made = simulate(scenario(protocol), 2, protocol)
        for line in (*broker_lines(made), *member_lines(made, "c1"), *member_lines(made, "c2")):
            assert "None" not in line.message.replace("groupInstanceId=None", "")


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_every_text_can_be_printed_and_keeps_its_forms_from_the_newest_to_the_oldest(name):
    forms = TEMPLATES[name]
    since = [tuple(int(part) for part in form.since.split(".")) for form in forms]
    assert since == sorted(since, reverse=True)
    for form in forms:
        values = {value: "V" for _, value, _, _ in Formatter().parse(form.text) if value is not None}
        assert "{" not in form.text.format_map(values).replace("FetchPosition{", "").replace(
            "LeaderAndEpoch{", ""
        )
        assert form.level in {"INFO", "WARN", "ERROR"}
        assert form.logger.startswith(("org.apache.kafka.", "kafka."))


@pytest.mark.parametrize(
    ("name", "version", "text"),
    [
        ("bumped", "4.0.0", "Bumped group epoch to 3."),
        ("bumped", "4.1.0", "Bumped group epoch to 3 with metadata hash 7."),
        ("stabilized", "3.9.1", "Stabilized group g generation 3 (__consumer_offsets-0) with 2 members"),
        ("stabilized", "4.0.0", "Stabilized group g generation 3 with 2 members."),
    ],
)
def test_a_version_prints_its_own_words(name, version, text):
    [line] = say(name, version, group="g", epoch=3, hash=7, generation=3, members=2, broker=1)
    assert line.message.endswith(text)


def test_a_line_that_a_version_does_not_print_is_not_printed():
    assert form_of("pending_joins", "3.9.1") is None
    assert say("pending_joins", "3.9.1", group="g") == ()
    assert say("banner", "4.0.0", who="") == ()


def test_callback_lines_have_brackets_since_4_1():
    assert listed(["a-0", "a-1"], "4.1.0") == "[a-0, a-1]"
    assert listed(["a-0", "a-1"], "4.0.0") == "a-0, a-1"
    assert listed([], "3.9.1") == ""
