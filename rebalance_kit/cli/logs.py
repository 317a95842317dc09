"""Commands about what real clusters did: forensics of logs, replay of recorded runs, what would have been otherwise."""

from __future__ import annotations

import argparse
import re
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rebalance_kit.cli.door import Commands, working
from rebalance_kit.forensics.answer.wishes import CSV_TABLES, FAIL_ON

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rebalance_kit.forensics.answer.answer import Answer
    from rebalance_kit.forensics.tables import Tables
    from rebalance_kit.model.trace import Trace
    from rebalance_kit.whatif.understanding import Cost, Drawn


import sys


def add(commands: Commands) -> None:
    """Add the commands of this file."""
    _add_logs(commands)
    _add_replay(commands)
    _add_beside(commands)


def _add_logs(commands: Commands) -> None:
    logs = commands.add_parser(
        "logs",
        help="what happened, from files or folders of Kafka logs",
        epilog="status: 0 nothing wrong, 1 a finding as grave as --fail-on, 2 wrong usage or an input that cannot be read, "
        "3 nothing wrong was found but not everything was understood (or there was nothing to read), 130 interrupted",
    )
    # "-2h" is a value and no option.
    vars(logs)["_negative_number_matcher"] = re.compile(r"-\d+(?:\.\d+)?[a-z]*$")
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
        help="who reads: this process, or Spark (default: who is done first, by size, cores and memory; --master means Spark)",
    )
    _add_answer(logs)
    _add_reading(logs)
    logs.set_defaults(command=_logs)


def _add_answer(logs: argparse.ArgumentParser) -> None:
    """What is asked for, and in which form the answer comes."""
    logs.add_argument("--all", action="store_true", help="everything in words: all findings, all rebalances")
    logs.add_argument("--books", action="store_true", help="as --all, with the lines of every file counted")
    logs.add_argument(
        "--since", metavar="WHEN", help="-2h (before the end of the logs), 02:40, or 2026-11-23T02:40 (UTC)"
    )
    logs.add_argument("--until", metavar="WHEN", help="as --since")
    logs.add_argument(
        "--group",
        action="append",
        default=[],
        metavar="NAME",
        help="this group only (orders-*); may be repeated",
    )
    logs.add_argument(
        "--member", action="append", default=[], metavar="NAME", help="what this client or member id did"
    )
    logs.add_argument("--top", type=int, default=3, metavar="N", help="findings on the screen (default 3)")
    forms = logs.add_mutually_exclusive_group()
    forms.add_argument(
        "--json", action="store_true", help="JSON lines: one per run and group, a summary last"
    )
    forms.add_argument("--csv", action="store_true", help="a table as CSV: the findings, or --table")
    forms.add_argument(
        "--markdown",
        type=Path,
        default=None,
        metavar="FILE",
        help="write a postmortem there, its picture beside it",
    )
    logs.add_argument(
        "--events",
        type=Path,
        default=None,
        metavar="FILE",
        help="what else happened, set beside causes: CSV or JSON lines (time, text), or kubectl get events -o json",
    )
    logs.add_argument("--table", choices=CSV_TABLES, default="findings", help="which table --csv prints")
    logs.add_argument(
        "--fail-on",
        choices=FAIL_ON,
        default="warning",
        help="status 1 for a finding as grave as this (default: warning)",
    )


def _add_reading(logs: argparse.ArgumentParser) -> None:
    """What the lines do not say."""
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
    logs.add_argument(
        "--limits",
        default="",
        metavar="NAME=N,…",
        help="what may be unpacked of archives and .gz: bytes=16GB,members=10000,ratio=200,seconds=60 (bytes per packed byte)",
    )


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


def _add_beside(commands: Commands) -> None:
    beside = commands.add_parser(
        "beside",
        help="lay recorded runs beside the engine's draws: where the recorded value of each measure falls",
    )
    beside.add_argument("runs", nargs="+", metavar="RUN", help="folders of recorded runs")
    beside.add_argument("--draws", type=int, default=200, help="how many (default 200)")
    beside.set_defaults(command=_beside)
    calibrate = commands.add_parser(
        "calibrate", help="fit the engine's latencies to recorded runs; error of its gaps before and after"
    )
    calibrate.add_argument("runs", nargs="+", metavar="RUN", help="folders of recorded runs, of Java members")
    calibrate.add_argument("--draws", type=int, default=10, help="draws per run and side (default 10)")
    calibrate.add_argument("--json", action="store_true", help="latencies and gaps as JSON")
    calibrate.set_defaults(command=_calibrate)


