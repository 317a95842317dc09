"""Why each unread partition is unread: a cause per partition, told together where it is the same."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from rebalance_kit.analysis.deliveries import BESIDE, COMMIT, OWN, SKIPPED, START, TWICE, Delivery
from rebalance_kit.view.board import states
from rebalance_kit.view.board.group_records import GONE
from rebalance_kit.view.board.marks import records_words
from rebalance_kit.view.words.phrases import LISTED, in_order, listing, partitions_in_words

REFUSED = re.compile(r"had its (\w+)\(\) refused")
"""What a member does whose listener called the wrong function (``doing``)."""
EMPTY = "obody is in the group"
"""How an empty group is told, at the head of a sentence and within one."""
DID = {"crashed": "crashed", "frozen": "is frozen", "died": "died"}
"""What befell a process that reads nothing any more and did not say so."""
GONE_OR_FROZEN = {**DID, "closed": "left"}


COUNTED = {
    "get {it} with a heartbeat": " members will get ",
    "wait for the first records": " members have new partitions",
}
"""How the headline has told of so many members that it counts them."""


class Cause(NamedTuple):
    """What keeps partitions unread: ``subject`` (a member or a phase, as the sentence spells it), and words."""

    subject: str
    words: str
    many: str = ""
    """The same of several members, after their names; empty where each is told alone."""

    def told(self, partitions: Sequence[str]) -> str:
        """The cause as a sentence about these partitions.

        >>> Cause("C1", "C1 gives {it} up").told(["orders-2", "orders-3"])
        'orders-2 and 3: C1 gives them up.'
        """
        it = "it" if len(partitions) == 1 else "them"
        return f"{partitions_in_words(partitions)}: {self.words.replace('{it}', it)}."


def unread_causes(board: states.BoardState) -> dict[Cause, list[str]]:
    """Every unread partition under its cause, in order of the partitions."""
    members = {member.name: member.state for member in board.members}
    found: dict[Cause, list[str]] = {}
    for partition in board.partitions:
        if not partition.state.flows:
            found.setdefault(cause_of(partition, board.group, members), []).append(partition.name)
    return found


def causes_told(board: states.BoardState, told: str = "") -> list[str]:
    """A sentence per cause whose subject is not ``told`` yet; members of whom the same holds share one."""
    alike: dict[str, list[tuple[Cause, list[str]]]] = {}
    for cause, partitions in unread_causes(board).items():
        if cause.subject not in told and COUNTED.get(cause.many, "\n") not in told:
            alike.setdefault(cause.many or cause.words, []).append((cause, partitions))
    return [_together(group) for group in alike.values()]


def _together(group: list[tuple[Cause, list[str]]]) -> str:
    (cause, partitions), *others = group
    if not others:
        return cause.told(partitions)
    names = [each.subject for each, _ in group]
    who = listing(names) if len(names) <= LISTED else f"{len(names)} members"
    return Cause(who, f"{who} {cause.many}").told([name for _, each in group for name in each])


def cause_of(
    partition: states.PartitionView, group: states.GroupState, members: dict[str, states.MemberState]
) -> Cause:
    """Why nobody reads the partition; an owner's own reason comes before the group's."""
    state = partition.state
    if state.owner is not None and state.owner in members:
        return _of_an_owner(state.owner, members[state.owner], state)
    for former in group.former:
        if partition.name in former.claims:
            return Cause(former.name, f"the group keeps {{it}} for the old member id of {former.name}")
    if not state.noticed:
        return Cause(
            "metadata.max.age.ms",
            "no assignment holds {it} yet; metadata.max.age.ms says how old metadata may be",
        )
    return _of_the_group(group, members) or _on_its_way(state, group, members)


def _of_an_owner(name: str, owner: states.MemberState, state: states.PartitionState) -> Cause:
    if owner.life in DID:
        return Cause(name, f"{name} {DID[owner.life]}", DID[owner.life].replace("is ", "are "))
    refused = refused_words(owner.doing)
    if refused:
        return Cause(name, f"{name} reads nothing, because {refused}")
    if owner.callback is not None:
        return Cause(name, f"{name} is in {owner.callback}", f"are in {owner.callback}")
    if state.word == "new":
        return Cause(name, f"{name} waits for the first records", "wait for the first records")
    if owner.doing == "commits before it joins":
        return Cause(name, f"{name} commits before it joins", "commit before they join")
    if owner.doing == "does not poll":
        many = "do not call poll() (at most max.poll.interval.ms)"
        return Cause(name, f"{name} does not call poll() (at most max.poll.interval.ms)", many)
    if state.word == "give up":
        return Cause(name, f"{name} gives {{it}} up", "give {it} up")
    if owner.doing == "polls":
        return Cause(name, f"{name} does not fetch {{it}} yet", "do not fetch {it} yet")
    return Cause(name, f"{name} {owner.doing}")


def refused_words(doing: str) -> str:
    """Why a member whose call was refused reads nothing; empty for any other.

    >>> refused_words("had its assign() refused")
    'its assign() was refused: here it has to call incremental_assign()'
    """
    refused = REFUSED.fullmatch(doing)
    return (
        f"its {refused[1]}() was refused: here it has to call incremental_{refused[1]}()" if refused else ""
    )


def _of_the_group(group: states.GroupState, members: dict[str, states.MemberState]) -> Cause | None:
    if group.state == "PreparingRebalance":
        return Cause("join phase", "the join phase is open")
    if group.state == "CompletingRebalance":
        return Cause("plan", "the leader's plan is on its way")
    if group.state == "Assigning":
        return Cause("target assignment", "the coordinator computes a new target assignment")
    if any(member.standing in {"member", "away"} for member in members.values()):
        return None
    starting = [name for name, member in members.items() if member.life == "alive"]
    if starting:
        return Cause(starting[0], f"{starting[0]} is not in the group yet")
    return Cause(EMPTY, "nobody is in the group")


def _on_its_way(
    state: states.PartitionState, group: states.GroupState, members: dict[str, states.MemberState]
) -> Cause:
    taker = state.target if group.protocol == "consumer" else state.planned
    if taker in members:
        taking = members[taker]
        if taking.life in GONE_OR_FROZEN:
            return Cause(taker, f"the group keeps {{it}} for {taker}, which {GONE_OR_FROZEN[taking.life]}")
        if taking.callback is not None:
            return Cause(taker, f"{taker} is in {taking.callback}", f"are in {taking.callback}")
        if group.protocol == "consumer" and state.planned != taker:
            return Cause(taker, f"{taker} gets {{it}} with a heartbeat", "get {it} with a heartbeat")
        if taking.doing in {"starts", "sends JoinGroup", "waits in JoinGroup"}:
            return Cause(taker, f"the group keeps {{it}} for {taker}, which {taking.doing}")
        many = "have not taken their assignment up yet"
        return Cause(taker, f"{taker} has not taken its assignment up yet", many)
    if group.protocol == "consumer":
        return Cause("target assignment", "the target assignment does not hold {it}")
    return Cause("generation", f"generation {group.generation} gives {{it}} to nobody")


# Records in a sentence: those that come twice, those that are skipped, and queues.


_WHY_TWICE: Mapping[str, str] = MappingProxyType(
    {
        COMMIT: "They were read before, and their offsets were not committed.",
        START: "They were read before, and auto.offset.reset=earliest says that it begins at the start.",
        OWN: "The member does not know yet that the group has given its partitions to others.",
        BESIDE: "A member whose partitions were given to another reads on until it learns of it.",
    }
)

SPANS = 3
"""Most ranges of offsets that are named."""


def deliveries_words(board: states.BoardState) -> str:
    """What came twice or was skipped in the last seconds, a sentence per member and kind."""
    return " ".join(told for told, _ in _told(board))


def deliveries_cause(board: states.BoardState) -> tuple[str, str] | None:
    """The same as the cause of a moment in which nothing else goes on, with why."""
    found = list(_told(board))
    if not found:
        return None
    (first, why), *others = found
    return first, " ".join([why, *(told for told, _ in others)])


def _told(board: states.BoardState) -> Iterator[tuple[str, str]]:
    alike: dict[tuple[str, str, str], list[Delivery]] = {}
    for each in board.deliveries:
        if board.at_ms >= each.at_ms + states.RECENT_MS:
            continue
        alike.setdefault((each.kind, each.member, each.cause), []).append(each)
    last = {kind: (kind, member, cause) for kind, member, cause in alike}
    for key, events in alike.items():
        kind, member, _ = key
        where = partitions_in_words({each.partition for each in events})
        words = records_words(sum(each.records for each in events), kind)
        so_far = _so_far(board, kind) if last[kind] == key else ""
        yield (
            f"{where}: {words}, because {_because(board, kind, member, events)}.{so_far}",
            _why(kind, events),
        )


def _so_far(board: states.BoardState, kind: str) -> str:
    """The sum that the tokens show, where some of it was told earlier."""
    all_of_them = [each for each in board.deliveries if each.kind == kind]
    earlier = any(board.at_ms >= each.at_ms + states.RECENT_MS for each in all_of_them)
    return f" So far: {sum(each.records for each in all_of_them):,}." if earlier else ""


def _because(board: states.BoardState, kind: str, member: str, events: list[Delivery]) -> str:
    if kind == TWICE:
        return _because_twice(board, member, events)
    begins, finds, _ = _verbs(board, member)
    if all(each.committed is None for each in events):
        return f"{member} {finds} no committed offset and {begins} at the end"
    return f"{member} {begins} behind them"


def _verbs(board: states.BoardState, member: str) -> tuple[str, str, str]:
    """*begins*, *finds* and *reads* of a member that lives; of one that has died or is frozen meanwhile it is told as past."""
    lives = all(each.state.life == "alive" for each in board.members if each.name == member)
    return ("begins", "finds", "reads") if lives else ("began", "found", "read")


def _because_twice(board: states.BoardState, member: str, events: list[Delivery]) -> str:
    cause = events[0].cause
    begins, finds, reads = _verbs(board, member)
    if cause == COMMIT:
        return f"{member} {begins} where the last commit was"
    if cause == START:
        return f"{member} {finds} no committed offset and {begins} at the start"
    others = sorted({each.beside for each in events if each.beside})
    if others and all(each.name not in others or each.state.life in GONE for each in board.members):
        were = "it was" if len(others) == 1 else "they were"
        return f"{member} also {reads} what {listing(others)} read before {were} gone"
    if others:
        return f"{member} {reads} at the same time as {listing(others)}"
    return f"{member} {reads} on where it stopped, and others have read from there"


def _why(kind: str, events: list[Delivery]) -> str:
    if kind == TWICE:
        return _WHY_TWICE[events[0].cause]
    if all(each.committed is None for each in events):
        return "auto.offset.reset=latest says so; nobody will ever read them."
    return "Nobody will ever read them."


def deliveries_line(board: states.BoardState) -> str:
    """All records that came twice or were skipped so far; empty when none were."""
    parts = []
    for kind, words in ((TWICE, "came twice"), (SKIPPED, "skipped")):
        events = [each for each in board.deliveries if each.kind == kind]
        if events:
            parts.append(f"{sum(each.records for each in events)} {words} ({places_words(events)})")
    return f"Records so far: {'; '.join(parts)}." if parts else ""


def places_words(events: Iterable[Delivery]) -> str:
    """The partitions with the offsets of these records; of many partitions only how many.

    >>> places_words([Delivery(TWICE, 0, "orders-1", "c", 118, 11, None), Delivery(TWICE, 0, "orders-0", "c", 7, 1, None)])
    'orders-0 offset 7, orders-1 offsets 118 to 128'
    """
    spans: dict[str, list[tuple[int, int]]] = {}
    for each in events:
        spans.setdefault(each.partition, []).append((each.first_offset, each.first_offset + each.records - 1))
    if len(spans) > LISTED:
        return partitions_in_words(spans)
    return ", ".join(f"{name} {offsets_words(spans[name])}" for name in in_order(spans))


def offsets_words(spans: Iterable[tuple[int, int]]) -> str:
    """First and last offsets in words; what touches or overlaps is one span, and above a handful the rest is counted.

    >>> offsets_words([(118, 128), (129, 140), (7, 7)])
    'offsets 7 and 118 to 140'
    """
    merged: list[list[int]] = []
    for first, last in sorted(spans):
        if merged and first <= merged[-1][1] + 1:
            merged[-1][1] = max(merged[-1][1], last)
        else:
            merged.append([first, last])
    told = [str(first) if first == last else f"{first} to {last}" for first, last in merged]
    if len(told) > SPANS:
        told = [*told[: SPANS - 1], f"{len(told) - SPANS + 1} more ranges"]
    return f"offset{'' if told == [str(merged[0][0])] else 's'} {listing(told)}"


def queues_words(board: states.BoardState) -> str:
    """While all partitions flow: who reads more slowly than records come, and who works a queue off."""
    if board.flowing < len(board.partitions):
        return ""
    by_member: dict[str, list[states.Queue]] = {}
    for queue in board.queues:
        by_member.setdefault(queue.member, []).append(queue)
    slow = {name: queues for name, queues in by_member.items() if sum(queue.gained for queue in queues) > 0}
    fast = {name: queues for name, queues in by_member.items() if name not in slow}
    parts = []
    if slow:
        where, reads = _where(slow), "reads" if len(slow) == 1 else "read"
        parts.append(
            f"{_who(slow)} {reads} {where} more slowly than records come: the queue grows. processing_ms says what one record takes."
        )
    if fast:
        parts.append(f"{_who(fast)} {'works' if len(fast) == 1 else 'work'} off the queue of {_where(fast)}.")
    return " ".join(parts)


def _who(members: dict[str, list[states.Queue]]) -> str:
    return listing(list(members)) if len(members) <= LISTED else f"{len(members)} members"


def _where(members: dict[str, list[states.Queue]]) -> str:
    return partitions_in_words({queue.partition for queues in members.values() for queue in queues})
