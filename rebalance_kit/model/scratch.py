"""Folders for what a process needs while it runs: nobody else's to read, and gone with it, whatever ends it.

Each folder holds a locked file. The system takes the lock away with the process, so the next start finds folders that nobody holds any more,
and removes them.
"""

from __future__ import annotations

import atexit
import importlib
import os
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

try:
    _fcntl: Any = importlib.import_module("fcntl")
except ImportError:  # Windows has no such locks: there a folder goes with an orderly end only
    _fcntl = None
_PREFIX = "rebalance-kit-"
_LOCK = ".held"
_held: dict[Path, int] = {}


def scratch_folder(purpose: str) -> Path:
    """A new folder of this process, readable by its user alone; it goes when the process ends, at the latest when another one begins."""
    if not _held:
        remove_left_over()
        atexit.register(_remove_all)
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{purpose}-"))
    lock = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    if _fcntl is not None:
        _fcntl.flock(lock, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
    _held[folder] = lock
    return folder


def remove_scratch(folder: Path) -> None:
    """Remove a folder made by ``scratch_folder`` before the process ends."""
    shutil.rmtree(folder, ignore_errors=True)
    lock = _held.pop(folder, None)
    if lock is not None:
        os.close(lock)


def remove_left_over() -> None:
    """Remove this user's folders that no process holds."""
    if _fcntl is None:
        return
    for lock_file in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_LOCK}"):
        with suppress(OSError):
            if lock_file.parent.is_symlink() or lock_file.parent.stat().st_uid != os.getuid():
                continue
            lock = os.open(lock_file, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                _fcntl.flock(lock, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
                shutil.rmtree(lock_file.parent, ignore_errors=True)
            finally:
                os.close(lock)


def _remove_all() -> None:
    for folder in list(_held):
        remove_scratch(folder)
