"""Interrupt and kill each writing command at random moments, fill its disk, make it read-only, and look at what is left.

    python -m tests.support.bad_input.interrupts --moments 50 run make-logs exercise exam logs notebook watch notebooks.py
    python -m tests.support.bad_input.interrupts --moments 10 --disk run make-logs     # needs the right to mount

A command is run once to its end, with a home, a cache and a folder of temporary files of its own; what it wrote is the measure. Then
it alone gets SIGINT, and SIGKILL, at random moments of that time; what it started is left to itself. After each, no process
may go on, every file that is there must be whole, byte for byte as measured (hidden drafts apart), a set of files
must be there whole or not at all, no traceback may be told, and the same command run again must end well with the same files,
and leave no name behind that the measured run does not: in the home, the cache, temporary files or the folder; with ``--alone``, where nobody
else writes meanwhile, in ``/tmp`` and ``/dev/shm`` too.
With ``--disk`` the command runs where little room is left, and where nothing can be written: it must end in a line that says so.
Prints a row of a table for each command and signal.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

Files = Mapping[str, bytes]
ROOT = Path(__file__).resolve().parents[3]
KIT = (sys.executable, "-m", "rebalance_kit")
_TEMPORARY, _HOME = "temporary", "home"
OWN = ("store", _TEMPORARY, _HOME)
"""Folders that every command finds there."""
LEFT_OUT = (".rebalance-kit.json",)
"""Files whose text names a time or a machine."""
GONE_WITHIN_S = 120.0
"""Processes of a killed command end within this time: Java looks for its reader once it has started, which takes a minute on a busy machine."""
_SHARED = (Path("/tmp"), Path("/dev/shm"))  # noqa: S108 (only looked at)
_JAVAS = "hsperfdata_"
"""A folder that Java makes for each user, whoever starts it."""


def files_of(folder: Path) -> Files:
    """Visible files below a folder, by their names; what lies in hidden drafts is nobody's result."""
    return {
        name: path.read_bytes()
        for path in _paths(folder)
        if path.is_file()
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and (name := path.relative_to(folder).as_posix()) not in LEFT_OUT
        and not name.startswith((f"{_TEMPORARY}/", f"{_HOME}/"))
    }


def _paths(folder: Path) -> list[Path]:
    """Everything below a folder; what goes meanwhile, as temporary files do, is left out."""
    return sorted(Path(place, name) for place, inner, names in os.walk(folder) for name in (*inner, *names))


def names_in(folder: Path) -> frozenset[str]:
    """Everything in a folder, drafts too; the folders of the command's own count when something is in them."""
    return frozenset(path.relative_to(folder).as_posix() for path in _paths(folder)) - set(OWN)


def shared_names() -> frozenset[str]:
    """What lies where every process of the machine may write."""
    return frozenset(
        path.as_posix()
        for place in _SHARED
        if place.is_dir()
        for path in place.iterdir()
        if not path.name.startswith(_JAVAS)
    )


def left_in(folder: Path, usual: frozenset[str]) -> list[str]:
    """Names that the measured run does not leave; drawn parts of names count as equal."""
    return sorted(alike(names_in(folder)) - alike(usual))


def alike(names: Iterable[str]) -> frozenset[str]:
    """Names without what a run draws: numbers and digests of files of Spark, its stores, Python and pip."""
    return frozenset(_DRAWN.sub("#", _SPARKS.sub("part", name)) for name in names)


_DRAWN = re.compile(r"[0-9a-f]{8,}(?:-[0-9a-f]{4,})*|(?<=/)[0-9a-f]{1,2}(?=/)|\d+")
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
    finish: tuple[str, ...] = ()
    """What ends that which a command leaves running, as a broker."""
    good: tuple[int, ...] = (0,)
    again: tuple[str, ...] = ()
    """What is run after a kill, where it is not the same: a record that was broken off is kept."""


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


def without_times(folder: Path) -> Files:
    """Pages as PDF hold the moment of their making, and a number drawn from it."""
    return {
        name: re.sub(rb"/(?:CreationDate|ModDate) \([^)]*\)|<[0-9a-f]{32}>", b"", data)
        for name, data in files_of(folder).items()
    }


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


