"""Files that appear whole or not at all, written beside and renamed; and folders that go with the process that needs them."""

from __future__ import annotations

import atexit
import importlib
import os
import shutil
import stat
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from rebalance_kit.model.errors import DataError, RebalanceKitError

WRITABLE = "a folder that can be written to"
_DRAFTS = ".draft-"
_SCRATCH, _LOCK = "rebalance-kit-", ".held"
_MAKING_S = 60
_MAY_ASK, _STILL_ACTIVE = 0x1000, 259
"""Of Windows: PROCESS_QUERY_LIMITED_INFORMATION, and the status of a process that goes on."""
_held: dict[Path, int] = {}
"""Scratch folders of this process. Each holds a locked file; the system takes the lock away with the process, so the next one finds what nobody holds."""
try:
    _fcntl: Any = importlib.import_module("fcntl")
except ImportError:
    _fcntl = None
if not hasattr(
    _fcntl, "flock"
):  # Windows and browsers have no such locks: there a folder goes with an orderly end only
    _fcntl = None


@contextmanager
def draft_of(path: str | os.PathLike[str], expected: str = WRITABLE) -> Iterator[Path]:
    """Yield a draft in the folder of ``path``; it takes the place of ``path`` when the block ends without an error.

    No two writers share a draft, and a block that fails leaves neither a draft nor a changed file. Drafts of ``path`` that
    killed processes left are removed. Raises ``DataError`` with ``path``, what the system says and what was ``expected``.
    """
    target = Path(path)
    with suppress(OSError):  # what cannot be looked at cannot be replaced either, and says so below
        refuse_no_file(target, "a file, or a name that is free")
    _remove_left_drafts(target)
    draft = target.with_name(f".{target.name}.{os.getpid()}-{os.urandom(4).hex()}.part")
    try:
        yield draft
        os.replace(draft, target)
    except OSError as error:
        raise DataError(f"{target}: cannot be written ({error.strerror}); expected {expected}") from error
    finally:
        _remove(draft)


def _remove_left_drafts(target: Path) -> None:
    """Remove drafts of a file whose processes are gone: a killed one could not."""
    begin, end = f".{target.name}.", ".part"
    with suppress(OSError):
        for left in target.parent.iterdir():
            if left.name.startswith(begin) and left.name.endswith(end):
                number, _, drawn = left.name[len(begin) : -len(end)].partition("-")
                if drawn and not _is_running(number):
                    _remove(left)


def write_atomically(
    path: str | os.PathLike[str], data: str | bytes | Iterable[str], expected: str = WRITABLE
) -> Path:
    """Write text (as UTF-8), bytes, or text piece by piece to ``path``, whole or not at all; return the path.

    Raises ``DataError`` as ``draft_of`` does.
    """
    with draft_of(path, expected) as draft:
        if isinstance(data, bytes):
            draft.write_bytes(data)
        else:
            with draft.open("w", encoding="utf-8", newline="") as out:
                out.writelines([data] if isinstance(data, str) else data)
    return Path(path)


