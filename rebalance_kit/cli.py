"""``rebalance-kit``: the kit from a terminal. Each command imports only what it needs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from rebalance_kit import __version__
from rebalance_kit.model.errors import RebalanceKitError

Command = Callable[[argparse.Namespace, TextIO], int]


def main(argv: Sequence[str] | None = None, out: TextIO | None = None) -> int:
    """Run one command; 0 is success, 1 a result that differs, 2 input that cannot be used."""
    stream = out if out is not None else sys.stdout
    parser = _parser()
    arguments = parser.parse_args(argv)
    try:
        return int(arguments.command(arguments, stream))
    except RebalanceKitError as error:
        print(f"rebalance-kit: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except KeyboardInterrupt:
        print("rebalance-kit: interrupted; nothing half-written was left", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="rebalance-kit", description="How Kafka consumer groups rebalance: run it, read it, practise it."
    )
    parser.add_argument("--version", action="version", version=f"rebalance-kit {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    _add_run(commands)
    _add_search(commands)
    _add_assign(commands)
    _add_words(commands)
    _add_logs(commands)
    _add_quiz(commands)
    return parser


def _add_run(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
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
    run.set_defaults(command=_run)


def _add_search(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    search = commands.add_parser("search", help="try random action sequences until an invariant breaks")
    search.add_argument(
        "scenario", nargs="?", default=None, help="keep this one's members, draw only actions (default: draw both)"
    )
    search.add_argument("--seed", type=int, default=1)
    search.add_argument("--count", type=int, default=1_000, help="scenarios to try (default 1000)")
    search.add_argument(
        "--out", type=Path, default=None, metavar="FILE", help="write the shortest scenario found there (YAML)"
    )
    search.set_defaults(command=_search)


def _add_assign(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    assign = commands.add_parser("assign", help="run assignors on cases and compare with what Kafka answered")
    assign.add_argument("cases", help="a JSON file of cases, plain or .gz")
    assign.add_argument("--json", action="store_true", help="one JSON line a case")
    assign.add_argument("--explain", action="store_true", help="say which step gave which partition to whom")
    assign.set_defaults(command=_assign)


def _add_words(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    scenarios = commands.add_parser("scenarios", help="list the scenarios that come with the kit")
    scenarios.add_argument("--json", action="store_true")
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


def _add_logs(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
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


def _add_quiz(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    quiz = commands.add_parser("quiz", help="practise questions in the terminal")
    quiz.add_argument("topic", nargs="?", default=None, help="a tag, for example eager")
    quiz.add_argument("--count", type=int, default=None)
    quiz.add_argument("--seed", type=int, default=1)
    quiz.set_defaults(command=_quiz)
    items = commands.add_parser("items", help="the item bank: check it")
    actions = items.add_subparsers(title="actions", required=True)
    check = actions.add_parser(
        "check", help="schema, duplicates, give-aways, and every key against the engine"
    )
    check.add_argument("paths", nargs="*", help="item files or folders (default: the kit's own)")
    check.add_argument("--json", action="store_true")
    check.set_defaults(command=_items_check)


# --- commands --------------------------------------------------------------------------------
def _run(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.runs import run_scenario

    return run_scenario(
        arguments.scenario, arguments.protocol, arguments.seed, arguments.out, as_json=arguments.json, out=out
    )


def _assign(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.assignors.vectors import run_assign

    return run_assign(arguments.cases, as_json=arguments.json, explain=arguments.explain, out=out)


def _scenarios(arguments: argparse.Namespace, out: TextIO) -> int:
    import json

    from rebalance_kit import scenarios

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
        from rebalance_kit.model.versions import version_table

        print(version_table(arguments.since or None), file=out)
    if arguments.term or arguments.since is None:
        print(lookup(" ".join(arguments.term)), file=out)
    return 0


def _search(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.analysis.search import run_search
    from rebalance_kit.runs import find_scenario

    scenario = None if arguments.scenario is None else find_scenario(arguments.scenario)
    return run_search(scenario, arguments.seed, arguments.count, arguments.out, out)


def _doctor(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.doctor import run_doctor

    return run_doctor(out)


def _logs(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.pipeline.run import run_logs

    return run_logs(arguments.paths, arguments.out, arguments.master, as_json=arguments.json, out=out)


def _replay(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.records.replay import run_replay

    return run_replay(arguments.runs, arguments.out, as_json=arguments.json, draws=arguments.draws, out=out)


def _quiz(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.quiz.terminal import run_quiz

    return run_quiz(arguments.topic, arguments.count, arguments.seed, out=out)


def _items_check(arguments: argparse.Namespace, out: TextIO) -> int:
    from rebalance_kit.quiz.check import run_items_check

    return run_items_check(arguments.paths, as_json=arguments.json, out=out)


if __name__ == "__main__":
    sys.exit(main())
