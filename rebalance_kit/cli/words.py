"""Commands that tell: the scenarios of the kit, terms and versions, what is installed."""

from __future__ import annotations

import argparse
from typing import TextIO

from rebalance_kit.cli.commands import Commands


def add(commands: Commands) -> None:
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
    explain = commands.add_parser("explain", help="what a term, an error or a configuration key means")
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
    from rebalance_kit.glossary import lookup

    if arguments.since is not None:
        from rebalance_kit.model.version_table import version_table

        print(version_table(arguments.since or None), file=out)
    if arguments.term or arguments.since is None:
        print(lookup(" ".join(arguments.term)), file=out)
    return 0


def _doctor(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.doctor import run_doctor

    return run_doctor(out)
