"""Runs compared: a table side by side, and lag over time.

Runs side by side: one table as HTML, as a figure and as rows for the text twin.

What is least is said of draws alone, and only where they differ.

Lag over time: how many records wait, of all partitions together or partition by partition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from statistics import fmean, quantiles
from types import MappingProxyType
from typing import Any

from rebalance_kit.analysis.draws import Draws, draws_cells, verdict
from rebalance_kit.analysis.metrics import MEASURES, cells, measure
from rebalance_kit.model.trace import Trace, require_traces
from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.style.showing import Figure, base_layout
from rebalance_kit.view.style.theme import ROLES
from rebalance_kit.view.words.descriptions import describe_comparison

NOBODY: Mapping[str, str | None] = MappingProxyType({})
CHIP = '<span class="least">least</span>'


def table(traces: Sequence[Trace]) -> list[list[str]]:
    """The comparison as cells: a head of run labels, then one row per measure; – where nothing occurred."""
    return cells([trace.label for trace in traces], measure(traces))


def comparison_html(traces: Sequence[Trace]) -> str:
    """The comparison as an HTML table; one run each says nothing of which is least."""
    return _html(table(traces))


def draws_html(draws: Draws) -> str:
    """Medians with middle halves as an HTML table, and which runs differ; the one that is clearly least of a row is marked."""
    rows = draws_cells(draws)
    clearly = {each.words: verdict(draws, each).least for each in MEASURES}
    return _html(rows, clearly)


def _html(rows: Sequence[Sequence[str]], clearly: Mapping[str, str | None] = NOBODY) -> str:
    head, *body = rows
    lines = [
        "<table>",
        "<thead><tr>" + "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head) + "</tr></thead>",
        "<tbody>",
    ]
    for name, *shown in body:
        least = clearly.get(name)
        cells = [
            f"<td>{escape(cell)}{CHIP if least is not None and label == least else ''}</td>"
            for label, cell in zip(head[1:], shown, strict=True)
        ]
        lines.append(f'<tr><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>')
    return "\n".join([*lines, "</tbody></table>"])


def comparison_figure(traces: Sequence[Trace], theme: str = "light") -> Figure:
    """Unread partition-seconds of each run as bars, with the number at each bar."""
    require_traces(traces)
    values = [metrics.unread_partition_s for metrics in measure(traces)]
    role = ROLES[theme]
    layout = base_layout(
        theme, "unread partition-seconds", describe_comparison(traces), 130 + 44 * len(traces)
    )
    layout |= {
        "xaxis": {"gridcolor": role["hairline"], "zeroline": False, "rangemode": "tozero"},
        "yaxis": {"autorange": "reversed", "automargin": True},
    }
    bar = {
        "type": "bar",
        "orientation": "h",
        "y": [trace.label for trace in traces],
        "x": values,
        "text": [f"{value:,.1f}" for value in values],
        "textposition": "auto",
        "marker": {"color": role["ink3"]},
        "hoverinfo": "skip",
    }
    return {"data": [bar], "layout": layout}


_DASHES = ("solid", "dash", "dot", "dashdot")
STEP_MS = 500


def lag_rows(trace: Trace, partition: str | None = None) -> list[tuple[float, int]]:
    """Lag every half second as (seconds, records), as the lab's board has it: of ``partition`` (such as ``orders-0``), or of all."""
    boards = Boards(trace)
    chosen = [name for name in boards.partitions if partition in (None, name)]
    return [
        (at / 1000, sum(_lag(boards, name, at) for name in chosen))
        for at in range(0, boards.end_ms + 1, STEP_MS)
    ]


def _lag(boards: Boards, partition: str, at_ms: int) -> int:
    stands = boards.position(partition, at_ms)
    return 0 if stands is None else max(0, stands.log_end - stands.position)


def lag_figure(traces: Sequence[Trace], partition: str | None = None, theme: str = "light") -> Figure:
    """Records that wait, as one line per run; the lines differ by pattern, since hues belong to members."""
    role = ROLES[theme]
    layout = base_layout(
        theme, f"Lag of {partition or 'all partitions'}, records", describe_lag(traces, partition), 340
    )
    layout |= {
        "xaxis": {"title": {"text": "seconds"}, "gridcolor": role["hairline"], "zeroline": False},
        "yaxis": {"gridcolor": role["hairline"], "rangemode": "tozero", "zeroline": False},
        "legend": {"orientation": "h", "y": 1.08, "x": 0, "yanchor": "bottom"},
        "margin": {"l": 80, "r": 20, "t": 90, "b": 60},
        "hovermode": "x unified",
    }
    lines = []
    for number, trace in enumerate(traces):
        rows = lag_rows(trace, partition)
        lines.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": trace.label,
                "x": [at for at, _ in rows],
                "y": [lag for _, lag in rows],
                "line": {"color": role["ink"], "width": 2.5, "dash": _DASHES[number % len(_DASHES)]},
            }
        )
    return {"data": lines, "layout": layout}


