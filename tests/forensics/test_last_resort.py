"""Lines that no template knows: who, what and how much from their words, told with less confidence; and what is left is said."""

from __future__ import annotations

import pytest

from rebalance_kit.forensics.answer.answer import Answer
from rebalance_kit.forensics.answer.selected import Selected
from rebalance_kit.forensics.answer.verdict import verdict
from rebalance_kit.forensics.answer.wishes import Wishes
from rebalance_kit.forensics.grammar import table
from rebalance_kit.forensics.lines import line_reader
from rebalance_kit.forensics.lines.anchors import client_like, speaks_of_a_group
from rebalance_kit.forensics.lines.last_resort import by_words
from rebalance_kit.forensics.look import look
from tests.support.pipeline.kafka_lines import stabilized

_AT = "2026-03-01 10:00:00.000"

LINES = {
    "franz-go": (
        '{"time":"2026-03-01T10:00:00Z","level":"warn","msg":"no group for us","group":"g","err":"FENCED_INSTANCE_ID: The broker rejected this static consumer"}',
        ("client_instance_fenced", "g", None),
    ),
    "franz-go that joins": (
        '{"ts":1772359200.123456,"msg":"re-joining the group","group":"g"}',
        ("joining", "g", None),
    ),
    "ruby-kafka": (
        'Aug  9 02:47:44 host: {"level":"ERROR","message":"[[g] {}:] Error fetching offsets: Kafka::UnknownMemberId","timestamp":"2026-03-01T10:00:00Z"}',
        ("other_unknown_member", "g", None),
    ),
    "rust": (
        f'{_AT} WARN commit failed: "IllegalGeneration" consumer_group=g',
        ("other_commit_failed", "g", None),
    ),
    "a poll limit": (
        f"{_AT} ERROR group.id=g max_poll_interval_ms exceeded by 1200 ms",
        ("other_poll_timeout", "g", None),
    ),
    "a join with its generation": (
        f"{_AT} INFO group_id=g consumer joined, generation_id=7",
        ("other_joined", "g", 7),
    ),
    "a masked broker line": (
        "[2026-03-01 10:00:00,000] INFO [GroupCoordinator 0]: Preparing to rebalance juniper g in state Stable with old generation 4 (reason: removed)",
        ("preparing", "g", 4),
    ),
    "a coordinator that refuses": (
        f"{_AT} ERROR group=g coordinator connection refused",
        ("coordinator_lost", "g", None),
    ),
}


def told(tmp_path, text):
    (tmp_path / "app.log").write_text(text)
    return look([tmp_path])


@pytest.mark.parametrize("name", LINES)
def test_words_tell_what_happened_to_which_group_with_less_confidence(tmp_path, name):
    text, expected = LINES[name]
    (event,) = told(tmp_path, text + "\n").rows("events")
    assert (event["event"], event["group"], event["generation"]) == expected
    assert event["confidence"] == "low"
    assert event["at_ms"] is not None


def test_what_is_concluded_from_words_says_so(tmp_path):
    result = told(tmp_path, LINES["franz-go"][0] + "\n")
    (finding,) = result.rows("findings")
    assert (finding["finding"], finding["confidence"]) == ("instance_id_fenced", "low")
    assert verdict(Selected(result, Wishes())).understood.by_words == 1


@pytest.mark.parametrize(
    "line",
    [
        "org.apache.kafka.clients.consumer.CommitFailedException: Commit cannot be completed since the group has already rebalanced",
        "\tat org.apache.kafka.clients.consumer.internals.ConsumerCoordinator.joinGroup(ConsumerCoordinator.java:1)",
        "2026-03-01 10:00:00.000 INFO GET /members 200",
        "\tgroup.instance.id = null",
    ],
)
def test_words_are_not_read_from_what_only_continues_a_line_or_speaks_of_something_else(line):
    found = by_words(line, None)
    assert found is None or line.startswith("org.apache")


@pytest.mark.parametrize(
    "line",
    [
        f"{_AT} INFO rebalanced the frobnicator",
        f"{_AT} kgo.go:317 eating the revoked sandwich of nobody's partition",
    ],
)
def test_a_line_that_looks_like_a_groups_and_is_not_understood_is_never_passed_over(tmp_path, line, capsys):
    assert speaks_of_a_group(line)
    result = told(tmp_path, line + "\n")
    chosen = Selected(result, Wishes())
    said = verdict(chosen)
    if said.understood.unclear:
        assert (said.understood.unclear, said.understood.first["line"]) == (1, 1)
        assert "could not be understood" in said.sentence
        assert said.status("warning") == 3
    else:
        assert said.understood.by_words == 1
    assert "No line" not in said.sentence


def test_whose_line_it_may_be_is_said():
    assert client_like('"caller":"twmb/franz-go@v1.18.1/pkg/kgo/consumer.go:355"') == "franz-go"
    assert client_like("hello") is None


