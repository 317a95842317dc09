"""The answer at a terminal: one screen, statuses, what is asked for, and forms for machines."""

from __future__ import annotations

import csv
import io
import json

import jsonschema
import pytest

from rebalance_kit import cli
from rebalance_kit.forensics.answer.as_json import SCHEMA, schema
from rebalance_kit.forensics.answer.verdict import bound, totals
from rebalance_kit.forensics.answer.wishes import Wishes, moment
from rebalance_kit.forensics.words import LEAVES_BY_ITSELF
from rebalance_kit.model.errors import ConfigError
from tests.support.paths import ROOT
from tests.support.pipeline.kafka_lines import (
    adding,
    broker,
    client,
    failing,
    joined,
    joining,
    preparing,
    rebalance,
    stabilized,
)

_AT = 1_772_359_200_000
"""When the lines of ``kafka_lines`` begin: 1 March 2026, 10:00."""

QUIET = joining(0, 0, "c1") + joining(10, 1, "c2")
TROUBLE = QUIET + failing(3_600, 2, "c2")
MAXPOLL = "%4|1772359200.000|MAXPOLL|rdkafka#consumer-1| [thrd:main]: Application maximum poll interval (300000ms) exceeded by 113217ms (adjust max.poll.interval.ms for long-running message processing): leaving group\n"


@pytest.fixture
def said(tmp_path, capsys):
    def run(*words, **files):
        for name, text in files.items():
            (tmp_path / f"{name}.log").write_text(text)
        out = io.StringIO()
        return cli.main(["logs", str(tmp_path), *words], out), out.getvalue()

    return run


@pytest.mark.parametrize(
    ("status", "text", "words"),
    [
        (0, QUIET, ()),
        (0, "GET /index.html\n", ()),
        (1, TROUBLE, ()),
        (1, TROUBLE, ("--json",)),
        (0, TROUBLE, ("--fail-on", "critical")),
        (1, MAXPOLL, ("--fail-on", "critical")),
        (0, TROUBLE, ("--fail-on", "never")),
        (0, TROUBLE, ("--until", "10:30")),
        (1, TROUBLE, ("--since", "-30m")),
        (2, TROUBLE, ("--group", "another-*")),
        (2, TROUBLE, ("--member", "nobody")),
        (0, TROUBLE, ("--member", "c1")),
        (1, TROUBLE, ("--member", "c2")),
        (2, QUIET, ("--since", "tomorrow")),
        (2, QUIET, ("--since", "10:00:05", "--until", "10:00:01")),
        (2, QUIET, ("--top", "-1")),
        (3, "", ()),
        (3, "2026-03-01 10:00:00,000 [zork] rebalance of the frobnicator in its group: member plugh\n", ()),
    ],
)
def test_the_status_says_what_the_answer_says(said, status, text, words):
    assert said(*words, server=text)[0] == status


def test_a_file_that_cannot_be_read_to_its_end_is_not_called_healthy(said, tmp_path):
    import gzip

    (tmp_path / "a.log.gz").write_bytes(gzip.compress(QUIET.encode())[:-20])
    assert said()[0] == 3


def test_words_that_the_command_does_not_know_end_with_status_2(said):
    with pytest.raises(SystemExit) as ended:
        said("--no-such-word", server=QUIET)
    assert ended.value.code == 2


def test_the_first_screen_is_one_screen_and_says_what_who_why_and_what_to_do(said, tmp_path):
    many = "".join(
        TROUBLE.replace("c2", f"c{name}").replace("orders-app", f"g{name}") for name in range(2, 40)
    )
    _, text = said(server=many)
    lines = text.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 120
    assert "  WARNING" in "".join(lines[:2])
    assert any(line.startswith("     proof     server.log:") for line in lines)
    assert any(line.startswith("     do  ") for line in lines)
    assert "--all shows them" in text
    assert "2026-03-01 09:59:59.9 to 2026-03-01 11:00:" in text


def test_where_lines_speak_of_a_group_and_no_rebalance_can_be_told_none_is_denied(said):
    _, text = said(app=client(0, "c1", "Subscribed to topic(s): orders"))
    assert text.startswith(
        'orders-app: c1 "Subscribed to topic(s): orders". No line was read that tells of a rebalance.'
    )


def test_identical_findings_are_one_card(said):
    many = "".join(
        TROUBLE.replace("c2", f"c{name}").replace("orders-app", f"g{name}") for name in range(2, 9)
    )
    _, text = said("--top", "50", server=many)
    assert [line[:15] for line in text.splitlines() if line.startswith("  1  ")] == ["  1  WARNING   "]
    assert text.count("  WARNING") == 2  # the headline and one card
    assert "(the same for c3, c4, c5, c6, c7, c8)" in " ".join(text.split())


