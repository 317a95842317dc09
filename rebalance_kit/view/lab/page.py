"""The lab as a page of its own: the same script and style as the widget, around a run that needs no kernel."""

from __future__ import annotations

import base64
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

from rebalance_kit.view.style.embedding import embedded
from rebalance_kit.view.style.theme import stylesheet

STATIC = Path(__file__).parent / "static"
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>{style}
body {{ margin: 16px; }}</style></head><body>
<div id="rebalance-lab"></div>
<noscript><pre>{text}</pre></noscript>
<script type="application/json" data-rebalance-run>{data}</script>
<script type="module">
{script}
</script></body></html>
"""
"""The script finds the run in the page, and plays it without a kernel (page/lab/kernel/alone.js)."""


@lru_cache(maxsize=1)
def script() -> str:
    """The lab's modules as one, made of ``page/lab`` by ``make page``."""
    return (STATIC / "lab.js").read_text(encoding="utf-8")


@lru_cache(maxsize=1)
def style() -> str:
    """The lab's style sheet with the colours of all themes."""
    parts = [STATIC / "lab.css", STATIC / "panels.css"]
    return "\n".join([stylesheet(), *(part.read_text(encoding="utf-8") for part in parts)])


def page(film: bytes, controls: dict[str, Any], at_ms: int, theme: str, text: str) -> str:
    """A self-contained HTML page that plays a run; it asks no network and no kernel."""
    data = {
        "film": base64.b64encode(film).decode("ascii"),
        "controls": {**controls, "alone": True},
        "cursor_ms": at_ms,
        "theme": theme,
    }
    return PAGE.format(
        title=escape(str(controls["title"])),
        style=style(),
        text=escape(text),
        script=script().replace("</script", "<\\/script"),
        data=embedded(data),
    )
