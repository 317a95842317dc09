"""Interrupt and kill each writing command at random moments, fill its disk, make it read-only, and look at what is left.

    python -m tests.support.bad_input.interrupts --moments 50 run make-logs exercise exam logs notebook watch notebooks.py
    python -m tests.support.bad_input.interrupts --moments 10 --disk run make-logs     # needs the right to mount

A command is run once to its end; what it wrote is the measure. Then it gets SIGINT, and SIGKILL, at random moments of
that time. After each, every file that is there must be whole, byte for byte as measured (hidden drafts apart), a set of files
must be there whole or not at all, no traceback may be told, and the same command run again must end well with the same files,
and leave nothing in the folder of temporary files and no draft beside what it wrote. With ``--disk`` the command runs where little
room is left, and where nothing can be written: it must end in a line that says so.
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
import venv
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

Files = Mapping[str, bytes]
ROOT = Path(__file__).resolve().parents[3]
KIT = (sys.executable, "-m", "rebalance_kit")
_TEMPORARY = "temporary"
LEFT_OUT = (".rebalance-kit.json",)
"""Files whose text names a time or a machine."""


def files_of(folder: Path) -> Files:
    """Visible files below a folder, by their names; what lies in hidden drafts is nobody's result."""
    return {
        name: path.read_bytes()
        for path in _paths(folder)
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and (name := path.relative_to(folder).as_posix()) not in LEFT_OUT
        and not name.startswith(f"{_TEMPORARY}/")
    }


def _paths(folder: Path) -> list[Path]:
    """Everything below a folder; what goes meanwhile, as temporary files do, is left out."""
    return sorted(Path(place, name) for place, inner, names in os.walk(folder) for name in (*inner, *names))


def names_in(folder: Path) -> frozenset[str]:
    """Everything in a folder, drafts too; the folder of the store counts when something is in it."""
    return frozenset(path.relative_to(folder).as_posix() for path in _paths(folder)) - {"store", _TEMPORARY}


def left_in(folder: Path) -> list[str]:
    """Temporary files, and drafts beside what was written."""
    drafts = [
        path for path in _paths(folder) if path.name.endswith(".part") or path.name.startswith(".draft-")
    ]
    return [path.relative_to(folder).as_posix() for path in (*(folder / _TEMPORARY).glob("*"), *drafts)]


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


def _answer(folder: Path) -> None:
    from rebalance_kit.exercises.workspace import find

    place = folder / "in" / "ada" / find("c1").name
    place.mkdir(parents=True)
    (place / "answer.py").write_text(find("c1").text("solution.py"), "utf-8")


_COLLECT = ("classroom", "collect", "in", "--to", "out", "--course", "spring", "--at", "2026-12-01T18:00")


def _collected(folder: Path) -> None:
    _answer(folder)
    subprocess.run([*KIT, *_COLLECT], check=True, capture_output=True, cwd=folder)


def _marked(folder: Path) -> None:
    _collected(folder)
    subprocess.run([*KIT, "classroom", "mark", "out"], check=True, capture_output=True, cwd=folder)


def _handed_in(folder: Path) -> None:
    (folder / "in.ipynb").write_text(
        '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}', "utf-8"
    )


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


def exported(folder: Path) -> Files:
    """The file that was written; the store of answers is no result."""
    return {name: data for name, data in files_of(folder).items() if name == "out.jsonl"}


def nothing_of(_folder: Path) -> Files:
    """A command that only prints."""
    return {}


def zipped(folder: Path) -> Files:
    """Names in the bundle, each of which can be read; its bytes hold times."""
    found = {}
    for path in folder.glob("out*.zip"):
        with zipfile.ZipFile(path) as packed:
            assert packed.testzip() is None, path
            found |= {f"{path.name}/{name}": b"" for name in packed.namelist()}
    return found


def _with_python(folder: Path) -> None:
    """An environment of the folder's own with the kit in it, as `pip install rebalance-kit` makes one."""
    venv.create(folder / "venv", with_pip=True, symlinks=True)
    subprocess.run([folder / "venv/bin/python", "-m", "pip", "install", "--quiet", str(ROOT)], check=True)


