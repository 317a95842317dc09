"""Names in double backticks: what looks like one of ours exists, because it stands where a reader follows a rule."""

from __future__ import annotations

import ast
import re

from tests.support.paths import ROOT

PACKAGE = ROOT / "rebalance_kit"
QUOTED = re.compile(r"``([^`]+)``")
OURS = re.compile(r"[a-z_][\w.]*(?:\(\))?")
"""A name of Python's; Kafka's own are in camel case, its keys have dots and hyphens and no underscore."""
OTHERS = re.compile(r"rd_?kafka_\w+(?:\.c)?|display_quiz")
"""Names of librdkafka's C and of the package jupyterquiz."""


def texts(tree):
    """Every text that stands by itself: docstrings, and what is said of a constant below it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            yield node.value


def known():
    """Every word that the package defines, uses or quotes outside of its docstrings, and its file names."""
    words = set()
    for path in PACKAGE.rglob("*.py"):
        words.update(path.relative_to(ROOT).with_suffix("").parts)
        tree = ast.parse(path.read_text("utf-8"))
        said = {id(text) for text in texts(tree)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
                words.update(re.findall(r"\w+", node.value))
            for field in ("id", "attr", "name", "arg", "asname", "module"):
                if isinstance(value := getattr(node, field, None), str):
                    words.update(value.split("."))
    return words


def unknown(text, words):
    """Names of a text that look like ours and that nothing is called."""
    quoted = (name.removesuffix("()") for name in QUOTED.findall(text) if OURS.fullmatch(name))
    return {
        name
        for name in quoted
        if "_" in name and not OTHERS.fullmatch(name) and not set(name.split(".")) <= words
    }


def test_every_name_in_double_backticks_exists():
    words = known()
    missing = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in PACKAGE.rglob("*.py")
        for text in texts(ast.parse(path.read_text("utf-8")))
        for name in unknown(str(text.value), words)
    }
    assert missing == set(), "a docstring names what does not exist: say what it is called now"


def test_a_name_that_does_not_exist_is_found_and_kafkas_own_are_left_alone():
    words = {"real", "real_name"}
    assert (
        unknown("``real_name`` ``real.real_name()`` ``GroupMetadataManager`` ``rd_kafka_x``", words) == set()
    )
    assert unknown("``no_such_name`` and ``real.gone_now``", words) == {"no_such_name", "real.gone_now"}
