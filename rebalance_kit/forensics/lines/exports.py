"""Logs as tools hand them out: archives, exports, copies of a terminal that wrapped its lines."""

from __future__ import annotations

import re
import tarfile
import zipfile
from collections import Counter
from functools import cache
from itertools import pairwise
from typing import IO, TYPE_CHECKING

from rebalance_kit.forensics.lines.anchors import ANCHOR
from rebalance_kit.forensics.lines.pipes import scratch

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Files that may be exports of logs (Kibana, kubectl, CloudWatch): they are read when a line of Kafka is in them.
EXPORTS = frozenset({".json", ".jsonl", ".csv"})

#: An archive with more than this is not unpacked.
_MOST_FILES, _MOST_BYTES = 2_000, 4 << 30

_CHUNK = 1 << 20

#: Only small files are copies of a terminal.
TERMINAL_BYTES = 1 << 20
_WRAPPED_SHARE = 0.2

#: Lines that begin alike are lines of their own.
_ALIKE = 6
_BEGINS = re.compile(r"\W{0,3}(?:\d{4}-\d\d-\d\d|%\d\||\{\"|\d\d:\d\d:\d\d|[A-Z]{4,5} )", re.ASCII)


def holds_a_log(path: Path) -> bool:
    """Whether a line of Kafka is near the beginning of a file."""
    try:
        with path.open("rb") as stream:
            head = stream.read(_CHUNK).decode("utf-8", "replace")
    except OSError:
        return False
    return ANCHOR.search(head) is not None


def is_archive(name: str) -> bool:
    """Whether a file is an archive by its name."""
    return name.lower().endswith((".zip", ".tar", ".tar.gz", ".tgz"))


def unpacked(path: Path) -> list[tuple[str, Path]] | str:
    """The files in an archive with their names, unpacked to a folder that lives as long as the process; or why not.

    An archive that has not changed is unpacked once.
    """
    try:
        status = path.stat()
        return _unpacked(path.resolve(), (status.st_ino, status.st_size, status.st_mtime_ns))
    except (OSError, zipfile.BadZipFile, tarfile.TarError, EOFError, RuntimeError, ValueError) as problem:
        return f"cannot be unpacked: {problem}"


@cache
def _unpacked(path: Path, _state: tuple[int, int, int]) -> list[tuple[str, Path]]:
    return list(_members(path, scratch()))


def _members(path: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    room = _MOST_BYTES
    for number, (name, stream) in enumerate(_streams(path)):
        if number >= _MOST_FILES:
            raise ValueError(f"more than {_MOST_FILES} files")
        unlike = sum(1 for _ in folder.iterdir())
        target = folder / f"{path.name}.{unlike}{'.gz' if name.endswith('.gz') else '.log'}"
        with target.open("wb") as out:
            while chunk := stream.read(_CHUNK):
                room -= len(chunk)
                if room < 0:
                    raise ValueError(f"more than {_MOST_BYTES} bytes")
                out.write(chunk)
        yield name, target


def _streams(path: Path) -> Iterator[tuple[str, IO[bytes]]]:
    if path.name.lower().endswith(".zip"):
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if not info.is_dir():
                    with archive.open(info) as stream:
                        yield info.filename, stream
        return
    with tarfile.open(path) as archive_of_files:
        for member in archive_of_files:
            stream_of_member = archive_of_files.extractfile(member) if member.isfile() else None
            if stream_of_member is not None:
                yield member.name, stream_of_member


def unwrapped(data: bytes) -> bytes | None:
    """The lines of a terminal's copy, put together again; None for a file that is none."""
    if len(data) > TERMINAL_BYTES or b"\n" not in data:
        return None
    lines = data.decode("utf-8", "replace").split("\n")
    bordered = sum(line.startswith(("│", "|")) and line.rstrip().endswith(("│", "|")) for line in lines)
    if bordered >= 0.8 * len([line for line in lines if line.strip()]) > 0:
        lines = [line.strip().strip("│|").removeprefix(" ").removesuffix(" ") for line in lines]
        width = max(map(len, lines))
    else:
        lengths = Counter(len(line) for line in lines if len(line) > 60)
        width = max(lengths, default=0)
        wrapped = sum(_goes_on(one, after, width) for one, after in pairwise(lines))
        if lengths[width] < 3 or wrapped < _WRAPPED_SHARE * len(lines):
            return None
    joined: list[str] = []
    last = ""
    for line in lines:
        if joined and _goes_on(last, line, width):
            # The blank at which a line was cut may have got lost.
            joined[-1] = (
                joined[-1] + last[len(last.rstrip()) :].ljust(width - len(last.rstrip())) + line.rstrip()
            )
        else:
            joined.append(line.rstrip())
        last = line
    return "\n".join(joined).encode()


def _goes_on(line: str, after: str, width: int) -> bool:
    """Whether the line is as wide as the terminal and the next one does not begin as lines of logs do."""
    wide = len(line.rstrip()) >= width - 1 and after.strip() != ""
    return wide and _BEGINS.match(after) is None and line[:_ALIKE] != after[:_ALIKE]
