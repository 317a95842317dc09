"""Commands of what is handed out: cards to print."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TextIO

from rebalance_kit.cli.commands import Commands


def add(commands: Commands) -> None:
    """Add the commands of this file."""
    cards = commands.add_parser("cards", help="write the pages that people print, as SVG and PDF")
    cards.add_argument("--out", type=Path, default=Path("cards"), metavar="DIR", help="default: cards")
    cards.add_argument("--svg", action="store_true", help="SVG alone, which needs no extra package")
    cards.set_defaults(command=_cards)


def _cards(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.view.cards.printing import write_cards

    for path in write_cards(arguments.out, with_pdf=not arguments.svg):
        print(path, file=out)
    return 0
