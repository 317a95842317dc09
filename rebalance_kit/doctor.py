"""Look at the machine: what is installed, which Java, and what each missing part disables.

Nothing heavy is imported: packages are looked up by their metadata, Java is asked for its version.
"""

from __future__ import annotations

import shutil
import sys
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TextIO

from rebalance_kit.model import __version__
from rebalance_kit.model.errors import EnvironmentProblem, packages_by_extra, to_install
from rebalance_kit.pipeline.spark.java import find_java

#: Names under which Chromium is installed, the one of Debian first.
CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")

#: Where it lies on macOS and Windows, which have it on no path.
ELSEWHERE = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
)

#: What each extra is for; the extras and their packages are those of ``pyproject.toml``.
_PURPOSES = {
    "lab": "the lab, the quizzes and the notebooks in JupyterLab",
    "spark": "reading rebalance logs with Spark (notebooks 10 to 12)",
    "java": "a Java runtime for Spark where the machine has none",
    "study": "the review schedule of the quiz",
    "export": "decks of quiz items for Anki",
    "clients": "real librdkafka clients over a mock cluster",
    "serve": "the lab as a web page without notebooks",
    "print": "the printed cards as PDF",
    "site": "the course and the documents of `make site`",
    "test": "the kit's own tests",
    "dev": "the kit's own checks and benchmarks",
    "browser": "the kit's own tests in a browser",
}


@dataclass(frozen=True, slots=True)
class Requirement:
    """One line of the diagnosis.

    ``version`` is what was found, None when it is missing; ``disables`` names what is lost without it.
    """

    name: str
    version: str | None
    disables: str
    essential: bool = False


def run_doctor(out: TextIO) -> int:
    """Write the diagnosis to ``out``; return 1 when something essential is missing, else 0."""
    findings = (*_essentials(), *_extras(), _java(), _chromium())
    print(f"rebalance kit {__version__}", file=out)
    for finding in findings:
        mark = "ok     " if finding.version is not None else "MISSING" if finding.essential else "absent "
        print(f"  {mark} {finding.name:<22} {finding.version or ''}".rstrip(), file=out)
        if finding.version is None:
            print(f"          without it: {finding.disables}", file=out)
    missing = [finding.name for finding in findings if finding.essential and finding.version is None]
    print(
        f"missing and essential: {', '.join(missing)}" if missing else "everything essential is here",
        file=out,
    )
    return 1 if missing else 0


def find_chromium() -> Path | None:
    """Return the Chromium on the path (or in its usual place) that browser tests can drive, or None."""
    on_path = (shutil.which(name) for name in CHROMIUM_NAMES)
    known = [
        *(Path(path) for path in on_path if path is not None),
        *filter(Path.exists, map(Path, ELSEWHERE)),
    ]
    return known[0] if known else None


def _essentials() -> tuple[Requirement, ...]:
    python = ".".join(map(str, sys.version_info[:3]))
    return (
        Requirement("Python", python if sys.version_info >= (3, 11) else None, "everything", essential=True),
        Requirement("PyYAML", version_of("PyYAML"), "reading scenarios and quiz items", essential=True),
    )


def _extras() -> tuple[Requirement, ...]:
    packages = packages_by_extra()
    if not packages:
        return (Requirement("the kit's own metadata", None, "knowing which optional packages to look for"),)
    return tuple(
        Requirement(name, version_of(name), f"{purpose} [{to_install(extra)}]")
        for extra, purpose in _PURPOSES.items()
        for name in packages.get(extra, ())
    )


def purpose(extra: str) -> str:
    """What an extra is for."""
    return _PURPOSES[extra]


def version_of(package: str) -> str | None:
    """The version of an installed package; None where it is not installed."""
    try:
        return distribution(package).version
    except PackageNotFoundError:
        return None


def _java() -> Requirement:
    try:
        java = find_java()
    except EnvironmentProblem as problem:
        return Requirement("Java", None, f"everything that starts Spark ({problem})")
    return Requirement(
        "Java", f"{java.version} from {java.source} ({java.home})", "everything that starts Spark"
    )


def _chromium() -> Requirement:
    path = find_chromium()
    return Requirement("Chromium", None if path is None else str(path), "the kit's own tests in a browser")
