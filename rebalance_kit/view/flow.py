"""The flow animation: members as rows, partitions as squares that move, a play button and a slider.

The canned form of the lab for notebooks, reports and slides. Positions are small typed arrays and
frames carry only what changes, so that 50 members with 500 partitions stay light.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rebalance_kit.model.trace import Trace
from rebalance_kit.view.frames import Frames
from rebalance_kit.view.palettes import ROLES
from rebalance_kit.view.show import Figure, base_layout, packed
from rebalance_kit.view.state import PartitionState
from rebalance_kit.view.text import describe_flow
from rebalance_kit.view.theme import Look, looks

FRAMES = 120
COLOURED_UP_TO = 24
SQUARE = 1


@dataclass(frozen=True, slots=True)
class Grid:
    """Where squares stand: ``columns`` a row; members from row 1 up, those without owner from -1 down."""

    columns: int
    members: int
    rail_rows: int


def flow_figure(trace: Trace, theme: str = "light", frames: int = FRAMES, group: str | None = None) -> Figure:
    """A plotly figure (plain values) that plays a run in at most ``frames`` steps.

    Steps fall on the moments at which something changed, so a pause of some milliseconds is seen.
    """
    held = Frames(trace, group)
    times = frame_times(held, frames)
    grid = _grid(held)
    places = _Places(held, grid)
    pictures = [_picture(held, at_ms, places) for at_ms in times]
    seen = looks(held.names, theme)
    coloured = len(held.names) <= COLOURED_UP_TO
    names = [f"{at_ms / 1000:.2f}" for at_ms in times]
    steps = [
        {"name": name, "data": _data(picture, held, coloured=coloured), "traces": [0, 1]}
        for name, picture in zip(names, pictures, strict=True)
    ]
    title = f"{trace.meta.get('title') or trace.meta.get('scenario') or trace.run_id} · {trace.label}"
    layout = base_layout(
        theme, title, describe_flow(trace), max(360, 150 + 22 * (grid.members + grid.rail_rows))
    )
    layout |= _axes(held, grid, theme) | _controls(names, theme)
    return {
        "data": _traces(held, pictures[0], seen, theme, coloured=coloured),
        "layout": layout,
        "frames": steps,
    }


def frame_times(held: Frames, count: int) -> list[int]:
    """At most ``count`` moments: every change where they fit, and steps of even length between."""
    changes = [at_ms for at_ms in held.change_times if at_ms <= held.end_ms]
    if len(changes) > count * 3 // 4:
        keep = count * 3 // 4
        changes = [changes[place * (len(changes) - 1) // (keep - 1)] for place in range(keep)]
    room = max(2, count - len(changes))
    even = [place * held.end_ms // (room - 1) for place in range(room)]
    return sorted({*changes, *even})[: max(count, 2)]


# --- places ---------------------------------------------------------------------------------------
def _grid(held: Frames) -> Grid:
    most = 1
    for at_ms in held.change_times:
        counts: dict[str, int] = {}
        for track in held.partitions.values():
            owner = track.at(at_ms).owner
            if owner is not None:
                counts[owner] = counts.get(owner, 0) + 1
        most = max([most, *counts.values()])
        if most >= len(held.partitions):
            break
    columns = min(120, max(most, 8, -(-len(held.partitions) // 8)))
    return Grid(columns, len(held.names), max(1, -(-len(held.partitions) // columns)))


class _Places:
    """Every square keeps its place in a row for as long as it stays there."""

    def __init__(self, held: Frames, grid: Grid) -> None:
        self.rows = {name: len(held.names) - place for place, name in enumerate(held.names)}
        self.grid = grid
        self.here: dict[str, tuple[str | None, int]] = {}
        self.taken: dict[str | None, set[int]] = {}

    def at(self, states: dict[str, PartitionState]) -> list[tuple[int, int]]:
        """Places as (column, row) after the given states, which must come in order of time."""
        moved = [
            name
            for name, state in states.items()
            if name not in self.here or self.here[name][0] != state.owner
        ]
        for name in moved:
            if name in self.here:
                owner, slot = self.here[name]
                self.taken[owner].discard(slot)
        for name in moved:
            used = self.taken.setdefault(states[name].owner, set())
            slot = next(place for place in range(len(states)) if place not in used)
            used.add(slot)
            self.here[name] = (states[name].owner, slot)
        return [self._place(*self.here[name]) for name in states]

    def _place(self, owner: str | None, slot: int) -> tuple[int, int]:
        column, extra = slot % self.grid.columns, slot // self.grid.columns
        return column, -1 - extra if owner is None else self.rows[owner]


@dataclass(frozen=True, slots=True)
class _Picture:
    columns: list[int]
    rows: list[int]
    owners: list[int]
    stopped: list[int]


def _picture(held: Frames, at_ms: int, places: _Places) -> _Picture:
    states = {name: track.at(at_ms) for name, track in held.partitions.items()}
    where = places.at(states)
    order = {name: place for place, name in enumerate(held.names)}
    owners = [order.get(state.owner or "", -1) for state in states.values()]
    stopped = [place for place, state in enumerate(states.values()) if not state.flows]
    return _Picture([column for column, _ in where], [row for _, row in where], owners, stopped)


# --- plotly ---------------------------------------------------------------------------------------
def _data(picture: _Picture, held: Frames, *, coloured: bool) -> list[Figure]:
    squares: Figure = {"x": packed(picture.columns), "y": packed(picture.rows, _kind(held))}
    if coloured:
        squares["marker"] = {"color": packed(picture.owners)}
    x, y = ([held_[place] for place in picture.stopped] for held_ in (picture.columns, picture.rows))
    return [
        squares,
        {"x": packed(x), "y": packed(y, _kind(held)), "ids": [str(place) for place in picture.stopped]},
    ]


def _kind(held: Frames) -> str:
    return "i1" if len(held.names) <= 120 else "i2"


def _traces(
    held: Frames, first: _Picture, seen: dict[str, Look], theme: str, *, coloured: bool
) -> list[Figure]:
    role, many = ROLES[theme], len(held.partitions) > 60
    squares, stops = _data(first, held, coloured=coloured)
    size = 9 if many else 30
    marker: Figure = {
        "symbol": "square",
        "size": size,
        "line": {"width": 0 if many else 1.5, "color": role["ink"]},
        "color": role["ink3"],
    }
    if coloured:
        hues = [role["surface"], *(one.hue for one in seen.values())]
        marker |= squares["marker"] | {
            "colorscale": _steps(hues),
            "cmin": -1.5,
            "cmax": len(hues) - 1.5,
            "showscale": False,
        }
    label = (
        {"mode": "markers"}
        if many
        else {
            "mode": "markers+text",
            "text": [name.rpartition("-")[2] for name in held.partitions],
            "textfont": {"size": 13, "color": role["ink"]},
            "textposition": "middle right",
        }
    )
    return [
        {"type": "scatter", **squares, "ids": [str(place) for place in range(len(held.partitions))], "marker": marker, "name": "partition", "hovertext": list(held.partitions), "hoverinfo": "text", **label},
        {"type": "scatter", **stops, "mode": "markers", "name": "stopped", "hoverinfo": "skip",
         "marker": {"symbol": "square-x", "size": size - (2 if many else 9), "color": role["surface"], "line": {"width": 1 if many else 2, "color": role["alert"]}}},
    ]  # fmt: skip


def _steps(colours: list[str]) -> list[list[Any]]:
    """A colour scale of flat steps, one a number."""
    scale: list[list[Any]] = []
    for place, colour in enumerate(colours):
        scale += [[place / len(colours), colour], [(place + 1) / len(colours), colour]]
    return scale


def _axes(held: Frames, grid: Grid, theme: str) -> Figure:
    role = ROLES[theme]
    rows = [*range(grid.members, 0, -1), -1]
    many = grid.members > 30
    words = [
        one.label
        if many
        else f"{one.label}  {one.name}"
        if one.label.lower() != one.name.lower()
        else one.name
        for one in looks(held.names, theme).values()
    ]
    blank = {"showgrid": False, "zeroline": False, "fixedrange": True}
    bands = [
        {
            "type": "rect",
            "xref": "paper",
            "x0": 0,
            "x1": 1,
            "y0": -grid.rail_rows - 0.5,
            "y1": -0.5,
            "fillcolor": role["sunk"],
            "line": {"width": 0},
            "layer": "below",
        },
        *(
            {
                "type": "line",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": row + 0.5,
                "y1": row + 0.5,
                "line": {"color": role["hairline"], "width": 1},
                "layer": "below",
            }
            for row in range(grid.members + 1)
        ),
    ]
    return {
        "xaxis": {**blank, "range": [-0.8, grid.columns - 0.2], "showticklabels": False},
        "yaxis": {**blank, "range": [-grid.rail_rows - 0.6, grid.members + 0.6], "tickvals": rows, "ticktext": [*words, "No owner"], "tickfont": {"size": 9 if many else 13}},
        "shapes": bands,
        "showlegend": True,
        "legend": {"orientation": "h", "x": 1, "xanchor": "right", "y": 1.02, "yanchor": "bottom"},
    }  # fmt: skip


def _controls(names: list[str], theme: str) -> Figure:
    role = ROLES[theme]
    jump = {"mode": "immediate", "frame": {"duration": 0, "redraw": False}, "transition": {"duration": 0}}
    run = {
        "fromcurrent": True,
        "frame": {"duration": 120, "redraw": False},
        "transition": {"duration": 90, "easing": "cubic-in-out"},
    }
    style = {"bgcolor": role["surface"], "bordercolor": role["control"], "font": {"color": role["ink"]}}
    return {
        "updatemenus": [
            {
                "type": "buttons", "direction": "left", "showactive": False, "x": 0, "xanchor": "right", "y": -0.02, "yanchor": "top", "pad": {"t": 24, "r": 16}, **style,
                "buttons": [{"label": "Play", "method": "animate", "args": [None, run]}, {"label": "Pause", "method": "animate", "args": [[None], jump]}],
            }
        ],
        "sliders": [
            {
                "active": 0, "x": 0, "len": 1, "y": -0.02, "pad": {"t": 14}, "ticklen": 0, "minorticklen": 0, **style,
                "currentvalue": {"prefix": "", "suffix": " s", "xanchor": "left", "font": {"size": 16}},
                "steps": [{"label": name, "method": "animate", "args": [[name], jump]} for name in names],
            }
        ],
    }  # fmt: skip
