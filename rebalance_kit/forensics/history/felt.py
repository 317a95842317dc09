"""Rebalances of groups whose coordinator's log is not there, as the members felt them.

On a managed cluster only the clients' logs are at hand.  Every generation (or epoch) that a member
reports is a rebalance; its cause is what a member wrote between the one before and this.  What no
member wrote about was done by somebody whose log is missing, or by a process that died.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from rebalance_kit.forensics.history.rebalance import Rebalance

if TYPE_CHECKING:
    from rebalance_kit.forensics.event import Event

#: What a member asked for, by how its reason begins.
_REASONS = {
    "need to revoke partitions": "follow_up",
    "cached metadata has changed": "metadata_changed",
    "subscription has changed": "subscription_changed",
    "need to re-join with the given member-id": "join",
    "rebalance enforced by user": "enforced",
}

#: Reasons of a member that only answers what somebody else began.
_ANSWERS = re.compile(
    r"^(group is already rebalancing|consumer pro-actively leaving|rebalance failed|encountered )"
)

#: What counts as the cause when several things were told: the most telling first.
_RANK = (
    "poll_timeout",
    "enforced",
    "subscription_changed",
    "metadata_changed",
    "leave",
    "join",
    "follow_up",
    "unseen",
)


#: The lines that say so.
FELT = frozenset(
    {
        *("joined", "synced", "rd_join_answer", "transitioned", "poll_timeout", "rd_poll_timeout"),
        *("rejoin_requested", "leaving", "rd_leave", "join_retried", "joining", "rd_joining"),
    }
)


@dataclass(slots=True)
class _Round:
    """One generation or epoch: when its first and last member told of it, and who they were."""

    protocol: str
    after: int
    first_ms: int
    file: str
    line: int
    end_ms: int = 0
    clients: set[str] = field(default_factory=set)
    told: list[_Told] = field(default_factory=list)


@dataclass(slots=True, order=True)
class _Told:
    """A line with which a member says that it began (or leaves) something; the most telling sorts first."""

    rank: int
    at_ms: int
    trigger: str
    client: str
    reason: str
    file: str
    line: int


class Felt:
    """Folds the members' lines into rebalances."""

    def __init__(self) -> None:
        self._rounds: dict[tuple[str, int], _Round] = {}
        self._told: list[_Told] = []
        self._epoch = 0

    def take(self, event: Event) -> None:
        """A line of a client with a time."""
        at_ms, client = event.at_ms, event.client
        if at_ms is None or client is None:
            return
        number = _number(event)
        if number is not None and number[0] == "consumer":
            # A member that acknowledges at an epoch that is over began nothing.
            if number[1] < self._epoch:
                number = None
            else:
                self._epoch = number[1]
        if number is not None:
            one = self._rounds.get(number)
            if one is None:
                one = self._rounds[number] = _Round(*number, at_ms, event.file, event.line)
            one.end_ms = max(one.end_ms, at_ms)
            one.clients.add(client)
        trigger = _trigger(event)
        if trigger is not None:
            rank = _RANK.index(trigger)
            self._told.append(_Told(rank, at_ms, trigger, client, event.reason or "", event.file, event.line))

    def finish(self) -> list[Rebalance]:
        """All rebalances, once all lines are taken."""
        rows = []
        for protocol in ("classic", "consumer"):
            rounds = sorted(
                (one for one in self._rounds.values() if one.protocol == protocol), key=lambda one: one.after
            )
            since = [0, *(one.first_ms for one in rounds)]
            self._place(rounds, since)
            before = [one.after - 1 for one in rounds[:1]] + [one.after for one in rounds]
            rows += [_row(one, number) for one, number in zip(rounds, before, strict=False)]
        return rows

    def _place(self, rounds: list[_Round], since: list[int]) -> None:
        """Give each line to the first round after it that had not begun when the one before was told of."""
        in_time = sorted(range(len(rounds)), key=lambda place: (rounds[place].first_ms, since[place]))
        moments = [rounds[place].first_ms for place in in_time]
        for told in self._told:
            found = bisect_left(moments, told.at_ms)
            if found < len(moments) and told.at_ms > since[in_time[found]]:
                rounds[in_time[found]].told.append(told)


def _number(event: Event) -> tuple[str, int] | None:
    """The protocol and the generation or epoch that a member's line proves."""
    if event.event in {"joined", "synced", "rd_join_answer"} and (event.generation or 0) > 0:
        return "classic", event.generation or 0
    # An epoch is settled when a member has acknowledged it; the states before may still carry the old one.
    if event.event == "transitioned" and (event.epoch or 0) > 0 and event.state_to == "STABLE":
        return "consumer", event.epoch or 0
    return None


def _trigger(event: Event) -> str | None:
    name, reason = event.event, event.reason
    if name in {"poll_timeout", "rd_poll_timeout"}:
        return "poll_timeout"
    if name == "rejoin_requested" and reason is not None:
        for start, trigger in _REASONS.items():
            if reason.startswith(start):
                return trigger
        return None if _ANSWERS.search(reason) else "enforced"
    if name in {"leaving", "rd_leave"}:
        return "poll_timeout" if name == "leaving" and "poll timeout" in (reason or "") else "leave"
    if name == "transitioned":
        return {"PREPARE_LEAVING": "leave", "JOINING": "join"}.get(event.state_to or "")
    if name == "join_retried" and "MemberIdRequired" in (reason or ""):
        return "join"
    if name == "rd_joining" and not event.member:
        return "join"
    # Whoever joins first tells when it began, and not why.
    return "unseen" if name in {"joining", "rd_joining"} else None


def _row(one: _Round, before: int) -> Rebalance:
    told = min(one.told, default=None)
    start_ms = told.at_ms if told else one.first_ms
    return Rebalance(
        one.protocol,
        told.trigger if told else "unseen",
        start_ms,
        told.file if told else one.file,
        told.line if told else one.line,
        culprit=told.client if told and told.trigger != "unseen" else None,
        end_ms=one.end_ms,
        duration_ms=one.end_ms - start_ms,
        before=before,
        after=one.after,
        joined=_names(one, "join"),
        left=_names(one, "leave", "poll_timeout"),
        said=(told.reason or None) if told and told.trigger != "unseen" else None,
    )


def _names(one: _Round, *triggers: str) -> list[str]:
    return sorted({line.client for line in one.told if line.trigger in triggers})
