"""What several lines prove together: ends without a beginning, doubled lines, failovers, frozen machines, loops, clocks, limits."""

from __future__ import annotations

import json

import pytest

from rebalance_kit.forensics.look import look
from tests.support.pipeline.kafka_lines import (
    GROUP,
    adding,
    broker,
    client,
    failing,
    finished,
    joined,
    joining,
    member,
    rebalance,
    stabilized,
    worker,
)

RD = "%4|{at:.3f}|{kind}|rdkafka#consumer-{n}| [thrd:main]: {text}\n"
SESSTMOUT = "Consumer group session timed out (in join-state steady) after {ms} ms without a successful response from the group coordinator (broker 2, last error was Success): revoking assignment and rejoining group"
_AT_S = 1_772_359_200


@pytest.fixture
def told(tmp_path):
    def read(**files):
        for name, text in files.items():
            (tmp_path / f"{name}.log").write_text(text)
        return look([tmp_path])

    return read


def finding(result, code):
    (row,) = (row for row in result.rows("findings") if row["finding"] == code)
    return row


def test_an_end_without_a_beginning_is_a_rebalance_with_what_is_known_of_it(told):
    left = f"[Group {GROUP}] Member {member('c2')} has left group through explicit `LeaveGroup` request; client reason: not provided"
    (row,) = told(server=broker(0, left) + stabilized(0.2, 234)).rows("rebalances")
    # A leave ends a join phase, too.
    assert (row["trigger"], row["culprit"], row["before"], row["after"]) == ("unseen", None, 233, 234)
    assert row["cause"] == (
        "it ended here at generation 234; no line of the coordinator tells who began it; c2 left meanwhile"
    )
    assert (row["start_ms"], row["duration_ms"], row["at_least"]) == (1_772_359_200_000, 200, True)


@pytest.mark.parametrize(
    "line",
    [
        stabilized(0, 7),
        broker(0, f"Group {GROUP} with generation 7 is now empty (__consumer_offsets-7)"),
        joined(0, "c1", 7),
    ],
)
def test_a_stable_group_an_empty_one_and_a_joined_member_prove_a_rebalance(told, line):
    (row,) = told(server=line).rows("rebalances")
    assert (row["before"], row["after"]) == (6, 7)


def test_a_target_of_a_later_epoch_proves_a_rebalance_and_one_of_the_same_none(told):
    def target(seconds, epoch):
        return broker(
            seconds,
            f"[GroupId {GROUP}] Computed a new target assignment for epoch {epoch} with 'uniform' assignor in 1ms: {{}}.",
        )

    result = told(server=target(0, 4) + target(1, 4) + target(60, 5))
    assert [(row["before"], row["after"], row["trigger"]) for row in result.rows("rebalances")] == [
        (3, 4, "unseen"),
        (4, 5, "unseen"),
    ]


def test_the_same_line_twice_is_one_event_in_one_file_and_in_two(told):
    text = joining(0, 0, "c1") + joining(10, 1, "c2") + failing(60, 2, "c2")
    twice = "".join(line + "\n" + line + "\n" for line in text.splitlines())
    once, doubled, copied = told(server=text), told(server=twice), told(server=text, copy=text)
    for result in (doubled, copied):
        assert len(result.rows("rebalances")) == len(once.rows("rebalances")) == 3
        assert result.rows("groups")[0]["expired"] == 1


def test_expiries_a_session_after_a_failover_are_one_story(told):
    def loaded(seconds):
        return broker(seconds, f"Loaded classic group {GROUP} with 2 members.")

    row = finding(told(server=loaded(0) + failing(30, 4, "c2")), "failover_not_followed")
    assert (row["severity"], row["times"]) == ("critical", 1)
    assert "1 member expired 30.0 s after a coordinator had loaded" in row["sentence"]
    assert not [
        one
        for one in told(server=loaded(0) + failing(37, 4, "c2")).rows("findings")
        if one["finding"] == "failover_not_followed"
    ]


def test_clients_that_time_out_in_the_same_moment_were_frozen_together(told):
    lines = [RD.format(at=_AT_S, kind="SESSTMOUT", n=n, text=SESSTMOUT.format(ms=413_217)) for n in (1, 2)]
    result = told(app="".join(lines))
    row = finding(result, "machine_frozen")
    assert "rdkafka#consumer-1, rdkafka#consumer-2" in row["sentence"] and "413.2 s" in row["sentence"]
    assert "native_session_lost" not in {row["finding"] for row in result.rows("findings")}
    assert "machine_frozen" not in {row["finding"] for row in told(app=lines[0]).rows("findings")}


