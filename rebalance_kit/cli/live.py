"""Commands about real clusters: a broker of one's own, recording a scenario on it, a look at a cluster."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from rebalance_kit.cli.door import Commands


def add(commands: Commands) -> None:
    """Add the commands of this file."""
    _add_broker(commands)
    _add_record(commands)
    _add_deeds(commands)
    _add_inspect(commands)


def _add_broker(commands: Commands) -> None:
    broker = commands.add_parser(
        "broker", help="start, stop or look at a real Kafka broker on this machine, without Docker"
    )
    broker.add_argument("what", choices=("start", "stop", "status"))
    broker.add_argument(
        "--kafka",
        default=None,
        metavar="VERSION",
        help="Kafka's version (default 4.3.1; 4.0.0, 3.9.1, others)",
    )
    broker.add_argument("--port", type=int, default=None, help="where it listens (default: a free port)")
    broker.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a broker config; may be given several times",
    )
    broker.add_argument("--nodes", type=int, default=1, help="how many brokers (default 1)")
    broker.add_argument("--json", action="store_true", help="print what runs as JSON")
    broker.set_defaults(command=_broker)


def _add_record(commands: Commands) -> None:
    record = commands.add_parser(
        "record",
        help="run a scenario on a real broker with real members, and write the record for `replay` and `logs`",
    )
    record.add_argument("scenario", help="a scenario's name or a YAML file")
    record.add_argument(
        "--protocol", default=None, help="eager, cooperative, sticky, roundrobin, consumer or consumer-range"
    )
    record.add_argument(
        "--client", choices=("java", "librdkafka", "mixed"), default=None, help="whose members"
    )
    record.add_argument("--seed", type=int, default=None, help="draws the scenario's moments")
    record.add_argument("--out", type=Path, required=True, metavar="DIR", help="a new folder for the record")
    record.set_defaults(command=_record)


def _add_deeds(commands: Commands) -> None:
    deeds = commands.add_parser(
        "deeds",
        help="a real group that takes deeds on its input, a line each, and answers in JSON: for tests in other languages",
    )
    deeds.add_argument("--kafka", default=None, metavar="VERSION", help="Kafka's version (default 4.3.1)")
    deeds.add_argument("--nodes", type=int, default=1, help="how many brokers (default 1)")
    deeds.add_argument("--group", default="orders-app", help="the members' group.id")
    deeds.add_argument("--protocol", default="consumer", help="of the members that the deed `start` starts")
    deeds.add_argument(
        "--topic",
        action="append",
        default=[],
        metavar="NAME:PARTITIONS",
        help="a topic to write into (default orders:4); may be given several times",
    )
    deeds.add_argument(
        "--config",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a member's config; may be repeated",
    )
    deeds.add_argument(
        "--broker-config",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a broker's; may be repeated",
    )
    deeds.set_defaults(command=_deeds)


def _add_inspect(commands: Commands) -> None:
    inspect = commands.add_parser(
        "inspect",
        help="look at a cluster's consumer groups, read-only: lag, skew, what is wrong and what to do",
        epilog="status: 0 nothing as grave as --fail-on, 1 a finding, 2 wrong usage or no answer, 3 a group could not be seen",
    )
    inspect.add_argument("--bootstrap-server", required=True, metavar="HOST:PORT", dest="bootstrap")
    inspect.add_argument(
        "--command-config",
        type=Path,
        default=None,
        metavar="FILE",
        help="client configs, as Kafka's tools take them",
    )
    inspect.add_argument(
        "--group",
        action="append",
        default=[],
        metavar="NAME",
        help="this group only (orders-*); may be repeated",
    )
    inspect.add_argument(
        "--seconds", type=float, default=6.0, help="between the two looks that show what moves (default 6)"
    )
    inspect.add_argument("--json", action="store_true", help="a JSON line per group, with its findings")
    inspect.add_argument(
        "--openmetrics", action="store_true", help="lag, members, states and findings as OpenMetrics' text"
    )
    inspect.add_argument(
        "--watch",
        type=int,
        nargs="?",
        const=-1,
        default=0,
        metavar="TIMES",
        help="look on, and tell each change with its time; without TIMES until Ctrl-C",
    )
    inspect.add_argument(
        "--fail-on",
        choices=("error", "warning", "note", "never"),
        default="error",
        help="status 1 for a finding as grave as this (default: error)",
    )
    inspect.set_defaults(command=_inspect)


def _progress(words: str) -> None:
    print(words, file=sys.stderr, flush=True)


def _pairs(option: str, given: Sequence[str], sign: str = "=") -> dict[str, str]:
    from rebalance_kit.live.jars import LiveError

    made = dict(one.partition(sign)[::2] for one in given)
    if bad := [key for key, value in made.items() if not key or not value]:
        raise LiveError(f"{option} {bad[0]}: expected KEY{sign}VALUE")
    return made


def _broker(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.live import background
    from rebalance_kit.live.jars import DEFAULT_VERSION

    if arguments.what == "start":
        configs = _pairs("--config", arguments.config)
        running = background.start(
            arguments.kafka or DEFAULT_VERSION, configs, arguments.port, _progress, arguments.nodes
        )
    elif arguments.what == "stop":
        stopped = background.stop()
        print("stopped" if stopped else "no broker of the kit is running", file=out)
        return 0
    else:
        found = background.status()
        if found is None:
            print("null" if arguments.json else "no broker of the kit is running", file=out)
            return 1
        running = found
    print(json.dumps(running) if arguments.json else background.words(running), file=out)
    return 0


def _record(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit import live

    folder = live.record(
        arguments.scenario, arguments.out, arguments.protocol, arguments.seed, arguments.client, _progress
    )
    print(f"written: {folder}; repeat it in the engine with: rebalance-kit replay {folder}", file=out)
    return 0


def _deeds(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.live import Broker
    from rebalance_kit.live.group import Group, serve
    from rebalance_kit.live.jars import DEFAULT_VERSION, LiveError

    topics = _pairs("--topic", arguments.topic, ":") or {"orders": "4"}
    if bad := [
        name for name, parts in topics.items() if not parts.isdecimal() or len(parts) > 5 or parts == "0"
    ]:
        raise LiveError(f"--topic {bad[0]}:{topics[bad[0]]}: expected NAME:PARTITIONS, at least 1")
    configs = _pairs("--config", arguments.config)
    broker = Broker(
        arguments.kafka or DEFAULT_VERSION,
        _pairs("--broker-config", arguments.broker_config),
        say=_progress,
        nodes=arguments.nodes,
        proxied=True,
    )
    with (
        broker,
        Group(
            broker,
            {name: int(parts) for name, parts in topics.items()},
            name=arguments.group,
            protocol=arguments.protocol,
            configs=configs,
        ) as group,
    ):
        serve(group, sys.stdin, out)
    return 0


def _inspect(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.live.inspection.command import inspect

    return inspect(
        arguments.bootstrap,
        arguments.command_config,
        arguments.group,
        arguments.seconds,
        arguments.fail_on,
        form="json" if arguments.json else "openmetrics" if arguments.openmetrics else "words",
        watch=arguments.watch,
        out=out,
    )
