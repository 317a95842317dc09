"""The flow animation: members as rows, partitions as squares that move, a play button and a slider.

The canned form of the lab for notebooks, reports and slides. Positions are small typed arrays and
frames carry only what changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from rebalance_kit.model.trace import Trace
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.board.states import PartitionState
from rebalance_kit.view.figures.gantt import gantt_figure
from rebalance_kit.view.style.showing import Figure, base_layout, packed
from rebalance_kit.view.style.theme import ROLES, looks
from rebalance_kit.view.words.descriptions import describe_flow

FRAMES = 120
PLAYED = 160
"""Playing takes about so many pictures; a change that is shorter than one of them is shown for one."""
PLAYED_MS = 100
MOST_MEMBERS = 12
ROW_HEIGHT = 40
WIDE = 840
"""Pixels that the lanes of a figure have for sure."""
FLOWS, STOPPED, WAITS = 1, 4, 101  # plotly's square, x and open square
LEGEND = (
    ("flows", FLOWS),
    ("unread: its owner is dead, frozen or busy", STOPPED),
    ("waits: no owner, or not read yet", WAITS),
)


@dataclass(frozen=True, slots=True)
class LaneGrid:
    """Where squares stand: the column of each partition, and how deep it lies among those without owner."""

    columns: int
    column: tuple[int, ...]
    depth: tuple[int, ...]
    rail_rows: int


def flow_figure(trace: Trace, theme: str = "light", frames: int = FRAMES, group: str | None = None) -> Figure:
    """A plotly figure (plain values) that plays a run in at most ``frames`` steps.

    Steps fall on the moments at which something changed, so a gap of some milliseconds is seen; time passes evenly in
    playing (``paced``). More members
    than ``MOST_MEMBERS`` cannot be followed as moving squares: they get the Gantt, whose title says why.
    """
    boards = Boards(trace, group)
    if len(boards.names) > MOST_MEMBERS:
        return _chart_instead(trace, theme, group, len(boards.names))
    times = frame_times(boards, frames)
    grid = _places(boards)
    pictures = [_picture(boards, at_ms, grid) for at_ms in times]
    opening = max(0, *(step for step, at_ms in enumerate(times) if at_ms < max(boards.watched_from_ms, 1)))
    names = [
        f"{at_ms / 1000:.3f}" for at_ms in times
    ]  # changes a few milliseconds apart have names of their own
    steps = [
        {"name": name, "data": [_data(picture)], "traces": [0]}
        for name, picture in zip(names, pictures, strict=True)
    ]
    title = f"{trace.meta.get('title') or trace.meta.get('scenario') or trace.run_id} · {trace.label}"
    layout = base_layout(
        theme,
        title,
        describe_flow(trace),
        max(360, 150 + ROW_HEIGHT * (len(boards.names) + grid.rail_rows + 1)),
    )
    layout |= _axes(boards, grid, theme) | _controls(names, theme, opening, paced(times[opening:]))
    layout["margin"] |= {"t": 84}  # the legend stands below the title, however long that is
    layout["title"] |= {"y": 0.985, "yanchor": "top", "yref": "container"}
    return {"data": _traces(boards, grid, pictures[opening], theme), "layout": layout, "frames": steps}


def too_many(trace: Trace, group: str | None = None) -> bool:
    """Whether a run has more members than an animation can show."""
    return len(Boards(trace, group).names) > MOST_MEMBERS


def _chart_instead(trace: Trace, theme: str, group: str | None, members: int) -> Figure:
    figure = gantt_figure(trace, theme, group=group)
    why = f"{members} members are too many to follow as moving squares (at most {MOST_MEMBERS}): the same run as a chart."
    title = figure["layout"]["title"]
    title["text"] += f"<br><span style='font-size:13px'>{why}</span>"
    return figure


def frame_times(boards: Boards, count: int) -> list[int]:
    """At most ``count`` moments: every change where they fit, and steps of even length between."""
    changes = [at_ms for at_ms in boards.change_times if at_ms <= boards.end_ms]
    if len(changes) > count * 3 // 4:
        keep = count * 3 // 4
        changes = [changes[step * (len(changes) - 1) // (keep - 1)] for step in range(keep)]
    room = max(2, count - len(changes))
    even = [step * boards.end_ms // (room - 1) for step in range(room)]
    return sorted({*changes, *even})[: max(count, 2)]


# --- places ---------------------------------------------------------------------------------------
def _places(boards: Boards) -> LaneGrid:
    """Every partition keeps one column for the whole run, so that squares move up and down only.

    Two partitions that are ever in one lane at once have different columns; among those without an
    owner, partitions of one column stand below each other.
    """
    conflicts = _neighbours(boards)
    columns: list[int] = []
    for partition in range(len(boards.partitions)):
        used = {columns[other] for other in conflicts[partition] if other < partition}
        columns.append(next(column for column in range(len(used) + 1) if column not in used))
    depth: list[int] = []
    stacked: dict[int, int] = {}
    wide = max(8, *(column + 1 for column in columns), -(-len(columns) // 8)) if columns else 8
    for partition in range(len(columns)):
        column = columns[partition] = _spread(wide, partition, columns, conflicts[partition])
        stacked[column] = stacked.get(column, 0) + 1
        depth.append(stacked[column])
    return LaneGrid(wide, tuple(columns), tuple(depth), max(depth, default=1))


def _spread(wide: int, number: int, columns: list[int], conflicts: set[int]) -> int:
    """A column that neighbours do not use, as evenly spread over the width as the order of partitions allows."""
    used = {columns[other] for other in conflicts}
    wish = number % wide
    return wish if wish not in used else columns[number]


def _neighbours(boards: Boards) -> list[set[int]]:
    """For each partition those that were ever in one lane with it at once."""
    moves = sorted(
        (at_ms, partition, track.states[index].owner)
        for partition, track in enumerate(boards.partitions.values())
        for index, at_ms in enumerate(track.times)
        if index == 0 or track.states[index].owner != track.states[index - 1].owner
    )
    neighbours: list[set[int]] = [set() for _ in boards.partitions]
    lanes: dict[str, set[int]] = {}
    here: dict[int, str | None] = {}
    for moment in dict.fromkeys(at_ms for at_ms, _, _ in moves):
        now = [(partition, owner) for at_ms, partition, owner in moves if at_ms == moment]
        for partition, _ in now:
            lanes.get(here.get(partition) or "", set()).discard(partition)
        for partition, owner in now:
            here[partition] = owner
            if owner is not None:
                lane = lanes.setdefault(owner, set())
                neighbours[partition] |= lane
                for other in lane:
                    neighbours[other].add(partition)
                lane.add(partition)
    return neighbours


@dataclass(frozen=True, slots=True)
class _Picture:
    rows: list[int]
    owners: list[int]
    shapes: list[int]


def _picture(boards: Boards, at_ms: int, grid: LaneGrid) -> _Picture:
    order = {name: row for row, name in enumerate(boards.names)}
    states = [track.at(at_ms) for track in boards.partitions.values()]
    owners = [order.get(state.owner or "", -1) for state in states]
    rows = [-grid.depth[row] if owner < 0 else len(order) - owner for row, owner in enumerate(owners)]
    return _Picture(rows, owners, [_shape(state) for state in states])


def _shape(state: PartitionState) -> int:
    if state.owner is None:
        return WAITS
    if state.flows:
        return FLOWS
    return STOPPED if state.word in {"stopped", "was leaving"} else WAITS


# --- plotly ---------------------------------------------------------------------------------------
def _data(picture: _Picture) -> Figure:
    marker = {"symbol": packed(picture.shapes), "color": packed(picture.owners)}
    return {"y": packed(picture.rows), "marker": marker}


def _traces(boards: Boards, grid: LaneGrid, first: _Picture, theme: str) -> list[Figure]:
    role, many, tight = ROLES[theme], len(boards.partitions) > 60, _tight(boards, grid)
    squares = _data(first)
    marker: Figure = {
        "size": 9 if many else 16 if tight else 28,
        "line": {"width": 1.5, "color": role["ink"]},
    }
    hues = [role["ink"], *(look.hue for look in looks(boards.names, theme).values())]
    marker |= {"colorscale": _steps(hues), "cmin": -1.5, "cmax": len(hues) - 1.5, "showscale": False}
    squares["marker"] = marker | squares["marker"]
    label: Figure = {"mode": "markers"}
    if not many:
        label = {
            "mode": "markers+text",
            "text": _labels(boards),
            "textposition": "bottom center" if tight else "middle right",
            "textfont": {"size": 10 if tight else 13, "color": role["ink"]},
        }
    points = {
        "type": "scatter",
        "x": list(grid.column),
        "ids": [str(partition) for partition in range(len(boards.partitions))],
        "hovertext": list(boards.partitions),
        "hoverinfo": "text",
        "showlegend": False,
        **squares,
        **label,
    }
    return [points, *(_legend(name, shape, role) for name, shape in LEGEND)]


def _tight(boards: Boards, grid: LaneGrid) -> bool:
    """Whether a label beside its square would run into the next square."""
    longest = max((len(label) for label in _labels(boards)), default=0)
    return 34 + 8 * longest > WIDE / grid.columns


def _labels(boards: Boards) -> list[str]:
    """The partition's number beside its square; with its topic where the group reads several."""
    several = len({name.rpartition("-")[0] for name in boards.partitions}) > 1
    return [name if several else name.rpartition("-")[2] for name in boards.partitions]


