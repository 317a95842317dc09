"""Showing a figure: its MIME bundle at once, and its text twin below it.

Figures are plain dictionaries. Handing the bundle over takes milliseconds, where building and
validating graph objects takes a second; nothing is uploaded and no network is asked.
"""

from __future__ import annotations

import asyncio
import base64
import re
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from rebalance_kit.view.style.theme import FONT, ROLES

# Pieces of the drawn figures: the page, its arrow tips, words, and a picture with its text twin.


WIDTH = 1000


@dataclass(frozen=True, slots=True)
class Picture:
    """An SVG picture and its text twin."""

    svg: str
    text: str

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return self.text


def page(height: int, role: Mapping[str, str], theme: str = "light") -> list[str]:
    """The opening of an SVG: size, arrow tips, background. Tips are named by theme, since a page may show both.

    It has no width of its own: JupyterLab shows it as an image, which would be cut where the cell is narrower.
    """
    tips = "".join(
        f'<marker id="{tip(theme, strong=strong)}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="{role["ink" if strong else "control"]}"/></marker>'
        for strong in (True, False)
    )
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="100%" role="img" font-family="{escape(FONT, quote=True)}" style="max-width:{WIDTH}px;height:auto">',
        f'<defs>{tips}</defs><rect width="{WIDTH}" height="{height}" rx="12" fill="{role["surface"]}"/>',
    ]


def tip(theme: str = "light", *, strong: bool = True) -> str:
    """The name of an arrow tip."""
    return f"rk-{'tip' if strong else 'dim'}-{theme}"


def words(
    x: float,
    y: float,
    text: str,
    *,
    colour: str | None = None,
    bold: bool = False,
    size: float = 13,
    anchor: str = "start",
) -> str:
    """One line of text."""
    weight = ' font-weight="700"' if bold else ""
    return f'<text x="{x:g}" y="{y:g}" font-size="{size:g}" fill="{colour or ROLES["light"]["ink"]}" text-anchor="{anchor}"{weight}>{escape(text)}</text>'


def closed(parts: Sequence[str], title: str, text: str) -> str:
    """The whole SVG, with title and description for screen readers."""
    head, *rest = parts
    described = f"<title>{escape(title)}</title><desc>{escape(text)}</desc>"
    return "".join([head, described, *rest, "</svg>"])


Figure = dict[str, Any]
Mime = dict[str, Any]
CONFIG: Mapping[str, Any] = {
    "displaylogo": False,
    "showSendToCloud": False,
    "responsive": True,
    "plotlyServerURL": "",
}
STILL = """<figure class="rk-still" data-rk-still="{mark}" style="margin: 0">
<style>.jp-OutputArea-child:has(.rk-still) + .jp-OutputArea-child > .jp-OutputArea-output:not(:has(*)) {{ display: none; }}</style>
<img alt="{text}" src="data:image/svg+xml;base64,{source}" style="max-width: 100%">
<figcaption>A picture, because no kernel runs this lab. <b>Run this cell</b> to play it and to act.</figcaption>{film}</figure>"""
"""A board where no widget lives; its style hides the line with which JupyterLab says that a widget is gone."""
SAVE_S = 0.5
"""How long after a change the stored output follows, so that a drag stores its end alone."""
VIEW_MIME = "application/vnd.jupyter.widget-view+json"
PLOTLY_MIME = "application/vnd.plotly.v1+json"


def show(figure: Figure, text: str | None = None) -> None:
    """Display a figure in a notebook and print its text twin (the figure's own, unless given)."""
    from IPython.display import display

    twin = text if text is not None else str(figure.get("layout", {}).get("meta", {}).get("text", ""))
    publish: Callable[..., Any] = display
    publish({PLOTLY_MIME: as_plotly(figure), "text/plain": twin}, raw=True)
    if twin:
        print(twin)  # noqa: T201 - the text twin is output


def with_twins(bundle: tuple[Mime, Mime] | None, twins: Mapping[str, str]) -> tuple[Mime, Mime] | None:
    """A widget's bundle with its text or picture, which a notebook file shows where no kernel runs."""
    return None if bundle is None else ({**bundle[0], **twins}, bundle[1])