def _beside(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.recordings.replay import run_beside

    return run_beside(arguments.runs, arguments.draws, colour=out.isatty(), out=out)


def _calibrate(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.recordings.calibrate import run_calibrate

    return run_calibrate(arguments.runs, arguments.draws, as_json=arguments.json, out=out)


def _logs(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.forensics.lines.archives import Limits, budget
    from rebalance_kit.model.errors import require
    from rebalance_kit.pipeline.command import ReadingOptions, run_logs

    if arguments.out is not None:
        require("pyarrow")  # for the tables
    options = ReadingOptions(arguments.layouts, arguments.year, arguments.time_zone, tuple(arguments.offset))
    with (
        budget(Limits.of(arguments.limits)),
        working("logs", once=False) if _by_spark(arguments) else nullcontext(),
    ):
        return run_logs(
            arguments.paths,
            arguments.out,
            arguments.master,
            out=out,
            page=_page,
            engine=arguments.engine,
            options=options,
            answer=_answer(arguments),
        )


def _answer(arguments: argparse.Namespace) -> Answer:
    from rebalance_kit.forensics.answer.answer import Answer
    from rebalance_kit.forensics.answer.happenings import Happening, read_happenings
    from rebalance_kit.forensics.answer.wishes import Wishes

    wishes = Wishes(
        arguments.since,
        arguments.until,
        tuple(arguments.group),
        tuple(arguments.member),
        arguments.top,
        arguments.fail_on,
    )
    form = "json" if arguments.json else "csv" if arguments.csv else "screen"
    if form == "screen" and (arguments.all or arguments.books):
        form = "report"
    happenings: tuple[Happening, ...] = ()
    if arguments.events is not None:
        happenings = tuple(read_happenings(arguments.events))
    return Answer(form, wishes, arguments.books, arguments.table, arguments.markdown, happenings=happenings)


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
    from rebalance_kit.recordings.replay import run_replay

    return run_replay(arguments.runs, arguments.out, as_json=arguments.json, draws=arguments.draws, out=out)


def add_what_if(commands: Commands) -> None:
    """Add the commands of this file."""
    asked = commands.add_parser(
        "what-if",
        help="from logs alone: what that night would have cost under other settings",
        epilog="status: 0 answered, 2 wrong usage or an input that cannot be read, 3 a night that is not understood well enough for a "
        "counterfactual, 130 interrupted",
    )
    asked.add_argument(
        "paths", nargs="+", metavar="LOGS", help="logs of one incident, or a scenario made of them (YAML)"
    )
    asked.add_argument("--group", default=None, metavar="NAME", help="this group only")
    asked.add_argument(
        "--draws", type=int, default=None, metavar="N", help="draws of the night (default 200)"
    )
    asked.add_argument(
        "--seconds", type=float, default=60.0, metavar="S", help="about how long it may take (default 60)"
    )
    asked.add_argument(
        "--target", default=None, metavar="TEXT", help="what has to be met: 'longest gap < 10 s'"
    )
    asked.add_argument(
        "--scenario",
        dest="night",
        type=Path,
        default=None,
        metavar="FILE",
        help="write the night as a scenario to edit and ask again",
    )
    asked.add_argument(
        "--markdown", type=Path, default=None, metavar="FILE", help="write a section for a postmortem"
    )
    asked.add_argument(
        "--page",
        type=Path,
        default=None,
        metavar="FILE",
        help="write the night beside the two best of the others",
    )
    asked.add_argument("--json", action="store_true", help="one JSON object per group")
    asked.add_argument(
        "--master",
        default=None,
        metavar="URL",
        help="a Spark master (local[*]) that draws the search for --target where it would take longer than --seconds here",
    )
    asked.set_defaults(command=_what_if)
    _add_plan_deploy(commands)
    checked = commands.add_parser(
        "check-config",
        help="what a migration to KIP-848 makes of your configuration files",
        epilog="status: 0 nothing to do, 1 a finding, 2 wrong usage or an input that cannot be read, 3 no finding but not everything was "
        "understood, 130 interrupted",
    )
    checked.add_argument(
        "paths",
        nargs="+",
        metavar="FILE",
        help="properties, INI, Spring, Kubernetes, Helm values, JSON; brokers' too",
    )
    checked.add_argument(
        "--client", choices=("java", "librdkafka"), default=None, help="whose settings they are"
    )
    checked.add_argument("--client-version", default=None, metavar="V", help="of kafka-clients or librdkafka")
    checked.add_argument("--broker-version", default=None, metavar="V", help="of the brokers (default 4.3.1)")
    checked.add_argument("--json", action="store_true", help="one JSON object")
    checked.set_defaults(command=_check_config)


def _add_plan_deploy(commands: Commands) -> None:
    planned = commands.add_parser(
        "plan-deploy",
        help="what a deploy, a node drain and a scale-out will cost, under these settings and under better ones",
        epilog="status: 0 answered, 2 wrong usage or an input that cannot be read, 130 interrupted",
    )
    planned.add_argument(
        "paths",
        nargs="+",
        metavar="FILE",
        help="a Deployment or StatefulSet, Helm values, Spring files, properties; brokers' too",
    )
    planned.add_argument("--workload", default=None, metavar="NAME", help="this one of those in the files")

    def number(name: str, words: str) -> None:
        planned.add_argument(name, type=int, default=None, metavar="N", help=words)

    number("--pods", "how many (default: what the files say)")
    number("--partitions", "of what the group reads (default: four a consumer)")
    planned.add_argument(
        "--rate",
        type=float,
        default=None,
        metavar="R",
        help="records a second into each partition (default 10)",
    )
    planned.add_argument(
        "--start-seconds",
        type=float,
        default=None,
        metavar="S",
        help="from a pod's creation until it polls (default 10)",
    )
    planned.add_argument(
        "--stop-seconds",
        type=float,
        default=None,
        metavar="S",
        help="from the signal until its process is gone (default 1)",
    )
    number("--pods-per-node", "that a drain stops at once (default: a third)")
    number("--more-pods", "that a scale-out adds (default: half as many)")
    planned.add_argument(
        "--kills",
        action="store_true",
        help="the process does not call consumer.close() when it is told to go",
    )
    planned.add_argument(
        "--client", choices=("java", "librdkafka"), default=None, help="whose settings they are"
    )
    planned.add_argument("--broker-version", default=None, metavar="V", help="of the brokers (default 4.3.1)")
    number("--draws", "draws of each event (default 60)")
    planned.add_argument(
        "--seconds", type=float, default=60.0, metavar="S", help="about how long it may take (default 60)"
    )
    planned.add_argument(
        "--target", default=None, metavar="TEXT", help="what has to be met: 'longest gap < 10 s'"
    )
    planned.add_argument(
        "--markdown", type=Path, default=None, metavar="FILE", help="write a section for a plan"
    )
    planned.add_argument("--json", action="store_true", help="one JSON object")
    planned.set_defaults(command=_plan_deploy)


def _plan_deploy(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.model.versions import PREFERRED
    from rebalance_kit.whatif.deploy import DRAWS, Given, run_plan_deploy

    given = Given(
        arguments.workload,
        arguments.pods,
        arguments.partitions,
        arguments.rate,
        arguments.start_seconds,
        arguments.stop_seconds,
        arguments.pods_per_node,
        arguments.more_pods,
        arguments.kills,
        arguments.client,
        arguments.broker_version or PREFERRED,
        DRAWS if arguments.draws is None else arguments.draws,
        arguments.seconds,
        arguments.target,
        arguments.markdown,
        arguments.json,
    )
    return run_plan_deploy(arguments.paths, given, out)


def _check_config(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.model.versions import PREFERRED
    from rebalance_kit.whatif.check_config import Versions, run_check_config

    known = Versions(arguments.client, arguments.client_version, arguments.broker_version or PREFERRED)
    return run_check_config(arguments.paths, known, out, as_json=arguments.json)


def _what_if(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.whatif.command import Asked, run_what_if
    from rebalance_kit.whatif.understanding import DRAWS

    asked = Asked(
        arguments.group,
        DRAWS if arguments.draws is None else arguments.draws,
        arguments.seconds,
        arguments.target,
        arguments.night,
        arguments.markdown,
        arguments.json,
        arguments.page,
        None if arguments.master is None else partial(_on_spark, arguments.master),
    )
    return run_what_if(arguments.paths, asked, out, sys.stderr if sys.stderr.isatty() else None, _night_page)


def _on_spark(master: str, nights: Sequence[Drawn], draws: int) -> list[list[Cost]]:
    from rebalance_kit.pipeline.spark.session import command_session
    from rebalance_kit.pipeline.sweep.grid import draw_nights

    with command_session(master) as spark:
        return draw_nights(spark, nights, draws)


def _night_page(path: Path, title: str, runs: Sequence[Trace]) -> object:
    from rebalance_kit.view.lab.run_report import write_report

    return write_report(path, runs, title)
