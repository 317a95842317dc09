"""Commands that ask what would have been otherwise."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TextIO

from rebalance_kit.cli.commands import Commands


def add(commands: Commands) -> None:
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
        type=Path,
        default=None,
        metavar="FILE",
        help="write the night as a scenario to edit and ask again",
    )
    asked.add_argument(
        "--markdown", type=Path, default=None, metavar="FILE", help="write a section for a postmortem"
    )
    asked.add_argument("--json", action="store_true", help="one JSON object per group")
    asked.set_defaults(command=_what_if)
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
        arguments.scenario,
        arguments.markdown,
        arguments.json,
    )
    return run_what_if(arguments.paths, asked, out, sys.stderr if sys.stderr.isatty() else None)