class Still:
    """The picture of a widget in an output of its own, before the widget's: a reopened notebook shows it where the widget is gone.

    The page hides it as long as the widget lives (``page/lab/kernel/still.js``).
    """

    def __init__(self, mark: str) -> None:
        self.mark = mark
        self._handle: Any = None
        self._waiting: asyncio.TimerHandle | None = None

    def show(self, made: Callable[[], tuple[str, str, str]], view: tuple[Mime, Mime] | None) -> None:
        """Display what ``made`` makes (SVG, words, film), and the widget's view in an output of its own."""
        from IPython.display import display

        publish: Callable[..., Any] = display
        self._handle = publish(self.bundle(*made()), raw=True, display_id=True)
        if view is not None:
            publish({VIEW_MIME: view[0][VIEW_MIME]}, raw=True)

    def again(self, made: Callable[[], tuple[str, str, str]]) -> None:
        """Put the present state in the place of the one that was displayed, if one was; soon, where an event loop runs."""
        if self._handle is None:
            return
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._handle.update(self.bundle(*made()), raw=True)
            return
        if self._waiting is not None:
            self._waiting.cancel()
        self._waiting = loop.call_later(SAVE_S, lambda: self._handle.update(self.bundle(*made()), raw=True))

    def bundle(self, svg: str, text: str, film: str = "") -> Mime:
        """The picture as HTML, which untrusted notebooks show too, with the film; as SVG; and as words."""
        source = base64.b64encode(svg.encode("utf-8")).decode("ascii")
        html = STILL.format(mark=escape(self.mark), text=escape(text, quote=True), source=source, film=film)
        return {"text/html": html, "image/svg+xml": svg, "text/plain": text}


def as_plotly(figure: Figure) -> Figure:
    """The figure with the kit's plotly configuration (no logo, no cloud), and its names as text.

    Plotly reads a part of HTML in every text; of a figure's texts only the kit's own marks are left to it.
    """
    drawn = {key: _as_text(part) for key, part in figure.items() if key != "config"}
    return {**drawn, "config": {**CONFIG, **figure.get("config", {})}}


_OWN_MARKS = re.compile(r"(<br>|<span style='font-size:13px'>|</span>|<extra></extra>)")


def _as_text(part: Any) -> Any:
    """A part of a figure with ``<`` and ``&`` as entities, the kit's own marks and the text twin excepted.

    >>> _as_text(["c1", "<a href=x>c2</a>, owner<br>1 s"])
    ['c1', '&lt;a href=x>c2&lt;/a>, owner<br>1 s']
    """
    if isinstance(part, Mapping):
        return {key: value if key == "meta" else _as_text(value) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_as_text(value) for value in part]
    if not isinstance(part, str) or ("<" not in part and "&" not in part):
        return part
    pieces = _OWN_MARKS.split(part)
    return "".join(
        piece if place % 2 else piece.replace("&", "&amp;").replace("<", "&lt;")
        for place, piece in enumerate(pieces)
    )


def packed(values: Iterable[int], kind: str = "i1") -> dict[str, str]:
    """Small integers as plotly's typed array; ``kind`` i1 (-128 to 127) or i2.

    >>> packed([1, 2, 3])
    {'dtype': 'i1', 'bdata': 'AQID'}
    """
    numbers = list(values)
    code = {"i1": "b", "i2": "h"}[kind]
    return {
        "dtype": kind,
        "bdata": base64.b64encode(struct.pack(f"<{len(numbers)}{code}", *numbers)).decode("ascii"),
    }


def base_layout(theme: str, title: str, text: str, height: int) -> Figure:
    """The layout that all figures share: colours, type, no grid that competes with the data."""
    role = ROLES[theme]
    size = 20 if theme == "projector" else 13
    return {
        "title": {
            "text": title,
            "x": 0.01,
            "xanchor": "left",
            "font": {"size": size + 3, "color": role["ink"]},
        },
        "font": {"family": FONT, "size": size, "color": role["ink"]},
        "paper_bgcolor": role["surface"],
        "plot_bgcolor": role["surface"],
        "height": height,
        "margin": {"l": 150, "r": 20, "t": 60, "b": 50},
        "hoverlabel": {"font": {"family": FONT}},
        "meta": {"text": text},
    }


def visible_lines(lines: Sequence[tuple[float, str, str]], role: Mapping[str, str]) -> list[Figure]:
    """Vertical lines at (x, dash, role name)."""
    return [
        {
            "type": "line",
            "xref": "x",
            "yref": "paper",
            "x0": x,
            "x1": x,
            "y0": 0,
            "y1": 1,
            "line": {"color": role[name], "width": 1, "dash": dash},
        }
        for x, dash, name in lines
    ]
