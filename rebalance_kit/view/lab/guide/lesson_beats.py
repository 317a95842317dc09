"""What each lesson says at its beats in its own words: the kind of step, the sentence, and which step of that kind.

A kind that only one protocol has (``gives up all``: eager) is said under that protocol alone. A test runs every lesson
under every protocol and asks for each of these sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class LessonBeat(NamedTuple):
    """A sentence of a lesson: the kind of step it is said at, the words, and the how-manieth step of that kind (-1: the last)."""

    kind: str
    words: str
    nth: int = 1


SILENT = "It says nothing to anybody, so to the group it is still a member."
ASKS_ALL = "The coordinator asks everybody to join again, and waits until everybody has."
EAGER_STOPS = "An eager member gives up everything before it joins: now the healthy ones stop too."
COOPERATIVE_READS = (
    "A cooperative member joins without giving anything up: it reads on while the group negotiates."
)
FROM_COMMIT = (
    "The new owner starts at the last commit, so it reads again what the dead one had read after it."
)
RE_READ = "What was read but not committed is read again by the new owner."

STORY_FROM: Mapping[str, int] = MappingProxyType({"defect-joins-too-early": 0})
"""Where the story of a lesson begins, if not at its first action or late start (ms)."""
LESSON_BEATS: Mapping[str, tuple[LessonBeat, ...]] = MappingProxyType(
    {
        "two-consumers": (
            LessonBeat("member_added", "The first member is in the group; a second one is on its way."),
            LessonBeat(
                "generation", "The wait for more members is over, and the leader deals the partitions."
            ),
            LessonBeat("assignment", "Each member hears its share, and only now does anything flow."),
            LessonBeat(
                "target", "The coordinator itself deals the partitions; no member has to wait for another."
            ),
        ),
        "two-consumers-crash": (
            LessonBeat("action crash", f"consumer-1 is killed. {SILENT}"),
            LessonBeat(
                "removed session", "Only now does the group know: no heartbeat came for a whole session."
            ),
            LessonBeat("gives up all", EAGER_STOPS),
            LessonBeat("keeps all", COOPERATIVE_READS),
            LessonBeat(
                "reconciled", "consumer-2 gets the partitions with its own next heartbeat; nobody stopped."
            ),
            LessonBeat("twice", FROM_COMMIT),
        ),
        "join": (
            LessonBeat(
                "member_added", "consumer-4 is in the group, and its share has to come from the others."
            ),
            LessonBeat("gives up all", EAGER_STOPS),
            LessonBeat("keeps all", COOPERATIVE_READS),
            LessonBeat(
                "joins once more", "Who gave something up joins once more, so that it can be dealt out."
            ),
            LessonBeat(
                "told to give up", "Only the members that have too much are asked to give something up."
            ),
        ),
        "leave": (
            LessonBeat(
                "action close", "consumer-2 is closed in an orderly way: close() commits and says goodbye."
            ),
            LessonBeat(
                "removed leave", "The group knows at once; compare this with the 45 seconds after a crash."
            ),
        ),
        "scale-out": (
            LessonBeat("action start", "Four more consumers start shortly after one another."),
            LessonBeat("gives up all", EAGER_STOPS),
            LessonBeat("keeps all", COOPERATIVE_READS),
            LessonBeat(
                "told to give up", "Each newcomer raises the epoch, and only what moves is asked for."
            ),
        ),
        "restaurant": (
            LessonBeat("action close", "dan goes home: a member leaves, and its tables need another waiter."),
            LessonBeat(
                "gives up all",
                "All waiters put all their tables down, although only dan's need a new waiter.",
            ),
            LessonBeat("keeps all", "The waiters keep their tables while they agree on who takes dan's."),
            LessonBeat("reconciled", "Each waiter hears of its new tables when it next reports."),
        ),
        "crash": (
            LessonBeat("action crash", f"consumer-2 is killed. {SILENT}"),
            LessonBeat(
                "removed session", "session.timeout.ms has passed: this wait was nearly all of the outage."
            ),
            LessonBeat("twice", FROM_COMMIT),
        ),
        "a-to-b-move": (
            LessonBeat(
                "action subscribe", "A also subscribes to audits, so who reads what has to be agreed anew."
            ),
            LessonBeat("gives up all", "A gives up everything at once, also what it will get back."),
            LessonBeat(
                "joins once more", "A has given the one partition up, and joins again so that B can have it."
            ),
            LessonBeat(
                "told to give up", "A is asked for one partition; until A confirms, nobody else may read it."
            ),
        ),
        "fifty-by-five-hundred": (
            LessonBeat(
                "action close", "One of fifty consumers is restarted: ten of 500 partitions need a reader."
            ),
            LessonBeat(
                "gives up all", "Forty-nine healthy members give up 490 partitions that did not have to move."
            ),
            LessonBeat("keeps all", COOPERATIVE_READS),
            LessonBeat(
                "reconciled", "A few members take over ten partitions; the others are not even asked."
            ),
        ),
        "storm": (
            LessonBeat("action stall", "consumer-1 is slow between two polls; its heartbeats go on."),
            LessonBeat(
                "poll_timeout", "It did not call poll() in time, so it leaves by itself, and everybody pays."
            ),
            LessonBeat("twice", RE_READ),
        ),
        "poll-timeout": (
            LessonBeat(
                "action stall", "consumer-2 hangs in its processing, and its heartbeats go on all the same."
            ),
            LessonBeat("poll_timeout", "It looks like a crash, but it is the member itself that leaves."),
            LessonBeat(
                "callback lost", "When it polls at last, its partitions have long been somebody else's."
            ),
        ),
        "slow-consumer": (
            LessonBeat(
                "action slow_down", "Each record takes consumer-2 longer now; a full batch takes too long."
            ),
            LessonBeat(
                "poll_timeout", "The batch took longer than max.poll.interval.ms, so the member leaves."
            ),
            LessonBeat(
                "twice", "The batch was never committed, so the next owner processes all of it again."
            ),
        ),
        "freeze": (
            LessonBeat(
                "action freeze", "consumer-2 is frozen, as by a long GC pause: no heartbeat, no poll."
            ),
            LessonBeat("removed session", "To the coordinator this is a crash: the session has ended."),
            LessonBeat("action thaw", "consumer-2 wakes up and does not know that it was removed: a zombie."),
            LessonBeat(
                "callback lost", "The coordinator's answer tells it: what it had is lost, not revoked."
            ),
        ),
        "network-cut": (
            LessonBeat(
                "action cut_network", "consumer-2 cannot reach the coordinator, but it can still fetch."
            ),
            LessonBeat(
                "removed session", "The group removes it; it reads on all the same, beside the new owner."
            ),
            LessonBeat(
                "action heal_network", "It reaches the coordinator again and hears that it is no member."
            ),
            LessonBeat("twice", "Two members read the same partitions now."),
        ),
        "recovered-member": (
            LessonBeat("action crash", f"consumer-2 is killed. {SILENT}"),
            LessonBeat(
                "action start", "It is back, but as a new member id; the old one is still in the group."
            ),
            LessonBeat(
                "removed session",
                "The session of the old member id ends, and only now is the group rid of it.",
            ),
        ),
        "crash-in-hand-over": (
            LessonBeat("member_added", "consumer-3 joins, so the other two have to hand something over."),
            LessonBeat(
                "gives up all", "Both owners give everything up, in a callback that takes three seconds."
            ),
            LessonBeat("action crash", "consumer-2 dies in the middle of its onPartitionsRevoked."),
            LessonBeat("removed session", "Only the session of the dead member ends the wait for it."),
            LessonBeat(
                "joins once more", "consumer-1 has given up its share and joins, and waits for a dead member."
            ),
            LessonBeat("told to give up", "consumer-1 hands over on its own; it waits for nobody.", 2),
        ),
        "lost-records": (
            LessonBeat("action crash", "consumer-1 dies before its first commit."),
            LessonBeat(
                "skipped", "There is no commit and auto.offset.reset is latest: the records are passed over."
            ),
            LessonBeat("twice", "Here a commit was there in time, so records come twice and none is lost."),
        ),
        "slow-callback": (
            LessonBeat(
                "member_added", "consumer-3 joins; each hand-over now runs a callback of six seconds."
            ),
            LessonBeat(
                "gives up all", "The callbacks run before the join, so everybody waits for the slowest."
            ),
            LessonBeat("keeps all", COOPERATIVE_READS),
            LessonBeat("callback revoked", "Only who gives something up runs the slow callback."),
            LessonBeat("told to give up", "Only the partition that moves waits for the slow callback."),
        ),
        "wrong-librdkafka-callback": (
            LessonBeat(
                "member_added", "consumer-3 joins: a librdkafka client whose callback does not confirm."
            ),
            LessonBeat(
                "joins once more",
                "The hand-over needs a second rebalance, and every member has to come back for it.",
            ),
            LessonBeat(
                "wrong_call",
                "librdkafka refuses assign() here, so consumer-3 owns partitions that nobody reads.",
            ),
        ),
        "duplicate-instance": (
            LessonBeat("action start", "A second process starts with the group.instance.id of consumer-2."),
            LessonBeat(
                "member_replaced", "The coordinator believes that the old one came back, and swaps them."
            ),
            LessonBeat("process_ended", "The process that lost dies of the coordinator's answer."),
            LessonBeat(
                "member_refused", "The id is taken and was not released: here the newcomer is refused."
            ),
        ),
        "static-restart-in-time": (
            LessonBeat("action close", "consumer-2 stops without leaving: static members are expected back."),
            LessonBeat("action start", "It is back within its session."),
            LessonBeat("member_replaced", "The coordinator knows it by its group.instance.id: no rebalance."),
        ),
        "static-restart-too-late": (
            LessonBeat("action close", "consumer-2 stops, and its partitions wait for it."),
            LessonBeat(
                "removed session", "It did not come back in time; its partitions were unread all along."
            ),
            LessonBeat(
                "member_away", "It has said that it will be back, so nobody else gets its partitions."
            ),
            LessonBeat("action start", "Now it comes back, and causes a second rebalance."),
        ),
        "rolling-restart-static": (
            LessonBeat("action close", "The first of three restarts: the member stops without leaving."),
            LessonBeat("member_replaced", "It is back under its group.instance.id, and gets what it had."),
            LessonBeat("flows again", "Three restarts, and no partition has moved.", -1),
        ),
        "subscription-change": (
            LessonBeat(
                "action subscribe",
                "consumer-2 also subscribes to payments, so who may read what has changed.",
            ),
            LessonBeat("gives up all", "consumer-2 gives up everything, and so will consumer-1."),
            LessonBeat(
                "joins once more",
                "consumer-2 has given up what moves, and joins once more so that it can be dealt.",
            ),
            LessonBeat(
                "told to give up",
                "consumer-2 is asked for partitions of orders, because it gets those of payments.",
            ),
        ),
        "partitions-added": (
            LessonBeat(
                "action add_partitions", "Two partitions are added, and nobody in the group has seen them."
            ),
            LessonBeat(
                "rejoin_requested", "The leader's metadata is refreshed at last: it asks for a rebalance."
            ),
            LessonBeat("epoch_bump", "The coordinator notices by itself; no client's metadata counts."),
        ),
        "skewed-range": (
            LessonBeat("member_added", "Three members share several topics; watch how many each gets."),
            LessonBeat("generation", "All are there: the leader deals the partitions."),
            LessonBeat("assignment", "Each member hears its share: watch for whom records begin to queue."),
            LessonBeat("target", "The coordinator deals the partitions, with its own assignor."),
        ),
        "regex-surprise": (
            LessonBeat(
                "action create_topic", "Somebody creates a topic whose name fits the group's pattern."
            ),
            LessonBeat(
                "rejoin_requested", "A consumer's metadata shows the topic, and it joins again for it."
            ),
            LessonBeat("epoch_bump", "A consumer's metadata shows the topic, and the epoch rises."),
        ),
        "two-bounces": (
            LessonBeat("action close", "The first bounce: every member is restarted with both assignors."),
            LessonBeat("generation", "All members still share range, so range is used.", 1),
            LessonBeat(
                "action start", "The second bounce: now each is restarted with the new assignor alone.", 4
            ),
            LessonBeat(
                "flows again", "Both bounces are done, and at no time was there no common assignor.", -1
            ),
        ),
        "bounce-gone-wrong": (
            LessonBeat(
                "action close", "consumer-2 is restarted straight with the new assignor: one bounce too few."
            ),
            LessonBeat("member_refused", "It shares no assignor with the others, so it may not come in."),
            LessonBeat("process_ended", "An application that does not catch this error dies of it."),
        ),
        "migration": (
            LessonBeat("action close", "The members are restarted one by one with group.protocol=consumer."),
            LessonBeat("group_converted", "The first consumer of the new kind makes it a consumer group."),
            LessonBeat("target", "From now on the broker deals the partitions, for classic members too."),
            LessonBeat("flows again", "All members have moved over, and the group never stood empty.", -1),
        ),
        "rolling-restart": (
            LessonBeat("action close", "The first of three restarts: a dynamic member leaves at once."),
            LessonBeat("action start", "It is back, as a stranger: a second rebalance for one restart."),
            LessonBeat("flows again", "Three restarts, and each has cost two rebalances.", -1),
        ),
        "broker-restart": (
            LessonBeat("action broker_down", "The broker that coordinates the group stops."),
            LessonBeat("coordinator_down", "Nobody can join or commit; members read on with what they have."),
            LessonBeat("coordinator_up", "The group is read back from its log, and nobody has to rebalance."),
        ),
        "coordinator-failover": (
            LessonBeat("action coordinator_failover", "Another broker takes the group over."),
            LessonBeat("coordinator_up", "It has read members and offsets from the log: no rebalance."),
        ),
        "broker-bounce-racks": (
            LessonBeat("action node_down", "A broker stops that does not coordinate the group."),
            LessonBeat(
                "rejoin_requested", "With it the racks of the replicas changed: the leader joins again."
            ),
            LessonBeat("action node_up", "The broker is back, and the racks change once more."),
        ),
        "defect-sticky-stale-leader": (
            LessonBeat("action add_partitions", "Partitions are added."),
            LessonBeat("action close", "consumer-1 leaves, and a member with older metadata becomes leader."),
            LessonBeat(
                "generation",
                "The new leader does not know a partition that a member owns, and loses count.",
                2,
            ),
            LessonBeat("twice", "The plan gave partitions to two members, and both read them.", -1),
        ),
        "defect-deleted-topic-hangs": (
            LessonBeat("action delete_topic", "A topic that the group reads is deleted."),
            LessonBeat(
                "gives up all", "consumer-1 commits before it joins, also for the deleted topic: it hangs."
            ),
            LessonBeat("group_state", "A minute later the commit is given up, and the rebalance begins."),
        ),
        "defect-empty-group-waits": (
            LessonBeat("action close", "The only member leaves: the group is empty."),
            LessonBeat("member_added", "The next one is in, and gets nothing although nobody else is there."),
            LessonBeat("target", "Only now is a target computed: five seconds with all partitions unread."),
        ),
        "defect-joins-too-early": (
            LessonBeat("member_added", "consumer-1 opens a classic group, which waits for more members."),
            LessonBeat(
                "member_refused", "consumer-2 speaks the new protocol and comes too early: it is refused."
            ),
            LessonBeat("process_ended", "The error is fatal, so consumer-2 dies of it."),
            LessonBeat(
                "group_converted", "consumer-3 comes after the first generation, and converts the group."
            ),
        ),
        "defect-second-revocation": (
            LessonBeat("told to give up", "consumer-1 is asked for its first partitions."),
            LessonBeat("epoch_bump", "Before it has finished, another member raises the epoch.", 2),
            LessonBeat("told to give up", "It has hardly finished when it is asked for more.", 2),
        ),
        "defect-commit-races": (
            LessonBeat("action delay_next", "A commit of consumer-1 is late on its way."),
            LessonBeat("epoch_bump", "consumer-2 has left, and the group epoch rises."),
            LessonBeat(
                "reconciled", "The epoch of consumer-1 rises too, while its commit carries the old one."
            ),
        ),
    }
)