def _legend(name: str, shape: int, role: Mapping[str, str]) -> Figure:
    line = {"width": 1.5, "color": role["ink"]}
    return {
        "type": "scatter",
        "x": [None],
        "y": [None],
        "mode": "markers",
        "name": name,
        "marker": {"symbol": shape, "size": 12, "color": role["ink3"], "line": line},
    }


def _steps(colours: list[str]) -> list[list[Any]]:
    """A colour scale of flat steps, one per number."""
    scale: list[list[Any]] = []
    for number, colour in enumerate(colours):
        scale += [[number / len(colours), colour], [(number + 1) / len(colours), colour]]
    return scale


def _axes(boards: Boards, grid: LaneGrid, theme: str) -> Figure:
    blank = {"showgrid": False, "zeroline": False, "fixedrange": True}
    return {
        "xaxis": {**blank, "range": [-0.8, grid.columns - 0.2], "showticklabels": False},
        "yaxis": {
            **blank,
            "range": [-grid.rail_rows - 0.6, len(boards.names) + 0.6],
            "tickvals": [*range(len(boards.names), 0, -1), -1],
            "ticktext": [*_lane_names(boards, theme), "No owner"],
            "tickfont": {"size": 13},
        },
        "shapes": _lanes(len(boards.names), grid, ROLES[theme]),
        "showlegend": True,
        "legend": {"orientation": "h", "x": 1, "xanchor": "right", "y": 1.02, "yanchor": "bottom"},
    }


