"""Runs side by side: one table as HTML, as a figure and as rows for the text twin.

The least value of a row is said to be the least; a tie has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from rebalance_kit.analysis.comparison import ABSENT, cells, measure
from rebalance_kit.model.trace import Trace, require_traces
from rebalance_kit.view.style.palettes import ROLES
from rebalance_kit.view.style.showing import Figure, base_layout
from rebalance_kit.view.words.descriptions import describe_comparison

CHIP = '<span class="least">least</span>'


def table(traces: Sequence[Trace]) -> list[list[str]]:
    """The comparison as cells: a head of run labels, then one row per measure; – where nothing occurred."""
    return cells([trace.label for trace in traces], measure(traces))


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
    for name, *shown in body:
        best = least(shown)
        chips = [f"<td>{cell}{CHIP if column == best else ''}</td>" for column, cell in enumerate(shown)]
        lines.append(f'<tr><th scope="row">{escape(name)}</th>{"".join(chips)}</tr>')
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
