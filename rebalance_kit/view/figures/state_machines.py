"""State machines as pictures: the classic group's, the consumer group's, and that of a KIP-848 member's client.

States and edges come from the engine's own tables, so a picture cannot say anything else than the engine does,
and an edge that is added to a table is drawn. With a trace, each edge is counted as the run took it.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.model.trace import Trace, TraceRow, require_trace
from rebalance_kit.protocol.classic_group.group import PREDECESSORS, ClassicGroupState
from rebalance_kit.protocol.classic_group.table import TRANSITIONS
from rebalance_kit.protocol.consumer_client.member import EDGES, MemberState
from rebalance_kit.protocol.consumer_group.group import ConsumerGroupState
from rebalance_kit.protocol.consumer_group.table import RULES
from rebalance_kit.protocol.effects import EventKind, Load, Timer, Unload, name_of
from rebalance_kit.view.style.showing import WIDTH, Picture, closed, page, tip, words
from rebalance_kit.view.style.theme import ROLES

# Lays out and draws any state machine: states in a column, an arrow for each edge, no label over another.
#
# An edge to the next state goes straight down. Every other edge leaves its state at a height of its own, runs
# in a lane beside the column (forward on the right, back on the left) and ends in its target; edges with the
# same target share its lane. Labels stand between the column and the lanes, each above its own line.


SIZE = 13.5
_LETTER, _BOLD_LETTER, _LINE = 7.4, 8.4, 16
_NAME_SIZE, _NAME_LETTER = 16, 10.2
_LANE, _PORT, _CORNER = 15, 11, 7
_LEAST_BOX, _LEAST_GAP, _MARGIN = 44, 24, 16


class Arrow(NamedTuple):
    """An edge of a machine, as it is to be drawn; ``taken`` None where nothing is counted."""

    before: str
    after: str
    label: str = ""
    taken: int | None = None

    @property
    def strong(self) -> bool:
        """Whether a run took it, or nothing is counted."""
        return self.taken is None or self.taken > 0

    def words(self) -> str:
        """The label with its count."""
        return f"{self.label}  ×{self.taken}".strip() if self.taken else self.label


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything stands."""

    x: float
    width: float
    tops: Mapping[str, float]
    heights: Mapping[str, float]
    ports: Mapping[tuple[str, str, str], float]
    """Height of a port, by side, state, and the target of the edge that leaves there, or "" where edges arrive."""
    lanes: Mapping[tuple[str, str], float]
    """The lane of a target, by side and target."""
    height: int


def draw_machine(
    states: Sequence[str], arrows: Sequence[Arrow], role: Mapping[str, str], now: str | None, theme: str
) -> tuple[list[str], int]:
    """The parts of the picture, and its height; ``now`` is filled."""
    place = {state: number for number, state in enumerate(states)}
    layout, labels = _lay_out(place, arrows)
    parts: list[str] = []
    for arrow in sorted(arrows, key=lambda arrow: arrow.strong):
        parts += _drawn(place, arrow, layout, labels[arrow], role, theme)
    parts += [part for state in states for part in _box(state, layout, role, lit=state == now)]
    return parts, layout.height


def _side(place: Mapping[str, int], arrow: Arrow) -> str:
    step = place[arrow.after] - place[arrow.before]
    return "down" if step == 1 else "right" if step >= 0 else "left"


# --- layout -----------------------------------------------------------------------------------
def _lay_out(place: Mapping[str, int], arrows: Sequence[Arrow]) -> tuple[Layout, dict[Arrow, list[str]]]:
    """The widest labels that fit on the page, and everything placed around them."""
    for letters in (44, 36, 30, 26, 22, 18, 15, 12):
        labels = {arrow: textwrap.wrap(arrow.words(), letters) for arrow in arrows}
        tops, heights, ports, bottom = _stack(place, arrows, labels)
        lanes = {side: _lanes(side, place, arrows, ports) for side in ("left", "right")}
        width = max(_NAME_LETTER * len(state) + 34 for state in place)
        room = _rooms(place, arrows, labels, width)
        depth = {side: _LANE * len(set(lanes[side].values())) for side in lanes}
        total = depth["left"] + room["left"] + width + room["right"] + depth["right"]
        if total <= WIDTH - 2 * _MARGIN:
            break
    x = (WIDTH - total) / 2 + depth["left"] + room["left"]
    at = {("left", after): x - room["left"] - _LANE * lane for after, lane in lanes["left"].items()}
    for after, lane in lanes["right"].items():
        at["right", after] = x + width + room["right"] + _LANE * lane
    return Layout(x, width, tops, heights, ports, at, round(bottom + _MARGIN)), labels


