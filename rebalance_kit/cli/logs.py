"""Commands about what real clusters did: forensics of logs, replay of recorded runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TextIO


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands of this file."""
    logs = commands.add_parser("logs", help="what happened, from a folder of Kafka logs (runs on Spark)")
    logs.add_argument("paths", nargs="+", metavar="PATH")
    logs.add_argument(
        "--out", type=Path, default=None, metavar="DIR", help="write the tables there, as Parquet"
    )
    logs.add_argument("--master", default=None, metavar="URL", help="a Spark master (default: local[*])")
    logs.add_argument("--json", action="store_true", help="one JSON line a run and group")
    logs.set_defaults(command=_logs)
    replay = commands.add_parser(
        "replay", help="repeat recorded runs in the engine and compare, event by event"
    )
    replay.add_argument("runs", nargs="+", metavar="RUN", help="folders of recorded runs")
    replay.add_argument(
        "--out",
        type=Path,
        default=None,
        metavar="DIR",
        help="write a page a run there: recorded and simulated on one clock",
    )
    replay.add_argument("--json", action="store_true", help="one JSON line a run")
    replay.add_argument("--draws", type=int, default=40, help="latency draws to try (default 40)")
    replay.set_defaults(command=_replay)


def _logs(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.pipeline.run import run_logs

    return run_logs(arguments.paths, arguments.out, arguments.master, as_json=arguments.json, out=out)


def _replay(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.records.replay import run_replay

    return run_replay(arguments.runs, arguments.out, as_json=arguments.json, draws=arguments.draws, out=out)
