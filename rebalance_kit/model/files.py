"""Files that appear whole or not at all: written beside under a name of their own, then renamed."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rebalance_kit.model.errors import DataError, RebalanceKitError

WRITABLE = "a folder that can be written to"
_DRAFTS = ".draft-"


@contextmanager
def draft_of(path: str | os.PathLike[str], expected: str = WRITABLE) -> Iterator[Path]:
    """Yield a draft in the folder of ``path``; it takes the place of ``path`` when the block ends without an error.

    No two writers share a draft, and a block that fails leaves neither a draft nor a changed file. Raises
    ``DataError`` with ``path``, what the system says and what was ``expected``.
    """
    target = Path(path)
    with suppress(OSError):  # what cannot be looked at cannot be replaced either, and says so below
        refuse_no_file(target, "a file, or a name that is free")
    draft = target.with_name(f".{target.name}.{os.urandom(4).hex()}.part")
    try:
        yield draft
        os.replace(draft, target)
    except OSError as error:
        raise DataError(f"{target}: cannot be written ({error.strerror}); expected {expected}") from error
    finally:
        _remove(draft)


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


def _is_running(number: str) -> bool:
    """Whether there is a process of that number; a name that is no number belongs to somebody else."""
    if not number.isdecimal() or len(number) > len(str(2**31)):
        return True
    try:
        os.kill(int(number), 0)
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


def _remove(draft: Path) -> None:
    try:
        draft.unlink(missing_ok=True)
    except OSError:
        return  # a folder that cannot be read holds no draft of ours; the first error is the one to tell
