"""Answers are kept: by two processes at once, through kills, and when the database cannot be written."""

from __future__ import annotations

import io
import json
import sqlite3
import subprocess
import sys

import pytest

from rebalance_kit.model.errors import DataError
from rebalance_kit.quiz.items.bank import Bank
from rebalance_kit.quiz.items.item import beliefs_of
from rebalance_kit.quiz.sittings import store as module
from rebalance_kit.quiz.sittings.progress import progress
from rebalance_kit.quiz.sittings.store import Attempt, Store, default_path


def attempt(number: int, **changed) -> Attempt:
    held = {
        "id": f"a{number}",
        "at": float(number),
        "mode": "practice",
        "item": "eager-crash-which-unread",
        "seed": 1,
        "given": "a",
        "correct": False,
        "credit": 0.0,
        "confidence": "sure",
        "beliefs": ("cooperative-is-default",),
        "exam": None,
    }
    return Attempt(**{**held, **changed})


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(tmp_path / "answers.sqlite", patience_s=0.2)


def test_an_answer_is_there_after_the_store_is_opened_again(store):
    store.add(attempt(2))
    store.add(attempt(1, correct=True))
    assert Store(store.path).attempts() == (attempt(1, correct=True), attempt(2))
    assert store.notice is None


def test_the_place_is_what_the_environment_says(tmp_path, monkeypatch):
    monkeypatch.setenv("REBALANCE_KIT_ATTEMPTS", str(tmp_path / "x.sqlite"))
    assert default_path() == tmp_path / "x.sqlite"


WRITER = """
import sys
from rebalance_kit.quiz.sittings.store import Attempt, Store
store = Store(sys.argv[1])
for number in range(60):
    store.add(Attempt(f"{sys.argv[2]}-{number}", float(number), "practice", "x", 1, "a", True, 1.0))
print(store.notice)
"""


def test_two_processes_that_write_at_once_lose_nothing(store):
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(store.path), name], stdout=subprocess.PIPE, text=True
        )
        for name in ("one", "two")
    ]
    assert [writer.communicate(timeout=60)[0].strip() for writer in writers] == ["None", "None"]
    assert len(store.attempts()) == 120


