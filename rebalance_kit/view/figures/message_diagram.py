"""Messages between members and coordinator as a picture, with the same lines as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rebalance_kit.model.trace import Trace, TraceRow
from rebalance_kit.view.style.showing import Picture, closed, page, tip
from rebalance_kit.view.style.showing import words as words_at
from rebalance_kit.view.style.theme import ROLES, looks, member_order
from rebalance_kit.view.words.phrases import partitions_in_words


def messages(
    trace: Trace, since_s: float, until_s: float, apis: Sequence[str] = (), members: Sequence[str] = ()
) -> Picture:
    """Requests and answers of a stretch of a run, in order; ``apis`` and ``members`` choose among them.

    Without ``apis``, commits and heartbeats without news are left out. A request stands at the time it
    was sent, an answer at the time it was sent back. Distances in the picture are no times.
    """
    wanted = [
        row
        for row in trace.of("request", "response")
        if since_s * 1000 <= row.at_ms <= until_s * 1000
        and _wanted(row, apis)
        and (not members or _who(row) in members)
    ]
    names = [name for name in member_order(trace) if name in {_who(row) for row in wanted}]
    leaders = {row.detail.get("leader_id"): str(row.detail["leader"]) for row in trace.of("generation")}
    said = [_message(row, leaders) for row in wanted]
    lines = [
        f"{row.at_ms / 1000:7.3f} s  {_who(row):<12} {'->' if row.kind == 'request' else '<-'} coordinator  {words}"
        for row, words in zip(wanted, said, strict=True)
    ]
    return Picture(_ladder(wanted, said, names), "\n".join(lines))


def _who(row: TraceRow) -> str:
    return row.actor if row.kind == "request" else str(row.detail["to"])


def _wanted(row: TraceRow, apis: Sequence[str]) -> bool:
    if apis:
        return row.detail["api"] in apis
    api = row.detail["api"]
    news = row.kind == "response" and row.detail["error"] != "NONE"
    return api not in {"OffsetCommit", "Heartbeat"} or (api == "Heartbeat" and news)


def _message(row: TraceRow, leaders: Mapping[Any, str]) -> str:
    detail, api = row.detail, row.detail["api"]
    if row.kind == "request":
        return _request(row, detail, api)
    if api == "Heartbeat":
        return f"answer to a heartbeat: {'no news' if detail['error'] == 'NONE' else detail['error']}"
    if detail["error"] != "NONE":
        also = ": here is an id" if detail["error"] == "MEMBER_ID_REQUIRED" else ""
        return f"answer: {detail['error']}{also}"
    if api == "JoinGroup":
        leads = (
            f"you lead, with the list of {detail['members']} members"
            if detail["members"]
            else f"{leaders.get(detail['leader'], 'another')} leads"
        )
        return f"answer: generation {row.generation}, {leads}"
    if api == "SyncGroup":
        return f"answer: your share is {partitions_in_words(detail['assignment'])}"
    if api == "ConsumerGroupHeartbeat":
        given = detail["assignment"]
        return f"answer: epoch {detail['epoch']}" + (
            "" if given is None else f", you may own {partitions_in_words(given)}"
        )
    return "answer: done"


def _request(row: TraceRow, detail: Mapping[str, Any], api: str) -> str:
    if api == "JoinGroup":
        owned = partitions_in_words(detail["owned"])
        if row.member_id is None:
            return "JoinGroup without a member id"
        reason = str(detail["reason"] or "").partition(":")[0]
        return f"JoinGroup, owns {owned}" + (f" ({reason})" if reason else "")
    if api == "SyncGroup":
        return "SyncGroup with everybody's shares" if detail["leads"] else "SyncGroup"
    if api == "ConsumerGroupHeartbeat":
        owned = "" if detail["owned"] is None else f", owns {partitions_in_words(detail['owned'])}"
        return f"heartbeat, epoch {detail['epoch']}{owned}"
    return str(api)


def _ladder(rows: Sequence[TraceRow], said: Sequence[str], names: Sequence[str]) -> str:
    role, seen = ROLES["light"], looks(names)
    step = min(120, 400 // max(len(names), 1))
    at = {name: 110 + place * step for place, name in enumerate(names)}
    hub = 110 + len(names) * step
    height = 60 + 26 * len(rows)
    parts = page(height, role)
    for name, x in [*at.items(), ("coordinator", hub)]:
        parts.append(words_at(x, 22, name, bold=True, anchor="middle", size=13))
        parts.append(f'<path d="M{x},34 V{height - 8}" stroke="{role["control"]}" stroke-width="1"/>')
    for place, (row, words) in enumerate(zip(rows, said, strict=True)):
        y = 54 + 26 * place
        x, request = at[_who(row)], row.kind == "request"
        hue = seen[_who(row)].hue
        begin, end = (x, hub - 2) if request else (hub, x + 2)
        dash = "" if request else ' stroke-dasharray="6 4"'
        parts.append(
            f'<path d="M{begin},{y} H{end}" stroke="{hue}" stroke-width="2.2"{dash} marker-end="url(#{tip()})"/>'
        )
        parts.append(words_at(12, y + 4, f"{row.at_ms / 1000:.3f} s", colour=role["ink2"], size=12.5))
        parts.append(
            words_at(hub + 16, y + 4, words, colour=role["ink"] if request else role["ink2"], size=13)
        )
    return closed(parts, "Messages between members and coordinator", "")
