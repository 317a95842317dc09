"""Marks on the strip and the Gantt chart: actions, rebalances, sessions that end."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from rebalance_kit.analysis.deliveries import TWICE, Delivery, deliveries
from rebalance_kit.model.trace import Trace, TraceRow
from rebalance_kit.view.board.states import Mark
from rebalance_kit.view.kinds import MarkKind

FAULTS = frozenset(
    {
        "crash",
        "freeze",
        "cut_network",
        "broker_down",
        "node_down",
        "drop_next",
        "delay_next",
        "coordinator_failover",
        "stall",
        "duplicate",
    }
)
DONE: Mapping[str, str] = MappingProxyType(
    {
        "start": "{member} starts",
        "close": "{member} leaves",
        "crash": "{member} crashes",
        "freeze": "{member} freezes",
        "thaw": "{member} thaws",
        "stall": "{member} stops polling",
        "slow_down": "{member} becomes slow",
        "slow_callback": "{member}'s callbacks become slow",
        "restart": "{member} restarts",
        "duplicate": "{member} is duplicated",
        "subscribe": "{member} subscribes anew",
        "enforce_rebalance": "{member} enforces a rebalance",
        "reconfigure": "{member} is reconfigured",
        "remove": "{member} is removed by an administrator",
        "cut_network": "{member} is cut off from the coordinator",
        "heal_network": "{member} reaches the coordinator again",
        "drop_next": "{member}'s next {api} is lost",
        "delay_next": "{member}'s next {api} is late",
        "add_partitions": "{topic} grows to {partitions} partitions",
        "create_topic": "{topic} is created",
        "delete_topic": "{topic} is deleted",
        "broker_down": "the coordinator's broker stops",
        "broker_up": "the coordinator's broker is back",
        "node_down": "broker {node} stops",
        "node_up": "broker {node} is back",
        "see_metadata": "{member} is told other metadata",
        "coordinator_failover": "the coordinator moves",
        "rolling_restart": "rolling restart",
        "scale_to": "scale to {members} members",
    }
)
REMOVALS: Mapping[str, str] = MappingProxyType(
    {
        "session": "session of {name} ends",
        "rebalance_timeout": "rebalance timeout of {name} ends",
        "sync_timeout": "sync timeout of {name} ends",
    }
)

OF_A_PROCESS = frozenset({"crash", "close", "freeze", "stall"})
"""Actions that only a process that runs can suffer."""
MARKED = (
    "action",
    "group_state",
    "generation",
    "epoch_bump",
    "member_removed",
    "process_ended",
    "wrong_call",
)
"""Kinds of rows that may get a mark."""


def action_words(do: str, member: str | None, args: Mapping[str, Any]) -> str:
    """An action as a short sentence.

    >>> action_words("crash", "consumer-1", {})
    'consumer-1 crashes'
    """
    known = {
        "member": member or "the group",
        "api": "message",
        "topic": "a topic",
        "partitions": "more",
        "members": "other",
        "node": "another",
    }
    return DONE.get(do, "{member}: {do}").format(
        do=do, **{**known, **{key: value for key, value in args.items() if key in known and key != "member"}}
    )


def _closed_unheard(trace: Trace, row: TraceRow) -> bool:
    """Whether the process ended without a goodbye: it was no member yet when it was closed."""
    name, ended = row.detail.get("member"), None
    for end in trace.of("process_ended"):
        if end.actor == name and end.at_ms >= row.at_ms:
            ended = end.at_ms
            break
    return ended is not None and not any(
        sent.actor == name
        and row.at_ms <= sent.at_ms <= ended
        and (sent.detail["api"] == "LeaveGroup" or sent.detail.get("epoch") == -1)
        for sent in trace.of("request")
    )


def told_action(trace: Trace, row: TraceRow) -> str:
    """An action of a run as a short sentence; a close that no LeaveGroup follows says so, and what finds no process."""
    do, name = row.detail["do"], row.detail.get("member")
    if do in OF_A_PROCESS and not _runs(trace, row):
        return f"{do} of {name}: its process is gone already"
    if do == "close":
        for life in reversed(list(trace.of("process_started"))):
            if life.actor == name and life.at_ms <= row.at_ms:
                if life.detail.get("configs", {}).get("group.instance.id") is None:
                    if _closed_unheard(trace, row):
                        return f"{name} closes, without LeaveGroup"
                    break
                classic = life.speaks() == "classic"
                return (
                    f"{name} closes, without LeaveGroup"
                    if classic
                    else f"{name} leaves for a while (epoch -2)"
                )
    return action_words(do, name, row.detail)


def _runs(trace: Trace, row: TraceRow) -> bool:
    """Whether the process of an action's member runs when the action comes."""
    lives = [
        life
        for life in trace.of("process_started", "process_ended")
        if life.actor == row.detail.get("member") and life.seq < row.seq
    ]
    return not lives or lives[-1].kind == "process_started"


def find_marks(trace: Trace, group: str) -> tuple[Mark, ...]:
    """The marks of one group's run in order of time."""
    rows = (row for row in trace.of(*MARKED) if row.detail.get("group", group) == group)
    marks = [mark for row in rows if (mark := _mark(trace, row)) is not None]
    return tuple(sorted([*marks, *_of_records(deliveries(trace))], key=lambda mark: mark.at_ms))


def _of_records(events: Iterable[Delivery]) -> Iterator[Mark]:
    """A mark per moment and kind: how many records come twice there, or are skipped."""
    sums: dict[tuple[int, str, str], int] = {}
    for each in events:
        key = (each.at_ms, each.kind, each.member)
        sums[key] = sums.get(key, 0) + each.records
    for (at_ms, kind, member), count in sums.items():
        yield Mark(at_ms, MarkKind[kind.upper()], member, records_words(count, kind))


def records_words(count: int, kind: str) -> str:
    """How many records come twice or are skipped.

    >>> records_words(1, "twice"), records_words(902, "skipped")
    ('1 record comes twice', '902 records are skipped')
    """
    if kind == TWICE:
        return f"{count:,} records come twice" if count != 1 else "1 record comes twice"
    return f"{count:,} records are skipped" if count != 1 else "1 record is skipped"


def _mark(trace: Trace, row: TraceRow) -> Mark | None:
    detail = row.detail
    if row.kind == "action":
        do, member = detail["do"], detail.get("member")
        return Mark(
            row.at_ms, MarkKind.FAULT if do in FAULTS else MarkKind.ACTION, member, told_action(trace, row)
        )
    if row.kind == "group_state" and detail["to"] == "PreparingRebalance":
        return Mark(row.at_ms, MarkKind.REBALANCE, detail.get("culprit"), "rebalance begins")
    if row.kind == "generation":
        return Mark(row.at_ms, MarkKind.DONE, None, f"generation {row.generation}")
    if row.kind == "epoch_bump":
        return Mark(row.at_ms, MarkKind.REBALANCE, detail.get("culprit"), f"group epoch {row.generation}")
    if row.kind == "member_removed" and detail.get("how") in REMOVALS:
        return Mark(row.at_ms, MarkKind.TIMER, detail["name"], REMOVALS[detail["how"]].format(**detail))
    if row.kind == "wrong_call":
        return Mark(row.at_ms, MarkKind.FAULT, row.actor, f"{detail['call']}() of {row.actor} is refused")
    if row.kind == "process_ended" and detail.get("how") == "died":
        return Mark(row.at_ms, MarkKind.FAULT, row.actor, f"{row.actor} dies: {detail.get('error')}")
    return None
