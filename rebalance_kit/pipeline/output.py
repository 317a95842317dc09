"""Writes tables so that a reader sees either the old ones or the new ones, never a mixture."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from rebalance_kit.forensics.tables import TABLES
from rebalance_kit.model.errors import require
from rebalance_kit.model.files import draft_folder
from rebalance_kit.pipeline.arrow_types import arrow_type
from rebalance_kit.pipeline.own_files import note_written, refuse_foreign

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from pyspark.sql import DataFrame

    from rebalance_kit.forensics.tables import Tables


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
