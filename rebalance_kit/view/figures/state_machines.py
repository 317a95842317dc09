"""State machines of KIP-848 as pictures: the consumer group's four states, and the states of one member's client.

Steps come from the engine's own tables (``protocol.consumer_member.EDGES``, Kafka's
MemberState.previousValidStates) and from what a run took; nothing is drawn that the engine would refuse.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import hypot

from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.model.trace import Trace, TraceRow
from rebalance_kit.protocol.consumer_client.states import EDGES
from rebalance_kit.view.figures.diagram import Picture, _closed, _page, _words
from rebalance_kit.view.style.palettes import ROLES

Step = tuple[str, str]
Places = Mapping[str, tuple[int, int]]
_WIDTH, _HEIGHT = 190, 48
_GROUP: Places = {
    "Empty": (30, 110),
    "Assigning": (280, 110),
    "Reconciling": (530, 110),
    "Stable": (780, 110),
}
_MEMBER: Places = {
    "UNSUBSCRIBED": (30, 40),
    "JOINING": (280, 40),
    "STABLE": (530, 40),
    "ACKNOWLEDGING": (780, 40),
    "LEAVING": (30, 190),
    "PREPARE_LEAVING": (280, 190),
    "FENCED": (530, 190),
    "RECONCILING": (780, 190),
    "STALE": (90, 320),
    "FATAL": (530, 320),
}
_FROM_MANY = ("FATAL", "FENCED", "PREPARE_LEAVING")
"""States that nearly every other may fall into: their steps are told, and drawn only where a run took them."""


def group_states(trace: Trace, at_s: float | None = None, theme: str = "light") -> Picture:
    """The states of a consumer group and the steps that a run took, until ``at_s`` if given; its state then is filled.

    A consumer group's state is no machine of its own: it follows from the epochs (ConsumerGroup.maybeUpdateGroupState),
    so the steps are those of the run.
    """
    rows = [row for row in trace.of("group_state") if row.protocol == "consumer"]
    taken, now = _taken(rows, at_s)
    allowed = sorted(taken, key=lambda step: (list(_GROUP).index(step[0]), list(_GROUP).index(step[1])))
    return _picture("States of a consumer group", _GROUP, allowed, taken, now, 220, theme, counted=True)


def member_states(
    trace: Trace | None = None, member: str | None = None, at_s: float | None = None, theme: str = "light"
) -> Picture:
    """The states of a consumer's client under KIP-848 (MemberState); with a trace, the steps that ``member`` took.

    With ``at_s`` only the steps until then count, and the state at that moment is filled. Raises
    ``ScenarioError`` for a member that the trace does not know.
    """
    rows: list[TraceRow] = []
    if trace is not None:
        known = sorted({row.actor for row in trace.of("member_state") if row.protocol == "consumer"})
        if member not in known:
            raise ScenarioError(
                f"member {member!r} takes no step of KIP-848 in this run; expected one of {', '.join(known) or 'none'}"
            )
        rows = [row for row in trace.of("member_state") if row.actor == member]
    taken, now = _taken(rows, at_s)
    order = list(_MEMBER)
    allowed = sorted(
        ((before.value, after.value) for after, befores in EDGES.items() for before in befores),
        key=lambda step: (order.index(step[0]), order.index(step[1])),
    )
    title = "States of a member's client" + (f": {member}" if member else "")
    return _picture(title, _MEMBER, allowed, taken, now, 410, theme, counted=trace is not None)


def _taken(rows: Sequence[TraceRow], at_s: float | None) -> tuple[Counter[Step], str | None]:
    seen = [row for row in rows if at_s is None or row.at_ms <= at_s * 1000]
    steps = Counter((str(row.detail["from"]), str(row.detail["to"])) for row in seen)
    now = str(seen[-1].detail["to"]) if seen and at_s is not None else None
    return steps, now


def _box(name: str, place: tuple[float, float], role: Mapping[str, str], *, lit: bool) -> str:
    x, y = place
    ink = role["ink"]
    box = (
        f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="10" fill="{ink if lit else role["sunk"]}" '
        f'stroke="{ink}" stroke-width="{3 if lit else 1.5}"/>'
    )
    colour = role["surface" if lit else "ink"]
    return box + _words(x + _WIDTH / 2, y + 30, name, bold=True, size=16, anchor="middle", colour=colour)


def _note_below(place: tuple[float, float], text: str, role: Mapping[str, str]) -> str:
    x, y = place
    return _words(x + _WIDTH / 2, y + _HEIGHT + 20, text, colour=role["ink2"], anchor="middle", size=13)


def _picture(
    title: str,
    places: Places,
    allowed: Sequence[Step],
    taken: Counter[Step],
    now: str | None,
    height: int,
    theme: str,
    *,
    counted: bool,
) -> Picture:
    role = ROLES[theme]
    parts, lines = _page(height, role), []
    for step in allowed:
        times = taken[step]
        lines.append(f"{step[0]:<16} -> {step[1]:<16}" + (f"  ×{times}" if counted else ""))
        if step[0] != step[1] and (times or step[1] not in _FROM_MANY):
            parts += _arrow(places, step, times, role, counted=counted)
    for name, place in places.items():
        parts.append(_box(name, place, role, lit=name == now))
        if name in _FROM_MANY and len(places) > 4:
            parts.append(_note_below(place, "from nearly every state", role))
    said = "\n".join([*([f"now: {now}"] if now else []), *(line.rstrip() for line in lines)])
    # Tips have names of their own in each theme: several pictures may stand on one page.
    return Picture(
        _closed(parts, title, said).replace("rk-tip", f"rk-tip-{theme}").replace("rk-dim", f"rk-dim-{theme}"),
        said,
    )


def _arrow(places: Places, step: Step, times: int, role: Mapping[str, str], *, counted: bool) -> list[str]:
    """A line from box to box, a little aside so that the way back has its own; its count in the middle."""
    (x0, y0), (x1, y1) = ((x + _WIDTH / 2, y + _HEIGHT / 2) for x, y in (places[one] for one in step))
    long = hypot(x1 - x0, y1 - y0)
    over = [name for name in places if name not in step and _passes(places[name], (x0, y0), (x1, y1))]
    aside = 9.0 if not over else 70.0
    nx, ny = -(y1 - y0) / long, (x1 - x0) / long
    if over and ny > 0 and y0 < 140:  # around a box of the first row: above it on the way there
        nx, ny = -nx, -ny
    middle = ((x0 + x1) / 2 + nx * aside * 1.6, (y0 + y1) / 2 + ny * aside * 1.6)
    begin, end = _edge_of((x0, y0), middle), _edge_of((x1, y1), middle)
    strong = bool(times) or not counted
    colour = role["ink"] if strong else role["control"]
    drawn = f'<path d="M{begin[0]:.0f},{begin[1]:.0f} Q{middle[0]:.0f},{middle[1]:.0f} {end[0]:.0f},{end[1]:.0f}" fill="none" stroke="{colour}" stroke-width="{2.5 if times else 1.5}" marker-end="url(#{"rk-tip" if strong else "rk-dim"})"/>'
    if not times:
        return [drawn]
    at = (
        (begin[0] + 2 * middle[0] + end[0]) / 4 + nx * 12,
        (begin[1] + 2 * middle[1] + end[1]) / 4 + ny * 12 + 5,
    )
    return [drawn, _words(at[0], at[1], f"×{times}", bold=True, size=14, anchor="middle", colour=role["ink"])]


def _passes(box: tuple[int, int], begin: tuple[float, float], end: tuple[float, float]) -> bool:
    """Whether the straight line crosses a box."""
    for share in (step / 20 for step in range(1, 20)):
        x, y = begin[0] + share * (end[0] - begin[0]), begin[1] + share * (end[1] - begin[1])
        if box[0] - 6 < x < box[0] + _WIDTH + 6 and box[1] - 6 < y < box[1] + _HEIGHT + 6:
            return True
    return False


def _edge_of(centre: tuple[float, float], towards: tuple[float, float]) -> tuple[float, float]:
    """Where a line from a box's centre leaves the box."""
    dx, dy = towards[0] - centre[0], towards[1] - centre[1]
    share = min((_WIDTH / 2 + 2) / abs(dx) if dx else 9e9, (_HEIGHT / 2 + 2) / abs(dy) if dy else 9e9)
    return centre[0] + dx * share, centre[1] + dy * share


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