def _stack(
    place: Mapping[str, int], arrows: Sequence[Arrow], labels: Mapping[Arrow, Sequence[str]]
) -> tuple[dict[str, float], dict[str, float], dict[tuple[str, str, str], float], float]:
    """Tops and heights of the states, each as high as its ports need, and the heights of the ports."""
    tops: dict[str, float] = {}
    heights: dict[str, float] = {}
    ports: dict[tuple[str, str, str], float] = {}
    y = float(_MARGIN)
    for state in place:
        columns = {side: _ports(side, state, place, arrows, labels) for side in ("left", "right")}
        need = {side: sum(room for _, room in column) for side, column in columns.items()}
        tops[state], heights[state] = y, max(_LEAST_BOX, 10 + max(need.values()))
        for side, column in columns.items():
            at = y + (heights[state] - need[side]) / 2
            for target, room in column:
                at += room
                ports[side, state, target] = at - _PORT / 2
        down = [labels[arrow] for arrow in arrows if arrow.before == state and _side(place, arrow) == "down"]
        y += heights[state] + max(_LEAST_GAP, *(16 + _LINE * len(lines) for lines in down), 0)
    last = next(reversed(tops))
    return tops, heights, ports, tops[last] + heights[last]


def _ports(
    side: str,
    state: str,
    place: Mapping[str, int],
    arrows: Sequence[Arrow],
    labels: Mapping[Arrow, Sequence[str]],
) -> list[tuple[str, float]]:
    """What one side of a state needs, from top to bottom: where edges leave (with room for a label), where they arrive."""
    here = [arrow for arrow in arrows if _side(place, arrow) == side]
    leaving = sorted((arrow for arrow in here if arrow.before == state), key=lambda arrow: place[arrow.after])
    out = [(arrow.after, _PORT + (_LINE * len(labels[arrow]) if labels[arrow] else 0)) for arrow in leaving]
    arrives = [("", float(_PORT))] if any(arrow.after == state for arrow in here) else []
    column = [*arrives, *reversed(out)] if side == "right" else [*out, *arrives]
    return [(target, float(room)) for target, room in column]


def _lanes(
    side: str, place: Mapping[str, int], arrows: Sequence[Arrow], ports: Mapping[tuple[str, str, str], float]
) -> dict[str, int]:
    """A lane for each target, the short ones inside; two whose stretches do not meet may share one."""
    stretches: dict[str, tuple[float, float]] = {}
    for arrow in arrows:
        if _side(place, arrow) == side:
            ends = (ports[side, arrow.before, arrow.after], ports[side, arrow.after, ""])
            first, last = stretches.get(arrow.after, (min(ends), max(ends)))
            stretches[arrow.after] = min(first, *ends), max(last, *ends)
    lanes: dict[str, int] = {}
    for target, (first, last) in sorted(stretches.items(), key=lambda item: item[1][1] - item[1][0]):
        taken = {
            lanes[other]
            for other in lanes
            if stretches[other][0] - _PORT < last and first - _PORT < stretches[other][1]
        }
        lanes[target] = next(lane for lane in range(len(stretches)) if lane not in taken)
    return lanes


def _rooms(
    place: Mapping[str, int], arrows: Sequence[Arrow], labels: Mapping[Arrow, Sequence[str]], width: float
) -> dict[str, float]:
    """How wide the labels beside the column are; those of straight arrows begin at its middle."""
    rooms = {"left": 22.0, "right": 22.0}
    for arrow in arrows:
        side = _side(place, arrow)
        letter = _BOLD_LETTER if arrow.taken else _LETTER
        wide = max((letter * len(line) for line in labels[arrow]), default=0) + 18
        if side == "down":
            rooms["right"] = max(rooms["right"], wide + 4 - width / 2)
        else:
            rooms[side] = max(rooms[side], wide)
    return rooms


