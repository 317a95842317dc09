"""The Gantt chart: a row per partition, a bar per owner, and whatever goes unread is patterned.

Beyond forty partitions those of the same fate share a row, so that nothing is averaged away.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rebalance_kit.model.trace import Trace
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.board.segments import Segment, segments_of
from rebalance_kit.view.board.states import ABSENT, Mark
from rebalance_kit.view.style.showing import Figure, base_layout, visible_lines
from rebalance_kit.view.style.theme import PATTERNS, PLOTLY_PATTERNS, ROLES, looks
from rebalance_kit.view.words.descriptions import describe_gantt

Bars = dict[tuple[bool, str | None], list[tuple[str, Segment]]]
ROWS_UP_TO = 40
LABEL_ROW, LABEL_ROWS = 16, 3
LETTER_SHARE = 0.0075
"""The width of a label's letter, as a share of a chart as wide as the page of a notebook."""
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


class Pattern(NamedTuple):
    """How bars of one kind are hatched: the colour's role, and plotly's shape, size and solidity."""

    role: str
    shape: str
    size: int
    solidity: float


PATTERN_OF = {
    STANDING[0]: Pattern("alert", "x", 6, 0.3),
    STANDING[1]: Pattern("ink", ".", 5, 0.25),
    STANDING[2]: Pattern("ink3", "/", 6, 0.4),
    STANDING[3]: Pattern("ink3", "-", 5, 0.3),
}


def gantt_figure(trace: Trace, theme: str = "light", group: str | None = None) -> Figure:
    """A plotly figure (plain values) of one run; time in seconds runs to the right."""
    boards = Boards(trace, group)
    rows = gantt_rows(boards)
    title = f"{trace.meta.get('title') or trace.meta.get('scenario') or trace.run_id} · {trace.label}"
    height = max(300, 170 + (26 if len(rows) <= 24 else 15) * len(rows))
    layout = base_layout(theme, title, describe_gantt(trace), height)
    layout |= _axes(boards.end_ms, list(rows), ROLES[theme]) | _marked(boards, ROLES[theme])
    more_rows = max(
        0, max(label_rows(labelled_marks(boards.marks), boards.end_ms), default=0) + 1 - LABEL_ROWS
    )
    layout["height"] += LABEL_ROW * more_rows
    layout["margin"] |= {"t": 110 + LABEL_ROW * more_rows, "b": 90}
    layout["title"] |= {"y": 0.98, "yanchor": "top", "yref": "container"}
    bars = bars_by_drawing(rows)
    return {"data": [*_flowing(boards, bars, theme), *_standing(bars, ROLES[theme])], "layout": layout}


def _axes(end_ms: int, labels: list[str], role: Mapping[str, str]) -> Figure:
    return {
        "barmode": "overlay",
        "bargap": 0.28,
        "xaxis": {
            "title": {"text": "seconds"},
            "range": [0, end_ms / 1000],
            "gridcolor": role["hairline"],
            "zeroline": False,
        },
        "yaxis": {
            "categoryorder": "array",
            "categoryarray": labels[::-1],
            "automargin": True,
            "tickmode": "array",
            "tickvals": labels,
            "tickfont": {"size": 13 if len(labels) <= 24 else 11},
            "gridcolor": role["surface"],
        },
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 0, "yref": "container", "yanchor": "bottom"},
    }


def _marked(boards: Boards, role: Mapping[str, str]) -> Figure:
    """A line and a label per mark."""
    marks = labelled_marks(boards.marks)
    lines = [
        (mark.at_ms / 1000, *(("solid", "alert") if mark.kind == "fault" else ("dot", "ink3")))
        for mark in marks
    ]
    rows = label_rows(marks, boards.end_ms)
    return {
        "shapes": visible_lines(lines, role),
        "annotations": [
            _label(mark, row, role, boards.end_ms) for mark, row in zip(marks, rows, strict=True)
        ],
    }


