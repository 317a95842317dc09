"""The page's JavaScript and style sheets: layout, lint, types and tests, all by Deno from the package index.

python scripts/page.py lint      style, layout and types, nothing is changed
python scripts/page.py format    lay the sources and the style sheets out
python scripts/page.py test      the unit tests of page/tests

The bundles are made by ``scripts/bundle.py``, which needs no Deno.
"""

from __future__ import annotations

import os
import runpy
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "page"
PACKAGE = ROOT / "rebalance_kit"


def deno() -> str:
    """The Deno of this Python's environment; raises ``SystemExit`` saying what to install."""
    found = Path(sys.executable).with_name("deno")
    if not found.exists():
        raise SystemExit(f"{found} is missing; expected the package deno (pip install -e '.[dev]')")
    return str(found)


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a command of Deno on the sources; its cache stays within the tree."""
    env = {
        **os.environ,
        "DENO_DIR": str(ROOT / "build" / "deno"),
        "DENO_NO_UPDATE_CHECK": "1",
        "NO_COLOR": "1",
    }
    return subprocess.run([deno(), *command], cwd=SOURCES, env=env, text=True, check=False)


def styles() -> list[str]:
    """The style sheets of the package, as paths."""
    return [str(path) for path in sorted(PACKAGE.glob("view/*/static/*.css"))]


def write_kinds() -> None:
    """Write the words that Python and the page share, which the sources import."""
    runpy.run_path(str(ROOT / "scripts" / "bundle.py"))["write_kinds"]()


def lint() -> int:
    """Style, layout and types of the sources and their tests, and the layout of the style sheets."""
    checks = [["lint", "--quiet"], ["fmt", "--quiet", "--check", ".", *styles()], ["check", "--quiet", "."]]
    return max([run(*check).returncode for check in checks])


def main(arguments: list[str]) -> int:
    """Do what the command line asks."""
    write_kinds()
    match arguments:
        case ["lint"]:
            return lint()
        case ["format"]:
            return run("fmt", "--quiet", ".", *styles()).returncode
        case ["test"]:
            return run("test", "--quiet", "--no-check", "tests").returncode
    print(__doc__)
    return 2


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
