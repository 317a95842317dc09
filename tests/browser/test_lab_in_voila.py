"""Voila serves the lab as a page, and Crash works there."""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest


@pytest.fixture
def voila(write_notebook, notebooks, tmp_path):
    if importlib.util.find_spec("voila") is None:
        pytest.skip("voila is not installed: pip install 'rebalance-kit[serve]'")
    name = write_notebook("served.ipynb", "from rebalance_kit.view import Lab\nLab()")
    env = {**os.environ, "JUPYTER_RUNTIME_DIR": str(tmp_path / "run"), "JUPYTER_CONFIG_DIR": str(tmp_path / "config"), "IPYTHONDIR": str(tmp_path / "ipython"), "PYTHONPATH": str(Path(__file__).resolve().parents[2])}  # fmt: skip
    server = subprocess.Popen(
        [sys.executable, "-m", "voila", "--no-browser", "--port=0", "--Voila.ip=127.0.0.1", str(notebooks / name)],
        env=env, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, start_new_session=True,
    )  # fmt: skip
    try:
        yield _address(server)
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.wait(timeout=30)


def _address(server):
    said = []
    for line in server.stderr:
        said.append(line)
        found = re.search(r"(http://(?:127\.0\.0\.1|localhost):[1-9]\d*)", line)
        if found:
            threading.Thread(
                target=server.stderr.read, daemon=True
            ).start()  # a full pipe would stop the server
            return found[1]
    raise AssertionError("Voila did not start:\n" + "".join(said[-20:]))


def test_voila_serves_the_lab_and_crash_works_there(page, voila, shot):
    page.goto(voila, wait_until="domcontentloaded")
    lab = page.locator(".rk-lab")
    lab.locator(".rk-stage").wait_for(timeout=90_000)
    lab.get_by_role("button", name="Crash consumer-1", exact=True).click()
    lab.locator("[data-member='consumer-1'][data-look='crashed']").wait_for(timeout=30_000)
    shot(lab, "voila-crashed")
