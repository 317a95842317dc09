"""Commands of many files and many runs: watch a folder of growing logs, sweep a grid of simulations."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rebalance_kit.cli.commands import Commands

if TYPE_CHECKING:
    from rebalance_kit.pipeline.sweep.grid import Grid


def add(commands: Commands) -> None:
    """Add the commands of this file."""
    _add_watch(commands)
    _add_sweep(commands)


def _add_watch(commands: Commands) -> None:
    watch = commands.add_parser(
        "watch", help="follow growing logs, standard input (-) or commands, as they are written"
    )
    watch.add_argument(
        "paths", nargs="*", type=Path, metavar="PATH", help="a folder or file that grows, or -"
    )
    watch.add_argument(
        "--from",
        action="append",
        default=[],
        dest="commands",
        metavar="NAME=COMMAND",
        help="follow what a command prints, for instance broker-0='kubectl logs -f kafka-0'; may be given several times",
    )
    watch.add_argument(
        "--engine",
        choices=("auto", "local", "spark"),
        default="auto",
        help="local: this process, without a store; spark: Structured Streaming over one folder, with tables and a "
        "checkpoint (default: spark when --out, --checkpoint, --page, --once or --master is given)",
    )
    _add_stored(watch)
    watch.add_argument(
        "--idle", type=float, default=None, metavar="SECONDS", help="end when no line was written for so long"
    )
    watch.set_defaults(command=_watch)


def _add_stored(watch: argparse.ArgumentParser) -> None:
    """What only Spark's stream knows: tables, a checkpoint, a page."""
    watch.add_argument(
        "--out", type=Path, default=None, metavar="DIR", help="write the tables there in the end, as Parquet"
    )
    watch.add_argument(
        "--checkpoint",
        type=Path,
        default=None,
        metavar="DIR",
        help="keep there how far the reading is, to go on after a stop or a kill (default: OUT/.watch; without --out nothing is kept)",
    )
    watch.add_argument(
        "--once", action="store_true", help="read what is there by now, write the tables, and end"
    )
    watch.add_argument(
        "--page",
        type=Path,
        default=None,
        metavar="FILE",
        nargs="?",
        const=Path("rebalances.html"),
        help="keep a page of the last rebalances there (default rebalances.html, in OUT when given)",
    )
    watch.add_argument("--master", default=None, metavar="URL", help="a Spark master (default: local[*])")


def _add_sweep(commands: Commands) -> None:
    sweep = commands.add_parser(
        "sweep", help="thousands of simulated runs as Spark tasks, into tables and figures"
    )
    sweep.add_argument(
        "spec",
        nargs="?",
        type=Path,
        default=None,
        metavar="SPEC",
        help="a YAML file: scenarios, set, protocols, seeds",
    )
    sweep.add_argument(
        "--scenario",
        action="append",
        default=[],
        metavar="NAME",
        help="a scenario of the kit or a YAML file; may be repeated",
    )
    sweep.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="KEY=VALUES",
        dest="settings",
        help="vary a Kafka configuration, or members, topic_partitions, freezes, ...: session.timeout.ms=6000,10000,45000",
    )
    _add_runs(sweep)
    sweep.set_defaults(command=_sweep)


def _add_runs(sweep: argparse.ArgumentParser) -> None:
    sweep.add_argument(
        "--protocol",
        default=None,
        help="eager, cooperative, consumer, ..., several with commas, or all (default: as the scenario says)",
    )
    sweep.add_argument("--seeds", type=int, default=10, help="runs of each setting (default 10)")
    sweep.add_argument("--master", default=None, metavar="URL", help="a Spark master (default: local[*])")
    sweep.add_argument(
        "--out",
        type=Path,
        default=None,
        metavar="DIR",
        help="write the tables (Parquet) and sweep.html there",
    )


def _watch(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.model.errors import ConfigError

    stored = any((arguments.out, arguments.checkpoint, arguments.page, arguments.once, arguments.master))
    if not arguments.paths and not arguments.commands:
        raise ConfigError("nothing to watch; expected a PATH, - or --from NAME=COMMAND")
    if arguments.engine == "local" or (arguments.engine == "auto" and not stored):
        if stored:
            raise ConfigError(
                "--engine local keeps no tables; leave --out, --checkpoint, --page, --once, --master out"
            )
        from rebalance_kit.forensics.live_command import run_live

        return run_live(arguments.paths, arguments.commands, out, arguments.idle)
    if arguments.commands or len(arguments.paths) != 1 or str(arguments.paths[0]) == "-":
        raise ConfigError("Spark follows one folder; expected one PATH, and neither - nor --from")
    return _watch_with_spark(arguments, arguments.paths[0], out)


def _watch_with_spark(arguments: argparse.Namespace, folder: Path, out: TextIO) -> int:
    from rebalance_kit.pipeline.stream.command import WatchOptions, run_watch
    from rebalance_kit.view.reports.log_report import write_forensics_page
    from rebalance_kit.view.reports.watch_page import write_page

    page = None if arguments.page is None else (arguments.out or Path()) / arguments.page
    title = f"Rebalances in {folder}"
    options = WatchOptions(
        arguments.out,
        arguments.checkpoint,
        arguments.once,
        arguments.idle,
        arguments.master,
        None if page is None else lambda latest: write_page(page, latest, title),
        write_forensics_page,
    )
    return run_watch(folder, options, out)


def _sweep(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.model.errors import ScenarioError, require
    from rebalance_kit.pipeline.sweep.command import SWEEP_PAGE, Swept, run_sweep
    from rebalance_kit.pipeline.sweep.spec import read_spec, read_words

    if bool(arguments.scenario) == bool(arguments.spec):
        raise ScenarioError("expected either a SPEC file or --scenario NAME")
    if arguments.out is not None:
        require("plotly", "pyspark", "pyarrow")  # for sweep.html, and at once for the rest

    def grid() -> Grid:
        if arguments.spec is not None:
            return read_spec(arguments.spec)
        return read_words(arguments.scenario, arguments.settings, arguments.protocol, arguments.seeds)

    def page(swept: Swept) -> None:
        from rebalance_kit.view.reports.sweep_report import write_sweep

        write_sweep(arguments.out / SWEEP_PAGE, swept.rows, swept.names, swept.text())

    return run_sweep(grid, arguments.out, arguments.master, out, page if arguments.out is not None else None)
