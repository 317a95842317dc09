"""Interrupt and kill each writing command at random moments, and look at what is left.

    python -m tests.support.bad_input.interrupts --moments 50 run make-logs exercise exam logs notebook watch notebooks.py

A command is run once to its end; what it wrote is the measure. Then it gets SIGINT, and SIGKILL, at random moments of
that time. After each, every file that is there must be whole, byte for byte as measured (hidden drafts apart), a set of files
must be there whole or not at all, no traceback may be told, and the same command run again must end well with the same files.
Prints a row of a table for each command and signal.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

Files = Mapping[str, bytes]
ROOT = Path(__file__).resolve().parents[3]
KIT = (sys.executable, "-m", "rebalance_kit")
LEFT_OUT = (".rebalance-kit.json",)
"""Files whose text names a time or a machine."""


def files_of(folder: Path) -> Files:
    """Visible files below a folder, by their names; what lies in hidden drafts is nobody's result."""
    return {
        name: path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and (name := path.relative_to(folder).as_posix()) not in LEFT_OUT
    }


def names_in(folder: Path) -> frozenset[str]:
    """Everything in a folder, drafts too; the folder of the store counts when something is in it."""
    return frozenset(path.relative_to(folder).as_posix() for path in folder.rglob("*")) - {"store"}


_SPARKS = re.compile(r"part-[0-9]+-[0-9a-f-]{36}-c[0-9]+")
"""How Spark calls a file of a table; a second run calls it otherwise."""


def rows_of(folder: Path) -> Files:
    """Names and sizes of Parquet tables (their bytes hold a time), other files as they are."""
    return {
        _SPARKS.sub("part", name): (
            b"table" if name.endswith(".parquet") and data[:4] == data[-4:] == b"PAR1" else data
        )
        for name, data in files_of(folder / "out").items()
        if not name.endswith(".crc")
    }


def answers_of(folder: Path) -> Files:
    """Whether the store of answers can be read; its content grows answer by answer."""
    for path in folder.glob("store/*.sqlite*"):
        if path.suffix == ".sqlite":
            with sqlite3.connect(path) as store:
                assert store.execute("PRAGMA integrity_check").fetchone() == ("ok",), path
    return {}


@dataclass(frozen=True)
class Command:
    """What to run in a folder, what to give it, and what its files mean."""

    words: tuple[str, ...]
    typed: str = ""
    prepare: Callable[[Path], None] = lambda _: None
    as_set: bool = True
    mean: Callable[[Path], Files] = files_of
    program: tuple[str, ...] = KIT


_NOTEBOOK = """# %% [markdown]
# # Small

# %%
import rebalance_kit as rk

print(len(rk.simulate(rk.scenario("crash")).rows))
"""


def _one_notebook(folder: Path) -> None:
    source = folder / "notebooks" / "src" / "01-small.py"
    source.parent.mkdir(parents=True)
    source.write_text(_NOTEBOOK, "utf-8")


def notebooks_of(folder: Path) -> Files:
    """Notebooks, not their sources."""
    return {name: data for name, data in files_of(folder).items() if name.endswith(".ipynb")}


def nothing_of(_folder: Path) -> Files:
    """A command that only prints."""
    return {}


def _logs(folder: Path, scenario: str = "storm") -> None:
    subprocess.run(
        [*KIT, "make-logs", scenario, "--out", str(folder / "in"), "--seed", "1"],
        check=True,
        capture_output=True,
    )


def _few_logs(folder: Path) -> None:
    _logs(folder, "crash")


COMMANDS: Mapping[str, Command] = {
    "run": Command(("run", "crash", "--one-run", "--out", "out")),
    "make-logs": Command(("make-logs", "storm", "--size", "60000", "--seed", "1", "--out", "out")),
    "exercise": Command(("exercise", "start", "03", "--folder", "out", "--learner", "ada"), as_set=False),
    "exam": Command(
        ("exam", "CCDAK", "--questions", "5"), typed="a\na\na\na\na\n\n", as_set=False, mean=answers_of
    ),
    "logs": Command(
        ("logs", "in", "--fail-on", "never", "--out", "out"), prepare=_logs, as_set=False, mean=rows_of
    ),
    "notebook": Command(("workshop", "90min", "--to", "out.ipynb")),
    "watch": Command(
        ("watch", "in", "--once", "--out", "out"), prepare=_few_logs, as_set=False, mean=rows_of
    ),
    "watch, this process": Command(("watch", "in", "--idle", "1"), prepare=_few_logs, mean=nothing_of),
    "logs, Spark": Command(
        ("logs", "in", "--fail-on", "never", "--engine", "spark", "--out", "out"),
        prepare=_few_logs,
        as_set=False,
        mean=rows_of,
    ),
    "notebooks.py": Command(
        ("--folder", "notebooks"),
        prepare=_one_notebook,
        mean=notebooks_of,
        program=(sys.executable, str(ROOT / "scripts" / "notebooks.py")),
    ),
}


