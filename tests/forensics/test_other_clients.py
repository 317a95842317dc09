"""Pasted lines of librdkafka, kafkajs, kafka-go, sarama, Python's clients, franz-go and brod: who, what last, and why where it is told."""

from __future__ import annotations

import pytest

from rebalance_kit.forensics.answer.verdict import verdict
from rebalance_kit.forensics.look import look

_A, _B = "11111111-aaaa-4aaa-8aaa-111111111111", "22222222-bbbb-4bbb-8bbb-222222222222"


def steps_of(result):
    """What lines without a time tell, step by step."""
    return next(row["sentence"] for row in result.rows("findings") if row["finding"] == "lines_without_time")


@pytest.fixture
def told(tmp_path):
    """What is said of lines, and their look."""

    def read(text):
        (tmp_path / "app.log").write_text(text + "\n")
        result = look([tmp_path / "app.log"])
        return verdict(result).sentence, result

    return read


def _native(text, at="1772359200.000"):
    return f"%7|{at}|CGRP|c1#consumer-1| [thrd:main]: {text}"


@pytest.mark.parametrize(
    ("state", "words"),
    [
        ("wait-join", "has asked to join"),
        ("wait-metadata", "is the leader and waits for metadata"),
        ("wait-sync", "has joined and waits for its assignment"),
        ("wait-assign-call", "waits for its application to take the assignment"),
        ("wait-unassign-call", "waits for its application to give its partitions up"),
        ("wait-incr-unassign-to-complete", "gives some of its partitions up"),
        ("steady", "has taken its assignment"),
    ],
)
def test_the_last_state_of_librdkafka_is_told_in_words(told, state, words):
    said, _ = told(_native(f'Group "g" changed join state init -> {state} (state up)'))
    assert f"c1 {words}" in said
    assert "step" not in said


def test_a_start_of_librdkafka_is_no_rebalance(told):
    said, result = told(
        'Handle: rdkafka#consumer-1 Level: Debug Message:[thrd:app]: Group "g": updating member id "(not-set)" -> ""\n'
        'Handle: rdkafka#consumer-1 Level: Debug Message:[thrd:main]: 10.0.0.1:9092/1: Group "g" coordinator is k2:9092 id 2'
    )
    assert "tells of a rebalance" not in said
    assert "finds its coordinator k2:9092" in said
    assert not result.rows("findings")


def _js(second, message, **more):
    fields = "".join(f',"{name}":{value}' for name, value in more.items())
    return f'{{"level":"INFO","timestamp":"2026-03-01T10:00:{second}Z","logger":"kafkajs","message":"{message}","groupId":"g"{fields}}}'


def test_a_refusal_that_a_connection_of_kafkajs_tells_too_is_one(told):
    error = '"The coordinator is not aware of this member"'
    _, result = told(
        _js("01.000", "[Connection] Response Heartbeat(key: 12, version: 3)", clientId='"svc"', error=error)
        + "\n"
        + _js(
            "01.004",
            "[Runner] The coordinator is not aware of this member, re-joining the group",
            memberId=f'"svc-{_A}"',
            error=error,
        )
    )
    (row,) = result.rows("findings")
    assert (row["finding"], row["who"], row["times"]) == ("client_lost_session", "svc", 1)


def test_a_member_of_kafka_go_is_named_and_the_shares_that_its_leader_gives_are_told(told):
    me, other = (f"app@host (github.com/segmentio/kafka-go)-{one}" for one in (_A, _B))
    said, result = told(
        f"kafka reader: joined group g as member {me} in generation 10\nkafka reader: selected as leader for group, g\n"
        f"kafka reader: found member: {other}/[]byte(nil)\nkafka reader: assigned member/topic/partitions {other}/orders/[0]\n"
        "kafka reader: subscribed to topics and partitions: map[{topic:orders partition:1}:591 {topic:orders partition:2}:621]"
    )
    assert said.startswith("g: a member joins generation 10 as app@host")
    assert steps_of(result).startswith(
        f"{me} joins generation 10; is the leader; gives {other} 1 partition (orders 0); is given 2 partitions"
    )


