"""What an operator has of a run: the answers of kafka-consumer-groups, log files to search, recorded logs."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from rebalance_kit.logs.described import describe as described
from rebalance_kit.logs.described import describe_members, describe_offsets, describe_state
from rebalance_kit.logs.write import write_logs
from rebalance_kit.model.errors import DataError
from rebalance_kit.model.trace import Trace
from rebalance_kit.notebook.runs import run
from rebalance_kit.notebook.text import Text, columns, in_lines

if TYPE_CHECKING:
    from rebalance_kit.view.reports.watch_page import Watching


_UUID = re.compile(r"(-[0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_SHORT = re.compile(r"^([\w-]{8})[\w-]{14}$")
"""The id that a KIP-848 client makes: 22 signs of base64."""
_ADDRESS = re.compile(r" +\((?=\w+\))")
OPTIONS = {
    "": ("--describe", describe_offsets),
    "members": ("--describe --members --verbose", describe_members),
    "state": ("--describe --state", describe_state),
}

INCIDENTS = {
    "A": ("wrong-librdkafka-callback", None),
    "B": ("static-restart-too-late", "eager"),
    "C": ("slow-callback", "eager"),
}
"""Runs to diagnose; their letters give nothing away."""


def incident(letter: str) -> Trace:
    """The run of an incident, whose name would be its answer; raises ``DataError`` for another letter."""
    if letter not in INCIDENTS:
        raise DataError(f"incident {letter!r} is unknown; expected one of {', '.join(INCIDENTS)}")
    return run(*INCIDENTS[letter])


def consumer_groups(trace: Trace, at_s: float, option: str = "") -> str:
    """The command and what ``kafka-consumer-groups`` prints at a second of the run; ``option``: "", members or state.

    So that a line fits a screen, columns are as narrow as their cells, member ids end after eight signs of their UUID, and
    the columns GROUP and HOST are left out of the tables that have a line per member or partition.

    Raises ``DataError`` for another option.
    """
    if option not in OPTIONS:
        raise DataError(f"option {option!r} is unknown; expected one of {', '.join(map(repr, OPTIONS))}")
    flags, say = OPTIONS[option]
    group = described(trace, round(at_s * 1000))
    return f"$ kafka-consumer-groups --bootstrap-server b:9092 --group {trace.meta['group']} {flags}\n{_narrow(say(group))}"


def _narrow(text: str) -> str:
    """The tables of a text with columns of least width; other lines as they are."""
    lines = [_UUID.sub(r"\1…", line).rstrip() for line in text.splitlines() if line.strip()]
    table = [_ADDRESS.sub("~(", line).split() for line in lines if not line.startswith("Warning")]
    told = [line for line in lines if line.startswith("Warning")]
    _fill(table, "GROUP-INSTANCE-ID")  # of a dynamic member beside static ones
    if "CONSUMER-ID" in table[0]:
        shown = [place for place, head in enumerate(table[0]) if head not in {"GROUP", "HOST"}]
        table = [[_SHORT.sub(r"\1…", row[place]) for place in shown] for row in table]
    _fill(table, "ASSIGNMENT-STRATEGY")  # of a classic group that is not Stable
    return "\n".join([*told, columns(table)]).replace("~(", " (")


def _fill(table: list[list[str]], column: str) -> None:
    """Put the blank cell of a column back into the rows that lost it when the line was split."""
    if column in table[0]:
        for row in table[1:]:
            if len(row) < len(table[0]):
                row.insert(table[0].index(column), "")


def log_files(trace: Trace, folder: str | Path = "build/logs") -> list[str]:
    """Write the logs of broker and members as a cluster writes them, and name the files."""
    return [str(path) for path in write_logs(trace, folder)]


@lru_cache(maxsize=1)
def _home() -> TemporaryDirectory[str]:
    """One folder per kernel; it is removed when the kernel ends."""
    return TemporaryDirectory(prefix="rebalance-kit-")


def recordings(*names: str) -> Path:
    """Unpack recorded runs of real clusters by name and return the folder in which each has a folder of its own."""
    from rebalance_kit.recordings.folder import unpack

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
