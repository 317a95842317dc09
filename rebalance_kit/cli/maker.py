"""``rebalance-kit make-logs``: genuine-looking logs of any scenario, at any size, and the truth beside them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from rebalance_kit.cli.commands import Commands

if TYPE_CHECKING:
    from rebalance_kit.recordings.maker.maker import Progress
    from rebalance_kit.simulation.scenario.scenario import Scenario

RANDOM = "random"


def add(commands: Commands) -> None:
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
    from rebalance_kit.recordings.maker.maker import Recipe, make_logs

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