def test_nothing_is_said_of_a_group_only_where_no_line_looks_like_one(tmp_path):
    said = verdict(Selected(told(tmp_path, "GET /index.html\n"), Wishes()))
    assert (said.sentence, said.status("warning")) == ("No line was read as one of a consumer group.", 0)


#: Lines of a family, with its templates taken away: what the words alone still tell.
FAMILIES = {
    "JAVA": "[2026-03-01 10:00:00,000] ERROR [Consumer clientId=c1, groupId=g] Offset commit in generation 7 failed with IllegalGenerationException (o.a.k.X)",
    "BROKER": stabilized(0, 7).rstrip(),
    "LIBRDKAFKA": '%7|1772359200.000|JOIN|c1#consumer-1| [thrd:main]: Group "g": leaving group, generation 7 is over',
}


@pytest.mark.parametrize("family", FAMILIES)
def test_with_the_templates_of_a_family_taken_away_its_words_still_tell(family, tmp_path, monkeypatch):
    kept = tuple(one for one in table.MESSAGES if one not in getattr(table, family))
    finder = table.Finder(kept)
    monkeypatch.setattr(line_reader, "IN_MESSAGES", finder)
    monkeypatch.setattr("rebalance_kit.forensics.lines.repeats.IN_MESSAGES", finder)
    monkeypatch.setattr(line_reader, "find_of_others", lambda _: None)
    events = told(tmp_path, FAMILIES[family] + "\n").rows("events")
    assert [(event["generation"], event["confidence"]) for event in events] == [(7, "low")]


def test_the_whole_report_is_one_form_of_the_answer():
    assert Answer().form == "screen"


@pytest.mark.parametrize(
    "said", ["left the streams group", "joins the streams group", "updated its topology"]
)
def test_a_verb_behind_the_word_member_is_no_members_name(said):
    ((_, _, (template, texts)),) = by_words(
        f"[GroupCoordinator id=1] [GroupId orders][MemberId m-1] Member {said}.", None
    )
    assert dict(zip(template.fields, texts, strict=True))["member"] == "m-1"


def test_a_line_that_names_nobody_adds_nobody_to_the_client_that_its_file_names(tmp_path):
    log = tmp_path / "log.txt"
    log.write_text(
        "consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the "
        "configured max.poll.interval.ms\n"
        "Member consumer-grp1-1-8ad2817e-5950-4d40-80a4-e7b5cc3670a7 sending LeaveGroup request to coordinator "
        "localhost:9092 (id: 2147482646 rack: null) due to consumer poll timeout has expired.\n"
    )
    cards = verdict(look([log])).cards
    (card,) = [card for card in cards if card.first["finding"] == "poll_timeout_exceeded"]
    assert len(card.rows) == 2
    assert card.others == ""


_JOINS = "[Consumer clientId=c1, groupId=g] Successfully joined group with generation 7"


@pytest.mark.parametrize(
    "prose",
    [
        "Now `Consumer 5` is assigned both partitions",
        "> After the rebalance node B is assigned p-0, as the coordinator wanted",
        "The log of the other member of the group shows:",
        "Below, empty rebalance notifications arrive, because of a coordinator that moved. See the first line.",
        "## How the coordinator assigns",
    ],
)
def test_a_sentence_of_prose_beside_a_log_makes_no_answer_doubtful(prose, tmp_path):
    said = verdict(look([_log(tmp_path, f"{_AT} INFO {_JOINS}\n\n{prose}\n")])).understood
    assert (said.about, said.unclear) == (1, 0)


@pytest.mark.parametrize(
    "record",
    [
        f"{_AT} the coordinator frobnicated its member",
        "WARN the coordinator frobnicated its member",
        "[sarama] the coordinator frobnicated its member",
        "level=warn the coordinator frobnicated its member",
        "app.kafka.Loop: the coordinator frobnicated its member",
        f"> {_AT} the coordinator frobnicated its member",
    ],
)
def test_a_record_that_nobody_understands_still_does(record, tmp_path):
    said = verdict(look([_log(tmp_path, f"{_AT} INFO {_JOINS}\n{record}\n")])).understood
    assert (said.about, said.unclear) == (2, 1)


@pytest.mark.parametrize(
    "remark",
    [
        "# here it will revoke what it was assigned -",
        "# Revoke previously assigned partitions orders-0, orders-1",
        "// Adding newly assigned partitions: orders-1",
        "### The coordinator is not aware of this member",
        "> ## The group is rebalancing",
    ],
)
def test_a_remark_or_a_heading_is_no_event(remark, tmp_path):
    (event,) = look([_log(tmp_path, f"{remark}\n{_AT} INFO {_JOINS}\n")]).rows("events")
    assert event["event"] == "joined"


@pytest.mark.parametrize("margin", ["# ", "// ", "> "])
def test_a_log_that_stands_in_a_comment_is_read(margin, tmp_path):
    rows = look([_log(tmp_path, f"{margin}{_AT} INFO {_JOINS}\n{margin}{_JOINS}\n")]).rows("events")
    assert [row["event"] for row in rows] == ["joined", "joined"]


