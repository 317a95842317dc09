"""What the first screen counts: lines as lines, rebalances as rebalances, and one of either not at all."""

from __future__ import annotations

import io

import pytest

from rebalance_kit.forensics.answer import listed
from rebalance_kit.forensics.answer.answer import Answer
from rebalance_kit.forensics.answer.last_words import unread
from rebalance_kit.forensics.look import look
from tests.support.pipeline.kafka_lines import GROUP, client, failing, joined, joining, leaving

REFUSED = (
    "Offset commit failed on partition orders-0 at offset 7: The coordinator is not aware of this member."
)


def screen(tmp_path, text):
    (tmp_path / "log.txt").write_text(text)
    out = io.StringIO()
    Answer().tell(look([tmp_path / "log.txt"]), out)
    return " ".join(out.getvalue().split())


def test_one_commit_that_two_loggers_print_is_two_lines(tmp_path):
    told = screen(
        tmp_path, client(0, "c1", REFUSED, level="ERROR") + client(0.003, "c1", REFUSED, level="WARN")
    )
    assert "2 lines" in told
    assert "2 times" not in told


def test_one_rebalance_is_told_by_its_cause_alone(tmp_path):
    told = screen(tmp_path, failing(0, 3, "c2"))
    assert told.startswith(f"{GROUP}: the coordinator heard no heartbeat from c2")
    told = screen(tmp_path, joining(10, 4, "c2"))
    assert told.startswith(f"One rebalance of {GROUP}: c2 joined")


def test_several_rebalances_are_counted_after_the_finding(tmp_path):
    told = screen(tmp_path, failing(0, 3, "c2") + joining(60, 4, "c3"))
    assert told.startswith(f"{GROUP}: the coordinator heard no heartbeat from c2")
    assert "These logs tell of 2 rebalances, begun within 60 s." in told


def test_a_high_generation_does_not_hide_why_the_last_rebalance_was(tmp_path):
    told = screen(tmp_path, leaving(0, 90_000, "c2"))
    assert told.startswith(f"{GROUP}: c2 left the group")
    assert "generation 90000" in told


def test_a_short_log_is_told_line_by_line_with_whom_and_what(tmp_path):
    told = screen(
        tmp_path,
        client(0, "c1", "Discovered group coordinator broker-7:9092 (id: 2147483640 rack: null)")
        + joined(1, "c1", 4)
        + client(1.2, "c1", "Adding newly assigned partitions: orders-0, orders-1")
        + client(1.2, "c2", "Adding newly assigned partitions: orders-2")
        + client(1.3, "c2", "Adding newly assigned partitions: orders-2"),
    )
    assert '10:00:00 c1 "Discovered group coordinator broker-7:9092' in told
    assert "10:00:01 c1 joins generation 4 as c1-3d088f73… " in told
    assert "10:00:01.2 c1 is given 2 partitions: orders-0, orders-1 " in told
    assert "10:00:01.2 c2 is given 1 partition: orders-2 (2 lines)" in told


def test_of_many_steps_both_ends_are_told(tmp_path):
    told = screen(
        tmp_path,
        "".join(
            client(second, "c1", f"Revoke previously assigned partitions orders-{second}")
            for second in range(50)
        ),
    )
    assert "orders-0 " in told
    assert "orders-49 " in told
    assert "steps more" in told
    assert len((tmp_path / "log.txt").read_text().splitlines()) == 50


def test_of_a_short_log_every_line_is_told_whoever_wrote_it(tmp_path):
    node = "[2026-03-01 10:00:00,500] INFO [Producer clientId=producer-1] Node 1 disconnected. (o.a.k.c.NetworkClient)\n"
    stack = "java.lang.IllegalStateException: no such table\n\tat com.example.Store.put(Store.java:7)\n\tat com.example.Main.run(Main.java:9)\n"
    log = joined(0, "c1", 4) + node + stack + client(1, "c1", "(Re-)joining group")
    told = screen(tmp_path, log)
    assert '10:00:00.5 producer-1 "Node 1 disconnected.' in told
    assert (
        'line 3 "java.lang.IllegalStateException: no such table" at com.example.Store.put(Store.java:7) (and 2 lines that belong to it)'
        in told
    )
    steps = told.partition(" in order ")[2]
    assert (
        steps.index("joins generation 4")
        < steps.index("producer-1")
        < steps.index("no such table")
        < steps.index("asks to join")
    )
    assert "producer-1" not in screen(tmp_path, log + "\n" * 300).partition(" in order ")[2]


