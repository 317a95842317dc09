"""Commands about what real clusters did: forensics of logs, replay of recorded runs."""

from __future__ import annotations

import argparse
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rebalance_kit.cli.commands import Commands
from rebalance_kit.cli.terminal import working

if TYPE_CHECKING:
    from rebalance_kit.forensics.tables import Tables


def add(commands: Commands) -> None:
    """Add the commands of this file."""
    _add_logs(commands)
    _add_replay(commands)


def _add_logs(commands: Commands) -> None:
    logs = commands.add_parser("logs", help="what happened, from files or folders of Kafka logs")
    logs.add_argument("paths", nargs="+", metavar="PATH")
    logs.add_argument(
        "--out",
        type=Path,
        default=None,
        metavar="DIR",
        help="write the tables (Parquet) and report.html there",
    )
    logs.add_argument("--master", default=None, metavar="URL", help="a Spark master (default: local[*])")
    logs.add_argument(
        "--engine",
        choices=("auto", "local", "spark"),
        default="auto",
        help="who reads: this process (up to about a million lines), or Spark (default: by size; --master means Spark)",
    )
    logs.add_argument("--books", action="store_true", help="count the lines of every file in the report")
    logs.add_argument("--json", action="store_true", help="one JSON line per run and group")
    logs.add_argument(
        "--layouts", type=Path, default=None, metavar="FILE", help="YAML: layouts to try before the kit's own"
    )
    logs.add_argument("--year", type=int, default=None, help="the year of lines whose layout has none")
    logs.add_argument(
        "--time-zone", default=None, metavar="NAME", help="zone of times without one (default: UTC)"
    )
    logs.add_argument(
        "--offset",
        action="append",
        default=[],
        metavar="PATTERN=+2.5s",
        help="add this to the times of the files that fit; may be given several times",
    )
    logs.set_defaults(command=_logs)


def _add_replay(commands: Commands) -> None:
    replay = commands.add_parser(
        "replay", help="repeat recorded runs in the engine and compare, event by event"
    )
    replay.add_argument("runs", nargs="+", metavar="RUN", help="folders of recorded runs")
    replay.add_argument(
        "--out",
        type=Path,
        default=None,
        metavar="DIR",
        help="write a page per run there: recorded and simulated on one clock",
    )
    replay.add_argument("--json", action="store_true", help="one JSON line per run")
    replay.add_argument("--draws", type=int, default=40, help="latency draws to try (default 40)")
    replay.set_defaults(command=_replay)


def _logs(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.model.extras import require
    from rebalance_kit.pipeline.command import ReadingOptions, run_logs

    if arguments.out is not None:
        require("pyarrow")  # for the tables
    options = ReadingOptions(arguments.layouts, arguments.year, arguments.time_zone, tuple(arguments.offset))
    with working("logs", once=False) if _by_spark(arguments) else nullcontext():
        return run_logs(
            arguments.paths,
            arguments.out,
            arguments.master,
            as_json=arguments.json,
            out=out,
            page=_page,
            engine=arguments.engine,
            books=arguments.books,
            options=options,
        )


def _by_spark(arguments: argparse.Namespace) -> bool:
    """Whether Spark will read: it draws no bar of its own. What is wrong with the words is said by the look."""
    from rebalance_kit.model.errors import RebalanceKitError
    from rebalance_kit.pipeline.command import chosen

    try:
        return chosen(arguments.engine, arguments.master, arguments.paths) == "spark"
    except RebalanceKitError:
        return False


def _page(result: Tables, folder: Path) -> object:
    from rebalance_kit.view.reports.log_report import write_forensics_page

    return write_forensics_page(result, folder)


def _replay(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.recordings.replay.replay import run_replay

    return run_replay(arguments.runs, arguments.out, as_json=arguments.json, draws=arguments.draws, out=out)