def _log(tmp_path, text):
    (tmp_path / "app.log").write_text(text)
    return tmp_path / "app.log"


_NATIVE = "%7|1772359200.000|CGRPTERM|c1#consumer-1| [thrd:main]: "


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            f'{_NATIVE}Group "g": waiting for rebalance_cb, 2 toppar(s), 0 unassignment(s), 0 commit(s), wait-unassign flag,'
            " (state up, join-state wait-revoke-rebalance_cb) before terminating",
            "waits, before it closes, for its application to answer the rebalance callback",
        ),
        (
            f'{_NATIVE}Group "g": waiting for 2 toppar(s), assignment in progress, 1 commit(s) '
            "(state up, join-state wait-unassign-to-complete) before terminating",
            "waits, before it closes (2 partitions, 1 commit)",
        ),
        ("Warning: Consumer group 'g' is rebalancing.\n", "\"Consumer group 'g' is rebalancing.\""),
    ],
)
def test_what_a_client_or_a_tool_said_is_told_in_words(lines, said, tmp_path):
    assert f"{said}." in verdict(look([_log(tmp_path, lines + "\n")])).sentence


def test_a_tools_warning_is_no_members_and_a_wrapped_line_of_a_leaver_is_one(tmp_path):
    text = "Warning: Consumer group 'g' is rebalancing.\n\n[Consumer clientId=c1, groupId=g] Member c1-77 sending LeaveGroup request to coordinator\n"
    result = look([_log(tmp_path, text)])
    assert "c1 is told" not in verdict(result).sentence
    assert "c1 left the group" in verdict(result).sentence
    assert "no reason given" not in str(result.rows("findings"))


def test_two_members_of_one_client_id_are_not_told_as_one(tmp_path):
    joined = "[main] INFO org.apache.kafka.clients.consumer.internals.ConsumerCoordinator - [Consumer clientId=c1, groupId=g] Successfully joined group with generation Generation{{generationId=9, memberId='c1-{}', protocol='range'}}\n"
    given = "[main] INFO org.apache.kafka.clients.consumer.internals.ConsumerCoordinator - [Consumer clientId=c1, groupId=g] Adding newly assigned partitions: orders-{}\n"
    one, other = "1aaaaaaa-0000-4000-8000-000000000001", "2bbbbbbb-0000-4000-8000-000000000002"
    text = joined.format(one) + given.format(0) + joined.format(other) + given.format(1)
    sentence = verdict(look([_log(tmp_path, text)])).sentence
    assert f"2 member ids share the client id c1 (c1-{one}, c1-{other})" in sentence
    assert "is given" not in sentence


def test_a_client_that_no_line_names_is_named_by_the_member_id_that_its_broker_made_of_it(tmp_path):
    line = (
        '{{"level":"ERROR","timestamp":"2026-03-01T10:00:0{}.000Z","logger":"kafkajs","message":"The group is rebalancing, re-joining",'
        '"groupId":"g","memberId":"app-{}-1aaaaaaa-0000-4000-8000-000000000001"}}\n'
    )
    events = look([_log(tmp_path, line.format(1, 1) + line.format(2, 2))]).rows("events")
    assert [event["client"] for event in events] == ["app-1", "app-2"]


def test_a_client_that_asks_to_join_with_nothing_is_not_told_as_somebody_elses_doing(tmp_path):
    java = f"{_AT} INFO [Consumer clientId=c1, groupId=g] "
    text = "".join(
        java + said + "\n"
        for said in (
            "Revoking previously assigned partitions []",
            "(Re-)joining group",
            "Successfully joined group with generation 3",
            "Setting newly assigned partitions: orders-0",
        )
    )
    (row,) = look([_log(tmp_path, text)]).rows("rebalances")
    assert (
        row["cause"]
        == "c1 asked to join and held no partition before; whether somebody else began it is not in these lines"
    )


def test_librdkafkas_first_join_is_its_own(tmp_path):
    text = '%7|1772359200.000|REBALANCE|c1#consumer-1| [thrd:main]: Group "g" is rebalancing in state up (join-state init) without assignment: group rejoin\n'
    (row,) = look([_log(tmp_path, text)]).rows("rebalances")
    assert row["cause"] == "c1 asked to join; no line was read as telling that it has joined"


def test_a_leaver_leaves_once(tmp_path):
    java = "[main] INFO org.apache.kafka.clients.consumer.internals.ConsumerCoordinator - [Consumer clientId=c1, groupId=g] "
    text = (
        java
        + "Member c1-77 sending LeaveGroup request to coordinator h:9092 (id: 2147483646 rack: null) due to the consumer is being closed\n"
        + java
        + "Request joining group due to: consumer pro-actively leaving the group\n"
    )
    sentence = verdict(look([_log(tmp_path, text)])).sentence
    assert sentence.startswith("c1 left the group (the consumer is being closed).")
    assert "leaves" not in sentence
