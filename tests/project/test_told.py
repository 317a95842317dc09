"""What a screen tells a person to type is typed here, letter by letter, and works."""

from __future__ import annotations

import argparse
import io
import re
import shlex
from itertools import chain

import pytest

from rebalance_kit import cli
from rebalance_kit.quiz.sittings.poll import PollCount
from rebalance_kit.quiz.sittings.store import Store
from tests.support.paths import ROOT

TOLD = re.compile(r"rebalance-kit ([^\n`]+)")


def type_it(line):
    """What a command says, and its status."""
    out = io.StringIO()
    return cli.main(shlex.split(line), out), out.getvalue()


def told_by(line):
    """The commands that a command tells."""
    status, text = type_it(line)
    assert status == 0, text
    found = TOLD.findall(text)
    assert found, f"{line} tells no command: {text}"
    return found


@pytest.mark.parametrize("seed", [1, 3])
def test_the_vote_that_a_poll_shows_runs_in_a_fresh_cell(tmp_path, monkeypatch, seed):
    monkeypatch.setenv("REBALANCE_KIT_ATTEMPTS", str(tmp_path / "attempts.sqlite"))
    poll = PollCount("eager-crash-which-unread", seed, store=Store(tmp_path / "poll.sqlite"))
    exec(compile(poll.page()["call"], "a learner's cell", "exec"), {})  # noqa: S102 - the kit's own words


def test_an_exercise_that_was_started_is_checked_and_hinted_as_told(tmp_path):
    check, hint = told_by(f"exercise start c1 --folder '{tmp_path / 'my own'}'")
    assert type_it(hint)[0] == 0
    status, text = type_it(check)
    assert status == 1 and "not written yet" in text, "the stub is found, and is no answer"


def test_a_class_is_marked_and_reported_as_told(tmp_path):
    handed_in = tmp_path / "handed in"
    (handed_in / "ada").mkdir(parents=True)
    (mark,) = told_by(f"classroom collect '{handed_in}' --to '{tmp_path / 'the course'}'")
    (report,) = told_by(mark)
    assert type_it(report)[0] == 0


def commands():
    (found,) = (action for action in cli._parser()._actions if isinstance(action, argparse._SubParsersAction))
    return set(found.choices)


TEXTS = (
    "rebalance_kit/**/*.py",
    "rebalance_kit/**/*.yaml",
    "page/**/*.js",
    "docs/*.md",
    "*.md",
    "notebooks/src/**/*.py",
)
NAMED = re.compile(r"(?:`|^|'|\")rebalance-kit ([a-z][a-z-]*)", re.MULTILINE)


def test_every_command_that_a_text_of_the_kit_names_exists():
    texts = (path.read_text("utf-8") for pattern in TEXTS for path in ROOT.glob(pattern))
    named = set(chain.from_iterable(map(NAMED.findall, texts)))
    assert named <= commands(), f"no such command: {sorted(named - commands())}"
    assert len(named) > 10


WHOLE = re.compile(
    r"^\s*(?:\.venv/bin/)?rebalance-kit ([^\n#>|&]+)|`rebalance-kit ([^`\n|&>]+)`", re.MULTILINE
)
PLACEHOLDERS = {
    "N": "3",
    "SEED": "3",
    "DATE": "2026-12-12",
    "HOST:PORT": "localhost:9092",
    "COMMAND": "doctor",
    "MOMENT": "2026-12-12T12:00",
}


def whole_lines():
    """Every command with arguments that a document or a lesson tells a person to type."""
    places = ("README.md", "docs/*.md", "docs/site/*.md", "exercises/**/*.md", "notebooks/src/**/*.py")
    found = [
        line
        for place in places
        for path in ROOT.glob(place)
        for line in WHOLE.findall(path.read_text("utf-8"))
    ]
    lines = {re.sub(r" ?\[.*|\.\.\.|…", "", one or other).strip() for one, other in found}
    return sorted(line for line in lines if len(line.split()) > 1 and not set("{}") & set(line))


def test_every_line_that_a_text_tells_to_type_is_understood(capsys):
    parser, refused, lines = cli._parser(), [], whole_lines()
    for line in lines:
        words = [PLACEHOLDERS.get(word, word) for word in shlex.split(line, comments=True)]
        try:
            parser.parse_args(words)
        except SystemExit:
            said = capsys.readouterr().err
            if "is missing" not in said and "expected one argument" not in said:  # a mention, no line
                refused.append(f"{line}: {said.splitlines()[-1:]}")
    assert not refused
    assert len(lines) > 60