_TASK = "[2026-03-01 10:00:00,000] ERROR WorkerSourceTask{id=orders-0} Task threw an uncaught and unrecoverable exception. Task is being killed and will not recover until manually restarted (o.a.k.c.runtime.WorkerTask:207)\n"
_FRAME = "\tat org.apache.kafka.connect.runtime.errors.RetryWithToleranceOperator.execute(RetryWithToleranceOperator.java:142)\n"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (
            f"java.lang.IllegalStateException: no such table\n{_FRAME}",
            "java.lang.IllegalStateException: no such table",
        ),
        (
            f"org.apache.kafka.connect.errors.ConnectException: Tolerance exceeded\n{_FRAME}Caused by: java.io.IOException: disk full\n{_FRAME}",
            "Caused by: java.io.IOException: disk full",
        ),
        ("Traceback (most recent call last):\n  File \"a.py\", line 1\nKeyError: 'id'\n", "KeyError: 'id'"),
        (
            "2026-03-01 10:00:01,000 INFO Terminating process due to signal SIGTERM\n",
            "Terminating process due to signal SIGTERM",
        ),
    ],
)
def test_the_headline_quotes_the_most_telling_line_beside_a_finding(tmp_path, lines, said):
    told = screen(tmp_path, _TASK + lines).partition(" read ")[0]
    assert f'says "{said}"' in told
    assert "at org.apache" not in told


def test_what_a_person_wrote_around_a_log_is_no_trouble(tmp_path):
    told = screen(tmp_path, "The following error was seen:\n" + joined(0, "c1", 4)).partition(" read ")[0]
    assert "says" not in told


def test_a_line_that_is_not_understood_is_quoted_in_the_headline(tmp_path):
    line = "I, [2026] INFO -- : Claiming 20 out of 40 partitions."
    assert "Claiming 20 out of 40 partitions" in screen(tmp_path, line + "\n").partition(" read ")[0]


def test_where_there_is_little_room_long_lines_are_cut_before_any_is_left_out(tmp_path):
    words = "subscribe request of the application " * 8
    told = screen(tmp_path, "".join(client(n, "c1", f"{words} {n}") for n in range(20)) + joined(30, "c1", 4))
    assert "steps more" not in told
    assert told.count("subscribe request of the application") >= 20


def test_the_message_of_a_json_line_is_quoted_and_not_the_line(tmp_path):
    told = screen(
        tmp_path,
        '{"level":"INFO","timestamp":"2026-03-01T10:00:00.000Z","logger":"kafkajs","message":"[Runner] The group is '
        'rebalancing, re-joining","groupId":"g7","memberId":"c1-1"}\n',
    )
    assert '"The group is rebalancing, re-joining"' in told or "told that the group is rebalancing" in told
    assert "logger" not in told.partition(" in order ")[2]


def test_a_state_of_librdkafka_between_two_others_is_no_absence_of_a_rebalance(tmp_path):
    state = 'Group "g7" changed join state wait-assign-call -> steady (state up)'
    told = screen(tmp_path, f"%7|1772359200.000|CGRPJOINSTATE|c1#consumer-1| [thrd:main]: {state}\n")
    assert told.startswith("g7: at the end c1 has taken its assignment")
    assert "tells of no rebalance" not in told.partition(" read ")[0]


def test_a_number_that_is_not_told_is_not_made_up(tmp_path):
    told = screen(
        tmp_path,
        "[GroupCoordinator id=1] Preparing to rebalance group g7 in state PreparingRebalance (reason: removing member c1-1 on heartbeat expiration).\n",
    )
    assert told.startswith("g7: a rebalance begins (removing member c1-1")
    assert "None" not in told


_LOST = "Group coordinator b:9092 (id: 1 rack: null) is unavailable or invalid due to cause: {}.isDisconnected: false. Rediscovery will be attempted."
_LEFT = "Requesting disconnect from last known coordinator b:9092 (id: 1 rack: null)"


def test_of_several_causes_one_is_not_said_to_be_that_of_all(tmp_path):
    one = client(0, "c1", _LOST.format("error response NOT_COORDINATOR"))
    other = client(9, "c1", _LOST.format("coordinator unavailable"))
    assert "(error response NOT_COORDINATOR; coordinator unavailable)" in screen(tmp_path, one + other)
    assert "; coordinator" not in screen(tmp_path, one + one.replace("10:00:00,000", "10:00:09,000"))


