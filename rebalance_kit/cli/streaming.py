"""Commands of many files and many runs: make logs, watch a folder of growing ones, sweep a grid of simulations."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rebalance_kit.cli.door import Commands

if TYPE_CHECKING:
    from rebalance_kit.pipeline.sweep.grid import Grid
    from rebalance_kit.recordings.maker import Progress
    from rebalance_kit.simulation.scenario.scenario import Scenario


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
    watch.add_argument("--json", action="store_true", help="JSON lines: one per rebalance and finding")
    watch.add_argument(
        "--notify",
        default=None,
        metavar="COMMAND",
        help="start this for each rebalance and finding, the JSON object on its standard input (no shell)",
    )
    watch.add_argument(
        "--metrics",
        default=None,
        metavar="[HOST:]PORT",
        help="serve OpenMetrics there (on loopback where no host is named)",
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
        from rebalance_kit.forensics.live import run_live
        from rebalance_kit.forensics.tellers import JsonLines, Metrics, Notify, Teller, Words

        tellers: list[Teller] = [JsonLines(out) if arguments.json else Words(out)]
        tellers += [Notify(arguments.notify)] if arguments.notify is not None else []
        tellers += [Metrics(arguments.metrics)] if arguments.metrics is not None else []
        return run_live(arguments.paths, arguments.commands, out, arguments.idle, tellers=tellers)
    if arguments.json or arguments.notify is not None or arguments.metrics is not None:
        raise ConfigError(
            "--json, --notify and --metrics are told by --engine local; leave Spark's options out"
        )
    if arguments.commands or len(arguments.paths) != 1 or str(arguments.paths[0]) == "-":
        raise ConfigError("Spark follows one folder; expected one PATH, and neither - nor --from")
    return _watch_with_spark(arguments, arguments.paths[0], out)


def _watch_with_spark(arguments: argparse.Namespace, folder: Path, out: TextIO) -> int:
    from rebalance_kit.pipeline.stream.watch import WatchOptions, run_watch
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
    from rebalance_kit.pipeline.sweep.command import SWEEP_PAGE, Swept, read_spec, read_words, run_sweep

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


RANDOM = "random"


def add_maker(commands: Commands) -> None:
    """Add the commands of this file."""
    make = commands.add_parser(
        "make-logs", help="write the logs of a scenario, as a cluster would have, at any size"
    )
    make.add_argument("scenario", help="a scenario's name, a YAML file, or random (drawn by --seed)")
    make.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="a new or empty folder for the logs"
    )
    make.add_argument("--kafka-version", default=None, metavar="V", help="default: the scenario's")
    make.add_argument(
        "--protocol",
        default=None,
        help="eager, cooperative, consumer, ... (default: as the scenario says, else eager)",
    )
    make.add_argument(
        "--seed", type=int, default=None, help="the same seed gives the same bytes (default: the scenario's)"
    )
    _add_amounts(make)
    _add_files(make)
    make.set_defaults(command=_make)


def _add_amounts(make: argparse.ArgumentParser) -> None:
    size = make.add_mutually_exclusive_group()
    size.add_argument(
        "--size",
        type=int,
        default=None,
        metavar="LINES",
        help="let it happen again until there are so many lines",
    )
    size.add_argument("--hours", type=float, default=None, help="let it happen again for so long")
    make.add_argument(
        "--noise",
        type=float,
        default=None,
        metavar="RATIO",
        help="lines of other loggers per line about a group (default: as recorded; 0: none)",
    )


def _add_files(make: argparse.ArgumentParser) -> None:
    make.add_argument(
        "--layout", default="kafka", metavar="NAME", help="kafka (default), spring-boot, json, ..."
    )
    make.add_argument(
        "--rotate", type=int, default=None, metavar="LINES", help="begin a new file after so many lines"
    )
    make.add_argument("--gzip", action="store_true", help="pack the files")
    make.add_argument(
        "--begins",
        default=None,
        metavar="TIME",
        help="wall-clock time of the beginning, ISO (default 2026-01-05T09:00:00Z)",
    )
    make.add_argument(
        "--truth",
        type=Path,
        default=None,
        metavar="FILE",
        help="where to write what happened, as JSON lines (default: DIR.truth.jsonl, beside DIR)",
    )


def _make(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.logs.blocks import utc
    from rebalance_kit.logs.lines import EPOCH
    from rebalance_kit.logs.noise import RATIO
    from rebalance_kit.recordings.maker import Recipe, make_logs

    recipe = Recipe(
        layout=arguments.layout,
        noise=RATIO if arguments.noise is None else arguments.noise,
        packed=arguments.gzip,
        rotate=arguments.rotate,
        begins=EPOCH if arguments.begins is None else utc(arguments.begins),
    )
    scenario = _scenario(arguments.scenario, arguments.seed)
    folder: Path = arguments.out
    named = folder if folder.name not in {"", ".."} else folder.resolve()  # "." has no name of its own
    made = make_logs(
        scenario,
        folder,
        lines=arguments.size,
        hours=arguments.hours,
        protocol=arguments.protocol or (None if scenario.chooses_protocol() else "eager"),
        kafka_version=arguments.kafka_version,
        seed=arguments.seed,
        recipe=recipe,
        truth=arguments.truth or named.parent / f"{named.name}.truth.jsonl",
        progress=_progress(
            "incidents"
            if arguments.hours is None and arguments.size is None
            else "lines"
            if arguments.size
            else "minutes"
        ),
    )
    times = "once" if made.incidents == 1 else f"{made.incidents:,} times"
    print(
        f"{made.lines:,} lines in {len(made.files)} files in {made.folder} ({scenario.name}, {times}); the truth is in {made.truth}",
        file=out,
    )
    return 0


def _scenario(name: str, seed: int | None) -> Scenario:
    from rebalance_kit import scenarios

    if name != RANDOM:
        return scenarios.scenario(name)
    from rebalance_kit.analysis.scenario_space import Space, draw

    space = Space(
        within_ms=60_000, settle_ms=60_000, members=4, actions=8
    )  # everything that can happen, whatever it means
    return draw(space, 1 if seed is None else seed, 0)


def _progress(unit: str) -> Progress:
    """Report on standard error about once a second, and nothing at all of work that is shorter."""
    import sys
    import time

    begun = last = time.monotonic()

    def report(done: int, wanted: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= 1.0:
            last = now
            left = (now - begun) * (wanted - done) / max(done, 1)
            print(f"{done:,} of {wanted:,} {unit}, about {left:,.0f} s to go", file=sys.stderr)

    return report
