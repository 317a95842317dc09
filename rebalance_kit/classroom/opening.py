"""Notebooks that others wrote, as they are safe to open: their cells alone, made anew each time one is opened."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from rebalance_kit.classroom.course import Course
from rebalance_kit.classroom.handed_in import MOST_NOTEBOOK, cells_alone, file_name, regular
from rebalance_kit.model.errors import DataError


def notebooks_of(what: Path, learner: str | None = None, attempt: int | None = None) -> Mapping[str, bytes]:
    """Copies by name: of a notebook's file, or of a learner's attempt (the last one unless numbered) in a course.

    A copy holds cells without outputs, attachments and widgets. Raises ``DataError`` for what holds no notebook.
    """
    if what.suffix == ".ipynb" or what.is_file():
        return {f"{file_name(PurePosixPath(what.name).stem)}.ipynb": _copy(what)}
    attempts = [made for made in Course.open(what).attempts() if learner in {None, made.learner}]
    if learner is None or not attempts:
        known = ", ".join(sorted({made.learner for made in Course.open(what).attempts()})) or "nobody yet"
        raise DataError(f"{what}: learner {learner!r} received; expected one of {known}")
    numbers = [made.number for made in attempts]
    wanted = max(numbers) if attempt is None else attempt
    if wanted not in numbers:
        raise DataError(
            f"{learner}: attempt {wanted} received; expected one of {', '.join(map(str, numbers))}"
        )
    folder = what / "submissions" / file_name(learner) / str(wanted)
    found = sorted(folder.glob("*.ipynb"))
    if not found:
        raise DataError(f"{learner}: attempt {wanted} holds no notebook; its answers are in {folder}")
    return {path.name: _copy(path) for path in found}


def _copy(path: Path) -> bytes:
    data = regular(path, MOST_NOTEBOOK)
    if data is None:
        raise DataError(f"{path}: no file that can be read; expected a notebook")
    cells = cells_alone(data) if len(data) <= MOST_NOTEBOOK else None
    if cells is None:
        raise DataError(f"{path}: no notebook; expected one of format 4 of up to {MOST_NOTEBOOK:,} bytes")
    return cells