def test_a_client_that_drops_its_coordinator_is_not_removed(tmp_path):
    told = screen(tmp_path, client(0, "c1", "(Re-)joining group") + client(1, "c1", _LEFT))
    assert "removed" not in told
    assert "Requesting disconnect" in told


def test_where_reading_goes_on_is_told_as_the_line_tells_it(tmp_path):
    fetch = "Fetch position FetchPosition{{offset=4, x}} is out of range for partition orders-3, {}."
    told = screen(
        tmp_path,
        client(0, "c1", fetch.format("raising error to the application since no reset policy is configured")),
    )
    assert "no reset policy is configured" in told
    assert "auto.offset.reset points" not in told


def test_times_are_told_as_the_lines_tell_them(tmp_path):
    assert "10:00:00 to 2026-03-01 10:00:00;" in screen(tmp_path, joined(0, "c1", 3))
    zoned = joined(0, "c1", 3).replace("[2026-03-01 10:00:00,000]", "2026-03-01T10:00:00.000Z")
    assert "10:00:00 to 2026-03-01 10:00:00 UTC;" in screen(tmp_path, zoned)


def test_an_empty_set_is_nothing_given_up_and_no_reason_is_said_to_be_missing_elsewhere(tmp_path):
    told = screen(
        tmp_path,
        "2026-04-27 17:33:04,383 [listener] INFO - Kafka consumer rebalance: partitions revoked (set())\n",
    )
    assert '"Kafka consumer rebalance: partitions revoked (set())"' in told
    assert "reason" not in told
    tpl = '(TPL {t/0: offset=Invalid metadata=""; t/1: offset=Invalid metadata=""})'
    told = screen(tmp_path, f"Pre rebalance Revoke{tpl}\nPost rebalance Revoke{tpl}\n")
    assert "a member gives up 2 partitions. Why is not in the lines that were read" in told
    assert "is told that the group is rebalancing" not in told
    told = screen(tmp_path, "RebalanceCb: Local: Assign partitions: BB[0], AA[0], AA[1], \n")
    assert "is given 3 partitions" in told


def test_a_client_that_starts_is_told_by_its_last_line_and_not_by_a_time_that_is_missing(tmp_path):
    told = screen(
        tmp_path,
        'rdkafka#consumer-1 Message:[thrd:main]: Group "g7": updating member id "(not-set)" -> ""\n'
        'rdkafka#consumer-1 Message:[thrd:main]: Group "g7" coordinator is 10.0.0.7:9092 id 3\n',
    )
    assert told.startswith('g7: rdkafka#consumer-1 "Group "g7": updating member id')
    assert "line 2: rdkafka#consumer-1 finds its coordinator 10.0.0.7:9092" in " ".join(told.split())


def test_a_day_that_no_line_holds_is_not_made_up(tmp_path):
    told = screen(tmp_path, client(0, "c1", "(Re-)joining group").replace("[2026-03-01 ", "["))
    assert "10:00:00 to 10:00:00 (the lines hold no day)" in told
    assert "1970" not in told


def test_rebalances_that_no_line_tells_are_not_counted_as_none(tmp_path):
    """Of members' lines alone a short log has no table: its lines say what they say."""
    told = screen(tmp_path, client(0, "c1", "Discovered group coordinator b:9092"))
    assert "group orders-app " in told
    assert "rebalances" not in told
    assert " none" not in told


def test_a_time_that_is_missing_is_no_finding_beside_another(tmp_path):
    commit = client(0, "c1", REFUSED, level="ERROR").partition("] ")[2]
    told = screen(tmp_path, client(0, "c1", "(Re-)joining group").partition("] ")[2] + commit)
    assert "1 WARNING" in told
    assert told.count("showDateTime") == 1
    assert "2 NOTE" not in told


def test_rebalances_fill_the_room_that_findings_leave(tmp_path):
    text = "".join(joined(60 * turn, "c1", 4 + turn) for turn in range(90)) + client(
        5_400, "c1", REFUSED, level="ERROR"
    )
    (tmp_path / "log.txt").write_text(text)
    out = io.StringIO()
    Answer().tell(look([tmp_path / "log.txt"]), out)
    lines = out.getvalue().splitlines()
    told = [line for line in lines if " -> " in line]
    assert 10 < len(told) < 30
    assert len(lines) <= 40
    assert f"{90 - len(told)} rebalances in words" in out.getvalue()


