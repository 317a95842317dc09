"""The sentence of a moment: what is going on, and what follows from it.

Order of causes: coordinator away, fault, waiting, hand-over, records that come twice or are skipped, callback, move,
steady. The second part says which partitions are unread, which flow on, and what waits in them. Numbers that run with
the clock are marks for ``words.fill``.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from rebalance_kit.view.board.states import BoardState, FormerId, MemberView, PartitionView
from rebalance_kit.view.kinds import Standing
from rebalance_kit.view.words.causes import (
    DID,
    GONE_OR_FROZEN,
    causes_told,
    deliveries_cause,
    deliveries_words,
    queues_words,
    refused_words,
)
from rebalance_kit.view.words.phrases import LISTED, listing, partitions_in_words, seconds

FAULTS: Mapping[str, str] = MappingProxyType(
    {
        "crashed": "crashed",
        "frozen": "is frozen",
        "died": "died of {error}",
        "left": "left, and the group was not told",
        "is cut off": "is cut off from the coordinator",
    }
)
"""What a member does that the group does not know of yet."""
LEAVE = "LeaveGroup"
SESSIONS: Mapping[str, str] = MappingProxyType(
    {"classic": "session.timeout.ms", "consumer": "group.consumer.session.timeout.ms"}
)


class Sentence(NamedTuple):
    """The cause of the moment (drawn bold), and its effect."""

    cause: str
    effect: str


def sentence(board: BoardState) -> Sentence:
    """The sentence of a moment, with marks for ``fill``."""
    cause, effect = _cause(board)
    records = deliveries_words(board)
    parts = (effect, _effect(board), "" if cause in records else records, queues_words(board))
    told = " ".join(part for part in parts if part)
    return Sentence(cause, " ".join(part for part in (told, _untold(board, f"{cause} {told}")) if part))


def _who(names: Sequence[str]) -> str:
    """Members by name, or how many where a sentence would be a list."""
    return listing(names) if len(names) <= LISTED else f"{len(names)} members"


def _untold(board: BoardState, told: str) -> str:
    """Causes of unread partitions that the sentence has not named."""
    return " ".join(each for each in causes_told(board, told) if each not in told)


def _cause(board: BoardState) -> tuple[str, str]:
    for rule in (_coordinator_away, _fault, _waiting, _handing_over, deliveries_cause, _callback, _moving):
        cause = rule(board)
        if cause is not None:
            return cause
    return _steady(board)


def _coordinator_away(board: BoardState) -> tuple[str, str] | None:
    if board.group.up:
        return None
    return "The coordinator is away.", "Members keep what they have; nobody can join, leave or commit."


def _fault(board: BoardState) -> tuple[str, str] | None:
    bad = [
        member
        for member in board.members
        if member.state.doing in FAULTS and member.state.standing == "member"
    ]
    if not bad:
        return _zombie(board) or _former(board)
    member = next((each for each in bad if each.state.sending != LEAVE), bad[0])
    left = _member_left(member, bad)
    did = _did(member)
    if board.group.state == "PreparingRebalance" and member.name in board.group.awaited:
        return f"The join phase waits for {member.name}, which {did}.", left
    who = "; ".join(f"{each.name} {_did(each)}" for each in bad[:LISTED])
    more = f"; {len(bad) - LISTED} more members are silent" if len(bad) > LISTED else ""
    return f"{who}{more}. The group does not know yet.", left


def _member_left(member: MemberView, beside: Sequence[MemberView]) -> str:
    """How long the group waits for a silent member at most; named where it is one of several."""
    if member.session_ends_ms is None or member.state.sending == LEAVE:
        return ""
    whose = "its session" if len(beside) == 1 else f"the session of {member.name}"
    return f"At most {{left:{member.session_ends_ms}}} more, then {whose} ends ({SESSIONS[member.state.protocol]})."


def _did(member: MemberView) -> str:
    """What befell a member of which the group does not know yet."""
    state = member.state
    if state.doing != "left":
        return FAULTS[state.doing].format(error=state.error)
    if state.sending == LEAVE:
        goodbye = "last heartbeat" if state.protocol == "consumer" else LEAVE
        return f"has left (its {goodbye} is on its way)"
    return "was closed and sent no LeaveGroup, because it is static" if state.instance_id else FAULTS["left"]


def _zombie(board: BoardState) -> tuple[str, str] | None:
    for member in board.members:
        if member.state.doing == "removed, still works":
            heir = _heir(member, board)
            how = f"replaced in the group by {heir}" if heir else "removed from the group"
            return f"{member.name} was {how} but still works.", "What it does now is done twice."
    return None


def _heir(member: MemberView, board: BoardState) -> str | None:
    """The member that has taken the place of another by the same group.instance.id."""
    mine = member.state.instance_id
    others = (other for other in board.members if other.name != member.name and mine is not None)
    return next(
        (one.name for one in others if one.state.instance_id == mine and one.state.standing == "member"), None
    )


def _former(board: BoardState) -> tuple[str, str] | None:
    """A restarted member whose old member id is still in the group."""
    if not board.group.former or board.group.state == "PreparingRebalance":
        return None
    former = board.group.former[0]
    return (
        f"{former.name} runs again under a new member id. Its old one is still in the group.",
        _session_left(former),
    )


def _session_left(former: FormerId) -> str:
    if former.session_ends_ms is None:
        return ""
    return f"At most {{left:{former.session_ends_ms}}} more, then the old one's session ends ({SESSIONS[former.protocol]})."


def _waiting(board: BoardState) -> tuple[str, str] | None:
    group = board.group
    if group.state == "PreparingRebalance":
        return _join_phase(board)
    if group.state == "CompletingRebalance":
        leader = next((member.name for member in board.members if member.state.leader), None)
        return (
            f"Everybody has joined generation {group.generation}. The leader's plan is on its way.",
            f"Leader: {leader}." if leader else "",
        )
    if group.state == "Assigning":
        return "The coordinator computes a new target assignment.", ""
    return None


def _join_phase(board: BoardState) -> tuple[str, str]:
    awaited = board.group.awaited
    if not awaited and board.group.former:
        former = board.group.former[0]
        return (
            f"The join phase waits for the old member id of {former.name}, whose process is gone.",
            _session_left(former),
        )
    pending = [member.name for member in board.members if member.state.standing == "pending"]
    if not awaited and pending:
        was = "was" if len(pending) == 1 else "were"
        return f"The join phase waits for {_who(pending)}, which {was} given a member id to join with.", ""
    if not awaited:
        return (
            "The join phase is open and waits for more members.",
            "The first rebalance of an empty group waits group.initial.rebalance.delay.ms.",
        )
    busy = [
        member
        for member in board.members
        if member.name in awaited and member.state.doing == f"in {member.state.callback}"
    ]
    if busy:
        return f"The join phase waits for {busy[0].name}, which is in {busy[0].state.callback}.", ""
    known = _stuck(board, awaited) or _committing(board, awaited)
    if known is not None:
        return known
    if len(awaited) > LISTED:
        return (
            f"The join phase waits for {len(awaited)} members.",
            "A member hears of it with its next heartbeat (heartbeat.interval.ms).",
        )
    return (
        f"The join phase waits for {listing(awaited)}.",
        "A member hears of it with its next heartbeat (heartbeat.interval.ms).",
    )


def _stuck(board: BoardState, awaited: Collection[str]) -> tuple[str, str] | None:
    """A join phase that waits for a member whose listener called the wrong function."""
    for member in board.members:
        refused = refused_words(member.state.doing)
        if refused and member.name in awaited:
            return (
                f"The join phase waits for {member.name}, which does not join, because {refused}.",
                "It waits at most the longest max.poll.interval.ms of the members.",
            )
    return None


def _committing(board: BoardState, awaited: Collection[str]) -> tuple[str, str] | None:
    """A join phase that waits only for members that have heard of it, and commit first."""
    names = [
        member.name
        for member in board.members
        if member.name in awaited and member.state.doing == "commits before it joins"
    ]
    if len(names) < len(awaited):
        return None
    who = _who(names)
    does = "commits before it joins" if len(names) == 1 else "commit before they join"
    return f"The join phase waits for {who}, which {does}.", ""


def _handing_over(board: BoardState) -> tuple[str, str] | None:
    names = {member.name for member in board.members}
    waits = [
        partition
        for partition in board.partitions
        if partition.state.target in names and partition.state.target != partition.state.owner
    ]
    if board.group.protocol != "consumer" or not waits:
        return None
    owned = [partition for partition in waits if partition.state.owner is not None]
    if owned:
        owners = list(dict.fromkeys(partition.state.owner or "" for partition in owned))
        takers = list(dict.fromkeys(partition.state.target or "" for partition in owned))
        givers = (
            f"{listing(owners)} {'has' if len(owners) == 1 else 'have'}"
            if len(owners) <= LISTED
            else f"{len(owners)} members have"
        )
        aim = f" for {listing(takers)}" if len(takers) <= LISTED else ""
        return (
            f"{givers} to give up {partitions_in_words(partition.name for partition in owned)}{aim}.",
            f"Group epoch {board.group.generation}.",
        )
    return _kept_for_the_gone(board, waits) or _will_get(waits)


def _kept_for_the_gone(board: BoardState, waits: Sequence[PartitionView]) -> tuple[str, str] | None:
    """Partitions that the target gives to a member that cannot fetch them, because it left or does not answer."""
    takers = {partition.state.target for partition in waits}
    gone = [each for each in board.members if each.name in takers and each.state.life in GONE_OR_FROZEN]
    if not gone:
        return None
    back = {each.name: " and is expected back" for each in gone if each.state.standing == "away"}
    who = "; ".join(
        f"{each.name} {GONE_OR_FROZEN[each.state.life]}{back.get(each.name, '')}" for each in gone[:LISTED]
    )
    names = {each.name for each in gone}
    kept = partitions_in_words(partition.name for partition in waits if partition.state.target in names)
    return f"The group keeps {kept} for a member that does not read: {who}.", _member_left(gone[0], gone)


def _will_get(waits: Sequence[PartitionView]) -> tuple[str, str]:
    later = [partition for partition in waits if partition.state.planned != partition.state.target]
    told = later or waits
    takers = sorted({partition.state.target or "" for partition in told})
    what = partitions_in_words(partition.name for partition in told)
    if later:
        return (
            f"{_who(takers)} will get {what} with the next heartbeat (group.consumer.heartbeat.interval.ms).",
            "",
        )
    has, take = ("has", "takes") if len(takers) == 1 else ("have", "take")
    it = "it" if len(told) == 1 else "them"
    return f"{_who(takers)} {has} been given {what} by the last heartbeat and {take} {it} up.", ""


def _callback(board: BoardState) -> tuple[str, str] | None:
    busy: dict[str, list[str]] = {}
    for member in board.members:
        if member.state.callback is not None:
            busy.setdefault(member.state.callback, []).append(member.name)
    if not busy:
        return None
    told = [
        f"{_who(names)} {'is' if len(names) == 1 else 'are'} in {callback}"
        for callback, names in busy.items()
    ]
    return f"{listing(told)}.", ""


def _moving(board: BoardState) -> tuple[str, str] | None:
    fresh = [partition for partition in board.partitions if partition.state.word == "new"]
    if not fresh:
        return None
    owners = sorted({partition.state.owner or "" for partition in fresh})
    return (
        f"{_who(owners)} {'has' if len(owners) == 1 else 'have'} new partitions: {partitions_in_words(partition.name for partition in fresh)}.",
        "No record of them has been processed since they were assigned.",
    )


def _steady(board: BoardState) -> tuple[str, str]:
    alive = [member for member in board.members if member.state.life == "alive"]
    if not alive:
        return _nobody(board)
    if not any(member.state.standing == "member" for member in board.members):
        return (f"{_who([member.name for member in alive])} {'starts' if len(alive) == 1 else 'start'}.", "")
    if not board.partitions:
        return "No topic that the group reads has partitions.", _unsettled(board)
    if board.flowing == len(board.partitions):
        calm = "" if board.queues else "Nothing waits."
        return f"All {len(board.partitions)} partitions flow.", _unsettled(board) or calm
    return causes_told(board)[0], ""


def _nobody(board: BoardState) -> tuple[str, str]:
    died: dict[str, list[str]] = {}
    for member in board.members:
        if member.state.life == "died" and member.state.error:
            died.setdefault(member.state.error, []).append(member.name)
    if not board.partitions:
        return (
            "Nobody is in the group, and no topic that it reads has partitions.",
            "A new member would read nothing.",
        )
    if not died:
        return "Nobody is in the group.", _not_started(board) or _starts_again(board) or "Add a member."
    error, names = next(iter(died.items()))
    who = _who(names)
    return (
        f"Nobody is in the group: {who} died of {error}.",
        "A new member would have the same settings. Change them in Settings, or undo.",
    )


def _not_started(board: BoardState) -> str:
    """Members whose process comes later: they need no other beside them."""
    names = [member.name for member in board.members if member.state.life == "absent"]
    who = _who(names)
    return f"{who} {'has' if len(names) == 1 else 'have'} not started yet." if names else ""


def _starts_again(board: BoardState) -> str:
    """When the first of those who are gone starts again, as in a restart."""
    starts = [(each.starts_ms, each.name) for each in board.members if each.starts_ms is not None]
    return f"{min(starts)[1]} starts again at {seconds(min(starts)[0])}." if starts else ""


def _any_more(standing: Standing) -> str:
    """For who was in the group before."""
    return " any more" if standing == "removed" else ""


def _unsettled(board: BoardState) -> str:
    """What is not settled although all partitions flow; empty when nothing waits."""
    words = [
        f"{member.name} {DID[member.state.life]} and is not in the group{_any_more(member.state.standing)}."
        for member in board.members
        if member.state.life in DID
    ]
    words += [
        f"{member.name} {member.state.doing}."
        for member in board.members
        if member.state.life == "alive" and member.state.doing != "polls"
    ]
    if not words and board.group.state != "Stable":
        words = ["Not all members have confirmed their assignment yet."]
    more = [f"{len(words) - LISTED} more members are not settled."] if len(words) > LISTED else []
    return " ".join([*words[:LISTED], *more])


def _effect(board: BoardState) -> str:
    stopped = [partition.name for partition in board.partitions if not partition.state.flows]
    if not stopped or (
        len(stopped) == len(board.partitions)
        and not any(partition.stopped_since_ms for partition in board.partitions)
    ):
        return ""
    still = "is" if len(stopped) == 1 else "are"
    if len(stopped) == len(board.partitions):
        return f"All {len(stopped)} partitions are unread."
    flowing = [partition.name for partition in board.partitions if partition.state.flows]
    on = "flows" if len(flowing) == 1 else "flow"
    return f"{partitions_in_words(stopped)} {still} unread. {partitions_in_words(flowing)} {on} on."