@contextmanager
def draft_folder(parent: Path) -> Iterator[Path]:
    """Make a folder in ``parent`` for what is being written and remove it at the end; ``parent`` is made where it is missing.

    What killed processes left of theirs is removed as well. Raises ``DataError`` where nothing can be written.
    """
    draft = parent / f"{_DRAFTS}{os.getpid()}"
    try:
        parent.mkdir(parents=True, exist_ok=True)
        for left in parent.glob(f"{_DRAFTS}*"):
            if not _is_running(left.name.removeprefix(_DRAFTS)):
                shutil.rmtree(left, ignore_errors=True)
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir()
    except OSError as error:
        raise DataError(f"{parent}: cannot be written to ({error.strerror}); expected {WRITABLE}") from error
    try:
        yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def read_regular(path: Path, most: int, flags: int = 0) -> bytes | None:
    """The first ``most`` bytes of a regular file; None for a pipe, a device or a folder, which is not waited for. Raises ``OSError``."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | flags)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return None
        with os.fdopen(handle, "rb", closefd=False) as file:
            return file.read(most)
    finally:
        os.close(handle)


def _is_running(number: str) -> bool:
    """Whether there is a process of that number; a name that is no number belongs to somebody else."""
    if not number.isdecimal() or len(number) > len(str(2**31)):
        return True
    return is_running(int(number))


def is_running(pid: int) -> bool:
    """Whether there is a process of that number; where that cannot be known, there is."""
    if not hasattr(os, "killpg"):  # Windows, where signal 0 is Ctrl-C
        import ctypes

        kernel = getattr(getattr(ctypes, "windll", None), "kernel32", None)
        if kernel is None:
            return True
        handle, status = kernel.OpenProcess(_MAY_ASK, False, pid), ctypes.c_ulong()
        if not handle:
            return False
        known = kernel.GetExitCodeProcess(handle, ctypes.byref(status))
        kernel.CloseHandle(handle)
        return not known or status.value == _STILL_ACTIVE
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def is_file(path: Path) -> bool:
    """Whether there is a file; a name that no file can have is none."""
    try:
        return path.is_file()
    except OSError:
        return False


def refuse_no_file(path: Path, expected: str, error: type[RebalanceKitError] = DataError) -> None:
    """Raise ``error`` for a folder, pipe, socket or device, which must not be read; what is missing passes."""
    mode = path.stat().st_mode if path.exists() else None
    if mode is not None and not stat.S_ISREG(mode):
        kind = "a folder" if stat.S_ISDIR(mode) else "a pipe, socket or device"
        raise error(f"{path}: is {kind}; expected {expected}")


def refuse_taken(path: Path) -> None:
    """Raise ``DataError`` for a name that something has already."""
    if path.exists():
        raise DataError(f"{path}: exists already; expected the name of a new file")


def _remove(draft: Path) -> None:
    try:
        draft.unlink(missing_ok=True)
    except OSError:
        return  # a folder that cannot be read holds no draft of ours; the first error is the one to tell


_WATCHER = """
while IFS= read -r one; do
    case $one in /*) set -- "$@" "$one" ;; -*) ended="$ended $one " ;; *) started="$started $one" ;; esac
done
for one in $started; do case $ended in *" -$one "*) ;; *) kill "$one" && going="$going $one" ;; esac; done
[ -z "$going" ] || { sleep 2; kill -9 $going; }
rm -rf -- "$@" || { sleep 1; rm -rf -- "$@"; }
"""
_watchers: dict[int, Any] = {}
"""By process: a shell that outlives it by a moment. Its input ends with the process, killed or not; then it ends the processes and removes the
folders that it was told of."""
_one_at_a_time = threading.Lock()
"""Two threads that both began a watcher would lose one, and with it the folders that it had been told of."""


def scratch_folder(purpose: str) -> Path:
    """A new folder of this process, readable by its user alone; it goes with the process, killed or not.

    Where there is no ``sh``, what a killed process left goes when another one begins.
    """
    import tempfile

    first = not _held
    folder = Path(tempfile.gettempdir(), f"{_SCRATCH}{purpose}-{os.urandom(8).hex()}").absolute()
    _tell_watcher(str(folder))  # before it is there: a kill may come at any moment
    folder.mkdir(0o700)
    begun = folder / (_LOCK if _fcntl is None else f"{_LOCK}.new")
    lock = os.open(begun, os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0), 0o600)
    if _fcntl is not None:
        _fcntl.flock(lock, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
        begun.rename(folder / _LOCK)  # who finds it finds it held
    _held[folder] = lock
    if first:
        atexit.register(_remove_all)
        remove_left_over(folder.stat().st_mtime)
    return folder


@contextmanager
def scratch_for(purpose: str) -> Iterator[Path]:
    """A scratch folder for a block."""
    folder = scratch_folder(purpose)
    try:
        yield folder
    finally:
        remove_scratch(folder)


@contextmanager
def ended_along(pid: int) -> Iterator[None]:
    """For the block, a child of this process is killed when this one is. The block ends before anybody waits for the child."""
    _tell_watcher(f"{pid}")
    try:
        yield
    finally:
        _tell_watcher(f"-{pid}")


def become(command: list[str], folder: Path) -> NoReturn:
    """Go on as another program, in a folder; scratch folders go with that one."""
    for watcher in _watchers.values():
        os.set_inheritable(watcher.stdin.fileno(), True)
    for lock in _held.values():
        os.set_inheritable(lock, True)
    os.chdir(folder)
    os.execv(command[0], command)  # noqa: S606 - no shell, as wanted


def _tell_watcher(line: str) -> None:
    """Tell the watcher of this process about a folder or a child; the first one starts it."""
    import subprocess

    if _fcntl is None or "\n" in line:
        return
    with suppress(OSError), _one_at_a_time:  # no shell, or it was ended: the next process cleans up
        if os.getpid() not in _watchers:
            _watchers[os.getpid()] = subprocess.Popen(
                ["/bin/sh", "-c", _WATCHER],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={},
                bufsize=0,
                start_new_session=True,
            )
            _watchers[os.getpid()].returncode = 0  # nobody waits for what outlives this process
        _watchers[os.getpid()].stdin.write(os.fsencode(line) + b"\n")


def remove_scratch(folder: Path) -> None:
    """Remove a folder made by ``scratch_folder`` before the process ends."""
    lock = _held.pop(folder, None)
    if _fcntl is None and lock is not None:
        os.close(lock)  # Windows removes no file that is open
    shutil.rmtree(folder, ignore_errors=True)
    if _fcntl is not None and lock is not None:
        os.close(lock)


def remove_left_over(now_s: float) -> None:
    """Remove this user's folders that no process holds, at a time of the file system."""
    import tempfile

    if _fcntl is None:
        return
    for folder in Path(tempfile.gettempdir()).glob(f"{_SCRATCH}*"):
        lock_file = folder / _LOCK
        with suppress(OSError):
            about = folder.lstat()
            if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid():
                continue
            if (
                not lock_file.exists()
            ):  # its process was killed while it made or removed it; one that makes it now is younger
                if now_s - about.st_mtime > _MAKING_S:
                    shutil.rmtree(folder, ignore_errors=True)
                continue
            lock = os.open(lock_file, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                _fcntl.flock(lock, _fcntl.LOCK_EX | _fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(lock)


def _remove_all() -> None:
    for folder in list(_held):
        remove_scratch(folder)
