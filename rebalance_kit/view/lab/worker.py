"""A lab that a page talks to without Jupyter: Python runs in a worker of the browser, beside the page.

The page and this lab exchange what the widget and its page exchange: traits one way, requests and answers the
other (``requests``). Only the carrier differs: here both are messages between two JavaScript contexts
(``page/site``). Nothing here knows Pyodide, so that the same lines are tested in CPython; and nothing here is of Jupyter,
which the page's Python does not have.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rebalance_kit.model.errors import ScenarioError
from rebalance_kit.view.lab.requests import handled
from rebalance_kit.view.lab.session import LabSession

Post = Callable[[str, list[bytes]], None]
"""Takes a message to the page: JSON, and the buffers that travel beside it."""
SHOWN = ("film", "controls", "cursor_ms", "theme")
HEARD = ("cursor_ms", "theme")


class WorkerLab(LabSession):
    """A lab whose page is behind ``post``; messages are ``{"state": …}`` and ``{"message": …}``.

    A film travels as the first buffer of its state (``"film": 0`` names it). Bytes of an answer are its buffers.
    """

    def __init__(self, post: Post, scenario: str | None = None, protocol: str | None = None) -> None:
        self._post = post
        self._held: set[str] | None = set()
        super().__init__(scenario, protocol)
        self._held = None
        self.observe(self._changed, names=list(SHOWN))
        self._tell(SHOWN)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Send what is set within as one state: the page must never see a film with another film's controls."""
        self._held = set()
        try:
            yield
        finally:
            held, self._held = self._held, None
            self._tell([name for name in SHOWN if name in held])

    def _changed(self, change: Any) -> None:
        if self._held is None:
            self._tell([change["name"]])
        else:
            self._held.add(change["name"])

    def _tell(self, names: list[str] | tuple[str, ...]) -> None:
        if names:
            state = {name: 0 if name == "film" else getattr(self, name) for name in names}
            self._post(json.dumps({"state": state}), [self.film] if "film" in names else [])

    def hear(self, text: str) -> None:
        """Take what the page sends: ``{"save": {…}}`` for traits that it has set, else ``{"message": …}``.

        Raises ``ScenarioError`` for anything else; a request that means nothing is refused on the page.
        """
        heard = json.loads(text)
        if not isinstance(heard, dict):
            raise ScenarioError(f"the page sent {text[:60]!r}; expected an object")
        saved, message = heard.get("save"), heard.get("message")
        if isinstance(saved, dict):
            for name in HEARD:
                if name in saved:
                    setattr(self, name, saved[name])
        if isinstance(message, dict):
            handled(self, message, lambda reply, buffers: self._post(json.dumps({"message": reply}), buffers))
