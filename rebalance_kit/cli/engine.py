"""Commands of the engine: run a scenario, search for one, ask the assignors; the kit's scenarios, terms and versions in words."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TextIO

from rebalance_kit.cli.door import Commands


def add(commands: Commands) -> None:
    """Add the commands of this file."""
    _add_run(commands)
    _add_search(commands)
    _add_assign(commands)


def _add_run(commands: Commands) -> None:
    run = commands.add_parser("run", help="simulate a scenario and say what it cost")
    run.add_argument("scenario", help="a scenario's name (see: rebalance-kit scenarios) or a YAML file")
    run.add_argument(
        "--protocol",
        default=None,
        help="eager, cooperative, consumer, ... or all (default: as the scenario says, else all)",
    )
    run.add_argument("--seed", type=int, default=None, help="seed of the latencies (default: the scenario's)")
    run.add_argument(
        "--out",
        type=Path,
        default=None,
        metavar="DIR",
        help="write traces (JSONL) and the report (HTML) there",
    )
    run.add_argument("--json", action="store_true", help="one JSON object instead of the text")
    run.add_argument(
        "--carry-timeouts",
        action="store_true",
        help="a column more: KIP-848 on a broker that was given the clients' session.timeout.ms and heartbeat.interval.ms",
    )
    _add_draws(run)
    run.set_defaults(command=_run)


def _add_search(commands: Commands) -> None:
    search = commands.add_parser("search", help="try random action sequences until an invariant breaks")
    search.add_argument(
        "scenario",
        nargs="?",
        default=None,
        help="keep this one's members, draw only actions (default: draw both)",
    )
    search.add_argument("--seed", type=int, default=1)
    search.add_argument("--count", type=int, default=1_000, help="scenarios to try (default 1000)")
    search.add_argument(
        "--out",
        type=Path,
        default=None,
        metavar="FILE",
        help="write the shortest scenario found there (YAML)",
    )
    search.set_defaults(command=_search)


def _add_assign(commands: Commands) -> None:
    assign = commands.add_parser("assign", help="run assignors on cases and compare with what Kafka answered")
    assign.add_argument("cases", help="a JSON file of cases, plain or .gz")
    assign.add_argument("--json", action="store_true", help="one JSON line per case")
    assign.add_argument("--explain", action="store_true", help="say which step gave which partition to whom")
    assign.set_defaults(command=_assign)


def _add_draws(run: argparse.ArgumentParser) -> None:
    run.add_argument(
        "--draws",
        type=int,
        default=None,
        metavar="N",
        help="draw the scenario N times under each protocol (2 to 10000; default: 200 for a small scenario "
        "under several protocols, fewer for a large one)",
    )
    run.add_argument("--one-run", action="store_true", help="show the one run only, without a distribution")
    run.add_argument(
        "--seconds", type=float, default=30.0, help="begin no draw after so many seconds (default 30)"
    )


def _run(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.runs import Wanted, run_scenario

    wanted = Wanted(
        arguments.draws, arguments.seconds, one_run=arguments.one_run, carry_timeouts=arguments.carry_timeouts
    )
    return run_scenario(
        arguments.scenario,
        arguments.protocol,
        arguments.seed,
        arguments.out,
        wanted,
        as_json=arguments.json,
        out=out,
    )


def _search(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit import scenarios
    from rebalance_kit.analysis.search import run_search

    scenario = None if arguments.scenario is None else scenarios.scenario(arguments.scenario)
    return run_search(scenario, arguments.seed, arguments.count, arguments.out, out)


def _assign(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.assignors.vectors import run_assign

    return run_assign(arguments.cases, as_json=arguments.json, explain=arguments.explain, out=out)


def add_words(commands: Commands) -> None:
    """Add the commands of this file."""
    scenarios = commands.add_parser("scenarios", help="list the scenarios that come with the kit")
    scenarios.add_argument("--json", action="store_true")
    scenarios.add_argument(
        "--show", default=None, metavar="NAME", help="print one as YAML, as a start for your own"
    )
    scenarios.add_argument(
        "--schema", action="store_true", help="print the JSON Schema of a scenario file, for an editor"
    )
    scenarios.set_defaults(command=_scenarios)
    explain = commands.add_parser(
        "explain",
        help="what a term, an error, a configuration key, a finding's code or a line of a log means",
    )
    explain.add_argument("term", nargs="*")
    explain.add_argument(
        "--since",
        nargs="?",
        const="",
        default=None,
        metavar="VERSION",
        help="what differs between Kafka versions, or what came with that one and later, with sources",
    )
    explain.set_defaults(command=_explain)
    doctor = commands.add_parser("doctor", help="what is installed, and what a missing part disables")
    doctor.set_defaults(command=_doctor)


def _scenarios(arguments: argparse.Namespace, out: TextIO) -> int:
    import json

    from rebalance_kit import scenarios

    if arguments.schema:
        from rebalance_kit.simulation.scenario.reference import schema

        print(json.dumps(schema(), indent=1, ensure_ascii=False), file=out)
        return 0
    if arguments.show is not None:
        print(scenarios.source(arguments.show), end="", file=out)
        return 0
    for name in scenarios.names():
        scenario = scenarios.load(name)
        if arguments.json:
            print(json.dumps({"name": name, "title": scenario.title, "story": scenario.story}), file=out)
        else:
            print(f"{name:28} {scenario.title}", file=out)
    return 0


def _explain(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.model.errors import DataError
    from rebalance_kit.scenarios import explained

    if arguments.since is not None:
        from rebalance_kit.model.config import version_table

        print(version_table(arguments.since or None), file=out)
    if arguments.term or arguments.since is None:
        term = " ".join(arguments.term)
        try:
            told = str(explained(term))
        except DataError:
            from rebalance_kit.forensics.answer import explained as pasted

            found = pasted.explained(term)
            if found is None:
                raise
            told = found
        print(told, file=out)
    return 0


def _doctor(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.doctor import run_doctor

    return run_doctor(out)
