"""The commands of the exercises, on logs with PySpark and on code for the engine: list, start, check, hint, solution."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rebalance_kit.cli.commands import Commands

if TYPE_CHECKING:
    from rebalance_kit.exercises.workspace import Workspace


def add(commands: Commands) -> None:
    """Add the commands of this file."""
    exercise = commands.add_parser(
        "exercise", help="exercises: PySpark on rebalance logs, and code for assignors, listeners, clients"
    )
    actions = exercise.add_subparsers(title="actions", metavar="ACTION", required=True)
    _action(actions, "list", "name, level, minutes and title of each", _list)
    start = _action(
        actions, "start", "copy an exercise into your own folder; keeps an answer that is there", _start
    )
    check = _action(actions, "check", "check your answer (starts Spark where the exercise needs it)", _check)
    hint = _action(actions, "hint", "the next hint, or the one of that number", _hint)
    solution = _action(actions, "solution", "the kit's own answer", _solution)
    for command in (start, check, hint, solution):
        command.add_argument("name", help="name, number or part of the name")
    hint.add_argument("number", nargs="?", type=int, default=None)
    check.add_argument("--public", action="store_true", help="leave the hidden checks out")
    check.add_argument(
        "--limit",
        type=seconds,
        default=None,
        metavar="SECONDS",
        help="time limit of one call (default: the exercise's own)",
    )
    for command in (start, check):
        command.add_argument(
            "--learner",
            default=None,
            help="whose exercise it is (default: REBALANCE_KIT_LEARNER, or the user)",
        )


def seconds(text: str) -> float:
    """A time limit from the command line; more than 0 and less than a day."""
    value = float(text)
    if not 0 < value < 86_400:
        raise argparse.ArgumentTypeError(f"{text} is no time limit; expected seconds, more than 0")
    return value


def _action(actions: Commands, name: str, words: str, command: object) -> argparse.ArgumentParser:
    from rebalance_kit.exercises import FOLDER

    parser = actions.add_parser(name, help=words)
    parser.add_argument(
        "--folder",
        type=Path,
        default=Path(FOLDER),
        metavar="DIR",
        help=f"your own folder (default: {FOLDER})",
    )
    parser.set_defaults(command=command)
    return parser


def _desk(arguments: argparse.Namespace) -> Workspace:
    from rebalance_kit.exercises.workspace import Identity, Workspace, whoever

    learner = getattr(arguments, "learner", None)
    return Workspace(arguments.folder, Identity(learner, whoever().course) if learner else None)


def _list(arguments: argparse.Namespace, out: TextIO) -> int:
    print(_desk(arguments).listing(), file=out)
    return 0


def _start(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.exercises import FOLDER

    print(_desk(arguments).start(arguments.name), file=out)
    where = "" if arguments.folder == Path(FOLDER) else f" --folder {shlex.quote(str(arguments.folder))}"
    print(f"Then: rebalance-kit exercise check {arguments.name}{where}", file=out)
    print(f"Or:   rebalance-kit exercise hint {arguments.name}{where}", file=out)
    return 0


def _hint(arguments: argparse.Namespace, out: TextIO) -> int:
    print(_desk(arguments).hint(arguments.name, arguments.number), file=out)
    return 0


def _solution(arguments: argparse.Namespace, out: TextIO) -> int:
    print(_desk(arguments).solution(arguments.name), file=out)
    return 0


def _check(arguments: argparse.Namespace, out: TextIO) -> int:
    """0 when every check passes, 1 when one does not."""
    from rebalance_kit.exercises.catalogue import Exercise
    from rebalance_kit.exercises.spark_bench import SparkBench
    from rebalance_kit.exercises.workspace import find
    from rebalance_kit.pipeline.spark.session import require_spark

    if isinstance(find(arguments.name), Exercise):  # a wrong name is told before Spark starts
        require_spark()
    bench, desk = SparkBench(), _desk(arguments)
    if words := desk.without_wall(arguments.name):
        print(words, file=out)
    try:
        report = desk.check(arguments.name, bench, hidden=not arguments.public, limit_s=arguments.limit)
    finally:
        bench.close()
    print(report, file=out)
    return 0 if report.green else 1