def test_the_end_of_a_session_of_sarama_is_told_with_what_it_read(told):
    said, _ = told(
        "[sarama] 2026/03/01 10:00:00 consumergroup/g loop check partition number coroutine will exit, topics [orders]\n"
        "[sarama] 2026/03/01 10:00:00 consumer/broker/2 closed dead subscription to orders/2\n"
        f"[sarama] 2026/03/01 10:00:00 consumergroup/session/sarama-{_A}/16 released"
    )
    assert "g: at the end a member ends its session. " in said
    assert "Why is not in the lines" in said


def test_a_new_member_of_kafka_python_that_is_handed_its_id_has_not_failed_to_join(told):
    lines = (
        "Revoking previously assigned partitions set() for group g",
        "Failed to join group g: NodeNotReadyError: coordinator-1",
        "(Re-)joining group g",
        f"Received member id kafka-python-2.2.15-{_A} for group g; will retry join-group",
        "Failed to join group g: [Error 79] MemberIdRequiredError",
        f"Successfully joined group g <Generation 1 (member_id: kafka-python-2.2.15-{_A}, protocol: range)>",
        "No partition metadata for topic orders",
        "Updated partition assignment: []",
    )
    _, result = told("\n".join(f'{{"message": "{line}"}}' for line in lines))
    assert (
        "gives up none; asks to join; is handed its member id, as every new member is; joins generation 1; has no metadata of orders; is given none"
        in steps_of(result)
    )
    assert "client_join_failed" not in {row["finding"] for row in result.rows("findings")}


def test_partitions_that_python_prints_are_counted(told):
    some = ", ".join(f"TopicPartition(topic='orders', partition={number})" for number in range(3))
    _, result = told(
        f"on_partitions_revoked: set()\non_partitions_assigned: {{{some}}}\nHeartbeat failed for group g because it is rebalancing"
    )
    assert "gives up none; is given 3 partitions" in steps_of(result)


def test_the_first_join_of_a_client_of_franz_go_is_its_own_start(told):
    at = "time=2026-03-01T10:00:00.000Z level=INFO"
    said, _ = told(
        f'{at} msg="joining group" group=g\n'
        f'{at} msg="join returned MemberIDRequired, rejoining with response\'s MemberID" group=g member_id=kgo-{_A}\n'
        f'{at} msg="joined, balancing group" group=g member_id=kgo-{_A} instance_id=<nil> generation=6 balance_protocol=range leader=true'
    )
    assert said == f"One rebalance of g: kgo-{_A} joined the group."


def test_the_member_of_brod_is_told_by_its_process_also_where_a_line_is_broken(told):
    said, _ = told(
        "10:00:00.000 [info] Group member (g,coor=#PID<0.77.0>,cb=#PID<0.73.0>,generation=18):\nre-joining group, reason::unknown_member_id"
    )
    assert said.startswith("#PID<0.77.0> was told")


def test_a_client_of_librdkafka_that_ended_is_not_told_by_its_last_join_state(told):
    said, _ = told(
        _native('Group "g" changed join state wait-unassign -> init (v5, state up)')
        + "\n"
        + _native("LeaveGroup response received in state up")
        + "\n"
        + _native('Group "g" changed state up -> term (v5, join-state init)')
    )
    assert "at the end c1 has ended its part in the group" in said


def test_a_commit_that_waits_for_a_coordinator_names_no_error_that_no_line_holds(told):
    said, result = told(
        _native(
            'Deferring "manual" offset commit for 1 partition(s) in state query-coord: no coordinator available'
        )
    )
    assert "puts a commit of 1 partition off (no coordinator available)" in said
    assert "COORDINATOR" not in said
    assert not result.rows("findings")


def test_an_application_that_prints_the_poll_limit_is_not_the_client_that_waits(told):
    for line, waits in (
        (
            'consume error: _MAX_POLL_EXCEEDED "Application maximum poll interval (7000ms) exceeded by 375ms"',
            False,
        ),
        (
            _native(
                "Application maximum poll interval (7000ms) exceeded by 375ms (adjust max.poll.interval.ms for "
                "long-running message processing): leaving group"
            ),
            True,
        ),
    ):
        _, result = told(line)
        (row,) = (one for one in result.rows("findings") if one["finding"] == "poll_timeout_exceeded")
        assert row["setting"].startswith("at least 7.3 s passed")
        assert ("while poll() is still awaited" in row["setting"]) is waits
        assert "max.poll.records" not in f"{row['setting']} {row['do']}"