def test_generations_that_prove_many_rebalances_are_a_loop(told):
    row = finding(told(c1=joined(0, "c1", 76_039) + joined(3, "c1", 76_053)), "generation_loop")
    assert (row["times"], row["severity"]) == (14, "critical")
    assert "generation_loop" not in {
        one["finding"] for one in told(c1=joined(0, "c1", 3) + joined(3_600, "c1", 17)).rows("findings")
    }


@pytest.mark.parametrize(("ahead_s", "words"), [(7_200, "ahead of"), (-7_200, "behind")])
def test_clocks_are_compared_both_ways_and_the_offset_is_a_command(told, ahead_s, words):
    server = rebalance(0, 2, adding("c1")) + rebalance(60, 3, adding("c2"))
    result = told(server=server, c1=joined(0.3 + ahead_s, "c1", 3))
    row = finding(result, "clocks_disagree")
    assert words in row["sentence"]
    assert "--offset '*c1.log=" in row["do"]


def test_a_limit_that_was_passed_stands_beside_what_was_measured(told):
    text = "Application maximum poll interval (300000ms) exceeded by 113217ms (adjust max.poll.interval.ms for long-running message processing): leaving group"
    row = finding(told(app=RD.format(at=_AT_S, kind="MAXPOLL", n=1, text=text)), "poll_timeout_exceeded")
    assert row["setting"] == (
        "at least 413.2 s passed between two polls: the line is written while poll() is still awaited; max.poll.interval.ms is 300,000. "
        "The limit has to be above the longest handler, which is not in this line"
    )


def test_a_task_that_failed_is_not_sold_as_a_normal_leave(told):
    killed = "[2026-03-01 10:00:00,000] ERROR WorkerSinkTask{id=jdbc-0} Task is being killed and will not recover until manually restarted (org.apache.kafka.connect.runtime.WorkerTask)\n"
    leaves = client(
        0.005, "consumer-7", "Sending LeaveGroup request to coordinator b:9092 (id: 2147483646 rack: null)"
    )
    codes = {row["finding"] for row in told(connect=killed + leaves).rows("findings")}
    assert "task_failed" in codes and "member_left" not in codes


@pytest.mark.parametrize(
    ("text", "trigger"),
    [
        (
            "Request joining group due to: rebalance failed due to 'This is not the correct coordinator.' (NotCoordinatorException)",
            "moved",
        ),
        (
            "Current config state offset 3 does not match group assignment 5. Forcing rebalance.",
            "configs_differ",
        ),
    ],
)
def test_a_rebalance_takes_its_reason_from_the_members_own_line(told, text, trigger):
    lines = client(0, "c1", text) + client(0.1, "c1", "(Re-)joining group") + joined(0.2, "c1", 7)
    assert told(c1=lines).rows("rebalances")[-1]["trigger"] == trigger


def test_a_fenced_client_of_librdkafka_says_why(told):
    fenced = 'Group "g" heartbeat error response in state up (join state started, 1 partition(s) assigned): Broker: Static consumer fenced by other consumer with same group.instance.id'
    rejoins = 'Group "g" is rebalancing in state up (join-state started) with assignment: consumer fenced by newer instance'
    (row,) = told(
        app=RD.format(at=_AT_S, kind="HEARTBEAT", n=1, text=fenced)
        + RD.format(at=_AT_S, kind="REBALANCE", n=1, text=rejoins)
    ).rows("rebalances")
    assert row["trigger"] == "fenced"


@pytest.mark.parametrize(
    ("begins", "at_ms"),
    [
        ("2026.03.01 10:00:00.123", _AT_S * 1000 + 123),
        ("26/03/01 10:00:00", _AT_S * 1000),
        ("10:00:00.123 [main]", 36_000_123),
    ],
)
def test_times_in_other_forms_are_read(told, begins, at_ms):
    text = f"{begins} INFO ConsumerCoordinator: [Consumer clientId=c1, groupId={GROUP}] (Re-)joining group\n"
    (event,) = told(app=text).rows("events")
    assert event["at_ms"] == at_ms


@pytest.mark.parametrize(
    ("begins", "words"),
    [("Oct 14 00:14:53 host [x]", "--year"), ("14|00.14.53|", "--layouts FILE"), ("", "%d{ISO8601}")],
)
def test_a_time_that_stands_there_in_an_unknown_form_is_said_to_stand_there(told, begins, words):
    text = f"{begins} INFO [Consumer clientId=c1, groupId={GROUP}] (Re-)joining group\n"
    row = finding(told(app=text), "lines_without_time")
    assert words in row["do"]


