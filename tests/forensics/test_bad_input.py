"""Files that are no clean logs: counted and reported by file and line, never a stack trace."""

from __future__ import annotations

import gzip
import io

import pytest

from rebalance_kit.forensics.look import look
from rebalance_kit.forensics.report import require_balance
from rebalance_kit.model.errors import DataError
from tests.support.pipeline import pieces

GOOD = (
    "[2026-11-21 02:15:18,894] INFO [GroupCoordinator id=1 topic=__consumer_offsets partition=0] "
    "Stabilized group orders-app generation 1 with 3 members. (org.apache.kafka.coordinator.group.GroupMetadataManager)\n"
)
CUT = gzip.compress(GOOD.encode() * 2000, compresslevel=1)

FILES = {
    "empty.log": b"",
    "empty.log.gz": b"",
    "prose.log": "Dear diary,\ntoday nothing happened.\n",
    "binary.log": b"\x00\x01\x02\xff\n" + b"\x7fELF\x00\x00",
    "cut.log.gz": CUT[: len(CUT) // 2],
    "plain-named.log.gz": GOOD,
    "zipped-named.log": gzip.compress(GOOD.encode()),
    "long.log": b"[2026-11-21 02:15:18,894] INFO group " + b"x" * 10_000_000 + b" (a.B)\n" + GOOD.encode(),
    "mixed.log": GOOD.encode()
    + "[2026-11-21 02:15:18,894] INFO naïve group café (a.B)\n".encode("latin-1")
    + GOOD.encode(),
    "windows.log": GOOD.replace("\n", "\r\n") * 2,
    "utf16.log": GOOD.encode("utf-16"),
    "no end.log": GOOD + GOOD.rstrip(),
    "strange 100%+[1]*.log": GOOD,
    "changed.log": GOOD.replace("generation 1", "generation one"),
    "sub/other run.log": GOOD,
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    for name, content in FILES.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    result = look([folder])
    return {name: result.rows(name) for name in ("lines", "rejected", "events")}


def book(tables, file):
    (row,) = (row for row in tables["lines"] if row["file"] == file)
    return row["lines"], row["parsed"], row["ignored"], row["rejected"], row["note"]


def test_every_line_of_every_file_is_accounted_for(tables):
    assert {row["file"] for row in tables["lines"]} == {name.removeprefix("sub/") for name in FILES}
    require_balance(tables["lines"])


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("empty.log", (0, 0, 0, 0, "empty file")),
        ("empty.log.gz", (0, 0, 0, 0, "empty file")),
        ("prose.log", (2, 0, 0, 2, None)),
        ("binary.log", (2, 0, 0, 2, None)),
        ("plain-named.log.gz", (1, 1, 0, 0, "named .gz but not compressed")),
        ("zipped-named.log", (1, 1, 0, 0, "gzip under another name")),
        ("long.log", (2, 1, 0, 1, None)),
        ("mixed.log", (3, 2, 1, 0, None)),
        ("windows.log", (2, 2, 0, 0, None)),
        ("utf16.log", (1, 1, 0, 0, "UTF-16, read as UTF-8")),
        ("no end.log", (2, 2, 0, 0, None)),
        ("strange 100%+[1]*.log", (1, 1, 0, 0, None)),
        ("changed.log", (1, 0, 0, 1, None)),
        ("other run.log", (1, 1, 0, 0, None)),
    ],
)
def test_a_damaged_or_odd_file_is_counted_line_by_line(tables, file, expected):
    assert book(tables, file) == expected


def test_a_gzip_file_that_breaks_off_is_read_as_far_as_it_goes_and_says_so(tables):
    lines, parsed, _, rejected, note = book(tables, "cut.log.gz")
    assert 0 < lines < 2000
    assert parsed >= lines - 1
    assert parsed + rejected == lines
    assert note == f"gzip stream ends early: readable up to line {lines}, the rest is lost"


def test_a_rejected_line_is_told_by_file_line_and_reason(tables):
    reasons = {(row["file"], row["line"]): row["why"] for row in tables["rejected"]}
    assert reasons["prose.log", 2] == "no known layout"
    assert reasons["binary.log", 1] == "binary, not text"
    assert reasons["long.log", 1].startswith("line of 10000043 bytes")
    assert reasons["changed.log", 1].startswith("begins like a group line")


def test_a_damaged_byte_is_shown_as_a_replacement_and_its_line_is_kept(tables):
    generations = [row["generation"] for row in tables["events"] if row["file"] == "mixed.log"]
    assert generations == [1, 1]


def test_logs_that_begin_in_mid_rebalance_tell_of_what_they_hold_and_no_more(records):
    record = records("pieces")["late", "orders-app"]
    whole = records("runs")[pieces.RUN, "orders-app"]
    assert record["generations"] == whole["generations"][1:]
    # Of the first of them only the end is there.
    assert [row["before"] for row in record["rebalances"]] == [row["before"] for row in whole["rebalances"]][
        1:
    ]


def test_a_rebalance_whose_end_is_missing_has_none(records):
    record = records("pieces")["early", "orders-app"]
    whole = records("runs")[pieces.RUN, "orders-app"]
    ends = [(row["after"], row["end_ms"]) for row in record["rebalances"]]
    assert ends == [(row["after"], row["end_ms"]) for row in whole["rebalances"][:2]] + [(None, None)]


@pytest.mark.parametrize(("piece", "finding"), [("twice", "same_log_twice"), ("backwards", "time_goes_back")])
def test_files_given_twice_and_time_that_goes_back_are_said(records, piece, finding):
    record = records("pieces")[piece, "orders-app"]
    assert finding in {row["finding"] for row in record["findings"]}


def test_of_damaged_lines_every_one_is_counted_once(looked_at, table):
    wanted = looked_at.damaged
    books = {row["file"]: row for row in table("lines", "damaged")}
    assert {file: row["lines"] for file, row in books.items()} == wanted
    assert all(row["parsed"] + row["ignored"] + row["rejected"] == row["lines"] for row in books.values())
    assert all(row["parsed"] and row["rejected"] for row in books.values())
    assert len(table("rejected", "damaged")) == sum(row["rejected"] for row in books.values())


def test_a_path_that_is_missing_is_named(tmp_path, capsys):
    from rebalance_kit.pipeline import run_logs

    assert run_logs([tmp_path / "nowhere.log"], out=io.StringIO()) == 2
    assert "no such file or folder" in capsys.readouterr().err


def test_a_folder_without_logs_is_refused_by_name(tmp_path):
    from rebalance_kit.forensics.lines.files import survey

    (tmp_path / "notes.md").write_text("no log")
    with pytest.raises(DataError, match="no log file under"):
        survey([tmp_path], tmp_path)


def test_books_that_do_not_add_up_are_refused_by_file():
    with pytest.raises(DataError, match=r"server\.log: 10 lines, but 4 parsed \+ 5 ignored \+ 0 rejected"):
        require_balance(
            [{"path": "run", "file": "server.log", "lines": 10, "parsed": 4, "ignored": 5, "rejected": 0}]
        )