_BROD = "21:29:51.659 [info]  group coordinator (groupId=g,memberId=,generation=0,pid=#PID<0.189.0>):"


def test_a_report_of_brod_is_one_record_at_its_own_line_with_its_reason(told):
    term = "{:function_clause,\n  [{:kpro_structs, :encode, [string: nil],\n    [file: 'src/kpro_structs.erl', line: 10]}]}"
    said, result = told(
        "\n\n"
        + _BROD
        + "\nfailed to join group\nreason:{:sock_down,\n "
        + term
        + "}\n\n"
        + _BROD
        + "\nfailed to join group\n\n"
        + _BROD
    )
    assert "{:sock_down, {:function_clause, [{:kpro_structs, :encode, [string: nil]" in said
    assert [row["line"] for row in result.rows("findings")] == [3]
    assert result.rows("lines")[0]["lines"] == 13


def test_what_a_client_met_at_last_is_told(told):
    heads = "Group member (g,coor=#PID<0.7.0>,cb=#PID<0.6.0>,generation=0):\n"
    said, result = told(
        f"10:00:00.000 [info] {heads}failed to join group\nreason::GroupCoordinatorNotAvailable\n\n"
        f"10:00:01.000 [info] {heads}connected to group coordinator k1:9092\n"
    )
    assert said.startswith(
        "#PID<0.7.0> found no coordinator of its group: COORDINATOR_NOT_AVAILABLE; at last it found k1:9092"
    )
    assert [row["finding"] for row in result.rows("findings")] == ["coordinator_not_ready"]


def test_a_member_that_left_for_its_poll_limit_is_not_told_to_have_left_without_a_reason(told):
    _, result = told(
        "2026-03-01 10:00:00,309 - WARNING - Heartbeat poll expired, leaving group\n"
        "2026-03-01 10:00:00,310 - INFO - Leaving consumer group (g)\n"
    )
    assert [(row["finding"], row["group"]) for row in result.rows("findings")] == [
        ("client_poll_timeout", "g")
    ]


def test_missing_rights_on_topics_are_not_told_as_those_on_the_group(told):
    said, _ = told(
        "[WARN] join group failed; group: g, err: TOPIC_AUTHORIZATION_FAILED: Not authorized to access topics"
    )
    assert "what it subscribes to or commits" in said
    assert "this group" not in said


def test_shares_that_an_application_prints_without_topics_are_counted(told):
    said, _ = told(
        "[notification-1] REBALANCE REVOKED  partitions=[1, 2] held=[0, 1, 2]\n"
        "[notification-1] REBALANCE ASSIGNED partitions=[]     held=[0]    ← kept partition 0's fold"
    )
    assert "gives up 2 partitions" in said
    assert "is given none" in said


def test_an_answer_that_no_line_calls_a_heartbeats_is_not_called_one(told):
    heads = "Group member (g,coor=#PID<0.7.0>,cb=#PID<0.6.0>,generation=1):\n"
    said, _ = told(
        f"10:00:00.000 [info] {heads}elected=true\n\n10:05:00.000 [info] {heads}re-joining group, reason::RebalanceInProgress\n"
    )
    assert "#PID<0.7.0> was told that the group was rebalancing" in said


def test_no_group_is_made_of_what_an_error_says_of_a_coordinator(told):
    _, result = told(
        _native('Group "g": querying for coordinator: intervaled in state up')
        + "\n%7|1772359200.000|REQERR|c1#consumer-1| [thrd:main]: GroupCoordinator/0: HeartbeatRequest failed: Broker: Not coordinator for "
        "group: actions Refresh\n[sarama] 2026/03/01 10:00:00 consumer_group: <nil>\n"
    )
    assert [row["group"] for row in result.rows("groups")] == ["g"]


def test_an_object_whose_end_stands_a_little_to_the_right_is_one_record(told):
    said, result = told(
        "Response Heartbeat(key: 12, version: 3) {\n   timestamp: '2026-03-01T10:00:00.042Z',\n   clientId: 'XXXXX',\n"
        "   error: 'The group is rebalancing, so a rejoin is needed',\n   size: 10\n } Connection ERROR"
    )
    assert "a member is told that the group is rebalancing" in said
    assert [(row["line"], row["at_ms"] is None) for row in result.rows("events")] == [(1, False)]