def test_shares_tell_who_must_have_come_or_gone_where_no_line_does(told):
    def shares(before, after):
        """One member of which only its own lines are at hand."""
        return (
            client(0, "c1", "Request joining group due to: group is already rebalancing")
            + client(0.1, "c1", f"Revoke previously assigned partitions {before}")
            + client(0.2, "c1", "(Re-)joining group")
            + joined(0.3, "c1", 7)
            + client(0.4, "c1", f"Adding newly assigned partitions: {after}")
        )

    def cause(before, after):
        return told(c1=shares(before, after)).rows("rebalances")[-1]["cause"]

    assert cause("orders-0, orders-1", "orders-1").startswith("another member may have joined, by the shares")
    assert cause("orders-0", "orders-0, orders-1").startswith("another member may have left")
    assert cause("orders-0", "orders-0, audit-0").startswith("topics came in: partitions of audit")
    assert cause("orders-0", "orders-0").startswith(
        "c1 learnt from its heartbeat that the group was rebalancing; who began that"
    )


def test_target_assignments_tell_who_came_and_went(told):
    def target(seconds, epoch, *members):
        held = ", ".join(f"{name}=MemberAssignment(partitions={{t=[0]}})" for name in members)
        return broker(
            seconds,
            f"[GroupId {GROUP}] Computed a new target assignment for epoch {epoch} with 'uniform' assignor in 1ms: {{{held}}}.",
        )

    rows = told(server=target(0, 4, "A", "B") + target(60, 5, "A") + target(90, 6, "A", "C")).rows(
        "rebalances"
    )
    assert [row["cause"].split(" (", 1)[0] for row in rows[1:]] == ["B left or was lost", "C joined"]


def test_lines_without_a_time_tell_their_order_and_what_it_proves(told):
    text = (
        "[main] INFO AbstractCoordinator - [Consumer clientId=c1, groupId=orders-app] Attempt to heartbeat failed since group is rebalancing\n"
        "[main] INFO ConsumerCoordinator - [Consumer clientId=c1, groupId=orders-app] Revoking previously assigned partitions [orders-0, orders-1]\n"
        "[main] INFO AbstractCoordinator - [Consumer clientId=c1, groupId=orders-app] Successfully joined group with generation 10\n"
        "[main] INFO ConsumerCoordinator - [Consumer clientId=c1, groupId=orders-app] Setting newly assigned partitions [orders-1]\n"
    )
    sentence = finding(told(app=text), "lines_without_time")["sentence"]
    assert sentence.startswith("another member may have joined, by the shares")
    assert "gives up 2 partitions; joins generation 10; is given 1 partition" in sentence


def test_a_leave_for_a_poll_timeout_is_one_and_no_second_beside_its_warning(told):
    leaves = client(
        0.01,
        "c1",
        f"Member {member('c1')} sending LeaveGroup request to coordinator b:9092 (id: 1 rack: null) due to consumer poll timeout has expired.",
    )
    warns = client(
        0,
        "c1",
        "consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than "
        "the configured max.poll.interval.ms, which typically implies that the poll loop is spending too much time.",
        "WARN",
    )
    for text in (leaves, warns + leaves):
        row = finding(told(c1=text), "poll_timeout_exceeded")
        assert (row["times"], row["severity"]) == (1, "critical")


def test_an_old_id_that_expires_after_its_client_came_anew_was_replaced_without_leaving(told):
    old = joining(0, 0, "c1").replace("4a9b", "4a9a")
    row = finding(
        told(server=old + joining(60, 1, "c1") + failing(85, 2, "c1").replace("4a9b", "4a9a")),
        "replaced_without_leave",
    )
    assert row["who"] == "c1" and "25.0 s before another of that name expired: perhaps" in row["sentence"]


def test_a_coordinator_that_is_found_and_lost_at_once_is_never_held(told):
    turn = (
        "Discovered group coordinator b:9092 (id: 1 rack: null)",
        (
            "Group coordinator b:9092 (id: 1 rack: null) is unavailable or invalid due to cause: error response NOT_COORDINATOR. "
            "isDisconnected: false. Rediscovery will be attempted."
        ),
    )
    lines = [client(at + place / 10, "c1", text) for at in (0, 1, 2) for place, text in enumerate(turn)]
    assert finding(told(c1="".join(lines)), "coordinator_never_held")["times"] == 3
    held = "".join(lines[:2]) + joined(0.5, "c1", 3) + "".join(lines[2:4])
    assert "coordinator_never_held" not in {row["finding"] for row in told(c1=held).rows("findings")}


