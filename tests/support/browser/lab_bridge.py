"""A page that shows the lab while its kernel side runs in the test itself: real requests, no Jupyter in between."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

from rebalance_kit.view.lab.page import script, style

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>lab</title><style>{style}</style></head><body style="margin:16px">
<div id="el" style="width:{width}px"></div><script type="module">
{script}
const data = {{}}, heard = {{}};
const bytes = (text) => new DataView(Uint8Array.from(atob(text), (one) => one.charCodeAt(0)).buffer);
window.push = (state) => {{ for (const [key, value] of Object.entries(state)) {{ data[key] = key === "film" ? bytes(value) : value; (heard[`change:${{key}}`] || []).forEach((run) => run()); }} }};
window.custom = (message, buffers) => (heard["msg:custom"] || []).forEach((run) => run(message, buffers.map(bytes)));
const model = {{ get: (key) => data[key], set: (key, value) => {{ data[key] = value; }}, save_changes: () => window.toKernel({{ save: {{ cursor_ms: data.cursor_ms, theme: data.theme }} }}),
  send: (message) => window.toKernel({{ send: message }}), off() {{}}, on: (name, run) => {{ (heard[name] ||= []).push(run); }} }};
window.begin = () => {{ widget.render({{ model, el: document.getElementById("el") }}); window.lab = document.getElementById("el").rebalanceLab; }};
window.ready = true;
</script></body></html>"""


class Bridge:
    """The lab on a page; ``pump`` lets both sides work until a condition holds on the page."""

    def __init__(self, page, lab, target, width=1040):
        self.page, self.lab, self.sent, self.asked = page, lab, 0, []
        self.listening = True
        self._queue: list[dict[str, Any]] = []
        page.expose_function("toKernel", lambda message: self._queue.append(message))  # noqa: PLW0108 - playwright marks what it is given
        text = PAGE.format(
            style=style(), script=script().replace("export default", "const widget ="), width=width
        )
        target.write_text(text, encoding="utf-8")
        page.goto(target.as_uri())
        page.wait_for_function("window.ready")
        page.evaluate("state => { push(state); begin(); }", self._state())
        page.locator(".rk-stage").wait_for()
        self.root = page.locator(".rk-lab")

    def _state(self):
        lab = self.lab
        return {
            "film": base64.b64encode(lab.film).decode(),
            "controls": json.loads(json.dumps(lab.controls)),
            "cursor_ms": lab.cursor_ms,
            "theme": lab.theme,
        }

    def pump(self, condition="true", seconds=20.0):
        """Answer the page until a JavaScript condition holds there; fails with the condition after a while."""
        end = time.monotonic() + seconds
        while True:
            self._answer_all()
            if self.page.evaluate(f"() => {{ return !!({condition}); }}") and not self._queue:
                return
            assert time.monotonic() < end, condition
            self.page.wait_for_timeout(15)

    def _answer_all(self):
        while self._queue and self.listening:
            message = self._queue.pop(0)
            if "save" in message:
                self.lab.set_trait("cursor_ms", message["save"]["cursor_ms"])
                self.lab.theme = message["save"]["theme"]
                continue
            self.asked.append(message["send"]["type"])
            before, answers = self.lab.controls["serial"], []
            self.lab.send = lambda content, buffers=None, kept=answers: kept.append((content, buffers or []))
            self.lab.handle(message["send"])
            if self.lab.controls["serial"] != before:
                self.page.evaluate(
                    "({ film, controls, cursor_ms }) => push({ film, controls, cursor_ms })", self._state()
                )
            for content, buffers in answers:
                self.page.evaluate(
                    "([content, buffers]) => custom(content, buffers)",
                    [content, [base64.b64encode(one).decode() for one in buffers]],
                )

    def press(self, *keys):
        """Press keys one after the other, each answered before the next."""
        self.page.evaluate("lab.root.contains(document.activeElement) || lab.board().focus()")
        for key in keys:
            self.page.keyboard.press(key)
            self.settle()

    def click(self, name, **how):
        """Click a button by its name, and let the kernel answer."""
        self.root.get_by_role("button", name=name, **how).first.click()
        self.settle()

    def settle(self):
        """Let everything that is under way end."""
        self.page.wait_for_timeout(30)
        self.pump(
            "!lab.talk.open.size && !lab.talk.changing && lab.serial === lab.model.get('controls').serial"
        )

    def seek(self, at_ms):
        """Move the cursor as the slider does."""
        self.page.evaluate("at => lab.seek(at, false)", at_ms)
        self.pump()

    def open_tab(self, name):
        """Open a tab and wait until it shows something."""
        self.root.locator(f"[data-tab={name}]").click()
        self.pump(
            f"lab.panels.name === '{name}' && ('{name}' === 'flow' || (!lab.panels.asking && document.querySelector('.rk-panel .rk-view') && !document.querySelector('.rk-wait')))"
        )

    def text(self, selector):
        """The visible text of a part."""
        return self.root.locator(selector).first.inner_text()