def _exported(folder: Path) -> None:
    """A file of answers, as `answers export` writes it."""
    make_folders(folder)
    quiz = COMMANDS["quiz"]
    for words in (quiz.words, ("answers", "export", "--to", "given.jsonl")):
        ended(replace(quiz, words=words), folder, None, 0)
    for path in (folder / "store").iterdir():
        path.unlink()


def _deployment(folder: Path) -> None:
    (folder / "values.yaml").write_text("replicaCount: 5\n", "utf-8")


def _begun(folder: Path) -> None:
    from rebalance_kit.exercises.workspace import find

    subprocess.run(
        [*KIT, "exercise", "start", "c1", "--folder", "ex"], check=True, capture_output=True, cwd=folder
    )
    (folder / "ex" / find("c1").name / "answer.py").write_text(find("c1").text("solution.py"), "utf-8")


def _recorded(folder: Path) -> None:
    from rebalance_kit.recordings.folder import unpack

    (run,) = unpack(folder, ("crash.eager.4.3.1",))
    run.rename(folder / "run")


def _jars(folder: Path) -> None:
    """Kafka's jars of the user's cache, so that what is killed is the broker and not its download."""
    jars = folder / _HOME / ".cache" / "rebalance-kit" / "live" / "jars"
    jars.mkdir(parents=True)
    for version in (Path.home() / ".cache" / "rebalance-kit" / "live" / "jars").iterdir():
        if version.is_dir():
            (jars / version.name).symlink_to(version)


_STARTS = ("broker", "start")
_STOPS = ("broker", "stop")

COMMANDS: Mapping[str, Command] = {
    "run": Command(("run", "crash", "--one-run", "--out", "out")),
    "run, draws": Command(("run", "crash", "--draws", "3", "--out", "out"), as_set=False),
    "watch --from": Command(("watch", "--from", "a=sleep 600", "--idle", "2"), mean=nothing_of),
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
        good=(0, 3),
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
    "logs --markdown": Command(
        ("logs", "in", "--fail-on", "never", "--markdown", "out.md"), prepare=_few_logs, as_set=False
    ),
    "make-logs --truth": Command(
        ("make-logs", "crash", "--gzip", "--out", "out", "--truth", "truth.jsonl"), as_set=False
    ),
    "replay": Command(("replay", "run", "--draws", "2", "--out", "out"), prepare=_recorded, as_set=False),
    "plan-deploy": Command(
        ("plan-deploy", "values.yaml", "--draws", "2", "--markdown", "out.md"),
        prepare=_deployment,
        as_set=False,
    ),
    "lab --notebook": Command(("lab", "crash", "--notebook", "out.ipynb")),
    "quiz": Command(("quiz", "--count", "8", "--seed", "1"), typed="a\n" * 16, as_set=False, mean=answers_of),
    "review": Command(("review",), typed="a\n" * 16, as_set=False, mean=answers_of),
    "answers import": Command(
        ("answers", "import", "--from", "given.jsonl"), prepare=_exported, as_set=False, mean=answers_of
    ),
    "answers delete": Command(
        ("answers", "delete", "--yes"), prepare=_exported, as_set=False, mean=answers_of
    ),
    "items new": Command(("items", "new", "single", "an-item", "--to", "out.yaml")),
    **{
        f"items export {form}": Command(
            ("items", "export", form, f"out.{end}", "--count", "20", "--seed", "1"),
            mean=zipped if end in {"apkg", "zip"} else files_of,
        )
        for form, end in (
            ("anki", "apkg"),
            ("qti", "zip"),
            ("moodle", "xml"),
            ("html", "html"),
            ("csv", "csv"),
        )
    },
    "workshop --plan-b": Command(("workshop", "90min", "--to", "out.ipynb", "--plan-b", "out"), as_set=False),
    "cards, PDF": Command(("cards", "--out", "out"), as_set=False, mean=without_times),
    "exercise check": Command(
        ("exercise", "check", "c1", "--folder", "ex"), prepare=_begun, as_set=False, mean=nothing_of
    ),
    "classroom gradescope": Command(("classroom", "gradescope", "c1", "--to", "out.zip"), mean=zipped),
    "classroom nbgrader": Command(("classroom", "nbgrader", "c1", "01", "--to", "out.zip"), mean=zipped),
    "broker start": Command(_STARTS, prepare=_jars, as_set=False, mean=nothing_of, finish=_STOPS),
    "broker start, first fetch": Command(_STARTS, as_set=False, mean=nothing_of, finish=_STOPS),
    "record": Command(
        ("record", "leave", "--out", "out"),
        prepare=_jars,
        as_set=False,
        mean=nothing_of,
        again=("record", "leave", "--out", "again"),
    ),
    "what-if --page": Command(
        ("what-if", "in", "--draws", "2", "--page", "out.html"), prepare=_few_logs, as_set=False, good=(0, 3)
    ),
    "notebooks.py": Command(
        ("--folder", "notebooks"),
        prepare=_one_notebook,
        mean=notebooks_of,
        program=(sys.executable, str(ROOT / "scripts" / "notebooks.py")),
    ),
}


