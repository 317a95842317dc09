"""What a report once said of real logs and was not so: small logs of the same shape, and what may not be said."""

from __future__ import annotations

import io

import pytest

from rebalance_kit.forensics.answer.answer import Answer
from rebalance_kit.forensics.look import look
from rebalance_kit.forensics.report import print_report
from tests.support.pipeline.kafka_lines import (
    GROUP,
    adding,
    broker,
    client,
    finished,
    joined,
    leaving,
    member,
    preparing,
    worker,
)


@pytest.fixture
def told(tmp_path):
    """The tables of files written here, and the report."""

    def read(**files):
        for name, text in files.items():
            (tmp_path / f"{name}.log").write_text(text)
        result, out = look([tmp_path]), io.StringIO()
        print_report(result, out)
        return result, out.getvalue()

    return read


def findings(result):
    return {row["finding"] for row in result.rows("findings")}


def old_stabilized(seconds, generation):
    return broker(seconds, f"Stabilized group {GROUP} generation {generation} (__consumer_offsets-7)")


def stable(seconds, name, epoch, came_from="ACKNOWLEDGING"):
    return client(
        seconds, name, f"Member M-{name} with epoch {epoch} transitioned from {came_from} to STABLE."
    )


def test_a_leader_of_2_5_that_says_afterwards_that_it_joined_is_not_slow(told):
    result, _ = told(c1=joined(0, "c1", 3) + finished(740, 4, "orders-0") + joined(740.1, "c1", 4))
    assert "slow_leader" not in findings(result)


def test_a_rebalance_of_a_broker_before_2_8_has_an_end(told):
    result, text = told(broker=preparing(0, 13, adding("c1")) + old_stabilized(3, 14))
    (row,) = result.rows("rebalances")
    assert (row["after"], row["duration_ms"]) == (14, 3000)
    assert "no end" not in text
    assert result.rows("rejected") == []


def test_a_worker_that_is_restarted_by_hand_is_no_scaler(told):
    text = ""
    for turn in range(6):
        text += broker(
            60 * turn,
            f"Preparing to rebalance group {GROUP} in state PreparingRebalance with old generation {2 * turn} "
            f"(__consumer_offsets-7) (reason: Adding new member connect-1-3d088f73-0d4b-40a2-94b6-76a32dab4a{turn}b with group instanceid None)",
        )
        text += old_stabilized(60 * turn + 1, 2 * turn + 1)
        text += broker(
            60 * turn + 30,
            f"Preparing to rebalance group {GROUP} in state PreparingRebalance with old generation {2 * turn + 1} "
            f"(__consumer_offsets-7) (reason: removing member connect-1-3d088f73-0d4b-40a2-94b6-76a32dab4a{turn}b on LeaveGroup)",
        )
        text += broker(
            60 * turn + 30.1,
            f"Group {GROUP} with generation {2 * turn + 2} is now empty (__consumer_offsets-7)",
        )
    result, _ = told(broker=text)
    assert [row["trigger"] for row in result.rows("rebalances")] == ["join", "leave"] * 6
    assert "scaling_to_and_fro" not in findings(result)


def test_a_worker_that_closes_with_a_request_in_flight_did_say_goodbye(told):
    result, _ = told(
        w=worker(
            0,
            "connect-1",
            "Close timed out with 1 pending requests to coordinator, terminating client connections",
            "WARN",
        )
    )
    assert "leave_timed_out" not in findings(result)


def test_whoever_joined_by_its_own_log_is_named(told):
    retried = (
        "Join group failed with org.apache.kafka.common.errors.MemberIdRequiredException: The group member needs "
        "to have a valid member id before actually entering a consumer group."
    )
    result, _ = told(
        c1=joined(0, "c1", 27) + joined(20, "c1", 28),
        c3=client(18, "c3", "(Re-)joining group") + client(18.1, "c3", retried) + joined(20, "c3", 28),
    )
    row = result.rows("rebalances")[-1]
    assert (row["trigger"], row["culprit"], row["after"]) == ("join", "c3", 28)


def test_where_the_cause_is_not_in_the_logs_the_report_says_which_log_would_tell(told):
    _, text = told(c1=joined(0, "c1", 27) + joined(20, "c1", 28))
    assert "these logs do not say why" in text.replace("\n", " ").replace("  ", "")
    assert "coordinator's log may" in " ".join(text.split())


def test_an_acknowledgement_at_an_older_epoch_is_no_rebalance(told):
    result, _ = told(c1=stable(0, "c1", 2) + stable(5, "c1", 1) + stable(9, "c1", 2))
    assert [(row["before"], row["after"]) for row in result.rows("rebalances")] == [(None, 2)]


