"""Showing a figure: its MIME bundle at once, and its text twin below it.

Figures are plain dictionaries. Handing the bundle over takes milliseconds, where building and
validating graph objects takes a second; nothing is uploaded and no network is asked.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rebalance_kit.view.style.palettes import FONT, ROLES

Figure = dict[str, Any]
Mime = dict[str, Any]
CONFIG: Mapping[str, Any] = {
    "displaylogo": False,
    "showSendToCloud": False,
    "responsive": True,
    "plotlyServerURL": "",
}
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


def as_plotly(figure: Figure) -> Figure:
    """The figure with the kit's plotly configuration: no logo, no cloud."""
    return {**figure, "config": {**CONFIG, **figure.get("config", {})}}


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
