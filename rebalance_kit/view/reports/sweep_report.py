"""The page of a sweep: its figures with their twins, and the table of all settings."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from rebalance_kit.model.files import write_atomically
from rebalance_kit.view.figures.sweep_figures import Row, sweep_figures
from rebalance_kit.view.reports.run_report import figure_html, page_html, twin_html


def write_sweep(
    path: str | Path, rows: Sequence[Row], names: Sequence[str], text: str, theme: str = "light"
) -> Path:
    """Write one page with the figures, their twins and the table; it appears only when it is complete."""
    target = Path(path)
    body = [f"<h1>Sweep of {len(rows):,} runs</h1>"]
    for index, figure in enumerate(sweep_figures(rows, names, theme)):
        body += [
            figure_html(f"sweep-{index}", figure),
            twin_html(str(figure["layout"]["meta"]["text"]), opened=True),
        ]
    body += ["<h2>All settings</h2>", f"<pre>{escape(text)}</pre>"]
    target.parent.mkdir(parents=True, exist_ok=True)
    return write_atomically(target, page_html("Sweep", theme, "\n".join(body)))