def describe_lag(traces: Sequence[Trace], partition: str | None = None) -> str:
    """The chart in words: for each run where lag stood at its greatest, and when it was back."""
    lines = []
    for trace in traces:
        rows = lag_rows(trace, partition)
        if not rows or not any(lag for _, lag in rows):
            lines.append(f"{trace.label}: no record waits.")
            continue
        peak_s, peak = max(rows, key=lambda row: row[1])
        usual = sorted(lag for _, lag in rows)[len(rows) // 2]
        back = next((at for at, lag in rows if at > peak_s and lag <= 2 * usual), None)
        ended = (
            "not back to its usual size by the end"
            if back is None
            else f"back to its usual size at {back:.0f} s"
        )
        lines.append(f"{trace.label}: greatest lag {peak:,} records at {peak_s:.0f} s; {ended}.")
    return "\n".join(lines)


# Figures of a sweep: what a setting buys and what it costs, one line per protocol, with the quartiles over the seeds.
#
# Hues belong to members, so protocols differ by ink, dash and marker. Every figure carries its text twin.


Row = Mapping[str, Any]
STYLES = (
    ("solid", "circle", "ink"),
    ("dash", "square", "ink2"),
    ("dot", "diamond", "ink3"),
    ("dashdot", "x", "ink2"),
)

#: What a column of a sweep is called on an axis.
TITLES: Mapping[str, str] = {
    "crash_detect_s": "a crash is found after (s)",
    "false_alarms": "live members removed per run",
    "group_gap_s": "longest gap of the group (s)",
    "unread_partition_s": "unread partition-seconds",
    "rebalances": "rebalances per run",
    "handovers": "hand-overs",
    "partitions_moved": "elsewhere at the end",
}
#: What prose calls a protocol, where that is not its value in ``group.protocol``.
NAMES: Mapping[str, str] = {"consumer": "KIP-848"}
#: Mostly 0, so the mean tells more than the median.
COUNTED = frozenset({"false_alarms"})


@dataclass(frozen=True, slots=True)
class Point:
    """One protocol at one value: the middle (median, of counts the mean), the quartiles, and of how many runs."""

    protocol: str
    at: Any
    middle: float
    low: float
    high: float
    runs: int


def points(rows: Sequence[Row], x: str, y: str) -> tuple[Point, ...]:
    """Runs without an error that have both, by protocol (in order of appearance) and value."""
    values: dict[tuple[str, Any], list[float]] = {}
    for row in rows:
        if row["error"] is None and row[y] is not None and row[x] is not None:
            values.setdefault((str(row["protocol"]), row[x]), []).append(float(row[y]))
    order = list(dict.fromkeys(protocol for protocol, _ in values))
    keys = sorted(values, key=lambda key: (order.index(key[0]), key[1]))
    return tuple(_point(protocol, at, values[protocol, at], y) for protocol, at in keys)


def _point(protocol: str, at: Any, values: list[float], y: str) -> Point:
    low, middle, high = quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    return Point(protocol, at, fmean(values) if y in COUNTED else middle, low, high, len(values))


def sweep_figure(rows: Sequence[Row], x: str, ys: Sequence[str], title: str, theme: str = "light") -> Figure:
    """One panel per measure over the values of ``x``, side by side; raises ``ValueError`` when no run has them."""
    panels = [(y, points(rows, x, y)) for y in ys]
    if not any(panel_points for _, panel_points in panels):
        raise ValueError(f"no run has {x} and one of {', '.join(ys)}")
    layout = base_layout(theme, title, describe_trade_off(rows, x, ys, title), 420)
    role, width = ROLES[theme], 1 / len(panels)
    layout |= {"legend": {"orientation": "h", "y": -0.25}, "margin": {"l": 60, "r": 20, "t": 60, "b": 90}}
    traces: list[Figure] = []
    for index, (y, panel_points) in enumerate(panels):
        number = "" if index == 0 else str(index + 1)
        axis = {"gridcolor": role["hairline"], "zeroline": False}
        layout[f"xaxis{number}"] = axis | {
            "title": {"text": x.replace("_", " ")},
            "domain": [index * width + 0.04 * (index > 0), (index + 1) * width - 0.03],
            "anchor": f"y{number}",
        }
        layout[f"yaxis{number}"] = axis | {
            "title": {"text": TITLES.get(y, y), "font": {"size": 13}},
            "rangemode": "tozero",
            "anchor": f"x{number}",
        }
        traces += _lines(panel_points, number, y, role, named=index == 0)
    return {"data": traces, "layout": layout}


def _lines(
    panel_points: Sequence[Point], number: str, y: str, role: Mapping[str, str], *, named: bool
) -> list[Figure]:
    lines = []
    for index, protocol in enumerate(dict.fromkeys(point.protocol for point in panel_points)):
        mine = [point for point in panel_points if point.protocol == protocol]
        dash, symbol, ink = STYLES[index % len(STYLES)]
        line: Figure = {
            "type": "scatter",
            "mode": "lines+markers",
            "name": NAMES.get(protocol, protocol),
            "legendgroup": protocol,
            "showlegend": named,
            "x": [point.at for point in mine],
            "y": [point.middle for point in mine],
            "xaxis": f"x{number}",
            "yaxis": f"y{number}",
            "line": {"dash": dash, "color": role[ink], "width": 2},
            "marker": {"symbol": symbol, "size": 8, "color": role[ink]},
        }
        if y not in COUNTED:
            line["error_y"] = {
                "type": "data",
                "symmetric": False,
                "color": role[ink],
                "thickness": 1,
                "array": [point.high - point.middle for point in mine],
                "arrayminus": [point.middle - point.low for point in mine],
            }
        lines.append(line)
    return lines


def detection_figure(rows: Sequence[Row], x: str = "session_timeout_ms", theme: str = "light") -> Figure:
    """Session timeout: how long a crash stays unseen, against how many live members are taken for dead.

    The second panel needs runs with ``freezes``; both may come from the same rows.
    """
    return sweep_figure(
        rows, x, ("crash_detect_s", "false_alarms"), "Session timeout: detection against false alarms", theme
    )


def gap_figure(rows: Sequence[Row], x: str = "members", theme: str = "light") -> Figure:
    """Members against unread partition-seconds: how long all partitions at once, and how much in sum, went unread per protocol."""
    return sweep_figure(
        rows, x, ("group_gap_s", "unread_partition_s"), "Members against unread partition-seconds", theme
    )


def describe_trade_off(rows: Sequence[Row], x: str, ys: Sequence[str], title: str) -> str:
    """The figure in words: one line per protocol and measure, value by value."""
    lines = [f"{title}. Medians over the seeds, quartiles in brackets; counts as means."]
    for y in ys:
        chosen = points(rows, x, y)
        lines.append(f"{TITLES.get(y, y)}, by {x.replace('_', ' ')}:")
        for protocol in dict.fromkeys(point.protocol for point in chosen):
            phrases = (_told(point, y) for point in chosen if point.protocol == protocol)
            lines.append(f"   {NAMES.get(protocol, protocol)}: " + "; ".join(phrases))
        if not chosen:
            lines.append("   in no run")
    return "\n".join(lines)


def _told(point: Point, y: str) -> str:
    spread = "" if y in COUNTED else f" ({point.low:.1f} to {point.high:.1f})"
    return f"{point.at}: {point.middle:.{2 if y in COUNTED else 1}f}{spread}"


def sweep_figures(rows: Sequence[Row], names: Sequence[str], theme: str = "light") -> list[Figure]:
    """The figures that fit what was varied: one figure per number that took several values."""
    figures = []
    for x in names:
        values = {row[x] for row in rows if row[x] is not None}
        if len(values) < 2 or not all(isinstance(value, int | float) for value in values):
            continue
        ys = (
            ("crash_detect_s", "false_alarms")
            if "session_timeout" in x
            else ("group_gap_s", "unread_partition_s")
        )
        if any(points(rows, x, y) for y in ys):
            figures.append(
                detection_figure(rows, x, theme) if "session_timeout" in x else gap_figure(rows, x, theme)
            )
    return figures
