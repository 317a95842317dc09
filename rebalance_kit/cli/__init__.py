"""``rebalance-kit``: the kit from a terminal. Each command imports only what it needs.

A file of this room holds the commands of one subject and has one public function, ``add``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TextIO

from rebalance_kit.cli import classroom, engine, exercise, lab, logs, maker, quiz, streaming, words
from rebalance_kit.model.about import __version__
from rebalance_kit.model.errors import RebalanceKitError
from rebalance_kit.model.extras import missing_package


def main(argv: Sequence[str] | None = None, out: TextIO | None = None) -> int:
    """Run one command; 0 is success, 1 a result that differs, 2 input that cannot be used."""
    stream = out if out is not None else sys.stdout
    parser = _parser()
    arguments = parser.parse_args(argv)
    try:
        return int(arguments.command(arguments, stream))
    except RebalanceKitError as error:
        print(f"rebalance-kit: {error}", file=sys.stderr)
        return 2
    except ImportError as error:
        problem = missing_package(error)
        if problem is None:
            raise
        print(f"rebalance-kit: {problem}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        print("rebalance-kit: interrupted; nothing half-written was left", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rebalance-kit", description="How Kafka consumer groups rebalance: run it, read it, practise it."
    )
    parser.add_argument("--version", action="version", version=f"rebalance-kit {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for room in (engine, words, lab, logs, streaming, maker, quiz, exercise, classroom):
        room.add(commands)
    return parser