def test_members_of_several_groups_that_expire_at_once_are_told_of_as_one(told):
    from rebalance_kit.forensics.answer.selected import Selected
    from rebalance_kit.forensics.answer.verdict import verdict
    from rebalance_kit.forensics.answer.wishes import Wishes

    text = failing(0, 1, "c1") + failing(0.004, 1, "c2").replace(GROUP, "audit")
    assert "all within 4 ms" in verdict(Selected(told(server=text), Wishes())).sentence
    apart = failing(0, 1, "c1") + failing(4, 1, "c2").replace(GROUP, "audit")
    assert "all within" not in verdict(Selected(told(server=apart), Wishes())).sentence


def test_a_member_is_fenced_once_however_many_lines_it_prints(told):
    text = "Receive group coordinator heartbeat failed: Static consumer fenced by other consumer with same group.instance.id"
    lines = "".join(RD.format(at=_AT_S, kind=kind, n=1, text=text) for kind in ("HEARTBEAT", "FATAL"))
    codes = [row for row in told(app=lines).rows("findings") if row["finding"] == "instance_id_fenced"]
    assert [row["times"] for row in codes] == [1]


_FOUND = "Discovered group coordinator b:9092 (id: 2147483646 rack: null)"
_ASKS = "(Re-)joining group"
_TOLD = "Attempt to heartbeat failed since group is rebalancing"


def test_a_member_whose_beginning_is_told_joins_and_nobody_else_began_it(told):
    started = client(0, "c1", "Subscribed to topic(s): orders") + client(0.1, "c1", _FOUND)
    (row,) = told(app=started + client(0.2, "c1", _ASKS) + joined(3, "c1", 6)).rows("rebalances")
    assert (row["trigger"], row["culprit"], row["cause"]) == (
        "join",
        "c1",
        "c1 joined the group (its first join: it had just subscribed)",
    )


def test_of_a_log_that_begins_later_it_is_not_told_whether_its_member_is_new(told):
    (row,) = told(app=client(0.1, "c1", _FOUND) + client(0.2, "c1", _ASKS) + joined(3, "c1", 6)).rows(
        "rebalances"
    )
    assert row["trigger"] == "unseen"


def test_a_member_that_nobody_told_of_a_rebalance_began_it(told):
    both = joined(0, "c1", 1) + joined(0, "c2", 1)
    again = client(0.1, "c2", _ASKS) + client(3, "c1", _TOLD) + client(3.1, "c1", _ASKS)
    rows = told(app=both + again + joined(3.2, "c1", 2) + joined(3.2, "c2", 2)).rows("rebalances")
    assert [(row["trigger"], row["culprit"]) for row in rows][1:] == [("rejoin", "c2")]
    rows = told(app=both + again.partition("\n")[2] + joined(3.2, "c1", 2)).rows("rebalances")
    assert [row["trigger"] for row in rows][1:] == ["unseen"]


@pytest.mark.parametrize(
    ("reason", "failed"),
    [
        ("rebalance failed due to 'Topic t has invalid partitions: expected 2' (StreamsException)", True),
        ("rebalance failed due to 'null' (NullPointerException)", True),
        ("rebalance failed due to 'The group is rebalancing' (RebalanceInProgressException)", False),
        ("rebalance failed due to 'Not the coordinator' (NotCoordinatorException)", False),
    ],
)
def test_an_assignment_that_fails_in_a_members_code_is_its_own_finding(told, reason, failed):
    result = told(app=joined(0, "c1", 4) + client(0.1, "c1", f"Request joining group due to: {reason}"))
    assert ("assignment_failed" in {row["finding"] for row in result.rows("findings")}) == failed


def _kafkajs(at, message, member, **more):
    fields = {"level": "INFO", "timestamp": f"2026-03-01T10:00:{at:06.3f}Z", "logger": "kafkajs"}
    return (
        json.dumps(
            {**fields, "message": message, "groupId": GROUP, "memberId": member, **more},
            separators=(",", ":"),
        )
        + "\n"
    )


def test_members_without_a_generation_are_told_apart_and_the_newcomer_is_the_cause(told):
    one, two = "kafkajs-63f89c01-a3a4-44b8-8a14-eeffffaffd0c", "kafkajs-cfe0a481-e428-4e1f-b700-567b4030e195"
    has = "[ConsumerGroup] Consumer has joined the group"

    def share(*numbers):
        return {"memberAssignment": {"orders": numbers}, "groupProtocol": "RoundRobinAssigner"}

    rows = told(
        app=_kafkajs(1, has, one, **share(0, 1))
        + _kafkajs(18, "[Runner] The group is rebalancing, re-joining", one)
        + _kafkajs(18.1, has, one, **share(0))
        + _kafkajs(18.2, has, two, **share(1))
        + _kafkajs(30, "[Runner] The group is rebalancing, re-joining", one)
        + _kafkajs(30.1, has, one, **share(0, 1))
    ).rows("rebalances")
    assert [row["cause"].partition(":")[0] for row in rows] == [
        "kafkajs-63f89c01… joined the group",
        "kafkajs-cfe0a481… joined the group",
        "kafkajs was told that the group was rebalancing; who began that is not in these lines",
    ]
    assert [row["duration_ms"] for row in rows] == [0, 200, 100]


