"""Runs side by side: one table as HTML, as a figure and as rows for the text twin.

What is least is said of draws alone, and only where they differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from types import MappingProxyType

from rebalance_kit.analysis.comparison import measure
from rebalance_kit.analysis.draws import Draws, draws_cells, verdict
from rebalance_kit.analysis.metrics import MEASURES, cells
from rebalance_kit.model.trace import Trace, require_traces
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
