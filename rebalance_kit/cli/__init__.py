"""``rebalance-kit``: the kit from a terminal. Each command imports only what it needs.

A file of this room holds the commands of one subject, added by ``add`` (and by a second function of such a name).
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn, TextIO

from rebalance_kit.cli import classroom, engine, install, lab, live, logs, practice, streaming
from rebalance_kit.cli.door import add_debug, through, working
from rebalance_kit.model import __version__
from rebalance_kit.model.errors import DataError, nearest
from rebalance_kit.model.files import is_file

_UNKNOWN = re.compile(r"argument (?:COMMAND|ACTION): invalid choice: '(.*?)' \(choose from (.*)\)")
_NO_NUMBER = re.compile(r"argument (.+): invalid (int|float) value: (.*)")
_NUMBERS = {"int": "whole number", "float": "number"}
_MISSING = "the following arguments are required: "
_SILENT_WORKERS = frozenset({"run", "search", "assign", "replay", "items", "exercise", "course"})
"""Commands that compute and print nothing meanwhile; the others talk with somebody or show their own progress."""


def main(argv: Sequence[str] | None = None, out: TextIO | None = None) -> int:
    """Run one command; 0 is success, 1 a result that differs, 2 input that cannot be used, 130 an interrupt."""
    given = list(sys.argv[1:] if argv is None else argv)
    words = [word for word in given if word != "--debug"]

    def run(stream: TextIO) -> int:
        arguments = _parser().parse_args(words)
        _refuse_inputs(vars(arguments))
        if words[0] not in _SILENT_WORKERS:
            return int(arguments.command(arguments, stream))
        with working(words[0], once=words[0] == "run"):
            return int(arguments.command(arguments, stream))

    return through(run, out, debug=len(words) < len(given))


WRITTEN = frozenset({"html", "markdown", "night", "notebook", "out", "page", "to", "truth"})
"""What options are called that name a file to write."""
_OURS = frozenset({".csv", ".html", ".ipynb", ".jsonl", ".md", ".svg", ".yaml", ".yml", ".zip"})


def _refuse_inputs(given: Mapping[str, Any]) -> None:
    """Raise ``DataError`` where a command would write over a file that it reads, by whatever name; also over a log of a folder that it reads."""
    paths = [
        (name, Path(one))
        for name, value in given.items()
        for one in (value if isinstance(value, list) else [value])
        if isinstance(one, str | Path) and "\0" not in str(one)
    ]
    for target in (path for name, path in paths if name in WRITTEN and is_file(path)):
        for source in (path for name, path in paths if name not in WRITTEN):
            with suppress(OSError):
                inside = target.suffix not in _OURS and source.resolve() in target.resolve().parents
                if inside or (source.is_file() and source.samefile(target)):
                    raise DataError(f"{target}: is read by this command; expected another file to write")


class _Parser(argparse.ArgumentParser):
    """A parser that answers a word which it does not know with the nearest one that it does."""

    def error(self, message: str) -> NoReturn:
        if found := _UNKNOWN.search(message):
            known = re.findall(r"[\w-]+", found[2])
            message = (
                f"{found[1]!r} is no command; expected one of {', '.join(known)}{nearest(found[1], known)}"
            )
        if found := _NO_NUMBER.fullmatch(message):
            message = f"{found[1]}: {found[3]} received, expected a {_NUMBERS[found[2]]}"
        if message.startswith(_MISSING):
            message = "; ".join(map(self._missing, message.removeprefix(_MISSING).split(", ")))
        super().error(message)

    def _missing(self, name: str) -> str:
        action = next((one for one in self._actions if name in {one.metavar, one.dest}), None)
        if action is not None and action.choices:
            return f"{name} is missing, expected one of {', '.join(map(str, action.choices))}"
        return f"{name} is missing" + (
            f", expected {action.help}" if action is not None and action.help else ""
        )


def _parser() -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = _Parser(
        prog="rebalance-kit", description="How Kafka consumer groups rebalance: run it, read it, practise it."
    )
    parser.add_argument("--version", action="version", version=f"rebalance-kit {__version__}")
    add_debug(parser)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for add in (
        engine.add,
        engine.add_words,
        lab.add,
        logs.add,
        logs.add_what_if,
        live.add,
        streaming.add,
        streaming.add_maker,
        practice.add,
        practice.add_exercises,
        classroom.add,
        classroom.add_handouts,
        install.add,
    ):
        add(commands)
    return parser
