"""The three pictures of a group's logs: rebalances in time, gaps by partition, members' lives.

Figures are plain values.  Colours are written as ``@ink@`` or ``@m3@`` and filled in by the page,
so that one figure serves the light and the dark theme.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from rebalance_kit.view.style.palettes import FONT
from rebalance_kit.view.style.showing import Figure
from rebalance_kit.view.style.theme import PLOTLY_PATTERNS, css_variables

Row = Mapping[str, Any]

#: Columns of the heat map: enough for a spell of seconds in a log of minutes.
BINS = 120

#: More partitions than these share the picture with the ones that rested longest only; the text has all.
PARTITIONS_UP_TO = 40

#: How much of its lane a bar fills, and how much of that one fills that lies upon another.
_WIDTH, _NESTED = 0.66, 0.7

#: A bar shorter than this share of the axis would not be seen.
_LEAST_SHARE = 0.004

#: What a lane of the timeline is called, by trigger.
LANES = {
    "join": "joined",
    "leave": "left",
    "follow_up": "second step",
    "poll_timeout": "poll timeout",
    "session_expired": "session expired",
    "rebalance_timeout": "too slow to revoke",
    "sync_timeout": "never synced",
    "admin_removal": "removed by hand",
    "metadata_changed": "topics changed",
    "regex_changed": "pattern matches anew",
    "subscription_changed": "subscribed anew",
    "enforced": "asked for",
    "rejoin": "joined again",
    "protocol_changed": "other assignors",
    "over_capacity": "too many members",
    "store_failed": "could not be stored",
    "unseen": "cause not in the logs",
    "other": "unknown reason",
}

#: How the end of a life is drawn and called.
ENDS = {
    "left": ("line-ns", "left"),
    "away (static)": ("line-ns", "away (static)"),
    "expired": ("x", "expired"),
    "fenced": ("x", "fenced"),
    "replaced": ("triangle-right", "replaced"),
    "open": ("circle-open", "still a member"),
}


@dataclass(frozen=True, slots=True)
class GroupView:
    """What the page shows of one group: its record (as in ``--json``), and rows of its tables."""

    record: Row
    gaps: Sequence[Row]
    members: Sequence[Row]
    storms: Sequence[Row]

    @property
    def span(self) -> tuple[int, int]:
        """First and last millisecond told of, with a little room."""
        times = [row[key] for row in self.record["rebalances"] for key in ("start_ms", "end_ms")]
        times += [row[key] for row in self.members for key in ("joined_ms", "ended_ms")]
        times += [row["to_ms"] for row in self.gaps]
        known = [int(time) for time in times if time is not None]
        if not known:
            return 0, 1_000
        room = max(500, (max(known) - min(known)) // 50)
        return min(known) - room, max(known) + room

    @property
    def names(self) -> tuple[str, ...]:
        """Members in order of appearance; each keeps its colour in all pictures."""
        told = sorted(self.members, key=lambda row: (row["joined_ms"] or 0, row["client"]))
        named = [row["client"] for row in told]
        named += [row["culprit"] for row in self.record["rebalances"] if row["culprit"]]
        named += [row[key] for row in self.gaps for key in ("owner_before", "owner_after") if row[key]]
        return tuple(dict.fromkeys(named))

    @property
    def label_px(self) -> int:
        """Room for the longest label of any picture, so that their time axes stand below each other."""
        labels = [LANES.get(row["trigger"], "") for row in self.record["rebalances"]]
        labels += [row["partition"] for row in self.gaps] + list(self.names)
        return 24 + 8 * max((len(label) for label in labels), default=0)

    def colour(self, name: str | None) -> str:
        """The member's colour as a placeholder; grey for nobody."""
        if name not in self.names:
            return "@ink3@"
        return f"@m{self.names.index(name) % 12 + 1}@"

    def pattern(self, name: str | None) -> str:
        """The member's pattern, which tells it from the twelfth before it."""
        if name not in self.names:
            return ""
        return PLOTLY_PATTERNS[self.names.index(name) // 12 % len(PLOTLY_PATTERNS)]


def palette(theme: str) -> dict[str, str]:
    """What the placeholders stand for in a theme."""
    return {name.removeprefix("--rk-"): colour for name, colour in css_variables(theme).items()}


def timeline(view: GroupView) -> Figure:
    """Rebalances in time: a lane a cause, a bar from start to end in the colour of the culprit."""
    rows = view.record["rebalances"]
    start, end = view.span
    least = (end - start) * _LEAST_SHARE
    lanes = list(dict.fromkeys(LANES.get(row["trigger"], str(row["trigger"])) for row in rows))
    depths = _depths(rows, least)
    bars: list[Figure] = []
    for name in dict.fromkeys(row["culprit"] for row in rows):
        own = [row for row in rows if row["culprit"] == name]
        bars.append(
            _bars(view, name or "nobody known", name)
            | {
                "y": [LANES.get(row["trigger"], str(row["trigger"])) for row in own],
                "base": [row["start_ms"] for row in own],
                "x": [max(row["duration_ms"] or 0, least) for row in own],
                "width": [_WIDTH * _NESTED ** depths[row["number"]] for row in own],
                "hovertext": [_rebalance_hover(row) for row in own],
            }
        )
    layout = _layout(view, "Rebalances", max(220, 120 + 34 * len(lanes)))
    layout["yaxis"] |= {"categoryorder": "array", "categoryarray": lanes[::-1]}
    layout["shapes"] = [
        {
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
        for storm in view.storms
    ]
    layout["annotations"] = [
        {
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
        for storm in view.storms
    ]
    return {"data": bars, "layout": layout}


def gap_map(view: GroupView) -> Figure:
    """A row a partition, a column a stretch of time: how much of it the partition was read by nobody."""
    start, end = view.span
    width = (end - start) / BINS
    shown = sorted(rested(view), key=lambda row: -row[1])[:PARTITIONS_UP_TO]
    names = sorted((row[0] for row in shown), key=partition_key)
    shares = {name: [0.0] * BINS for name in names}
    for gap in view.gaps:
        if gap["partition"] in shares:
            _spread(shares[gap["partition"]], gap["from_ms"] - start, gap["to_ms"] - start, width)
    layout = _layout(view, "Pauses by partition", max(240, 160 + 22 * len(names)))
    layout["margin"] |= {"t": 90}
    layout["yaxis"] |= {
        "categoryorder": "array",
        "categoryarray": names[::-1],
        "tickmode": "array",
        "tickvals": names,
    }
    layout["showlegend"] = False
    heat = {
        "type": "heatmap",
        "x": [start + (place + 0.5) * width for place in range(BINS)],
        "y": names,
        "z": [[round(100 * min(share, 1.0), 1) for share in shares[name]] for name in names],
        "zmin": 0,
        "zmax": 100,
        "colorscale": [[0, "@sunk@"], [0.001, "@alertbg@"], [1, "@alert@"]],
        "xgap": 0,
        "ygap": 2,
        "colorbar": {
            "title": {"text": "% of the time read by nobody", "side": "top", "font": {"size": 12}},
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
        "hovertemplate": "%{y}<br>%{x|%H:%M:%S}<br>%{z} % read by nobody<extra></extra>",
    }
    return {"data": [heat], "layout": layout}


def lives(view: GroupView) -> Figure:
    """A row a member: a bar from joining to its end, with a sign for how it ended."""
    start, end = view.span
    names = [name for name in view.names if any(row["client"] == name for row in view.members)]
    data: list[Figure] = []
    for name in names:
        own = [row for row in view.members if row["client"] == name]
        begins = [row["joined_ms"] or start for row in own]
        ends = [row["ended_ms"] or end for row in own]
        data.append(
            _bars(view, name, name)
            | {
                "y": [name] * len(own),
                "base": begins,
                "x": [stop - begin for begin, stop in zip(begins, ends, strict=True)],
                "hovertext": [_life_hover(row) for row in own],
                "showlegend": False,
            }
        )
    for end_word, (symbol, words) in ENDS.items():
        ended = [row for row in view.members if (row["end"] or "open") == end_word]
        if ended:
            alarming = end_word in {"expired", "fenced"}
            data.append(
                {
                    "type": "scatter",
                    "mode": "markers",
                    "name": words,
                    "hoverinfo": "skip",
                    "cliponaxis": False,
                    "x": [row["ended_ms"] or end for row in ended],
                    "y": [row["client"] for row in ended],
                    "marker": {
                        "symbol": symbol,
                        "size": 13,
                        "color": "@alert@" if alarming else "@ink@",
                        "line": {
                            "width": 1.5 if alarming else 3,
                            "color": "@surface@" if alarming else "@ink@",
                        },
                    },
                }
            )
    layout = _layout(view, "Members' lives", max(220, 130 + 30 * len(names)))
    layout["yaxis"] |= {
        "categoryorder": "array",
        "categoryarray": names[::-1],
        "tickmode": "array",
        "tickvals": names,
    }
    return {"data": data, "layout": layout}


def rested(view: GroupView) -> list[tuple[str, int, int, int]]:
    """Each partition that rested: name, total, times and longest, in milliseconds."""
    sums: dict[str, list[int]] = {}
    for gap in view.gaps:
        sums.setdefault(gap["partition"], []).append(int(gap["duration_ms"]))
    return [(name, sum(each), len(each), max(each)) for name, each in sums.items()]


def partition_key(name: str) -> tuple[str, int]:
    """Sorts ``orders-10`` behind ``orders-9``."""
    topic, _, number = name.rpartition("-")
    return (topic, int(number)) if number.isdigit() else (name, -1)


def clock(at_ms: int | None) -> str:
    """A time of day in UTC, to the millisecond."""
    if at_ms is None:
        return "?"
    return f"{datetime.fromtimestamp(at_ms / 1000, UTC):%H:%M:%S}.{int(at_ms) % 1000:03d}"


def seconds(duration_ms: float | None) -> str:
    """A duration as people say it."""
    if duration_ms is None:
        return "unfinished"
    if duration_ms < 1_000:
        return f"{duration_ms:.0f} ms"
    return f"{duration_ms / 1000:.1f} s" if duration_ms < 120_000 else f"{duration_ms / 60_000:.1f} min"


def _depths(rows: Sequence[Row], least: float) -> dict[int, int]:
    """How many earlier bars of its lane each rebalance lies upon; such bars are drawn narrower."""
    depths: dict[int, int] = {}
    for place, row in enumerate(rows):
        before = [one for one in rows[:place] if one["trigger"] == row["trigger"]]
        covers = [
            one for one in before if one["start_ms"] + max(one["duration_ms"] or 0, least) > row["start_ms"]
        ]
        depths[row["number"]] = max((depths[one["number"]] + 1 for one in covers), default=0)
    return depths


def _spread(shares: list[float], begin: float, stop: float, width: float) -> None:
    """Add a gap to the columns that it covers, each by the share covered."""
    place = max(0, int(begin // width))
    while place < len(shares) and place * width < stop:
        covered = min(stop, (place + 1) * width) - max(begin, place * width)
        shares[place] += max(covered, 0) / width
        place += 1


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
    return f"{clock(row['start_ms'])}, {seconds(row['duration_ms'])}, {step}<br>{_wrapped(row['cause'])}"


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
