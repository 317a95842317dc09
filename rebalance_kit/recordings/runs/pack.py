"""The recorded runs that come with the repository, packed into one file.

``data/recorded/recorded-runs.tar.xz`` holds all of them, plain, as ``<run>/<file>``: 51 MB of text
in less than one, since runs resemble each other.  ``data/recorded/table.json`` is the table of what
the raw text counts (generations, epochs, targets, expired members, callbacks), one object a run and
group; ``data/recorded/README.md`` tells how the runs were made and what the files hold. The folder
``MORE`` holds a second, smaller pack of the same kind: ask for it with ``folder=MORE``.
"""

from __future__ import annotations

import gzip
import json
import tarfile
from collections.abc import Collection, Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import write_atomically

_HERE = Path(__file__).resolve().parent
_HOMES = (_HERE / "recorded", _HERE.parents[2] / "data" / "recorded")
"""Inside an installed package, or in a checkout."""

#: Where the pack lies.
RECORDED = next((folder for folder in _HOMES if folder.is_dir()), _HOMES[-1])

#: A second pack: runs recorded later, of what the first one does not cover.
MORE = RECORDED / "more"

_PACK = "recorded-runs.tar.xz"

#: Files that a folder of a recorded run holds compressed.
_COMPRESSED = (".log", ".jsonl")


def table(folder: Path = RECORDED) -> list[dict[str, Any]]:
    """The table of truth: what the raw text of every run and group counts."""
    rows: list[dict[str, Any]] = json.loads(_present(folder / "table.json").read_text("utf-8"))
    return rows


def run_names(folder: Path = RECORDED) -> tuple[str, ...]:
    """Names of the packed runs, ``<scenario>.<protocol>.<Kafka version>``, in order."""
    return tuple(dict.fromkeys(row["run"] for row in table(folder)))


def read_file(run: str, name: str, folder: Path = RECORDED) -> bytes:
    """One file of one run, uncompressed (``c1.log``, ``truth.jsonl``, ``run.json`` ...).

    Raises ``DataError`` when the pack has no such run or file.
    """
    for member, data in _members(folder, {run}):
        if member == f"{run}/{name}":
            return data
    raise DataError(f"no file {name!r} of run {run!r} in {folder / _PACK}; expected a run of run_names()")


def unpack(target: Path, runs: Collection[str] | None = None, folder: Path = RECORDED) -> tuple[Path, ...]:
    """Write runs (default: all) as folders under ``target``, as they were recorded; return the folders.

    They come in the order in which they were asked for; all runs, or those of a set, in the order of the pack.
    Logs and truth are compressed (``.gz``) as in the recording.  Raises ``DataError`` for a run that is not packed.
    """
    known = run_names(folder)
    wanted = set(known if runs is None else runs)
    if unknown := sorted(wanted - set(known)):
        raise DataError(f"no recorded run {unknown[0]!r}; expected one of {', '.join(known)}")
    for member, data in _members(folder, wanted):
        place = target / member
        place.parent.mkdir(parents=True, exist_ok=True)
        if place.suffix in _COMPRESSED:
            place = place.with_name(place.name + ".gz")
            data = gzip.compress(data, compresslevel=1, mtime=0)  # noqa: PLW2901
        write_atomically(place, data)
    in_order = known if runs is None or isinstance(runs, AbstractSet) else dict.fromkeys(runs)
    return tuple(target / run for run in in_order if run in wanted)


def _members(folder: Path, runs: Collection[str]) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(_present(folder / _PACK), "r:xz") as pack:
        for member in pack:
            stream = pack.extractfile(member)
            if stream is not None and member.name.split("/", 1)[0] in runs:
                yield member.name, stream.read()


def _present(path: Path) -> Path:
    if not path.is_file():
        raise DataError(f"{path} is missing; expected the recorded runs beside the package or in a checkout")
    return path
