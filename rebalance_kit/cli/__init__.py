"""``rebalance-kit``: the kit from a terminal. Each command imports only what it needs.

A file of this room holds the commands of one subject and has one public function, ``add``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TextIO

from rebalance_kit.cli import classroom, engine, exercise, lab, logs, maker, quiz, streaming, words
from rebalance_kit.cli.door import add_debug, through
from rebalance_kit.model.about import __version__


def main(argv: Sequence[str] | None = None, out: TextIO | None = None) -> int:
    """Run one command; 0 is success, 1 a result that differs, 2 input that cannot be used, 130 an interrupt."""
    words = list(sys.argv[1:] if argv is None else argv)
    debug = "--debug" in words

    def run(stream: TextIO) -> int:
        arguments = _parser().parse_args([word for word in words if word != "--debug"])
        return int(arguments.command(arguments, stream))

    return through(run, out, debug=debug)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rebalance-kit", description="How Kafka consumer groups rebalance: run it, read it, practise it."
    )
    parser.add_argument("--version", action="version", version=f"rebalance-kit {__version__}")
    add_debug(parser)
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for room in (engine, words, lab, logs, streaming, maker, quiz, exercise, classroom):
        room.add(commands)
    return parser
