"""Writes tables so that a reader sees either the old ones or the new ones, never a mixture."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from rebalance_kit.model.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame


def write_tables(tables: Mapping[str, DataFrame], folder: Path) -> None:
    """Write each table as Parquet to ``folder/<name>``, replacing what is there.

    All tables are first written to a draft folder and renamed after the last one, so a job that is killed
    half-way leaves the former tables as they were.  Raises ``DataError`` when the folder cannot be written.
    """
    draft = folder / f".draft-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        draft.mkdir()
    except OSError as problem:
        raise DataError(
            f"cannot write tables to {folder}: {problem.strerror}; expected a folder to write to"
        ) from problem
    try:
        for name, table in tables.items():
            # The tables are small: one file each is easier to read than one per task.
            table.coalesce(1).write.parquet(str(draft / name))
        for name in tables:
            _replace(draft / name, folder / name, draft / f"{name}.old")
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _replace(new: Path, place: Path, old: Path) -> None:
    if place.exists():
        os.replace(place, old)
    os.replace(new, place)