def test_a_clock_in_a_payload_is_not_the_line_s(tmp_path):
    told = screen(
        tmp_path,
        "10:00:00.250 ERROR [main] Store - unavailable right now, Payment(amount=10, initiatedOn=2021-05-23T23:59:37)\n"
        "10:00:00.300 INFO [main] o.a.k.c.c.i.AbstractCoordinator - [Consumer clientId=c1, groupId=g7] (Re-)joining group\n",
    )
    assert "23:59:37.0" not in told
    assert '10:00:00.2 "unavailable right now' in told


def test_a_duration_since_1970_in_a_response_is_no_time(tmp_path):
    told = screen(
        tmp_path,
        "AbstractCoordinator: [Consumer clientId=c1, groupId=g7] Received FindCoordinator response "
        "ClientResponse(receivedTimeMs=1575154627978, latencyMs=1130)\n",
    )
    assert "1 line, no time" in told


@pytest.mark.parametrize(
    ("record", "thrown", "said"),
    [
        (" WARN [pool-20-thread-1] - Reader Exception during processing of clicks, cause:", "org.apache.kafka.common.errors.GroupAuthorizationException: Not authorized to access group: ", "has no right to use this group"),
        ("[2026-03-01T10:00:00,949] [ERROR] org.example.Handler:37 - Error while processing: nothing -", "org.apache.kafka.clients.consumer.CommitFailedException: Commit cannot be completed since the group has already rebalanced", "was refused a commit"),
    ],
)  # fmt: skip
def test_an_exception_below_any_record_that_fails_tells_why(tmp_path, record, thrown, said):
    assert said in screen(tmp_path, f"{record}\n{thrown}\n").partition(" read ")[0]


def test_words_of_a_client_s_own_rebalance_are_no_notice(tmp_path):
    line = "2026-03-01T10:00:00.506Z INFO [Connector] [c1], begin rebalancing consumer c1 try #0\n"
    told = screen(tmp_path, line)
    assert "is told that the group is rebalancing" not in told
    assert "begins a rebalance" in told


def test_a_member_that_only_asked_to_join_has_not_joined(tmp_path):
    told = screen(
        tmp_path, client(0, "c1", "Subscribed to topic(s): orders") + client(2, "c1", "(Re-)joining group")
    )
    assert "c1 asked to join; no line was read as telling that it has joined" in told
    assert "joined the group" not in told


def test_a_number_in_a_message_is_not_the_time_of_its_line(tmp_path):
    told = screen(
        tmp_path,
        client(0, "c1", "(Re-)joining group")
        + "INFO JobGenerator: Stopped timer for JobGenerator after time 1646051790000\n"
        + "WakeupException limit exceeded, stopping. | ERROR\n",
    )
    assert 'line 2 "Stopped timer' in told
    assert 'line 3 "WakeupException limit exceeded' in told


def test_lines_that_are_left_out_for_room_are_counted_and_not_judged(tmp_path):
    other = "2026-03-01 10:00:01,000 INFO [main] a.b.Metrics - closed metrics of the application with a long name {}\n"
    loud = "2026-03-01 10:00:02,000 INFO [main] a.b.Reader - FAIL offset=4 backoff sleep 4s\n"
    told = screen(tmp_path, joined(0, "c1", 4) + "".join(other.format(n) for n in range(45)) + loud)
    assert "steps of less weight left out between these)" in told
    assert "without trouble" not in told
    assert "FAIL offset=4" in told


def test_only_the_last_line_is_told_as_the_end(tmp_path):
    state = '%7|1772359200.000|CGRPJOINSTATE|c1#consumer-1| [thrd:main]: Group "g7" changed join state init -> wait-join (state up)\n'
    assert "g7: at the end c1 has asked" in screen(tmp_path, state)
    told = screen(tmp_path, state + "consumer returned with an answer, exiting\n").partition(" read ")[0]
    assert "at the end" not in told
    assert "has asked to join" in told


def test_a_state_that_an_answer_ends_is_not_told_as_the_last(tmp_path):
    state = '%7|1772359200.000|CGRPJOINSTATE|c1#consumer-1| [thrd:main]: Group "g7" changed join state init -> wait-join (state up)\n'
    answer = "%7|1772359770.000|RECV|c1#consumer-1| [thrd:GroupCoordinator]: GroupCoordinator/5: Received JoinGroupResponse (v0, 108 bytes, CorrId 5, rtt 566725.56ms)\n"
    told = screen(tmp_path, state + answer).partition(" read 1")[0]
    assert "the last line read as a group's: c1 \"Received JoinGroupResponse" in told