def ended(command: Command, folder: Path, after_s: float | None, number: int) -> tuple[int, str]:
    """Run the command in the folder; after so many seconds it gets the signal. Its status and standard error."""
    environment = {**os.environ, "REBALANCE_KIT_ATTEMPTS": str(folder / "store" / "a.sqlite")}
    (folder / "store").mkdir(exist_ok=True)
    with subprocess.Popen(
        [*command.program, *command.words], cwd=folder, env=environment, text=True, start_new_session=True,
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        told = [""]
        try:
            _, told[0] = process.communicate(command.typed, timeout=after_s)
        except subprocess.TimeoutExpired:
            process.send_signal(number)
            try:
                _, told[0] = process.communicate(timeout=60)
            except subprocess.TimeoutExpired:
                told[0] = "did not end within 60 s of the signal"
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        return process.returncode, told[0]


def problem_of(command: Command, source: Path, whole: Files, after_s: float, number: int) -> str | None:
    """What is wrong after the signal at that moment, or None."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "here"
        shutil.copytree(source, folder)
        untouched = names_in(folder)
        status, told = ended(command, folder, after_s, number)
        if "Traceback" in told or "did not end" in told:
            return f"told {told.strip().splitlines()[-1][:120]}"
        if number == signal.SIGINT and status not in {0, 130, -signal.SIGINT}:
            return f"status {status}: {told[-200:]}"
        left = command.mean(folder)
        if wrong := [
            name for name, data in left.items() if whole.get(name) != data and not name.startswith("in/")
        ]:
            return f"half-written {wrong[0]}"
        if command.as_set and 0 < len(left) < len(whole):
            return f"{len(left)} of {len(whole)} files"
        if status == 0 and left != whole:
            return "ended well without its files"
        if untouched == names_in(folder):
            return None
        status, told = ended(command, folder, None, 0)
        if status != 0 and left != whole:
            return f"again: status {status}: {told[-200:]}"
        if command.mean(folder) != whole:
            return "again: other files"
    return None


def try_command(name: str, moments: int, dice: random.Random) -> list[str]:
    """Rows of the table for one command, and the problems found."""
    command = COMMANDS[name]
    rows = []
    with tempfile.TemporaryDirectory() as place:
        source, measured = Path(place) / "source", Path(place) / "measured"
        source.mkdir()
        command.prepare(source)
        shutil.copytree(source, measured)
        begun = time.monotonic()
        status, told = ended(command, measured, None, 0)
        took_s = time.monotonic() - begun
        if status != 0:
            return [f"| {name} | does not run: {told[-300:]} |"]
        whole = command.mean(measured)
        for sent in (signal.SIGINT, signal.SIGKILL):
            found = [
                f"{name} {sent.name} at {at:.2f} s: {problem}"
                for at in (dice.uniform(0, took_s) for _ in range(moments))
                if (problem := problem_of(command, source, whole, at, sent)) is not None
            ]
            rows.append(f"| `{name}` | {sent.name} | {took_s:.1f} s | {moments - len(found)} of {moments} |")
            rows += found
    return rows


def main() -> int:
    """Try the commands named."""
    parser = argparse.ArgumentParser(description="Interrupt and kill writing commands at random moments.")
    parser.add_argument("names", nargs="*", help=", ".join(COMMANDS))
    parser.add_argument("--moments", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    problems = 0
    for name in given.names or COMMANDS:
        for row in try_command(name, given.moments, random.Random(f"{given.seed}/{name}")):
            print(row, flush=True)
            problems += not row.startswith("|")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