@pytest.mark.parametrize(("tries", "told_of"), [(2, False), (4, True)])
def test_a_few_tries_before_a_member_joins_are_its_start(told, tries, told_of):
    at = "2026-03-01 10:00:0{}.000 WARNING "
    failed = "".join(
        f"{at.format(second)}Failed to join group g7: NodeNotReadyError: coordinator-1\n"
        for second in range(tries)
    )
    handshake = f"{at.format(7)}Failed to join group g7: [Error 79] MemberIdRequiredError\n"
    joins = f"{at.format(8)}Successfully joined group g7 <Generation 1 (member_id: c1-3d088f73-0d4b-40a2-94b6-76a32dab4a9b, protocol: range)>\n"
    kinds = {row["finding"] for row in told(app=failed + handshake + joins).rows("findings")}
    assert ("client_join_failed" in kinds) == told_of
    assert "client_join_failed" in {row["finding"] for row in told(app=failed).rows("findings")}
    assert "client_join_failed" not in {row["finding"] for row in told(app=handshake).rows("findings")}


def test_a_configuration_of_connect_that_changes_is_why_its_workers_rebalance(told):
    configured = worker(0, "w1", "Tasks [sink-0, sink-1] configs updated") + worker(
        0.1, "w1", "Rebalance started"
    )
    joins = worker(0.2, "w1", "(Re-)joining group") + worker(
        0.5,
        "w1",
        "Successfully joined group with generation Generation{generationId=3, memberId='w1-1', protocol='sessioned'}",
    )
    (row,) = told(app=configured + joins).rows("rebalances")
    assert row["cause"] == "the configuration of the workers' connectors or tasks changed ([sink-0, sink-1])"


def test_a_first_join_is_its_own_cause_with_whom_it_leads(told):
    """A member whose start stands in the log needs no other to have begun the rebalance."""
    text = (
        client(0, "c1", "Subscribed to topic(s): orders")
        + client(0.1, "c1", "Discovered group coordinator b1:9092 (id: 2147483646 rack: null)")
        + client(0.2, "c1", "Revoking previously assigned partitions []")
        + client(0.3, "c1", "(Re-)joining group")
        + joined(3, "c1", 4)
    )
    assert (
        told(c1=text).rows("rebalances")[0]["cause"]
        == "c1 joined the group (its first join: it had just subscribed)"
    )
    led = finished(3.1, 4, "orders-0, orders-1")
    assert told(c1=text + led).rows("rebalances")[0]["cause"].endswith(", as its only member")
    led = finished(3.1, 4, "orders-0", "orders-1", "")
    assert told(c1=text + led).rows("rebalances")[0]["cause"].endswith(", as the leader of 3 members")


def test_whoever_comes_after_another_has_learnt_of_a_rebalance_did_not_begin_it(told):
    notice = client(0, "c1", "Request joining group due to: group is already rebalancing") + client(
        0.1, "c1", "(Re-)joining group"
    )
    late = client(5, "c2", "Subscribed to topic(s): orders") + client(6, "c2", "(Re-)joining group")
    both = joined(7, "c1", 5) + joined(7, "c2", 5)
    (row,) = told(log=notice + late + both).rows("rebalances")
    assert (row["trigger"], row["joined"]) == ("unseen", ["c2"])


def test_a_newcomer_in_the_same_log_is_the_cause_of_what_another_learns_from_its_heartbeat(told):
    text = (
        joined(0, "c1", 4)
        + client(10, "c2", "Subscribed to topic(s): orders")
        + client(11, "c1", "Request joining group due to: group is already rebalancing")
        + joined(12, "c2", 5)
        + joined(12, "c1", 5)
    )
    row = told(log=text).rows("rebalances")[-1]
    assert (row["trigger"], row["culprit"]) == ("join", "c2")


def test_a_leader_that_knew_no_topics_joins_again_for_them(told):
    text = (
        client(0, "c1", "The following subscribed topics are not assigned to any members: [orders]", "WARN")
        + joined(0.1, "c1", 4)
        + joined(0.1, "c2", 4)
        + client(0.2, "c1", "(Re-)joining group")
        + client(3.2, "c2", "Attempt to heartbeat failed since group is rebalancing")
        + client(3.3, "c2", "(Re-)joining group")
        + joined(3.4, "c1", 5)
        + joined(3.4, "c2", 5)
    )
    assert told(log=text).rows("rebalances")[-1]["cause"] == (
        "c1 joined again; in the assignment before, its topics were given to nobody"
    )


