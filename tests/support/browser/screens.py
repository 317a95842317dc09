"""Each page of the course as a projector shows it: screens of a real JupyterLab, and what is wrong in them.

``python -m tests.support.browser.screens 03 07 --themes dark --run --to build/screens`` opens the notebooks in JupyterLab
(stored outputs, trusted; ``--run`` executes them first), unfolds what is folded, and writes contact sheets of six screens and ``found.json``:
parts wider than their box, text with little contrast, small text, standard error. What only an eye sees is on the sheets.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

from tests.support.browser.servers import free_port, served
from tests.support.paths import ROOT

WIDTH, HEIGHT = 1366, 768
SHEET, COLUMNS, SCREEN_WIDTH = 6, 2, 900
OVERLAP = 40
WAIT_MS = 90_000
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
_SCROLLED = ".jp-WindowedPanel-outer"
_READY = """() => {
  const plots = [...document.querySelectorAll('.jp-RenderedPlotly, .js-plotly-plot')];
  return plots.every((plot) => plot.querySelector('.main-svg')) && document.fonts.status === 'loaded'
    && [...document.images].every((image) => image.complete);
}"""
MEASURE = Path(__file__).with_suffix(".js")


def settings(home: Path, theme: str) -> dict[str, str]:
    """The environment of a JupyterLab in this theme that keeps all cells on the page."""
    folder = home / "config" / "labconfig"
    folder.mkdir(parents=True, exist_ok=True)
    announcements = "@jupyterlab/apputils-extension:announcements"
    (folder / "page_config.json").write_text(
        json.dumps({"disabledExtensions": {announcements: True}}), "utf-8"
    )
    overrides = {
        "@jupyterlab/apputils-extension:themes": {"theme": THEMES[theme]},
        "@jupyterlab/notebook-extension:tracker": {"windowingMode": "none"},
    }
    (folder / "default_setting_overrides.json").write_text(json.dumps(overrides), "utf-8")
    return {
        **os.environ,
        "JUPYTER_RUNTIME_DIR": str(home / "run"),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "IPYTHONDIR": str(home / "ipython"),
        "REBALANCE_KIT_ATTEMPTS": str(home / "answers.sqlite"),
        "PYTHONPATH": str(ROOT),
    }


@contextmanager
def jupyterlab(home: Path, shown: Path, theme: str) -> Iterator[str]:
    """A JupyterLab of our own over a folder; it is ended by its process id."""
    port = free_port()
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--ServerApp.ip=127.0.0.1"),
        *(f"--ServerApp.port={port}", "--ServerApp.port_retries=0", "--IdentityProvider.token="),
        *("--ServerApp.password=", "--ServerApp.allow_root=True", f"--ServerApp.root_dir={shown}"),
        *("--ServerApp.disable_check_xsrf=True", "--LabApp.expose_app_in_browser=True"),
    ]
    with served(command, settings(home, theme), f"http://127.0.0.1:{port}", "/lab") as address:
        yield address


def trusted(home: Path, shown: Path, theme: str) -> None:
    """Sign the notebooks of a folder, so that their stored outputs are shown whole."""
    names = sorted(str(path) for path in shown.glob("*.ipynb"))
    subprocess.run([sys.executable, "-m", "jupyter", "trust", *names], env=settings(home, theme), check=True)


def opened(page: Any, address: str, name: str, run: bool) -> None:
    """Open a notebook and wait until its stored outputs stand, or run it and wait until it is idle."""
    page.goto(f"{address}/doc/tree/{name}?reset", wait_until="domcontentloaded")
    page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=WAIT_MS)
    if run:
        _run_all(page)
    page.wait_for_timeout(1_500)
    page.wait_for_function(_READY, timeout=WAIT_MS)
    page.evaluate(
        "document.querySelectorAll('.jp-Notebook details').forEach((fold) => { fold.open = true; })"
    )
    page.wait_for_timeout(500)


def _run_all(page: Any) -> None:
    """Run every cell, once the kernel is there, and wait for the last."""
    idle = ".jp-Notebook-ExecutionIndicator[data-status='idle']"
    page.locator(idle).wait_for(state="attached", timeout=WAIT_MS)
    page.wait_for_timeout(3_000)
    page.locator(".jp-NotebookPanel-toolbar").get_by_text("Python 3 (ipykernel)").wait_for(timeout=WAIT_MS)
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_text("Run All Cells", exact=True).click()
    if (
        page.locator(".jp-Dialog").count()
        or page.wait_for_timeout(2_000)
        or page.locator(".jp-Dialog").count()
    ):
        page.locator(".jp-Dialog button.jp-mod-accept").click()  # no kernel yet: the one that is proposed
    page.wait_for_function(
        "![...document.querySelectorAll('.jp-InputPrompt')].some((one) => one.textContent.includes('*'))",
        timeout=10 * WAIT_MS,
    )


def screens(page: Any) -> list[bytes]:
    """The notebook, screen after screen."""
    height, whole = page.evaluate(
        f"(() => {{ const at = document.querySelector('{_SCROLLED}'); const last = [...document.querySelectorAll('.jp-Notebook .jp-Cell')].at(-1).getBoundingClientRect().bottom; return [at.clientHeight, last - at.getBoundingClientRect().top + at.scrollTop]; }})()"
    )
    taken, at = [], 0
    while True:
        page.evaluate(f"document.querySelector('{_SCROLLED}').scrollTop = {at}")
        page.wait_for_timeout(150)
        taken.append(page.screenshot())
        if at + height >= whole:
            return taken
        at += height - OVERLAP


def sheets(taken: Sequence[bytes], stem: str, folder: Path) -> None:
    """Put screens together, six on a sheet."""
    from PIL import Image

    height = round(SCREEN_WIDTH * HEIGHT / WIDTH)
    for start in range(0, len(taken), SHEET):
        part = taken[start : start + SHEET]
        rows = -(-len(part) // COLUMNS)
        sheet = Image.new("RGB", (COLUMNS * SCREEN_WIDTH, rows * height), "#888")
        for place, png in enumerate(part):
            screen = (
                Image.open(BytesIO(png))
                .convert("RGB")
                .resize((SCREEN_WIDTH - 4, height - 4), Image.Resampling.LANCZOS)
            )
            sheet.paste(screen, ((place % COLUMNS) * SCREEN_WIDTH, (place // COLUMNS) * height))
        sheet.save(folder / f"{stem}-{start // SHEET + 1:02d}.png")


def look(names: Sequence[str], themes: Sequence[str], run: bool, folder: Path) -> dict[str, Any]:
    """Take the screens of the notebooks and measure them; returns what was found by notebook and theme."""
    from playwright.sync_api import sync_playwright

    from rebalance_kit.doctor import find_chromium
    from tests.conftest import QUIET_BROWSER

    found: dict[str, Any] = {}
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as made, sync_playwright() as driver:
        home = Path(made)
        shown = Path(shutil.copytree(ROOT / "notebooks", home / "notebooks"))
        browser = driver.chromium.launch(executable_path=str(find_chromium()), args=list(QUIET_BROWSER))
        for theme in themes:
            trusted(home, shown, theme)
            with jupyterlab(home, shown, theme) as address:
                for name in names:
                    page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}, color_scheme="light")
                    opened(page, address, name, run)
                    taken = screens(page)
                    stem = f"{name.split('-')[0]}-{theme}{'-run' if run else ''}"
                    sheets(taken, stem, folder)
                    found[stem] = {"screens": len(taken), **page.evaluate(MEASURE.read_text("utf-8"))}
                    print(
                        stem,
                        {
                            kind: part if isinstance(part, int) else len(part)
                            for kind, part in found[stem].items()
                        },
                        flush=True,
                    )
                    page.close()
        browser.close()
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Take the screens of the notebooks that are named by their numbers, or of all."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("numbers", nargs="*", help="00, 04b, I …; none means all")
    parser.add_argument("--themes", nargs="+", choices=sorted(THEMES), default=sorted(THEMES, reverse=True))
    parser.add_argument(
        "--run", action="store_true", help="execute the notebooks first, so that widgets live"
    )
    parser.add_argument("--to", type=Path, default=ROOT / "build" / "screens")
    asked = parser.parse_args(arguments)
    every = sorted(path.name for path in (ROOT / "notebooks").glob("*.ipynb"))
    names = [name for name in every if not asked.numbers or name.split("-")[0] in asked.numbers]
    found = look(names, asked.themes, asked.run, asked.to)
    path = asked.to / "found.json"
    before = json.loads(path.read_text("utf-8")) if path.exists() else {}
    path.write_text(json.dumps({**before, **found}, indent=1, ensure_ascii=False), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
