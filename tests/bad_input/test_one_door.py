"""Every command ends in one line and a status: wrong files, wrong numbers, closed streams, narrow terminals."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import threading

import pytest

from rebalance_kit.cli import door
from rebalance_kit.cli.door import plain, through
from rebalance_kit.model.html import visible
from tests.support.bad_input.command import assert_refused, ended

SMALL = "topics: {orders: 2}\nmembers: [{name: c1, topics: [orders]}]\nend: 5s\n"
KINDS = ("folder", "pipe", "zero", "missing", "loop", "latin-1")
READERS = {
    "run": ("run", "{}"),
    "lab": ("lab", "{}", "--text"),
    "make-logs": ("make-logs", "{}", "--out", "{out}"),
    "items": ("items", "check", "{}"),
    "sweep": ("sweep", "{}"),
    "logs": ("logs", "{out}", "--layouts", "{}"),
}
LINES = {
    "time beyond": "end: 1" + "0" * 400 + "h",
    "exponent": "end: 1e400",
    "long time": "end: " + "9" * 5000,
    "long time with unit": "end: " + "9" * 5000 + "h",
    "superscript node": "nodes: {²: a}",
    "superscript topic id": 'topics: {t: {partitions: 1, topic_id: ["²", 1]}}',
    "double minus": 'topics: {t: {partitions: 1, topic_id: ["--5", 1]}}',
    "long topic id": f'topics: {{t: {{partitions: 1, topic_id: ["{"9" * 5000}", 1]}}}}',
    "long seed": "seed: " + "9" * 5000,
    "superscript seed": "seed: ²",
    "infinite seed": "seed: .inf",
    "nan": "seed: .nan",
    "deep": "story: " + "[" * 100_000,
    "tag": "story: !!python/object/apply:os.system [id]",
}
ERRORS = {
    "OSError": (OSError(28, "No space left on device", "/x"), 2, "/x: No space left on device"),
    "PermissionError": (PermissionError(13, "Permission denied", "/y"), 2, "/y: Permission denied"),
    "UnicodeError": (UnicodeEncodeError("ascii", "–", 0, 1, "no"), 2, "expected UTF-8"),
    "RecursionError": (RecursionError("deep"), 2, "nested too deeply"),
    "MemoryError": (MemoryError(), 2, "expected a smaller one"),
    "OverflowError": (OverflowError("date value out of range"), 70, "a defect of the kit (OverflowError"),
    "KeyError": (KeyError("abc"), 70, "a defect of the kit (KeyError: 'abc')"),
    "lines": (ValueError("one\ntwo"), 70, "one two"),
    "escape": (ValueError("\x1b[31m"), 70, "\\u001b[31m"),
    "interrupt": (KeyboardInterrupt(), 130, "interrupted"),
    "pipe": (BrokenPipeError(), 0, ""),
}


def made(kind, folder):
    """A path that holds no text."""
    path = folder / f"{kind}.yaml"
    if kind == "folder":
        path.mkdir()
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "zero":
        path.symlink_to("/dev/zero")
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "latin-1":
        path.write_bytes("scenario: é\n".encode("latin-1"))
    return path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("command", READERS.values(), ids=READERS)
def test_what_is_no_file_is_refused_before_it_is_read(command, kind, tmp_path):
    path = made(kind, tmp_path)
    (tmp_path / "out").mkdir()
    result = ended(*(word.format(path, out=tmp_path / "out") for word in command))
    assert result.status in ({0} if command[0] == "items" and kind == "folder" else {1, 2})
    assert "Traceback" not in result.error
    assert result.status == 0 or path.name in result.error + result.out


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_numbers_and_depths_beyond_any_range_are_refused_with_their_line(line, tmp_path):
    path = tmp_path / "s.yaml"
    path.write_text(
        "\n".join(
            row
            for row in (line, *SMALL.splitlines())
            if row == line or row.split(":")[0] != line.split(":")[0]
        ),
        "utf-8",
    )
    assert_refused(ended("run", path), "s.yaml:1: ", "expected")


@pytest.mark.parametrize(("error", "status", "part"), ERRORS.values(), ids=ERRORS)
def test_an_error_ends_in_one_line_and_a_status(error, status, part, capsys):
    def run(_stream):
        raise error

    assert through(run, io.StringIO()) == status
    told = capsys.readouterr().err
    assert part in told
    assert len(told.splitlines()) == (0 if status == door.CLOSED else 1)


def test_a_defect_leaves_a_file_that_says_where_and_that_its_user_alone_can_read(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def run(_stream):
        raise KeyError("\ud800")

    assert through(run, io.StringIO()) == door.DEFECT
    (file,) = tmp_path.glob("rebalance-kit-defect-*.txt")
    assert str(file) in capsys.readouterr().err
    assert "raise KeyError" in file.read_text("utf-8")
    assert file.stat().st_mode & 0o077 == 0


def test_debug_alone_shows_the_traceback():
    def run(_stream):
        raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        through(run, io.StringIO(), debug=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a\x1b[31mb", "a\\u001b[31mb"),
        ("a\rb", "a\\u000db"),
        ("a\x9bb", "a\\u009bb"),
        ("a\u202eb", "a\\u202eb"),
        ("a\x00\x7f", "a\\u0000\\u007f"),
        ("a\tb\n", "a\tb\n"),
        ("naïve – 日本", "naïve – 日本"),
    ],
)
def test_control_characters_are_visible(text, expected):
    assert visible(text) == expected


@pytest.mark.parametrize(("encoding", "expected"), [("ascii", b"1-2 \\xe9"), ("latin-1", b"1-2 \xe9")])
def test_a_narrow_terminal_gets_what_it_can_show(encoding, expected):
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding=encoding)
    plain(stream).write("1–2 é")
    stream.flush()
    assert raw.getvalue() == expected


COMMAND = f"{sys.executable} -m rebalance_kit.cli"
SHELLS = {
    "stdout closed": (f"{COMMAND} run crash --one-run >&-", 2, "standard output is closed"),
    "stdout full": (f"{COMMAND} run crash --one-run >/dev/full", 2, "No space left on device"),
    "reader gone": (f"{COMMAND} run crash --one-run | true; exit ${{PIPESTATUS[0]}}", 0, ""),
    "ascii": (f"PYTHONIOENCODING=ascii {COMMAND} run restaurant --one-run >/dev/null", 0, ""),
    "stdin closed": (f"REBALANCE_KIT_ATTEMPTS=$PWD/a {COMMAND} quiz eager --count 1 <&- >/dev/null", 0, ""),
    "logs of a closed stdin": (f"{COMMAND} logs - <&- >told; grep -q 'standard input: empty' told", 0, ""),
}


@pytest.mark.parametrize(("shell", "status", "part"), SHELLS.values(), ids=SHELLS)
def test_closed_streams_end_without_a_traceback(shell, status, part, tmp_path):
    answer = subprocess.run(
        ["bash", "-c", shell], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert "Traceback" not in answer.stderr
    assert "Exception ignored" not in answer.stderr
    assert part in answer.stderr
    assert answer.returncode == status, answer.stderr


class Terminal(io.StringIO):
    """A standard error that says it is a terminal."""

    def isatty(self):
        return True


@pytest.mark.parametrize("once", [True, False])
def test_long_work_is_told_on_a_terminal_and_wiped_away(once, monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(door, "_QUIET_S", 0)
    with door.working("search", once=once):
        while "Ctrl-C ends it" not in screen.getvalue():
            threading.Event().wait(0.01)
    assert screen.getvalue().startswith("\rsearch: 0 s (Ctrl-C ends it)")
    assert screen.getvalue().endswith("\r\x1b[K")
