"""The Gantt chart, as a plotly figure and as SVG.

The Gantt chart: a row per partition, a bar per owner, and whatever goes unread is patterned; a pattern says nothing else.

Beyond forty partitions those of the same fate share a row, so that nothing is averaged away. Where rows would still be many,
those of unlike owners that fare alike share one, which shows the worst of them: the row that decides keeps its own.

The Gantt chart as an SVG picture: the bars of ``gantt``, for pages without plotly. Each bar says itself when it is pointed at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from rebalance_kit.model.trace import Trace
from rebalance_kit.view.board.boards import Boards, Segment, segments_of
from rebalance_kit.view.board.states import ABSENT, Mark
from rebalance_kit.view.kinds import MarkKind
from rebalance_kit.view.style.showing import WIDTH, Figure, Picture, base_layout, closed, visible_lines, words
from rebalance_kit.view.style.theme import FONT, ROLES, Look, looks
from rebalance_kit.view.words.descriptions import describe_gantt

Bars = dict[tuple[bool, str | None], list[tuple[str, Segment]]]
ROWS_UP_TO, ROWS_SHOWN = 40, 24
DECIDING = frozenset({MarkKind.FAULT, MarkKind.ACTION})
"""What is done to a member: the partitions that it reads keep rows of their own."""
SEVERAL = "several members"
"""The owner that a row shared by unlike owners shows."""
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
    """Row labels with their bars; many partitions of one fate are one row, and never more rows than ``ROWS_UP_TO``."""
    if len(boards.partitions) <= ROWS_UP_TO:
        return {name: segments_of(boards, name) for name in boards.partitions}
    fates: dict[tuple[Segment, ...], list[str]] = {}
    for name in boards.partitions:
        fates.setdefault(tuple(segments_of(boards, name)), []).append(name)
    if len(fates) <= ROWS_SHOWN:
        return {_row_label(names): list(bars) for bars, names in fates.items()}
    concerned = {mark.member for mark in boards.marks if mark.kind in DECIDING and mark.member}
    alike: dict[object, list[tuple[tuple[Segment, ...], list[str]]]] = {}
    for bars, names in fates.items():
        decides = not concerned.isdisjoint({bar.owner for bar in bars})
        alike.setdefault(bars if decides else _way(bars), []).append((bars, names))
    rows = sorted(alike.values(), key=lambda fates: max(_unread_ms(bars) for bars, _ in fates), reverse=True)
    if len(rows) > ROWS_SHOWN:
        rows = [*rows[: ROWS_SHOWN - 1], [fate for fates in rows[ROWS_SHOWN - 1 :] for fate in fates]]
    return dict(_shared(fates) for fates in rows)


def _row_label(names: Sequence[str]) -> str:
    return f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0]


def _shared(fates: Sequence[tuple[tuple[Segment, ...], list[str]]]) -> tuple[str, list[Segment]]:
    """One row of several fates: the bars of the worst, whose owner it does not name."""
    worst, names = max(fates, key=lambda fate: _unread_ms(fate[0]))
    if len(fates) == 1:
        return _row_label(names), list(worst)
    count = sum(len(names) for _, names in fates)
    return f"{count} alike, worst {names[0]}", [
        bar._replace(owner=SEVERAL if bar.owner else None) for bar in worst
    ]


def _way(bars: Sequence[Segment]) -> tuple[object, ...]:
    """What becomes of a partition, whoever its owners are: read or why not, and which owner of it came back."""
    owners = list(dict.fromkeys(bar.owner for bar in bars if bar.owner))
    return tuple((bar.flows, bar.word, owners.index(bar.owner) if bar.owner else None) for bar in bars)


def _unread_ms(bars: Sequence[Segment]) -> int:
    return sum(bar.end_ms - bar.begin_ms for bar in bars if not bar.flows and bar.word != ABSENT.word)


def _flowing(boards: Boards, bars: Bars, theme: str) -> list[Figure]:
    """A trace per member: the bars of partitions that it reads."""
    traces = [
        _trace(look.name, own, {"color": look.hue, "line": {"width": 0}})
        | {"showlegend": len(boards.names) <= LEGEND_UP_TO}
        for look in looks(boards.names, theme).values()
        if (own := bars.get((True, look.name)))
    ]
    if own := bars.get((True, SEVERAL)):
        traces.append(_trace(SEVERAL, own, {"color": ROLES[theme]["ink3"], "line": {"width": 0}}))
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


TOP, MARK_ROWS, MARK_ROW, RIGHT, LETTER = 40, 3, 15, 16, 6.4
TICKS_S = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600)
HATCHES: Mapping[str, str] = {
    "/": "M-1 1 1 -1M0 6 6 0M5 7 7 5",
    "x": "M0 0 6 6M0 6 6 0",
    "-": "M0 3H6",
    ".": "M3 3h.01",
}
"""A tile of six by six pixels for each of plotly's patterns."""