def test_a_second_between_a_callback_and_the_next_poll_is_no_slow_callback(told):
    given = client(0, "c1", "Adding newly assigned partitions: [orders-0]")
    done = "Member M1 with epoch 2 transitioned from RECONCILING to ACKNOWLEDGING."
    assert "slow_callback" not in findings(told(c1=given + client(1.02, "c1", done))[0])
    revoked = client(2, "c1", done) + client(3, "c1", "Revoke previously assigned partitions [orders-0]")
    polled = client(4.02, "c1", "Adding newly assigned partitions: []")
    assert "slow_callback" not in findings(told(c1=revoked + polled)[0])
    result, text = told(c1=given + client(6, "c1", done))
    assert "slow_callback" in findings(result)
    assert "or its next poll() came so late" in " ".join(text.split())


def test_a_second_member_of_one_client_id_does_not_join_again(told):
    one, other = (f"c1-3d088f73-0d4b-40a2-94b6-76a32dab4a{end}" for end in ("0b", "1b"))

    def coming(seconds, old, member):
        return (
            broker(
                seconds,
                f"Pending dynamic member with id {member} joins group {GROUP} in Stable state. Adding to the group now.",
            )
            + preparing(
                seconds,
                old,
                f"Adding new member {member} with group instance id None; client reason: not provided",
            )
            + old_stabilized(seconds + 1, old + 1)
        )

    result, text = told(broker=coming(0, 0, one) + coming(30, 1, other))
    assert [row["cause"] for row in result.rows("rebalances")] == ["c1 joined the group"] * 2
    assert one in text and other in text


def test_a_member_that_joined_in_the_rebalance_of_another_joins_again(told):
    one, other, later = (
        f"{name}-3d088f73-0d4b-40a2-94b6-76a32dab4a{end}"
        for name, end in (("c1", "0b"), ("c2", "1b"), ("c2", "2b"))
    )

    def admitted(seconds, member, state):
        return broker(
            seconds,
            f"Pending dynamic member with id {member} joins group {GROUP} in {state} state. Adding to the group now.",
        )

    def begun(seconds, old, member):
        reason = f"Adding new member {member} with group instance id None; client reason: not provided"
        return preparing(seconds, old, reason)

    result, _ = told(
        broker=admitted(0, one, "Empty")
        + begun(0, 0, one)
        + admitted(1, other, "PreparingRebalance")
        + old_stabilized(3, 1)
        + broker(
            20,
            f"[Group {GROUP}] Member {other} has left group through explicit `LeaveGroup` request; client reason: not provided",
        )
        + admitted(30, later, "Stable")
        + begun(30, 1, later)
        + old_stabilized(31, 2)
    )
    assert [row["cause"] for row in result.rows("rebalances")] == [
        "c1 joined the group; c2 joined meanwhile",
        "c2 joined the group again",
    ]


def test_a_group_of_which_only_the_end_of_a_rebalance_is_told_has_not_had_none(told):
    result, text = told(broker=old_stabilized(0, 234))
    assert result.rows("groups")[0]["generations"] == [234]
    assert "0 rebalances" not in text


def test_a_finding_of_lines_without_a_group_is_printed(told):
    _, text = told(app="Heartbeat session expired, marking coordinator dead\n")
    assert "found that its session is over" in " ".join(text.split())


def test_a_change_of_topics_is_not_said_to_be_missing_in_the_brokers_logs(told):
    reason = "Leader c1-3d088f73-0d4b-40a2-94b6-76a32dab4a9b re-joining group during Stable; client reason: cached metadata has changed from (version1: {}) to (version2: {})"
    _, text = told(broker=preparing(0, 1, reason) + old_stabilized(1, 2))
    assert "these logs do not say which" in " ".join(text.split())


def test_a_coordinator_is_lost_for_the_cause_that_kafka_2_7_to_3_x_write_without_a_blank(told):
    lost = "Group coordinator b:9092 (id: 1 rack: null) is unavailable or invalid due to cause: coordinator unavailable.isDisconnected: false. Rediscovery will be attempted."
    result, _ = told(c1=client(0, "c1", lost))
    assert result.rows("events")[0]["cause"] == "coordinator unavailable"


def test_a_rebalance_known_from_clients_begins_when_the_first_of_them_asks_to_join(told):
    result, _ = told(c1=joined(0, "c1", 3) + client(10, "c1", "(Re-)joining group") + joined(13, "c1", 4))
    assert result.rows("rebalances")[-1]["duration_ms"] == 3000