def test_a_coordinator_that_is_lost_is_named_with_its_cause_and_the_next(told):
    """The cause may stand in the line before; the nodes stand in the lines."""
    lost = "Group coordinator k1:9092 (id: 2147483646 rack: null) is unavailable or invalid, will attempt rediscovery"
    text = (
        client(
            0,
            "c1",
            "Offset commit failed on partition orders-0 at offset 7: This is not the correct coordinator.",
            "WARN",
        )
        + client(0, "c1", lost)
        + client(0.2, "c1", "Discovered group coordinator k0:9092 (id: 2147483647 rack: null)")
    )
    sentence = finding(told(c1=text), "coordinator_lost")["sentence"]
    assert sentence.startswith(
        "c1 lost its coordinator k1:9092 (broker 1) (This is not the correct coordinator), and found k0:9092 (broker 0)"
    )
    alone = finding(told(c1=client(0, "c1", lost)), "coordinator_lost")["sentence"]
    assert "(the line gives no cause)" in alone


def test_a_request_to_join_that_the_wrong_broker_refused_is_no_rebalance(told):
    text = client(0, "c1", _ASKS) + client(
        0.1,
        "c1",
        "Group coordinator k1:9092 (id: 2147483646 rack: null) is unavailable or invalid due to cause: error response NOT_COORDINATOR. "
        "isDisconnected: false. Rediscovery will be attempted.",
    )
    assert told(c1=text).rows("rebalances") == []
    again = text + client(0.5, "c1", _ASKS)
    assert len(told(c1=again).rows("rebalances")) == 1


def test_the_reason_of_a_worker_and_of_a_coordinator_stands_in_their_own_line(told):
    forced = worker(
        0, "w1", "Current config state offset -1 does not match group assignment 4. Forcing rebalance."
    ) + worker(0.1, "w1", _ASKS)
    result = told(log=forced + worker(0.3, "w1", "Successfully joined group with generation 5"))
    assert result.rows("rebalances")[0]["cause"].endswith("(its config offset is -1, the group's 4)")
    assert "rebalance_enforced" not in {row["finding"] for row in result.rows("findings")}
    text = rebalance(
        0, 4, "Error NOT_COORDINATOR when storing group assignment during SyncGroup (member: c1-0)"
    )
    sentence = finding(told(log=text), "offsets_topic_ailing")["sentence"]
    assert sentence.endswith("(NOT_COORDINATOR)")


_LEAVES_BY_ITSELF = "Request joining group due to: consumer pro-actively leaving the group"


def test_a_close_by_the_application_is_told_also_where_it_had_not_joined(told):
    def went(text):
        return finding(told(c1=text), "member_left")["sentence"]

    closed = (
        client(1, "c1", _LEAVES_BY_ITSELF)
        + f"{client(1.1, 'c1', '').partition('[Consumer')[0]}App info kafka.consumer for c1 unregistered\n"
    )
    assert (
        went(closed) == "c1 left the group by itself and was closed; no line before tells that it had joined"
    )
    assert went(client(1, "c1", _LEAVES_BY_ITSELF)) == "c1 left the group by itself"
    debug = client(
        1,
        "c1",
        "Executing onLeavePrepare with generation Generation{generationId=2} and memberId c1-0",
        "DEBUG",
    )
    assert went(debug).startswith("c1 left the group (its application closed it, or unsubscribed)")


@pytest.mark.parametrize(
    ("reason", "how"),
    [
        ("The coordinator is not aware of this member.", "when it was no member of its group (any more)"),
        (
            "The provided member is not known in the current generation: UNKNOWN_MEMBER_ID",
            "when it was no member",
        ),
        (
            "Offset commit cannot be completed since the consumer is not part of an active group",
            "when it was in no active group",
        ),
        ("the group has already rebalanced", "after its group had rebalanced"),
    ],
)
def test_a_refused_commit_says_how_it_stood_with_the_member(told, reason, how):
    text = client(0, "c1", f"Offset commit failed on partition orders-0 at offset 7: {reason}", "ERROR")
    assert f"c1 tried to commit {how}" in finding(told(c1=text), "zombie_commit")["sentence"]


