"""What must never stand in a file that is shipped."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.support.paths import ROOT

TEXT = {
    ".py",
    ".md",
    ".toml",
    ".yml",
    ".yaml",
    ".ipynb",
    ".txt",
    ".json",
    ".jsonl",
    ".js",
    ".css",
    ".html",
    ".cfg",
    ".ini",
    ".sh",
    ".csv",
    ".log",
    "",
}
MACHINE_PATH = re.compile(r"(?<![\w.])/(?:work|root|home/\w+|Users/\w+)/[\w./-]*")
LARGEST_BYTES = 1_500_000


def tracked():
    """Files that git tracks or would track; what is not hidden where there is no git (an unpacked archive)."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    try:
        listed = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        every = [path.relative_to(ROOT) for path in ROOT.rglob("*") if path.suffix != ".pyc"]
        listed = [path.as_posix() for path in every if not any(part.startswith(".") for part in path.parts)]
    return [ROOT / name for name in sorted(listed) if (ROOT / name).is_file()]


def text_files():
    return [path for path in tracked() if path.suffix in TEXT]


def found(pattern):
    return [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in text_files()
        for match in re.finditer(pattern, path.read_text("utf-8", errors="replace"))
    ]


def test_no_file_names_a_path_of_one_machine():
    assert found(MACHINE_PATH) == []


@pytest.mark.parametrize("path", ["/work" + "/x/y", "see /root" + "/.cache", '"/home' + '/ann/kit"'])
def test_a_path_of_one_machine_would_be_seen(path):
    assert MACHINE_PATH.search(path)


def test_no_file_is_too_large_for_a_repository():
    assert [p.relative_to(ROOT).as_posix() for p in tracked() if p.stat().st_size > LARGEST_BYTES] == []


def test_no_work_is_left_as_a_note_in_the_tree():
    notes = (
        r"\b(?:TO" + r"DO|FIX" + r"ME|(?<!\[)XX" + r"X)\b"
    )  # behind a bracket it is Java's letter for a zone
    assert found(notes) == []


def test_notebooks_lie_in_their_folder_alone():
    elsewhere = [path.relative_to(ROOT).as_posix() for path in tracked() if path.suffix == ".ipynb"]
    assert [name for name in elsewhere if not name.startswith("notebooks/")] == []
