"""Thirteen places of the lab, each reached as a user reaches it, and what is wrong with the picture of a place."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rebalance_kit.view.lab.widget import Lab
from tests.support.browser.lab_bridge import Bridge

SIZES: Mapping[str, tuple[int, int]] = {
    "1024": (1024, 768),
    "1280": (1280, 720),
    "1366": (1366, 768),
    "1920": (1920, 1080),
}
"""Windows of four screens; the lab takes the window's width but for a margin."""
THEMES = ("light", "dark", "projector")
NO_FULL_SCREEN = "document.documentElement.requestFullscreen = null; lab.ui.root.requestFullscreen = null"

CUT = """() => {
  const words = ".rk-part span, .rk-word, .rk-name, .rk-doing, .rk-third, .rk-title, .rk-cause, .rk-effect, .rk-beatrule, "
    + ".rk-steps li, .rk-seat, .rk-ctitle b, .rk-ctitle span, .rk-number b, .rk-number span, .rk-tabs button, .rk-cost, .rk-notice, "
    + ".rk-rail p, .rk-head button, .rk-actions button, .rk-chipbutton, .rk-rowname, .rk-pill, legend";
  return [...document.querySelectorAll(words)].filter((one) =>
    one.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && one.textContent && one.clientWidth
    && !one.matches(".rk-status") && getComputedStyle(one).overflow !== "visible"
    && (one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 3)).map((one) => `${one.className}: ${one.textContent}`);
}"""
"""Words that are cut off, with their class."""
OUTSIDE = """() => {
  const root = document.querySelector(".rk-lab"), edge = root.getBoundingClientRect();
  const clipped = (one) => { for (let at = one.parentElement; at && at !== root; at = at.parentElement)
    if (getComputedStyle(at).overflowX !== "visible") return true; return false; };
  return [...root.querySelectorAll("*")].filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest(".rk-status, svg, .rk-slider")
    && one.getBoundingClientRect().width && (one.getBoundingClientRect().right > edge.right + 1 || one.getBoundingClientRect().left < edge.left - 1)
    && !clipped(one) && !one.matches(".rk-slider")).map((one) => one.className);
}"""
"""Parts that reach beyond the lab at its sides."""
COVERED = """() => {
  const leaves = [...document.querySelectorAll(".rk-lab *")].filter((one) =>
    one.checkVisibility({ visibilityProperty: true, opacityProperty: true }) && !one.closest(".rk-status, .rk-bus, .rk-would, svg, option, select, .rk-popup, .rk-keys, .rk-cursor, canvas, .rk-fogged .rk-strip")
    && [...one.childNodes].some((node) => node.nodeType === 3 && node.data.trim()));
  const boxes = leaves.flatMap((one) => {
    const text = [...one.childNodes].find((node) => node.nodeType === 3 && node.data.trim());
    const range = document.createRange(); range.selectNodeContents(text);
    let { left, right, top, bottom } = range.getBoundingClientRect();
    for (let at = one; at && at.parentElement; at = at.parentElement) {
      if (getComputedStyle(at).overflow === "visible") continue;
      const clip = at.getBoundingClientRect();
      left = Math.max(left, clip.left); right = Math.min(right, clip.right); top = Math.max(top, clip.top); bottom = Math.min(bottom, clip.bottom);
    }
    return right - left > 1 && bottom - top > 1 ? [{ one, text: text.data, left, right, top, bottom }] : [];
  });
  for (const one of document.querySelectorAll(".rk-lab .rk-token .rk-records svg"))
    if (one.checkVisibility({ visibilityProperty: true })) {
      const { left, right, top, bottom } = one.getBoundingClientRect();
      boxes.push({ one, text: "records", left, right, top, bottom: bottom - 3 });
    }
  const found = [];
  boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => {
    if (a.one.contains(b.one) || b.one.contains(a.one)) return;
    if (a.one.parentElement === b.one.parentElement && getComputedStyle(b.one).display === "inline") return; // one text, wrapped
    const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left), high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (wide > 2 && high > 4) found.push(`${a.one.className}: ${a.text} | ${b.one.getAttribute("class")}: ${b.text}`);
  }));
  return found;
}"""
"""Words that lie on other words; what lies on the bus travels, and a popup lies on the board."""


def _first(_bridge: Bridge) -> None:
    pass


def _unread(bridge: Bridge) -> None:
    bridge.press("c")
    bridge.page.evaluate("lab.player.pause()")
    bridge.seek(bridge.lab.cursor_ms + 12_000)


def _guided(bridge: Bridge) -> None:
    bridge.click("Guide me")
    bridge.pump("lab.guide.on")
    for _ in range(3):
        bridge.page.evaluate("lab.guide.go(lab.guide.index + 1)")
    bridge.settle()


def _tab(name: str) -> Callable[[Bridge], None]:
    def opened(bridge: Bridge) -> None:
        bridge.open_tab(name)
        bridge.settle()

    return opened


def _compare(bridge: Bridge) -> None:
    bridge.press("v")
    bridge.pump("lab.comparison.view")


def _settings(bridge: Bridge) -> None:
    bridge.click("Settings")
    bridge.pump("lab.drawer.open")


def _predict(bridge: Bridge) -> None:
    bridge.press("g")
    bridge.pump("lab.drawer.open")
    bridge.press("c")
    bridge.pump("document.querySelector('.rk-drawer .rk-question')")


def _more(bridge: Bridge) -> None:
    bridge.click("More actions")


def _present(bridge: Bridge) -> None:
    bridge.page.evaluate(NO_FULL_SCREEN)
    bridge.click("Present")
    bridge.settle()
    bridge.page.wait_for_function("lab.presenter.on")
    bridge.page.wait_for_timeout(60)


PLACES: Mapping[str, tuple[str, str | None, int | None, Callable[[Bridge], None]]] = {
    "first": ("two-consumers-crash", "eager", None, _first),
    "unread": ("crash-in-hand-over", "cooperative", 50_000, _first),
    "guided": ("crash-in-hand-over", "eager", None, _guided),
    "timeline": ("crash-in-hand-over", "eager", 50_000, _tab("timeline")),
    "messages": ("join", "eager", 34_867, _tab("messages")),
    "logs": ("crash", "consumer", 70_000, _tab("logs")),
    "metrics": ("crash", "eager", 70_000, _tab("metrics")),
    "compare": ("crash-in-hand-over", None, 50_000, _compare),
    "settings": ("crash", "eager", 30_000, _settings),
    "predict": ("crash", "eager", 30_000, _predict),
    "more": ("crash", "eager", 30_000, _more),
    "fifty": ("fifty-by-five-hundred", "eager", 48_700, _first),
    "present": ("crash", "eager", 74_000, _present),
}
"""Scenario, protocol, moment, and what leads there."""


def opened(page, target, place: str, size: str) -> Bridge:
    """The lab at a place, in a window of a size."""
    scenario, protocol, at_ms, lead = PLACES[place]
    width, height = SIZES[size]
    page.set_viewport_size({"width": width, "height": height})
    bridge = Bridge(page, Lab(scenario, protocol=protocol, theme="light"), target, width - 40)
    bridge.page.evaluate("lab.player.pause()")
    if at_ms is not None:
        bridge.seek(at_ms)
    lead(bridge)
    bridge.settle()
    bridge.pump("lab.pane.root.hidden || lab.predict.on || lab.guide.content")
    bridge.settle()
    bridge.page.wait_for_timeout(100)
    return bridge


def in_theme(bridge: Bridge, theme: str) -> None:
    """The same place in another theme."""
    bridge.push({"theme": theme})
    bridge.settle()
    bridge.page.wait_for_timeout(60)
