"""Last words: what other loggers wrote in a member's own file before it left, expired or was too slow."""

from __future__ import annotations

import io

import pytest

from rebalance_kit.forensics.answer.answer import Answer
from rebalance_kit.forensics.look import look
from tests.support.pipeline.kafka_lines import client, failing, joined, joining

_EXPIRED = (
    "consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured "
    "max.poll.interval.ms, which typically implies that the poll loop is spending too much time."
)


def at(clock: str, text: str) -> str:
    return f"[2026-03-01 {clock},000] {text} (com.shop.Payments)\n"


@pytest.fixture
def screen(tmp_path):
    def told(**files):
        for name, text in files.items():
            (tmp_path / f"{name}.log").write_text(text)
        out = io.StringIO()
        Answer().tell(look([tmp_path]), out)
        return " ".join(out.getvalue().split())

    return told


@pytest.mark.parametrize(
    ("line", "means"),
    [
        ("WARN read timed out after 30 s", "a slow handler"),
        ("ERROR java.lang.OutOfMemoryError: Java heap space", "memory that ran out"),
        ("INFO [gc] GC(12) Pause Full (G1 Compaction Pause) 61234ms", "a pause"),
        ("INFO received SIGTERM", "a stop"),
    ],
)
def test_the_line_before_a_poll_timeout_is_evidence_and_says_what_it_points_to(screen, line, means):
    text = screen(c1=joined(0, "c1", 3) + at("10:04:50", line) + client(300, "c1", _EXPIRED, "WARN"))
    assert "near it c1.log:2" in text
    assert f"points to {means}" in text


def test_a_member_that_expires_has_its_last_words_in_its_own_file(screen):
    crash = at("10:00:50", "ERROR Exception in thread main") + "Caused by: java.io.IOException: disk full\n"
    files = {"server": joining(0, 0, "c2") + failing(90, 1, "c2"), "c2": joined(1, "c2", 1) + crash}
    assert "near it c2.log:3 Caused by: java.io.IOException: disk full" in screen(**files)


def test_trouble_long_before_and_lines_of_settings_are_no_last_words(screen):
    early = at("09:00:00", "ERROR read timed out") + "\tsocket.connection.setup.timeout.ms = 10000\n"
    assert "near it" not in screen(
        c1=early + joined(0, "c1", 3) + client(900, "c1", _EXPIRED, "WARN").replace("10:15", "10:15")
    )


def test_a_line_after_the_poll_timeout_points_to_no_slow_handler(screen):
    text = screen(
        c1=joined(0, "c1", 3) + client(300, "c1", _EXPIRED, "WARN") + at("10:05:00", "WARN will retry in 1s")
    )
    assert "slow handler" not in text