def adopt_orphans() -> None:
    """Make this process the parent of whatever its children leave, so that none can hide in a session of its own."""
    become_subreaper = 36  # PR_SET_CHILD_SUBREAPER
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(become_subreaper, 1, 0, 0, 0)


def wait_for_orphans(within_s: float = GONE_WITHIN_S) -> list[str]:
    """Wait for the adopted; the command lines of those that go on, which are then killed."""
    until = time.monotonic() + within_s
    while orphans := _children():
        if time.monotonic() > until:
            break
        for pid in orphans:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.05)
    found = [_words(pid) for pid in orphans]
    for pid in orphans:
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    return found


def _children() -> list[int]:
    me = Path(f"/proc/self/task/{os.getpid()}/children")
    return [int(word) for word in me.read_text("ascii").split()] if me.exists() else []


def _words(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")[:200]
    except OSError:
        return f"process {pid}"


def environment_of(folder: Path) -> Mapping[str, str]:
    """Home, cache, store and temporary files of the folder's own; pip keeps its cache, and Kafka's jars are a link to the user's."""
    pip = os.environ.get("PIP_CACHE_DIR") or str(Path.home() / ".cache" / "pip")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("XDG_")}
    return {
        **kept,
        "HOME": str(folder / _HOME),
        "PIP_CACHE_DIR": pip,
        "REBALANCE_KIT_ATTEMPTS": str(folder / "store" / "a.sqlite"),
        "TMPDIR": str(folder / _TEMPORARY),
    }


