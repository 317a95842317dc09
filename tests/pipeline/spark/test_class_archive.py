"""Java's class archive: asked for once, adopted when it is whole, used from then on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rebalance_kit.exercises.case_runs import recorded
from rebalance_kit.exercises.spark_bench import SparkBench
from rebalance_kit.pipeline.spark.java import Java, archive_options, find_java, ready_archive
from rebalance_kit.pipeline.spark.session import keep_classes_of

JAVA = Java(Path("/opt/java"), 17, "JAVA_HOME")


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "rebalance-kit"


def draft_in(options):
    return Path(next(one for one in options.split() if "ArchiveClassesAtExit" in one).partition("=")[2])


def test_an_archive_is_written_by_a_java_that_is_to_keep_one_and_by_no_other(cache):
    assert archive_options(JAVA, keep=False) == ""
    assert draft_in(archive_options(JAVA, keep=True)).parent == cache


def test_a_draft_at_rest_becomes_the_archive_and_one_that_grows_does_not(cache):
    draft = draft_in(archive_options(JAVA, keep=True))
    draft.write_bytes(b"classes")
    os.truncate(draft, 150_000_000)
    assert "SharedArchiveFile" not in archive_options(JAVA, keep=True)
    os.utime(draft, (1, 1))
    options = archive_options(JAVA, keep=False)
    (archive,) = cache.iterdir()
    assert f"-XX:SharedArchiveFile={archive} " in options
    with archive.open("rb") as opened:
        assert opened.read(7) == b"classes"


def test_the_small_archive_of_a_java_that_ended_early_is_no_archive(cache):
    draft = draft_in(archive_options(JAVA, keep=True))
    archive = draft.with_suffix("")
    for path in (draft, archive):
        path.write_bytes(b"few classes")
        os.utime(path, (1, 1))
    assert "SharedArchiveFile" not in archive_options(JAVA, keep=False)
    assert list(cache.iterdir()) == [archive]
    draft.touch()
    os.truncate(draft, 150_000_000)
    os.utime(draft, (1, 1))
    assert f"-XX:SharedArchiveFile={archive} " in archive_options(JAVA, keep=False)


def test_another_java_has_another_archive(cache):
    other = Java(Path("/opt/java21"), 21, "JAVA_HOME")
    assert draft_in(archive_options(JAVA, keep=True)) != draft_in(archive_options(other, keep=True))


def test_a_path_that_java_s_options_cannot_hold_is_done_without(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "my cache"))
    assert archive_options(JAVA, keep=True) == ""


def test_work_that_fails_or_has_no_end_leaves_no_archive(cache):
    keep_classes_of("raise SystemExit(3)")
    keep_classes_of("while True: pass", limit_s=0.2)
    assert ready_archive(find_java()) is None
    assert not list(cache.glob("*"))


@pytest.mark.long
def test_a_bench_has_the_archive_written_once(cache):
    bench = SparkBench(fresh=True)
    try:
        bench.keep_classes(recorded("crash.eager.4.3.1"))
        (written,) = cache.glob("*.jsa*")
        assert ready_archive(find_java()) == written
        bench.keep_classes(recorded("crash.eager.4.3.1"))
        assert list(cache.glob("*.jsa*")) == [written]
    finally:
        bench.close()
