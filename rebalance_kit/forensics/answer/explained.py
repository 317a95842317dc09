"""``rebalance-kit explain`` for what stands in logs and in the kit's own answers: a line of a log, the code of a finding."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rebalance_kit.forensics.answer.severity import severity
from rebalance_kit.forensics.event import Event
from rebalance_kit.forensics.findings.rules.by_rule import RULES_BY_EVENT
from rebalance_kit.forensics.findings.rules.member_rules import RULES
from rebalance_kit.forensics.lines.layouts import Reading
from rebalance_kit.forensics.lines.line_reader import Messages

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rebalance_kit.forensics.findings.rules.rule import Rule

#: Findings that several lines prove together: what each says.
_TOGETHER = {
    "slow_callback": "a member took long over a rebalance callback, or between the notice and its next poll()",
    "slow_leader": "the leader of a classic group took long to compute the assignment, for which the others wait in SyncGroup",
    "machine_frozen": "several clients noticed their limits too late in the same moment, as when what they run on had been halted",
    "timed_out_together": "several clients ran into their limits in the same moment: look at what they share",
    "failover_not_followed": "members expired one session after a coordinator had loaded the group, as members do that do not find it",
    "clocks_disagree": "a member tells of a generation before its coordinator made it, or long after the next: one of the clocks is off",
    "unlike_subscriptions": "members of one group subscribe to lists of topics that have nothing in common: two applications share a group.id",
    "topic_recreated": "a topic of the group was deleted and made again under another id: committed offsets may point anywhere",
    "time_goes_back": "lines of one file are earlier than the lines before them",
    "static_ids_change": "static members expire for good while new instance ids appear, as when group.instance.id differs at each start",
    "skewed_assignment": "one member owns far more partitions than another",
    "scaling_to_and_fro": "members are added and taken away in turns, as by an autoscaler that follows the lag it causes",
    "same_log_twice": "two files hold the same lines: they are counted once",
    "rolling_restart": "members left and came back one after another without static membership, as in a rolling restart",
    "resubscribed": "a member called subscribe() again while it ran, which is a rebalance for everybody",
    "replaced_without_leave": "a client came with a new member id before another of that name expired, as when a process is replaced without having left",
    "repeated_notice": "a member was told several times in a row that its group is rebalancing, and no line tells that it asked to join",
    "rebalance_storm": "rebalances follow each other without a rest: at least 7 waves, none more than 60 s after the one before",
    "rebalance_held_up": "a rebalance waited long for the JoinGroup of one member",
    "periodic_expiry": "members expire again and again at an even distance",
    "one_name_two_groups": "two groups of one name (of two clusters) are in these files",
    "offsets_lost": "members of a group that had committed began where auto.offset.reset points: the committed offsets were gone",
    "offset_rewound": "a partition was read on from an offset far behind where it had been read to",
    "member_left": "a member left the group",
    "lines_without_time": "lines hold no time that can be read",
    "leader_gone": "the leader of a classic group never sent its assignment: the generation hung until its session ended",
    "instances_take_turns": "a group.instance.id changes hands again and again, as when two consumers fence each other in turn",
    "idle_members": "some members own no partition",
    "heartbeat_too_slow": "heartbeat.interval.ms is more than a third of session.timeout.ms: two lost heartbeats end the session",
    "generation_loop": "the numbers of the generations alone prove many more rebalances than these logs hold",
    "eager_by_default": "Java's default assignor list [range, cooperative-sticky] runs the eager protocol: each rebalance stops every partition",
    "duplicate_instance_id": "two running processes use one group.instance.id",
    "coordinator_never_held": "a client found its coordinator and lost it again at once, several times, without joining",
    "cooperative_never_settles": "cooperative rebalances follow each other, and no line between them tells of anybody coming or going",
}


def explained(term: str) -> str | None:
    """What a finding's code, or a line of a log, means, as a terminal shows it; None for neither."""
    code = "_".join(term.lower().replace("-", " ").replace("_", " ").split())
    rules = [rule for rule in RULES if rule.code == code]
    if rules:
        return "\n".join(_of_rule(rules[0]))
    if code in _TOGETHER:
        grave = severity({"finding": code, "unread_ms": None, "times": 1})
        return f"{code} (a finding of `rebalance-kit logs`, {grave})\n  {_TOGETHER[code]}."
    return _of_line(term)


