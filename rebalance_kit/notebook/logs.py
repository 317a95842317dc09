"""Recorded logs for a notebook, unpacked for as long as its kernel lives."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rebalance_kit.model.trace import Trace
from rebalance_kit.notebook.text import Text, in_lines

if TYPE_CHECKING:
    from rebalance_kit.view.reports.watch_cell import Watching


@lru_cache(maxsize=1)
def _home() -> TemporaryDirectory[str]:
    """One folder per kernel; it is removed when the kernel ends."""
    return TemporaryDirectory(prefix="rebalance-kit-")


def recordings(*names: str) -> Path:
    """Unpack recorded runs of real clusters by name and return the folder in which each has a folder of its own."""
    from rebalance_kit.recordings.runs.pack import unpack

    home = Path(_home().name)
    wanted = [name for name in names if not (home / name).exists()]
    if wanted:
        unpack(home, wanted)
    return home


def written_logs(trace: Trace, name: str) -> Path:
    """Write the logs that the processes of a simulated run would have written; return their folder, called ``name``."""
    from rebalance_kit.logs.write import write_logs

    folder = Path(_home().name) / name
    write_logs(trace, folder)
    return folder


def growing_log(folder: Path, file: str = "broker.log") -> GrowingLog:
    """A copy of a log of which only the first half has been written so far; ``rest()`` writes the other half."""
    return GrowingLog(folder / file, Path(_home().name) / f"{folder.name}-live" / file)


class GrowingLog:
    """A log file that is still being written; ``folder`` holds it."""

    def __init__(self, whole: Path, live: Path) -> None:
        self._lines = whole.read_text("utf-8").splitlines(keepends=True)
        self._half = len(self._lines) // 2
        self._live = live
        self.folder = live.parent
        self.folder.mkdir(exist_ok=True)
        live.write_text("".join(self._lines[: self._half]), "utf-8")

    def rest(self) -> None:
        """Write what is missing."""
        with self._live.open("a", encoding="utf-8") as out:
            out.writelines(self._lines[self._half :])


def seen_so_far(watch: Watching) -> Text:
    """The rebalances that a watched folder has shown so far, the first one first."""
    rows = () if watch.latest is None else watch.latest.rows
    lines = [f"{row['number']}. {row['before']} to {row['after']}: {row['cause']}" for row in reversed(rows)]
    return in_lines("\n".join(lines))