def installed(folder: Path) -> Files:
    """What the environment holds whole: distributions whose recorded files are all there; `pip check` finds nothing missing."""
    ask = (
        "from importlib.metadata import distributions as d; "
        "print(*sorted(f'{x.name} {x.version}' for x in d() if all(f.locate().exists() for f in x.files or ())), sep='\\n')"
    )
    python = folder / "venv" / "bin" / "python"
    names = subprocess.run([python, "-I", "-c", ask], check=True, capture_output=True, text=True).stdout
    return dict.fromkeys(names.split("\n"), b"")


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
    "what-if": Command(
        ("what-if", "in", "--draws", "2", "--scenario", "out.yaml", "--markdown", "out.md"),
        prepare=_few_logs,
        as_set=False,
    ),
    "course": Command(("course", "out"), as_set=False),
    "vote": Command(
        ("vote", "commit-before-processing-crash", "abcdefghjk", "--folder", "."),
        typed="a\n",
        as_set=False,
        mean=answers_of,
    ),
    "today": Command(("today",), typed="a\n" * 40, as_set=False, mean=answers_of),
    "plan": Command(("plan", "--until", "2027-01-31"), as_set=False, mean=answers_of),
    "answers": Command(("answers", "export", "--to", "out.jsonl"), as_set=False, mean=exported),
    "classroom collect": Command(_COLLECT, prepare=_answer, as_set=False),
    "classroom mark": Command(("classroom", "mark", "out"), prepare=_collected, as_set=False),
    "classroom report": Command(("classroom", "report", "out"), prepare=_marked, as_set=False),
    "classroom open": Command(
        ("classroom", "open", "in.ipynb", "--to", "out"), prepare=_handed_in, as_set=False
    ),
    "lab": Command(("lab", "crash", "--html", "out.html"), as_set=False),
    "items export": Command(
        ("items", "export", "gift", "out.gift", "--count", "20", "--seed", "1"), as_set=False
    ),
    "cards": Command(("cards", "--svg", "--out", "out"), as_set=False),
    "sweep": Command(
        ("sweep", "--scenario", "crash", "--seeds", "2", "--master", "local[1]", "--out", "out"),
        as_set=False,
        mean=rows_of,
    ),
    "bundle": Command(("bundle", "--without-spark", "--out", "out.zip"), mean=zipped),
    "install": Command(
        ("-P", "-m", "rebalance_kit", "install", "study"),
        prepare=_with_python,
        as_set=False,
        mean=installed,
        program=("venv/bin/python",),
    ),
    "what-if --page": Command(
        ("what-if", "in", "--draws", "2", "--page", "out.html"), prepare=_few_logs, as_set=False
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
    environment = {
        **os.environ,
        "REBALANCE_KIT_ATTEMPTS": str(folder / "store" / "a.sqlite"),
        "TMPDIR": str(folder / _TEMPORARY),
    }
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


def make_folders(folder: Path) -> None:
    """Those that every command finds there: of the answers, and of temporary files."""
    (folder / "store").mkdir(exist_ok=True)
    (folder / _TEMPORARY).mkdir(exist_ok=True)


def _wrong(command: Command, folder: Path, whole: Files) -> str | None:
    """A file that is neither as measured nor as it was given, or None."""
    left = command.mean(folder)
    wrong = [name for name, data in left.items() if whole.get(name) != data and not name.startswith("in/")]
    return f"half-written {wrong[0]}" if wrong else None


def _again(command: Command, folder: Path, whole: Files) -> str | None:
    """What is wrong with the next run of the command, and with what is left after it."""
    left = command.mean(folder)
    status, told = ended(command, folder, None, 0)
    if status != 0 and left != whole:
        return f"again: status {status}: {told[-200:]}"
    if command.mean(folder) != whole:
        return "again: other files"
    after = left_in(folder)
    return f"left behind: {after[0]}" if after else None


def disk_problem(command: Command, source: Path, whole: Files, room: int | None) -> str | None:
    """What is wrong where so many bytes are free, or with None, where nothing can be written."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", name], check=True)
        try:
            shutil.copytree(source, folder, dirs_exist_ok=True)
            make_folders(folder)
            ballast = folder / ".ballast"
            if room is None:
                subprocess.run(["mount", "-o", "remount,ro", name], check=True)
            else:
                disk = os.statvfs(folder)
                ballast.write_bytes(bytes(max(0, disk.f_bavail * disk.f_bsize - room)))
            status, told = ended(command, folder, None, 0)
            if "Traceback" in told or "a defect of the kit" in told:
                return f"told {told.strip().splitlines()[-1][:160]}"
            if room is None:
                subprocess.run(["mount", "-o", "remount,rw", name], check=True)
            ballast.unlink(missing_ok=True)
            if wrong := _wrong(command, folder, whole):
                return wrong
            if status == 0 and command.mean(folder) != whole:
                return "ended well without its files"
            return _again(command, folder, whole)
        finally:
            subprocess.run(["umount", "-l", name], check=True)


def problem_of(command: Command, source: Path, whole: Files, after_s: float, number: int) -> str | None:
    """What is wrong after the signal at that moment, or None."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "here"
        shutil.copytree(source, folder)
        make_folders(folder)
        untouched = names_in(folder)
        status, told = ended(command, folder, after_s, number)
        if "Traceback" in told or "did not end" in told:
            return f"told {told.strip().splitlines()[-1][:120]}"
        if number == signal.SIGINT and status not in {0, 130, -signal.SIGINT}:
            return f"status {status}: {told[-200:]}"
        if wrong := _wrong(command, folder, whole):
            return wrong
        left = command.mean(folder)
        if command.as_set and 0 < len(left) < len(whole):
            return f"{len(left)} of {len(whole)} files"
        if status == 0 and left != whole:
            return "ended well without its files"
        return None if untouched == names_in(folder) else _again(command, folder, whole)


def try_command(name: str, given: argparse.Namespace) -> Iterator[str]:
    """Rows of the table for one command, and the problems found."""
    command, dice = COMMANDS[name], random.Random(f"{given.seed}/{name}")
    with tempfile.TemporaryDirectory() as place:
        source, measured = Path(place) / "source", Path(place) / "measured"
        source.mkdir()
        command.prepare(source)
        shutil.copytree(source, measured)
        make_folders(measured)
        begun = time.monotonic()
        status, told = ended(command, measured, None, 0)
        took_s = time.monotonic() - begun
        if status != 0:
            yield f"{name} does not run: {told[-300:]}"
            return
        whole, size = command.mean(measured), sum(map(len, files_of(measured).values()))
        tries: list[tuple[str, Callable[[], str | None]]] = []
        if given.disk:
            rooms = [dice.randrange(size + 1) for _ in range(given.moments)]
            tries = [
                (f"{room:,} bytes free", partial(disk_problem, command, source, whole, room))
                for room in rooms
            ]
            yield from _row(name, "disk full", took_s, tries)
            yield from _row(
                name, "read-only", took_s, [("", partial(disk_problem, command, source, whole, None))]
            )
            return
        for sent in given.signals:
            moments = [dice.uniform(0, took_s) for _ in range(given.moments)]
            tries = [(f"{at:.2f} s", partial(problem_of, command, source, whole, at, sent)) for at in moments]
            yield from _row(name, sent.name, took_s, tries)


def _row(
    name: str, what: str, took_s: float, tries: Sequence[tuple[str, Callable[[], str | None]]]
) -> Iterator[str]:
    found = [f"{name}, {what}, {where}: {problem}" for where, ask in tries if (problem := ask()) is not None]
    yield f"| `{name}` | {what} | {took_s:.1f} s | {len(tries) - len(found)} of {len(tries)} |"
    yield from found


def main() -> int:
    """Try the commands named."""
    parser = argparse.ArgumentParser(description="Interrupt and kill writing commands at random moments.")
    parser.add_argument("names", nargs="*", help=", ".join(COMMANDS))
    parser.add_argument("--moments", type=int, default=50)
    parser.add_argument(
        "--disk", action="store_true", help="a full disk and a read-only one in place of signals"
    )
    parser.add_argument(
        "--signals", type=signal.Signals.__getitem__, nargs="*", default=[signal.SIGINT, signal.SIGKILL]
    )
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    problems = 0
    for name in given.names or COMMANDS:
        for row in try_command(name, given):
            print(row, flush=True)
            problems += not row.startswith("|")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