def codes() -> Iterable[str]:
    """All codes of findings that are explained."""
    return {rule.code for rule in RULES} | set(_TOGETHER)


def _of_rule(rule: Rule) -> Iterator[str]:
    grave = severity({"finding": rule.code, "unread_ms": None, "times": 1})
    yield f"{rule.code} (a finding of `rebalance-kit logs`, {grave})"
    yield f"  {_bare(rule)}."
    yield f"  do: {rule.do}"
    yield f"  source: {rule.source}"


def _bare(rule: Rule) -> str:
    """The sentence without the names that a log would fill in."""
    said = rule.sentence.replace("{who}", "a member")
    # What stands behind a word without a blank may be missing.
    return _NAME.sub("...", _APPENDED.sub("", said))


_APPENDED, _NAME = re.compile(r"(?<=\w)\{\w+\}"), re.compile(r"\{\w+\}")


def _of_line(line: str) -> str | None:
    found = Messages(Reading()).read(line.strip())
    if not isinstance(found, list):
        return None
    lines: list[str] = []
    for fields in found:
        event = Event(fields)
        side = {"broker": "a broker", "java": "a Java client", "librdkafka": "librdkafka"}.get(
            event.side, "a client"
        )
        how = ", read from single words: less sure" if event.confidence else ""
        lines.append(f"a line of {side}: {_kind(event.event)}{how}")
        lines += [
            f"  {name}: {_shown(fields[name])}" for name in _NAMED if fields.get(name) not in (None, "", [])
        ]
        for rule in RULES_BY_EVENT.get(event.event, ()):
            if rule.when(event):
                who = event.client or event.member or "a member"
                lines += [
                    f"  means: {_bare(rule).replace('a member', who, 1)}",
                    f"  do: {rule.do}",
                    f"  source: {rule.source}",
                ]
        if event.event in _MEANS:
            lines.append(f"  means: {_MEANS[event.event]}")
    return "\n".join(lines)


def _kind(name: str) -> str:
    return name.removeprefix("rd_").removeprefix("other_").replace("_", " ")


#: What is shown of a line.
_NAMED = (
    "group",
    "client",
    "instance",
    "member",
    "generation",
    "epoch",
    "partitions",
    "reason",
    "cause",
    "limit_ms",
    "over_ms",
)

#: Lines that are no finding by themselves.
_MEANS = {
    "rejoin_requested": "the member will send JoinGroup with its next poll(). After 'group is already rebalancing' a rebalance is under way: a member "
    "joined, left or was lost, or topics changed; the coordinator's log tells who, where it is at hand.",
    "other_rebalancing": "a rebalance is under way: a member joined, left or was lost, or topics changed; the coordinator's log tells who, where it is at hand.",
    "preparing": "a classic rebalance begins: the coordinator waits for every member's JoinGroup, at most the largest max.poll.interval.ms. Its reason "
    "stands in brackets.",
    "stabilized": "all members that were waited for have joined: the generation has its number, and the leader is asked for an assignment.",
    "joined": "the member belongs to that generation; its partitions come with SyncGroup.",
    "joining": "the member has sent JoinGroup and reads nothing meanwhile under the eager protocol.",
    "revoking": "the member gives these partitions up; under the eager protocol all, at each rebalance.",
    "assigned": "the member has been given these partitions and calls onPartitionsAssigned.",
    "leaving": "the member leaves by itself; the reason stands at the end of the line.",
    "coordinator_found": "the member knows which broker coordinates its group.",
    "bumped": "something changed in a group of the consumer protocol (KIP-848): a new target assignment will be computed for this epoch.",
    "computed": "the coordinator has computed who shall own what (KIP-848); members are told with their next heartbeats.",
}


def _shown(value: object) -> str:
    if isinstance(value, list):
        more = f" and {len(value) - 6} more" if len(value) > 6 else ""
        return ", ".join(map(str, value[:6])) + more
    return str(value)
