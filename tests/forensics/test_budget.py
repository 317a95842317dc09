"""One budget for what a call unpacks: bytes, members, ratio, seconds, also through what is packed twice."""

from __future__ import annotations

import gzip
import lzma
import os
import signal
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from rebalance_kit.forensics.lines.archives import Limits, budget
from rebalance_kit.forensics.look import look
from rebalance_kit.model.errors import ConfigError
from tests.support.bad_input.command import assert_refused, ended

BLANK = bytes(1 << 20)
MUCH = 80


def gzipped(path):
    with gzip.open(path, "wb", compresslevel=4) as out:
        for _ in range(MUCH):
            out.write(BLANK)


def twice(path):
    gzipped(path.with_name("inner.gz"))
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(path.with_name("inner.gz"), "server.log.gz")
    path.with_name("inner.gz").unlink()


def tarred(path):
    with lzma.open(path, "wb", preset=0) as out:
        head = tarfile.TarInfo("server.log")
        head.size = MUCH * len(BLANK)
        out.write(head.tobuf())
        for _ in range(MUCH):
            out.write(BLANK)


def skipped(path):
    with gzip.open(path, "wb", compresslevel=4) as out:
        out.write(tarfile.TarInfo("first.log").tobuf())
        head = tarfile.TarInfo("no file")
        head.type, head.size = tarfile.BLKTYPE, 0
        out.write(head.tobuf())
        head.type, head.size = b"Y", MUCH * len(BLANK)
        out.write(head.tobuf())
        for _ in range(MUCH):
            out.write(BLANK)


@pytest.mark.parametrize(
    ("name", "make"),
    [("server.log.gz", gzipped), ("a.zip", twice), ("a.tar.xz", tarred), ("a.tar.gz", skipped)],
)
def test_what_unpacks_to_more_than_so_many_times_its_size_is_read_up_to_there_and_told(tmp_path, name, make):
    make(tmp_path / name)
    (tmp_path / "client.log").write_text("a line\n")
    told = look([tmp_path])
    notes = [row["note"] or "" for row in told.rows("lines")] + [one.why for one in told.passed_over]
    assert any("more than 200 times its size (`--limits ratio=NUMBER` allows more)" in note for note in notes)
    assert not any("the rest is lost" in note for note in notes)


def test_a_greater_ratio_is_allowed_when_asked_for(tmp_path):
    gzipped(tmp_path / "server.log.gz")
    with budget(Limits.of("ratio=100000")):
        told = look([tmp_path])
    assert "--limits" not in str([row["note"] for row in told.rows("lines")])


@pytest.mark.parametrize(
    ("limits", "why"),
    [
        ("bytes=100", "more than 1e-07 GB unpacked"),
        ("members=4", "more than 4 files in archives"),
        ("seconds=0", "unpacking took more than 0 s"),
    ],
)
def test_ten_archives_share_one_budget(tmp_path, limits, why):
    for number in range(10):
        with zipfile.ZipFile(tmp_path / f"{number}.zip", "w") as archive:
            archive.writestr("server.log", "a line of sixteen\n" * 3)
    with budget(Limits.of(limits)):
        told = look([tmp_path / f"{number}.zip" for number in range(10)] + [__file__])
    over = [one for one in told.passed_over if why in one.why]
    assert len(over) >= 6, told.passed_over


def test_limits_are_given_in_words_and_other_words_are_refused(tmp_path):
    assert Limits.of("bytes=40GB, ratio=1000") == Limits(bytes=40 * 10**9, ratio=1000)
    for wrong in ("bites=1", "ratio=3GB", "bytes=-1", "bytes"):
        with pytest.raises(ConfigError, match="expected bytes=NUMBER, members=NUMBER, ratio=NUMBER"):
            Limits.of(wrong)
    (tmp_path / "server.log").write_text("a line\n")
    assert_refused(ended("logs", "--limits", "ratio=no", tmp_path), "expected bytes=NUMBER")


@pytest.mark.skipif(not Path("/bin/sh").exists(), reason="without a shell the next start cleans up")
def test_what_was_unpacked_goes_with_a_process_that_is_killed(tmp_path):
    program = (
        "from rebalance_kit.model.files import scratch_folder\n"
        "(scratch_folder('logs') / 'unpacked.log').write_text('much')\n"
        "print('there', flush=True)\ninput()\n"
    )
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", program], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout.readline() == b"there\n"
        (folder,) = tmp_path.iterdir()
        removed = os.open(folder, os.O_RDONLY)
        process.send_signal(signal.SIGKILL)
    try:
        # The folder has no name any more once the shell has removed it.
        for _ in range(100_000):
            if os.fstat(removed).st_nlink == 0:
                break
            os.sched_yield()
        assert not list(tmp_path.iterdir())
    finally:
        os.close(removed)
