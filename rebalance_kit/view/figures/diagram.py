"""Two drawn diagrams for notebooks: the classic group's state machine, and messages between members and coordinator.

The state machine is drawn from the engine's own table, so that it cannot say anything else than the engine does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from rebalance_kit.model.trace import Trace, TraceRow
from rebalance_kit.protocol.classic_group.states import PREDECESSORS, ClassicGroupState
from rebalance_kit.protocol.classic_group.table import TRANSITIONS
from rebalance_kit.view.style.palettes import FONT, ROLES
from rebalance_kit.view.style.theme import looks, member_order
from rebalance_kit.view.words.phrases import partitions_in_words

EVENT_WORDS: Mapping[str, str] = {
    "JoinGroup": "JoinGroup",
    "LeaveGroup": "LeaveGroup",
    "TimerFired": "a timer ran out",
    "Appended": "the leader's SyncGroup is stored",
}
WIDTH = 1000
_BOX = {
    ClassicGroupState.EMPTY: (20, 120),
    ClassicGroupState.PREPARING_REBALANCE: (300, 120),
    ClassicGroupState.COMPLETING_REBALANCE: (770, 30),
    ClassicGroupState.STABLE: (770, 210),
}
_BOX_WIDTH, _BOX_HEIGHT = 215, 50
_ARROWS: Mapping[tuple[ClassicGroupState, ClassicGroupState], tuple[str, int, int]] = {
    # path, and where its words stand
    (ClassicGroupState.EMPTY, ClassicGroupState.PREPARING_REBALANCE): ("M235,135 H298", 20, 104),
    (ClassicGroupState.PREPARING_REBALANCE, ClassicGroupState.EMPTY): ("M300,156 H237", 20, 196),
    (ClassicGroupState.PREPARING_REBALANCE, ClassicGroupState.COMPLETING_REBALANCE): (
        "M410,120 V44 H768",
        424,
        36,
    ),
    (ClassicGroupState.COMPLETING_REBALANCE, ClassicGroupState.PREPARING_REBALANCE): (
        "M770,68 H476 V118",
        490,
        88,
    ),
    (ClassicGroupState.COMPLETING_REBALANCE, ClassicGroupState.STABLE): ("M878,80 V208", 590, 150),
    (ClassicGroupState.STABLE, ClassicGroupState.PREPARING_REBALANCE): ("M770,235 H400 V172", 414, 228),
}


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG picture and its text twin."""

    svg: str
    text: str

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return self.text


# --- the state machine ----------------------------------------------------------------------------
def edges() -> dict[tuple[ClassicGroupState, ClassicGroupState], tuple[str, ...]]:
    """Every single step of a classic group with the events that may cause it, from the engine's table.

    Reloading a group on another broker is left out: it restores a state and takes no step.
    """
    found: dict[tuple[ClassicGroupState, ClassicGroupState], set[str]] = {}
    for (state, event), rule in TRANSITIONS.items():
        for target in rule.targets:
            name = event.__name__ if isinstance(event, type) else "TimerFired"
            if name in EVENT_WORDS and state in PREDECESSORS[target]:
                found.setdefault((state, target), set()).add(EVENT_WORDS[name])
    order = list(_BOX)
    steps = sorted(found, key=lambda edge: (order.index(edge[0]), order.index(edge[1])))
    return {edge: tuple(sorted(found[edge])) for edge in steps}


