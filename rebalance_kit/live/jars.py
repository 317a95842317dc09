"""Kafka's own jars: resolved once by their Maven coordinates into the user's cache, checked, and used from there.

The resolver is Apache Ivy, which comes with PySpark; it asks Maven Central, or what the file in
``REBALANCE_KIT_IVY_SETTINGS`` names. For the versions of ``VERSIONS`` the SHA-256 of every jar is known.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import IO, Any

from rebalance_kit.model.errors import EnvironmentProblem, RebalanceKitError
from rebalance_kit.model.files import draft_folder, ended_along
from rebalance_kit.pipeline.spark.java import find_java

SETTINGS = "REBALANCE_KIT_IVY_SETTINGS"
WANTED = "REBALANCE_KIT_LIVE"
NEEDED_MB = 300
_RELOAD4J = ("org.slf4j", "slf4j-reload4j", "1.7.36")
_LOG4J2 = ("org.apache.logging.log4j", "log4j-slf4j-impl", "2.25.4")
_VERSION = re.compile(r"\d+\.\d+\.\d+")
_DOWNLOADED = re.compile(r"\[SUCCESSFUL \] \S+?#(\S+?);")
VERSIONS: Mapping[str, Mapping[str, str]] = json.loads(
    files("rebalance_kit.live").joinpath("jars.json").read_text("utf-8")
)
"""Kafka's versions whose jars are known, each with the SHA-256 of every jar by its file's name."""
DEFAULT_VERSION = "4.3.1"
Say = Callable[[str], None]


class LiveError(RebalanceKitError):
    """A real broker or its members could not be run; the message says why and what to do."""


def locked(file: IO[Any], *, wait: bool) -> None:
    """Lock an open file until it is closed. Raises ``BlockingIOError`` where another process holds it and nobody waits, ``LiveError`` on Windows."""
    try:
        import fcntl
    except ImportError:
        raise LiveError(
            "a real broker needs Linux, macOS, or WSL on Windows; this system has none of their locks and signals"
        ) from None
    fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))


def cache() -> Path:
    """Where the kit keeps what it fetched and what runs: ``$XDG_CACHE_HOME/rebalance-kit/live``."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rebalance-kit" / "live"


def spark_jars() -> Path:
    """The folder of PySpark's jars, which hold the resolver and a compiler for Java; raises ``EnvironmentProblem`` without PySpark."""
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise EnvironmentProblem(
            "PySpark is not installed, whose resolver fetches Kafka; install it with: pip install 'rebalance-kit[spark]'"
        )
    return Path(spec.origin).parent / "jars"


def one_jar(name: str) -> Path:
    """A jar of PySpark by the beginning of its name."""
    found = sorted(spark_jars().glob(f"{name}-[0-9]*.jar"))
    if not found:
        raise EnvironmentProblem(
            f"{spark_jars()} holds no {name} jar; expected PySpark 4.3 as it is published"
        )
    return found[0]


def java() -> str:
    """The ``java`` to run; raises ``EnvironmentProblem`` saying what to install."""
    return str(find_java().home / "bin" / "java")


def ready(version: str = DEFAULT_VERSION) -> bool:
    """Whether a real Kafka runs here: Java and PySpark are installed, and its jars are in the cache.

    The environment's ``REBALANCE_KIT_LIVE`` decides where it is set: 1 fetches what is missing, 0 leaves it.
    """
    wanted = os.environ.get(WANTED)
    if wanted is not None or sys.platform == "emscripten" or os.name != "posix":
        return wanted == "1"
    try:
        return (cache() / "jars" / version).is_dir() and spark_jars().is_dir() and bool(java())
    except EnvironmentProblem:
        return False


def class_path(version: str = DEFAULT_VERSION, say: Say | None = None) -> str:
    """The class path of a Kafka version, fetched where it is not in the cache; ``say`` gets progress in words.

    Raises ``LiveError`` for a version that is none, without a network at the first fetch, and for a jar whose
    checksum differs; ``EnvironmentProblem`` without Java or PySpark.
    """
    if not _VERSION.fullmatch(version):
        raise LiveError(f"Kafka version {version!r}; expected one such as {', '.join(VERSIONS)}")
    folder = cache() / "jars" / version
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{version}.lock").open("w") as lock:
        locked(lock, wait=True)  # two notebooks fetch once
        if not folder.is_dir():
            _fetch(version, folder, say or (lambda _: None))
    return str(folder / "*")


