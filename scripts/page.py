"""The page's JavaScript and style sheets: bundles, layout, types and tests, all by Deno from the package index.

python scripts/page.py build [FOLDER]   bundle page/ into the package (or into a folder, for comparison)
python scripts/page.py lint             style, layout and types, nothing is changed
python scripts/page.py format           lay the sources out
python scripts/page.py test             the unit tests of page/tests
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "page"
PACKAGE = ROOT / "rebalance_kit"
BUNDLES = {
    "lab/main.js": "view/lab/static/lab.js",
    "quiz/practice.js": "view/quiz/static/practice.js",
    "quiz/exam.js": "view/quiz/static/exam.js",
    "quiz/poll.js": "view/quiz/static/poll.js",
    "quiz/vote.js": "view/quiz/static/vote.js",
    "forensics/main.js": "view/reports/static/log_page.js",
}
"""Each entry of page/, and where its bundle stands in the package."""
_IMPORT = re.compile(r'^(?:import|export)\b[^;"]*?from "(\.[^"]+)";', re.MULTILINE)
_HEAD = "// Made of page/{entry} by `make page`; edit there. Sources {sources}, bundle {bundle}.\n"


def deno() -> str:
    """The Deno of this Python's environment; raises ``SystemExit`` saying what to install."""
    found = Path(sys.executable).with_name("deno")
    if not found.exists():
        raise SystemExit(f"{found} is missing; expected the package deno (pip install -e '.[dev]')")
    return str(found)


def run(*command: str, quiet: bool = False) -> subprocess.CompletedProcess[str]:
    """Run a command of Deno on the sources; its cache stays within the tree."""
    env = {
        **os.environ,
        "DENO_DIR": str(ROOT / "build" / "deno"),
        "DENO_NO_UPDATE_CHECK": "1",
        "NO_COLOR": "1",
    }
    return subprocess.run(
        [deno(), *command], cwd=SOURCES, env=env, text=True, check=False, capture_output=quiet
    )


def modules(entry: str) -> list[Path]:
    """A module and everything that it imports, sorted by path."""
    found: set[Path] = set()
    open_ = [SOURCES / entry]
    while open_:
        module = open_.pop().resolve()
        if module not in found:
            found.add(module)
            open_ += [module.parent / name for name in _IMPORT.findall(module.read_text("utf-8"))]
    return sorted(found)


def digest(parts: Iterator[bytes]) -> str:
    """A short name of these bytes."""
    return hashlib.sha256(b"\0".join(parts)).hexdigest()[:16]


def sources_digest(entry: str) -> str:
    """A short name of everything that goes into a bundle."""
    return digest(
        part
        for module in modules(entry)
        for part in (module.relative_to(SOURCES).as_posix().encode(), module.read_bytes())
    )


def head(entry: str, bundle: str) -> str:
    """The first line of a bundle: what it was made of, and what was made."""
    return _HEAD.format(entry=entry, sources=sources_digest(entry), bundle=digest(iter([bundle.encode()])))


class NoBundler(RuntimeError):
    """Esbuild is not at hand: Deno fetches it once, and could not."""


def build(folder: Path = PACKAGE, entries: Iterable[str] = BUNDLES) -> None:
    """Make bundles; raises ``NoBundler`` without esbuild, and ``SystemExit`` with Deno's words for a bad source."""
    for entry in entries:
        done = run("bundle", "--quiet", "--platform", "browser", entry, quiet=True)
        if done.returncode and "@esbuild" in done.stderr:
            raise NoBundler(f"esbuild is not at hand, and npm's registry does not answer:\n{done.stderr}")
        if done.returncode:
            raise SystemExit(f"page/{entry} cannot be bundled:\n{done.stderr}")
        target = folder / BUNDLES[entry]
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = target.with_suffix(".js.new")
        beside.write_text(head(entry, done.stdout) + done.stdout, "utf-8")
        beside.replace(target)


def styles() -> list[str]:
    """The style sheets of the package, as paths."""
    return [str(path) for path in sorted(PACKAGE.glob("view/*/static/*.css"))]


def lint() -> int:
    """Style, layout and types of the sources and their tests, and the layout of the style sheets."""
    checks = [["lint", "--quiet"], ["fmt", "--quiet", "--check", ".", *styles()], ["check", "--quiet", "."]]
    return max([run(*check).returncode for check in checks])


def main(arguments: list[str]) -> int:
    """Do what the command line asks."""
    match arguments:
        case ["build", *folder]:
            build(*[Path(one) for one in folder])
            return 0
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
