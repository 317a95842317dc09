"""The film in the stored output of a cell: it plays where scripts run, and leaves the picture where they do not.

The output holds the lab's script, its style and the run, each deflated. A button that the script itself puts below the picture
inflates them when it is pressed, so an output that nobody plays costs nothing but its bytes, and a page that takes scripts
out (GitHub, a notebook that is not trusted) shows no dead button.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise

from rebalance_kit.view.board.boards import Boards
from rebalance_kit.view.lab.page import script, style

AFTER_MS = 2_000
"""How far into the worst stretch of a run its picture is taken, or in its middle where it is shorter."""
PLAYER = """<script>(() => {
const own = document.currentScript;
const figure = own && own.closest("figure");
if (!figure || figure.dataset.rkPlays) return;
figure.dataset.rkPlays = "1";
const inflate = async (text) => JSON.parse(await new Response(new Blob([Uint8Array.from(atob(text), (one) => one.charCodeAt(0))])
  .stream().pipeThrough(new DecompressionStream("deflate"))).text());
const note = figure.querySelector("figcaption");
const button = document.createElement("button");
button.type = "button";
button.textContent = "\\u25b6 Play";
button.style.cssText = "font:600 15px system-ui,sans-serif;padding:8px 18px;margin:4px 12px 4px 16px;cursor:pointer";
if (note) { note.textContent = "Plays here, without a kernel. Run this cell to act."; note.prepend(button); }
button.onclick = async () => {
  button.disabled = true;
  try {
    const [kit, run] = await Promise.all([inflate("{{kit}}"), inflate("{{run}}")]);
    const lab = await import(URL.createObjectURL(new Blob([kit.script], { type: "text/javascript" })));
    const sheet = document.createElement("style");
    sheet.textContent = kit.style;
    const el = document.createElement("div");
    figure.querySelector("img").replaceWith(sheet, el);
    button.remove();
    lab.default.render({ model: new lab.PageModel({ ...run, film: lab.bytesOf(run.film) }), el });
    const begin = () => el.rebalanceLab.film ? el.rebalanceLab.play() : setTimeout(begin, 30);
    begin();
  } catch (failure) {
    if (note) note.textContent = "This page lets no film play (" + failure.message + "). Run this cell to play it and to act.";
  }
};
})();</script>"""


def stored_film(film: bytes, controls: Mapping[str, object], at_ms: int, theme: str) -> str:
    """The script that plays a run in place of the picture beside it; ``film`` as ``film_bytes`` makes it."""
    run = {
        "film": base64.b64encode(film).decode("ascii"),
        "controls": {**controls, "alone": True},
        "cursor_ms": at_ms,
        "theme": theme,
    }
    return PLAYER.replace("{{kit}}", _kit()).replace("{{run}}", _deflated(run))


@lru_cache(maxsize=1)
def _kit() -> str:
    return _deflated({"script": script(), "style": style()})


def _deflated(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode("utf-8"), 9)).decode("ascii")


def deciding_ms(boards: Boards) -> int | None:
    """A moment of the stretch that costs most unread partition-seconds; None where none is unread once records flow."""
    since = boards.watched_from_ms
    spans = [
        (max(gap.from_ms, since), gap.to_ms)
        for gaps in boards.gaps.values()
        for gap in gaps
        if gap.to_ms > since
    ]
    if not spans:
        return None
    edges = sorted({edge for span in spans for edge in span})
    stretches = [
        (sum(first <= left < last for first, last in spans), right - left, left)
        for left, right in pairwise(edges)
    ]
    _, lasts, begin = max(stretches, key=lambda one: (one[0] * one[1], -one[2]))
    return begin + min(AFTER_MS, lasts // 2)