def verify(version: str, folder: Path) -> None:
    """Raise ``LiveError`` unless the jars of a known version are exactly those that are published."""
    known = VERSIONS.get(version)
    if known is None:
        return
    found = {path.name: _digest(path) for path in folder.glob("*.jar")}
    for name in sorted(known.keys() | found.keys()):
        if known.get(name) != found.get(name):
            was = found.get(name)
            what = "is missing" if was is None else f"has the SHA-256 {was}"
            raise LiveError(
                f"Kafka {version}: {name} {what}; expected {known.get(name, 'no such jar')}. Nothing was kept: "
                "look at the repository that your Ivy settings name, then try again"
            )


def _digest(path: Path) -> str:
    with path.open("rb") as held:
        return hashlib.file_digest(held, "sha256").hexdigest()


def _fetch(version: str, folder: Path, say: Say) -> None:
    runtime = java()
    free_mb = shutil.disk_usage(folder.parent).free // 2**20
    if free_mb < NEEDED_MB:
        raise LiveError(f"{folder.parent} has {free_mb} MB left; expected {NEEDED_MB} MB to fetch Kafka into")
    with draft_folder(folder.parent) as draft:  # one at a time, behind the lock
        (draft / "ivy.xml").write_text(_wanted(version), "utf-8")
        jars = draft / "jars"
        command = [
            runtime, "-cp", str(one_jar("ivy")), "org.apache.ivy.Main",
            *_settings(),
            "-cache", str(draft / "ivy"), "-ivy", str(draft / "ivy.xml"), "-confs", "default", "-types", "jar", "bundle",
            "-retrieve", f"{jars}/[artifact]-[revision](-[classifier]).[ext]",
        ]  # fmt: skip
        say(f"fetching Kafka {version} (about 45 MB, once)")
        _run(command, version, say)
        verify(version, jars)
        jars.rename(folder)
        say(f"Kafka {version}: {len(list(folder.iterdir()))} jars in {folder}")


def _settings() -> list[str]:
    given = os.environ.get(SETTINGS)
    if not given:
        return []
    if not Path(given).is_file():
        raise LiveError(f"{SETTINGS} is {given!r}; expected a file of Ivy's settings")
    return ["-settings", given]


def _wanted(version: str) -> str:
    """The description of what is resolved; the tools' own connectors are left out."""
    binding = _RELOAD4J if version.startswith(("2.", "3.")) else _LOG4J2
    wanted = [("org.apache.kafka", "kafka_2.13", version, "true"), (*binding, "true")]
    if not version.startswith("2."):
        wanted.append(("org.apache.kafka", "kafka-tools", version, "false"))
    lines = "".join(
        f'<dependency org="{org}" name="{name}" rev="{rev}" transitive="{all_}" conf="default->default"/>'
        for org, name, rev, all_ in wanted
    )
    return (
        '<ivy-module version="2.0"><info organisation="rebalance-kit" module="kafka"/>'
        f'<configurations><conf name="default"/></configurations><dependencies>{lines}</dependencies></ivy-module>'
    )


def _run(command: list[str], version: str, say: Say) -> None:
    """Run the resolver, tell each jar that arrives, and explain what stopped it."""
    said: list[str] = []
    with (
        subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True
        ) as process,
        ended_along(process.pid),
    ):
        assert process.stdout is not None
        for number, line in enumerate(process.stdout):
            said.append(line.strip())
            found = _DOWNLOADED.search(line)
            if found or number == 0:
                say(f"  {found[1] if found else 'resolving'}")
    words = "\n".join(said)
    if process.returncode == 0 and "UNRESOLVED DEPENDENCIES" not in words and "FAILED DOWNLOADS" not in words:
        return
    if re.search(
        r"UnknownHost|Connect(ion)?Exception|timed out|SSL|unreachable|Server access error",
        words,
        re.IGNORECASE,
    ):
        why = "the Maven repository cannot be reached; fetching Kafka needs a network once, later it works without"
    elif "invalid sha1" in words or "checksum" in words:
        why = "a checksum differs from the one that is published; nothing was kept: try again"
    elif "No space left" in words:
        why = f"the disk is full; expected {NEEDED_MB} MB in {cache()}"
    else:
        why = next(
            (line for line in said if "not found" in line or "ERROR" in line),
            said[-1] if said else "no reason given",
        )
    raise LiveError(
        f"Kafka {version} could not be fetched: {why} (behind a mirror: name a file of Ivy's settings in {SETTINGS})"
    )