KILLED = """
import os, signal, sys
from rebalance_kit.quiz.sittings.store import Attempt, Store
store = Store(sys.argv[1])
for number in range(20):
    store.add(Attempt(f"k{number}", float(number), "practice", "x", 1, "a", True, 1.0))
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_process_loses_nothing_that_was_answered(store):
    subprocess.run([sys.executable, "-c", KILLED, str(store.path)], check=False)
    assert len(store.attempts()) == 20


def test_a_locked_database_keeps_the_answer_beside_it_and_takes_it_in_later(store):
    store.add(attempt(1))
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    store.add(attempt(2))
    assert "locked" in store.notice and "answers.sqlite.kept.jsonl" in store.notice
    other.execute("ROLLBACK")
    other.close()
    store.add(attempt(3))
    assert store.notice is None and len(store.attempts()) == 3
    assert list(store.path.parent.glob("*.jsonl")) == []


def test_a_damaged_database_is_left_as_it_is_and_the_answer_kept_beside_it(store):
    store.path.write_bytes(b"not a database at all" * 100)
    store.add(attempt(1))
    assert "is not a database" in store.notice and str(store.path.parent) in store.notice
    assert store.path.read_bytes().startswith(b"not a database")
    with pytest.raises(DataError, match=r"cannot be read \(.*not a database.*Rename the file"):
        store.attempts()
    store.path.rename(store.path.with_suffix(".old"))
    assert [one.id for one in Store(store.path).attempts()] == ["a1"]


def test_a_full_disk_keeps_the_answer_elsewhere_and_says_where(store, tmp_path, monkeypatch):
    """A database that may not grow is what a full disk looks like to SQLite."""
    real = sqlite3.connect

    def small(*args, **named):
        connection = real(*args, **named)
        connection.execute("PRAGMA max_page_count = 1")
        return connection

    monkeypatch.setattr(module.sqlite3, "connect", small)
    store.add(attempt(1))
    assert "full" in store.notice and "kept in" in store.notice
    monkeypatch.setattr(module.sqlite3, "connect", real)
    assert [one.id for one in store.attempts()] == ["a1"]


def test_when_nothing_at_all_can_be_written_the_process_keeps_the_answers(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("x", encoding="utf-8")
    monkeypatch.setattr(module.tempfile, "gettempdir", lambda: str(tmp_path / "file" / "no"))
    store = Store(tmp_path / "file" / "answers.sqlite")
    store.add(attempt(1))
    assert "1 answers are kept in this process alone" in store.notice
    store.path = tmp_path / "free.sqlite"
    store.add(attempt(2))
    assert len(store.attempts()) == 2 and store.notice is None


def test_a_hostile_line_beside_the_database_is_passed_over(store):
    store.add(attempt(1))
    beside = store.path.with_name(store.path.name + ".kept.jsonl")
    beside.write_text(
        '{"do": "attempt"\nnot json\n[1]\n'
        + json.dumps({"do": "attempt", "id": "x'); DROP TABLE attempt;--"})
        + "\n"
        + "x" * 300_000
        + "\n",
        encoding="utf-8",
    )
    assert len(store.attempts()) == 1


def test_one_can_export_and_delete_ones_own_answers(store):
    for number in range(3):
        store.add(attempt(number, given="`<script>`"))
    store.keep("exam", "e", {"a": 1})
    out = io.StringIO()
    assert store.export(out) == 3
    assert [json.loads(line)["id"] for line in out.getvalue().splitlines()] == ["a0", "a1", "a2"]
    assert store.delete() == 3
    assert store.attempts() == () and store.kept("exam") == {}
    assert b"eager-crash-which-unread" not in store.path.read_bytes()


def test_a_report_counts_each_of_ten_thousand_answers(store, bank):
    with store._connection() as connection:
        rows = [
            (
                f"i{n}",
                float(n),
                "practice",
                bank.items[n % len(bank.items)].head.id,
                1,
                "a",
                n % 2,
                1.0,
                "sure",
                '["rebalance-stops-everyone"]',
                None,
            )
            for n in range(10_000)
        ]
        connection.executemany("INSERT INTO attempt VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    report = progress(store.attempts(), bank)
    assert report.total.asked == 10_000 and report.beliefs[0].id == "rebalance-stops-everyone"
    named = {item.head.id for item in bank.items if "rebalance-stops-everyone" in beliefs_of(item)}
    assert report.beliefs[0].times == sum(attempt.item in named for attempt in store.attempts()) > 100


def test_answers_to_items_that_are_gone_count_in_the_total_alone():
    report = progress([attempt(1, item="gone")], Bank((), (), {}))
    assert (report.total.asked, report.domains, report.read, report.beliefs) == (1, (), (), ())


def test_the_store_and_what_is_kept_beside_it_are_its_users_alone(tmp_path, monkeypatch):
    (tmp_path / "old.sqlite").touch(mode=0o644)
    for name in ("new.sqlite", "old.sqlite"):
        store = Store(tmp_path / name)
        store.keep("exam", "one", {"a": 1})
        assert {path.stat().st_mode & 0o077 for path in tmp_path.glob(f"{name}*")} == {0}
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    beside, elsewhere = Store(tmp_path / "folder" / "x.sqlite")._beside()
    (tmp_path / "folder").write_text("no folder here")
    (tmp_path / "target").write_text("mine")
    elsewhere.symlink_to(tmp_path / "target")
    store = Store(tmp_path / "folder" / "x.sqlite")
    store.keep("exam", "one", {"a": 1})
    assert (tmp_path / "target").read_text() == "mine"
    assert "in this process alone" in store.notice
    assert not beside.exists()