@dataclass(frozen=True, slots=True)
class _Chart:
    """Where things stand, and in which colours; ``name`` keeps the ids of two charts of one page apart."""

    name: str
    role: Mapping[str, str]
    left: float
    since_ms: int
    end_ms: int
    rows: Mapping[str, int]
    row_height: int

    @property
    def top(self) -> int:
        return TOP + MARK_ROWS * MARK_ROW

    @property
    def bottom(self) -> int:
        return self.top + self.row_height * len(self.rows)

    def x(self, at_ms: float) -> float:
        share = (at_ms - self.since_ms) / max(1, self.end_ms - self.since_ms)
        return self.left + (WIDTH - RIGHT - self.left) * share


def gantt_svg(
    boards: Boards, theme: str = "light", name: str = "gantt", shown_ms: tuple[int, int] | None = None
) -> Picture:
    """The chart of one run, or of a stretch of it, with its text twin; ``name`` begins the ids in it."""
    trace = boards.trace
    since, until = shown_ms or (0, boards.end_ms)
    rows = {label: _within(bars, since, until) for label, bars in gantt_rows(boards).items()}
    chart, seen = _chart(name, theme, (since, until), list(rows)), looks(boards.names, theme)
    bars = dict(sorted(bars_by_drawing(rows).items(), key=lambda each: not each[0][0]))
    fills = {key: f"{name}-{number}" for number, key in enumerate(bars)}
    legend, height = _legend(chart, fills, seen)
    title = f"{trace.meta.get('title') or trace.meta.get('scenario') or trace.run_id} · {trace.label}"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="100%" role="img" font-family="{escape(FONT, quote=True)}" style="max-width:{WIDTH}px;height:auto">',
        f"<defs>{''.join(_fill(fill, key, seen, chart.role) for key, fill in fills.items())}</defs>",
        words(4, 20, title, colour=chart.role["ink"], bold=True, size=16),
        *_axis(chart),
        *_row_names(chart),
    ]
    for key, own in bars.items():
        parts += [_bar(chart, label, bar, fills[key], seen.get(key[1] or "")) for label, bar in own]
    text = describe_gantt(boards)
    marks = [mark for mark in labelled_marks(boards.marks) if since <= mark.at_ms <= until]
    return Picture(closed([*parts, *_marks(chart, marks), *legend], title, text), text)


def _within(bars: Sequence[Segment], since_ms: int, until_ms: int) -> list[Segment]:
    """The bars of a stretch, cut at its ends."""
    return [
        bar._replace(begin_ms=max(bar.begin_ms, since_ms), end_ms=min(bar.end_ms, until_ms))
        for bar in bars
        if bar.end_ms >= since_ms and bar.begin_ms <= until_ms
    ]


def _chart(name: str, theme: str, shown_ms: tuple[int, int], labels: list[str]) -> _Chart:
    """The chart's measures: room for the longest label at the left, low rows where there are many."""
    left = min(260.0, 22 + 7.2 * max((len(label) for label in labels), default=0))
    rows = {label: number for number, label in enumerate(labels)}
    return _Chart(name, ROLES[theme], left, *shown_ms, rows, 26 if len(labels) <= 24 else 15)


def _fill(name: str, key: tuple[bool, str | None], seen: Mapping[str, Look], role: Mapping[str, str]) -> str:
    """The pattern of one kind of bar: a member's hue, or the hatch of a reason."""
    flows, what = key
    ground, hatch = role["surface"], ""
    if flows:
        look = seen.get(what or "")
        ground = look.hue if look else role["ink3"]
    else:
        pattern = PATTERN_OF[what or ""]
        wide = 2 if pattern.shape == "." else 1
        hatch = f'<path d="{HATCHES[pattern.shape]}" stroke="{role[pattern.role]}" stroke-width="{wide}" stroke-linecap="round"/>'
    return f'<pattern id="{name}" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="{ground}"/>{hatch}</pattern>'


