"""Figures of a sweep: what a setting buys and what it costs, one line per protocol, with the quartiles over the seeds.

Hues belong to members, so protocols differ by ink, dash and marker. Every figure carries its text twin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, quantiles
from typing import Any

from rebalance_kit.view.style.showing import Figure, base_layout
from rebalance_kit.view.style.theme import ROLES

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