def ended(command: Command, folder: Path, after_s: float | None, number: int) -> tuple[int, str]:
    """Run the command in the folder; after so many seconds it alone gets the signal. Its status and standard error."""
    with subprocess.Popen(
        [*command.program, *command.words], cwd=folder, env=environment_of(folder), text=True, start_new_session=True,
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
                process.kill()
    if command.finish:
        subprocess.run(
            [*command.program, *command.finish],
            check=False,
            cwd=folder,
            env=environment_of(folder),
            capture_output=True,
        )
    if going_on := wait_for_orphans():
        told[0] += f"\n{STILL_RUNS} {going_on[0]}"
    return process.returncode, told[0]


STILL_RUNS = "a process goes on:"


def make_folders(folder: Path) -> None:
    """Those that every command finds there: of the answers, of temporary files, and a home."""
    for name in OWN:
        (folder / name).mkdir(exist_ok=True)


def _wrong(command: Command, folder: Path, measured: Measured) -> str | None:
    """A file that is neither as measured nor as it was given, or None."""
    left = command.mean(folder)
    wrong = [
        name for name, data in left.items() if measured.whole.get(name) != data and not name.startswith("in/")
    ]
    return f"half-written {wrong[0]}" if wrong else None


def _again(command: Command, folder: Path, measured: Measured) -> str | None:
    """What is wrong with the next run of the command, and with what is left after it."""
    left = command.mean(folder)
    status, told = ended(replace(command, words=command.again or command.words), folder, None, 0)
    if status not in command.good and left != measured.whole:
        return f"again: status {status}: {told[-200:]}"
    if command.mean(folder) != measured.whole:
        return "again: other files"
    if STILL_RUNS in told:
        return f"again: {told[-200:]}"
    after = [*left_in(folder, measured.names), *measured.strange()]
    return f"left behind: {after[0]}" if after else None


@dataclass(frozen=True)
class Measured:
    """What the run to its end left: files that count, names of all, and what lay in shared folders before."""

    whole: Files
    names: frozenset[str]
    shared: frozenset[str] | None

    def strange(self) -> list[str]:
        """What has come to shared folders, where nobody else uses them."""
        return [] if self.shared is None else sorted(shared_names() - self.shared)


def disk_problem(command: Command, source: Path, measured: Measured, room: int | None) -> str | None:
    """What is wrong where so many bytes are free, or with None, where nothing can be written."""
    with tempfile.TemporaryDirectory(dir=source.parent) as name:
        folder = Path(name)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", name], check=True)
        try:
            shutil.copytree(source, folder, dirs_exist_ok=True, symlinks=True)
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
            if wrong := _wrong(command, folder, measured):
                return wrong
            if STILL_RUNS in told:
                return f"told {told[-200:]}"
            if status in command.good and command.mean(folder) != measured.whole:
                return "ended well without its files"
            return _again(command, folder, measured)
        finally:
            subprocess.run(["umount", "-l", name], check=True)


def problem_of(command: Command, source: Path, measured: Measured, after_s: float, number: int) -> str | None:
    """What is wrong after the signal at that moment, or None."""
    with tempfile.TemporaryDirectory(dir=source.parent) as name:
        folder = Path(name) / "here"
        shutil.copytree(source, folder, symlinks=True)
        make_folders(folder)
        untouched = names_in(folder)
        status, told = ended(command, folder, after_s, number)
        if "Traceback" in told or "did not end" in told or STILL_RUNS in told:
            return f"told {told.strip().splitlines()[-1][:200]}"
        if number == signal.SIGINT and status not in {*command.good, 130, -signal.SIGINT}:
            return f"status {status}: {told[-200:]}"
        if wrong := _wrong(command, folder, measured):
            return wrong
        left = command.mean(folder)
        if command.as_set and 0 < len(left) < len(measured.whole):
            return f"{len(left)} of {len(measured.whole)} files"
        if status in command.good and left != measured.whole:
            return "ended well without its files"
        same = untouched == names_in(folder) and not measured.strange()
        return None if same else _again(command, folder, measured)


def try_command(name: str, given: argparse.Namespace) -> Iterator[str]:
    """Rows of the table for one command, and the problems found."""
    command, dice = COMMANDS[name], random.Random(f"{given.seed}/{name}")
    with tempfile.TemporaryDirectory() as place:
        source, folder = Path(place) / "source", Path(place) / "measured"
        source.mkdir()
        command.prepare(source)
        shutil.copytree(source, folder, symlinks=True)
        make_folders(folder)
        shared, begun = shared_names(), time.monotonic()
        status, told = ended(command, folder, None, 0)
        took_s = time.monotonic() - begun
        if status not in command.good or STILL_RUNS in told:
            yield f"{name} does not run: {told[-300:]}"
            return
        measured = Measured(
            command.mean(folder), names_in(folder), shared_names() | shared if given.alone else None
        )
        size = sum(map(len, files_of(folder).values()))
        tries: list[tuple[str, Callable[[], str | None]]] = []
        if given.disk:
            rooms = [dice.randrange(size + 1) for _ in range(given.moments)]
            tries = [
                (f"{room:,} bytes free", partial(disk_problem, command, source, measured, room))
                for room in rooms
            ]
            yield from _row(name, "disk full", took_s, tries)
            yield from _row(
                name, "read-only", took_s, [("", partial(disk_problem, command, source, measured, None))]
            )
            return
        for sent in given.signals:
            parts = given.moments
            moments = [took_s * (part + dice.random()) / parts for part in range(parts)]
            tries = [
                (f"{at:.2f} s", partial(problem_of, command, source, measured, at, sent)) for at in moments
            ]
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
    parser.add_argument(
        "--alone", action="store_true", help="look into /tmp and /dev/shm too (unshare --mount with a tmpfs)"
    )
    given = parser.parse_args()
    adopt_orphans()
    problems = 0
    for name in given.names or COMMANDS:
        for row in try_command(name, given):
            print(row, flush=True)
            problems += not row.startswith("|")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