def test_all_and_books_print_every_rebalance(said):
    _, text = said("--all", server=TROUBLE)
    assert "Rebalances:" in text
    assert "(--books: file by file)" in text
    assert "   all 1 files" in said("--books", server=TROUBLE)[1]


@pytest.mark.parametrize("text", [QUIET, TROUBLE, MAXPOLL, ""])
def test_every_line_of_json_is_as_its_schema_says(said, text):
    _, told = said("--json", server=text)
    lines = [json.loads(line) for line in told.splitlines()]
    for line in lines:
        jsonschema.validate(line, schema())
    assert lines[-1]["kind"] == "summary"


def test_the_schema_in_the_docs_is_that_of_the_code():
    assert json.loads((ROOT / SCHEMA).read_text("utf-8")) == schema()


def test_json_of_all_recorded_runs_is_as_its_schema_says(looked_at):
    validator = jsonschema.Draft202012Validator(schema())
    assert [error.message for line in looked_at.records for error in validator.iter_errors(line)] == []


def test_json_holds_findings_that_name_no_group_and_says_how_grave_they_are(said):
    _, told = said("--json", app=MAXPOLL)
    (nobody, summary) = (json.loads(line) for line in told.splitlines())
    assert [row["finding"] for row in nobody["findings"]] == ["poll_timeout_exceeded"]
    assert (nobody["severity"], summary["severity"], summary["status"]) == ("critical", "critical", 1)


def test_json_has_gaps_members_and_how_much_was_understood(looked_at, runs_folder):
    (line,) = (one for one in looked_at.groups if one["path"] == str(runs_folder / "crash.eager.4.3.1"))
    assert line["gaps"] and line["members"]
    assert line["unread"]["unread_ms"] == sum(row["duration_ms"] for row in line["gaps"])
    assert {row["cause"] for row in line["gaps"]} & {"died_without_goodbye c3", "session_expired c3"}


def test_csv_is_a_table_that_no_spreadsheet_runs(said):
    evil = TROUBLE.replace("c2", "=cmd()")
    _, told = said("--csv", "--table", "members", server=evil)
    rows = list(csv.DictReader(io.StringIO(told)))
    assert rows and all(not row["client"].startswith("=") for row in rows)
    assert any("cmd()" in row["client"] for row in rows)


def test_markdown_is_a_postmortem_with_its_picture_beside_it(said, tmp_path):
    target = tmp_path / "out" / "post.md"
    target.parent.mkdir()
    said("--markdown", str(target), server=TROUBLE)
    text = target.read_text("utf-8")
    for head in ("## Timeline", "## Causes and evidence", "## Actions", "![Rebalances", "- [ ] "):
        assert head in text
    assert (tmp_path / "out" / "post.svg").read_text("utf-8").startswith("<svg")


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("-2h", _AT - 7_200_000),
        ("-1.5m", _AT - 90_000),
        ("09:30", _AT - 1_800_000),
        ("10:30", _AT + 1_800_000 - 86_400_000),
        ("2026-03-01T09:00:00Z", _AT - 3_600_000),
        ("2026-03-01 10:00:00+01:00", _AT - 3_600_000),
        ("2026-03-01", _AT - 36_000_000),
    ],
)
def test_a_moment_is_told_by_the_end_of_the_logs_by_a_clock_or_by_a_date(text, ms):
    assert moment(text, _AT) == ms


@pytest.mark.parametrize("text", ["2h", "25:00", "-2 h", "now", "", "9999999999"])
def test_a_moment_that_cannot_be_meant_is_refused(text):
    with pytest.raises(ConfigError, match="expected"):
        moment(text, _AT)


def test_a_finding_that_goes_on_is_found_by_its_last_time(said):
    later = QUIET + failing(3_600, 2, "c2") + joining(3_700, 3, "c2") + failing(7_200, 4, "c2")
    assert said("--since", "-10m", server=later)[0] == 1
    assert Wishes(since="-10m").narrowed


def test_unread_time_of_a_member_that_died_in_a_rebalance_counts_from_what_its_own_log_proves(said):
    """The end of the join phase begins its session anew, so expiry minus a session is when it was long dead."""
    settings = "\tsession.timeout.ms = 10000\n\tgroup.protocol = classic\n"
    died = (
        client(0, "c2", "ConsumerConfig values: ")
        + settings
        + client(1, "c2", "Adding newly assigned partitions: [orders-1]")
    )
    took_over = (
        client(0, "c1", "ConsumerConfig values: ")
        + settings
        + client(60, "c1", "Adding newly assigned partitions: [orders-1]")
    )
    _, told = said(
        "--json",
        server=QUIET + rebalance(40, 2, adding("c3")) + failing(50.2, 3, "c2"),
        c1=took_over,
        c2=died + client(20, "c2", "(Re-)joining group"),
    )
    (gap,) = json.loads(told.splitlines()[0])["gaps"]
    assert (gap["from_ms"], gap["to_ms"]) == (_AT + 20_000, _AT + 60_000)


