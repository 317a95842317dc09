"""Spark's classes as Java has loaded them once, kept for the next start (class-data sharing).

Most of Spark's first seconds go into loading and checking some twenty thousand classes.  A Java that
was asked to writes them to a file when it ends; one that is given the file maps it into memory.
"""

from __future__ import annotations

import hashlib
import os
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rebalance_kit.pipeline.spark.java import Java

#: A draft that was not written to for so long is whole: Java writes it in one go.
_AT_REST_S = 10.0

#: Java tells of every class that it cannot keep.
_SILENT = "-Xlog:cds=off -Xlog:cds+dynamic=off"


def archive_options(java: Java, *, keep: bool) -> str:
    """What to start Java with: the archive when there is one, else, to ``keep`` one, the order to write it at the end.

    Empty where neither is possible: the archive belongs to one Java and one PySpark, and Java passes over
    one that does not fit.
    """
    archive = _place(java)
    if archive is None:
        return ""
    _adopt(archive)
    if archive.is_file():
        return f"-XX:SharedArchiveFile={archive} -Xshare:auto {_SILENT}"
    if not keep or not _writable(archive.parent):
        return ""
    return f"-XX:ArchiveClassesAtExit={archive.with_name(f'{archive.name}.{os.getpid()}')} {_SILENT}"


def _place(java: Java) -> Path | None:
    """Where the archive of this Java and this PySpark lies; None for a path that Java's options cannot hold."""
    found = find_spec("pyspark")
    if found is None or found.origin is None:
        return None
    jars = Path(found.origin).with_name("jars")
    told = f"{java.home} {java.version} {jars} {jars.stat().st_mtime_ns if jars.is_dir() else 0}"
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "rebalance-kit"
    place = cache / f"spark-{hashlib.sha256(told.encode()).hexdigest()[:16]}.jsa"
    return None if " " in str(place) else place


def _adopt(archive: Path) -> None:
    """Make a finished draft the archive, and remove the other ones."""
    now = time.time()
    drafts = [
        path for path in archive.parent.glob(f"{archive.name}.*") if now - path.stat().st_mtime > _AT_REST_S
    ]
    for draft in sorted(drafts):
        try:
            if archive.exists():
                draft.unlink()
            else:
                os.replace(draft, archive)
        except OSError:
            continue  # another process was quicker


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)