def test_clients_of_processes_that_a_paste_names_are_several(tmp_path):
    line = "[JVM-{}] stream-client [app] State transition from {}\n"
    states = ("1", "RUNNING to REBALANCING"), ("2", "REBALANCING to ERROR"), ("1", "REBALANCING to RUNNING")
    told = screen(tmp_path, "".join(line.format(*one) for one in states))
    assert told.startswith("app (JVM-2) went into the state ERROR")
    assert 'app (JVM-1) "State transition from RUNNING to REBALANCING"' in told


def test_of_lines_that_nothing_reads_an_error_is_told_before_a_warning(tmp_path):
    warning = "[warn] a.k.KafkaConsumerActor - Consumer interrupted with WakeupException after timeout.\n"
    error = "[error] a.k.KafkaConsumerActor - WakeupException limit exceeded, stopping.\n"
    told = screen(tmp_path, 3 * warning + error)
    assert told.startswith('log.txt:4 says "WakeupException limit exceeded, stopping."')


def test_a_text_of_any_form_before_the_level_is_no_part_of_the_message(tmp_path):
    head = "2026-03-01 10:00:00.026 ||||app-of-mine[orders-0-C-1] INFO a.b.Listener - "
    assert '"partitions revoked: [orders-0]"' in screen(tmp_path, head + "partitions revoked: [orders-0]\n")


def test_re_joining_is_quoted_whole_and_marks_of_a_cut_are_no_lines(tmp_path):
    told = screen(tmp_path, "2026-03-01 10:00:00,000 INFO kafka.coordinator (Re-)joining group XXXX\n--\n")
    assert "(Re-)joining group" in told
    assert "belongs to it" not in told


def _epochs(*messages):
    return "".join(
        f"[2026-03-01 10:00:{second:02},000] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=0] [GroupId g7] {message} (o.a.k.c.group.GroupMetadataManager)\n"
        for second, message in enumerate(messages)
    )


def test_a_consumer_group_of_which_nobody_is_left_is_not_told_as_rebalancing(tmp_path):
    came = (
        "Member m1 joins the consumer group using the consumer protocol.",
        "Bumped group epoch to 1 with metadata hash 5.",
    )
    went = ("Member m1 left the consumer group.", "Bumped group epoch to 2 with metadata hash 5.")
    assert "rebalancing" in screen(tmp_path, _epochs(*came))
    told = screen(tmp_path, _epochs(*came, *went))
    assert "every member told of has gone" in told
    assert "rebalancing: no end" not in told


def test_settings_behind_the_name_of_a_container_are_no_trouble(tmp_path):
    setting = "consumer-1 | \tretries.error.code = 5\nconsumer-1 | \tretry.on = a.B.TimeoutException\n"
    assert "says" not in screen(tmp_path, joined(0, "c1", 4) + setting).partition(" read ")[0]


def test_where_there_is_no_room_what_moves_a_member_is_told_before_the_rest(tmp_path):
    idle = "".join(
        client(second, "c1", f"Setting offset for partition orders-{second} to the committed offset")
        for second in range(1, 50)
    )
    middle = client(20, "c1", "Giving away all assigned partitions as lost since generation has been reset")
    told = screen(tmp_path, idle + middle)
    assert "of less weight left out between these)" in told
    assert "as lost" in told.partition(" in order ")[2]


def test_days_stand_before_their_steps_where_there_are_several(tmp_path):
    told = screen(
        tmp_path, client(0, "c1", "(Re-)joining group") + client(90_000, "c1", "(Re-)joining group")
    ).partition(" in order ")[2]
    assert told.index("2026-03-01 10:00:00") < told.index("2026-03-02 11:00:00")


