"""A page that shows the lab while its kernel side runs in the test itself: real requests, no Jupyter in between."""

from __future__ import annotations

import base64
import json
import time
from typing import Any

from tests.support.browser.lab_page import open_lab_page

# The kernel's side of the model (page/shared/model.js): what the page asks is queued here.
BEGIN = """state => {
  const kernel = {
    send: (message) => toKernel({ send: message }),
    save: ({ cursor_ms, theme }) => toKernel({ save: { cursor_ms, theme } }),
  };
  window.model = new kit.PageModel(readState(state), kernel);
  show(model);
}"""


class Bridge:
    """The lab on a page; ``pump`` lets both sides work until a condition holds on the page."""

    def __init__(self, page, lab, target, width=1040):
        self.page, self.lab, self.sent, self.asked = page, lab, 0, []
        self.listening = True
        self._queue: list[dict[str, Any]] = []
        page.expose_function("toKernel", lambda message: self._queue.append(message))  # noqa: PLW0108 - playwright marks what it is given
        open_lab_page(page, target, width)
        self.begin()
        page.locator(".rk-stage").wait_for()
        self.root = page.locator(".rk-lab")

    def begin(self):
        """Show the lab on the page that is open."""
        self.page.evaluate(BEGIN, self._state())

    def push(self, state):
        """Let the page hear what the kernel has set."""
        self.page.evaluate("state => model.receive(readState(state))", state)

    def _state(self):
        lab = self.lab
        return {
            "film": base64.b64encode(lab.film).decode(),
            "controls": json.loads(json.dumps(lab.controls)),
            "cursor_ms": lab.cursor_ms,
            "theme": lab.theme,
        }

    def pump(self, condition="true", seconds=60.0):
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
            before, film, answers = self.lab.controls["serial"], self.lab.film, []
            self.lab.send = lambda content, buffers=None, kept=answers: kept.append((content, buffers or []))
            self.lab.handle(message["send"])
            if self.lab.controls["serial"] != before:
                same = (
                    {"theme", "film"} if self.lab.film == film else {"theme"}
                )  # a trait that stays is not sent
                self.push({key: value for key, value in self._state().items() if key not in same})
            for content, buffers in answers:
                self.page.evaluate(
                    "([content, buffers]) => model.hear(content, buffers.map(kit.bytesOf))",
                    [content, [base64.b64encode(one).decode() for one in buffers]],
                )

    def press(self, *keys):
        """Press keys one after the other, each answered before the next."""
        self.page.evaluate("lab.ui.root.contains(document.activeElement) || lab.screen.focusTarget().focus()")
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
            f"lab.panels.name === '{name}' && ('{name}' === 'flow' || (!lab.panels.asking && document.querySelector('.rk-panel .rk-view') && !document.querySelector('.rk-wait:not([hidden])')))"
        )

    def text(self, selector):
        """The visible text of a part."""
        return self.root.locator(selector).first.inner_text()
