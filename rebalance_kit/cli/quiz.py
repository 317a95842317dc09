"""Commands of practice: questions, and the bank that they come from."""

from __future__ import annotations

import argparse
from typing import TextIO


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands of this file."""
    quiz = commands.add_parser("quiz", help="practise questions in the terminal")
    quiz.add_argument("topic", nargs="?", default=None, help="a tag, for example eager")
    quiz.add_argument("--count", type=int, default=None)
    quiz.add_argument("--seed", type=int, default=1)
    quiz.set_defaults(command=_quiz)
    items = commands.add_parser("items", help="the item bank: check it")
    actions = items.add_subparsers(title="actions", required=True)
    check = actions.add_parser(
        "check", help="schema, duplicates, give-aways, and every key against the engine"
    )
    check.add_argument("paths", nargs="*", help="item files or folders (default: the kit's own)")
    check.add_argument("--json", action="store_true")
    check.set_defaults(command=_items_check)


def _quiz(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.quiz.terminal import run_quiz

    return run_quiz(arguments.topic, arguments.count, arguments.seed, out=out)


def _items_check(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.quiz.check import run_items_check

    return run_items_check(arguments.paths, as_json=arguments.json, out=out)
