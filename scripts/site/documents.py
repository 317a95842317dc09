"""The documents around the lab: docs/*.md, paths for readers, and the cases as pages with the lab embedded where they speak of it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from html import escape
from pathlib import Path
from typing import Any

import rebalance_kit.notebook as words
from rebalance_kit import scenarios
from rebalance_kit.model import __version__
from rebalance_kit.simulation.permalink import Link, write_link
from rebalance_kit.simulation.scenario.scenario import Scenario
from rebalance_kit.view.lab.session import LabSession
from scripts.bundle import ROOT
from scripts.site.lab import AS_CONFIGURED, FIRST, write_film

BESIDE = {"CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
_LOOK_BACK_MS = 1_000
"""How long before the first thing that happens an embedded lab stands."""
_SETTINGS = f"""
project = "rebalance kit"
version = release = {__version__!r}
extensions = ["myst_parser"]
source_suffix = {{".md": "markdown"}}
root_doc = "index"
myst_heading_anchors = 4
myst_url_schemes = {{"http": None, "https": None, "site": "../{{{{path}}}}?{{{{query}}}}#{{{{fragment}}}}"}}
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
html_theme = "furo"
html_title = "rebalance kit"
html_favicon = "icon.svg"
html_copy_source = False
html_show_sphinx = False
html_js_files = [("../../embed.js", {{"defer": "defer"}})]
html_theme_options = {{
    "announcement": '<a href="../index.html">Lab</a> · <a href="../lessons.html">Lessons</a> · <a href="../course/lab/index.html?path=00-start-here.ipynb">Course</a> · <a href="../quiz.html">Questions</a> · <a href="../logs.html">Read your logs</a>'
}}
"""


_HEARD = (
    ('<p class="caption" role="heading">', '<p class="caption" role="heading" aria-level="2">'),
    (
        '<aside class="announcement-content">',
        '<aside class="announcement-content" aria-label="Parts of the site">',
    ),
    ('<aside class="sidebar-drawer">', '<aside class="sidebar-drawer" aria-label="Documents">'),
    ('<aside class="toc-drawer">', '<aside class="toc-drawer" aria-label="On this page">'),
    ('<th class="head"><p></p></th>', "<td></td>"),
    ("<pre>", '<pre tabindex="0">'),
    ('<div class="table-wrapper', '<div tabindex="0" class="table-wrapper'),
    ('<div id="search-results">', '<h1>Search</h1>\n<div id="search-results">'),
)
"""What the theme leaves out for readers who hear the page or use keys alone, with what stands there instead."""


def build(folder: Path) -> None:
    """Make the documents in ``folder``, beside the lab; a link inside them that leads nowhere ends the build."""
    source = ROOT / "build" / "documents"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT / "docs", source, ignore=shutil.ignore_patterns("site", "numbers.yaml"))
    shutil.copytree(ROOT / "docs" / "site", source, dirs_exist_ok=True)
    shutil.copytree(ROOT / "notebooks" / "images", source / "images", dirs_exist_ok=True)
    for name, here in BESIDE.items():
        text = (ROOT / name).read_text("utf-8").replace("](docs/", "](")
        (source / here).write_text(text, "utf-8")
    for path in sorted((ROOT / "notebooks").glob("case-*.ipynb")):
        (source / f"{path.stem}.md").write_text(case_page(path, folder.parent / "films"), "utf-8")
    shutil.copyfile(ROOT / "page" / "site" / "icon.svg", source / "icon.svg")
    (source / "conf.py").write_text(_SETTINGS, "utf-8")
    command = [
        sys.executable,
        "-m",
        "sphinx",
        "-b",
        "html",
        "-W",
        "--keep-going",
        "-q",
        "-d",
        str(source / ".trees"),
    ]
    done = subprocess.run([*command, str(source), str(folder)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the documents were not built:\n{done.stderr[-3000:]}")
    for page in folder.glob("*.html"):
        text = page.read_text("utf-8")
        for theme, here in _HEARD:
            text = text.replace(theme, here)
        page.write_text(text, "utf-8")


def case_page(path: Path, films: Path) -> str:
    """A case as a page: its words, its code with what it printed, and the lab before the surprise, at the moment that it speaks of.

    The run's film goes to ``films``: the page plays it before Python is there.
    """
    cells = json.loads(path.read_text("utf-8"))["cells"]
    parts, shown = [], False
    for cell in cells:
        source = "".join(cell["source"]).replace("](../docs/", "](")
        if cell["cell_type"] == "code":
            parts += [f"```python\n{source}\n```", *map(_shown, cell["outputs"])]
            continue
        if not shown and source.startswith("## The surprise"):
            token = write_link(_moment(cells))
            lab = LabSession()
            lab.open_link(token)
            write_film(films / f"{path.stem}.{AS_CONFIGURED}.json", lab, *FIRST)
            parts.append(
                f'<rebalance-lab lesson="{path.stem}" protocol="{AS_CONFIGURED}" link="{token}"></rebalance-lab>'
            )
            shown = True
        parts.append(source)
    parts.append(f"[Run this case](site:course/lab/index.html?path={path.name})")
    return "\n\n".join(parts) + "\n"


def _shown(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "text/html" in data:
        return f"<div>{''.join(data['text/html'])}</div>"
    text = "".join(data.get("text/plain", output.get("text", "")))
    lines = escape(text).replace("\n\n", "\n&#32;\n")  # an empty line ends a block of HTML in Markdown
    return f'<div class="highlight"><pre>{lines}</pre></div>'


class _Found(Exception):
    """A case has asked for its first run."""


def _moment(cells: list[dict[str, Any]]) -> Link:
    """The first run of a case, a moment before its first event: its cells are run until they ask for it."""
    asked: list[Link] = []

    def run(scenario: Scenario | str, protocol: str | None = None, seed: int | None = None) -> None:
        wanted = scenarios.scenario(scenario) if isinstance(scenario, str) else scenario
        first = min((action.at_ms for action in wanted.actions), default=0)
        asked.append(Link(wanted, max(0, first - _LOOK_BACK_MS), protocol=protocol, seed=seed))
        raise _Found

    theirs, words.run = words.run, run
    try:
        space: dict[str, Any] = {}
        for cell in cells:
            if cell["cell_type"] == "code":
                exec("".join(cell["source"]), space)  # noqa: S102 - the cells are the kit's own
    except _Found:
        return asked[0]
    finally:
        words.run = theirs
    raise SystemExit("a case runs nothing: expected a call of run(...)")
