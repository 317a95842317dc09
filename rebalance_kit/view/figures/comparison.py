"""Runs compared: a table side by side, and lag over time.

Runs side by side: one table as HTML, as a figure and as rows for the text twin.

What is least is said of draws alone, and only where they differ.

Lag over time: how many records wait, of all partitions together or partition by partition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from types import MappingProxyType

from rebalance_kit.analysis.comparison import measure
from rebalance_kit.analysis.draws import Draws, draws_cells, verdict
from rebalance_kit.analysis.metrics import MEASURES, cells
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
