"""Logs as tools hand them out: archives, exports, standard input, copies of a terminal."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import os
import random
import subprocess
import sys
import tarfile
import threading
import zipfile

import pytest

from rebalance_kit.forensics.lines import pipes
from rebalance_kit.forensics.lines.exports import TimesAbove, turned, unwrapped
from rebalance_kit.forensics.lines.files import collect, survey
from rebalance_kit.forensics.look import look
from rebalance_kit.model.errors import DataError
from tests.support.bad_input.command import ended
from tests.support.pipeline.kafka_lines import GROUP, adding, preparing, received, stabilized

LOG = preparing(0, 1, adding("c1")) + stabilized(3, 2) + received(3.1, 2)


def rebalances(*paths):
    return [row["after"] for row in look(paths).rows("rebalances")]


def test_a_zip_and_a_tar_in_a_folder_are_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "logs.zip", "w") as packed:
        packed.writestr("broker-1/server.log", LOG)
        packed.writestr("broker-1/notes.md", "no log")
    assert rebalances(tmp_path) == [2]
    assert [row["file"] for row in look([tmp_path]).rows("lines")] == ["logs.zip: broker-1/server.log"]


@pytest.mark.parametrize("name", ["logs.tar.gz", "logs.tgz", "logs.tar"])
def test_a_tar_is_read_to_its_first_line(tmp_path, name):
    with tarfile.open(tmp_path / name, "w:gz" if "gz" in name else "w") as packed:
        entry = tarfile.TarInfo("server.log")
        entry.size = len(LOG)
        packed.addfile(entry, io.BytesIO(LOG.encode()))
    assert rebalances(tmp_path / name) == [2]


def packed(path, names=("server.log",)):
    """An archive of the kind that its name says, of files with the same lines."""
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name in names:
                archive.writestr(name, LOG)
        return path
    with tarfile.open(path, "w:gz" if "gz" in path.name else "w") as archive:
        for name in names:
            entry = tarfile.TarInfo(name)
            entry.size = len(LOG)
            archive.addfile(entry, io.BytesIO(LOG.encode()))
    return path


def cut(path, size):
    path.write_bytes(path.read_bytes()[:size])


def flip(path, place):
    data = bytearray(path.read_bytes())
    data[place] ^= 0xFF
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("name", "damage", "words"),
    [
        ("logs.zip", lambda path: path.write_text("no zip"), "File is not a zip file"),
        ("logs.zip", lambda path: cut(path, -40), "File is not a zip file"),
        ("logs.tar.gz", lambda path: path.write_text("no archive"), "it is no archive"),
        ("logs.tar.gz", lambda path: cut(path, 12), "it ends early"),
        ("logs.tgz", lambda path: path.write_bytes(b""), "it is no archive"),
        ("logs.tar", lambda path: path.write_bytes(b"\0" * 300), "it is no archive"),
    ],
)
def test_a_damaged_archive_is_named_with_its_damage_alone_and_among_good_logs(tmp_path, name, damage, words):
    damage(packed(tmp_path / name))
    with pytest.raises(DataError, match=rf"{name} cannot be unpacked: {words}"):
        look([tmp_path / name])
    with pytest.raises(DataError, match=rf"{name} cannot be unpacked: {words}"):
        look([tmp_path])
    (tmp_path / "server.log").write_text(LOG)
    for paths in ([tmp_path], [tmp_path / name, tmp_path / "server.log"]):
        assert rebalances(*paths) == [2]
        result = ended("logs", *paths)
        assert (result.status, result.error) == (3, "")
        assert f"not read {tmp_path / name} cannot be unpacked: {words}" in " ".join(result.out.split())
        told = ended("logs", *paths, "--json")
        assert f"{name} cannot be unpacked: {words}" in told.error
        assert [json.loads(line)["kind"] for line in told.out.splitlines()] == ["group", "summary"]


@pytest.mark.parametrize(
    ("name", "damage", "words"),
    [
        ("logs.zip", lambda path: flip(path, 60), "a.log: "),
        ("logs.tar", lambda path: cut(path, 2 * 512 + len(LOG) + 700), "it ends early"),
        (
            "logs.tar",
            lambda path: flip(path, 512 + -(-len(LOG) // 512) * 512 + 5),
            "is no file of an archive",
        ),
        ("logs.tar.gz", lambda path: flip(path, -6), "CRC check failed"),
    ],
)
def test_the_good_part_of_a_damaged_archive_is_read_and_the_rest_is_told(tmp_path, name, damage, words):
    damage(packed(tmp_path / name, ("a.log", "b.log")))
    result = look([tmp_path])
    assert result.rows("rebalances")
    (told,) = result.passed_over
    assert told.damaged
    assert words in told.why
    assert told.why.endswith("what can be unpacked of it is read")


def test_an_archive_with_any_damage_is_read_or_told(tmp_path):
    lost = []
    for seed in range(300):
        dice = random.Random(seed)
        folder = tmp_path / str(seed)
        folder.mkdir()
        path = packed(folder / ("logs.zip", "logs.tar", "logs.tar.gz")[seed % 3], ("a.log", "b.log"))
        data = bytearray(path.read_bytes())
        for _ in range(dice.choice((1, 1, 3, 20))):
            data[dice.randrange(len(data))] = dice.randrange(256)
        path.write_bytes(data[: dice.choice((None, None, dice.randrange(len(data))))])
        found, passed_over = collect([folder], damaged_too=True)
        read = sum(place.stat().st_size for _, _, place in found)
        if read != 2 * len(LOG) and not any(one.damaged for one in passed_over):
            lost.append(seed)
    assert lost == []


def test_what_is_packed_otherwise_is_told_by_name(tmp_path):
    for name, opened in {"a.log.xz": lzma.open, "b.log.bz2": bz2.open}.items():
        with opened(tmp_path / name, "wb") as stream:
            stream.write(LOG.encode())
    with pytest.raises(DataError, match=r"a\.log\.xz is packed with xz.*b\.log\.bz2 is packed with bzip2"):
        look([tmp_path])
    with pytest.raises(DataError, match=r"a\.log\.xz is packed with xz"):
        look([tmp_path / "a.log.xz"])


def test_a_zip_under_another_name_is_unpacked(tmp_path):
    packed(tmp_path / "logs.zip").rename(tmp_path / "download")
    assert rebalances(tmp_path / "download") == [2]


@pytest.mark.parametrize(
    ("damage", "words"),
    [(lambda path: cut(path, -9), "ends early"), (lambda path: flip(path, -6), "damaged")],
)
def test_a_damaged_gzip_is_read_as_far_as_it_goes_and_says_how_it_is_damaged(tmp_path, damage, words):
    (tmp_path / "server.log.gz").write_bytes(gzip.compress(LOG.encode()))
    damage(tmp_path / "server.log.gz")
    (row,) = look([tmp_path]).rows("lines")
    assert f"gzip stream {'is ' if words == 'damaged' else ''}{words}" in row["note"]
    assert row["note"].endswith("the rest is lost")
    assert survey([tmp_path], tmp_path).files[0].note == row["note"]


@pytest.mark.parametrize("name", ["export.csv", "export.json", "export.jsonl"])
def test_an_export_is_read_when_a_line_of_kafka_is_in_it_and_passed_over_when_none_is(tmp_path, name):
    (tmp_path / name).write_text(LOG)
    (tmp_path / f"other-{name}").write_text('{"a": 1}\n')
    assert rebalances(tmp_path) == [2]
    assert len(look([tmp_path]).passed_over) == 1


def test_standard_input_is_read_under_its_name(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "rebalance_kit.cli", "logs", "--all", "-"],
        input=LOG,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "(standard input:1)" in done.stdout
    assert "c1 joined the group" in done.stdout


def test_lines_that_a_terminal_wrapped_are_put_together():
    width = 80
    cut = [line[begin : begin + width] for line in LOG.splitlines() for begin in range(0, len(line), width)]
    whole = (unwrapped("\n".join(cut).encode()) or b"").decode().split("\n")
    assert [line for line in whole if line] == LOG.splitlines()
    # Line numbers stay.
    assert len(whole) == len(cut)
    assert all(line == "" or line.startswith(begun) for line, begun in zip(whole, cut, strict=True))


def test_the_borders_of_a_terminal_are_taken_off():
    width = 100
    cut = [line[begin : begin + width] for line in LOG.splitlines() for begin in range(0, len(line), width)]
    bordered = "".join(f"│ {line:<{width}} │\n" for line in cut)
    assert (unwrapped(bordered.encode()) or b"").decode().split() == LOG.split()


def test_an_ordinary_log_is_left_as_it_is():
    assert unwrapped((LOG * 20).encode()) is None


def test_an_archive_is_unpacked_once_unless_it_changes(tmp_path):
    path = tmp_path / "logs.zip"
    for text in ("one", "two"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("server.log", text)
        os.utime(path, ns=(0, len(text) if text == "one" else 9))
        (first,), (again,) = (collect([path])[0] for _ in range(2))
        assert first == again
        assert first[2].read_text() == text


def test_a_named_pipe_is_read_as_a_file_and_again_when_more_is_written(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_text, args=(LOG,))
    writer.start()  # waits for a reader
    told = [len(look([path]).rows("events")) for _ in range(2)]
    writer.join()
    path.write_text(LOG * 2)  # the pipe stays open: nobody waits, and nothing is lost
    told += [len(look([path]).rows("events")) for _ in range(2)]
    assert told == [LOG.count("\n")] * 2 + [2 * LOG.count("\n")] * 2


def test_a_pipe_that_nobody_writes_into_is_refused_by_name(tmp_path, monkeypatch):
    monkeypatch.setattr(pipes, "_WRITER_S", 0.01)
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(DataError, match=r"pipe is a pipe that nobody writes into"):
        look([path])


JUL = [
    "Nov 21, 2026 2:15:25 PM org.apache.kafka.clients.consumer.internals.ConsumerCoordinator sendJoinGroupRequest",
    f"INFO: [Consumer clientId=c1, groupId={GROUP}] (Re-)joining group",
    "\tat java.base/java.lang.Thread.run(Thread.java:840)",
    "Nov 21, 2026 2:15:26\u202fPM app.Main main",
    "WARNING: of the application",
    "Nov 21, 2026 2:15:27 PM app.Main main",
    "a line without a level",
    "",
]


def timed(pieces):
    below = TimesAbove()
    return b"".join([*map(below.take, pieces), below.rest()]).decode(), below.applies


def test_lines_of_java_util_logging_get_the_time_above_them_and_keep_their_numbers():
    text, applies = timed(["\n".join(JUL).encode()])
    assert applies
    assert text.split("\n") == [
        "", f"2026-11-21T14:15:25 {JUL[1]}", JUL[2], "", f"2026-11-21T14:15:26 {JUL[4]}", "", JUL[6], "",
    ]  # fmt: skip


@pytest.mark.parametrize("cut", [200, 205, 230, 260, 290, 330])
def test_times_above_are_moved_wherever_a_piece_ends(cut):
    data = "\n".join(JUL).encode()
    assert timed([data[:cut], data[cut : cut + 9], data[cut + 9 :]]) == timed([data])


def test_a_log_with_its_times_in_its_lines_passes_as_it_is():
    assert timed([LOG.encode()]) == (LOG, False)


@pytest.mark.parametrize("name", ["app.log", "app.log.gz"])
def test_java_util_logging_is_read_with_its_times(tmp_path, name):
    path = tmp_path / name
    data = "\n".join(JUL).encode()
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    (event,) = look([tmp_path]).rows("events")
    assert (event["event"], event["line"]) == ("joining", 2)
    assert str(event["at"]).startswith("2026-11-21 14:15:25")


_TOLD = [line for line in LOG.splitlines() if line]


@pytest.mark.parametrize(
    "answer",
    [
        {
            "took": 3,
            "hits": {
                "hits": [
                    {"_source": {"@timestamp": "2026-03-01T10:00:00Z", "message": line}} for line in _TOLD
                ]
            },
        },
        {
            "status": "success",
            "data": {
                "result": [
                    {"stream": {"app": "x"}, "values": [["1772359200000000000", line] for line in _TOLD]}
                ]
            },
        },
        {"events": [{"timestamp": 1772359200000, "message": line, "eventId": "1"} for line in _TOLD]},
        {"data": [{"attributes": {"timestamp": "2026-03-01T10:00:00Z", "message": line}} for line in _TOLD]},
    ],
    ids=["Elasticsearch", "Loki", "CloudWatch", "Datadog"],
)
def test_an_answer_in_one_line_of_json_is_read_as_its_messages(tmp_path, answer):
    (tmp_path / "plain.log").write_text(LOG)
    (tmp_path / "answer.json").write_text(json.dumps(answer, separators=(",", ":")))
    plain, told = look([tmp_path / "plain.log"]), look([tmp_path / "answer.json"])
    assert (
        [row["cause"] for row in told.rows("rebalances")]
        == [row["cause"] for row in plain.rows("rebalances")]
        != []
    )
    assert "one line of JSON" in told.rows("lines")[0]["note"]


def test_an_export_sorted_newest_first_is_read_in_reverse(tmp_path):
    text = LOG + preparing(10, 2, adding("c2")) + stabilized(13, 3) + received(13.1, 3)
    (tmp_path / "broker.log").write_text(text)
    wanted = [row["cause"] for row in look([tmp_path / "broker.log"]).rows("rebalances")]
    (tmp_path / "export.log").write_text("\n".join(reversed(text.rstrip("\n").split("\n"))) + "\n")
    result = look([tmp_path / "export.log"])
    assert [row["cause"] for row in result.rows("rebalances")] == wanted != []
    assert "time_goes_back" not in {row["finding"] for row in result.rows("findings")}
    (row,) = result.rows("lines")
    assert "newest first" in row["note"]


def test_lines_below_a_time_stay_below_it_and_a_head_stays_above():
    lines = [
        f"2026-01-01 10:00:{59 - number},000 INFO line {number}\n  more of {number}" for number in range(9)
    ]
    told = (turned(("time,text\n" + "\n".join(lines)).encode()) or b"").decode().split("\n")
    assert told[:3] == ["time,text", "2026-01-01 10:00:51,000 INFO line 8", "  more of 8"]
    assert turned("\n".join(reversed(lines)).encode()) is None
