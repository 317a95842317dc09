"""The page of a sweep, and the frame that it shares with other reports.

The page of a sweep: its figures with their twins, and the table of all settings.

plotly.js stands in it deflated and is inflated by the page itself, which asks no network.

The page around a report: headings, tables and text twins in the theme's colours.
"""

from __future__ import annotations

import base64
import gzip
from collections.abc import Sequence
from html import escape
from pathlib import Path

from rebalance_kit.model.errors import require
from rebalance_kit.model.files import write_atomically
from rebalance_kit.model.html import policy
from rebalance_kit.view.figures.comparison import Row, sweep_figures
from rebalance_kit.view.style.showing import Figure, as_plotly
from rebalance_kit.view.style.theme import FONT, ROLES, embedded


def twin_html(text: str, *, opened: bool = False) -> str:
    """A figure's text twin, folded in unless ``opened``."""
    return (
        f"<details{' open' if opened else ''}><summary>As text</summary><pre>{escape(text)}</pre></details>"
    )


def page_html(
    title: str, theme: str, body: str, style: str = "", scripts: str = "", allowed: Sequence[str] = ()
) -> str:
    """A whole page around ``body``; its own rules reach its direct children only, so that they touch nothing that is played in it.

    ``scripts`` are elements after the body; what may run of them is ``allowed``, the texts between their tags.
    """
    role = ROLES[theme]
    rules = (
        f"body{{margin:0 auto;max-width:1100px;padding:24px;background:{role['surface']};color:{role['ink']};font:15px/1.5 {FONT}}}"
        f"main>h1{{font-size:26px}}main>h2{{font-size:20px;margin-top:36px}}main>figure{{margin:12px 0;overflow-x:auto}}"
        f"main>details{{margin-top:10px}}main>details>pre,main>pre{{white-space:pre-wrap;font:13px/1.5 {FONT};background:{role['sunk']};padding:12px;border-radius:8px}}"
        f"main>table{{border-collapse:collapse;font-variant-numeric:tabular-nums}}main>table :is(th,td){{text-align:right;padding:4px 14px 4px 0;border-bottom:1px solid {role['hairline']}}}main>table th:first-child{{text-align:left}}"
        f"main>details>summary{{cursor:pointer;color:{role['ink2']}}}.least{{border:1px solid currentColor;border-radius:9px;padding:0 6px;margin-left:6px;font-size:11px;color:{role['ok']}}}"
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{policy(*allowed)}<meta name="viewport" content="width=device-width"><title>{escape(title)}</title><style>{style}\n{rules}</style>'
        f"</head><body><main>\n{body}\n</main>\n{scripts}</body></html>\n"
    )


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
