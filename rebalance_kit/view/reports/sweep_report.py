"""The page of a sweep: its figures with their twins, and the table of all settings.

plotly.js stands in it deflated and is inflated by the page itself, which asks no network.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Sequence
from html import escape
from pathlib import Path

from rebalance_kit.model.errors import require
from rebalance_kit.model.files import write_atomically
from rebalance_kit.view.figures.sweep_figures import Row, sweep_figures
from rebalance_kit.view.reports.report_page import page_html, twin_html
from rebalance_kit.view.style.showing import Figure, as_plotly
from rebalance_kit.view.style.theme import embedded

_DRAW = """
const deflated = Uint8Array.from(atob(document.getElementById("plotly").textContent), (letter) => letter.charCodeAt(0));
const stream = new Blob([deflated]).stream().pipeThrough(new DecompressionStream("gzip"));
const script = document.createElement("script");
script.textContent = await new Response(stream).text();
document.head.append(script);
for (const data of document.querySelectorAll("script[data-for]")) {
  Plotly.newPlot(data.dataset.for, JSON.parse(data.textContent));
}
"""


def write_sweep(
    path: str | Path, rows: Sequence[Row], names: Sequence[str], text: str, theme: str = "light"
) -> Path:
    """Write one page with the figures, their twins and the table; it appears only when it is complete."""
    target = Path(path)
    body = [f"<h1>Sweep of {len(rows):,} runs</h1>"]
    for index, figure in enumerate(sweep_figures(rows, names, theme)):
        body += [
            _figure_html(f"sweep-{index}", figure),
            twin_html(str(figure["layout"]["meta"]["text"]), opened=True),
        ]
    body += ["<h2>All settings</h2>", f"<pre>{escape(text)}</pre>"]
    target.parent.mkdir(parents=True, exist_ok=True)
    drawing = _plotly()
    packed = base64.b64encode(gzip.compress(drawing.encode("utf-8"), mtime=0)).decode("ascii")
    scripts = (
        f'<script type="text/plain" id="plotly">{packed}</script>\n<script type="module">{_DRAW}</script>'
    )
    return write_atomically(
        target, page_html("Sweep", theme, "\n".join(body), scripts=scripts, allowed=[_DRAW, drawing])
    )


def _figure_html(name: str, figure: Figure) -> str:
    """A figure's place and data; scripts cannot be closed from within the data."""
    label = escape(str(figure["layout"]["title"]["text"]), quote=True)
    return f'<div class="figure" id="{name}" role="img" aria-label="{label}"></div>\n<script type="application/json" data-for="{name}">{embedded(as_plotly(figure))}</script>'


def _plotly() -> str:
    """plotly.js of the installed package; raises ``EnvironmentProblem`` without it."""
    require("plotly")
    from plotly.offline import get_plotlyjs

    return str(get_plotlyjs())
