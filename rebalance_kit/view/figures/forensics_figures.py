"""The three pictures of a group's logs: rebalances in time, gaps by partition, members' lives.

Figures are plain values.  Colours are written as ``@ink@`` or ``@m3@`` and filled in by the page,
so that one figure serves the light and the dark theme.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from rebalance_kit.view.board.group_view import LANES, GroupView, Row, clock, gap_sums, partition_key, took
from rebalance_kit.view.style.showing import Figure
from rebalance_kit.view.style.theme import FONT, css_variables

#: Columns of the heat map: enough for a spell of seconds in a log of minutes.
BINS = 120

#: More partitions than these are cut to the ones with the longest gaps in the picture; the text has all.
PARTITIONS_UP_TO = 40

#: How much of its lane a bar fills, and how much of that one fills that lies upon another.
_WIDTH, _NESTED = 0.66, 0.7

#: A bar shorter than this share of the axis would not be seen.
_LEAST_SHARE = 0.004

#: How the end of a life is drawn and called.
ENDS = {
    "left": ("line-ns", "left"),
    "away (static)": ("line-ns", "away (static)"),
    "expired": ("x", "expired"),
    "fenced": ("x", "fenced"),
    "replaced": ("triangle-right", "replaced"),
    "open": ("circle-open", "still a member"),
}


def palette(theme: str) -> dict[str, str]:
    """The colours of the placeholders in a theme."""
    return {name.removeprefix("--rk-"): colour for name, colour in css_variables(theme).items()}


def timeline(view: GroupView) -> Figure:
    """Rebalances in time: a lane per cause, a bar from start to end in the colour of the culprit."""
    lanes = list(dict.fromkeys(_lane(row) for row in view.record["rebalances"]))
    layout = _layout(view, "Rebalances", max(220, 120 + 34 * len(lanes)))
    layout["yaxis"] |= {"categoryorder": "array", "categoryarray": lanes[::-1]}
    layout["shapes"] = [_shade(storm) for storm in view.storms]
    layout["annotations"] = [_storm_label(storm) for storm in view.storms]
    return {"data": _rebalance_bars(view), "layout": layout}


def _lane(row: Row) -> str:
    return LANES.get(row["trigger"], str(row["trigger"]))


def _rebalance_bars(view: GroupView) -> list[Figure]:
    """The rebalances of each culprit; one inside another is drawn narrower."""
    rows = view.record["rebalances"]
    start, end = view.span
    least = (end - start) * _LEAST_SHARE
    depths = _depths(rows, least)
    bars: list[Figure] = []
    for name in dict.fromkeys(row["culprit"] for row in rows):
        own = [row for row in rows if row["culprit"] == name]
        bars.append(
            _bars(view, name or "nobody known", name)
            | {
                "y": [_lane(row) for row in own],
                "base": [row["start_ms"] for row in own],
                "x": [max(row["duration_ms"] or 0, least) for row in own],
                "width": [_WIDTH * _NESTED ** depths[row["number"]] for row in own],
                "hovertext": [_rebalance_hover(row) for row in own],
            }
        )
    return bars


def _shade(storm: Row) -> Figure:
    return {
        "type": "rect",
        "xref": "x",
        "yref": "paper",
        "x0": storm["from_ms"],
        "x1": storm["to_ms"],
        "y0": 0,
        "y1": 1,
        "fillcolor": "@alert@",
        "opacity": 0.08,
        "line": {"width": 0},
        "layer": "below",
    }


def _storm_label(storm: Row) -> Figure:
    return {
        "x": storm["to_ms"],
        "xref": "x",
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "xanchor": "right",
        "showarrow": False,
        "text": "storm",
        "font": {"color": "@alert@"},
    }


def gap_map(view: GroupView) -> Figure:
    """A row per partition, a column per stretch of time: how much of it the partition was unread."""
    start, end = view.span
    width = (end - start) / BINS
    shown = sorted(gap_sums(view), key=lambda row: -row[1])[:PARTITIONS_UP_TO]
    names = sorted((row[0] for row in shown), key=partition_key)
    shares = {name: [0.0] * BINS for name in names}
    for gap in view.gaps:
        if gap["partition"] in shares:
            _spread(shares[gap["partition"]], gap["from_ms"] - start, gap["to_ms"] - start, width)
    layout = _layout(view, "Gaps by partition", max(240, 160 + 22 * len(names)))
    layout["margin"] |= {"t": 90}
    layout["yaxis"] |= _in_this_order(names)
    layout["showlegend"] = False
    heat = _HEAT | {
        "x": [start + (bin_number + 0.5) * width for bin_number in range(BINS)],
        "y": names,
        "z": [[round(100 * min(share, 1.0), 1) for share in shares[name]] for name in names],
    }
    return {"data": [heat], "layout": layout}


def _in_this_order(names: list[str]) -> Figure:
    """An axis of names from top to bottom, none left out."""
    return {"categoryorder": "array", "categoryarray": names[::-1], "tickmode": "array", "tickvals": names}


_HEAT: Figure = {
    "type": "heatmap",
    "zmin": 0,
    "zmax": 100,
    "colorscale": [[0, "@sunk@"], [0.001, "@alertbg@"], [1, "@alert@"]],
    "xgap": 0,
    "ygap": 2,
    "colorbar": {
        "title": {"text": "% of the time unread", "side": "top", "font": {"size": 12}},
        "orientation": "h",
        "x": 1,
        "xanchor": "right",
        "y": 1,
        "yanchor": "bottom",
        "thickness": 10,
        "lenmode": "pixels",
        "len": 240,
        "outlinewidth": 0,
        "tickvals": [0, 50, 100],
    },
    "hovertemplate": "%{y}<br>%{x|%H:%M:%S}<br>%{z} % unread<extra></extra>",
}


def lives(view: GroupView) -> Figure:
    """A row per member: a bar from joining to its end, with a sign for how it ended."""
    names = [name for name in view.names if any(row["client"] == name for row in view.members)]
    layout = _layout(view, "Members' lives", max(220, 130 + 30 * len(names)))
    layout["yaxis"] |= _in_this_order(names)
    return {"data": [*(_life_bars(view, name) for name in names), *_ends(view)], "layout": layout}


def _life_bars(view: GroupView, name: str) -> Figure:
    start, end = view.span
    own = [row for row in view.members if row["client"] == name]
    begins = [row["joined_ms"] or start for row in own]
    ends = [row["ended_ms"] or end for row in own]
    return _bars(view, name, name) | {
        "y": [name] * len(own),
        "base": begins,
        "x": [stop - begin for begin, stop in zip(begins, ends, strict=True)],
        "hovertext": [_life_hover(row) for row in own],
        "showlegend": False,
    }


def _ends(view: GroupView) -> list[Figure]:
    """A sign at the end of each life, by kind of end."""
    signs: list[Figure] = []
    for end, (symbol, words) in ENDS.items():
        rows = [row for row in view.members if (row["end"] or "open") == end]
        alarming = end in {"expired", "fenced"}
        edge = {"width": 1.5, "color": "@surface@"} if alarming else {"width": 3, "color": "@ink@"}
        if rows:
            signs.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": words,
                    "hoverinfo": "skip",
                    "cliponaxis": False,
                    "x": [row["ended_ms"] or view.span[1] for row in rows],
                    "y": [row["client"] for row in rows],
                    "marker": {
                        "symbol": symbol,
                        "size": 13,
                        "color": "@alert@" if alarming else "@ink@",
                        "line": edge,
                    },
                }
            )
    return signs


def _depths(rows: Sequence[Row], least: float) -> dict[int, int]:
    """How many earlier bars of its lane each rebalance lies upon; such bars are drawn narrower."""
    depths: dict[int, int] = {}
    for index, row in enumerate(rows):
        before = [earlier for earlier in rows[:index] if earlier["trigger"] == row["trigger"]]
        covers = [
            span
            for span in before
            if span["start_ms"] + max(span["duration_ms"] or 0, least) > row["start_ms"]
        ]
        depths[row["number"]] = max((depths[span["number"]] + 1 for span in covers), default=0)
    return depths


def _spread(shares: list[float], begin: float, stop: float, width: float) -> None:
    """Add a gap to the columns that it covers, each by the share covered."""
    bin_number = max(0, int(begin // width))
    while bin_number < len(shares) and bin_number * width < stop:
        covered = min(stop, (bin_number + 1) * width) - max(begin, bin_number * width)
        shares[bin_number] += max(covered, 0) / width
        bin_number += 1


def _bars(view: GroupView, name: str, member: str | None) -> Figure:
    colour = view.colour(member)
    return {
        "type": "bar",
        "orientation": "h",
        "name": name,
        "hoverinfo": "text",
        "textposition": "none",
        "marker": {
            "color": colour,
            "line": {"width": 1, "color": colour},
            "pattern": {"shape": view.pattern(member), "fgcolor": "@surface@", "size": 6, "solidity": 0.3},
        },
    }


def _rebalance_hover(row: Row) -> str:
    step = f"{row['before']} → {'?' if row['after'] is None else row['after']}"
    return f"{clock(row['start_ms'])}, {took(row)}, {step}<br>{_wrapped(row['cause'])}"


def _life_hover(row: Row) -> str:
    end = f"{row['end']} {clock(row['ended_ms'])}" if row["end"] else "still a member"
    instance = f"<br>group.instance.id {row['instance']}" if row["instance"] else ""
    return f"{row['client']}: joined {clock(row['joined_ms'])}, {end}<br>{row['member']}{instance}"


def _wrapped(text: str, width: int = 80) -> str:
    return "<br>".join(textwrap.wrap(text, width))


def _layout(view: GroupView, title: str, height: int) -> Figure:
    start, end = view.span
    return {
        "title": {
            "text": title,
            "x": 0,
            "xref": "container",
            "xanchor": "left",
            "pad": {"l": 8},
            "font": {"size": 16, "color": "@ink@"},
        },
        "font": {"family": FONT, "size": 13, "color": "@ink@"},
        "paper_bgcolor": "@surface@",
        "plot_bgcolor": "@surface@",
        "height": height,
        "margin": {"l": view.label_px, "r": 20, "t": 64, "b": 56},
        "barmode": "overlay",
        "bargap": 0.35,
        "hoverlabel": {"font": {"family": FONT}, "align": "left"},
        "xaxis": {
            "type": "date",
            "range": [start, end],
            "gridcolor": "@hairline@",
            "zeroline": False,
            "title": {"text": "time of day (UTC)", "standoff": 6, "font": {"size": 12}},
            "tickformatstops": _TICKS,
        },
        "yaxis": {
            "automargin": True,
            "ticklen": 6,
            "tickcolor": "@surface@",
            "gridcolor": "@hairline@",
            "zeroline": False,
            "type": "category",
        },
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1, "xanchor": "left", "yanchor": "bottom"},
    }


#: Seconds only where they matter, and never the date twice.
_TICKS = [
    {"dtickrange": [None, 1_000], "value": "%H:%M:%S.%L"},
    {"dtickrange": [1_000, 60_000], "value": "%H:%M:%S"},
    {"dtickrange": [60_000, 86_400_000], "value": "%H:%M<br>%e %b"},
    {"dtickrange": [86_400_000, None], "value": "%e %b %Y"},
]
