"""One self-contained HTML report of one or more runs: animation, Gantt, comparison, and all of it in words.

plotly.js is embedded once; the page asks no network. The file is written beside and renamed.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from rebalance_kit.model.extras import require
from rebalance_kit.model.files import write_atomically
from rebalance_kit.model.trace import Trace
from rebalance_kit.view.figures.comparison import comparison_html
from rebalance_kit.view.figures.flow import flow_figure, too_many
from rebalance_kit.view.figures.gantt import gantt_figure
from rebalance_kit.view.style.embedding import embedded
from rebalance_kit.view.style.palettes import FONT, ROLES
from rebalance_kit.view.style.showing import Figure, as_plotly
from rebalance_kit.view.words.descriptions import describe_comparison, describe_flow, describe_gantt

MANY_MEMBERS = "<p>Too many members to follow as moving squares; the chart below shows the whole run.</p>"
"""What stands in a report where the animation would be unreadable."""


def report_html(traces: Sequence[Trace], title: str | None = None, theme: str = "light") -> str:
    """The report as one HTML text; raises ``ValueError`` without traces."""
    if not traces:
        raise ValueError("a report needs at least one trace, got none")
    first = traces[0]
    name = title or str(first.meta.get("title") or first.meta.get("scenario") or first.run_id)
    parts = [f"<h1>{escape(name)}</h1>", f"<p>{escape(_provenance(traces))}</p>"]
    if len(traces) > 1:
        parts += ["<h2>Comparison</h2>", comparison_html(traces), twin_html(describe_comparison(traces))]
    for number, trace in enumerate(traces):
        parts += [
            f"<h2>{escape(trace.label.capitalize())}</h2>",
            MANY_MEMBERS if too_many(trace) else figure_html(f"flow-{number}", flow_figure(trace, theme)),
            twin_html(describe_flow(trace), opened=True),
            figure_html(f"gantt-{number}", gantt_figure(trace, theme)),
            twin_html(describe_gantt(trace)),
        ]
    return page_html(name, theme, "\n".join(parts))


def write_report(
    path: str | Path, traces: Sequence[Trace], title: str | None = None, theme: str = "light"
) -> Path:
    """Write the report; the file appears only when it is complete. Returns its path."""
    return write_atomically(path, report_html(traces, title, theme))


def _provenance(traces: Sequence[Trace]) -> str:
    first = traces[0]
    version = first.meta.get("kafka_version")
    kafka = f", Kafka {version}" if version else ""
    return f"{first.source.capitalize()}{kafka}, seed {first.seed}, {first.end_ms / 1000:.1f} s: {', '.join(trace.label for trace in traces)}."


def twin_html(text: str, *, opened: bool = False) -> str:
    """A figure's text twin, folded in unless ``opened``."""
    return (
        f"<details{' open' if opened else ''}><summary>As text</summary><pre>{escape(text)}</pre></details>"
    )


def figure_html(name: str, figure: Figure) -> str:
    """A figure's place and data; scripts cannot be closed from within the data."""
    configured = as_plotly(figure)
    label = escape(str(figure["layout"]["title"]["text"]), quote=True)
    data = embedded(configured)
    return f'<div class="figure" id="{name}" role="img" aria-label="{label}"></div>\n<script type="application/json" data-for="{name}">{data}</script>'


def plotly_script() -> str:
    """plotly.js as text, from the installed package; raises ``EnvironmentProblem`` without it."""
    require("plotly")
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())


_DRAW = """for (const held of document.querySelectorAll('script[data-for]')) {
  const figure = JSON.parse(held.textContent);
  Plotly.newPlot(held.dataset.for, figure);
}"""


def page_html(title: str, theme: str, body: str) -> str:
    """A whole page around ``body`` that draws every figure in it."""
    role = ROLES[theme]
    style = (
        f"body{{margin:0 auto;max-width:1100px;padding:24px;background:{role['surface']};color:{role['ink']};font:15px/1.5 {FONT}}}"
        f"h1{{font-size:26px}}h2{{font-size:20px;margin-top:36px}}pre{{white-space:pre-wrap;font:13px/1.5 {FONT};background:{role['sunk']};padding:12px;border-radius:8px}}"
        f"table{{border-collapse:collapse;font-variant-numeric:tabular-nums}}th,td{{text-align:right;padding:4px 14px 4px 0;border-bottom:1px solid {role['hairline']}}}th:first-child{{text-align:left}}"
        f"summary{{cursor:pointer;color:{role['ink2']}}}.least{{border:1px solid currentColor;border-radius:9px;padding:0 6px;margin-left:6px;font-size:11px;color:{role['ok']}}}"
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(title)}</title><style>{style}</style>'
        f"<script>{plotly_script()}</script></head><body>\n{body}\n<script>{_DRAW}</script></body></html>\n"
    )
