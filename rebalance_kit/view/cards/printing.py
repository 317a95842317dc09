"""Every card as SVG and PDF, one page each; the PDF needs the extra ``print``."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from rebalance_kit.model.errors import require
from rebalance_kit.model.files import write_atomically
from rebalance_kit.view.cards.protocols import callback_table, cheat_sheet, clocks, glossary_page, timeouts
from rebalance_kit.view.cards.triage import triage
from rebalance_kit.view.style.showing import Picture

CARDS: Mapping[str, Callable[[], Picture]] = MappingProxyType(
    {
        "protocols": cheat_sheet,
        "callbacks": callback_table,
        "clocks": clocks,
        "timeouts": timeouts,
        "triage": triage,
        "glossary": glossary_page,
    }
)


def write_cards(folder: Path, *, with_pdf: bool = True) -> tuple[Path, ...]:
    """Write every card into a folder and return the files; raises ``EnvironmentProblem`` without the extra ``print``."""
    if with_pdf:
        require("svglib", "reportlab")
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, draw in CARDS.items():
        svg = draw().svg
        written.append(write_atomically(folder / f"{name}.svg", svg))
        if with_pdf:
            written.append(write_atomically(folder / f"{name}.pdf", as_pdf(svg, name)))
    return tuple(written)


def as_pdf(svg: str, title: str) -> bytes:
    """The picture on one A4 page, upright or across as its shape asks; the same picture gives the same bytes."""
    from reportlab.graphics import renderPDF
    from reportlab.lib.pagesizes import A4, landscape
    from reportlab.pdfgen.canvas import Canvas
    from svglib.svglib import svg2rlg

    plain = re.sub(r'font-family="[^"]*"', 'font-family="Helvetica"', svg)
    plain = re.sub(r' style="[^"]*"', "", plain, count=1)  # the size on a screen, which is not one on paper
    plain = plain.replace('font-weight="700"', 'font-weight="bold"')
    drawing = svg2rlg(io.BytesIO(plain.encode()))
    if drawing is None:
        raise AssertionError(f"{title}: no SVG that can be drawn")
    width, height = landscape(A4) if drawing.width > drawing.height else A4
    scale = min((width - 40) / drawing.width, (height - 40) / drawing.height)
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(width, height), invariant=1)
    canvas.setTitle(f"rebalance kit: {title}")
    canvas.translate((width - scale * drawing.width) / 2, height - 20 - scale * drawing.height)
    canvas.scale(scale, scale)
    renderPDF.draw(drawing, canvas, 0, 0)
    canvas.save()
    return out.getvalue()
