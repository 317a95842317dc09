"""The course as a folder of the learner's own: notebooks, exercises to answer, and solutions apart.

Written again, it brings what is new and leaves everything that the learner changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from rebalance_kit.exercises import FOLDER
from rebalance_kit.exercises.workspace import Workspace, all_names, find
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.files import WRITABLE, write_atomically
from rebalance_kit.pipeline.own_files import note_written, written_here

FIRST = "00-start-here.ipynb"
"""The notebook to begin with."""
_HERE = Path(__file__).resolve().parent
_HOMES = (_HERE / "handed_out", _HERE.parents[1])
"""Where notebooks lie: in an installed package, in a checkout."""
_UP, _BESIDE = "](../docs/", "](docs/"


@dataclass(frozen=True, slots=True)
class HandedOut:
    """What was done: files written anew, and files of the learner's that stayed as they are."""

    written: tuple[str, ...]
    kept: tuple[str, ...]


def hand_out(
    folder: Path, *, solutions: bool = True, tell: Callable[[str], object] = lambda _: None
) -> HandedOut:
    """Write the course into ``folder``, made where it is missing.

    A file that differs from what the kit wrote there is the learner's and stays; so does every answer. Raises ``DataError`` for
    a folder that cannot be written to.
    """
    if folder.exists() and not folder.is_dir():
        raise DataError(f"{folder}: is a file; expected {WRITABLE}")
    files = dict(_files(solutions=solutions))
    mine = written_here(folder)
    written, kept = [], []
    for name, data in files.items():
        target = folder / name
        if target.exists() and target.read_bytes() == data:
            continue
        if target.exists() and not mine(name):
            kept.append(name)
            continue
        _make(target.parent)
        write_atomically(target, data)
        written.append(name)
    note_written(folder, [name for name in files if name not in kept])
    desk = Workspace(folder / FOLDER)
    names = all_names()
    for number, name in enumerate(names, start=1):
        tell(f"exercise {number} of {len(names)}: {name}")
        if not desk.answer_file(find(name)).exists():
            desk.start(name)
            written.append(f"{FOLDER}/{name}")
    return HandedOut(tuple(written), tuple(kept))


def notebook_file(name: str) -> Path:
    """Where a notebook lies as it was handed out, with the outputs of its recorded run; raises ``DataError`` where it is not."""
    found = next((one for one in _HOMES if (one / "notebooks" / name).is_file()), None)
    if found is None:
        raise DataError(
            f"{_HERE}: holds no notebook {name!r}; expected a checkout of the kit, or an installed wheel"
        )
    return found / "notebooks" / name


def _files(*, solutions: bool) -> Iterator[tuple[str, bytes]]:
    """Names below the course's folder, and contents."""
    home = notebook_file(FIRST).parents[1]
    for path in sorted((home / "notebooks").glob("*.ipynb")):
        yield path.name, path.read_text("utf-8").replace(_UP, _BESIDE).encode()
    for path in sorted((home / "notebooks" / "images").iterdir()):
        yield f"images/{path.name}", path.read_bytes()
    yield "docs/your-client.md", (home / "docs" / "your-client.md").read_bytes()
    if solutions:
        for name in all_names():
            yield f"solutions/{name}.py", find(name).text("solution.py").encode()


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made ({error.strerror}); expected {WRITABLE}") from error