def test_an_exception_that_an_application_prints_of_a_refused_commit_is_no_second_one(told):
    text = client(
        0,
        "c1",
        "Offset commit failed on partition orders-0 at offset 7: The coordinator is not aware of this member.",
        "ERROR",
    ) + client(0.01, "c1", "", "ERROR").replace(
        "[Consumer clientId=c1, groupId=orders-app] ",
        "Handler of group orders-app failed: org.apache.kafka.clients.consumer.CommitFailedException: Commit cannot be completed "
        "since the group has already rebalanced and assigned the partitions to another member",
    )
    codes = [row["finding"] for row in told(c1=text).rows("findings")]
    assert codes == ["zombie_commit"]


def test_no_member_is_idle_where_nobody_was_given_anything(told):
    empty = told(c1=joined(0, "c1", 4) + finished(0.1, 4, "", ""))
    assert "idle_members" not in {row["finding"] for row in empty.rows("findings")}
    shared = told(c1=joined(0, "c1", 4) + finished(0.1, 4, "orders-0", ""))
    assert "idle_members" in {row["finding"] for row in shared.rows("findings")}


@pytest.mark.parametrize(
    ("at", "limit"), [("2020-09-13", "10,000 by default"), ("2026-03-01", "45,000 by default")]
)
def test_the_default_of_a_session_is_that_of_its_time(told, at, limit):
    text = (
        f"[{at} 10:00:00,000] INFO [Consumer clientId=c1, groupId=g7] Group coordinator k1:9092 (id: 2147483646 rack: null) is unavailable "
        "or invalid due to cause: session timed out without receiving a heartbeat response. isDisconnected: false. Rediscovery will be "
        "attempted. (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)\n"
    )
    row = finding(told(c1=text), "heartbeats_unanswered")
    assert limit in row["setting"]
    assert "gave its coordinator k1:9092 (broker 1) up" in row["sentence"]


def test_a_session_that_was_measured_is_not_set_beside_a_default(told):
    text = SESSTMOUT.format(ms=60_012)
    row = finding(told(c1=RD.format(at=_AT_S, kind="SESSTMOUT", n=1, text=text)), "native_session_lost")
    assert "session.timeout.ms is no longer than that" in row["setting"]
    assert "default" not in row["setting"]
    assert "the coordinator (broker 2)" in row["sentence"]


def test_a_rebalance_begins_where_its_first_member_gave_up_partitions(told):
    (row,) = told(
        c1=client(0, "c1", "Revoke previously assigned partitions orders-0, orders-1") + joined(3, "c1", 7)
    ).rows("rebalances")
    assert row["duration_ms"] == 3_000


_PEERS = [f"rdkafka-{letter * 8}-93e3-4e5f-8e4e-5f0f5f0f5f0f" for letter in "abcd"]


def test_members_of_one_name_that_expire_together_are_counted_by_their_ids(told):
    text = broker(
        0,
        f"Preparing to rebalance group {GROUP} in state PreparingRebalance with old generation 320 (__consumer_offsets-7) "
        f"(reason: removing member {_PEERS[0]} on heartbeat expiration)",
    )
    for seconds, peer in ((0, _PEERS[1]), (0.1, _PEERS[2]), (2, _PEERS[3])):
        text += broker(seconds, f"Member {peer} in group {GROUP} has failed, removing it from the group")
    sentence = finding(told(server=text), "session_expired")["sentence"]
    assert "from 4 members called rdkafka (" in sentence
    assert sentence.endswith("removed them within 2.0 s")


def test_a_member_that_leaves_in_the_join_phase_that_it_began_is_told(told):
    came = broker(
        0,
        f"Dynamic Member with unknown member id joins group {GROUP} in Stable state. Created a new member id {_PEERS[0]} for this member and add to the group.",
    ) + broker(
        0.1,
        f"Preparing to rebalance group {GROUP} in state PreparingRebalance with old generation 63 (__consumer_offsets-7) "
        f"(reason: Adding new member {_PEERS[0]} with group instance id None)",
    )
    went = broker(
        474,
        f"Member[group.instance.id None, member.id {_PEERS[0]}] in group {GROUP} has left, removing it from the group",
    )
    (row,) = told(server=came + went).rows("rebalances")
    assert "it left again 473.9 s later, and no line tells that the join phase was over" in row["cause"]
    rows = told(server=came + stabilized(3, 64) + went).rows("rebalances")
    assert "left again" not in rows[0]["cause"]


def test_who_comes_after_the_last_rebalance_is_told(told):
    text = stabilized(0.2, 234) + broker(
        2.2,
        f"Dynamic member with unknown member id joins group {GROUP} in Stable state. Created a new member id {_PEERS[1]} and request the "
        "member to rejoin with this id.",
    )
    (row,) = told(server=text).rows("rebalances")
    assert row["cause"].endswith(
        "rdkafka-bbbbbbbb… asked to join 2.0 s later, and that rebalance is not in these lines"
    )