@pytest.mark.parametrize(("missing", "least"), [(False, False), (True, True)])
def test_unread_time_is_at_least_that_where_the_log_of_a_member_is_missing(said, missing, least):
    def logs(name, *calls):
        return {name: "".join(client(at, name, call) for at, call in calls)}

    files = logs(
        "c1",
        (1, "Adding newly assigned partitions: [orders-0]"),
        (10, "Revoke previously assigned partitions [orders-0]"),
    )
    files |= logs("c2", (12, "Adding newly assigned partitions: [orders-0]")) | {"server": QUIET}
    if missing:
        files["server"] = QUIET + joining(20, 2, "c3")
    _, told = said("--json", **files)
    assert json.loads(told.splitlines()[0])["unread"] == {
        "unread_ms": 2_000,
        "longest_ms": 2_000,
        "longest": "orders-0",
        "at_least": least,
        "at_most": False,
    }


@pytest.mark.parametrize(
    ("known_by", "finding", "told"),
    [
        ("revoked", None, ""),
        ("revoked", "client_poll_timeout", "at least "),
        ("revoked", "zombie_commit", "at least "),
        ("expired", None, "at most "),
        ("expired", "zombie_commit", "at most "),
        ("expired", "poll_timeout_exceeded", "at least "),
    ],
)
def test_unread_time_is_bounded_by_how_its_gap_is_known_and_by_who_did_not_poll(known_by, finding, told):
    gap = {"partition": "orders-0", "duration_ms": 2_000, "known_by": known_by, "at_least": False}
    assert bound(totals([gap], [{"finding": finding}] if finding else [])) == told


@pytest.mark.parametrize(
    ("after", "state"),
    [
        ("", "settled"),
        (
            broker(90, "Member m7 in group orders-app has failed, removing it from the group"),
            "a member removed at",
        ),
        (broker(95, "Group orders-app transitioned to Dead in generation 4"), "dead"),
        (client(90, "c1", "(Re-)joining group"), "a member asked to join at"),
        (preparing(80, 2, "x") + stabilized(90, 3), "joined, not assigned yet at"),
        (
            client(90, "c1", f"Resetting generation and member id due to: {LEAVES_BY_ITSELF}"),
            "a member left it at",
        ),
    ],
)
def test_a_group_is_settled_only_when_nothing_is_told_after_its_last_rebalance(said, after, state):
    _, text = said(server=QUIET + after)
    (row,) = (line for line in text.splitlines() if line.startswith("  orders-app  "))
    assert state in row
    assert (" ? " in row) == state.startswith("a member")


def of_member(seconds, epoch, before, after):
    return client(seconds, "c1", f"Member m1 with epoch {epoch} transitioned from {before} to {after}.")


@pytest.mark.parametrize(
    ("lines", "state"),
    [
        (joined(0, "c1", 4), "joined, not assigned yet at"),
        (joined(0, "c1", 4) + client(1, "c1", "Notifying assignor about the new Assignment(partitions=[a-1])") + client(1, "c1", "Adding newly assigned partitions: [a-1]"), "settled"),
        (client(0, "c1", "Successfully joined group with generation 4"), "settled"),
        (joined(0, "c1", 4) + client(1, "c1", "Revoke previously assigned partitions [a-1]"), "a member gave up partitions at"),
        (of_member(0, 4, "ACKNOWLEDGING", "STABLE"), "stable, by its members told of"),
        (of_member(0, 4, "ACKNOWLEDGING", "STABLE") + of_member(9, 4, "STABLE", "PREPARE_LEAVING"), "a member left it at"),
        (broker(0, "[GroupId orders-app] Bumped group epoch to 4.") + broker(0, "[GroupId orders-app] Computed a new target assignment for epoch 4 with 'uniform' assignor in 1ms."), "target computed, no end told"),
    ],
)  # fmt: skip
def test_a_state_is_as_far_as_the_last_line_tells(said, lines, state):
    _, text = said("--top", "9", server=lines)
    (row,) = (line for line in text.splitlines() if line.startswith("  orders-app  "))
    assert row.endswith(state) or f"{state} 2026" in row


def test_members_alone_tell_that_another_rebalance_began(said):
    begun = client(90, "c1", "(Re-)joining group")
    _, text = said(c1=client(1, "c1", "(Re-)joining group") + joined(2, "c1", 3) + begun)
    steps = text.partition("  in order  ")[2]
    assert steps.count("asks to join") == 2
    assert steps.index("joins generation 3") < steps.rindex("asks to join")
