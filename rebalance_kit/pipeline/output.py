"""Writes tables so that a reader sees either the old ones or the new ones, never a mixture."""

from __future__ import annotations

import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from rebalance_kit.forensics.tables import TABLES
from rebalance_kit.model.errors import DataError, require
from rebalance_kit.model.files import draft_folder, write_atomically

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from rebalance_kit.forensics.tables import Tables


# Types of columns in Spark's words, as Arrow has them.


@cache
def arrow_type(word: str) -> pa.DataType:
    """The Arrow type of a type in Spark's words, as ``GOLD`` uses them."""
    import pyarrow as pa

    if word.startswith("array<"):
        return pa.list_(arrow_type(word[6:-1]))
    if word.startswith("struct<"):
        fields = (part.split(":", 1) for part in _split(word[7:-1]))
        return pa.struct([(name.strip("`"), arrow_type(kind)) for name, kind in fields])
    kinds = {
        "string": pa.string(),
        "bigint": pa.int64(),
        "int": pa.int32(),
        "boolean": pa.bool_(),
        "double": pa.float64(),
        "timestamp": pa.timestamp("us", "UTC"),
    }
    return kinds[word]


def _split(fields: str) -> list[str]:
    """The fields of a struct: cut at the commas that are in no brackets."""
    parts, depth = [""], 0
    for letter in fields:
        depth += (letter == "<") - (letter == ">")
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


# Which files of a folder the kit wrote: only those are ever replaced, everything else is refused by name.


MANIFEST = ".rebalance-kit.json"
"""Lists in a folder of results what the kit wrote there, with a digest of each file."""


def refuse_foreign(folder: Path, places: Iterable[str]) -> None:
    """Raise ``DataError`` that names the first thing at one of ``places`` that the kit did not write."""
    known = _manifest(folder)
    for place in places:
        for path, digest in _present(folder / place):
            name = path.relative_to(folder).as_posix()
            if digest not in known.get(name, ()):
                changed = (
                    "was changed since the kit wrote it" if name in known else "was not written by the kit"
                )
                raise DataError(
                    f"{path} {changed} and would be replaced; expected another folder for --out, or move it away"
                )


def written_here(folder: Path) -> Callable[[str], bool]:
    """Asks whether a file of the folder is as the kit wrote it; not what was changed, nor what somebody else put there."""
    known = _manifest(folder)
    return lambda name: _digest(folder / name) in known.get(name, ())


def note_written(folder: Path, places: Iterable[str], drafts: Path | None = None) -> None:
    """Write the manifest: what stands at ``places`` is the kit's.

    With ``drafts``, what stands there under the same names is noted as well, before it takes its place.
    """
    chosen = tuple(places)
    noted = {
        name: digests
        for name, digests in _manifest(folder).items()
        if not {name, name.split("/")[0]} & set(chosen)
    }
    for root in (folder, *([drafts] if drafts else [])):
        for place in chosen:
            for path, digest in _present(root / place):
                noted.setdefault(path.relative_to(root).as_posix(), []).append(digest)
    write_atomically(folder / MANIFEST, json.dumps({"written": noted}, indent=1, sort_keys=True) + "\n")


def _manifest(folder: Path) -> Mapping[str, list[str]]:
    """Digests by name; empty where there is no manifest or it cannot be read: nothing is the kit's then."""
    try:
        written = json.loads((folder / MANIFEST).read_text("utf-8"))["written"]
        return {str(name): [str(digest) for digest in digests] for name, digests in written.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _present(place: Path) -> Iterator[tuple[Path, str]]:
    """Every file, link and empty folder at and below a place, with a digest; links are not followed."""
    if place.is_symlink() or not place.is_dir():
        if place.is_symlink() or place.exists():
            yield place, _digest(place)
        return
    for parent, folders, files in os.walk(place):
        if not folders and not files:
            yield Path(parent), "an empty folder"
        for path in (Path(parent, name) for name in sorted((*folders, *files))):
            if path.is_symlink() or not path.is_dir():
                yield path, _digest(path)


def _digest(path: Path) -> str:
    if path.is_symlink() or not path.is_file():
        return "a link, pipe or device"
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as problem:
        raise DataError(
            f"{path}: cannot be read ({problem.strerror}); expected a file that the kit wrote"
        ) from problem


def write_tables(tables: Mapping[str, DataFrame], folder: Path) -> None:
    """Write each table as Parquet to ``folder/<name>``, replacing what is there.

    All tables are first written to a draft folder and renamed after the last one, so a job that is killed
    half-way leaves the former tables as they were.  Raises ``DataError`` when the folder cannot be written, or
    holds anything at one of these places that the kit did not write.
    """

    def write(name: str, draft: Path) -> None:
        # The tables are small: one file each is easier to read than one per task.
        tables[name].coalesce(1).write.parquet(str(draft))

    _write(tuple(tables), write, folder)


def write_rows(result: Tables, folder: Path) -> None:
    """Write the tables of the local engine in the same way; ``EnvironmentProblem`` without pyarrow."""
    require("pyarrow")
    import pyarrow as pa
    from pyarrow import parquet

    def write(name: str, draft: Path) -> None:
        columns, rows = TABLES[name], result.rows(name)
        arrays = [
            pa.array([row[column] for row in rows], arrow_type(kind)) for column, kind in columns.items()
        ]
        draft.mkdir()
        parquet.write_table(pa.table(arrays, names=list(columns)), draft / "part-0.parquet")

    _write(tuple(TABLES), write, folder)


def _write(names: Sequence[str], write: Callable[[str, Path], None], folder: Path) -> None:
    refuse_foreign(folder, names)
    with draft_folder(folder) as draft:
        for name in names:
            write(name, draft / name)
        note_written(folder, names, draft)
        for name in names:
            _replace(draft / name, folder / name, draft / f"{name}.old")
        note_written(folder, names)


def _replace(new: Path, place: Path, old: Path) -> None:
    if place.exists():
        os.replace(place, old)
    os.replace(new, place)