# --- drawing ----------------------------------------------------------------------------------
def _drawn(
    place: Mapping[str, int],
    arrow: Arrow,
    layout: Layout,
    lines: Sequence[str],
    role: Mapping[str, str],
    theme: str,
) -> list[str]:
    colour = role["ink" if arrow.strong else "control"]
    side = _side(place, arrow)
    if side == "down":
        x = layout.x + layout.width / 2
        begin = layout.tops[arrow.before] + layout.heights[arrow.before]
        path = f"M{x:g},{begin:g} V{layout.tops[arrow.after] - 2:g}"
        middle = (begin + layout.tops[arrow.after]) / 2 - _LINE * (len(lines) - 1) / 2 + 3
        spots = [(x + 10, middle + _LINE * number) for number in range(len(lines))]
        anchor = "start"
    else:
        begin = layout.ports[side, arrow.before, arrow.after]
        path = _around(layout, side, arrow, begin)
        outward = side == "right"
        edge = layout.x + (layout.width + 8 if outward else -8)
        spots = [(edge, begin - 5 - _LINE * (len(lines) - 1 - number)) for number in range(len(lines))]
        anchor = "start" if outward else "end"
    width = 2.5 if arrow.taken else 1.5
    drawn = f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="{width}" marker-end="url(#{tip(theme, strong=arrow.strong)})"/>'
    said = [
        words(
            x,
            y,
            line,
            colour=role["ink" if arrow.strong else "ink3"],
            bold=bool(arrow.taken),
            size=SIZE,
            anchor=anchor,
        )
        for (x, y), line in zip(spots, lines, strict=True)
    ]
    return [drawn, *said]


def _around(layout: Layout, side: str, arrow: Arrow, begin: float) -> str:
    """Out of the state, along the lane of the target, and into it, with round corners."""
    end = layout.ports[side, arrow.after, ""]
    lane = layout.lanes[side, arrow.after]
    edge = layout.x + layout.width if side == "right" else layout.x
    out = 1 if side == "right" else -1
    turn = _CORNER if end > begin else -_CORNER
    return (
        f"M{edge:g},{begin:g} H{lane - out * _CORNER:g} Q{lane:g},{begin:g} {lane:g},{begin + turn:g} "
        f"V{end - turn:g} Q{lane:g},{end:g} {lane - out * _CORNER:g},{end:g} H{edge + out * 2:g}"
    )


def _box(state: str, layout: Layout, role: Mapping[str, str], *, lit: bool) -> list[str]:
    top, height = layout.tops[state], layout.heights[state]
    return [
        f'<rect x="{layout.x:g}" y="{top:g}" width="{layout.width:g}" height="{height:g}" rx="10" fill="{role["ink" if lit else "sunk"]}" stroke="{role["ink"]}" stroke-width="{3 if lit else 1.5}"/>'
        + words(
            layout.x + layout.width / 2,
            top + height / 2 + 5.5,
            state,
            bold=True,
            size=_NAME_SIZE,
            anchor="middle",
            colour=role["surface" if lit else "ink"],
        )
    ]


Step = tuple[str, str]
EVENT_WORDS: Mapping[str, str] = {"Appended": "the leader's SyncGroup is stored"}


# --- the classic group ------------------------------------------------------------------------
def edges() -> dict[tuple[ClassicGroupState, ClassicGroupState], tuple[str, ...]]:
    """Every single step of a classic group with the events that may cause it, from the engine's table.

    Moving a group to another broker is left out: it restores a state and takes no step.
    """
    causes: dict[tuple[ClassicGroupState, ClassicGroupState], set[str]] = {}
    for (state, event), rule in TRANSITIONS.items():
        if event not in {Load, Unload}:
            for target in rule.targets:
                if state in PREDECESSORS[target]:
                    causes.setdefault((state, target), set()).add(_event_words(event))
    order = list(ClassicGroupState)
    steps = sorted(causes, key=lambda step: (order.index(step[0]), order.index(step[1])))
    return {step: tuple(sorted(causes[step])) for step in steps}


def _event_words(event: EventKind) -> str:
    if isinstance(event, Timer):
        return "a timer ran out"
    return EVENT_WORDS.get(name_of(event), name_of(event))


def state_machine(trace: Trace | None = None, since_s: float = 0.0, at_s: float | None = None) -> Picture:
    """The states of a classic group; with a trace, how often it took each step from ``since_s`` on.

    With ``at_s`` only the steps until that moment count, and the group's state then is filled.
    """
    if trace is not None:
        require_trace(trace)
    rows = [] if trace is None else [row for row in trace.of("group_state") if row.protocol == "classic"]
    taken, now = _taken(rows, at_s, since_s)
    causes = {(before.value, after.value): words for (before, after), words in edges().items()}
    arrows = [
        Arrow(*step, ", ".join(words), None if trace is None else taken[step])
        for step, words in causes.items()
    ]
    lines = [f"{step[0]:<19} -> {step[1]:<19} on {', '.join(words)}" for step, words in causes.items()]
    living = [state.value for state in ClassicGroupState if state is not ClassicGroupState.DEAD]
    return _picture("States of a classic group", living, arrows, lines, now, "light")