def _axis(chart: _Chart) -> Iterator[str]:
    seconds = (chart.end_ms - chart.since_ms) / 1000
    step = next((tick for tick in TICKS_S if seconds / tick <= 10), TICKS_S[-1])
    first = -(-chart.since_ms // round(step * 1000))
    for number in range(first, int(chart.end_ms / 1000 / step) + 1):
        x = chart.x(number * step * 1000)
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{chart.top}" y2="{chart.bottom}" stroke="{chart.role["hairline"]}"/>'
        unit = " s" if number == first else ""
        yield words(
            x,
            chart.bottom + 17,
            f"{number * step:g}{unit}",
            colour=chart.role["ink2"],
            size=12,
            anchor="middle",
        )


def _row_names(chart: _Chart) -> Iterator[str]:
    size = 13 if chart.row_height > 20 else 10.5
    for label, row in chart.rows.items():
        y = chart.top + (row + 0.5) * chart.row_height + size * 0.35
        yield words(chart.left - 10, y, label, colour=chart.role["ink"], size=size, anchor="end")


def _bar(chart: _Chart, label: str, bar: Segment, fill: str, look: Look | None) -> str:
    """One bar; that of a member has its label inside where there is room."""
    begin, end = chart.x(bar.begin_ms), chart.x(bar.end_ms)
    height = chart.row_height * 0.72
    y = chart.top + chart.rows[label] * chart.row_height + chart.row_height * 0.14
    says = (
        f"{label}: {bar.owner or 'no owner'}, {bar.word}, {bar.begin_ms / 1000:.3f}–{bar.end_ms / 1000:.3f} s"
    )
    edge = "" if look else f' stroke="{chart.role["control"]}"'
    drawn = f'<rect x="{begin:.1f}" y="{y:.1f}" width="{max(0.6, end - begin):.1f}" height="{height:.1f}" rx="2" fill="url(#{fill})"{edge}><title>{escape(says)}</title></rect>'
    if look is None or chart.row_height < 20 or end - begin < 14 + 8 * len(look.label):
        return drawn
    return drawn + words(
        begin + 5, y + height * 0.5 + 4.2, look.label, colour=look.on_hue, bold=True, size=12
    )


def _marks(chart: _Chart, marks: list[Mark]) -> Iterator[str]:
    """A line per mark, and its words in the first of three rows that is free; where none is, the line says them."""
    marks = sorted(marks, key=lambda each: each.at_ms)
    spans = [_span(chart, mark) for mark in marks]
    for mark, (begin, _), row in zip(marks, spans, free_rows(spans), strict=True):
        fault, x = mark.kind == "fault", chart.x(mark.at_ms)
        colour, dash = chart.role["alert" if fault else "ink3"], "" if fault else ' stroke-dasharray="2 3"'
        above = TOP + row * MARK_ROW + 12 if row < MARK_ROWS else chart.top
        yield f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{above}" y2="{chart.bottom}" stroke="{colour}"{dash}><title>{escape(mark.words)}</title></line>'
        if row < MARK_ROWS:
            yield words(
                begin + 2,
                TOP + row * MARK_ROW + 10,
                mark.words,
                colour=colour if fault else chart.role["ink2"],
                size=11.5,
            )


def _span(chart: _Chart, mark: Mark) -> tuple[float, float]:
    """From where to where a mark's words reach, with some room behind them."""
    x, width = chart.x(mark.at_ms), LETTER * len(mark.words)
    begin = x - width if x + width > WIDTH - RIGHT else x
    return begin, begin + width + 8


def _legend(
    chart: _Chart, fills: Mapping[tuple[bool, str | None], str], seen: Mapping[str, Look]
) -> tuple[list[str], int]:
    """Swatches below the axis in as many lines as they need, and the height of the whole picture."""
    x, y = 4.0, chart.bottom + 30
    parts: list[str] = []
    for (flows, what), fill in fills.items():
        if flows and len(seen) > LEGEND_UP_TO and what in seen:
            continue
        wide = 38 + 7 * len(what or "")
        if x + wide > WIDTH:
            x, y = 4.0, y + 20
        parts.append(
            f'<rect x="{x:g}" y="{y}" width="16" height="13" rx="2" fill="url(#{fill})" stroke="{chart.role["control"]}"/>'
        )
        parts.append(words(x + 22, y + 11, what or "", colour=chart.role["ink2"], size=12))
        x += wide
    return parts, y + 22