def test_lines_of_processes_in_two_time_zones_stay_as_they_were_written(tmp_path):
    line = "{} | [2026-03-01 {}:00:0{},000] INFO a.b.Main {}\n"
    told = screen(
        tmp_path,
        line.format("worker-1", 19, 0, "Kafka Connect stopped")
        + "worker-2 | "
        + client(0, "c1", "(Re-)joining group").replace("2026-03-01 10:00:00", "2026-03-01 19:00:01")
        + "broker | "
        + joined(1, "c2", 4)
        + line.format("worker-2", 19, 2, "Starting connectors"),
    )
    steps = told.partition(" in order ")[2]
    assert (
        steps.index("worker-1 ")
        < steps.index("c1 (worker-2)")
        < steps.index("c2 (broker)")
        < steps.index("Starting")
    )
    assert "processes whose clocks stand in different time zones" in told


def test_a_time_inside_a_message_is_not_the_line_s(tmp_path):
    window = "WINDOW RESULT: [2026-03-01T09:07:40Z - 2026-03-01T09:07:50Z), count=10\n"
    steps = screen(tmp_path, client(0, "c1", "(Re-)joining group") + window).partition(" in order ")[2]
    assert 'line 2 "WINDOW RESULT' in steps
    assert steps.index("asks to join") < steps.index("WINDOW")


def test_lines_of_one_step_at_several_times_tell_the_last_of_them(tmp_path):
    assert "(2 lines, until 10:05:00)" in screen(
        tmp_path, client(0, "c1", "(Re-)joining group") + client(300, "c1", "(Re-)joining group")
    )


_LATE = "Time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, exceeded approximately by 15032 ms. Member m1 will rejoin the group now."


def test_a_poll_that_came_too_late_is_the_timeout_where_no_other_line_tells_of_one(tmp_path):
    told = screen(tmp_path, client(0, "c1", _LATE, level="WARN")).partition(" read ")[0]
    assert told.startswith("c1 let more than max.poll.interval.ms pass between two calls of poll()")
    assert "CRITICAL" in told


def test_a_client_without_a_name_is_told_with_the_only_group_of_the_lines(tmp_path):
    group = "kafka-go: 2026/03/01 07:09:54 entering loop for consumer group, test\n"
    failed = "kafka-go: 2026/03/01 07:09:54 Failed to join group test: EOF\n"
    assert screen(tmp_path, group + failed).startswith("A client of log.txt (group test) tried to join")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "Nov  2 22:34:52 host telegraf: 2026-03-01T22:34:52Z D! [sarama] client/coordinator coordinator for consumer group metrics is not available\n",
            "(group metrics) found no coordinator",
        ),
        (
            "[2026-03-01 15:25:40,066] INFO [Schema registry clientId=sr-1, groupId=schema-registry] Cancelled in-flight HEARTBEAT request with correlation id 44 due to node 2147483645 being disconnected (elapsed time since creation: 9041ms)\n",
            'schema-registry: sr-1 "Cancelled in-flight HEARTBEAT',
        ),
        (
            "[bg] ERROR o.a.k.c.c.internals.MembershipManagerImpl - [Consumer clientId=c1, groupId=g] Member  with epoch 0 transitioned to FATAL state\n",
            "c1 met a fatal error",
        ),
        (
            "%7|1772359200.244|OFFSET|c1#consumer-1| [thrd:main]: orders [4]: offset reset (at offset 0) to BEGINNING: Broker: Offset out of range: Broker: Offset out of range\n",
            "c1 stood at an offset of orders [4] that does not exist",
        ),
        (
            "FAIL|c1#consumer-1| [thrd:GroupCoordinator]: GroupCoordinator:a.example:9092: 1 request(s) timed out: disconnect (after 60822ms in state UP)\n",
            "c1 lost its coordinator (disconnect",
        ),
        (
            "[2026-03-01 07:00:34,049] INFO [GroupCoordinator 0]: Group g7 with generation 148 is now empty (kafka.coordinator.GroupCoordinator)\n",
            "it ended here at generation 148 with no member left",
        ),
        (
            "[2026-03-01 10:00:06,058] [6912] [INFO] Setting newly assigned partitions \n+Topic Partition Set---+\n",
            "is given partitions",
        ),
        (
            '{"level":"info","ts":"2026-03-01T10:00:00Z","msg":"assigning partitions","how":"unassigning everything","why":"revoking all","group":"orders"}\n',
            "unassigning everything",
        ),
        (
            "% Group orders rebalanced (memberid rdkafka-73e2f168-0e9c-43db-a74a-6392abfae7d0): assigned: orders [0]\n",
            "orders: a member is given 1 partition: orders-0",
        ),
    ],
)
def test_what_judges_found_missing_is_told(tmp_path, line, said):
    assert said in screen(tmp_path, line).partition(" read ")[0]