def test_of_a_task_that_fails_no_line_tells_that_its_consumer_leaves(told):
    text = "[2026-03-01 10:00:00,000] ERROR WorkerSinkTask{id=s-0} Task threw an uncaught and unrecoverable exception (org.apache.kafka.connect.runtime.WorkerTask)\n"
    assert finding(told(c1=text), "task_failed")["sentence"].endswith("does no work")


def test_a_generation_that_no_line_tells_is_not_made_up(told):
    old = broker(0, f"Preparing to restabilize group {GROUP} with old generation 1") + broker(
        0.1, f"Group {GROUP} generation 1 is dead and removed"
    )
    (row,) = told(server=old).rows("rebalances")
    assert (row["before"], row["after"]) == (1, None)


def test_of_a_member_that_left_and_came_back_the_generation_before_is_not_told(told):
    text = client(
        0,
        "c1",
        "Member c1-0 sending LeaveGroup request to coordinator k1:9092 due to consumer poll timeout has expired.",
    )
    (row,) = told(c1=text + joined(500, "c1", 1)).rows("rebalances")
    assert (row["before"], row["after"]) == (None, 1)


def test_the_topics_that_changed_stand_in_the_members_own_reason(told):
    reason = "cached metadata has changed from (version2: {orders=1, audit=3}) at the beginning of the rebalance to (version3: {orders=2, audit=3})"
    text = (
        joined(0, "c1", 3) + client(5, "c1", f"Request joining group due to: {reason}") + joined(6, "c1", 4)
    )
    result = told(c1=text)
    assert result.rows("rebalances")[-1]["topics"] == "orders (1 -> 2 partitions)"
    assert "(orders (1 -> 2 partitions))" in finding(result, "topic_changed")["sentence"]


def test_a_leader_that_shares_out_proves_its_generation(told):
    text = client(
        0,
        "c2",
        "Member c2-0 sending LeaveGroup request to coordinator k1:9092 due to the consumer is being closed",
    )
    (row,) = told(
        log=text + client(3, "c1", "").rstrip("\n").partition("INFO")[0] + finished(3, 7, "orders-0")
    ).rows("rebalances")
    assert (row["after"], row["trigger"], row["culprit"]) == (7, "leave", "c2")


def test_a_member_without_a_name_that_the_wrong_broker_refused_began_nothing(told):
    bare = "2026-03-01 10:00:0{} INFO AbstractCoordinator:542 - {}\n"
    text = bare.format(0, "(Re-)joining group g7") + bare.format(
        1, "Marking the coordinator k1:9092 (id: 2147483645 rack: null) dead for group g7"
    )
    assert told(app=text).rows("rebalances") == []


def test_what_followed_a_leave_is_not_denied_where_a_leader_shared_out_anew(told):
    """Of a group that no line names no rebalance is printed, but who left is."""
    bare = "[2026-03-01 10:00:0{},000] INFO [Consumer clientId={}] {} (org.apache.kafka.clients.consumer.internals.ConsumerCoordinator)\n"
    left = bare.format(
        0,
        "c2",
        "Member c2-0 sending LeaveGroup request to coordinator k1:9092 due to the consumer is being closed",
    )
    went_on = bare.format(
        3, "c1", "Finished assignment for group at generation 7: {c1-0=Assignment(partitions=[orders-0])}"
    )
    assert finding(told(log=left), "member_left")["sentence"].endswith("(the consumer is being closed)")
    assert finding(told(log=left + went_on), "member_left")["sentence"].endswith(
        "the group went on at generation 7"
    )


def test_of_a_generation_that_only_its_leader_tells_of_its_members_are_told(told):
    (row,) = told(log=finished(0, 7, "orders-0", "orders-1") + joined(0.1, "c1", 7)).rows("rebalances")
    assert row["cause"] == "no line tells how generation 7 began; c1 is the leader of its 2 members"


def test_the_first_answer_to_a_new_member_is_its_join_in_any_clients_words(told):
    text = (
        '2026-03-01T10:00:00Z level=INFO msg="joining group" group=g7\n'
        '2026-03-01T10:00:00Z level=INFO msg="join returned MemberIDRequired, rejoining with response\'s MemberID" group=g7 member_id=kgo-1\n'
        '2026-03-01T10:00:03Z level=INFO msg="joined, balancing group" group=g7 member_id=kgo-1 generation=6 leader=true\n'
    )
    assert told(log=text).rows("rebalances")[-1]["trigger"] == "join"