def state_machine(trace: Trace | None = None, since_s: float = 0.0, at_s: float | None = None) -> Picture:
    """The states of a classic group; with a trace, how often it took each step from ``since_s`` on.

    With ``at_s`` only the steps until that moment count, and the group's state then is filled.
    """
    taken: dict[tuple[str, str], int] = {}
    now: str | None = None
    for row in trace.of("group_state") if trace is not None else ():
        if at_s is not None and row.at_ms > at_s * 1000:
            break
        now = row.detail["to"] if at_s is not None else None
        if row.at_ms >= since_s * 1000:
            step = (row.detail["from"], row.detail["to"])
            taken[step] = taken.get(step, 0) + 1
    lines, parts = [f"now: {now}"] if now else [], _page(280, ROLES["light"])
    for edge, events in edges().items():
        count = taken.get((edge[0].value, edge[1].value))
        times = "" if trace is None else f"  ×{count or 0}"
        lines.append(f"{edge[0].value:<19} -> {edge[1].value:<19} on {', '.join(events)}{times}")
        parts += _edge(edge, events, count, drawn=trace is not None)
    for state, (x, y) in _BOX.items():
        role, lit = ROLES["light"], state.value == now
        parts.append(
            f'<rect x="{x}" y="{y}" width="{_BOX_WIDTH}" height="{_BOX_HEIGHT}" rx="10" fill="{role["ink" if lit else "sunk"]}" stroke="{role["ink"]}" stroke-width="1.5"/>'
            + _words(
                x + _BOX_WIDTH / 2,
                y + 31,
                state.value,
                bold=True,
                size=16,
                anchor="middle",
                colour=role["surface" if lit else "ink"],
            )
        )
    text = "\n".join(lines)
    return Picture(_closed(parts, "States of a classic group", text), text)


def _edge(
    edge: tuple[ClassicGroupState, ClassicGroupState],
    events: Sequence[str],
    count: int | None,
    *,
    drawn: bool,
) -> list[str]:
    path, x, y = _ARROWS[edge]
    role = ROLES["light"]
    strong = count or not drawn
    colour = role["ink"] if strong else role["control"]
    words = ", ".join(events) + (f"  ×{count}" if count else "")
    return [
        f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{2.5 if count else 1.5}" marker-end="url(#{"rk-tip" if strong else "rk-dim"})"/>',
        _words(x, y, words, colour=colour, bold=bool(count), size=13.5),
    ]


# --- messages ---------------------------------------------------------------------------------------
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
            f"you lead, here are all {detail['members']}"
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
    parts = _page(height, role)
    for name, x in [*at.items(), ("coordinator", hub)]:
        parts.append(_words(x, 22, name, bold=True, anchor="middle", size=13))
        parts.append(f'<path d="M{x},34 V{height - 8}" stroke="{role["control"]}" stroke-width="1"/>')
    for place, (row, words) in enumerate(zip(rows, said, strict=True)):
        y = 54 + 26 * place
        x, request = at[_who(row)], row.kind == "request"
        hue = seen[_who(row)].hue
        begin, end = (x, hub - 2) if request else (hub, x + 2)
        dash = "" if request else ' stroke-dasharray="6 4"'
        parts.append(
            f'<path d="M{begin},{y} H{end}" stroke="{hue}" stroke-width="2.2"{dash} marker-end="url(#rk-tip)"/>'
        )
        parts.append(_words(12, y + 4, f"{row.at_ms / 1000:.3f} s", colour=role["ink2"], size=12.5))
        parts.append(_words(hub + 16, y + 4, words, colour=role["ink"] if request else role["ink2"], size=13))
    return _closed(parts, "Messages between members and coordinator", "")


# --- SVG ----------------------------------------------------------------------------------------------
def _page(height: int, role: Mapping[str, str]) -> list[str]:
    tips = "".join(
        f'<marker id="{name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{colour}"/></marker>'
        for name, colour in (("rk-tip", role["ink"]), ("rk-dim", role["control"]))
    )
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img" font-family="{escape(FONT, quote=True)}" style="max-width:100%;height:auto">',
        f'<defs>{tips}</defs><rect width="{WIDTH}" height="{height}" rx="12" fill="{role["surface"]}"/>',
    ]


def _words(
    x: float,
    y: float,
    words: str,
    *,
    colour: str | None = None,
    bold: bool = False,
    size: float = 13,
    anchor: str = "start",
) -> str:
    weight = ' font-weight="700"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{colour or ROLES["light"]["ink"]}" text-anchor="{anchor}"{weight}>{escape(words)}</text>'


def _closed(parts: Sequence[str], title: str, text: str) -> str:
    head, *rest = parts
    described = f"<title>{escape(title)}</title><desc>{escape(text)}</desc>"
    return "".join([head, described, *rest, "</svg>"])
