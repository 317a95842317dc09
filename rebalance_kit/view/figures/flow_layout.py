"""Where things stand in the flow animation, and what of it never changes: lanes, names, the unread of the whole run, events.

Places are pixels of a figure as wide as the page of a notebook; a wider one stretches them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from rebalance_kit.view.board.boards import Boards, segments_of
from rebalance_kit.view.board.states import Mark
from rebalance_kit.view.figures.gantt import free_rows
from rebalance_kit.view.kinds import MarkKind
from rebalance_kit.view.style.showing import Figure
from rebalance_kit.view.style.theme import ROLES, looks
from rebalance_kit.view.words.phrases import seconds

WIDE, BETWEEN = 840, 18
TOP, LANE, LINE, RAIL_HEAD = 82, 46, 28, 20
STRIP_ROW, LETTER = 34, 7
OUT_OF_SIGHT = -4000
EVENTS_UP_TO, ACCOUNTS_UP_TO = 5, 9
EVENT_KINDS = frozenset({MarkKind.FAULT, MarkKind.ACTION, MarkKind.TIMER})
FAINT = "73"
"""The opacity of a cross, as the last two digits of a colour: 0.45."""
MANY = 60
"""From so many partitions on a tile has no number."""


@dataclass(frozen=True, slots=True)
class FlowGrid:
    """Panels beside each other, in each a lane per member and below them the partitions without owner."""

    panels: int
    members: int
    head: int
    columns: int
    pitch: int
    lane: int
    rail: int
    strips: int
    since_ms: int
    until_ms: int
    record_below: ClassVar[int] = 14
    strip_left: ClassVar[float] = 0.16

    @property
    def panel(self) -> float:
        """The width of a panel."""
        return (WIDE - BETWEEN * (self.panels - 1)) / self.panels

    @property
    def letters(self) -> int:
        """How many letters a line of a sentence has."""
        return int(self.panel / 6.9)

    @property
    def depth(self) -> int:
        """From the top of the panels to the foot of the rail."""
        return TOP + self.members * self.lane + self.rail

    @property
    def height(self) -> int:
        """The height of the figure."""
        return 60 + 84 + self.depth + 58 + self.strips * STRIP_ROW

    @property
    def board_from(self) -> float:
        """The share of the plot that lies below the panels."""
        return 1 - self.depth / (self.height - 144)

    @property
    def tile(self) -> int:
        """The side of a tile."""
        return min(24, self.pitch - 2)

    def left(self, panel: int) -> float:
        """Where a panel begins."""
        return panel * (self.panel + BETWEEN)

    def lane_top(self, row: int) -> int:
        """The upper edge of a member's lane; the row below the last one is the rail."""
        return -TOP - row * self.lane

    def place(self, panel: int, row: int, place: int) -> tuple[int, int]:
        """Where the tile stands that is so many places from the left in a member's lane, or in the rail (row -1)."""
        if row < 0:
            columns = max(1, int((self.panel - 16) // self.pitch))
            across, down = place % columns, place // columns
            x = self.left(panel) + 10 + self.pitch / 2 + across * self.pitch
            return round(x), self.lane_top(self.members) - RAIL_HEAD - 16 - down * LINE
        across, down = place % self.columns, place // self.columns
        x = self.left(panel) + self.head + self.pitch / 2 + across * self.pitch
        return round(x), self.lane_top(row) - 18 - down * LINE


class StaticParts(NamedTuple):
    """The fixed side of the traces that move, the traces that do not, and the layout."""

    moving: list[Figure]
    still: list[Figure]
    layout: Figure


def flow_grid(every: Sequence[Boards], shown: tuple[int, int]) -> FlowGrid:
    """Sizes that hold for the whole animation: the most that any lane, and the rail, ever holds."""
    panels, members = len(every), max(len(boards.names) for boards in every)
    width = (WIDE - BETWEEN * (panels - 1)) / panels
    most = max((_most(boards, shown, owned=True) for boards in every), default=1)
    loose = max((_most(boards, shown, owned=False) for boards in every), default=1)
    head = 150 if panels == 1 else 118
    room = width - head - 6
    lines = next((each for each in (1, 2, 3) if room / -(-most // each) >= 17), 4)
    columns = max(1, -(-most // lines))
    pitch = int(max(9, min(34, room // columns)))
    rail_columns = max(1, int((width - 16) // pitch))
    rail = RAIL_HEAD + 12 + max(1, -(-loose // rail_columns)) * LINE
    lane = max(LANE, lines * LINE + 10)
    return FlowGrid(panels, members, head, columns, pitch, lane, rail, panels, *shown)


def _most(boards: Boards, shown: tuple[int, int], *, owned: bool) -> int:
    """The most partitions that one member holds at once (or that nobody owns)."""
    most = 1
    since_ms, until_ms = shown
    times = [since_ms, *(at for at in boards.change_times if since_ms < at <= until_ms)]
    for board in boards.walk(times):
        held: dict[str | None, int] = {}
        for view in board.partitions:
            held[view.state.owner] = held.get(view.state.owner, 0) + 1
        most = max([most, *(count for owner, count in held.items() if (owner is not None) == owned)])
    return most


def static_parts(every: Sequence[Boards], grid: FlowGrid, theme: str) -> StaticParts:
    """Everything that is drawn once."""
    role = ROLES[theme]
    moving = [
        _tiles(every, grid, theme),
        {**_hidden("markers"), "marker": {"color": role["ink"], "line": {"width": 0}}, "cliponaxis": True},
        _discs(every, grid, theme),
        _texts(every, grid, role, "doing"),
        _texts(every, grid, role, "counts"),
        _texts(every, grid, role, "causes"),
        {**_on_strip("lines"), "y": [0, len(every)], "line": {"width": 2, "color": role["ink"]}},
        _clock(len(every), role),
    ]
    still = [_names(every, grid, role), *_strips(every, role), *_legend(role)]
    return StaticParts(moving, still, _layout(every, grid, role))


def _hidden(mode: str) -> Figure:
    return {"type": "scatter", "mode": mode, "hoverinfo": "skip", "showlegend": False}


def _tiles(every: Sequence[Boards], grid: FlowGrid, theme: str) -> Figure:
    role = ROLES[theme]
    names = max((boards.names for boards in every), key=len)
    hues = [role["alert"], role["ink2"], *(look.hue for look in looks(names, theme).values())]
    scale = [[(number + edge) / len(hues), colour] for number, colour in enumerate(hues) for edge in (0, 1)]
    labels = [label for boards in every for label in _labels(boards)]
    small = grid.tile < 20
    text: Figure = {"mode": "markers"}
    if max(len(boards.partitions) for boards in every) <= MANY:
        font = {"size": 10 if small else 12, "color": role["surface"], "weight": 700}
        text = {"mode": "markers+text", "text": labels, "textposition": "middle center", "textfont": font}
    return {
        "type": "scatter",
        "ids": list(range(len(labels))),
        "hoverinfo": "text",
        "hovertext": [_account(boards, name, grid) for boards in every for name in boards.partitions],
        "showlegend": False,
        "marker": {
            "size": grid.tile,
            "colorscale": scale,
            "cmin": -2.5,
            "cmax": len(hues) - 2.5,
            "showscale": False,
            "opacity": 1,
            "line": {"width": 1, "color": role["surface"] + FAINT},
        },
        **text,
    }


def _labels(boards: Boards) -> list[str]:
    """A partition's number; where the group reads several topics, after the first letter of its own."""
    several = len({name.rpartition("-")[0] for name in boards.partitions}) > 1
    return [f"{name[0] if several else ''}{name.rpartition('-')[2]}" for name in boards.partitions]


def _discs(every: Sequence[Boards], grid: FlowGrid, theme: str) -> Figure:
    seen = [look for boards in every for look in looks(boards.names, theme).values()]
    places = list(_rows(every, grid))
    return {
        **_hidden("markers+text"),
        "x": [x + 16 for x, _ in places],
        "y": [y - 20 for _, y in places],
        "text": [label for boards in every for label in _on_discs(boards)],
        "textfont": {"size": 10, "weight": 700},
        "marker": {
            "size": 24,
            "color": [look.hue for look in seen],
            "line": {"width": 2, "color": [look.hue for look in seen]},
        },
    }


def _on_discs(boards: Boards) -> list[str]:
    """What stands on the discs: the first letters of names where that is enough, else the lab's labels."""
    letters = [name[:1].upper() for name in boards.names]
    return letters if len(set(letters)) == len(letters) else list(boards.labels.values())


def _rows(every: Sequence[Boards], grid: FlowGrid) -> Iterator[tuple[float, int]]:
    """The corner of every member's lane, panel by panel."""
    for panel, boards in enumerate(every):
        for row in range(len(boards.names)):
            yield grid.left(panel), grid.lane_top(row)


def _texts(every: Sequence[Boards], grid: FlowGrid, role: Mapping[str, str], what: str) -> Figure:
    """The fixed side of a text that changes: what members do, how many are read, what goes on."""
    panels = range(len(every))
    if what == "doing":
        places = [(x + 33, y - 29) for x, y in _rows(every, grid)]
        look = {"textposition": "middle right", "textfont": {"size": 10.5, "color": role["ink2"]}}
    elif what == "counts":
        places = [(grid.left(panel) + grid.panel, -12) for panel in panels]
        look = {"textposition": "middle left", "textfont": {"size": 14, "weight": 700}}
    else:
        places = [(grid.left(panel), -44) for panel in panels]
        look = {"textposition": "middle right", "textfont": {"size": 12, "color": role["ink2"]}}
    return {**_hidden("text"), "x": [x for x, _ in places], "y": [y for _, y in places], **look}


def _on_strip(mode: str) -> Figure:
    return {**_hidden(mode), "xaxis": "x2", "yaxis": "y2"}


def _clock(strips: int, role: Mapping[str, str]) -> Figure:
    """The time, at the head of the cursor."""
    return {
        **_on_strip("text"),
        "y": [strips],
        "cliponaxis": False,
        "textposition": "top center",
        "textfont": {"size": 13, "weight": 700, "color": role["ink"]},
    }


def _account(boards: Boards, name: str, grid: FlowGrid) -> str:
    """Of one partition: who reads it from when to when, and when and why nobody does."""
    lines = [f"{name}, {_label(boards)}"]
    bars = [
        bar
        for bar in segments_of(boards, name)
        if bar.end_ms > grid.since_ms and bar.begin_ms < grid.until_ms
    ]
    for bar in bars[:ACCOUNTS_UP_TO]:
        why = f"unread, {bar.word}"
        who = f"read by {bar.owner}" if bar.flows else f"{why} ({bar.owner})" if bar.owner else why
        lines.append(f"{seconds(bar.begin_ms)} to {seconds(bar.end_ms)}: {who}")
    return "<br>".join(lines)


def _names(every: Sequence[Boards], grid: FlowGrid, role: Mapping[str, str]) -> Figure:
    """Titles of the panels, names of members, and the rail's."""
    titled = every if len(every) > 1 else ()
    places = [(grid.left(panel), -12, _label(boards)) for panel, boards in enumerate(titled)]
    named = [name for boards in every for name in boards.names]
    places += [(x + 33, y - 9, name) for (x, y), name in zip(_rows(every, grid), named, strict=True)]
    rail = grid.lane_top(grid.members) - 11
    places += [(grid.left(panel) + 4, rail, "No owner") for panel in range(len(every))]
    return {
        **_hidden("text"),
        "x": [x for x, _, _ in places],
        "y": [y for _, y, _ in places],
        "text": [text for _, _, text in places],
        "textposition": "middle right",
        "textfont": {
            "size": [15] * len(titled) + [13] * (len(places) - len(titled)),
            "weight": [700] * len(titled) + [500] * (len(places) - len(titled)),
            "color": role["ink"],
        },
    }


def _label(boards: Boards) -> str:
    return {"consumer": "KIP-848"}.get(boards.trace.label, boards.trace.label.capitalize())


def _strips(every: Sequence[Boards], role: Mapping[str, str]) -> Iterator[Figure]:
    """How many partitions are unread, over the whole run: a row per run, linear in time."""
    for row, boards in enumerate(every):
        base = len(every) - 1 - row
        times, unread, total = _unread(boards)
        ends = [*times[1:], boards.end_ms]
        strip = _on_strip("lines")
        yield {
            **strip,
            "x": [0, boards.end_ms / 1000],
            "y": [base, base],
            "line": {"width": 1, "color": role["control"]},
        }
        yield {
            **strip,
            "x": [at / 1000 for at in [*times, boards.end_ms]],
            "y": [base + 0.78 * count / total for count in [*unread, unread[-1]]],
            "line": {"width": 0, "color": role["alert"], "shape": "hv"},
            "fill": "tonexty",
            "fillcolor": role["alert"],
            "hoverinfo": "text",
            "hovertext": [
                f"{count} of {total} unread<br>{seconds(at)} to {seconds(until)}"
                for at, until, count in zip(times, ends, unread, strict=True)
            ],
        }


def _unread(boards: Boards) -> tuple[list[int], list[int], int]:
    """Moments at which the number of unread partitions changes, the numbers, and how many partitions there are at most."""
    times: list[int] = []
    counts: list[int] = []
    total = 1
    for board in boards.walk(
        [at for at in {0: None, **dict.fromkeys(boards.change_times)} if at <= boards.end_ms]
    ):
        unread = len(board.partitions) - board.flowing
        total = max(total, len(board.partitions))
        if not counts or counts[-1] != unread:
            times.append(board.at_ms)
            counts.append(unread)
    return times, counts, total


def _legend(role: Mapping[str, str]) -> Iterator[Figure]:
    for name, symbol, colour, size in (
        ("read", "square", role["ink3"], 12),
        ("unread though it has an owner", "square-x", role["alert"], 12),
        ("no owner", "diamond", role["ink2"], 12),
        ("records; unread they pile up", "circle", role["ink"], 6),
    ):
        yield {
            "type": "scatter",
            "x": [OUT_OF_SIGHT],
            "y": [OUT_OF_SIGHT],
            "mode": "markers",
            "name": name,
            "marker": {
                "symbol": symbol,
                "size": size,
                "color": colour,
                "line": {"width": 1, "color": role["surface"]},
            },
        }


def _layout(every: Sequence[Boards], grid: FlowGrid, role: Mapping[str, str]) -> Figure:
    blank = {"showgrid": False, "zeroline": False, "fixedrange": True, "showticklabels": False}
    strip_top = grid.board_from - 58 / (grid.height - 144)
    since_s, end_s = grid.since_ms / 1000, grid.until_ms / 1000
    rows = [len(every) - 1 - row + 0.35 for row in range(len(every))]
    small = {"size": 12, "color": role["ink2"]}
    return {
        "xaxis": {**blank, "range": [-4, WIDE + 4]},
        "yaxis": {**blank, "range": [-grid.depth, 0], "domain": [grid.board_from, 1]},
        "xaxis2": {
            "domain": [FlowGrid.strip_left, 1],
            "range": [since_s, end_s],
            "anchor": "y2",
            "ticksuffix": " s",
            "tickfont": small,
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
        },
        "yaxis2": {
            **blank,
            "domain": [0, strip_top],
            "range": [-0.08, len(every)],
            "anchor": "x2",
            "showticklabels": True,
            "tickvals": rows,
            "ticktext": [f"unread, {_label(boards)}" if len(every) > 1 else "unread" for boards in every],
            "tickfont": small,
        },
        "shapes": [*_boxes(every, grid, role), *(_line(mark.at_ms, role) for mark in events(every, grid))],
        "annotations": list(_said(every, grid, strip_top, role)),
        "showlegend": True,
        "legend": {
            "orientation": "h",
            "traceorder": "normal",
            "x": 1,
            "xanchor": "right",
            "y": 1.01,
            "yanchor": "bottom",
            "font": {"size": 11.5},
        },
        "hovermode": "closest",
    }


def _boxes(every: Sequence[Boards], grid: FlowGrid, role: Mapping[str, str]) -> Iterator[Figure]:
    """A frame per lane, and a band for what has no owner."""
    for panel, boards in enumerate(every):
        x0, x1 = grid.left(panel), grid.left(panel) + grid.panel
        for row in range(len(boards.names)):
            top = grid.lane_top(row)
            yield _box(x0, x1, top, top - grid.lane + 4, {"line": {"color": role["hairline"], "width": 1}})
        top = grid.lane_top(grid.members)
        yield _box(x0, x1, top, -grid.depth + 2, {"line": {"width": 0}, "fillcolor": role["sunk"]})


def _box(x0: float, x1: float, y0: float, y1: float, looks_like: Mapping[str, Any]) -> Figure:
    return {
        "type": "rect",
        "xref": "x",
        "yref": "y",
        "x0": x0,
        "x1": x1,
        "y0": y0,
        "y1": y1,
        "layer": "below",
        **looks_like,
    }


def _line(at_ms: int, role: Mapping[str, str]) -> Figure:
    return {
        "type": "line",
        "xref": "x2",
        "yref": "y2 domain",
        "x0": at_ms / 1000,
        "x1": at_ms / 1000,
        "y0": 0,
        "y1": 1,
        "line": {"color": role["ink"], "width": 1, "dash": "dot"},
    }


def events(every: Sequence[Boards], grid: FlowGrid) -> list[Mark]:
    """What was done to the group, and sessions that ended, of the first run; the strongest where there are many."""
    within = (mark for mark in every[0].marks if grid.since_ms <= mark.at_ms <= grid.until_ms)
    marks = [mark for mark in within if mark.kind in EVENT_KINDS]
    faults = [mark for mark in marks if mark.kind is not MarkKind.TIMER]
    return (marks if len(marks) <= EVENTS_UP_TO else faults)[:EVENTS_UP_TO]


def _said(
    every: Sequence[Boards], grid: FlowGrid, strip_top: float, role: Mapping[str, str]
) -> Iterator[Figure]:
    """The events in words, above the strip; one that would lie on another stands a line higher."""
    span, wide = grid.until_ms - grid.since_ms, WIDE * (1 - FlowGrid.strip_left)
    marks = events(every, grid)
    said = [f"{mark.words}, {seconds(mark.at_ms)}" for mark in marks]
    spans = []
    for mark, words in zip(marks, said, strict=True):
        share = LETTER * len(words) / wide
        begin = max(0.0, min((mark.at_ms - grid.since_ms) / span, 1 - share))
        spans.append((begin, begin + share))
    for mark, words, (begin, _), row in zip(marks, said, spans, free_rows(spans), strict=True):
        yield {
            "text": words,
            "xref": "x2 domain",
            "yref": "paper",
            "x": begin,
            "y": strip_top,
            "yshift": 26 + 16 * min(row, 1),
            "xanchor": "left",
            "showarrow": False,
            "font": {"size": 12, "color": role["alert"] if mark.kind is MarkKind.FAULT else role["ink"]},
        }
