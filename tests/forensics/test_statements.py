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

from rebalance_kit.cli import main
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


CLIENT = "[Consumer clientId=c1, groupId=orders] "
COORDINATOR = "[GroupCoordinator id=1] "
FENCED_BY = "The group instance id Optional[inst-1] has been fenced by another instance. Sent generation was Generation{generationId=5}"

#: What lines of Kafka's say, line by line, what the answer must hold, and what none of them proves.
PROVED = {
    "the instance id that a line names": (
        [CLIENT + "JoinGroup failed: " + FENCED_BY],
        ["same group.instance.id inst-1"],
        ["(not named)", "Optional"],
    ),
    "an instance id that no line names": (
        [CLIENT + "Received fatal exception: group.instance.id gets fenced"],
        ["(not named)"],
        ["group.instance.id gets"],
    ),
    "an automatic commit without an answer": (
        [CLIENT + "Asynchronous auto-commit of offsets {a-0=1} failed: The request timed out."],
        ["could not commit its offsets (The request timed out)", "says nothing of its membership"],
        [],
    ),
    "topics that a member may not use": (
        [CLIENT + "OffsetCommit failed due to not authorized to commit to topics [a]"],
        ["no right to use what it subscribes to or commits"],
        ["no right to use this group"],
    ),
    "a group that a member may not use": (
        [CLIENT + "JoinGroup failed due to fatal error: Not authorized to access group: orders"],
        ["no right to use this group"],
        ["what it subscribes to"],
    ),
    "an operation that failed in the coordinator": (
        [COORDINATOR + "Operation commit-offset with x hit an unexpected exception: No value present."],
        ["unexpected error in commit-offset (No value present)"],
        ["stops with"],
    ),
    "a write that a coordinator could not do": (
        [COORDINATOR + "Writing records to __consumer_offsets-3 failed due to: not enough replicas."],
        ["could not write to __consumer_offsets-3 (not enough replicas)"],
        [],
    ),
    "a commit of a partition that is not there": (
        [
            CLIENT
            + "Offset commit failed on partition a-3 at offset 7: This server does not host this topic-partition."
        ],
        ["c1 could not commit offsets of a-3: a broker answers that it does not host it"],
        ["tries"],
    ),
    "a coordinator that is not found again": (
        [
            CLIENT
            + "Group coordinator b:9092 (id: 2147483646 rack: null) is unavailable or invalid due to cause: coordinator unavailable. isDisconnected: true. Rediscovery will be attempted."
        ],
        ["lost its coordinator b:9092 (broker 1) (coordinator unavailable)", "no line after it tells"],
        ["found it there"],
    ),
    "a join that a broker refused, and a coordinator that was found again": (
        [
            CLIENT
            + "Group coordinator b:9092 (id: 2147483646 rack: null) is unavailable or invalid due to cause: error response NOT_COORDINATOR. isDisconnected: false. Rediscovery will be attempted.",
            CLIENT
            + "JoinGroup failed: This is not the correct coordinator. Marking coordinator unknown. Sent generation was 5",
            CLIENT + "Discovered group coordinator b:9092 (id: 2147483646 rack: null)",
            CLIENT
            + "Request joining group due to: rebalance failed due to 'This is not the correct coordinator.' (NotCoordinatorException)",
        ],
        ["error response NOT_COORDINATOR", "and found it there"],
        ["was told by a broker", "no line after"],
    ),
    "an assignment that was not stored": (
        [
            "[GroupCoordinator 1]: Preparing to rebalance group orders with old generation 7 (__consumer_offsets-32)",
            "[GroupCoordinator 1]: Stabilized group orders generation 8 (__consumer_offsets-32)",
            "[GroupCoordinator 1]: Assignment received from leader for group orders for generation 8",
            "[ReplicaManager broker=1] Error processing append operation on partition __consumer_offsets-32",
            "org.apache.kafka.common.errors.NotEnoughReplicasException: Number of insync replicas for partition __consumer_offsets-32 is [1], below required minimum [2]",
        ],
        ["could not write to __consumer_offsets-32", "is [1], below required minimum [2]", "no end in these"],
        ["settled"],
    ),
    "an assignment that was stored, and another partition that could not be written": (
        [
            "[GroupCoordinator 1]: Preparing to rebalance group orders with old generation 7 (__consumer_offsets-32)",
            "[GroupCoordinator 1]: Stabilized group orders generation 8 (__consumer_offsets-32)",
            "[GroupCoordinator 1]: Assignment received from leader for group orders for generation 8",
            "[ReplicaManager broker=1] Error processing append operation on partition __consumer_offsets-5",
        ],
        ["could not write to __consumer_offsets-5", "settled"],
        [],
    ),
    "a refused commit of which only the exception was pasted": (
        [
            "Error while processing: null",
            "org.apache.kafka.clients.consumer.CommitFailedException: Commit cannot be completed since the group has already rebalanced and assigned the partitions to another member.",
        ],
        ["was refused a commit after its group had rebalanced"],
        ["could not be understood"],
    ),
    "partitions of which a broker is the coordinator no more": (
        [
            f"[GroupMetadataManager brokerId=1001] Finished unloading __consumer_offsets-{number}. Removed 0 cached offsets and {number} cached groups."
            for number in (19, 4)
        ],
        ["broker 1001 unloaded 2 partitions of __consumer_offsets (4, 19), with 23 groups"],
        ["another broker"],
    ),
    "partitions that a broker loaded again": (
        [
            COORDINATOR + "Finished unloading metadata for __consumer_offsets-48 with epoch 5.",
            COORDINATOR + "Finished loading of metadata from __consumer_offsets-48 with epoch 7.",
        ],
        [],
        ["no longer"],
    ),
    "partitions of which a broker will not stay the coordinator": (
        [
            COORDINATOR
            + "Scheduling unloading of metadata for __consumer_offsets-48 with epoch OptionalInt[5]"
        ],
        ["broker 1 is to unload 1 partition", "do not say why"],
        ["no longer"],
    ),
    "a thread of Streams that stops": (
        ["stream-thread [app-StreamThread-1] State transition from RUNNING to PENDING_SHUTDOWN"],
        ["went from RUNNING to PENDING_SHUTDOWN: it is stopping", "does not say why"],
        ["has ended", "ERROR"],
    ),
    "an error of a coordinator beside a rebalance": (
        [
            COORDINATOR
            + "Preparing to rebalance group orders in state PreparingRebalance with old generation 4 (reason: Adding new member c1-0a1b2c3d-1111-4222-8333-444455556667).",
            "ERROR " + COORDINATOR + "Failed to invoke join callback for c1 due to java.io.IOException.",
        ],
        ['the coordinator writes at the level ERROR: "Failed to invoke join callback for c1'],
        ["a member writes"],
    ),
    "a first join whose id is handed out": (
        [
            CLIENT + "(Re-)joining group",
            CLIENT
            + "Request joining group due to: rebalance failed due to 'The group member needs to have a valid member id before actually entering a consumer group.' (MemberIdRequiredException)",
        ],
        ["c1 asked to join"],
        ["MemberIdRequired", "rebalance failed"],
    ),
    "a join that was refused for good": (
        [
            CLIENT + "(Re-)joining group",
            "ERROR "
            + CLIENT
            + "Attempt to join group failed due to fatal error: The group member's supported protocols are incompatible with those of existing members.",
        ],
        ["c1 could not join: its protocols"],
        ["rebalancing since", "no assignor that all"],
    ),
    "a poll that came too late, and no leaving": (
        [
            CLIENT
            + "consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, which typically implies"
        ],
        ["c1 let more than max.poll.interval.ms pass"],
        ["left the group"],
    ),
    "a poll that came too late, and a leaving": (
        [
            CLIENT
            + "Member c1-7 sending LeaveGroup request to coordinator b:9092 due to consumer poll timeout has expired."
        ],
        ["between two calls of poll() and left the group by itself"],
        [],
    ),
    "a member that fails": (
        [COORDINATOR + "Member c1-7 in group orders has failed, removing it from the group"],
        ["heard no heartbeat from c1-7 in time"],
        ["whole session", "why the process stopped"],
    ),
    "a heartbeat of an old generation": (
        [CLIENT + "Attempt to heartbeat failed since generation 7 is not current"],
        ["c1 was refused its heartbeat: its generation is over"],
        ["gives no reason", "no member", "lost to it"],
    ),
    "a heartbeat of a member that is not known": (
        [CLIENT + "Attempt to heartbeat failed since member id c1-7 is not valid"],
        ["c1 was refused its heartbeat: its group does not know this member"],
        ["gives no reason", "any more", "lost to it"],
    ),
    "an assignment of a group that begins again": (
        [
            CLIENT
            + "SyncGroup failed: The group began another rebalance. Need to re-join the group. Sent generation was Generation{generationId=5}"
        ],
        ["refused: the group had begun another rebalance"],
        [],
    ),
    "an assignment of a member that is not known": (
        [
            CLIENT
            + "SyncGroup failed: The coordinator is not aware of this member. Need to re-join the group. Sent generation was Generation{generationId=5}"
        ],
        ["c1 asked for its assignment and was refused: The coordinator is not aware of this member"],
        ["another rebalance"],
    ),
    "a request of a static member that was replaced": (
        [
            COORDINATOR
            + "Request memberId=a-1 for static member with groupInstanceId=a is fenced by existing memberId=a-2 during operation leave-group"
        ],
        ["refused a request with group.instance.id a"],
        ["two processes share"],
    ),
    "a static member that comes back": (
        [
            COORDINATOR
            + "Static member with groupInstanceId=a and unknown member id joins group orders in PreparingRebalance state. Replacing previously mapped member a-1 with this groupInstanceId."
        ],
        ["static member a came back before its session was over"],
        ["no rebalance was needed"],
    ),
    "a member id that nobody used": (
        [
            COORDINATOR
            + "Pending member c1-7 in group orders has been removed after session timeout expiration"
        ],
        ["handed out c1-7, a member id with which nobody joined"],
        ["the join phase waited", "asked twice for an id and used the second only:"],
    ),
    "a herder that ends": (
        ["ERROR [Worker clientId=w1, groupId=connect] Uncaught exception in herder work thread, exiting: "],
        ["the herder thread of w1 met an exception that nothing caught", "If it was in a group"],
        ["move or wait", "the others wait"],
    ),
    "a connector that does not start": (
        ["ERROR Failed to start connector 'jdbc'"],
        ["connector jdbc could not be started"],
        ["its configuration or its code threw"],
    ),
    "a partition that could not be loaded": (
        [
            COORDINATOR
            + "Failed to load metadata from __consumer_offsets-3 with epoch 4 due to out of memory."
        ],
        ["could not load __consumer_offsets-3"],
        ["unload", "have no coordinator until"],
    ),
    "a partition that could not be unloaded": (
        [COORDINATOR + "Failed to unload metadata for __consumer_offsets-3 with epoch 4 due to a bug."],
        ["could not unload __consumer_offsets-3"],
        ["have no coordinator until"],
    ),
    "a thread of Streams that shuts down": (
        [
            "stream-thread [app-StreamThread-1] Encountered the following exception during processing and the thread is going to shut down: "
        ],
        ["app-StreamThread-1 met an exception and shuts down"],
        ["lost all", "lost a stream thread"],
    ),
    "a thread of Streams that is fenced": (
        [
            "stream-thread [app-StreamThread-1] Detected that the thread is being fenced. This implies that this thread missed a rebalance and dropped out of the consumer group."
        ],
        ["app-StreamThread-1 found that it had missed a rebalance"],
        ["run elsewhere"],
    ),
    "a worker whose configuration is not the group's": (
        [
            "[Worker clientId=w1, groupId=connect] Was selected to perform assignments, but do not have latest config found in sync request. Returning an empty configuration to trigger re-sync."
        ],
        ["w1 does not have the configuration"],
        ["forces a rebalance"],
    ),
    "a commit that an application prints as refused": (
        ["org.apache.kafka.clients.consumer.CommitFailedException: Offset commit cannot be completed"],
        ["was refused a commit"],
        ["had been removed", "generation was over", "Expect"],
    ),
    "a rebalance that failed in a member's code": (
        [
            CLIENT
            + "Request joining group due to: rebalance failed due to 'no such assignor' (IllegalStateException)"
        ],
        ["a rebalance failed in c1: 'no such assignor' (IllegalStateException)"],
        ["assignment of the group failed"],
    ),
    "another coordinator of a member of librdkafka": (
        [
            '%7|1588150000.123|CGRPCOORD|rdkafka#consumer-1| [thrd:main]: Group "orders" changing coordinator 3 -> 2'
        ],
        ["from one coordinator to another (broker 3 to 2)"],
        ["another leader;", "keep what they own"],
    ),
    "two of a name that stop": (
        [
            "stream-client [app] State transition from RUNNING to PENDING_SHUTDOWN",
            "stream-client [app] State transition from RUNNING to PENDING_SHUTDOWN",
            "stream-client [app] State transition from PENDING_SHUTDOWN to NOT_RUNNING",
        ],
        ["app went from RUNNING to PENDING_SHUTDOWN to NOT_RUNNING"],
        ["PENDING_SHUTDOWN to PENDING_SHUTDOWN"],
    ),
    "partitions of which some are unloaded": (
        [
            COORDINATOR + "Scheduling unloading of offsets and group metadata from __consumer_offsets-3",
            COORDINATOR + "Scheduling unloading of offsets and group metadata from __consumer_offsets-4",
            COORDINATOR
            + "Finished unloading __consumer_offsets-3. Removed 0 cached offsets and 0 cached groups.",
        ],
        ["unloaded 1 of 2 partitions of __consumer_offsets (3, 4)", "do not say why"],
        ["coordinator of the groups stored there", "is to unload"],
    ),
    "one coordinator that is lost twice": (
        [
            CLIENT + "Discovered group coordinator b:9092 (id: 2147483646 rack: null)",
            *[
                CLIENT
                + "Group coordinator b:9092 (id: 2147483646 rack: null) is unavailable or invalid due to cause: coordinator unavailable. isDisconnected: true. Rediscovery will be attempted."
            ]
            * 2,
        ],
        ["lost its coordinator"],
        ["2 times", "lost it again at once"],
    ),
    "a stop of what met an exception": (
        [CLIENT + "Revoke previously assigned partitions a-0", "ERROR Caught exception, shutting down..."],
        ['says "Caught exception, shutting down...'],
        ["points to"],
    ),
    "one exception of several": (
        [
            CLIENT + "Revoke previously assigned partitions a-0",
            "ERROR Uncaught trouble in a worker",
            "ERROR java.io.IOException: disk full",
        ],
        ['says "java.io.IOException: disk full'],
        ["points to", "more line"],
    ),
    "two of a name's kind": (
        [
            "stream-thread [app-1] State transition from PENDING_SHUTDOWN to DEAD",
            "stream-client [app] State transition from PENDING_SHUTDOWN to NOT_RUNNING",
        ],
        ["(of the same kind: app"],
        ["the same for"],
    ),
    "a heartbeat that tells of a rebalance": (
        [
            CLIENT + "Attempt to heartbeat failed since group is rebalancing",
            CLIENT + "Revoke previously assigned partitions a-0",
        ],
        [
            "c1 learnt from its heartbeat that the group was rebalancing; who began that, and why, is not in these lines"
        ],
        ["somebody else"],
    ),
    "a poll of which no line tells how late it was": (
        [
            CLIENT
            + "consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, which"
        ],
        ["max.poll.interval.ms is 300,000 by default"],
        ["no line was found that tells how long"],
    ),
    "an exception that an application makes of a refused commit": (
        [
            "java.lang.IllegalStateException: This error handler cannot process 'org.apache.kafka.clients.consumer.CommitFailedException's; no record information is available"
        ],
        ["refused a commit: CommitFailedException"],
        ["refused a commit: IllegalStateException"],
    ),
    "a limit that a line only names": (
        [
            CLIENT + "Revoke previously assigned partitions a-0",
            "[Producer clientId=p1] Closing the Kafka producer with timeoutMillis = 9223372036854775807 ms.",
        ],
        [],
        ["Beside it"],
    ),
    "three members that fail": (
        [
            COORDINATOR + f"Member {who}-7 in group orders has failed, removing it from the group"
            for who in "abc"
        ],
        ["heartbeat from a-7 in time and removed it (and 2 others)", "(the same for b-7, c-7)"],
        [],
    ),
    "a high generation that two members tell": (
        [
            f"[Consumer clientId=c{one}, groupId=orders] Successfully joined group with generation 20000"
            for one in (1, 2)
        ],
        ["the group is at generation 20000"],
        ["and 1 other", "the same for"],
    ),
    "a callback of a client without a name": (
        ["ERROR User provided rebalance listener <l> for group orders failed on_partitions_revoked"],
        ["callback on_partitions_revoked of a client of a.log threw"],
        [" of a threw"],
    ),
    "a refused commit whose reason says how it stood": (
        [
            "ERROR group orders: org.apache.kafka.clients.consumer.CommitFailedException: Commit cannot be completed since the group has already rebalanced"
        ],
        ["was refused a commit after its group had rebalanced"],
        ["rebalanced: group has already"],
    ),
    "how late a poll was, where no line tells the limit": (
        [
            CLIENT
            + "Time between subsequent calls to poll() was longer than the configured max.poll.interval.ms, exceeded approximately by 15032 ms. Member c1-7 will rejoin the group now."
        ],
        ["if max.poll.interval.ms is 300,000, its default", "about 315.0 s passed"],
        ["until then"],
    ),
    "a reason that single words do not tell": (
        ["ERROR -- : [[test] {}:] Connection error while trying to join group `orders`; retrying..."],
        ["tried to join its group and failed"],
        ["gives no reason"],
    ),
    "all threads of a Streams client": (
        [
            "stream-client [app] State transition from RUNNING to ERROR",
            "stream-client [app] All stream threads have died. The instance will be in error state and should be closed.",
        ],
        ["app lost all its stream threads and went into the state ERROR", "Why is not in the lines"],
        [],
    ),
}


@pytest.mark.parametrize("what", PROVED)
def test_an_answer_tells_what_lines_prove_and_no_more(what, tmp_path, capsys):
    lines, must, must_not = PROVED[what]
    (tmp_path / "a.log").write_text(
        "".join(
            f"{line}\n"
            if line.startswith("org.")
            else f"[2026-05-03 10:11:{12 + second},123] {'' if line.startswith('ERROR ') else 'WARN '}{line} (org.apache.kafka.Any)\n"
            for second, line in enumerate(lines)
        )
    )
    main(["logs", str(tmp_path / "a.log")])
    told = " ".join(capsys.readouterr().out.partition("  in order")[0].split())
    assert [words for words in must if words not in told] == [], told
    assert [words for words in must_not if words in told] == [], told
