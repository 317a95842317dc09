"""Commands of what is handed out: the course as a folder, cards to print, and the offline bundle."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TextIO

from rebalance_kit.cli.commands import Commands


def add(commands: Commands) -> None:
    """Add the commands of this file."""
    course = commands.add_parser(
        "course", help="write notebooks and exercises into a folder of yours; what you changed stays"
    )
    course.add_argument("folder", type=Path, metavar="DIR", help="your folder, made where it is missing")
    course.add_argument("--without-solutions", action="store_true", help="leave the folder solutions/ out")
    course.set_defaults(command=_course)
    cards = commands.add_parser("cards", help="write the pages that people print, as SVG and PDF")
    cards.add_argument("--out", type=Path, default=Path("cards"), metavar="DIR", help="default: cards")
    cards.add_argument("--svg", action="store_true", help="SVG alone, which needs no extra package")
    cards.set_defaults(command=_cards)
    bundle = commands.add_parser("bundle", help="write what learners install without a network")
    bundle.add_argument("--out", type=Path, required=True, metavar="FILE", help="the zip to write")
    bundle.add_argument("--without-spark", action="store_true", help="leave Spark and Java out")
    bundle.set_defaults(command=_bundle)


def _course(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.classroom.handing_out import FIRST, hand_out

    done = hand_out(arguments.folder, solutions=not arguments.without_solutions)
    print(f"{arguments.folder}: {len(done.written)} written", file=out)
    if done.kept:
        print(
            f"kept, because you changed them: {', '.join(done.kept)} (rename one to get the kit's)", file=out
        )
    print(f"Begin with {FIRST}: rebalance-kit lab {arguments.folder}", file=out)
    return 0


def _cards(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.view.cards.printing import write_cards

    for path in write_cards(arguments.out, with_pdf=not arguments.svg):
        print(path, file=out)
    return 0


def _bundle(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.classroom.bundle import make_bundle

    wheels, size = make_bundle(
        arguments.out,
        with_spark=not arguments.without_spark,
        tell=lambda line: print(line, file=out, flush=True),
    )
    print(f"{arguments.out}: {wheels} wheels, {size / 1e6:.0f} MB", file=out)
    return 0