def label_rows(marks: Sequence[Mark], end_ms: int) -> list[int]:
    """The row above the chart of each label, counted from below: the first in which it covers no other.

    >>> leaves = [Mark(at_ms, "action", name, f"{name} leaves") for at_ms, name in ((100, "a"), (101, "b"), (700, "c"))]
    >>> label_rows(leaves, 1000)
    [0, 1, 0]
    """
    spans = []
    for mark in marks:
        width = (len(mark.words) + 1) * LETTER_SHARE * max(end_ms, 1)
        begin = mark.at_ms - width if _late(mark, end_ms) else mark.at_ms
        spans.append((begin, begin + width))
    return free_rows(spans)


def free_rows(spans: Iterable[tuple[float, float]]) -> list[int]:
    """The first row in which each span, from its left to its right end, covers none before it.

    >>> free_rows([(0, 4), (3, 6), (4, 9)])
    [0, 1, 0]
    """
    taken: list[list[tuple[float, float]]] = []
    rows = []
    for begin, end in spans:
        free = (
            row
            for row, others in enumerate(taken)
            if all(end <= left or right <= begin for left, right in others)
        )
        row = next(free, len(taken))
        if row == len(taken):
            taken.append([])
        taken[row].append((begin, end))
        rows.append(row)
    return rows


def _late(mark: Mark, end_ms: int) -> bool:
    """Whether a label stands to the left of its line, since the chart ends soon."""
    return mark.at_ms > 0.75 * end_ms


def gantt_rows(boards: Boards) -> dict[str, list[Segment]]:
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


def _flowing(boards: Boards, bars: Bars, theme: str) -> list[Figure]:
    """A trace per member: the bars of partitions that it reads."""
    traces = []
    for look in looks(boards.names, theme).values():
        pattern = {
            "shape": PLOTLY_PATTERNS[PATTERNS.index(look.pattern)],
            "fgcolor": look.on_hue,
            "bgcolor": look.hue,
            "size": 6,
            "solidity": 0.25,
        }
        marker = {"color": look.hue, "line": {"width": 0}, "pattern": pattern}
        if own := bars.get((True, look.name)):
            traces.append(_trace(look.name, own, marker) | {"showlegend": len(boards.names) <= LEGEND_UP_TO})
    return traces


def _standing(bars: Bars, role: Mapping[str, str]) -> list[Figure]:
    """A trace per reason why partitions are not read."""
    return [
        _trace(reason, bars[False, reason], _marker(pattern, role))
        for reason, pattern in PATTERN_OF.items()
        if (False, reason) in bars
    ]


def bars_by_drawing(rows: Mapping[str, Sequence[Segment]]) -> Bars:
    """Bars by what they are drawn like: whoever reads, or the reason why nobody does."""
    bars: Bars = {}
    for label, segments in rows.items():
        for segment in segments:
            if segment.word == ABSENT.word:
                continue  # no such partition yet, or no more
            name = segment.owner if segment.flows else KIND_OF.get(segment.word, STANDING[2])
            bars.setdefault((segment.flows, name), []).append((label, segment))
    return bars


def _marker(pattern: Pattern, role: Mapping[str, str]) -> Figure:
    return {
        "color": role["surface"],
        "line": {"width": 1, "color": role[pattern.role]},
        "pattern": {
            "shape": pattern.shape,
            "fgcolor": role[pattern.role],
            "bgcolor": role["surface"],
            "size": pattern.size,
            "solidity": pattern.solidity,
        },
    }


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


def labelled_marks(marks: Iterable[Mark]) -> list[Mark]:
    """Marks with a label of their own: what was done, generations and epochs, timers; at most 14."""
    others = [mark for mark in marks if mark.words != "rebalance begins"]
    if len(others) <= 14:
        return others
    return [mark for mark in others if mark.kind in {"fault", "timer", "action"}][:14]


def _label(mark: Mark, row: int, role: Mapping[str, str], end_ms: int) -> Figure:
    return {
        "x": mark.at_ms / 1000,
        "xref": "x",
        "y": 1,
        "yref": "paper",
        "yshift": 4 + LABEL_ROW * row,
        "yanchor": "bottom",
        "xanchor": "right" if _late(mark, end_ms) else "left",
        "showarrow": False,
        "text": mark.words,
        "font": {"size": 11.5, "color": role["alert"] if mark.kind == "fault" else role["ink2"]},
    }