def test_the_finer_of_two_times_of_one_line_is_its_own(tmp_path):
    stable = "[GroupCoordinator 1001]: Stabilized group grp1 generation 14 (__consumer_offsets-48) with 2 members (kafka.coordinator.group.GroupCoordinator)"
    told = screen(tmp_path, f"  2026-03-01 18:35:06 [2026-03-01 17:35:06,423] INFO {stable}\n")
    assert "17:35:06.4" in told


@pytest.mark.parametrize(
    ("line", "said", "unsaid"),
    [
        (
            "2026-03-01 10:00:00,945 ERROR OffsetCommit failed for group orders due to group error ([Error 27] RebalanceInProgressError: orders), will rejoin\n",
            '"OffsetCommit failed for group orders',
            '"failed for',
        ),
        (
            "# [2026-03-01 10:00:00,945] ERROR [s3|task-0] WorkerSinkTask{id=s3-0} Task threw an uncaught and unrecoverable exception. Task is being killed and will not recover until manually restarted (o.a.k.c.runtime.WorkerTask:207)\n",
            '"WorkerSinkTask{id=s3-0} Task threw',
            '"# [2026',
        ),
        (
            "[2026-03-01 10:00:00,945: ERROR] User provided subscription listener <faust.Listener object at 0x1> for group orders failed on_partitions_revoked\nTraceback (most recent call last):\n",
            "on_partitions_revoked of a client of log.txt threw an exception",
            "Beside it",
        ),
    ],
)
def test_a_line_is_quoted_from_its_first_word(tmp_path, line, said, unsaid):
    told = screen(tmp_path, line)
    assert said in told
    assert unsaid not in told


def test_records_that_lost_the_ends_of_their_lines_are_read_behind_any_head(tmp_path):
    head = "2026-03-01 10:00:0{},302 [] [kafka-coordinator-heartbeat-thread | orders] INFO o.a.k.clients.Any [handle,442] [] - [Consumer clientId=c1, groupId=orders] {} "
    told = screen(
        tmp_path,
        head.format(0, "Error sending fetch request (sessionId=920626443, epoch=20888) to node 3: x.")
        + head.format(1, "Successfully joined group with generation 48")
        + "\n",
    )
    assert "joins generation 48" in told
    assert "generation 20888" not in told


def test_a_generation_below_zero_makes_no_rebalance(tmp_path):
    line = "2026-03-01 10:00:0{} INFO aiokafka Successfully synced group orders with generation {}\n"
    told = screen(tmp_path, line.format(1, 372) + line.format(2, -1))
    assert "2 rebalances" not in told


def test_members_of_one_name_in_two_groups_are_told_of_both(tmp_path):
    failed = "[2026-03-01 10:00:0{0},741] INFO [GroupCoordinator 1]: Member python-51b64b89-2835-4551-a173-5455cf90b58{0} in group g{0} has failed, removing it from the group (k)\n"
    told = screen(tmp_path, failed.format(1) + failed.format(2)).partition(" read ")[0]
    assert "(in 2 groups: g1, g2)" in told


def test_a_row_names_a_client_only_where_its_own_line_does(tmp_path):
    told = screen(
        tmp_path,
        client(0, "c1", "(Re-)joining group") + "2026-03-01 10:00:01 Partition revoked: [orders-0]\n",
    )
    steps = told.partition(" in order ")[2]
    assert "10:00:01 c1" not in steps


def test_settings_of_a_connector_behind_docker_s_time_are_no_trouble(tmp_path):
    setting = "2026-03-01 10:00:00     errors.retry.delay.max.ms = 60000\n"
    assert "Beside it" not in screen(tmp_path, joined(0, "c1", 4) + 20 * setting)


def test_expiries_apart_from_each_other_are_not_of_one_moment(tmp_path):
    line = "[2026-03-01 10:0{0}:00,891] INFO [GroupCoordinator 1]: {1} (k)\n"
    gone = "Preparing to rebalance group g in state PreparingRebalance with old generation 21 (__consumer_offsets-47) (reason: removing member k-fee7ea56-e699-4adf-ac09-78b482ede1a6 on heartbeat expiration)"
    failed = "Member k-63f58bd1-829e-4b58-bbf5-9b3befcc2418 in group g has failed, removing it from the group"
    assert "same moment" not in screen(tmp_path, line.format(1, gone) + line.format(2, failed))


