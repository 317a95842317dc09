"""A text that sends its reader to a notebook, or tells them to type a command, names one that is there."""

from __future__ import annotations

import argparse
import re

import pytest

from rebalance_kit.cli import _parser
from tests.support.paths import ROOT

HERE = {path.name[:2] for path in (ROOT / "notebooks" / "src").rglob("[0-9][0-9]*-*.py")}
FILES = {path.with_suffix(".ipynb").name for path in (ROOT / "notebooks" / "src").rglob("*.py")}
TEXTS = sorted(
    path
    for pattern in (
        "README.md",
        "CHANGELOG.md",
        "docs/*.md",
        "notebooks/src/*/*.py",
        "exercises/**/*.[mpy]*",
        "rebalance_kit/**/*.py",
        "rebalance_kit/**/*.yaml",
        "rebalance_kit/**/*.js",
    )
    for path in ROOT.glob(pattern)
    if "__pycache__" not in path.parts and "node_modules" not in path.parts
)
NUMBERS = re.compile(r"\bnotebooks?\s+((?:\d\d[a-z]?(?:,\s|\sto\s|\sand\s|\b))+)", re.IGNORECASE)


def named(text):
    """The numbers of notebooks that a text names; comment marks may stand between the words."""
    plain = re.sub(r"\s*\n\s*#?\s*", " ", text)
    return {number for found in NUMBERS.findall(plain) for number in re.findall(r"\d\d", found)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# see notebooks\n# 02, 03 and 17 for more", {"02", "03", "17"}),
        ("notebooks 10 to 12)", {"10", "12"}),
        ("Notebook 07 is about that, 30 minutes.", {"07"}),
        ("notebook 2024", set()),
    ],
)
def test_the_numbers_of_notebooks_are_found_in_a_text(text, expected):
    assert named(text) == expected


def test_every_notebook_that_a_text_names_is_there():
    assert len(TEXTS) > 300
    absent = {
        f"{path.relative_to(ROOT)}: notebook {number}"
        for path in TEXTS
        for number in named(path.read_text("utf-8"))
        if number not in HERE
    }
    assert absent == set()


def test_every_link_between_notebooks_leads_to_one():
    linked = {
        f"{path.relative_to(ROOT)}: {link}"
        for path in TEXTS
        for link in re.findall(r"\b((?:\d\d|I)-[\w-]+\.ipynb)", path.read_text("utf-8"))
        if link not in FILES
    }
    assert linked == set()


# --- commands ---------------------------------------------------------------------------------------
TYPED = [path for path in TEXTS if path.suffix == ".md" or "notebooks" in path.parts]
CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
COMMAND = re.compile(r"\brebalance-kit((?: +[^\s`|;&#]+)+)")


def below(parser):
    """The sub-commands of a parser by name; none: an empty mapping."""
    actions = (action for action in parser._actions if isinstance(action, argparse._SubParsersAction))
    return next((action.choices for action in actions), {})


def unknown(words):
    """The first word of a command that the program does not know; None when it knows all."""
    parser = _parser()
    for word in words:
        if word in {"COMMAND", "…", "..."}:
            return None
        if word.startswith("--"):
            name = word.partition("=")[0].rstrip(",.)")
            if name not in parser._option_string_actions:
                return word
        elif choices := below(parser):
            if word not in choices:
                return word
            parser = choices[word]
    return None


@pytest.mark.parametrize(
    ("line", "stranger"),
    [
        ("run crash --protocol all", None),
        ("items export anki deck.apkg --tag eager", None),
        ("dance", "dance"),
        ("items dance", "dance"),
        ("run crash --dance", "--dance"),
    ],
)
def test_a_command_that_does_not_exist_is_seen(line, stranger):
    assert unknown(line.split()) == stranger


def test_every_command_that_a_text_tells_a_reader_to_type_exists():
    found = [
        (path, match[1].split())
        for path in TYPED
        for code in CODE.findall(re.sub(r"(?m)^# ?", "", path.read_text("utf-8")))
        for match in COMMAND.finditer(code)
    ]
    assert len(found) > 20
    assert {
        f"{path.relative_to(ROOT)}: rebalance-kit {' '.join(words)}"
        for path, words in found
        if unknown(words)
    } == set()
