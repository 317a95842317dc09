"""What learners hand in: read as bytes, and made harmless to store, show and open.

Files that a learner handed in, as a folder or a zip, read as bytes: nothing is unpacked, followed or executed.

Whatever is not a file of work (logs, pictures, databases) is passed over; whatever cannot be read is noted in words.

What learners hand in, made harmless to store, show and open: text that any terminal and file takes, notebooks without what opens by itself.
"""

from __future__ import annotations

import json
import os
import stat
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any

from rebalance_kit.exercises.runner import MOST_BYTES
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import read_regular

MOST_NOTEBOOK = 20_000_000
"""Bytes of a notebook as it is handed in: pictures in its outputs count, and are dropped."""
MOST_LETTERS = 400
_MOST_NAME = 80


def printable(text: str, most: int = MOST_LETTERS) -> str:
    r"""Text cut to a length, with control characters and halves of characters written as escapes.

    >>> printable("a\x1b[31m\ud800\n" + "b" * 999, 12)
    'a\\x1b[31m\\ud800\nbbbb…'
    """
    cut = text[:most] + ("…" if len(text) > most else "")
    return "".join(_shown(letter) for letter in cut)


def file_name(learner: str) -> str:
    """A learner's name as the name of a file: short enough for every file system, and still this learner's alone.

    >>> file_name("ada"), len(file_name("x" * 250))
    ('ada', 89)
    """
    import hashlib

    plain = printable(learner, 10_000).replace("/", "_")
    if len(plain.encode()) <= _MOST_NAME:
        return plain
    digest = hashlib.sha256(learner.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{plain.encode()[:_MOST_NAME].decode('utf-8', 'ignore')}-{digest}"


def cells_alone(data: bytes) -> bytes | None:
    """A notebook's cells and nothing else: no outputs, no attachments, no state of widgets, no other metadata; None for what is no notebook.

    Opening a notebook, without running a cell, restores saved widgets; with anywidget that runs code that the notebook brings along.
    """
    try:
        notebook = json.loads(data)
        cells = [cell for cell in map(_bare, notebook["cells"]) if cell is not None]
        kept = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}
        return json.dumps(kept, indent=1, ensure_ascii=True).encode()
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _bare(cell: Any) -> dict[str, Any] | None:
    if not isinstance(cell, dict) or cell.get("cell_type") not in {"code", "markdown", "raw"}:
        return None
    source = cell.get("source", "")
    text = "".join(map(str, source)) if isinstance(source, list) else str(source)
    bare: dict[str, Any] = {"cell_type": cell["cell_type"], "metadata": {}, "source": text[:MOST_BYTES]}
    return {**bare, "outputs": [], "execution_count": None} if cell["cell_type"] == "code" else bare


def _shown(letter: str) -> str:
    if letter in "\n\t" or unicodedata.category(letter) not in {"Cc", "Cs", "Cf"}:
        return letter
    number = ord(letter)
    return (
        f"\\x{number:02x}"
        if number < 0x100
        else f"\\u{number:04x}"
        if number < 0x10000
        else f"\\U{number:08x}"
    )


MOST_FILES = 500
MOST_WHOLE = 100_000_000
"""Bytes of one learner's files together, unpacked."""
_MOST_NOTES = 50
_WORK = (".py", ".ipynb", ".vote", ".jsonl")
_NOTES = "workspace.json"
_PASSED_OVER = {"data", "__pycache__", "__MACOSX"}


@dataclass(frozen=True, slots=True)
class HandedIn:
    """Files of one learner by their paths, and notes about what could not be read."""

    learner: str
    files: Mapping[PurePosixPath, bytes]
    notes: tuple[str, ...] = ()


def entries(folder: Path) -> tuple[tuple[Path, ...], tuple[str, ...]]:
    """Folders and zips in ``folder``, in the order of their names, and notes about anything else.

    Raises ``DataError`` where ``folder`` cannot be read.
    """
    try:
        listed = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise DataError(
            f"{folder}: cannot be read ({error.strerror}); expected a folder with one folder or zip per learner"
        ) from error
    taken = [path for path in listed if not path.is_symlink() and (path.is_dir() or _is_zip(path))]
    odd = [path.name for path in listed if path not in taken]
    return tuple(taken), tuple(f"{name}: left out; expected a folder or a zip per learner" for name in odd)


