"""A page in Chromium for a measurement, with functions of this process that it may call."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any


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
        page.goto(path.as_uri())
        yield page
        browser.close()
