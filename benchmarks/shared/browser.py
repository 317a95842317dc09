"""A page in Chromium for a measurement, with functions of this process that it may call."""

from __future__ import annotations

import faulthandler
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LIMIT_S = 240
"""How long a page may be open: then the process ends and says which line waited for it."""


@contextmanager
def opened(html: str, arguments: Sequence[str], **exposed: Callable[..., Any]) -> Iterator[Any]:
    """The page of this text, 1100 x 900; each function is called on it by its name."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path = Path(folder) / "page.html"
        path.write_text(html, encoding="utf-8")
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=list(arguments))
        page = browser.new_page(viewport={"width": 1100, "height": 900})
        for name, function in exposed.items():
            page.expose_function(name, function)
        faulthandler.dump_traceback_later(LIMIT_S, exit=True)
        page.goto(path.as_uri())
        yield page
        faulthandler.cancel_dump_traceback_later()
        browser.close()