@pytest.mark.parametrize(
    "line",
    [
        "2023-10-05 15:07:23,881 INFO {message} (kafka.coordinator.group.GroupCoordinator) [executor-Rebalance]",
        ">{plain}",
        "**{plain}**",
        "\t{plain}",
        "  {plain}",
        "{plain},2023-08-01 05:27:46.000",
        '"2023-08-01T05:27:46.000Z","host","app","{message}"',
        '{{"ts":1,"blob":"{message}"}},',
        "I | 2023-08-01 05:27:46 | x.y | {message}   ",
        "2023-08-01T05:27:46.000+0000 INFO  [or.ap.ka] (thread | ...) {message}",
    ],
)
def test_a_message_is_found_by_its_anchor_whatever_stands_around_it(told, line):
    message = (
        f"[GroupCoordinator 3]: Stabilized group {GROUP} generation 3 (__consumer_offsets-29) with 1 members"
    )
    plainly = f"[2023-10-05 15:07:23,881] INFO {message} (kafka.coordinator.group.GroupCoordinator)"
    result, _ = told(server=line.format(message=message, plain=plainly) + "\n")
    (row,) = result.rows("events")
    assert (row["event"], row["group"], row["generation"], row["members"]) == ("stabilized", GROUP, 3, 1)


@pytest.mark.parametrize(
    ("line", "event"),
    [
        (
            '2022-03-03T19:31:50.528477043Z Debug | [thrd:main]: Group "g" is rebalancing (EAGER) in state up (join-state steady) with 2 assigned partition(s): rebalance in progress',
            "rd_rebalance",
        ),
        (
            '1524281199.398 RDKAFKA-7-MEMBERID: rdkafka#consumer-1: [thrd:app]: Group "g": updating member id "(not-set)" -> "c1-77"',
            "rd_member_id",
        ),
        (
            "2020-11-09 11:37:36.354  INFO 1 --- [ g2-0-C-1] o.s.k.l.KafkaMessageListenerContainer    : g2: partitions revoked: [parti3-0]",
            "container_revoked",
        ),
        (
            "2026-03-01 10:00:00,000 INFO [main] o.a.k.s.p.i.StreamThread - stream-thread [app-StreamThread-1] State transition from RUNNING to PARTITIONS_REVOKED",
            "streams_state",
        ),
        (
            "[2026-03-01 10:00:00,000] WARNING  aiokafka.consumer.group_coordinator: Heartbeat failed for group g because it is rebalancing",
            "other_rebalancing",
        ),
        ("2019-01-01 10:00:00 INFO  AbstractCoordinator:326 - (Re-)joining group g", "joining"),
    ],
)
def test_lines_of_other_clients_and_frameworks_become_events(told, line, event):
    result, _ = told(app=line + "\n")
    assert [row["event"] for row in result.rows("events")] == [event]


def screen_of(tmp_path, text):
    """What one file of such lines makes of the first screen, and the status."""
    (tmp_path / "log.txt").write_text(text)
    out = io.StringIO()
    return Answer().tell(look([tmp_path / "log.txt"]), out), out.getvalue()


#: Invented lines in the form of many clients, each with a word that the answer must hold: none may be denied.
TOLD = {
    "quoted": (
        "> 2026-01-01 10:00:00,000 WARN Coordinator unknown during heartbeat -- will retry",
        "the coordinator is unknown to it",
    ),
    "numbered": (
        "2026/01/01 10:00:00 Failed to join group g7: [16] Not Coordinator For Group: asked in vain",
        "NOT_COORDINATOR",
    ),
    "sarama": (
        "[sarama]2026/01/01 10:00:00 rebalance error: kafka server: Request was for a consumer group that is not coordinated by this broker.",
        "not the coordinator of the group",
    ),
    "closed": ("Failed to join group g7: EOF", "failed (EOF)"),
    "bare leave": (
        "... sending LeaveGroup request to coordinator b:9092 due to consumer poll timeout has expired",
        "max.poll.interval.ms",
    ),
    "broken": (
        "SESSTMOUT: Consumer group session timed out (in join-state steady) after 70500 ms\n  without a successful response from the group coordinator (broker 1): revoking",
        "70500 ms",
    ),
    "own words": (
        "10:00:00Z ERROR [Consumer clientId=c3] Attempt to heartbeat failed since last poll\n                    was 312845 ms ago which is longer than the configured interval (300000 ms)",
        "312.8 s",
    ),
    "cut": (
        "broker  10:00:01.634 Member rdkafka-6ed7af08-.. has left group through explicit `LeaveGroup` request ..",
        "has left group through explicit",
    ),
    "no topics": (
        '[thrd:main]: Group "g7": no topics in metadata matched subscription',
        "topics that it does not see",
    ),
    "connect": (
        "2026-01-01 10:00:00,000 ERROR Connector 'a>b.MirrorSourceConnector' failed to properly shut down, has become unresponsive, and more",
        "did not stop",
    ),
    "neither": ("I, [2026] INFO -- : Claiming 20 out of 40 partitions.", "could not be understood"),
}


