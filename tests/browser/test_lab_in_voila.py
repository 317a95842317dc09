"""Voila serves the lab as a page, and Crash works there."""

from __future__ import annotations

import importlib.util
import os
import sys

import pytest

from tests.support.browser.servers import free_port, served
from tests.support.paths import ROOT


@pytest.fixture
def voila(write_notebook, notebooks, tmp_path):
    if importlib.util.find_spec("voila") is None:
        pytest.skip("voila is not installed: pip install 'rebalance-kit[serve]'")
    name = write_notebook("served.ipynb", "from rebalance_kit.view import Lab\nLab()")
    env = {
        **os.environ,
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "run"),
        "JUPYTER_CONFIG_DIR": str(tmp_path / "config"),
        "IPYTHONDIR": str(tmp_path / "ipython"),
        "PYTHONPATH": str(ROOT),
    }
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "voila",
        "--no-browser",
        f"--port={port}",
        "--Voila.ip=127.0.0.1",
        str(notebooks / name),
    ]
    with served(command, env, f"http://127.0.0.1:{port}", "/voila/static/require.min.js") as address:
        yield address


def test_voila_serves_the_lab_and_crash_works_there(page, voila, shot):
    page.goto(voila, wait_until="domcontentloaded", timeout=60_000)
    lab = page.locator(".rk-lab")
    lab.locator(".rk-stage").wait_for(timeout=60_000)
    lab.get_by_role("button", name="Crash consumer-1", exact=True).click()
    lab.locator("[data-member='consumer-1'][data-look='crashed']").wait_for(timeout=30_000)
    shot(lab, "voila-crashed")
