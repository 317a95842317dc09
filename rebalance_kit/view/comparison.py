"""Runs side by side: one table as HTML, as a figure and as rows for the text twin.

The least value of a row is said to be the least; a tie has none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

from rebalance_kit.analysis.metrics import Metrics, metrics
from rebalance_kit.model.trace import Trace
from rebalance_kit.view.palettes import ROLES
from rebalance_kit.view.showing import Figure, base_layout


class Measure(NamedTuple):
    """One row of the table: its words, its value of a run (None: it did not occur), how it is printed."""

    words: str
    of: Callable[[Metrics], float | None]
    shown: Callable[[float], str]


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _tenths(value: float) -> str:
    return f"{value:,.1f}"


def _hundredths(value: float) -> str:
    return f"{value:,.2f}"


MEASURES = (
    Measure("partitions paused", lambda one: one.partitions_paused, _whole),
    Measure("stopped, partition-seconds", lambda one: one.unavailable_partition_s, _tenths),
    Measure("longest pause of a partition, s", lambda one: one.longest_gap_s, _hundredths),
    Measure("longest pause of the whole group, s", lambda one: one.group_pause_s, _hundredths),
    Measure("partitions moved", lambda one: one.partitions_moved, _whole),
    Measure("moves beyond the least possible", lambda one: one.moves_beyond_minimum, _whole),
    Measure("rebalances", lambda one: one.rebalances, _whole),
    Measure("requests", lambda one: one.requests_total, _whole),
    Measure("records redelivered", lambda one: one.records_redelivered, _whole),
    Measure("records lost", lambda one: one.records_lost, _whole),
    Measure("greatest lag, records", lambda one: one.lag_peak_records, _whole),
    Measure("noticed after, s", lambda one: one.detect_s, _tenths),
    Measure("at rest again after, s", lambda one: one.converge_s, _tenths),
)
ABSENT = "–"
CHIP = '<span class="least">least</span>'


def table(traces: Sequence[Trace]) -> list[list[str]]:
    """The comparison as cells: a head of run labels, then a row a measure; – where nothing occurred."""
    held = [metrics(trace) for trace in traces]
    return [
        ["", *(trace.label for trace in traces)],
        *([each.words, *(_cell(each, one) for one in held)] for each in MEASURES),
    ]


def _cell(measure: Measure, one: Metrics) -> str:
    value = measure.of(one)
    return ABSENT if value is None else measure.shown(value)


def least(cells: Sequence[str]) -> int | None:
    """Which run has the least value; None for a tie, a single run, or a run without one.

    >>> least(["3", "1", "2"]), least(["1", "1", "2"]), least(["1", "–"])
    (1, None, None)
    """
    if len(cells) < 2 or ABSENT in cells:
        return None
    values = [float(cell.replace(",", "")) for cell in cells]
    lowest = min(values)
    return values.index(lowest) if values.count(lowest) == 1 else None


def comparison_html(traces: Sequence[Trace]) -> str:
    """The comparison as an HTML table."""
    head, *body = table(traces)
    lines = [
        "<table>",
        "<thead><tr>" + "".join(f'<th scope="col">{escape(cell)}</th>' for cell in head) + "</tr></thead>",
        "<tbody>",
    ]
    for name, *cells in body:
        best = least(cells)
        chips = [f"<td>{cell}{CHIP if place == best else ''}</td>" for place, cell in enumerate(cells)]
        lines.append(f'<tr><th scope="row">{escape(name)}</th>{"".join(chips)}</tr>')
    return "\n".join([*lines, "</tbody></table>"])


def comparison_figure(traces: Sequence[Trace], theme: str = "light") -> Figure:
    """Stopped partition-seconds of each run as bars, with the number at each bar."""
    from rebalance_kit.view.text import describe_comparison

    values = [metrics(trace).unavailable_partition_s for trace in traces]
    role = ROLES[theme]
    layout = base_layout(
        theme, "Stopped, partition-seconds", describe_comparison(traces), 130 + 44 * len(traces)
    )
    layout |= {
        "xaxis": {"gridcolor": role["hairline"], "zeroline": False, "rangemode": "tozero"},
        "yaxis": {"autorange": "reversed", "automargin": True},
    }
    bar = {
        "type": "bar", "orientation": "h", "y": [trace.label for trace in traces], "x": values, "text": [_tenths(value) for value in values],
        "textposition": "auto", "marker": {"color": role["ink3"]}, "hoverinfo": "skip",
    }  # fmt: skip
    return {"data": [bar], "layout": layout}