@pytest.mark.parametrize("name", TOLD)
def test_no_form_of_a_line_is_denied(name, tmp_path):
    text, word = TOLD[name]
    status, screen = screen_of(tmp_path, text + "\n")
    whole = " ".join(screen.split())
    assert word in whole
    assert "No line of what was read" not in whole
    assert (status == 3) == (name == "neither")


def test_no_group_is_made_of_a_word_of_the_sentence(tmp_path):
    text = (
        "2026-01-01 10:00:00,000 WARNING commit failed: UnknownMemberIdError - 25 - Returned from group requests when the memberId "
        "is not in the current generation.\n"
    )
    _, screen = screen_of(tmp_path, text)
    assert "UnknownMember" in screen
    assert "\n  current" not in screen


def test_a_group_in_json_ends_where_its_quotes_do(tmp_path):
    (tmp_path / "log.txt").write_text(
        '{"message": {"short_msg": "Discovered coordinator 7 for group g7"}, "level": 6, "timestamp": "2026-01-01T10:00:00Z"}\n'
    )
    (row,) = look([tmp_path / "log.txt"]).rows("groups")
    assert row["group"] == "g7"


def rdkafka(at, name, text):
    return f"%4|{at}|X|{name}#consumer-1| [thrd:main]: {text}\n"


SILENT = (
    "Consumer group session timed out (in join-state steady) after {} ms without a successful response from the group coordinator "
    "(broker 1, last error was {}): revoking assignment and rejoining group"
)


@pytest.mark.parametrize(
    ("ms", "error", "kind"),
    [
        (413_217, "Success", "machine_frozen"),
        (45_012, "Success", "timed_out_together"),
        (413_217, "Local: Broker transport failure", "timed_out_together"),
    ],
)
def test_only_timers_that_fire_late_without_an_error_of_the_network_prove_a_frozen_machine(
    told, ms, error, kind
):
    text = SILENT.format(ms, error)
    result, _ = told(c1=rdkafka("1745333196.160", "a", text), c2=rdkafka("1745333196.161", "b", text))
    assert findings(result) & {"machine_frozen", "timed_out_together"} == {kind}


def test_the_limit_that_a_line_tells_is_not_called_the_default(tmp_path):
    text = (
        "[slow] max.poll.interval.ms=10000, max.poll.records=5\n"
        "2026-01-01 10:00:00,000 WARN [Consumer clientId=c1, groupId=g7] consumer poll timeout has expired. This means the time "
        "between subsequent calls to poll() was longer than the configured max.poll.interval.ms, and so on\n"
    )
    _, screen = screen_of(tmp_path, text)
    assert "max.poll.interval.ms is 10,000" in screen
    assert "by default" not in screen


def test_no_limit_is_proposed_for_a_loop_that_stood_still_for_days(tmp_path):
    text = rdkafka(
        "1745333196.160",
        "a",
        "Application maximum poll interval (300000ms) exceeded by 1996859793ms (adjust it)",
    )
    _, screen = screen_of(tmp_path, text)
    assert "no limit is meant for that" in " ".join(screen.split())
    assert ">=" not in screen


def test_librdkafka_members_that_leave_for_a_late_poll_and_come_back_are_no_rolling_restart(told):
    came = (
        f"Pending dynamic member with id {{}} joins group {GROUP} in Stable state. Adding to the group now."
    )
    server = leaving(10, 3, "c1") + broker(20, came.format(member("c1")))
    server += leaving(40, 5, "c2") + broker(50, came.format(member("c2")))
    slow = "%4|{0}|MAXPOLL|{1}#consumer-1| [thrd:main]: Application maximum poll interval (11000ms) exceeded by 84ms (adjust max.poll.interval.ms for long-running message processing): leaving group\n"
    assert "rolling_restart" in findings(told(server=server)[0])
    logs = {"c1": slow.format("1772359210.000", "c1"), "c2": slow.format("1772359240.000", "c2")}
    assert "rolling_restart" not in findings(told(server=server, **logs)[0])