def test_what_a_schema_registry_is_to_do_speaks_of_no_records(tmp_path):
    left = "[2026-03-01 10:00:00,000] WARN [Schema registry clientId=sr-1, groupId=schema-registry] consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms (o.a.k.Any)\n"
    assert "max.poll.records" not in screen(tmp_path, left)


def test_a_first_answer_is_told_as_every_new_member_s(tmp_path):
    failed = "[2026-03-01 10:00:00,690] INFO [Worker clientId=c1, groupId=g] Rebalance failed. (o.a.k.Any)\n"
    answer = "org.apache.kafka.common.errors.MemberIdRequiredException: The group member needs to have a valid member id before actually entering a consumer group.\n"
    assert "is handed its member id, as every new member is" in screen(tmp_path, failed + answer)


def test_a_step_of_one_of_several_groups_names_it(tmp_path):
    line = "%7|177235920{0}.000|{1}|c1#consumer-1| [thrd:main]: {2}\n"
    told = screen(
        tmp_path,
        line.format(0, "CGRPQUERY", 'Group "sync": querying for coordinator: Broker: Not coordinator')
        + line.format(1, "HEARTBEAT", 'Heartbeat for group "app" generation id 9'),
    )
    assert "of sync" in told.partition(" read ")[0] or "of app" in told.partition(" read 1")[0]


def test_lines_without_times_in_the_reverse_of_a_member_s_steps_are_read_from_the_end(tmp_path):
    steps = (
        "Discovered group coordinator kafka-1:9093 (id: 2147483646 rack: null)",
        "Revoking previously assigned partitions [orders-0]",
        "(Re-)joining group",
        "Successfully joined group with generation 3",
        "Setting newly assigned partitions [orders-0]",
    )
    lines = [f"[Consumer clientId=c1, groupId=g] {step}\n" for step in steps]
    told = screen(tmp_path, "".join(lines[::-1])).partition(" in order ")[2]
    assert told.index("asks to join") < told.index("joins generation 3") < told.index("is given 1 partition")
    assert "newest first" not in screen(tmp_path, "".join(lines))


def test_a_time_since_a_start_stands_where_there_is_no_other(tmp_path):
    told = screen(
        tmp_path,
        "T+0.000 ERROR Replacing thread in the streams uncaught exception handler\nT+42.315 INFO stream-client [a] State transition from RUNNING to REBALANCING\n",
    )
    assert (
        "T+42.315 a" in told.partition(" in order ")[2]
        or 'T+42.315 "State' in told.partition(" in order ")[2]
    )


def test_two_clocks_in_one_file_have_no_span(tmp_path):
    late = "%4|1772359200.167|MAXPOLL|c1#consumer-1| [thrd:main]: Application maximum poll interval (6000ms) exceeded by 398ms (adjust max.poll.interval.ms for long-running message processing): leaving group\n"
    told = screen(tmp_path, "16:38:21 assigned [0, 2]\n" + late + "16:38:29 revoked [0, 2]\n")
    assert "times of several clocks" in told
    steps = told.partition(" in order ")[2]
    assert steps.index("assigned [0, 2]") < steps.index("did not poll") < steps.index("revoked [0, 2]")


def test_a_line_of_a_coordinator_is_told_in_words_where_it_cannot_be_quoted(tmp_path):
    text = "".join(joining(second, second, "c1") for second in range(9)) + leaving(20, 20, "c1")
    assert "leaves" in screen(tmp_path, text).partition(" in order ")[2]


@pytest.mark.parametrize(("lines", "times"), [(20, 1), (400, 0)])
def test_lines_of_no_group_are_looked_up_once_and_in_short_logs_alone(tmp_path, monkeypatch, lines, times):
    asked = []
    monkeypatch.setattr(listed, "unread", lambda result: asked.append(result) or unread(result))
    screen(tmp_path, joined(0, "c1", 4) + lines * "2026-03-01 10:00:01,000 INFO [main] a.b.C - GET /\n")
    assert len(asked) == times


def test_a_number_in_a_name_is_no_time(tmp_path):
    line = "15/10/09 06:43:09 INFO ZookeeperConsumerConnector: [g_host-1444390989356-f9caca59], begin rebalancing consumer g_host-1444390989356-f9caca59 try #0\n"
    assert "06:43:09 to 2015-10-09 06:43:09" in screen(tmp_path, line)