def _lane_names(boards: Boards, theme: str) -> list[str]:
    """A member's label, and its name where there is room and it says more."""
    return [
        look.label if look.label.lower() == look.name.lower() else f"{look.label}  {look.name}"
        for look in looks(boards.names, theme).values()
    ]


def _lanes(members: int, grid: LaneGrid, role: Mapping[str, str]) -> list[Figure]:
    """A band behind partitions without an owner, and a line between members."""
    whole_width = {"xref": "paper", "x0": 0, "x1": 1, "layer": "below"}
    rail = {
        **whole_width,
        "type": "rect",
        "y0": -grid.rail_rows - 0.5,
        "y1": -0.5,
        "fillcolor": role["sunk"],
        "line": {"width": 0},
    }
    line = {**whole_width, "type": "line", "line": {"color": role["hairline"], "width": 1}}
    return [rail, *({**line, "y0": row + 0.5, "y1": row + 0.5} for row in range(members + 1))]


def paced(times: list[int]) -> list[int]:
    """The order of playing: each step as often as its time is long, so that time passes evenly; at least once.

    >>> paced([0, 1_000, 1_010, 3_000, 60_000])[:6]
    [0, 0, 0, 1, 2, 2]
    """
    tick_ms = max(1, (times[-1] - times[0]) // PLAYED)
    lengths = [after - at_ms for at_ms, after in pairwise(times)]
    return [step for step, length in enumerate([*lengths, 0]) for _ in range(max(1, round(length / tick_ms)))]


def _controls(names: list[str], theme: str, opening: int, order: list[int]) -> Figure:
    """Play, pause, and a slider over the moments."""
    role = ROLES[theme]
    style = {"bgcolor": role["surface"], "bordercolor": role["control"], "font": {"color": role["ink"]}}
    jump = {"mode": "immediate", "frame": {"duration": 0, "redraw": False}, "transition": {"duration": 0}}
    return {
        "updatemenus": [_buttons([names[opening + step] for step in order], style, jump)],
        "sliders": [_slider(names, opening, style, jump)],
    }


def _buttons(names: list[str], style: Figure, jump: Figure) -> Figure:
    play = {
        "fromcurrent": True,
        "frame": {"duration": PLAYED_MS, "redraw": False},
        "transition": {"duration": PLAYED_MS * 3 // 4, "easing": "cubic-in-out"},
    }
    return {
        "type": "buttons",
        "direction": "left",
        "showactive": False,
        "x": 0,
        "xanchor": "right",
        "y": -0.02,
        "yanchor": "top",
        "pad": {"t": 24, "r": 16},
        **style,
        "buttons": [
            {"label": "Play", "method": "animate", "args": [names, play]},
            {"label": "Pause", "method": "animate", "args": [[None], jump]},
        ],
    }


def _slider(names: list[str], opening: int, style: Figure, jump: Figure) -> Figure:
    return {
        "active": opening,
        "x": 0,
        "len": 1,
        "y": -0.02,
        "pad": {"t": 14},
        "ticklen": 0,
        "minorticklen": 0,
        **style,
        "currentvalue": {"prefix": "", "suffix": " s", "xanchor": "left", "font": {"size": 16}},
        "steps": [{"label": name, "method": "animate", "args": [[name], jump]} for name in names],
    }
