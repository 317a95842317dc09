"""Runs side by side: one table as HTML, as a figure and as rows for the text twin.

The least value of a row is said to be the least; a tie has none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

from rebalance_kit.model.trace import Trace
from rebalance_kit.view.frames import Frames
from rebalance_kit.view.palettes import ROLES
from rebalance_kit.view.pauses import pauses_of
from rebalance_kit.view.show import Figure, base_layout


class Measure(NamedTuple):
    """One row of the table: words, unit-less value of a run, how it is printed."""

    words: str
    of: Callable[[Frames], float]
    shown: Callable[[float], str]


def _stopped_s(frames: Frames) -> float:
    return sum(one.end_ms - one.begin_ms for name in frames.partitions for one in pauses_of(frames, name)) / 1000


def _paused(frames: Frames) -> float:
    return sum(1 for name in frames.partitions if pauses_of(frames, name))


def _longest_s(frames: Frames) -> float:
    return max((one.end_ms - one.begin_ms for name in frames.partitions for one in pauses_of(frames, name)), default=0) / 1000


def _moved(frames: Frames) -> float:
    """Partitions whose owner at the end is not their first owner."""
    return sum(1 for track in frames.partitions.values() if _first_owner(track.states) not in {None, track.states[-1].owner})


def _first_owner(states: Sequence[object]) -> str | None:
    return next((state.owner for state in states if state.owner is not None), None)  # type: ignore[attr-defined]


def _rebalances(frames: Frames) -> float:
    return sum(1 for mark in frames.marks if mark.words.startswith(("generation ", "group epoch ")))


def _count(kind: str, key: str) -> Callable[[Frames], float]:
    return lambda frames: sum(row.detail.get(key) or 0 for row in frames.trace.of(kind) if row.detail.get("group", frames.group_name) == frames.group_name)


def _requests(frames: Frames) -> float:
    return sum(1 for one in frames.messages if one.request)


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _tenths(value: float) -> str:
    return f"{value:,.1f}"


MEASURES = (
    Measure("partitions paused", _paused, _whole),
    Measure("stopped, partition-seconds", _stopped_s, _tenths),
    Measure("longest pause, s", _longest_s, _tenths),
    Measure("partitions moved", _moved, _whole),
    Measure("generations or epochs", _rebalances, _whole),
    Measure("records redelivered", _count("account", "redelivered"), _whole),
    Measure("records lost", _count("account", "lost"), _whole),
    Measure("requests to the coordinator", _requests, _whole),
)


CHIP = '<span class="least">least</span>'


def table(traces: Sequence[Trace]) -> list[list[str]]:
    """The comparison as cells: a head of run labels, then a row a measure."""
    held = [Frames(trace) for trace in traces]
    return [["", *(trace.label for trace in traces)], *([each.words, *(each.shown(each.of(one)) for one in held)] for each in MEASURES)]


def least(cells: Sequence[str]) -> int | None:
    """Which run has the least value; None for a tie or a single run.

    >>> least(["3", "1", "2"]), least(["1", "1", "2"])
    (1, None)
    """
    values = [float(cell.replace(",", "")) for cell in cells]
    lowest = min(values)
    return values.index(lowest) if len(values) > 1 and values.count(lowest) == 1 else None


def comparison_html(traces: Sequence[Trace]) -> str:
    """The comparison as an HTML table."""
    head, *body = table(traces)
    lines = ["<table>", "<thead><tr>" + "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head) + "</tr></thead>", "<tbody>"]
    for name, *cells in body:
        best = least(cells)
        chips = [f"<td>{cell}{CHIP if place == best else ''}</td>" for place, cell in enumerate(cells)]
        lines.append(f'<tr><th scope="row">{escape(name)}</th>{"".join(chips)}</tr>')
    return "\n".join([*lines, "</tbody></table>"])


def comparison_figure(traces: Sequence[Trace], theme: str = "light") -> Figure:
    """Stopped partition-seconds of each run as bars, with the number at each bar."""
    from rebalance_kit.view.text import describe_comparison  # noqa: PLC0415 - text and table need each other

    held = [Frames(trace) for trace in traces]
    values = [_stopped_s(one) for one in held]
    role = ROLES[theme]
    layout = base_layout(theme, "Stopped, partition-seconds", describe_comparison(traces), 130 + 44 * len(traces))
    layout |= {"xaxis": {"gridcolor": role["hairline"], "zeroline": False, "rangemode": "tozero"}, "yaxis": {"autorange": "reversed", "automargin": True}}
    bar = {
        "type": "bar", "orientation": "h", "y": [trace.label for trace in traces], "x": values, "text": [_tenths(value) for value in values],
        "textposition": "auto", "marker": {"color": role["ink3"]}, "hoverinfo": "skip",
    }  # fmt: skip
    return {"data": [bar], "layout": layout}