# --- KIP-848 ----------------------------------------------------------------------------------
def group_states(trace: Trace, at_s: float | None = None, theme: str = "light") -> Picture:
    """The states of a consumer group and the steps that a run took, until ``at_s`` if given; its state then is filled.

    A consumer group's state is no machine of its own: it follows from the epochs (ConsumerGroup.maybeUpdateGroupState).
    """
    rows = [row for row in trace.of("group_state") if row.protocol == "consumer"]
    allowed = {(before.value, after.value) for rule in RULES.values() for before, after in rule.targets}
    states = [state.value for state in ConsumerGroupState]
    return _counted("States of a consumer group", states, allowed, rows, at_s, theme)


def member_states(
    trace: Trace | None = None, member: str | None = None, at_s: float | None = None, theme: str = "light"
) -> Picture:
    """The states of a consumer's client under KIP-848 (MemberState); with a trace, the steps that ``member`` took.

    With ``at_s`` only the steps until then count, and the state at that moment is filled. Raises
    ``ScenarioError`` for a member that the trace does not know.
    """
    rows: list[TraceRow] | None = None
    if trace is not None:
        known = sorted({row.actor for row in trace.of("member_state") if row.protocol == "consumer"})
        if member not in known:
            raise ScenarioError(
                f"member {member!r} takes no step of KIP-848 in this run; expected one of {', '.join(known) or 'none'}"
            )
        rows = [row for row in trace.of("member_state") if row.actor == member]
    allowed = {(before.value, after.value) for after, befores in EDGES.items() for before in befores}
    title = "States of a member's client" + (f": {member}" if member else "")
    return _counted(title, [state.value for state in MemberState], allowed, rows, at_s, theme)


def path_of(trace: Trace, member: str) -> tuple[str, ...]:
    """The states that a member's client went through, in order, each named once where it did not change.

    >>> from rebalance_kit.scenarios import load
    >>> from rebalance_kit.simulation.simulate import simulate
    >>> path_of(simulate(load("join"), protocol="consumer"), "consumer-1")[:3]
    ('UNSUBSCRIBED', 'JOINING', 'RECONCILING')
    """
    rows = [row for row in trace.of("member_state") if row.actor == member]
    every = [str(rows[0].detail["from"]), *(str(row.detail["to"]) for row in rows)] if rows else []
    return tuple(every[:1] + [after for before, after in pairwise(every) if after != before])


# --- the same for all -------------------------------------------------------------------------
def _taken(
    rows: Sequence[TraceRow], at_s: float | None, since_s: float = 0.0
) -> tuple[Counter[Step], str | None]:
    """How often each step was taken in that stretch, and the state at ``at_s``."""
    seen = [row for row in rows if at_s is None or row.at_ms <= at_s * 1000]
    steps = Counter(
        (str(row.detail["from"]), str(row.detail["to"])) for row in seen if row.at_ms >= since_s * 1000
    )
    return steps, str(seen[-1].detail["to"]) if seen and at_s is not None else None


def _counted(
    title: str,
    states: Sequence[str],
    allowed: set[Step],
    rows: Sequence[TraceRow] | None,
    at_s: float | None,
    theme: str,
) -> Picture:
    """A machine whose edges have no words of their own, with the steps of the rows counted."""
    taken, now = _taken(rows or (), at_s)
    steps = sorted(allowed, key=lambda step: (states.index(step[0]), states.index(step[1])))
    arrows = [Arrow(*step, taken=None if rows is None else taken[step]) for step in steps]
    lines = [f"{before:<16} -> {after:<16}" for before, after in steps]
    return _picture(title, states, arrows, lines, now, theme)


def _picture(
    title: str,
    states: Sequence[str],
    arrows: Sequence[Arrow],
    lines: Sequence[str],
    now: str | None,
    theme: str,
) -> Picture:
    """Draw the machine, and say the same in lines of text: ``now``, and each edge with its count."""
    counted = [
        line.rstrip() if arrow.taken is None else f"{line}  ×{arrow.taken}"
        for line, arrow in zip(lines, arrows, strict=True)
    ]
    text = "\n".join([*([f"now: {now}"] if now else []), *counted])
    parts, height = draw_machine(states, arrows, ROLES[theme], now, theme)
    return Picture(closed([*page(height, ROLES[theme], theme), *parts], title, text), text)
