"""A page that has loaded the lab's script, as ``window.kit``, and shows nothing yet."""

from __future__ import annotations

import json
from pathlib import Path

from rebalance_kit.view.lab.page import script, style

_PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>lab</title><style>{style}</style></head><body style="margin:16px">
<div id="el" style="width:{width}px"></div><script type="module">
const source = {source};
window.kit = await import(URL.createObjectURL(new Blob([source], {{ type: "text/javascript" }})));
window.readState = (state) => ("film" in state ? {{ ...state, film: kit.bytesOf(state.film) }} : state);
window.show = (model) => {{
  const el = document.getElementById("el");
  el.replaceChildren();
  kit.default.render({{ model, el }});
  window.lab = el.rebalanceLab;
}};
window.ready = true;
</script></body></html>"""


def open_lab_page(page, target: Path, width: int = 1040) -> None:
    """Write the page to a file, open it, and wait for the script."""
    source = json.dumps(script()).replace("</", "<\\/")
    target.write_text(_PAGE.format(style=style(), source=source, width=width), encoding="utf-8")
    page.goto(target.as_uri())
    page.wait_for_function("window.ready")