def learner_of(entry: Path) -> str:
    """The learner's name: the entry's, without ``.zip`` and the number that a browser adds to a second download.

    Dots and blanks in front go as well, because the name becomes that of a folder.

    >>> learner_of(Path("ada (2).zip")), learner_of(Path(" ..")), learner_of(Path(" ..eve"))
    ('ada', 'nameless', 'eve')
    """
    name = entry.name.removesuffix(".zip").strip()
    head, _, tail = name.rpartition(" (")
    bare = head if head and tail.endswith(")") and tail[:-1].isdecimal() else name
    return printable(bare.lstrip(". "), 255) or "nameless"


def read_entry(entry: Path) -> HandedIn:
    """The files of work in a folder or a zip; never raises for what a learner put there."""
    files: dict[PurePosixPath, bytes] = {}
    notes: list[str] = []
    seen = whole = 0
    try:
        for path, data in _from_zip(entry, notes) if entry.is_file() else _from_folder(entry, notes):
            seen, whole = seen + 1, whole + len(data)
            if seen > MOST_FILES or whole > MOST_WHOLE:
                notes.append(f"more than {MOST_FILES} files or {MOST_WHOLE:,} bytes; the rest was not read")
                break
            if len(data) > most_of(path):
                notes.append(f"{path}: more than {most_of(path):,} bytes; not read")
            else:
                files[path] = data
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        notes.append(f"{entry.name}: a damaged zip ({error}); ask for it again")
    except Exception as error:  # noqa: BLE001 - a hostile zip raises what it likes, and the others are to be read
        notes.append(f"{entry.name}: cannot be read ({error}); ask for it again")
    told = tuple(printable(note) for note in notes[:_MOST_NOTES])
    return HandedIn(learner_of(entry), MappingProxyType(dict(sorted(files.items()))), told)


def most_of(path: PurePosixPath) -> int:
    """Bytes of a file that is read: of a notebook its outputs count, too."""
    return MOST_NOTEBOOK if path.suffix == ".ipynb" else MOST_BYTES


def _is_zip(path: Path) -> bool:
    return path.suffix == ".zip" and path.is_file()


def _is_work(path: PurePosixPath) -> bool:
    hidden = any(part.startswith(".") or part in _PASSED_OVER for part in path.parts)
    return not hidden and (path.suffix in _WORK or path.name == _NOTES)


def _from_zip(entry: Path, notes: list[str]) -> Iterator[tuple[PurePosixPath, bytes]]:
    """Members by their names, which are never used as paths of this machine; each read up to the bound."""
    with zipfile.ZipFile(entry) as packed:
        for member in packed.infolist():
            path = PurePosixPath(member.filename.replace("\\", "/"))
            if member.is_dir() or not _is_work(path):
                continue
            if stat.S_ISLNK(member.external_attr >> 16):
                notes.append(f"{path}: a link; not followed")
                continue
            with packed.open(member) as file:
                yield path, file.read(most_of(path) + 1)


def _from_folder(entry: Path, notes: list[str]) -> Iterator[tuple[PurePosixPath, bytes]]:
    for folder, folders, files in os.walk(entry):
        folders.sort()
        for name in sorted(files):
            place = Path(folder, name)
            path = PurePosixPath(place.relative_to(entry).as_posix())
            if not _is_work(path):
                continue
            data = regular(place, most_of(path))
            if data is None:
                notes.append(f"{path}: a link, a pipe or a device; not read")
            else:
                yield path, data


def regular(path: Path, most: int) -> bytes | None:
    """A regular file's bytes up to the bound; None for a link, a pipe or a device, which is not waited for."""
    try:
        return None if path.is_symlink() else read_regular(path, most + 1, getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return None
