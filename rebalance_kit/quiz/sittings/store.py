"""Answers of one learner, kept in a SQLite file that two notebooks may write at once.

The file is in WAL mode and each answer is one transaction, so a killed kernel loses nothing that was answered.
When the file cannot be written (locked for long, damaged, disk full) the answer goes to a line of a text file
beside it, or to one in the temporary folder, and ``Store.notice`` says where; lines so kept are taken in
when the database can be written again.
"""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import NoneType
from typing import Any, TextIO
from zlib import crc32

from rebalance_kit.model.errors import DataError, require_kind

# The clocks that an exam counts by: one that anybody may set, and the machine's own, which nobody can.


def _boot() -> str:
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _steady() -> float:
    try:
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    except (AttributeError, OSError):  # other systems have no such clock, and browsers name it in vain
        return time.monotonic()


@dataclass(frozen=True, slots=True)
class ExamClock:
    """The wall clock, seconds since the machine started, and a name for that start."""

    wall: Callable[[], float] = time.time
    steady: Callable[[], float] = _steady
    boot: Callable[[], str] = _boot


VARIABLE = "REBALANCE_KIT_ATTEMPTS"
PATIENCE_S = 5.0
LARGEST_LINE = 100_000
CONFIDENCE = ("sure", "think", "guess")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS attempt (
  id TEXT PRIMARY KEY, at REAL NOT NULL, mode TEXT NOT NULL, item TEXT NOT NULL, seed INTEGER NOT NULL,
  given TEXT NOT NULL, correct INTEGER NOT NULL, credit REAL NOT NULL, confidence TEXT, beliefs TEXT NOT NULL, exam TEXT
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS attempt_at ON attempt (at);
CREATE TABLE IF NOT EXISTS kept (kind TEXT NOT NULL, name TEXT NOT NULL, held TEXT NOT NULL, PRIMARY KEY (kind, name)) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Attempt:
    """One answer to one question: item and variant, what was given, credit, confidence, beliefs shown."""

    id: str
    at: float
    mode: str
    item: str
    seed: int
    given: str
    correct: bool
    credit: float
    confidence: str | None = None
    beliefs: tuple[str, ...] = ()
    exam: str | None = None


def default_path() -> Path:
    """Where a learner's answers are: $REBALANCE_KIT_ATTEMPTS, else the user's data folder."""
    named = os.environ.get(VARIABLE)
    if named:
        return Path(named)
    try:
        base = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    except RuntimeError as error:
        raise DataError(f"the user has no home folder; expected a file in the variable {VARIABLE}") from error
    return Path(base) / "rebalance-kit" / "attempts.sqlite"


class OwnedElsewhere(DataError):
    """Another process has taken over, or ended, what was to be kept."""


class Store:
    """The answers in one file, opened at first use. ``notice`` is None, or where answers went instead and why."""

    def __init__(self, path: str | Path | None = None, patience_s: float = PATIENCE_S) -> None:
        self.path = Path(path) if path is not None else default_path()
        self.patience_s = patience_s
        self.notice: str | None = None
        self._unsaved: list[dict[str, Any]] = []

    @classmethod
    def given(cls, store: Store | None) -> Store:
        """The store that a caller gave, or the learner's own; raises ``WrongKind`` for what is none."""
        require_kind(store, (cls, NoneType), "the store", "a Store, or None for the learner's own")
        return store or cls()

    # --- writing -----------------------------------------------------------------------------
    def add(self, *attempts: Attempt) -> None:
        """Keep answers, all or none; never raises: what the database refuses goes beside it (see ``notice``)."""
        self._write(*({"do": "attempt", **asdict(attempt)} for attempt in attempts))

    def keep(self, kind: str, name: str, state: Mapping[str, Any]) -> None:
        """Keep a mapping under a kind and a name (an exam's state, a review card), in place of the one before."""
        self._write({"do": "keep", "kind": kind, "name": name, "held": dict(state)})

    def keep_owned(self, kind: str, name: str, state: Mapping[str, Any], *, take: bool = False) -> None:
        """Keep as ``keep`` does, unless another owner has the mapping, or it has ended and this one has not.

        ``state["owner"]`` says whose it is; with ``take`` it changes hands. Raises ``OwnedElsewhere``.
        """
        self._write(
            {"do": "keep", "kind": kind, "name": name, "held": dict(state), "owned": True, "take": take}
        )

    def set_aside(self, kind: str, name: str) -> None:
        """Keep what is kept there under another kind, ``KIND set aside``, where nothing comes upon it."""
        self._write({"do": "set aside", "kind": kind, "name": name})

    def _write(self, *lines: dict[str, Any]) -> None:
        try:
            with self._connection() as connection:
                for file in self._beside():
                    self._take_in(connection, file)
                for line in (*self._unsaved, *lines):
                    _apply(connection, line)
            self._unsaved.clear()
            self._clear_beside()
            self.notice = None
        except (sqlite3.Error, OSError) as error:
            for line in lines:
                self._keep_beside(line, error)

    def _keep_beside(self, line: dict[str, Any], error: Exception) -> None:
        text = json.dumps(line, ensure_ascii=False) + "\n"
        for file in self._beside():
            with suppress(OSError):
                file.parent.mkdir(parents=True, exist_ok=True)
                with os.fdopen(_private(file, os.O_WRONLY | os.O_APPEND), "a", encoding="utf-8") as stream:
                    stream.write(text)
                    stream.flush()
                    os.fsync(stream.fileno())
                self.notice = (
                    f"{self.path} cannot be written ({error}); your answers so far are kept in {file}"
                )
                return
        self._unsaved.append(line)
        self.notice = f"{self.path} cannot be written ({error}), nor any file beside it; {len(self._unsaved)} answers are kept in this process alone"

    def _beside(self) -> tuple[Path, Path]:
        name = f"{self.path.name}.kept.jsonl"
        mine = f"rebalance-kit-{_user()}-{crc32(str(self.path.absolute()).encode()):08x}-{name}"
        return self.path.with_name(name), Path(tempfile.gettempdir()) / mine

    def _take_in(self, connection: sqlite3.Connection, file: Path) -> None:
        if not file.is_file() or (file.parent != self.path.parent and file.stat().st_uid != _user()):
            return
        with file.open(encoding="utf-8", errors="replace") as stream:
            for text in iter(lambda: stream.readline(LARGEST_LINE), ""):
                with suppress(
                    ValueError, KeyError, TypeError, AttributeError, RecursionError, DataError
                ):  # a line cut off by a full disk
                    _apply(connection, json.loads(text))

    def _clear_beside(self) -> None:
        for file in self._beside():
            with suppress(OSError):
                file.unlink()

    # --- reading -----------------------------------------------------------------------------
    def attempts(self, mode: str | None = None, exam: str | None = None) -> tuple[Attempt, ...]:
        """Answers in the order of their times; raises ``DataError`` saying what is wrong with the file."""
        query = (
            "SELECT id, at, mode, item, seed, given, correct, credit, confidence, beliefs, exam FROM attempt"
        )
        query += " WHERE (? IS NULL OR mode = ?) AND (? IS NULL OR exam = ?) ORDER BY at, id"
        return tuple(_attempt(row) for row in self._read(query, (mode, mode, exam, exam)))

    def kept(self, kind: str) -> dict[str, dict[str, Any]]:
        """Mappings kept of a kind, by name; anything else in the file is passed over."""
        states: dict[str, dict[str, Any]] = {}
        for name, text in self._read("SELECT name, held FROM kept WHERE kind = ? ORDER BY name", (kind,)):
            with suppress(ValueError, TypeError, RecursionError):
                state = json.loads(text)
                if isinstance(state, dict):
                    states[name] = state
        return states

    def _read(self, query: str, values: Sequence[Any]) -> list[Any]:
        try:
            with self._connection() as connection:
                for file in self._beside():
                    self._take_in(connection, file)
                rows = connection.execute(query, values).fetchall()
            self._clear_beside()
        except (sqlite3.Error, OSError) as error:
            raise DataError(
                f"{self.path} cannot be read ({error}); expected the answers of a learner. Rename the file to begin a new one"
            ) from error
        return rows

    # --- one's own data ----------------------------------------------------------------------
    def export(self, out: TextIO) -> int:
        """Write every answer as a line of JSON and return how many there were."""
        attempts = self.attempts()
        out.writelines(
            json.dumps(asdict(attempt), ensure_ascii=False, default=str) + "\n" for attempt in attempts
        )
        return len(attempts)

    def bring(self, lines: Iterable[str]) -> tuple[int, int]:
        """Take in answers that ``export`` wrote, here or in a browser, and return how many were new and how many were known.

        All or none: raises ``DataError`` naming the first line that is no answer, or that the answers could not be kept.
        """
        brought = [_read_line(text, number) for number, text in enumerate(lines, 1) if text.strip()]
        known = {attempt.id for attempt in self.attempts()}
        fresh = list({each.id: each for each in brought if each.id not in known}.values())
        self.add(*fresh)
        if self.notice:
            raise DataError(f"the answers were not all taken in: {self.notice}")
        return len(fresh), len(brought) - len(fresh)

    def delete(self) -> int:
        """Delete every answer, exam and review card of this file, and return how many answers there were."""
        number = len(self.attempts())
        try:
            with self._connection() as connection:
                connection.execute("DELETE FROM attempt")
                connection.execute("DELETE FROM kept")
            with self._connection(transaction=False) as connection:
                connection.execute("VACUUM")  # deleted rows leave the file, not only the table
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except (sqlite3.Error, OSError) as error:
            raise DataError(f"{self.path} cannot be written ({error}); nothing was deleted") from error
        return number

    @contextmanager
    def _connection(self, *, transaction: bool = True) -> Iterator[sqlite3.Connection]:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with suppress(OSError):  # SQLite says better what is wrong with the place
            os.close(_private(self.path, os.O_RDWR))
        connection = sqlite3.connect(self.path, timeout=self.patience_s, isolation_level=None)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.executescript(_SCHEMA)
            if transaction:
                connection.execute("BEGIN IMMEDIATE")
            yield connection
            if transaction:
                connection.execute("COMMIT")
        finally:
            connection.close()


def _user() -> int:
    return os.getuid() if hasattr(os, "getuid") else 0


def _refuse_other_owner(connection: sqlite3.Connection, line: Mapping[str, Any]) -> None:
    query = "SELECT held FROM kept WHERE kind = ? AND name = ?"
    row = connection.execute(query, (str(line["kind"]), str(line["name"]))).fetchone()
    before = json.loads(row[0]) if row is not None else {}
    if before.get("ended") and not line["held"].get("ended"):
        raise OwnedElsewhere(f"the {line['kind']} was handed in elsewhere; expected no further change")
    if not line.get("take") and before.get("owner") not in {None, line["held"].get("owner")}:
        raise OwnedElsewhere(
            f"the {line['kind']} was opened in another window, which has it now; expected one window at a time. "
            "Open it here again to go on here"
        )


def _apply(connection: sqlite3.Connection, line: Mapping[str, Any]) -> None:
    if line["do"] == "keep":
        if line.get("owned"):
            _refuse_other_owner(connection, line)
        connection.execute(
            "INSERT OR REPLACE INTO kept VALUES (?, ?, ?)",
            (str(line["kind"]), str(line["name"]), json.dumps(line["held"], ensure_ascii=False)),
        )
        return
    if line["do"] == "set aside":
        moved = (f"{line['kind']} set aside", str(line["kind"]), str(line["name"]))
        connection.execute("UPDATE OR REPLACE kept SET kind = ? WHERE kind = ? AND name = ?", moved)
        return
    beliefs = json.dumps(list(line["beliefs"]))
    values = (
        str(line["id"]),
        float(line["at"]),
        str(line["mode"]),
        str(line["item"]),
        int(line["seed"]),
        str(line["given"]),
        int(bool(line["correct"])),
        float(line["credit"]),
        line["confidence"],
        beliefs,
        line["exam"],
    )
    connection.execute("INSERT OR IGNORE INTO attempt VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", values)


_LATEST_S = 1e11
_KINDS: Mapping[str, tuple[type, ...]] = {
    "id": (str,),
    "at": (int, float),
    "mode": (str,),
    "item": (str,),
    "seed": (int,),
    "given": (str,),
    "correct": (bool,),
    "credit": (int, float),
    "confidence": (str, NoneType),
    "beliefs": (list,),
    "exam": (str, NoneType),
}


def _read_line(text: str, number: int) -> Attempt:
    """An answer as ``export`` writes it; raises ``DataError`` for anything else."""
    told = _told(text)
    if told is None:
        raise DataError(
            f"line {number}: {text.strip()[:60]!r} is no answer; expected a line of `rebalance-kit answers export`, or of a page's answers"
        )
    fields: dict[str, Any] = {name: told.get(name) for name in _KINDS}
    return Attempt(**{**fields, "beliefs": tuple(told["beliefs"])})


def _told(text: str) -> dict[str, Any] | None:
    """What a line says of an answer, None where a kind or a size is none of an answer's."""
    with suppress(ValueError, RecursionError):  # also a text that is no Unicode
        told = json.loads(text[:LARGEST_LINE])
        json.dumps(told, ensure_ascii=False).encode()
        if (
            isinstance(told, dict)
            and all(type(told.get(name)) in kinds for name, kinds in _KINDS.items())
            and all(isinstance(one, str) for one in told["beliefs"])
            and 0 <= told["at"] < _LATEST_S
            and 0 <= told["credit"] <= 1
            and abs(told["seed"]) < _LATEST_S
        ):
            return told
    return None


def _beliefs(text: object) -> tuple[str, ...]:
    """Beliefs of a row; none where the file was damaged there."""
    try:
        listed = json.loads(str(text))
    except (ValueError, RecursionError):
        return ()
    return tuple(belief for belief in listed if isinstance(belief, str)) if isinstance(listed, list) else ()


def _attempt(row: Sequence[Any]) -> Attempt:
    number, at, mode, item, seed, given, correct, credit, confidence, beliefs, exam = row
    return Attempt(
        number, at, mode, item, seed, given, bool(correct), credit, confidence, _beliefs(beliefs), exam
    )


def _private(file: Path, how: int) -> int:
    """Open a file of the user's own that nobody else reads, a new one where there is none.

    Raises ``OSError`` for a link, for what is no file, and for a file of another user: somebody may have put it there.
    """
    handle = os.open(
        file, how | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0), 0o600
    )
    found = os.fstat(handle)
    if not stat.S_ISREG(found.st_mode) or (hasattr(os, "getuid") and found.st_uid != os.getuid()):
        os.close(handle)
        raise OSError(errno.EPERM, "is no file of this user", str(file))
    if hasattr(os, "fchmod") and found.st_mode & 0o077:
        os.fchmod(handle, 0o600)
    return handle
