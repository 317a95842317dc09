"""A class-data sharing archive of Spark's classes, which makes the next start of Java faster.

Spark spends most of its first seconds loading and verifying some twenty thousand classes.  Java can write
them to an archive when it exits; the next JVM maps that archive into memory.
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

#: A draft that has not changed for this long is complete, because Java writes it in one go.
_AT_REST_S = 10.0

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
    _adopt(archive)
    if archive.is_file():
        return f"-XX:SharedArchiveFile={archive} -Xshare:auto {_SILENT}"
    if not keep or not _writable(archive.parent):
        return ""
    return f"-XX:ArchiveClassesAtExit={archive.with_name(f'{archive.name}.{os.getpid()}')} {_SILENT}"


def ready_archive(java: Java) -> Path | None:
    """The archive that this Java and PySpark have, for a process that cannot see where it lies; None where there is none yet."""
    archive = _archive_path(java)
    return archive if archive is not None and archive.is_file() else None


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


def _adopt(archive: Path) -> None:
    """Rename a finished draft to the archive, and remove the other drafts."""
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
            continue  # another process renamed or removed it first


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)
