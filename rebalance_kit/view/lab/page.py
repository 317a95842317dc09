"""The lab as a page of its own: the same script and style as the widget, around a run that needs no kernel."""

from __future__ import annotations

import base64
import json
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any

from rebalance_kit.view.style.theme import stylesheet

STATIC = Path(__file__).parent / "static"
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>{style}
body {{ margin: 16px; }}</style></head><body>
<div id="lab"></div>
<noscript><pre>{text}</pre></noscript>
<script type="module">
{script}
const held = {data};
held.film = new DataView(Uint8Array.from(atob(held.film), (one) => one.charCodeAt(0)).buffer);
const model = {{ get: (key) => held[key], set: (key, value) => {{ held[key] = value; }}, save_changes() {{}}, on() {{}}, off() {{}}, send() {{}} }};
widget.render({{ model, el: document.getElementById("lab") }});
</script></body></html>
"""


@lru_cache(maxsize=1)
def script() -> str:
    """The lab's modules as one, in the order of their names."""
    return "\n".join(part.read_text(encoding="utf-8") for part in sorted((STATIC / "js").glob("*.js")))


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
        script=script().replace("export default", "const widget ="),
        data=json.dumps(data, ensure_ascii=False).replace("</", "<\\/"),
    )
