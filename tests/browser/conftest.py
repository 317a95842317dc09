"""A real JupyterLab on loopback and a real Chromium, for tests that look at the screen."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

from tests.support.browser.servers import free_port, served
from tests.support.paths import ROOT

SHOTS = ROOT / "build" / "screenshots"
STILL = """async () => {
  const end = performance.now() + 5_000;
  while (document.getAnimations().some((one) => one.playState === "running")) {
    if (performance.now() > end) throw new Error("something on the page still moves after 5 s");
    await new Promise(requestAnimationFrame);
  }
}"""
"""Waits in the page itself: a page with a Content-Security-Policy refuses what ``wait_for_function`` evaluates."""


@pytest.fixture
def page(chromium) -> Iterator[object]:
    """A fresh page of projector size; whatever fails in its scripts fails the test."""
    context = chromium.new_context(viewport={"width": 1366, "height": 900}, color_scheme="light")
    context.add_init_script(
        "localStorage.setItem('rebalance-kit-seen', '2')"
    )  # a reader who has used the lab
    opened = context.new_page()
    failures: list[str] = []
    opened.on("pageerror", lambda error: failures.append(str(error)))
    yield opened
    context.close()
    assert not [one for one in failures if "rk-" in one or "rebalance" in one.lower() or "Lab" in one], (
        failures
    )


@pytest.fixture(scope="session")
def notebooks(tmp_path_factory) -> Path:
    """The folder that the server shows."""
    return tmp_path_factory.mktemp("notebooks")


@pytest.fixture(scope="session")
def jupyter(notebooks, tmp_path_factory) -> Iterator[str]:
    """The address of a JupyterLab of our own; it is ended by its process id."""
    home = tmp_path_factory.mktemp("jupyter-home")
    env = {
        **os.environ,
        "JUPYTER_RUNTIME_DIR": str(home / "run"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "IPYTHONDIR": str(home / "ipython"),
        "PYTHONPATH": str(ROOT),
    }
    settings = home / "config" / "labconfig"
    settings.mkdir(parents=True)
    (settings / "page_config.json").write_text(
        '{"disabledExtensions": {"@jupyterlab/apputils-extension:announcements": true}}', encoding="utf-8"
    )
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        "--ServerApp.ip=127.0.0.1",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",
        "--IdentityProvider.token=",
        "--ServerApp.password=",
        "--ServerApp.allow_root=True",
        f"--ServerApp.root_dir={notebooks}",
        "--ServerApp.disable_check_xsrf=True",
        "--LabApp.expose_app_in_browser=True",
    ]
    with served(command, env, f"http://127.0.0.1:{port}", "/lab") as address:
        yield address


@pytest.fixture
def write_notebook(notebooks):
    """Write a notebook of code cells and return its name."""

    def write(name: str, *cells: str) -> str:
        made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(made, notebooks / name)
        return name

    return write


@pytest.fixture
def shot():
    """Wait until the page is still; under ``make test-long`` save a picture of a part of it, for people to look at."""
    SHOTS.mkdir(parents=True, exist_ok=True)

    def save(part, name: str) -> None:
        getattr(part, "page", part).evaluate(STILL)
        if os.environ.get("REBALANCE_KIT_LONG") == "1":
            part.screenshot(path=SHOTS / f"{name}.png")

    return save
