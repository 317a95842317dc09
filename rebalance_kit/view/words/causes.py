"""Why each unread partition is unread: a cause per partition, told together where it is the same."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from rebalance_kit.view.board.states import BoardState, GroupState, MemberState, PartitionState, PartitionView
from rebalance_kit.view.words.phrases import partitions_in_words

REFUSED = re.compile(r"had its (\w+)\(\) refused")
"""What a member does whose listener called the wrong function (``doing``)."""
DID = {"crashed": "crashed", "frozen": "is frozen", "died": "died"}
"""What befell a process that reads nothing any more and did not say so."""
GONE_OR_FROZEN = {**DID, "closed": "left"}


class Cause(NamedTuple):
    """What keeps partitions unread: ``subject`` (a member or a phase, as the sentence spells it), and words."""

    subject: str
    words: str

    def told(self, partitions: Sequence[str]) -> str:
        """The cause as a sentence about these partitions.

        >>> Cause("C1", "C1 gives {it} up").told(["orders-2", "orders-3"])
        'orders-2 and 3: C1 gives them up.'
        """
        it = "it" if len(partitions) == 1 else "them"
        return f"{partitions_in_words(partitions)}: {self.words.replace('{it}', it)}."


def unread_causes(board: BoardState) -> dict[Cause, list[str]]:
    """Every unread partition under its cause, in order of the partitions."""
    members = {member.name: member.state for member in board.members}
    found: dict[Cause, list[str]] = {}
    for partition in board.partitions:
        if not partition.state.flows:
            found.setdefault(cause_of(partition, board.group, members), []).append(partition.name)
    return found


def cause_of(partition: PartitionView, group: GroupState, members: dict[str, MemberState]) -> Cause:
    """Why nobody reads the partition; an owner's own reason comes before the group's."""
    state = partition.state
    if state.owner is not None and state.owner in members:
        return _of_an_owner(state.owner, members[state.owner], state)
    for former in group.former:
        if partition.name in former.claims:
            return Cause(former.name, f"the group keeps {{it}} for the old member id of {former.name}")
    if not state.noticed:
        return Cause("Nobody", "Nobody has seen {it} yet; metadata.max.age.ms says how old metadata may be")
    return _of_the_group(group, members) or _on_its_way(state, group, members)


def _of_an_owner(name: str, owner: MemberState, state: PartitionState) -> Cause:
    if owner.life in DID:
        return Cause(name, f"{name} {DID[owner.life]}")
    refused = refused_words(owner.doing)
    if refused:
        return Cause(name, f"{name} reads nothing, because {refused}")
    if owner.callback is not None:
        return Cause(name, f"{name} is in {owner.callback}")
    if state.word == "new":
        return Cause(name, f"{name} waits for the first records")
    if owner.doing == "commits before it joins":
        return Cause(name, f"{name} commits before it joins")
    if owner.doing == "does not poll":
        return Cause(name, f"{name} does not call poll() (at most max.poll.interval.ms)")
    if state.word == "give up":
        return Cause(name, f"{name} gives {{it}} up")
    if owner.doing == "polls":
        return Cause(name, f"{name} does not fetch {{it}} yet")
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


def _of_the_group(group: GroupState, members: dict[str, MemberState]) -> Cause | None:
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
    return Cause("Nobody", "Nobody is in the group")


def _on_its_way(state: PartitionState, group: GroupState, members: dict[str, MemberState]) -> Cause:
    taker = state.target if group.protocol == "consumer" else state.planned
    if taker in members:
        taking = members[taker]
        if taking.life in GONE_OR_FROZEN:
            return Cause(taker, f"the group keeps {{it}} for {taker}, which {GONE_OR_FROZEN[taking.life]}")
        if taking.callback is not None:
            return Cause(taker, f"{taker} is in {taking.callback}")
        if group.protocol == "consumer":
            return Cause(taker, f"{taker} gets {{it}} with a heartbeat")
        if taking.doing in {"starts", "sends JoinGroup", "waits in JoinGroup"}:
            return Cause(taker, f"the group keeps {{it}} for {taker}, which {taking.doing}")
        return Cause(taker, f"{taker} has not taken its assignment up yet")
    if group.protocol == "consumer":
        return Cause("target assignment", "the target assignment does not hold {it}")
    return Cause("generation", f"generation {group.generation} gives {{it}} to nobody")
