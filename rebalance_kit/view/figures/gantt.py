"""The Gantt chart: a row a partition, the bar is its owner, and whatever stands still is patterned.

Beyond forty partitions those of the same fate share a row, so that nothing is averaged away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from rebalance_kit.model.trace import Trace
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.board.segments import Segment, segments_of
from rebalance_kit.view.board.states import Mark
from rebalance_kit.view.style.palettes import ROLES
from rebalance_kit.view.style.showing import Figure, base_layout, visible_lines
from rebalance_kit.view.style.theme import PATTERNS, PLOTLY_PATTERNS, looks
from rebalance_kit.view.words.descriptions import describe_gantt

ROWS_UP_TO = 40
LEGEND_UP_TO = 12
STANDING = ("owner dead, frozen or busy", "no owner", "callback or hand-over", "new, no record yet")
KIND_OF = {
    "stopped": STANDING[0],
    "was leaving": STANDING[0],
    "zombie": STANDING[0],
    "no owner": STANDING[1],
    "callback": STANDING[2],
    "give up": STANDING[2],
    "new": STANDING[3],
}


def gantt_figure(trace: Trace, theme: str = "light", group: str | None = None) -> Figure:
    """A plotly figure (plain values) of one run; time in seconds runs to the right."""
    boards = Boards(trace, group)
    rows = _rows(boards)
    role = ROLES[theme]
    title = f"{trace.meta.get('title') or trace.meta.get('scenario') or trace.run_id} · {trace.label}"
    layout = base_layout(
        theme, title, describe_gantt(trace), max(300, 170 + (26 if len(rows) <= 24 else 15) * len(rows))
    )
    labels = list(rows)
    marks = _shown(boards.marks)
    layout |= {
        "barmode": "overlay",
        "bargap": 0.28,
        "xaxis": {
            "title": {"text": "seconds"},
            "range": [0, boards.end_ms / 1000],
            "gridcolor": role["hairline"],
            "zeroline": False,
        },
        "yaxis": {
            "categoryorder": "array",
            "categoryarray": labels[::-1],
            "automargin": True,
            "tickmode": "array",
            "tickvals": labels,
            "tickfont": {"size": 13 if len(labels) <= 24 else 10},
            "gridcolor": role["surface"],
        },
        "shapes": visible_lines(
            [
                (
                    mark.at_ms / 1000,
                    "solid" if mark.kind == "fault" else "dot",
                    "alert" if mark.kind == "fault" else "ink3",
                )
                for mark in marks
            ],
            role,
        ),
        "annotations": [_label(mark, place, role, boards.end_ms) for place, mark in enumerate(marks)],
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 0, "yref": "container", "yanchor": "bottom"},
    }
    layout["margin"] |= {"t": 110, "b": 90}
    layout["title"] |= {"y": 0.98, "yanchor": "top", "yref": "container"}
    return {"data": _bars(boards, rows, theme), "layout": layout}


def _rows(boards: Boards) -> dict[str, list[Segment]]:
    """Row labels with their bars; many partitions of one fate are one row."""
    if len(boards.partitions) <= ROWS_UP_TO:
        return {name: segments_of(boards, name) for name in boards.partitions}
    fates: dict[tuple[Segment, ...], list[str]] = {}
    for name in boards.partitions:
        fates.setdefault(tuple(segments_of(boards, name)), []).append(name)
    return {
        f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0]: list(bars)
        for bars, names in fates.items()
    }


def _bars(boards: Boards, rows: dict[str, list[Segment]], theme: str) -> list[Figure]:
    role = ROLES[theme]
    found: list[Figure] = []
    for one in looks(boards.names, theme).values():
        bars = [
            (label, bar)
            for label, bars in rows.items()
            for bar in bars
            if bar.flows and bar.owner == one.name
        ]
        pattern = {
            "shape": PLOTLY_PATTERNS[PATTERNS.index(one.pattern)],
            "fgcolor": one.on_hue,
            "bgcolor": one.hue,
            "size": 6,
            "solidity": 0.25,
        }
        trace = _trace(one.name, bars, {"color": one.hue, "line": {"width": 0}, "pattern": pattern})
        found.append(trace | {"showlegend": len(boards.names) <= LEGEND_UP_TO})
    styles = {
        STANDING[0]: {
            "color": role["surface"],
            "line": {"width": 1, "color": role["alert"]},
            "pattern": {
                "shape": "x",
                "fgcolor": role["alert"],
                "bgcolor": role["surface"],
                "size": 6,
                "solidity": 0.3,
            },
        },
        STANDING[1]: {
            "color": role["surface"],
            "line": {"width": 1, "color": role["ink"]},
            "pattern": {
                "shape": ".",
                "fgcolor": role["ink"],
                "bgcolor": role["surface"],
                "size": 5,
                "solidity": 0.25,
            },
        },
        STANDING[2]: {
            "color": role["surface"],
            "line": {"width": 1, "color": role["ink3"]},
            "pattern": {
                "shape": "/",
                "fgcolor": role["ink3"],
                "bgcolor": role["surface"],
                "size": 6,
                "solidity": 0.4,
            },
        },
        STANDING[3]: {
            "color": role["surface"],
            "line": {"width": 1, "color": role["ink3"]},
            "pattern": {
                "shape": "-",
                "fgcolor": role["ink3"],
                "bgcolor": role["surface"],
                "size": 5,
                "solidity": 0.3,
            },
        },
    }
    for kind, marker in styles.items():
        bars = [
            (label, bar)
            for label, bars in rows.items()
            for bar in bars
            if not bar.flows and KIND_OF.get(bar.word, STANDING[2]) == kind
        ]
        found.append(_trace(kind, bars, marker))
    return [one for one in found if one["y"]]


def _trace(name: str, bars: list[tuple[str, Segment]], marker: Figure) -> Figure:
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "marker": marker,
        "y": [label for label, _ in bars],
        "base": [bar.begin_ms / 1000 for _, bar in bars],
        "x": [(bar.end_ms - bar.begin_ms) / 1000 for _, bar in bars],
        "hovertext": [
            f"{bar.owner or 'no owner'}, {bar.word}<br>{bar.begin_ms / 1000:.3f}–{bar.end_ms / 1000:.3f} s"
            for _, bar in bars
        ],
        "hoverinfo": "text",
    }


def _shown(marks: Iterable[Mark]) -> list[Mark]:
    """Marks with a label of their own: what was done, generations and epochs, timers; at most 14."""
    kept = [mark for mark in marks if mark.words != "rebalance begins"]
    if len(kept) <= 14:
        return kept
    return [mark for mark in kept if mark.kind in {"fault", "timer", "action"}][:14]


def _label(mark: Mark, place: int, role: Mapping[str, str], end_ms: int) -> Figure:
    late = mark.at_ms > 0.75 * end_ms
    return {
        "x": mark.at_ms / 1000,
        "xref": "x",
        "y": 1,
        "yref": "paper",
        "yshift": 4 + 16 * (place % 3),
        "yanchor": "bottom",
        "xanchor": "right" if late else "left",
        "showarrow": False,
        "text": mark.words,
        "font": {"size": 11.5, "color": role["alert"] if mark.kind == "fault" else role["ink2"]},
    }
