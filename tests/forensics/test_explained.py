"""``explain`` knows the kit's own findings, Connect's keys, and the line of a log that somebody looks at."""

import re
from pathlib import Path

import pytest

import rebalance_kit.forensics.findings as room
from rebalance_kit.cli import main
from rebalance_kit.forensics.answer.explained import codes, explained
from rebalance_kit.forensics.answer.severity import _CRITICAL, _NOTE
from tests.support.pipeline.kafka_lines import client, preparing


def test_every_kind_of_finding_is_explained():
    told = set(codes())
    assert told >= {*_CRITICAL.split(), *_NOTE.split()}
    sources = "".join(path.read_text() for path in Path(room.__file__).parent.glob("*.py"))
    collected = set(re.findall(r'told\(\s*"([a-z_]+)"', sources))
    assert len(collected) > 20
    assert collected <= told
    for code in told:
        said = explained(code) or ""
        assert code in said
        assert re.search(r"\{\w+\}", said) is None, said


@pytest.mark.parametrize(
    ("term", "said"),
    [
        ("session_expired", "do: Find out whether the process stopped"),
        ("Attempt to heartbeat failed since group is rebalancing", "a rebalance is under way"),
        (
            preparing(0, 3, "Adding new member c2-1 with group instance id None"),
            "reason: Adding new member c2-1",
        ),
        (
            client(
                0,
                "c1",
                "consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than",
            ),
            "max.poll.interval.ms",
        ),
        (
            "Application maximum poll interval (6000ms) exceeded by 55ms (adjust it): leaving group",
            "over_ms: 55",
        ),
        ("scheduled.rebalance.max.delay.ms", "300,000 ms by default"),
        ("MAXPOLL", "did not poll"),
    ],
)
def test_a_code_a_line_and_a_key_of_connect_are_explained(term, said, capsys):
    assert main(["explain", term]) == 0
    assert said in capsys.readouterr().out


def test_what_is_neither_is_refused(capsys):
    assert main(["explain", "GET /index.html 200"]) == 2
    assert "is not explained here" in capsys.readouterr().err
